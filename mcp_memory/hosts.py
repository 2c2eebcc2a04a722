"""The hosts that can be set up: where each has its configuration, what an entry looks like there, which hooks it has.

Nothing is read here: places are worked out from an environment, a home folder and a platform.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

HostName = Literal["claude-desktop", "claude-code", "cursor", "vscode", "codex", "gemini", "pi"]
SERVER = "memory"


@dataclass(frozen=True, slots=True)
class Hook:
    """What runs upon an event of a host; `timeout` is in the unit that the host has."""

    event: str
    what: Literal["recall", "capture"]
    timeout: int


@dataclass(frozen=True, slots=True)
class Host:
    """A program that starts MCP servers.

    `key` names its table of servers, `transport` what an entry says of how it is spoken to ('' where it says nothing).
    `hooks` are what runs upon its events; `is_renamed` says that it gives another name over MCP than ours. `afterwards`
    tells people what happens by itself and what to do next.
    """

    name: HostName
    label: str
    programs: tuple[str, ...]
    key: str = "mcpServers"
    is_toml: bool = False
    transport: str = ""
    hooks: tuple[Hook, ...] = ()
    is_renamed: bool = False
    afterwards: str = ""


@dataclass(frozen=True, slots=True)
class Places:
    """Where a host keeps what concerns us; absolute.

    `folder` is there where the host has run. Of `servers` the first file that exists is the one, else the last.
    """

    folder: Path
    servers: tuple[Path, ...]
    hooks: Path | None = None
    extension: Path | None = None
    packages: Path | None = None


_CLAUDE_HOOKS = (
    Hook("SessionStart", "recall", 10),
    Hook("UserPromptSubmit", "recall", 10),
    Hook("Stop", "capture", 10),
    Hook("SessionEnd", "capture", 10),
)
# It lets what ends a session take three seconds, and complains of more each time that it starts.
_CODEX_HOOKS = (*_CLAUDE_HOOKS[:3], Hook("SessionEnd", "capture", 3))
# In milliseconds.
_GEMINI_HOOKS = (
    Hook("SessionStart", "recall", 10_000),
    Hook("BeforeAgent", "recall", 10_000),
    Hook("AfterAgent", "capture", 10_000),
    Hook("SessionEnd", "capture", 10_000),
)

HOSTS: dict[str, Host] = {
    host.name: host
    for host in (
        Host(
            "claude-desktop",
            "Claude Desktop",
            (),
            afterwards="Quit Claude Desktop and start it again: its conversations then have the tools of the memory.",
        ),
        Host(
            "claude-code",
            "Claude Code",
            ("claude",),
            transport="stdio",
            hooks=_CLAUDE_HOOKS,
            afterwards="New sessions recall before each prompt and capture after each turn by themselves, and have the "
            "tools.\nTo see that it is connected, run: claude mcp list",
        ),
        Host(
            "cursor",
            "Cursor",
            ("cursor", "cursor-agent"),
            afterwards="Cursor offers the tools to its agent; to see them, open Settings, MCP (restart it if it runs).",
        ),
        Host(
            "vscode",
            "VS Code",
            ("code",),
            key="servers",
            transport="stdio",
            afterwards="VS Code asks once whether to trust the server, then its agent mode has the tools.\n"
            "To see it, run the command: MCP: List Servers",
        ),
        Host(
            "codex",
            "Codex",
            ("codex",),
            key="mcp_servers",
            is_toml=True,
            hooks=_CODEX_HOOKS,
            is_renamed=True,
            afterwards="New sessions of Codex have the tools; to see the entry, run: codex mcp list\n"
            "They recall before each prompt and capture after each turn once you have trusted the hooks: start codex, "
            "enter /hooks, approve them.",
        ),
        Host(
            "gemini",
            "Gemini CLI",
            ("gemini",),
            hooks=_GEMINI_HOOKS,
            is_renamed=True,
            afterwards="New sessions of Gemini CLI recall before each prompt and capture after each turn by "
            "themselves, and have the tools in folders that it was told to trust.\n"
            "To see that it is connected, run: gemini mcp list",
        ),
        Host(
            "pi",
            "Pi",
            ("pi",),
            is_renamed=True,
            afterwards="New sessions of Pi recall before each prompt and capture after each turn by themselves, and "
            "have the tools.",
        ),
    )
}


def places(name: str, environment: Mapping[str, str], home: Path, platform: str) -> Places:
    """Where a host has its files for a user, by the variables that it heeds itself.

    Claude Code heeds CLAUDE_CONFIG_DIR, Codex CODEX_HOME, Gemini CLI GEMINI_CLI_HOME, Pi PI_CODING_AGENT_DIR; Claude
    Desktop and VS Code keep theirs where the platform has what programs configure.
    """
    match name:
        case "claude-desktop":
            folder = _of_programs(environment, home, platform) / "Claude"
            return Places(folder, (folder / "claude_desktop_config.json",))
        case "claude-code":
            moved = _set(environment, "CLAUDE_CONFIG_DIR", home)
            folder = moved or home / ".claude"
            # Its older form is used as long as it is there.
            servers = (folder / ".config.json", (moved or home) / ".claude.json")
            return Places(folder, servers, hooks=folder / "settings.json")
        case "cursor":
            return Places(home / ".cursor", (home / ".cursor" / "mcp.json",))
        case "vscode":
            folder = _of_programs(environment, home, platform) / "Code" / "User"
            return Places(folder, (folder / "mcp.json",))
        case "codex":
            folder = _set(environment, "CODEX_HOME", home) or home / ".codex"
            return Places(folder, (folder / "config.toml",), hooks=folder / "hooks.json")
        case "gemini":
            folder = (_set(environment, "GEMINI_CLI_HOME", home) or home) / ".gemini"
            return Places(folder, (folder / "settings.json",), hooks=folder / "settings.json")
    folder = _set(environment, "PI_CODING_AGENT_DIR", home) or home / ".pi" / "agent"
    extension = folder / "extensions" / "mcp-memory.ts"
    return Places(folder, (folder / "mcp.json",), extension=extension, packages=folder / "settings.json")


def _of_programs(environment: Mapping[str, str], home: Path, platform: str) -> Path:
    """Where programs with windows keep their configuration."""
    if platform == "darwin":
        return home / "Library" / "Application Support"
    if platform == "win32":
        return Path(environment.get("APPDATA", "").strip() or home / "AppData" / "Roaming")
    shared = environment.get("XDG_CONFIG_HOME", "")
    return Path(shared) if shared.startswith("/") else home / ".config"


def _set(environment: Mapping[str, str], name: str, home: Path) -> Path | None:
    """The folder that a variable names; what is relative is so to the folder that one is in."""
    value = environment.get(name, "").strip()
    if not value:
        return None
    if value == "~" or value.startswith(("~/", "~\\")):
        return home / value[2:]
    return Path(value).absolute()
