"""How a memory is taken out into a file, and taken in from files of this program and of others."""

from pathlib import Path

from .accompanying import Accompanying
from .errors import StorageError
from .export_file import export
from .import_rows import import_rows
from .import_source import AUTO, existing, form_of
from .import_texts import import_texts
from .parts import Parts
from .purge import note_copy
from .records import OnProgress, Owner
from .reports import Exported, Imported
from .resettle import resettle
from .settings import Settings

# One that was ended a moment ago may still be at its last batch.
_WAIT_S = 30.0


class Moving(Accompanying):
    """The methods of `LocalMemory` that move one user's memory out and in."""

    _parts: Parts
    _owner: Owner
    _settings: Settings

    def export_to(
        self,
        path: str | Path,
        *,
        training: bool = False,
        overwrite: bool = False,
        on_progress: OnProgress = lambda _done, _total: None,
    ) -> Exported:
        """Write everything that is kept of this user into one file: JSON Lines, a record a line.

        It is as of one moment, while adding and searching go on, and appears when it is whole. With `training` it
        holds pairs instead: what the language model was given, and what is kept of that by now.

        Raises:
            InvalidInputError: the file exists and is not to be overwritten, or the path is no place for one.
            StorageError: it cannot be written, or the log cannot be read; nothing is left of it.
        """
        target = Path(path).expanduser().absolute()
        if not training and target.parent.is_dir() and not target.exists():
            # Before it is written: what is purged meanwhile is in it.
            note_copy(self._parts.stores, target, self._parts.clock(), self._owner.user_id)
        written = export(
            self._parts.stores,
            self._owner.user_id,
            path,
            self._parts.clock(),
            on_progress,
            is_training=training,
            overwrite=overwrite,
        )
        note_copy(self._parts.stores, Path(written.path), self._parts.clock(), self._owner.user_id)
        return written

    def import_from(
        self,
        path: str | Path,
        *,
        format: str = AUTO,  # noqa: A002 - the word that people look for
        dry_run: bool = False,
        infer: bool = False,
        skip_bad: bool = False,
        again: bool = False,
        on_progress: OnProgress = lambda _done, _total: None,
    ) -> Imported:
        """Take in a file that `export_to` wrote, a graph of server-memory, messages, or a file or folder of notes.

        `format` is `auto`, `mcp-memory`, `server-memory`, `markdown` or `messages`. All of it is read and checked
        first; `dry_run` ends there. A run that was cut short goes on where it stopped, and what was taken is not taken
        twice, unless it is to be read `again`. Texts of elsewhere are added word for word; `infer` queues them for
        extraction too. With `skip_bad` lines that are wrong are left out, and told.

        Raises:
            InvalidInputError: there is no such file, or a line is wrong; nothing was written.
            ConflictError: the memory is paused, or what the file tells contradicts what is here; nothing was written.
            StorageError: what was taken stays; the same call goes on from there.
        """
        self.refuse_if_paused()
        source = existing(path)
        form = form_of(source, format)
        stores, user_id = self._parts.stores, self._owner.user_id
        if not self._parts.stores.importing.acquire(timeout=_WAIT_S):
            raise StorageError("another import is under way", hint="wait for it to end")
        try:
            # Nobody else is to begin with it while what comes waits to be embedded.
            self._parts.upkeep.catch_up_once(on_progress)
            exclude = self._settings.exclude_text
            if form == "mcp-memory":
                taken = import_rows(
                    stores, user_id, source, on_progress, exclude=exclude, is_dry_run=dry_run, again=again
                )
                if not dry_run:
                    resettle(self._owner, stores)
            else:
                taken = import_texts(
                    stores,
                    self._owner,
                    source,
                    form,
                    on_progress,
                    after_change=self._parts.after_change,
                    exclude=exclude,
                    is_dry_run=dry_run,
                    again=again,
                    infer=infer,
                    skip_bad=skip_bad,
                )
        finally:
            self._parts.stores.importing.release()
        if not dry_run:
            self._parts.after_change()
            self._parts.queue.start()
        return taken
