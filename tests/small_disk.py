"""A disk that is full for a while."""

import contextlib
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def no_space_left(home: Path) -> Iterator[None]:
    filler = home / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(b"x" * 4096):
            pass
    try:
        yield
    finally:
        filler.unlink()
