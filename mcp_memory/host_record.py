"""What an installation in a host has changed, kept in the data folder so that it can be undone without a trace."""

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .config_file import write_own
from .errors import HostError
from .host_parts import Notes
from .json_edit import Made

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One changed file: whether it was there without us (there is a copy then), the hash of what was written, which
    folders were made for it, and what else has to be known.
    """

    role: str  # servers, hooks or extension
    was_there: bool
    written: str
    folders: tuple[str, ...] = ()
    notes: Notes = field(default_factory=Notes)


@dataclass(frozen=True, slots=True)
class Record:
    """An installation: the name of the entry, and the changed files by their path."""

    name: str
    files: dict[str, FileRecord] = field(default_factory=dict)


def folder_of(data: Path, host: str) -> Path:
    """Where copies and the record of a host's files are kept."""
    return data / "hosts" / host


def copy_path(data: Path, host: str, path: Path, *, is_last: bool = False) -> Path:
    """Where the copy of a file is kept: as it was without us, or as it was before the last change."""
    # Two files of the same name may lie in different folders.
    mark = hashlib.sha256(str(path).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return folder_of(data, host) / f"{path.name.lstrip('.')}.{mark}.{'last' if is_last else 'before'}"


def hash_of(content: bytes) -> str:
    """What tells whether a file is as we wrote it."""
    return hashlib.sha256(content).hexdigest()


def load(data: Path, host: str) -> Record | None:
    """The record of a host, None where there is none or it cannot be read: then it is done without."""
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        told = json.loads((folder_of(data, host) / "record.json").read_text(encoding="utf-8"))
        if told["format"] == _FORMAT:
            return Record(told["name"], {path: _file_record(one) for path, one in told["files"].items()})
    return None


def save(data: Path, host: str, record: Record) -> None:
    """Keep a record, in place of the one before.

    Raises:
        HostError: it cannot be written.
    """
    told = {"format": _FORMAT, **asdict(record)}
    write(folder_of(data, host) / "record.json", (json.dumps(told, indent=1) + "\n").encode("utf-8"))


def write(path: Path, content: bytes) -> None:
    """Write a copy or a record, for its owner alone.

    Raises:
        HostError: it cannot be written.
    """
    try:
        write_own(path, content)
    except OSError as exc:
        raise HostError(
            f"{path} cannot be written: {exc.strerror or exc}; nothing was changed",
            hint="free some space and see to it that the data folder is yours to write",
        ) from exc


def forget(data: Path, host: str) -> None:
    """Remove the record and the copies of files as they were without us; the last copies stay."""
    folder = folder_of(data, host)
    with suppress(OSError):
        for path in (folder / "record.json", *folder.glob("*.before")):
            path.unlink(missing_ok=True)


def _file_record(told: dict[str, Any]) -> FileRecord:
    made = tuple(Made(tuple(one["path"]), one["inner"]) for one in told["notes"]["made"])
    return FileRecord(
        told["role"], told["was_there"], told["written"], tuple(told["folders"]), Notes(made, told["notes"]["glue"])
    )
