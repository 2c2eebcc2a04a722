"""Where the engine of a data folder listens: a file that only its owner can read. Standard library only."""

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

FILE_NAME = "engine.json"
HOST = "127.0.0.1"
# The first line of a connection and its answer are frozen: any shim works with any engine.
PREAMBLE_VERSION = 1


@dataclass(frozen=True, slots=True)
class Address:
    """A port of this machine, the token that a client must show, and whose they are."""

    port: int
    token: str
    pid: int
    version: str


def published(home: Path) -> Address | None:
    """The address in a data folder, None where there is none that can be read."""
    try:
        found = json.loads((home / FILE_NAME).read_text(encoding="utf-8"))
        return Address(int(found["port"]), str(found["token"]), int(found["pid"]), str(found["version"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def publish(home: Path, address: Address) -> None:
    """Put the address into the folder at once as a whole, readable for its owner only.

    Raises:
        OSError: the folder cannot be written.
    """
    draft = home / f"{FILE_NAME}.{address.pid}"
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(asdict(address), file)
    draft.replace(home / FILE_NAME)


def withdraw(home: Path, address: Address) -> None:
    """Take the address away, if it is still this one."""
    if published(home) == address:
        with contextlib.suppress(OSError):
            (home / FILE_NAME).unlink()
