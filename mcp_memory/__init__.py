"""Long-term memory for agents: one store on your machine, shared over MCP.

Names are loaded on first use, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import __version__

_HOMES = {
    "Memory": "client",
    "LocalMemory": "memory",
    "AddResult": "records",
    "DeleteResult": "records",
    "Filters": "search_records",
    "Hit": "search_records",
    "SearchResult": "search_records",
    "McpMemoryError": "errors",
}
__all__ = [
    "AddResult",
    "DeleteResult",
    "Filters",
    "Hit",
    "LocalMemory",
    "McpMemoryError",
    "Memory",
    "SearchResult",
    "__version__",
]

if TYPE_CHECKING:
    from .client import Memory as Memory
    from .errors import McpMemoryError as McpMemoryError
    from .memory import LocalMemory as LocalMemory
    from .records import AddResult as AddResult
    from .records import DeleteResult as DeleteResult
    from .search_records import Filters as Filters
    from .search_records import Hit as Hit
    from .search_records import SearchResult as SearchResult


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
