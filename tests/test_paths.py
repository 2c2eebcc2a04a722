"""The data folder: what was asked for, else the platform's place for user data; and the cache beside it."""

from pathlib import Path

import pytest

from mcp_memory.paths import cache_folder, data_folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_the_variable_wins_on_every_platform(tmp_path: Path, platform: str) -> None:
    environment = {"MCP_MEMORY_HOME": str(tmp_path), "XDG_DATA_HOME": "/elsewhere", "LOCALAPPDATA": "/elsewhere"}
    assert data_folder(environment, platform) == tmp_path


def test_a_tilde_is_expanded(home: Path) -> None:
    assert data_folder({"MCP_MEMORY_HOME": "~/notes"}, "linux") == home / "notes"


def test_a_relative_folder_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert data_folder({"MCP_MEMORY_HOME": "notes"}, "linux") == Path.cwd() / "notes"


@pytest.mark.parametrize("value", ["", "   "])
def test_an_empty_variable_counts_as_not_set(home: Path, value: str) -> None:
    assert data_folder({"MCP_MEMORY_HOME": value}, "linux") == home / ".local" / "share" / "mcp-memory"


def test_linux_follows_xdg(home: Path) -> None:
    assert data_folder({"XDG_DATA_HOME": "/data/mine"}, "linux") == Path("/data/mine/mcp-memory")
    assert data_folder({}, "linux") == home / ".local" / "share" / "mcp-memory"


def test_a_relative_xdg_value_is_ignored(home: Path) -> None:
    assert data_folder({"XDG_DATA_HOME": "data"}, "linux") == home / ".local" / "share" / "mcp-memory"


def test_macos_uses_application_support(home: Path) -> None:
    assert data_folder({"XDG_DATA_HOME": "/data"}, "darwin") == home / "Library/Application Support/mcp-memory"


def test_windows_uses_local_app_data(home: Path) -> None:
    assert data_folder({"LOCALAPPDATA": "/local"}, "win32") == Path("/local/mcp-memory")
    assert data_folder({}, "win32") == home / "AppData" / "Local" / "mcp-memory"


def test_asking_creates_nothing(tmp_path: Path) -> None:
    assert not data_folder({"MCP_MEMORY_HOME": str(tmp_path / "new")}, "linux").exists()


def test_the_cache_is_where_the_platform_wants_it(home: Path) -> None:
    assert cache_folder({"XDG_CACHE_HOME": "/cache"}, "linux") == Path("/cache/mcp-memory")
    assert cache_folder({"XDG_CACHE_HOME": "cache"}, "linux") == home / ".cache" / "mcp-memory"
    assert cache_folder({}, "darwin") == home / "Library/Caches/mcp-memory"
    assert cache_folder({"LOCALAPPDATA": "/local"}, "win32") == Path("/local/mcp-memory/Cache")
