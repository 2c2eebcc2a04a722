"""Notes files kept by a real engine: current after a host's change, after the command line's, and when it leaves."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from mcp_memory.cli import app
from mcp_memory.notes_record import RECORD_NAME
from tests.conftest import Attach
from tests.engines import engine_of, is_running, wait_until

pytestmark = pytest.mark.slow


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_an_engine_keeps_the_files_of_each_user_current_and_leaves_them_so(
    attach: Attach, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    mine, theirs = tmp_path / "ana.md", tmp_path / "ben.md"
    mine.write_text("# Mine\n", encoding="utf-8")
    ana, ben = attach("desk"), attach("code", MCP_MEMORY_USER_ID="ben")
    assert "written" in run("sync-notes", str(mine))
    monkeypatch.setenv("MCP_MEMORY_USER_ID", "ben")
    run("sync-notes", str(theirs))
    monkeypatch.setenv("MCP_MEMORY_USER_ID", "ana")
    ana.call("add_memory", text="I keep bees", infer=False, kind="fact")
    ben.call("add_memory", text="I keep hens", infer=False, kind="fact")
    wait_until(lambda: "bees" in text_of(mine) and "hens" in text_of(theirs))
    assert text_of(mine).startswith("# Mine\n\n<!-- mcp-memory:begin ")
    assert "hens" not in text_of(mine)
    assert "bees" not in text_of(theirs)
    assert "1 of 1 files current" in run("doctor")
    theirs.unlink()
    ana.call("add_memory", text="I keep goats", infer=False, kind="fact")
    pid = engine_of(home).pid
    run("engine", "stop")
    wait_until(lambda: not is_running(pid))
    assert "goats" in text_of(mine)
    assert not theirs.exists()
    assert str(mine) in text_of(home / RECORD_NAME)


def test_an_engine_brings_files_up_to_date_once_it_has_warmed_up(
    attach: Attach, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = tmp_path / "AGENTS.md"
    run("sync-notes", str(notes))
    before = text_of(notes)
    run("add", "I keep bees", "--kind", "fact")
    assert "bees" in text_of(notes)
    notes.write_text(before, encoding="utf-8")
    attach("desk").tools()
    wait_until(lambda: "bees" in text_of(notes))
