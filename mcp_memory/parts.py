"""What all views of one open data folder share: the one place where the parts are wired together."""

import contextlib
import getpass
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from . import upkeep
from .add import Added
from .embedder import Embedder
from .folder import DataFolder
from .language_model import LanguageModel
from .notes_refresh import NotesRefresh
from .processor import require_lancedb
from .queue import Queue
from .receipts import noted
from .records import AddResult
from .rewriter import Rewriter
from .settings import Settings
from .stores import Stores

_USER_ID = "user_id"


class Parts:
    """The lock, the stores, the models, the upkeep and the queue of an open folder."""

    def __init__(
        self,
        settings: Settings,
        clock: Callable[[], datetime],
        embedder: Embedder | None = None,
        held: DataFolder | None = None,
        settings_now: Callable[[], Settings] | None = None,
    ) -> None:
        self.settings = settings
        # What environment and file say by now, where that counts and not what they said at the start.
        self.settings_now = settings_now or (lambda: settings)
        self.clock = clock
        # First: a wrong host must not leave the folder locked.
        self.model = LanguageModel(settings)
        # Held while what was said in a conversation is taken in: its hooks may run at the same time.
        self.capturing = threading.Lock()
        self._folder = held or DataFolder(settings.home)
        self._is_held_for_good = held is not None
        try:
            require_lancedb()
            self.stores = Stores(settings, embedder, clock)
            self.user_id = settings.user_id or self._folders_user()
        except BaseException:
            self._release()
            raise
        self.upkeep = upkeep.Upkeep(self.stores)
        self.notes = NotesRefresh(self.stores)
        self.queue = Queue(self.stores, self.model, self.after_change)
        self.rewriter = (
            Rewriter(LanguageModel(settings, settings.rewrite_model), settings) if settings.rewrite_queries else None
        )

    def _folders_user(self) -> str:
        """The user written into the folder when it was made, else the account's name, written now."""
        recorded = self.stores.log.get_meta(_USER_ID)
        if not recorded:
            with contextlib.suppress(OSError, KeyError):
                recorded = getpass.getuser()
            recorded = recorded or "user"
            self.stores.log.set_meta(**{_USER_ID: recorded})
        return recorded

    def after_change(self) -> None:
        """Start what follows a change of what is remembered, without anybody waiting for it. Never raises."""
        self.upkeep.after_write()
        self.notes.note_change()

    def next_id(self, now: datetime) -> str:
        """A fresh id."""
        with self.stores.writing:
            return self.stores.ids.next(now)

    def distilled(self, added: Added, wait_s: float) -> AddResult:
        """What came of an add once its job is done, or what it did at once when that takes too long.

        Inputs that were known or empty are told of in both cases; after what was read out of the others, in order.
        """
        self.queue.start()
        receipts = self.queue.wait(added.job_id, wait_s)
        if receipts:
            at_once = tuple(receipt for receipt in added.result.results if receipt.status != "queued")
            return replace(added.result, results=receipts + at_once)
        reason = self.queue.why_waiting(added.job_id)
        if not reason:
            return added.result
        return replace(
            added.result,
            results=tuple(
                noted(receipt, reason) if receipt.status == "queued" else receipt for receipt in added.result.results
            ),
        )

    def close(self) -> None:
        """Write what waits and let go of everything; the next time goes on with the rest. Safe to repeat.

        Long work is told first to end. What is waited for: the batch that it is at, the write that a job is at, and a
        compaction that is due.
        """
        self.stores.begin_closing()
        if self.rewriter:
            self.rewriter.close()
        self.queue.stop()
        self.upkeep.finish()
        self.notes.stop()
        self.stores.close()
        self._release()

    def _release(self) -> None:
        if not self._is_held_for_good:
            self._folder.release()
