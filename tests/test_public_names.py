"""The names that users import are these, and importing the package costs nothing."""

import subprocess
import sys

import mcp_memory


def test_the_exported_names_are_pinned_and_load() -> None:
    assert sorted(mcp_memory.__all__) == [
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
    for name in mcp_memory.__all__:
        assert getattr(mcp_memory, name)


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import mcp_memory, sys; sys.exit(bool({'numpy', 'sqlalchemy', 'mcp', 'pydantic'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0
