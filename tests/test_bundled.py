"""What a host of a bundle passes on, and the settings that it means."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory import bundled


@pytest.mark.parametrize("value", ["", "  ", "${user_config.data_folder}", "${user_config.data_folder}/notes"])
@pytest.mark.parametrize("name", ["MCP_MEMORY_HOME", "MCP_MEMORY_OLLAMA_HOST", "MCP_MEMORY_TOOLS"])
def test_a_field_without_a_value_is_no_setting(name: str, value: str) -> None:
    assert bundled.as_settings({name: value}) == {}


def test_what_is_filled_in_stays() -> None:
    filled = {"MCP_MEMORY_HOME": "/data/my memory", "MCP_MEMORY_OLLAMA_HOST": "http://box:11434"}
    assert bundled.as_settings(filled) == filled
    assert bundled.as_settings({"MCP_MEMORY_HOME": " /data "}) == {"MCP_MEMORY_HOME": "/data"}


@pytest.mark.parametrize(
    ("switch", "settings"),
    [
        ("true", {"MCP_MEMORY_TOOLS": "full"}),
        # Off: what the settings file says still counts.
        ("false", {}),
        ("full", {"MCP_MEMORY_TOOLS": "full"}),
        ("default", {"MCP_MEMORY_TOOLS": "default"}),
    ],
)
def test_the_switch_for_all_tools_is_a_tool_set(switch: str, settings: dict[str, str]) -> None:
    assert bundled.as_settings({"MCP_MEMORY_TOOLS": switch}) == settings


def test_only_the_switch_for_tools_is_read_as_one() -> None:
    assert bundled.as_settings({"MCP_MEMORY_LLM_THINK": "false"}) == {"MCP_MEMORY_LLM_THINK": "false"}


@given(
    st.dictionaries(
        st.sampled_from(["MCP_MEMORY_HOME", "MCP_MEMORY_TOOLS", "PATH", "EMPTY"]),
        st.text() | st.sampled_from(["true", "false", "${user_config.x}", " "]),
    )
)
def test_what_is_no_setting_is_not_touched_and_reading_twice_is_reading_once(environment: dict[str, str]) -> None:
    settings = bundled.as_settings(environment)
    others = {name: value for name, value in environment.items() if not name.startswith("MCP_MEMORY_")}
    assert {name: settings.get(name) for name in others} == others
    assert bundled.as_settings(settings) == settings


def test_the_server_and_what_it_starts_see_the_settings_and_not_the_form(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, str] = {}
    monkeypatch.setattr(bundled, "serve_host", lambda: seen.update(os.environ))
    monkeypatch.setenv("MCP_MEMORY_HOME", "${user_config.data_folder}")
    monkeypatch.setenv("MCP_MEMORY_TOOLS", "true")
    monkeypatch.setenv("OF_SOMEBODY_ELSE", "")
    bundled.serve()
    assert "MCP_MEMORY_HOME" not in seen
    assert (seen["MCP_MEMORY_TOOLS"], seen["OF_SOMEBODY_ELSE"]) == ("full", "")
