"""Doctor tells of each host that is here, and sets right what is broken there."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mcp_memory import cli, host_health, install
from mcp_memory.hosts import HOSTS
from mcp_memory.install import Surroundings
from mcp_memory.processor import Tried
from mcp_memory.reports import Check
from tests.engines import engines_on, kill

STRANGER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    result = {"serverInfo": {"version": "0.0.1"}, "tools": []}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


@pytest.fixture
def around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Surroundings]:
    monkeypatch.setenv("HOME", str(tmp_path))
    home = tmp_path / "home"
    yield Surroundings({"MCP_MEMORY_HOME": str(home), "PATH": ""}, tmp_path)
    for pid in engines_on(home):
        kill(pid)


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tree under test is what is installed, whatever script lies beside Python."""
    program = (sys.executable, "-P", "-m", "mcp_memory")
    monkeypatch.setattr(install, "own_program", lambda: program)


def checks(around: Surroundings) -> list[Check]:
    return list(host_health.examine_hosts(around))


def set_up(host: str, around: Surroundings) -> None:
    install.apply_install(install.plan_install(HOSTS[host], around), around)


def test_nothing_is_said_where_no_host_is(around: Surroundings) -> None:
    assert checks(around) == []


def test_a_host_that_is_here_and_not_set_up_is_a_note(around: Surroundings) -> None:
    (around.home / ".cursor").mkdir()
    [check] = checks(around)
    assert check.is_ok
    assert check.advice == "to set it up, run: mcp-memory install cursor"
    assert host_health.fix_hosts(around) == []


@pytest.mark.usefixtures("module")
def test_what_is_set_up_and_answers_is_fine_and_what_runs_by_itself_belongs_to_it(around: Surroundings) -> None:
    set_up("claude-code", around)
    [check] = checks(around)
    assert (check.found, check.advice) == ("set up and reachable, 3 tools", "")
    hooks = around.home / ".claude" / "settings.json"
    hooks.write_text("{}")
    [check] = checks(around)
    assert check.is_ok
    assert "mcp-memory install claude-code" in check.advice
    assert host_health.fix_hosts(around) == ["Claude Code: installed again"]
    assert "hook recall" in hooks.read_text()
    assert host_health.fix_hosts(around) == []


@pytest.mark.usefixtures("module")
def test_a_command_that_is_gone_is_a_failure_and_is_set_right(around: Surroundings) -> None:
    path = around.home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    entry = {"command": "/gone/mcp-memory", "args": ["serve"], "env": {"MCP_MEMORY_USER_ID": "ana"}}
    path.write_text(json.dumps({"mcpServers": {"memory": entry}}))
    [check] = checks(around)
    assert not check.is_ok
    assert "/gone/mcp-memory cannot be started" in check.found
    assert host_health.fix_hosts(around) == ["Cursor: installed again"]
    assert checks(around)[0].advice == ""
    assert json.loads(path.read_text())["mcpServers"]["memory"]["env"]["MCP_MEMORY_USER_ID"] == "ana"


def test_another_version_is_a_failure(around: Surroundings, tmp_path: Path) -> None:
    program = tmp_path / "mcp-memory"
    program.write_text(f"#!{sys.executable}\n{STRANGER}")
    program.chmod(0o755)
    plan = install.plan_install(HOSTS["gemini"], around, program=[str(program)])
    install.apply_install(plan, around)
    [check] = checks(around)
    assert not check.is_ok
    assert "version 0.0.1" in check.found


def test_a_file_that_cannot_be_read_is_a_failure_where_the_memory_was_in_it(around: Surroundings) -> None:
    path = around.home / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text("{")
    [check] = checks(around)
    assert check.is_ok
    assert str(path) in check.found
    path.write_text("{}")
    set_up("gemini", around)
    path.write_text("{")
    [check] = checks(around)
    assert not check.is_ok


def test_another_server_of_that_name_is_a_note(around: Surroundings) -> None:
    path = around.home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{"mcpServers": {"memory": {"command": "npx"}}}')
    [check] = checks(around)
    assert check.is_ok
    assert "--name" in check.advice
    assert host_health.fix_hosts(around) == []


