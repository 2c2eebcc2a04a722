"""The folder of the tables put aside or exchanged, so that a kill at any moment leaves tables that can be used."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from .disk import sync
from .errors import StorageError
from .made_by import MadeBy, read_made_by, write_made_by

TABLES_NAME = "lancedb"
_FRESH, _DAMAGED, _REPLACED = (f"{TABLES_NAME}.{state}" for state in ("new", "damaged", "old"))
# What is derived from a log, and no use beside another one.
DERIVED_NAMES = (TABLES_NAME, _FRESH, _REPLACED)


class TablesFolder:
    """Where the tables lie, and what lies beside them for a while."""

    def __init__(self, home: Path) -> None:
        self.path = home / TABLES_NAME
        # Tables that are being made anew, over several runs if need be.
        self.fresh = home / _FRESH
        # Tables that could not be read; kept for whoever wants to know why, until the next ones.
        self.damaged = home / _DAMAGED
        self._replaced = home / _REPLACED

    def recover(self) -> None:
        """Undo an exchange that was cut short, or finish it."""
        with _failing_clearly(self.path):
            if self.path.exists():
                shutil.rmtree(self._replaced, ignore_errors=True)
            elif self._replaced.exists():
                self._replaced.rename(self.path)

    def set_aside(self) -> None:
        """Move the tables out of the way, over those of an earlier time."""
        with _failing_clearly(self.path):
            _remove(self.damaged)
            if self.path.exists():
                self.path.rename(self.damaged)

    def clear(self) -> None:
        """Remove what lies beside the tables: of earlier times, or half made.

        Raises:
            StorageError: something cannot be removed.
        """
        with _failing_clearly(self.path, "cleared of older ones"):
            for beside in (self.fresh, self.damaged, self._replaced):
                _remove(beside)

    def made_by(self) -> MadeBy | None:
        """With what the vectors of the tables in use were made, as far as they say so."""
        return read_made_by(self.path)

    def made_by_fresh(self) -> MadeBy | None:
        """With what those are made that a rebuild or reembed works on, or left when it was ended."""
        return read_made_by(self.fresh)

    def begin_fresh(self, made_by: MadeBy) -> None:
        """Prepare the place for fresh tables; what an earlier run left stays there if it was made with the same."""
        left = self.made_by_fresh()
        if left and left.may_go_on_with(made_by):
            return
        with _failing_clearly(self.fresh, "prepared"):
            _remove(self.fresh)
            write_made_by(self.fresh, made_by)

    def exchange(self) -> None:
        """Put the fresh tables in the place of the others.

        What they say of themselves goes with them: the last of the renames decides, whatever ends the process.
        """
        with _failing_clearly(self.path):
            _remove(self._replaced)
            if self.path.exists():
                self.path.rename(self._replaced)
            self.fresh.rename(self.path)
            sync(self.path.parent)
            # The exchange has been made; what stays behind goes with the next one, or when the folder is opened.
            shutil.rmtree(self._replaced, ignore_errors=True)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def _failing_clearly(path: Path, done: str = "moved") -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        raise StorageError(
            f"{path} cannot be {done}: {exc.strerror or exc}", hint="check disk space and permissions"
        ) from exc
