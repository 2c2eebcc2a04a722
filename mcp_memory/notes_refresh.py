"""The kept notes files brought up to date by themselves: a while after the last change, and when the folder is closed.

One thread, which sleeps until something changes. It writes only into a block that is there: a file that has gone, lost
its block or cannot be written is left alone, and told of once.
"""

import logging
import shlex
import threading
import time
from collections.abc import Callable

from . import conversations
from .errors import ConflictError, McpMemoryError, NotFoundError
from .notes import Edit, FileChangedError, carry_out, plan_update
from .notes_record import KeptFile, NotesRecord
from .pack_profile import notes_lines
from .reports import Check, NotesFile, NotesOutcome
from .stores import Stores
from .user_profile import user_profile

logger = logging.getLogger(__name__)

# Changes come in bursts: files are written once none has come for the first of these times, or after the second.
QUIET_S, MOST_S = 3.0, 30.0
# How long closing waits for files that are being written.
LEAVE_S = 2.0


class NotesRefresh:
    """The kept notes files of an open folder, and the thread that writes them."""

    def __init__(self, stores: Stores) -> None:
        self.record = NotesRecord(stores.settings.home)
        self._stores = stores
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._is_stopping = False
        # Since when the files may be out of date, and when that was said last; None while they are not.
        self._behind_s: float | None = None
        self._told_s = 0.0
        # Held while files are written, and while one is entered or taken out.
        self._writing = threading.Lock()
        # What the log has been told of, by path.
        self._logged: dict[str, str] = {}
        # Those that were not there at the last look: editors put a file away for a moment when they save it.
        self._missing: set[str] = set()

    def note_change(self) -> None:
        """Have the files brought up to date soon; call after each change of what a profile tells. Never raises."""
        try:
            if not self.record.files():
                return
        except McpMemoryError as exc:
            self._log_once("", str(exc))
            return
        with self._changed:
            if self._is_stopping:
                return
            self._told_s = time.monotonic()
            if self._behind_s is None:
                self._behind_s = self._told_s
                self._changed.notify_all()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="notes", daemon=True)
                self._thread.start()

    def keep(self, path: str, kept: KeptFile) -> None:
        """Enter a file, which is to have its block already.

        Raises:
            StorageError: nothing was written.
        """
        with self._writing:
            self.record.put(path, kept)
            self._logged.pop(path, None)
        # What its block says may have been read before the last change.
        self.note_change()

    def forget(self, path: str, user_id: str) -> bool:
        """Take a file of a user out; it is not written any more on return. Whether it was in.

        Raises:
            StorageError: nothing was written.
        """
        with self._writing:
            return self.record.drop(path, user_id)

    def refresh(self, user_id: str) -> list[NotesFile]:
        """Bring the files of a user up to date now, in the order of their paths; one that has gone is forgotten.

        Raises:
            StorageError: the record or the log cannot be read.
        """
        with self._writing:
            kept = sorted((path, one) for path, one in self.record.files().items() if one.user_id == user_id)
            done = [self._brought_up_to_date(path, one) for path, one in kept]
            for file in done:
                if file.outcome == "gone":
                    self.record.drop(file.path, user_id)
            return done

    def examine(self, user_id: str) -> list[Check]:
        """What `doctor` finds of the files of a user; nothing where there are none. Nothing is written."""
        try:
            files = sorted((path, one) for path, one in self.record.files().items() if one.user_id == user_id)
            found = [self._looked_at(path, one) for path, one in files]
        except McpMemoryError as exc:
            return [Check("notes", exc.message, exc.hint, is_optional=True)]
        if not found:
            return []
        n_current = sum(file.outcome == "unchanged" for file in found)
        told = [f"{n_current} of {len(found)} files current", *(file.trouble for file in found if file.trouble)]
        advice = next((file.advice for file in found if file.advice), "")
        return [Check("notes", "; ".join(told), advice, is_optional=True)]

    def stop(self) -> None:
        """Bring the files up to date a last time, if they were looked after, and end. Safe to repeat."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify_all()
        if self._thread is not None:
            # A file on a disk that does not answer must not keep the folder from being closed.
            self._thread.join(LEAVE_S)

    def _work(self) -> None:
        is_last = False
        while not is_last:
            with self._changed:
                while not self._is_stopping and (rest_s := self._rest_s()) != 0:
                    self._changed.wait(rest_s)
                is_last = self._is_stopping
                self._behind_s = None
            try:
                if self._refresh_all() and not is_last:
                    self.note_change()
            except McpMemoryError as exc:
                self._log_once("", str(exc))
            except Exception:
                # Nobody looks at what becomes of this thread's work; the next change tries again.
                logger.exception("unexpected error while notes files were written")

    def _rest_s(self) -> float | None:
        """How long the files may wait yet, None while nothing has changed."""
        if self._behind_s is None:
            return None
        return max(0.0, min(self._told_s + QUIET_S, self._behind_s + MOST_S) - time.monotonic())

    def _refresh_all(self) -> bool:
        """Bring the files of all users up to date who have not paused the memory; whether to look again soon."""
        is_wanted_again = False
        paused: dict[str, bool] = {}
        for path, kept in sorted(self.record.files().items()):
            user_id = kept.user_id
            if user_id not in paused:
                paused[user_id] = "" in conversations.paused(self._stores.log, user_id)
            if paused[user_id]:
                continue
            # For each anew: whoever takes one out meanwhile does not wait for all.
            with self._writing:
                if self.record.files().get(path) != kept:
                    continue
                is_wanted_again |= self._see_to(path, kept)
        return is_wanted_again

    def _see_to(self, path: str, kept: KeptFile) -> bool:
        """Bring one file up to date; whether to look again soon."""
        file = self._brought_up_to_date(path, kept)
        was_missing = path in self._missing
        self._missing.discard(path)
        if file.outcome == "gone":
            if not was_missing:
                self._missing.add(path)
                return True
            self.record.drop(path, kept.user_id)
            logger.info("%s has gone; it is kept no more", path)
        elif file.outcome == "trouble":
            self._log_once(path, f"{file.trouble} ({file.advice})")
        elif file.outcome != "busy":
            self._logged.pop(path, None)
        return file.outcome == "busy"

    def _brought_up_to_date(self, path: str, kept: KeptFile) -> NotesFile:
        return self._done(path, kept, _write)

    def _looked_at(self, path: str, kept: KeptFile) -> NotesFile:
        return self._done(path, kept, _look)

    def _done(self, path: str, kept: KeptFile, do: Callable[[Edit], tuple[NotesOutcome, str, str]]) -> NotesFile:
        # Outside: that the log cannot be read is no trouble of the file.
        lines = notes_lines(user_profile(kept.user_id, self._stores), kept.max_tokens)
        try:
            return NotesFile(path, kept.max_tokens, *do(plan_update(path, lines)))
        except NotFoundError as exc:
            return NotesFile(path, kept.max_tokens, "gone", exc.message, exc.hint)
        except FileChangedError as exc:
            return NotesFile(path, kept.max_tokens, "busy", exc.message, "run: mcp-memory sync-notes")
        except McpMemoryError as exc:
            give_up = f"to give it up, run: mcp-memory sync-notes --remove {shlex.quote(path)}"
            return NotesFile(path, kept.max_tokens, "trouble", exc.message, f"{exc.hint}; {give_up}")

    def _log_once(self, path: str, trouble: str) -> None:
        if self._logged.get(path) != trouble:
            self._logged[path] = trouble
            logger.warning("a notes file is left as it is: %s", trouble)


def _write(edit: Edit) -> tuple[NotesOutcome, str, str]:
    carry_out(edit)
    return "written" if edit.is_change else "unchanged", "", ""


def _look(edit: Edit) -> tuple[NotesOutcome, str, str]:
    if not edit.is_writable:
        raise ConflictError(f"{str(edit.path)!r} is write-protected", hint="make it and its folder writable")
    if edit.is_change:
        return "stale", f"{str(edit.path)!r} is out of date", "run: mcp-memory sync-notes"
    return "unchanged", "", ""
