"""Where things are kept. Standard library only, so that a process starting up can ask at no cost."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

HOME_VARIABLE = "MCP_MEMORY_HOME"
NAME = "mcp-memory"


def data_folder(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The folder that holds everything: `MCP_MEMORY_HOME`, else the platform's place for user data.

    Absolute, `~` expanded, not created.
    """
    if chosen := environment.get(HOME_VARIABLE, "").strip():
        return Path(chosen).expanduser().absolute()
    home = Path.home()
    if platform == "darwin":
        return home / "Library" / "Application Support" / NAME
    if platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / NAME
    # The XDG specification says that a relative value is to be ignored.
    shared = environment.get("XDG_DATA_HOME", "")
    return (Path(shared) if shared.startswith("/") else home / ".local" / "share") / NAME


def cache_folder(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The platform's place for what can be made again. Absolute, not created."""
    home = Path.home()
    if platform == "darwin":
        return home / "Library" / "Caches" / NAME
    if platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / NAME / "Cache"
    shared = environment.get("XDG_CACHE_HOME", "")
    return (Path(shared) if shared.startswith("/") else home / ".cache") / NAME
