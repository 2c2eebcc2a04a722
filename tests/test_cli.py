"""The command line: what people see, what scripts get, how failures read."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from mcp_memory import cli, embedder
from mcp_memory.address import holder_of, published
from mcp_memory.embedder import Embedder
from mcp_memory.processor import Tried
from tests.conftest import Opener
from tests.engines import wait_until
from tests.ollama_server import OllamaServer, tags

runner = CliRunner()


@pytest.fixture(autouse=True)
def model_at_hand(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands open the memory anew each time; the loaded model is lent to them."""
    monkeypatch.setattr("mcp_memory.memory.Embedder", lambda *_: embedder)
    monkeypatch.setenv("MCP_MEMORY_USER_ID", "ana")
    monkeypatch.setenv("COLUMNS", "200")


def run(*arguments: str, stdin: str = "") -> Result:
    return runner.invoke(cli.app, list(arguments), input=stdin)


def as_json(*arguments: str) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_add_search_list_and_delete_work_together() -> None:
    [receipt] = as_json("add", "I keep bees", "--meta", "place=orchard", "--meta", "hives=3")["results"]
    assert receipt["status"] == "added"
    [hit] = as_json("search", "bees", "--meta", "hives=3")["memories"]
    assert (hit["id"], hit["agent"]) == (receipt["id"], "cli")
    assert as_json("search", "bees", "--meta", "hives=4")["memories"] == []
    listed = as_json("list")
    assert list(listed) == ["memories"]
    assert listed["memories"][0]["metadata"] == {"place": "orchard", "hives": 3}
    assert as_json("delete", receipt["id"])["deleted"] == receipt["id"]
    assert as_json("list") == {"memories": []}
    assert as_json("stats")["deleted"] == 1


def test_a_program_that_uses_the_commands_may_give_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_MEMORY_AGENT_ID", "pi")
    as_json("add", "I keep bees")
    assert [record["agent"] for record in as_json("list")["memories"]] == ["pi"]


@pytest.mark.slow
def test_a_command_waits_for_an_engine_that_holds_the_folder_and_does_not_listen_yet(home: Path) -> None:
    home.mkdir()
    engine = subprocess.Popen([sys.executable, "-P", "-m", "mcp_memory", "engine", "run"])
    try:
        wait_until(lambda: holder_of(home) is not None)
        assert published(home) is None, "it listens already: this shows nothing"
        [receipt] = as_json("add", "I keep bees")["results"]
        assert receipt["status"] == "added"
        found = published(home)
        assert found is not None
        assert found.pid == engine.pid
    finally:
        engine.kill()
        engine.wait()


def test_a_rating_is_told_with_what_it_moved() -> None:
    [receipt] = as_json("add", "I keep bees")["results"]
    rated = as_json("rate", receipt["id"], "--useful")
    assert rated == {"rated": receipt["id"], "text": "I keep bees", "useful": True, "importance": 0.5612}
    assert f"rated {receipt['id']} useless: importance 0.56 → 0.50" in run("rate", receipt["id"], "--useless").stdout
    [hit] = as_json("search", "bees", "--explain")["memories"]
    assert hit["signals"]["importance"] == pytest.approx(0.5, abs=1e-3)


def test_a_rating_that_cannot_be_counted_says_why() -> None:
    [receipt] = as_json("add", "I keep bees")["results"]
    unsaid = run("rate", receipt["id"])
    assert unsaid.exit_code == 2
    assert "--useful" in unsaid.output
    unknown = run("rate", "0" * 12, "--useful")
    assert unknown.exit_code == 1
    assert "there is no memory" in unknown.stderr


def test_people_see_the_id_the_text_and_the_reason_of_a_rank() -> None:
    run("add", "I keep bees [near] the orchard")
    shown = run("search", "bees", "--explain").stdout
    assert "I keep bees [near] the orchard" in shown
    assert "relevance" in shown
    assert "keyword" in shown
    assert "I keep bees" in run("list").stdout


