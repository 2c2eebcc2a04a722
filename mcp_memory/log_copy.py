"""A copy of the log as a file by itself: made while others read and write, checked, and looked into."""

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .disk import sync
from .errors import StorageError

_COUNTED = ("entities", "episodes", "jobs", "events")


@dataclass(frozen=True, slots=True)
class Contents:
    """What a log holds: its schema version, what wrote that, and numbers of rows."""

    schema: int
    program: str
    counts: dict[str, int]


def copy_log(source: sqlite3.Connection, target: Path) -> None:
    """Write everything committed, that of the write-ahead log included, into a new file, durably.

    The copy is of one moment; others go on reading and writing.

    Raises:
        OSError, sqlite3.Error: it is not written, or only in part.
    """
    # Made here: SQLite would let others read it. Without locks: a share on a network may have none.
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with contextlib.closing(_open(target, "nolock=1")) as copy:
        source.backup(copy)
    sync(target)


def inspect_log(path: Path) -> Contents:
    """What a copy that nobody has open holds, after SQLite has found it whole.

    Raises:
        StorageError: it is damaged, or no log.
    """
    try:
        # Nothing is written beside it, not even for a moment.
        with contextlib.closing(_open(path, "mode=ro&immutable=1")) as log:
            if (found := log.execute("PRAGMA integrity_check(1)").fetchone()[0]) != "ok":
                raise StorageError(f"the log {path.name} is damaged: {found}", hint="use another copy")
            meta = dict(log.execute("SELECT key, value FROM meta WHERE key IN ('schema_version', 'schema_program')"))
            counts = dict(log.execute("SELECT state, count(*) FROM memories GROUP BY state ORDER BY state"))
            for table in _COUNTED:
                counts[table] = log.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            return Contents(int(meta["schema_version"]), meta.get("schema_program", ""), counts)
    except (sqlite3.Error, KeyError, ValueError) as exc:
        raise StorageError(f"the log {path.name} is damaged: {exc}", hint="use another copy") from exc


def fold(path: Path) -> bool:
    """Bring what the write-ahead log beside a log holds into it; whether nothing is left beside it.

    Nobody else may have it open.
    """
    with contextlib.suppress(sqlite3.Error), contextlib.closing(_open(path, "mode=rw")) as log:
        log.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return not any(beside.exists() and beside.stat().st_size for beside in [path.with_name(f"{path.name}-wal")])


@contextlib.contextmanager
def draft_beside(path: Path) -> Iterator[Path]:
    """A name for what will be this file once it is complete; nothing is left under it."""
    draft = path.with_name(f"{path.name}.draft")
    draft.unlink(missing_ok=True)
    try:
        yield draft
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def _open(path: Path, how: str) -> Any:
    return sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, isolation_level=None)
