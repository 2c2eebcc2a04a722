"""Upkeep: write to LanceDB what waits, catch up with the log, compact, renew keyword bases, purge what has expired.

In a thread of its own.
"""

import logging
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta

from . import purge
from .apply import apply_waiting
from .errors import McpMemoryError
from .reconcile import catch_up
from .records import OnProgress
from .renew import alone
from .stores import Stores
from .tables import TablesDamagedError

logger = logging.getLogger(__name__)

# What waits for LanceDB is written when it is so many rows or has waited for so long: a write costs some 10 ms however
# many rows it has, and leaves a small file behind.
GROUP_ROWS = 256
GROUP_S = 0.2
_TIDY_EVERY_S = 3600.0
# Who purges what has expired.
_AGENT = "mcp-memory"


class Upkeep:
    """Work that follows writes without anybody waiting for it; at most one piece at a time."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="upkeep")
        self._running: Future[None] | None = None
        self._asking = threading.Lock()
        self._is_wanted = self._is_active = False
        # Ends the wait for a group to grow.
        self._is_full = threading.Event()
        self._is_hurried = False
        self._catching_up = threading.Lock()
        self._is_caught_up = False
        self._tidied_at_s: float | None = None
        # Whether what was due at the last look has been done.
        self._has_failed = False

    def catch_up_once(self, on_progress: OnProgress = lambda _done, _total: None) -> None:
        """Bring the tables in line with the log; once it has worked, later calls return at once.

        A concurrent call returns at once too: a search goes on with what is there and says what it lacks.
        """
        if self._is_caught_up or not self._catching_up.acquire(blocking=False):
            return
        try:
            catch_up(self._stores, on_progress)
            self._is_caught_up = True
        except McpMemoryError as exc:
            logger.warning("the tables lag behind the log: %s", exc)
        finally:
            self._catching_up.release()

    def notice(self) -> str:
        """What users are to know while tables are made anew, else ''."""
        if self._stores.is_behind and self._stores.set_aside_because:
            return f"Damaged tables are being made anew; the old ones are in {self._stores.folder.damaged}."
        return ""

    def after_write(self) -> None:
        """Start what is due; call after each change. Never raises."""
        try:
            if not self._is_due():
                return
            with self._asking:
                self._is_wanted = True
                if not self._is_active:
                    self._running = self._executor.submit(self._run)
                    self._is_active = True
            if len(self._stores.waiting) >= GROUP_ROWS:
                self._is_full.set()
        except (McpMemoryError, RuntimeError) as exc:
            # The change stands; RuntimeError is an executor that is shutting down.
            logger.warning("upkeep was put off: %s", exc)

    def settle(self) -> None:
        """Wait until nothing is running and nothing is due, or what is due has failed."""
        self.after_write()
        while self._running is not None and not self._running.done():
            self._is_full.set()
            self._running.result()
            # What has failed would be due again at once, and fail again.
            if not (self._has_failed or self._stores.is_behind):
                self.after_write()

    def finish(self) -> None:
        """Do what is due, wait for it, then accept nothing more. Safe to repeat.

        While the stores are being closed nothing that takes long is due: catching up is left to the next time.
        """
        self._is_hurried = True
        self._is_full.set()
        self.after_write()
        self._executor.shutdown(wait=True)

    def _is_due(self) -> bool:
        rebuild = any(index.keywords.wants_rebuild for index in self._stores.loaded_indices().values())
        is_any = rebuild or self._stores.is_behind or len(self._stores.waiting) > 0 or self._wants_optimize()
        return is_any or self._is_time_to_tidy()

    def _wants_optimize(self) -> bool:
        tables = self._stores.opened_tables
        return tables is not None and tables.n_unoptimized >= self._stores.settings.optimize_every

    def _is_time_to_tidy(self) -> bool:
        """Whether what is old has not been looked at for an hour: at the start, and when something happens later."""
        return self._tidied_at_s is None or time.monotonic() - self._tidied_at_s >= _TIDY_EVERY_S

    def _tidy(self) -> None:
        """Drop what the history need not keep, end a purge that was cut short, and purge what has expired."""
        if not self._is_time_to_tidy():
            return
        self._tidied_at_s = time.monotonic()
        self._drop_old_events()
        if self._stores.is_closing or self._stores.rebuilding.locked() or self._stores.importing.locked():
            return
        if self._stores.is_purge_unfinished:
            with alone(self._stores):
                purge.finish(self._stores)
        purge.purge_expired(self._stores, self._stores.settings.purge_expired_days, _AGENT)

    def _drop_old_events(self) -> None:
        days = self._stores.settings.keep_events_days
        if not days:
            return
        before = self._stores.clock() - timedelta(days=days)
        is_any_left = True
        while is_any_left and not self._stores.is_closing:
            with self._stores.writing:
                is_any_left = self._stores.log.drop_events(before) > 0

    def _run(self) -> None:
        try:
            while self._is_wanted_again():
                if not self._is_hurried:
                    self._is_full.wait(GROUP_S)
                    self._is_full.clear()
                try:
                    self._do_what_is_due()
                except Exception:
                    # Nobody looks at what becomes of this thread's work.
                    logger.exception("unexpected error in upkeep")
        except BaseException:
            self._is_active = False
            raise

    def _is_wanted_again(self) -> bool:
        """Whether there has been a change since the last look; if not, the next one starts a run of its own."""
        with self._asking:
            self._is_active, self._is_wanted = self._is_wanted, False
            return self._is_active

    def _do_what_is_due(self) -> None:
        self._has_failed = True
        try:
            self._mend_write_and_compact()
            self._has_failed = False
        except TablesDamagedError as exc:
            self._stores.damage = exc.message
            self._catch_up_again()
            self._has_failed = self._stores.is_behind or bool(self._stores.damage)
        except McpMemoryError as exc:
            # The next write tries again; searches do not depend on it.
            logger.warning("upkeep was put off: %s", exc)

    def _mend_write_and_compact(self) -> None:
        stores = self._stores
        apply_waiting(stores)
        if stores.is_behind:
            self._catch_up_again()
        # An exchange of the tables would move their folder away from under the compaction.
        with stores.applying:
            if self._wants_optimize():
                stores.tables().optimize()
        for index in stores.loaded_indices().values():
            if index.keywords.wants_rebuild:
                index.keywords.rebuild()
        with stores.writing:
            stores.log.fold_wal()
        self._tidy()

    def _catch_up_again(self) -> None:
        self._is_caught_up = False
        if not self._stores.is_closing:
            self.catch_up_once()
