"""The life of the memory behind a server: opened on first use, warmed in the background, closed once."""

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .errors import McpMemoryError, StorageError
from .turns import Turn, Turns

if TYPE_CHECKING:
    from .memory import LocalMemory
    from .settings import Settings

logger = logging.getLogger(__name__)

_CLOSE_S = 5.0


def open_local(**settings: Any) -> "LocalMemory":
    """The memory in the data folder that the settings name; those given go before."""
    # Imported here: the stores behind it cost more than a host waits for a handshake.
    from .memory import LocalMemory

    return LocalMemory.open(**settings)


class Engine:
    """Holds one data folder for a server. Nothing heavy happens before `warm` or the first `memory`."""

    def __init__(self, open_memory: "Callable[..., LocalMemory]" = open_local) -> None:
        self._open_memory = open_memory
        self._lock = threading.Lock()
        self._memory: LocalMemory | None = None
        self._warming: threading.Thread | None = None
        self._starting = threading.Lock()
        self._is_warm = False
        self._is_closed = self._is_waiting_over = False
        self._turns = Turns()
        self.activity = "starting"

    def memory(self, **opened_with: Any) -> "LocalMemory":
        """The open memory; opens it when it is not, with settings if any, and tries again when that failed before.

        Raises:
            McpMemoryError: the folder is in use, a setting is wrong, a file is damaged.
        """
        with self._lock:
            if self._is_closed:
                raise StorageError("the server is ending", hint="start it again")
            if self._memory is None:
                self.activity = "opening the data folder"
                self._memory = self._open_memory(**opened_with)
                if self._is_waiting_over:
                    self._memory.stop_waiting()
            return self._memory

    def memory_of(self, settings: "Settings | None", agent_id: str, turn: Turn, **opened_with: Any) -> "LocalMemory":
        """The memory as a client with its own settings sees it; without, with those that it was opened with.

        Raises:
            McpMemoryError: as `memory` does.
        """
        memory = self.memory(**opened_with)
        return memory.as_client(settings or memory.settings, agent_id).in_turn(turn)

    def next_turn(self, settings: "Settings | None") -> Turn:
        """A place among the changes of a client's user, in the order of these calls."""
        return self._turns.take(settings.user_id if settings else "")

    def warm(self) -> None:
        """Begin to load what the first call needs, in a thread; nothing happens while or after it worked."""
        with self._starting:
            if not (self.is_warming or self._is_warm or self._is_closed):
                self._warming = threading.Thread(target=self._warm, name="warm", daemon=True)
                self._warming.start()

    @property
    def is_warming(self) -> bool:
        """Whether loading is still going on."""
        return self._warming is not None and self._warming.is_alive()

    def _warm(self) -> None:
        try:
            memory = self.memory()
            self.activity = "loading the embedding model"
            memory.warm(self._report_catching_up)
            self._is_warm = True
        except McpMemoryError as exc:
            # The next call meets the same failure and tells the agent, and loading is tried again.
            logger.warning("not ready: %s", exc)
        self.activity = "ready"

    def _report_catching_up(self, done: int, total: int) -> None:
        self.activity = f"embedding memories left from last time, {done} of {total}"

    def has_work(self) -> bool:
        """Whether texts are being read by the language model, or could be at once."""
        memory = self._memory
        return memory is not None and memory.has_due_work()

    def stop_waiting(self) -> None:
        """Have adds answer `queued` at once, those that wait for their texts to be read and all later ones.

        For when calls under way are to end: the texts are durable, and the queue goes on with them. Returns at once,
        raises nothing, is safe to repeat and to call from any thread, before the memory is open as well.
        """
        self._is_waiting_over = True
        if (memory := self._memory) is not None:
            memory.stop_waiting()

    def close(self) -> None:
        """Close the memory if it is open; what waits for the language model is left to the next time. Safe to repeat.

        Waits some seconds for it to be opened, then as `LocalMemory.close` does. While it is still loading it is left
        as it is: the process is to end.
        """
        self._is_closed = True
        # A thread deep in loading a model cannot be interrupted; the process ends under it.
        if self._lock.acquire(timeout=_CLOSE_S):
            try:
                if self._memory is not None and not self.is_warming:
                    self._memory.close()
                    self._memory = None
            finally:
                self._lock.release()
