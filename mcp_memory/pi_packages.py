"""Whether Pi reaches MCP servers, by an adapter or by itself: read from its files; Pi is not run."""

import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import json_edit
from .errors import McpMemoryError

_ADAPTER = "pi-mcp-adapter"
# From then on Pi has servers of its own in mcp.json.
_OWN_MCP_SINCE = 1


def has_adapter(settings: Path | None, folder: Path) -> bool:
    """Whether pi-mcp-adapter is among the packages or extensions of Pi's settings, or lies among its extensions."""
    if (folder / "extensions" / _ADAPTER).exists():
        return True
    told: Any = {}
    with suppress(OSError, ValueError, McpMemoryError):
        told = json_edit.get(settings.read_text(encoding="utf-8-sig"), ()) if settings else {}
    if not isinstance(told, dict):
        return False
    named = [*_listed(told.get("packages")), *_listed(told.get("extensions"))]
    return any(_ADAPTER in source.replace("\\", "/").split("@")[0].split(":")[-1].split("/") for source in named)


def has_own_mcp(environment: Mapping[str, str]) -> bool:
    """Whether the Pi on the PATH is new enough to start MCP servers itself; False where its version is not found."""
    program = shutil.which("pi", path=environment.get("PATH", ""))
    if not program:
        return False
    for folder in Path(program).resolve().parents[:4]:
        with suppress(OSError, ValueError, AttributeError):
            told = json.loads((folder / "package.json").read_text(encoding="utf-8"))
            if told.get("name", "").endswith("/pi-coding-agent"):
                return int(str(told.get("version", "0")).split(".")[0]) >= _OWN_MCP_SINCE
    return False


def _listed(given: Any) -> list[str]:
    """The sources of a list of packages, each a text or an object with more about it."""
    found = given if isinstance(given, list) else []
    sources = [one.get("source") if isinstance(one, dict) else one for one in found]
    return [source for source in sources if isinstance(source, str)]
