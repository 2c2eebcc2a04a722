"""A server for a host whose engine could not be started: each call tries again, and tells why it fails."""

import threading
from typing import TYPE_CHECKING

from .client import Memory
from .server import serve_host
from .turns import Turn

if TYPE_CHECKING:
    from .settings import Settings


class Standby:
    """The memory of an engine that may be there by the next call."""

    def __init__(self) -> None:
        self.activity = "waiting for the engine"
        self._lock = threading.Lock()
        self._memories: dict[str, Memory] = {}

    def next_turn(self, _settings: "Settings | None") -> Turn:
        """One connection asks one thing at a time; the order is the engine's."""
        return Turn()

    def memory_of(self, _settings: "Settings | None", agent_id: str, _turn: Turn) -> Memory:
        """The memory in the engine, which is found or started now.

        Raises:
            McpMemoryError: why there is none.
        """
        with self._lock:
            if agent_id not in self._memories:
                self._memories[agent_id] = Memory(agent_id=agent_id)
            return self._memories[agent_id]

    def warm(self) -> None:
        """Nothing can be prepared here."""

    def close(self) -> None:
        """Let go of the connections."""
        for memory in self._memories.values():
            memory.close()


def serve() -> None:
    """Serve MCP over standard input and output until the input ends."""
    serve_host(Standby())