def test_a_memory_is_shown_corrected_undone_and_its_history_told() -> None:
    [receipt] = as_json("add", "I keep bees", "--meta", "hives=3")["results"]
    bees = receipt["id"]
    assert as_json("show", bees)["metadata"] == {"hives": 3}
    assert "I keep bees" in run("show", bees).stdout
    updated = as_json("update", bees, "--text", "I keep goats", "--importance", "0.8", "--meta", "goats=4")
    assert updated["changed"]["metadata"] == [{"hives": 3}, {"goats": 4}]
    assert [change["operation"] for change in as_json("history", bees)["changes"]] == ["add", "update"]
    undone = as_json("undo", updated["change_id"])
    assert undone["memories"][0]["text"] == "I keep bees"
    shown = run("history", bees).stdout
    assert f"undone by {undone['change_id']}" in shown
    assert f'[{bees}] active: "I keep goats" again' in run("undo", undone["change_id"]).stdout
    assert "updated" in run("update", bees, "--text", "-", stdin="I keep hens").stdout
    assert as_json("show", bees)["text"] == "I keep hens"


def test_the_profile_is_shown_as_lines_and_as_json() -> None:
    assert "nothing is remembered of you yet" in run("profile").stdout
    assert as_json("profile") == {}
    [receipt] = as_json("add", "I keep bees", "--kind", "fact")["results"]
    assert as_json("profile")["statements"][0]["id"] == receipt["id"]
    assert f"[{receipt['id']}]" in run("profile").stdout
    assert "bees" not in run("profile", "--max-tokens", "5").stdout


def test_why_not_tells_a_filter_and_a_rank() -> None:
    [receipt] = as_json("add", "I keep bees")["results"]
    assert as_json("why-not", receipt["id"], "bees", "--kind", "plan")["verdict"] == "not_visible"
    assert "It was returned as number 1 of 1." in run("why-not", receipt["id"], "bees").stdout


