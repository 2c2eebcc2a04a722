"""Upkeep: catch up with the log at start, compact LanceDB, renew keyword bases. In a thread of its own."""

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from .errors import McpMemoryError
from .store import Stores, apply_pending

logger = logging.getLogger(__name__)


class Upkeep:
    """Work that follows writes without anybody waiting for it; at most one piece at a time."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="upkeep")
        self._optimized_at = 0
        self._running: Future[None] | None = None

    def after_write(self) -> None:
        """Start what is due, unless something is running; call after each change."""
        if (self._running is None or self._running.done()) and self._is_due():
            self._running = self._executor.submit(self._run)

    def finish(self) -> None:
        """Wait for what is running, then accept nothing more. Safe to repeat."""
        self._executor.shutdown(wait=True)

    def _is_due(self) -> bool:
        return self._wants_optimize() or any(
            index.keywords.wants_rebuild for index in self._stores.loaded_indices().values()
        )

    def _wants_optimize(self) -> bool:
        return self._n_writes() - self._optimized_at >= self._stores.settings.optimize_every

    def _n_writes(self) -> int:
        return self._stores.tables().n_writes if self._stores.dimension else 0

    def _run(self) -> None:
        try:
            if self._wants_optimize():
                self._optimized_at = self._n_writes()
                self._stores.tables().optimize()
            for index in self._stores.loaded_indices().values():
                if index.keywords.wants_rebuild:
                    index.keywords.rebuild()
        except McpMemoryError as exc:
            # The next write tries again; searches do not depend on it.
            logger.warning("upkeep was put off: %s", exc)


def catch_up(stores: Stores, on_progress: Callable[[int, int], None] = lambda _done, _total: None) -> int:
    """Apply what an earlier process left pending; returns the number of rows. Raises like `apply_pending`."""
    return apply_pending(stores, {}, {}, on_progress)
