"""Which notes files are kept up to date, each for one user: a small file in the data folder.

It is in no backup: its paths are those of one machine, where the files bear the block that a restored folder goes on to
write. Without it nothing is lost but the list, and `sync-notes FILE` enters a file again.
"""

import json
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from .config_file import write_own
from .errors import StorageError

RECORD_NAME = "notes.json"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A notes file that is kept: for whom, and the most tokens of memories in it."""

    user_id: str
    max_tokens: int


class NotesRecord:
    """The kept files of a data folder that this process holds, by their absolute path; read once, when first asked.

    A file has one user: whoever records it takes it over, for it has room for one profile.
    """

    def __init__(self, home: Path) -> None:
        self._path = home / RECORD_NAME
        self._lock = threading.Lock()
        self._files: dict[str, KeptFile] | None = None

    def files(self) -> dict[str, KeptFile]:
        """All files, of all users.

        Raises:
            StorageError: the record cannot be read, or is none.
        """
        with self._lock:
            return dict(self._read())

    def put(self, path: str, kept: KeptFile) -> None:
        """Enter a file, or change what is noted of it.

        Raises:
            StorageError: nothing was written.
        """
        with self._lock:
            self._write({**self._read(), path: kept})

    def drop(self, path: str, user_id: str) -> bool:
        """Take a file of a user out; whether it was in.

        Raises:
            StorageError: nothing was written.
        """
        with self._lock:
            files = self._read()
            if path not in files or files[path].user_id != user_id:
                return False
            self._write({other: kept for other, kept in files.items() if other != path})
            return True

    def _read(self) -> dict[str, KeptFile]:
        if self._files is None:
            self._files = _files_in(self._path)
        return self._files

    def _write(self, files: Mapping[str, KeptFile]) -> None:
        told = {"format": _FORMAT, "files": {path: asdict(kept) for path, kept in files.items()}}
        if files == self._files:
            return
        try:
            write_own(self._path, (json.dumps(told, indent=1) + "\n").encode("utf-8"))
        except OSError as exc:
            raise StorageError(
                f"{self._path} cannot be written: {exc.strerror or exc}",
                hint="free some space and see to it that the data folder is yours to write",
            ) from exc
        self._files = dict(files)


def _files_in(path: Path) -> dict[str, KeptFile]:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        if told["format"] != _FORMAT:
            raise StorageError(f"{path} was written by a newer mcp-memory", hint="update this one")
        return {str(name): KeptFile(str(one["user_id"]), int(one["max_tokens"])) for name, one in told["files"].items()}
    except FileNotFoundError:
        return {}
    except OSError as exc:
        raise StorageError(f"{path} cannot be read: {exc.strerror}", hint="see to its permissions") from exc
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
        raise StorageError(
            f"{path} is damaged", hint="remove it, then run: mcp-memory sync-notes FILE, for each file to be kept"
        ) from exc