def test_a_text_is_read_from_standard_input() -> None:
    assert run("add", "-", stdin="Line one\nline two\n").exit_code == 0
    assert as_json("list")["memories"][0]["text"] == "Line one\nline two\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("search", ""), "the query is empty"),
        (("search", "x", "--top-k", "0"), "top_k 0"),
        (("search", "x", "--since", "soon"), "since 'soon'"),
        (("add", "x", "--meta", "novalue"), "is not KEY=VALUE"),
        (("delete", "zz"), "is no memory id"),
        (("show", "000000000000"), "there is no memory"),
        (("history", "zz"), "is no memory id"),
        (("undo", "000000000000"), "there is no change"),
        (("update", "000000000000"), "nothing is given to be corrected"),
        (("why-not", "000000000000", " "), "the query is empty"),
        (("list", "--state", "gone"), "state 'gone'"),
    ],
)
def test_failures_say_what_to_do_and_exit_with_one(arguments: tuple[str, ...], told: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 1
    assert told in result.stderr
    assert "→" in result.stderr
    assert "Traceback" not in result.output


def test_a_folder_in_use_names_the_process(open_memory: Opener) -> None:
    open_memory()
    result = run("list")
    assert result.exit_code == 1
    assert f"in use by process {os.getpid()}" in result.stderr


def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_MEMORY_FLOOR", "high")
    result = run("stats")
    assert result.exit_code == 1
    assert "setting floor = 'high'" in result.stderr
    assert "MCP_MEMORY_FLOOR" in result.stderr


def test_doctor_reports_each_part_and_each_settings_source() -> None:
    run("add", "I keep bees")
    result = run("doctor")
    assert result.exit_code == 0, result.output
    for part in ("settings", "disk", "processor", "data folder", "log", "embedding model", "tables", "index coverage"):
        assert f"{part}: " in result.stdout
    report = as_json("doctor")
    assert all(check["ok"] for check in report["checks"])
    assert report["settings"]["user_id"] == {"value": "ana", "source": "environment"}
    assert report["settings"]["floor"]["source"] == "default"


def test_doctor_mends_a_row_that_the_tables_lost(tmp_path: Path, open_memory: Opener) -> None:
    memory = open_memory()
    receipt = memory.add("I keep bees", infer=False).results[0]
    memory.settle()
    memory.stores.tables().delete_memories([receipt.id])
    memory.close()
    result = run("doctor")
    assert result.exit_code == 0, result.output
    assert "all 1 memories are in the tables, 1 rows mended just now" in result.stdout
    assert "mended" not in run("doctor").stdout


@pytest.fixture
def quick_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    """LanceDB is loaded here already."""
    monkeypatch.setattr("mcp_memory.doctor.try_lancedb", Tried)


@pytest.mark.usefixtures("quick_doctor")
@pytest.mark.parametrize(
    ("installed", "found", "advice"),
    [
        (("tiny:latest",), "tiny in Ollama at", ""),
        (("other:latest",), "has no tiny", "run: mcp-memory models pull tiny"),
        ((), "has no tiny", "run: mcp-memory models pull tiny"),
        (None, "does not answer", "start Ollama (ollama serve), or set MCP_MEMORY_OLLAMA_HOST"),
    ],
)
def test_doctor_says_what_to_type_for_a_language_model_and_is_content_without(
    installed: tuple[str, ...] | None, found: str, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_MEMORY_LLM_MODEL", "tiny")
    with OllamaServer() as server:
        if installed is not None:
            monkeypatch.setenv("MCP_MEMORY_OLLAMA_HOST", server.url)
            server.script(tags(*({"model": name} for name in installed)))
        report = as_json("doctor")
    [check] = [check for check in report["checks"] if check["name"] == "language model"]
    assert check["ok"]
    assert found in check["found"]
    assert advice in check["advice"]
    assert bool(advice) == bool(check["advice"])


@pytest.mark.usefixtures("quick_doctor")
def test_doctor_looks_for_the_model_that_rewrites_queries_where_it_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_MEMORY_REWRITE_QUERIES", "true")
    monkeypatch.setenv("MCP_MEMORY_REWRITE_MODEL", "small")
    result = run("doctor")
    assert result.exit_code == 0
    assert "note query rewriting: Ollama does not answer at http://127.0.0.1:9 → " in result.stdout


@pytest.mark.usefixtures("quick_doctor")
def test_doctor_marks_what_is_missing_but_not_needed() -> None:
    result = run("doctor")
    assert result.exit_code == 0
    assert "note language model: Ollama does not answer at http://127.0.0.1:9 → " in result.stdout


@pytest.mark.usefixtures("quick_doctor")
def test_doctor_tells_about_the_language_model_while_a_host_holds_the_folder(open_memory: Opener) -> None:
    open_memory()
    result = run("doctor")
    assert result.exit_code == 1
    assert "language model: Ollama does not answer" in result.stdout
    assert f"in use by process {os.getpid()}" in result.stdout


@pytest.mark.usefixtures("quick_doctor")
@pytest.mark.parametrize("variable", ["MCP_MEMORY_OLLAMA_HOST", "OLLAMA_HOST"])
def test_an_address_that_is_none_names_its_variable_and_locks_nothing(
    variable: str, monkeypatch: pytest.MonkeyPatch, open_memory: Opener
) -> None:
    monkeypatch.delenv("MCP_MEMORY_OLLAMA_HOST")
    monkeypatch.setenv(variable, "a b")
    result = run("doctor")
    assert result.exit_code == 1
    assert f"FIX  language model: {variable}: 'a b' is no address" in result.stdout
    assert f"{variable}: 'a b' is no address" in run("stats").stderr
    monkeypatch.delenv(variable)
    assert open_memory().stats()


def test_doctor_names_a_model_that_differs_from_the_folders(
    open_memory: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    memory.add("I keep bees", infer=False)
    memory.close()
    monkeypatch.setattr("mcp_memory.memory.Embedder", embedder.Embedder)
    monkeypatch.setenv("MCP_MEMORY_EMBEDDING_MODEL", "some/other-model")
    result = run("doctor")
    assert result.exit_code == 1
    assert "'all-MiniLM-L6-v2', not 'some/other-model'" in result.stdout


def test_version_and_help_need_no_folder() -> None:
    from mcp_memory import __version__

    assert run("--version").stdout.strip() == __version__
    for command in (
        "serve",
        "demo",
        "add",
        "search",
        "list",
        "delete",
        "show",
        "history",
        "update",
        "undo",
        "why-not",
        "stats",
        "doctor",
        "models",
        "backup",
        "restore",
    ):
        assert run(command, "--help").exit_code == 0


@pytest.fixture
def argv(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    given = ["mcp-memory", "--version"]
    monkeypatch.setattr(sys, "argv", given)
    return given


def test_the_entry_point_leads_to_the_command_line(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    from mcp_memory.__main__ import main

    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().out.strip()
