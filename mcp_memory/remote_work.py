"""The long work on a folder that a program has the running engine do: backups, moving, comparing, making anew."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .records import OnProgress
from .reports import BackupResult, Exported, Imported, Rebuilt, Reembedded, Verification


def _unheard(_done: int, _total: int) -> None:
    """Progress that nobody wants to hear of."""


class RemoteWork:
    """The methods of `RemoteMemory` that take long, or whose paths are relative to this process."""

    def backup(self, target: str | Path) -> BackupResult:
        """Write a backup of the whole folder into a new file, relative to this process; see `Memory.backup`."""
        answer: BackupResult = self._call("backup", {"target": str(Path(target).expanduser().absolute())})
        return answer

    def export_to(
        self,
        path: str | Path,
        *,
        training: bool = False,
        overwrite: bool = False,
        on_progress: OnProgress = _unheard,
    ) -> Exported:
        """Write everything that is kept of this user into a file, relative to this process; see `Memory.export_to`."""
        given = {"path": str(Path(path).expanduser().absolute()), "training": training, "overwrite": overwrite}
        answer: Exported = self._call("export_to", given, on_progress)
        return answer

    def import_from(
        self,
        path: str | Path,
        *,
        format: str = "auto",  # noqa: A002 - the word that people look for
        dry_run: bool = False,
        infer: bool = False,
        skip_bad: bool = False,
        again: bool = False,
        on_progress: OnProgress = _unheard,
    ) -> Imported:
        """Take in a file or folder, relative to this process; see `Memory.import_from`.

        It ends when this client leaves.
        """
        where = {"path": str(Path(path).expanduser().absolute()), "format": format}
        how = {"dry_run": dry_run, "infer": infer, "skip_bad": skip_bad, "again": again}
        answer: Imported = self._call("import_from", where | how, on_progress)
        return answer

    def verify(self, on_progress: OnProgress = _unheard) -> Verification:
        """Compare every field and every vector of the tables with the log; see `Memory.verify`."""
        answer: Verification = self._call("verify", {}, on_progress)
        return answer

    def rebuild(self, on_progress: OnProgress = _unheard) -> Rebuilt:
        """Make the tables and the keyword index anew from the log; see `Memory.rebuild`."""
        answer: Rebuilt = self._call("rebuild", {}, on_progress)
        return answer

    def reembed(self, model: str = "", on_progress: OnProgress = _unheard) -> Reembedded:
        """Embed everything anew and go over to that; see `LocalMemory.reembed`. It ends when this client leaves.

        A folder may be relative to this process.
        """
        folder = Path(model).expanduser() if model else None
        given = str(folder.absolute()) if folder and folder.is_dir() else model
        answer: Reembedded = self._call("reembed", {"model": given}, on_progress)
        return answer

    def _call(self, method: str, arguments: Mapping[str, Any], on_progress: OnProgress = _unheard) -> Any:
        """The engine's answer to a call."""
        raise NotImplementedError
