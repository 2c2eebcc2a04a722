"""Upkeep: catch up with the log, compact LanceDB, renew keyword bases. In a thread of its own."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from .errors import McpMemoryError
from .reconcile import catch_up
from .stores import Stores

logger = logging.getLogger(__name__)


class Upkeep:
    """Work that follows writes without anybody waiting for it; at most one piece at a time."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="upkeep")
        self._running: Future[None] | None = None
        self._catching_up = threading.Lock()
        self._is_caught_up = False

    def catch_up_once(self, on_progress: Callable[[int, int], None] = lambda _done, _total: None) -> None:
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

    def after_write(self) -> None:
        """Start what is due, unless something is running; call after each change. Never raises."""
        try:
            if (self._running is None or self._running.done()) and self._is_due():
                self._running = self._executor.submit(self._run)
        except (McpMemoryError, RuntimeError) as exc:
            # The change stands; RuntimeError is an executor that is shutting down.
            logger.warning("upkeep was put off: %s", exc)

    def settle(self) -> None:
        """Wait until nothing is running and nothing is due."""
        while self._running is not None and not self._running.done():
            self._running.result()
            self.after_write()

    def finish(self) -> None:
        """Do what is due, wait for it, then accept nothing more. Safe to repeat."""
        self.after_write()
        self._executor.shutdown(wait=True)

    def _is_due(self) -> bool:
        rebuild = any(index.keywords.wants_rebuild for index in self._stores.loaded_indices().values())
        return rebuild or self._stores.is_behind or self._wants_optimize()

    def _wants_optimize(self) -> bool:
        tables = self._stores.opened_tables
        return tables is not None and tables.n_unoptimized >= self._stores.settings.optimize_every

    def _run(self) -> None:
        try:
            if self._stores.is_behind:
                self._is_caught_up = False
                self.catch_up_once()
            if self._wants_optimize():
                self._stores.tables().optimize()
            for index in self._stores.loaded_indices().values():
                if index.keywords.wants_rebuild:
                    index.keywords.rebuild()
        except McpMemoryError as exc:
            # The next write tries again; searches do not depend on it.
            logger.warning("upkeep was put off: %s", exc)
