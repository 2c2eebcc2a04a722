"""The README tells the truth: its Python example runs, and every tool, argument, command and setting is in it."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_memory import cli
from mcp_memory.settings import PREFIX, Settings
from mcp_memory.tools import DEFAULT, FULL

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.slow
def test_the_python_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_MEMORY_ENGINE_IDLE_S", "0")
    [example] = blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "I keep bees in the orchard" in done.stdout


def test_the_host_example_parses_and_is_the_one_in_the_readme() -> None:
    example = json.loads((ROOT / "claude_desktop_config.example.json").read_text(encoding="utf-8"))
    [server] = example["mcpServers"].values()
    assert server["args"] == ["serve"]
    assert server["command"].startswith("/")
    assert example in [json.loads(block) for block in blocks("json") if "mcpServers" in block]


def test_every_tool_argument_command_and_setting_is_documented() -> None:
    for name, offer in FULL.items():
        assert f"`{name}`" in README
        for argument in offer.arguments.model_fields:
            assert f"`{argument}`" in README, argument
    commands = [("", command) for command in cli.app.registered_commands]
    for group in cli.app.registered_groups:
        assert group.typer_instance
        commands += [(f"{group.name} ", command) for command in group.typer_instance.registered_commands]
    for before, command in commands:
        assert command.callback
        assert command.callback.__doc__
        name = before + (command.name or command.callback.__name__)
        assert re.search(rf"mcp-memory {name}\b", README), name
    for setting in Settings.model_fields:
        name = setting.upper()
        assert f"`{PREFIX}{name}`" in README or f"`_{name}`" in README, name


def test_the_readme_counts_the_further_tools_right() -> None:
    words = ("five", "six", "seven", "eight", "nine")
    n_further = len(FULL) - len(DEFAULT)
    assert f"and {words[n_further - 5]} more if you want it to" in README


def test_the_documented_defaults_are_the_real_ones() -> None:
    rows = re.findall(rf"\| `{PREFIX}(\w+)` \| `([^`|]+)`", README)
    found = {name.lower(): value for name, value in rows if name != "HOME"}
    for name, value in found.items():
        default = Settings.model_fields[name].default
        assert value.split(" ")[0] == (f"{default:g}" if isinstance(default, float) else str(default)), name


def test_every_public_name_says_what_it_is() -> None:
    silent = []
    for path in sorted((ROOT / "mcp_memory").glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), path.name
        for owner, node in public_definitions(tree):
            if not ast.get_docstring(node):
                silent.append(f"{path.name}: {owner}{node.name}")
    assert silent == []


def public_definitions(tree: ast.Module) -> Iterator[tuple[str, Definition]]:
    """Functions and classes of a module, and the methods of its public classes."""
    for node in tree.body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield "", node
            if isinstance(node, ast.ClassDef):
                for member in node.body:
                    if isinstance(member, Definition) and not member.name.startswith("_"):
                        yield f"{node.name}.", member
