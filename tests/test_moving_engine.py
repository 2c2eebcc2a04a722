"""Export and import as people run them: from a terminal, through the engine that hosts share, and cut short."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import moving
import pytest
from typer.testing import CliRunner, Result

from mcp_memory import cli
from mcp_memory.embedder import Embedder
from mcp_memory.memory import LocalMemory
from mcp_memory.remote import RemoteMemory
from tests.builders import tiny_static
from tests.conftest import Attach, Opener
from tests.real_hosts import modules, needs
from tests.test_moving import GRAPH, OF_GRAPH, lines_of, told, write_lines

_SERVER_MEMORY = "@modelcontextprotocol/server-memory"


@pytest.fixture
def at_hand(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands open the memory anew each time; the loaded model is lent to them."""
    monkeypatch.setattr("mcp_memory.memory.Embedder", lambda *_: embedder)
    monkeypatch.setattr("mcp_memory.stores.Embedder", lambda *_: embedder)
    monkeypatch.setenv("MCP_MEMORY_USER_ID", "ana")
    monkeypatch.setenv("COLUMNS", "200")


def run(*arguments: str, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(cli.app, list(arguments), input=stdin)


@pytest.mark.usefixtures("at_hand")
def test_the_commands_say_what_went_out_and_what_came_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("add", "The shed is red.")
    out = run("export", str(tmp_path / "a.jsonl"))
    assert (out.exit_code, "records in" in out.stdout, "1 memory" in out.stdout) == (0, True, True)
    again = run("export", str(tmp_path / "a.jsonl"))
    assert (again.exit_code, "--force" in again.output) == (1, True)
    assert run("export", str(tmp_path / "a.jsonl"), "--force").exit_code == 0
    monkeypatch.setenv("MCP_MEMORY_HOME", str(tmp_path / "other"))
    dry = run("import", str(tmp_path / "a.jsonl"), "--dry-run")
    assert (dry.exit_code, "nothing was changed" in dry.stdout) == (0, True)
    taken = json.loads(run("import", str(tmp_path / "a.jsonl"), "--json").stdout)
    assert (taken["ok"], taken["counts"]["memory"], taken["lag"]) == (True, 1, "")
    assert "The shed is red." in run("search", "shed").stdout


@pytest.mark.usefixtures("at_hand")
def test_what_is_wrong_is_said_with_its_line_and_code_1(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", {"text": "The shed is red."}, {"txt": "The car is blue."})
    refused = run("import", str(path))
    assert (refused.exit_code, "line 2" in refused.output, "--skip-bad" in refused.output) == (1, True, True)
    assert json.loads(run("stats", "--json").stdout)["episodes"] == 0
    skipped = run("import", str(path), "--skip-bad")
    assert (skipped.exit_code, "line 2" in skipped.stdout) == (1, True)
    assert "The shed is red." in run("list").stdout


@pytest.mark.slow
def test_standard_output_and_input_carry_a_memory(tmp_path: Path, attach: Attach) -> None:
    attach()
    host = RemoteMemory.of_running("host")
    assert host
    host.add("Die Hütte ist rot. 😀", infer=False)
    exported = subprocess.run([*moving.COMMAND, "export", "-"], capture_output=True, check=True)
    assert [json.loads(line)["type"] for line in exported.stdout.splitlines()[-1:]] == ["end"]
    elsewhere = {**os.environ, "MCP_MEMORY_HOME": str(tmp_path / "other")}
    command = [*moving.COMMAND, "import", "-", "--json"]
    taken = subprocess.run(command, input=exported.stdout, capture_output=True, env=elsewhere, check=True)
    assert json.loads(taken.stdout)["counts"]["memory"] == 1
    host.close()


@pytest.mark.slow
def test_the_engine_moves_files_for_its_clients(
    tmp_path: Path, attach: Attach, monkeypatch: pytest.MonkeyPatch
) -> None:
    attach()
    host = RemoteMemory.of_running("host")
    assert host
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "chat.jsonl", *({"role": "user", "content": f"Message {n}"} for n in range(450)))
    heard: list[tuple[int, int]] = []
    taken = host.import_from("chat.jsonl", on_progress=lambda done, total: heard.append((done, total)))
    assert (taken.outcome["added"], taken.lag) == (450, "")
    assert heard
    assert heard == sorted(heard)
    assert host.export_to("a.jsonl").counts["memory"] == 450
    assert host.import_from("a.jsonl").outcome.keys() == {"known"}
    host.close()


@pytest.mark.slow
def test_an_import_that_is_killed_and_interrupted_is_whole_in_the_end(tmp_path: Path) -> None:
    """With a model that takes no time; `benchmarks/moving.py` is the same with a hundred thousand and the real one."""
    model = tiny_static(tmp_path / "model")
    n_messages = 2400
    file, home = tmp_path / "chat.jsonl", tmp_path / "engine"
    moving.write_messages(file, n_messages)
    taking = moving.interrupted_import(home, file, n_messages, moving.environment_of(home, model))
    taking.stop_engine()
    assert taking.result["n_resumed"] >= n_messages // 2
    moving.check_messages(home, n_messages, "ana")
    memory = LocalMemory.open(home, user_id="ana", embedding_model=model)
    assert memory.verify().differences == ()
    exported = memory.export_to(tmp_path / "a.jsonl")
    memory.close()
    other, n_records = tmp_path / "other", sum(exported.counts.values())
    moved = moving.interrupted_import(other, tmp_path / "a.jsonl", n_records, moving.environment_of(other, model))
    moved.stop_engine()
    assert moved.result["lag"] == ""
    memory = LocalMemory.open(other, user_id="ana", embedding_model=model)
    assert memory.verify().differences == ()
    memory.export_to(tmp_path / "b.jsonl")
    memory.close()
    assert (tmp_path / "b.jsonl").read_bytes().split(b"\n")[1:] == (tmp_path / "a.jsonl").read_bytes().split(b"\n")[1:]


def _written_by_server_memory(file: Path) -> None:
    """Have the real server-memory write the graph, asked as hosts ask it."""
    program = modules() / _SERVER_MEMORY / "dist" / "index.js"
    process = subprocess.Popen(
        ["node", str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "MEMORY_FILE_PATH": str(file)},
    )
    assert process.stdin
    assert process.stdout

    def ask(number: int, method: str, params: Any) -> Any:
        assert process.stdin
        assert process.stdout
        asked = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        process.stdin.write(json.dumps(asked).encode() + b"\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    assert "result" in ask(1, "initialize", client)
    process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    parts = [{name: value for name, value in part.items() if name != "type"} for part in GRAPH]
    for number, (tool, given) in enumerate(
        [("create_entities", {"entities": parts[:3]}), ("create_relations", {"relations": parts[3:]})], start=2
    ):
        answer = ask(number, "tools/call", {"name": tool, "arguments": given})
        assert not answer["result"].get("isError"), answer
    process.stdin.close()
    process.stdout.close()
    process.terminate()
    process.wait(timeout=30)


@pytest.mark.slow
@needs(_SERVER_MEMORY)
def test_what_the_real_server_memory_has_written_comes_in(open_memory: Opener, tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    _written_by_server_memory(file)
    assert [record["type"] for record in lines_of(file)] == ["entity"] * 3 + ["relation"]
    memory = open_memory()
    taken = memory.import_from(file)
    assert (taken.format, taken.problems) == ("server-memory", ())
    assert told(memory) == OF_GRAPH
    assert memory.search("Who works at Anthropic?").hits[0].memory.text == "John Smith works at Anthropic"
