"""Where each host has its configuration on each platform; Windows and macOS by their rules, never having run there."""

from pathlib import Path

import pytest

from mcp_memory.hosts import HOSTS, places

HOME = Path("/home/ana")


@pytest.mark.parametrize(
    ("host", "platform", "file"),
    [
        ("claude-desktop", "linux", ".config/Claude/claude_desktop_config.json"),
        ("claude-desktop", "darwin", "Library/Application Support/Claude/claude_desktop_config.json"),
        ("claude-desktop", "win32", "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("claude-code", "linux", ".claude.json"),
        ("claude-code", "win32", ".claude.json"),
        ("cursor", "darwin", ".cursor/mcp.json"),
        ("vscode", "linux", ".config/Code/User/mcp.json"),
        ("vscode", "darwin", "Library/Application Support/Code/User/mcp.json"),
        ("vscode", "win32", "AppData/Roaming/Code/User/mcp.json"),
        ("codex", "linux", ".codex/config.toml"),
        ("gemini", "win32", ".gemini/settings.json"),
        ("pi", "linux", ".pi/agent/mcp.json"),
    ],
)
def test_each_host_has_its_file_where_the_platform_wants_it(host: str, platform: str, file: str) -> None:
    assert places(host, {}, HOME, platform).servers[-1] == HOME / file


@pytest.mark.parametrize(
    ("host", "variable", "platform", "file"),
    [
        ("claude-desktop", "XDG_CONFIG_HOME", "linux", "Claude/claude_desktop_config.json"),
        ("claude-desktop", "APPDATA", "win32", "Claude/claude_desktop_config.json"),
        ("claude-code", "CLAUDE_CONFIG_DIR", "linux", ".claude.json"),
        ("vscode", "XDG_CONFIG_HOME", "linux", "Code/User/mcp.json"),
        ("codex", "CODEX_HOME", "linux", "config.toml"),
        ("gemini", "GEMINI_CLI_HOME", "linux", ".gemini/settings.json"),
        ("pi", "PI_CODING_AGENT_DIR", "linux", "mcp.json"),
    ],
)
def test_the_variables_that_a_host_heeds_move_its_file(host: str, variable: str, platform: str, file: str) -> None:
    assert places(host, {variable: "/moved"}, HOME, platform).servers[-1] == Path("/moved") / file
    assert places(host, {variable: " "}, HOME, platform) == places(host, {}, HOME, platform)


def test_the_hooks_of_claude_code_move_with_it() -> None:
    assert places("claude-code", {}, HOME, "linux").hooks == HOME / ".claude" / "settings.json"
    assert places("claude-code", {"CLAUDE_CONFIG_DIR": "~/c"}, HOME, "linux").hooks == HOME / "c" / "settings.json"


def test_a_relative_xdg_value_is_ignored() -> None:
    assert places("vscode", {"XDG_CONFIG_HOME": "conf"}, HOME, "linux").folder == HOME / ".config" / "Code" / "User"


def test_every_host_is_told_what_happens_next_in_a_few_lines() -> None:
    for host in HOSTS.values():
        assert 1 <= len(host.afterwards.splitlines()) <= 3, host.name
