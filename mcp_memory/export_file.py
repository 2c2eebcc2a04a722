"""The exporting pipeline: one user's memory, or pairs for training, into a file that appears when it is whole."""

import contextlib
import hashlib
import os
import secrets
import tempfile
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import IO

from .disk import give_name, sync
from .errors import InvalidInputError
from .place import unwritable
from .records import OnProgress
from .reports import Exported
from .stores import Stores
from .training import pairs
from .transfer_form import VERSION, Header, as_line, header_line, trailer_line
from .transfer_rows import snapshot
from .version import __version__

_ORIGIN = "export_origin"
_TELL_EVERY = 500


def export(
    stores: Stores,
    user_id: str,
    target: str | Path,
    now: datetime,
    on_progress: OnProgress,
    *,
    is_training: bool = False,
    overwrite: bool = False,
) -> Exported:
    """Write everything that is kept of a user as of one moment; adding and searching go on meanwhile.

    Raises:
        InvalidInputError: the target exists and is not to be overwritten, or is no place for a file.
        StorageError: it cannot be written, or the log cannot be read; nothing is left of it.
    """
    path = _checked(target, stores.settings.home, overwrite=overwrite)
    try:
        with _draft(path) as (draft, file):
            if is_training:
                counts = _write_pairs(file, stores, user_id, on_progress)
            else:
                counts = _write_all(file, stores, user_id, now, on_progress)
            file.flush()
            os.fsync(file.fileno())
            file.close()
            if overwrite:
                draft.replace(path)
                sync(path.parent)
            else:
                give_name(draft, path)
    except FileExistsError as exc:
        raise _taken(path) from exc
    except OSError as exc:
        raise unwritable("export", path, exc) from exc
    return Exported(str(path), path.stat().st_size, counts)


def _write_all(file: IO[bytes], stores: Stores, user_id: str, now: datetime, on_progress: OnProgress) -> dict[str, int]:
    origin = _origin(stores)
    with snapshot(stores.log, user_id) as rows:
        counts = rows.counts()
        model = stores.made_by.model if stores.made_by else stores.embedder.name
        file.write(header_line(Header(VERSION, __version__, user_id, now, model, origin, counts)))
        done, total = 0, sum(counts.values())
        for line in rows.lines():
            file.write(line)
            done += 1
            if done % _TELL_EVERY == 0:
                stores.check_open()
                on_progress(done, total)
        file.write(trailer_line(done))
    on_progress(done, total)
    return counts


def _origin(stores: Stores) -> str:
    """What tells this folder from others, for good."""
    known = stores.log.get_meta(_ORIGIN)
    if not known:
        with stores.writing:
            known = stores.log.get_meta(_ORIGIN) or secrets.token_hex(8)
            stores.log.set_meta(**{_ORIGIN: known})
    return known


def shift_of(origin: str, user_id: str) -> int:
    """By how much the ids of a folder are moved where they are taken: always the same for the same two.

    Small against the ids of one millisecond, so that they stay in the order of time.
    """
    return 1 + int.from_bytes(hashlib.sha256(f"{origin} {user_id}".encode()).digest()[:4]) % (1 << 17)


def _write_pairs(file: IO[bytes], stores: Stores, user_id: str, on_progress: OnProgress) -> dict[str, int]:
    counts: Counter[str] = Counter(episodes=0, memories=0, without_memories=0)
    for done, total, pair in pairs(stores.log, user_id):
        stores.check_open()
        if pair:
            file.write(as_line(pair))
            counts["episodes"] += 1
            counts["memories"] += len(pair["memories"])
            counts["without_memories"] += not pair["memories"]
        on_progress(done, total)
    return dict(counts)


def _checked(target: str | Path, home: Path, *, overwrite: bool) -> Path:
    path = Path(target).expanduser().absolute()
    if path.is_dir():
        raise InvalidInputError(f"{path} is a folder", hint=f"name a file in it: {path / 'memory.jsonl'}")
    if not path.parent.is_dir():
        raise InvalidInputError(f"there is no folder {path.parent}", hint="make it, or name another file")
    if path.resolve().is_relative_to(home.resolve()):
        raise InvalidInputError(f"{path} lies in the data folder {home}", hint="name a file elsewhere")
    if not overwrite and (path.exists() or path.is_symlink()):
        raise _taken(path)
    return path


def _taken(path: Path) -> InvalidInputError:
    return InvalidInputError(f"{path} exists", hint="name another file; --force (overwrite=True) writes over this one")


@contextlib.contextmanager
def _draft(path: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """An open file for this account only beside a file to be; nothing is left under its name."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".draft", dir=path.parent)
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield draft, file
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
