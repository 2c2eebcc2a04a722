"""The memory as programs use it: through the engine that they share with every host."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .paths import data_folder
from .remote import RemoteMemory
from .starter import connect_or_start

if TYPE_CHECKING:
    from .memory import LocalMemory
    from .restore import RestoreResult


class Memory(RemoteMemory):
    """One user's memory in the data folder that the environment names, beside whatever host is attached to it.

    It can be closed, used in a `with` block, and called from several threads.
    """

    def __init__(self, *, user_id: str = "", agent_id: str = "") -> None:
        """Connect to the engine, which is started where none runs.

        Raises:
            McpMemoryError: it cannot be started, or refuses.
        """
        super().__init__(
            lambda: connect_or_start(data_folder(), "api", user_id=user_id, agent_id=agent_id, name="python")
        )
        self.learn_whose()

    @staticmethod
    def local(
        folder: str | Path | None = None, *, user_id: str = "", agent_id: str = "", **settings: Any
    ) -> "LocalMemory":
        """The memory in a folder that this process opens by itself and holds; see `LocalMemory.open`."""
        # Imported here: whoever connects needs none of the stores.
        from .memory import LocalMemory

        return LocalMemory.open(folder, user_id=user_id, agent_id=agent_id, **settings)

    @staticmethod
    def restore(source: str | Path, folder: str | Path | None = None) -> "RestoreResult":
        """Put a backup into a data folder that nobody holds; see `LocalMemory.restore`."""
        from .memory import LocalMemory

        return LocalMemory.restore(source, folder)