@pytest.mark.usefixtures("module")
def test_pi_without_servers_is_asked_by_its_extension(around: Surroundings) -> None:
    set_up("pi", around)
    [check] = checks(around)
    assert check.found == "set up and reachable, 3 tools"


runner = CliRunner()


@pytest.fixture
def terminal(around: Surroundings, monkeypatch: pytest.MonkeyPatch) -> Surroundings:
    """What the command line finds: this home."""
    monkeypatch.setenv("COLUMNS", "200")
    return around


def test_a_dry_run_shows_the_change_and_writes_nothing_at_all(terminal: Surroundings) -> None:
    result = runner.invoke(cli.app, ["install", "codex", "--dry-run"])
    assert result.exit_code == 0, result.output
    assert "+[mcp_servers.memory]" in result.stdout
    assert str(terminal.home / ".codex" / "config.toml") in result.stdout
    assert list(terminal.home.iterdir()) == []


@pytest.mark.usefixtures("module")
def test_a_host_is_set_up_after_its_server_has_answered_and_cleared_again(terminal: Surroundings) -> None:
    result = runner.invoke(cli.app, ["install", "claude-code"])
    assert result.exit_code == 0, result.output
    assert "the server answers with 3 tools" in result.stdout
    assert "claude mcp list" in result.stdout
    listed = json.loads(runner.invoke(cli.app, ["install", "--json"]).stdout)["hosts"]
    assert [row["host"] for row in listed if row["set_up"]] == ["claude-code"]
    assert "claude-code" in runner.invoke(cli.app, ["install"]).stdout
    assert "set up already" in runner.invoke(cli.app, ["install", "claude-code"]).stdout
    assert "nothing was written" in runner.invoke(cli.app, ["uninstall", "claude-code", "--dry-run"]).stdout
    assert (terminal.home / ".claude.json").exists()
    cleared = runner.invoke(cli.app, ["uninstall", "claude-code"])
    assert cleared.exit_code == 0
    assert "a copy of it as it was" in cleared.stdout
    again = runner.invoke(cli.app, ["uninstall", "claude-code"])
    assert (again.exit_code, "is not set up" in again.stdout) == (0, True)
    assert [path.name for path in terminal.home.iterdir()] == ["home"]


def test_nothing_is_written_where_the_server_does_not_answer(
    terminal: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = terminal.home / "mcp-memory"
    program.write_text("#!/bin/sh\necho no such module >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(install, "own_program", lambda: (str(program),))
    result = runner.invoke(cli.app, ["install", "cursor"])
    assert result.exit_code == 1
    assert "does not answer as a server: no such module" in result.stderr
    assert list(terminal.home.iterdir()) == [program]
    assert runner.invoke(cli.app, ["install", "cursor", "--no-check"]).exit_code == 0
    assert str(program) in (terminal.home / ".cursor" / "mcp.json").read_text()


@pytest.mark.usefixtures("module")
def test_doctor_tells_of_hosts_and_sets_them_right(terminal: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_memory.doctor.try_lancedb", Tried)
    set_up("cursor", terminal)
    path = terminal.home / ".cursor" / "mcp.json"
    path.write_text(path.read_text().replace(sys.executable, "/gone/python"))
    broken = runner.invoke(cli.app, ["doctor"])
    assert broken.exit_code == 1
    assert "FIX  Cursor: /gone/python cannot be started" in broken.stdout
    fixed = json.loads(runner.invoke(cli.app, ["doctor", "--fix", "--json"]).stdout)
    assert fixed["fixed"] == ["Cursor: installed again"]
    assert [check["ok"] for check in fixed["checks"] if check["name"] == "Cursor"] == [True]


def test_an_unknown_host_fails_with_advice(terminal: Surroundings) -> None:
    result = runner.invoke(cli.app, ["install", "emacs"])
    assert result.exit_code == 1
    assert "choose one of claude-desktop" in result.stderr
