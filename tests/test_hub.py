"""One engine for all hosts: real shims and a real engine as processes, found, shared, lost, found again, gone."""

import contextlib
import json
import os
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mcp_memory import Memory
from mcp_memory.address import HOST, published
from mcp_memory.cli import app
from mcp_memory.errors import FolderInUseError
from mcp_memory.folder import DataFolder
from tests.conftest import Attach, Opener
from tests.engines import engine_of, engines_on, is_running, kill, wait_until
from tests.ollama_server import PATIENCE_S, OllamaServer, Step
from tests.stdio_server import Server

pytestmark = pytest.mark.slow


def remember(server: Server, text: str) -> Any:
    return server.call("add_memory", text=text, infer=False)["structuredContent"]["results"][0]


def found(server: Server, query: str) -> list[tuple[str, str]]:
    hits = server.call("search_memory", query=query)["structuredContent"]["memories"]
    return sorted((hit["agent"], hit["text"]) for hit in hits)


def test_hosts_share_one_engine_and_see_each_others_memories_and_who_wrote_them(attach: Attach, home: Path) -> None:
    desk = attach("desk")
    pid = engine_of(home).pid
    code = attach("code")
    assert engine_of(home).pid == pid
    assert remember(desk, "I keep bees")["status"] == "added"
    assert found(code, "bees") == [("desk", "I keep bees")]
    assert remember(code, "I keep hens")["status"] == "added"
    assert ("code", "I keep hens") in found(desk, "hens")


def test_shims_that_start_at_once_end_with_one_engine(attach: Attach, home: Path) -> None:
    with ThreadPoolExecutor() as hosts:
        servers = list(hosts.map(attach, ["a", "b", "c", "d"]))
    for server in servers:
        remember(server, "I keep bees")
    pid = engine_of(home).pid
    with Memory() as memory:
        assert memory.stats()["active"] == 1
    assert engines_on(home) == [pid]


def test_users_of_one_engine_never_see_each_other(attach: Attach, home: Path) -> None:
    ana, ben = attach("desk"), attach("desk", MCP_MEMORY_USER_ID="ben")
    pid = engine_of(home).pid
    remember(ana, "I keep bees in Ghent")
    remember(ben, "I keep hens in Graz")
    assert [text for _, text in found(ana, "What do I keep?")] == ["I keep bees in Ghent"]
    assert [text for _, text in found(ben, "What do I keep?")] == ["I keep hens in Graz"]
    assert engine_of(home).pid == pid


def test_an_engine_killed_between_calls_is_replaced_and_the_host_notices_nothing(attach: Attach, home: Path) -> None:
    host = attach("desk")
    remember(host, "I keep bees")
    first = engine_of(home).pid
    kill(first)
    assert found(host, "bees") == [("desk", "I keep bees")]
    assert engine_of(home).pid != first


def test_a_call_under_way_when_the_engine_is_killed_is_told_and_nothing_is_lost(
    attach: Attach, home: Path, server: OllamaServer
) -> None:
    server.script(Step(ending="hold"))
    model = {"MCP_MEMORY_OLLAMA_HOST": server.url, "MCP_MEMORY_LLM_MODEL": "tiny", "MCP_MEMORY_ADD_WAIT_S": "50"}
    host = attach("desk", **model)
    asked = host.begin("add_memory", text="I keep bees", infer=True)
    server.wait_until_held()
    kill(engine_of(home).pid)
    answer = host.await_answer(asked)
    assert answer["result"]["isError"]
    assert "may have been done or not: repeating it is safe" in answer["result"]["content"][0]["text"]
    assert found(host, "bees") == [("desk", "I keep bees")]
    assert host.end() == 0


def test_what_one_user_adds_is_stored_in_the_order_in_which_it_was_sent(attach: Attach) -> None:
    host = attach("desk")
    remember(host, "The first call loads the model")
    texts = [" ".join(f"Hive {n} stands in row {n}." for n in range(400)), *(f"I keep {n} bees" for n in range(9))]
    asked = [host.begin("add_memory", text=text, infer=False) for text in texts]
    answers = [host.read() for _ in asked]
    ids = {answer["id"]: answer["result"]["structuredContent"]["results"][0]["id"] for answer in answers}
    with Memory() as memory:
        stored = [record.id for record in reversed(memory.list())]
    assert stored[1:] == [ids[identifier] for identifier in asked]


def test_an_engine_that_cannot_say_where_it_listens_is_told(start: Callable[..., Server], home: Path) -> None:
    (home / "engine.json").mkdir(parents=True)
    host = start(shared=True)
    host.initialize()
    refused = host.call("search_memory", query="bees")
    assert refused["isError"]
    assert f"the engine cannot work in {home}" in refused["content"][0]["text"]


def test_searches_do_not_wait_for_adds_that_wait_for_the_language_model(attach: Attach, server: OllamaServer) -> None:
    server.script(Step(ending="hold"))
    model = {"MCP_MEMORY_OLLAMA_HOST": server.url, "MCP_MEMORY_LLM_MODEL": "tiny", "MCP_MEMORY_ADD_WAIT_S": "50"}
    desk, code = attach("desk", **model), attach("code", **model)
    for number in range(60):
        desk.begin("add_memory", text=f"I keep bee number {number}", infer=True)
    server.wait_until_held()
    assert code.call("search_memory", query="bees")["structuredContent"]["memories"]


def test_an_engine_that_is_stopped_answers_adds_that_wait_for_the_language_model(
    attach: Attach, home: Path, server: OllamaServer
) -> None:
    server.script(Step(ending="hold"))
    model = {"MCP_MEMORY_OLLAMA_HOST": server.url, "MCP_MEMORY_LLM_MODEL": "tiny", "MCP_MEMORY_ADD_WAIT_S": "50"}
    host = attach("desk", **model)
    asked = host.begin("add_memory", text="I keep bees", infer=True)
    server.wait_until_held()
    assert CliRunner().invoke(app, ["engine", "stop"]).exit_code == 0
    [receipt] = host.await_answer(asked)["result"]["structuredContent"]["results"]
    assert receipt["status"] == "queued"


def test_an_engine_without_clients_leaves_and_leaves_nothing_behind(attach: Attach, home: Path) -> None:
    host = attach("desk", MCP_MEMORY_ENGINE_IDLE_S="0.2")
    remember(host, "I keep bees")
    pid = engine_of(home).pid
    assert host.end() == 0
    wait_until(lambda: not is_running(pid))
    assert published(home) is None
    DataFolder(home).release()


def test_a_host_that_dies_takes_its_shim_along(attach: Attach) -> None:
    host = attach("desk")
    assert host.process.stdin
    host.process.stdin.close()
    assert host.process.wait(PATIENCE_S) == 0


STRANGE_LINES = (
    b'{"mcp_memory": 1, "token": "guessed", "kind": "api"}',
    b'{"mcp_memory": 1, "token": "\xc3\xa9\\ud800", "kind": "api"}',
    b'{"mcp_memory": 1, "token": null}',
    b"GET / HTTP/1.1",
    b"[" * 50_000,
    b"x" * 200_000,
    b"",
)


def test_whoever_does_not_know_the_token_is_not_answered(attach: Attach, home: Path) -> None:
    host = attach("desk")
    engine = engine_of(home)
    for line in STRANGE_LINES:
        with socket.create_connection((HOST, engine.port), PATIENCE_S) as stranger:
            stranger.sendall(line + b"\n")
            with contextlib.suppress(ConnectionResetError):
                assert stranger.recv(100) == b""
    assert len(host.tools()) == 3
    assert engine_of(home) == engine


def test_the_command_line_works_while_hosts_are_attached(attach: Attach) -> None:
    host = attach("desk")
    remember(host, "I keep bees")
    run = CliRunner().invoke
    assert json.loads(run(app, ["stats", "--json"]).stdout)["active"] == 1
    added = json.loads(run(app, ["add", "I keep hens", "--meta", "place=barn", "--json"]).stdout)["results"][0]
    assert ("cli", "I keep hens") in found(host, "hens")
    hits = json.loads(run(app, ["search", "bees", "--json", "--since", "2020-01-01"]).stdout)["memories"]
    assert "I keep bees" in [hit["text"] for hit in hits]
    listed = json.loads(run(app, ["list", "--meta", "place=barn", "--json"]).stdout)["memories"]
    assert [memory["text"] for memory in listed] == ["I keep hens"]
    rated = json.loads(run(app, ["rate", added["id"], "--useful", "--json"]).stdout)
    assert (rated["rated"], rated["useful"]) == (added["id"], True)
    assert run(app, ["delete", added["id"]]).exit_code == 0
    failed = run(app, ["delete", added["id"]])
    assert failed.exit_code == 1
    assert "was deleted on" in failed.stderr


def test_one_host_asks_for_all_tools_and_undoes_what_another_wrote_and_programs_do_the_same(attach: Attach) -> None:
    desk, code = attach("desk"), attach("code", MCP_MEMORY_TOOLS="full")
    assert (len(desk.tools()), len(code.tools())) == (3, 10)
    bees = remember(desk, "I keep bees")["id"]
    with Memory() as memory:
        updated = memory.update(bees, text="I keep goats")
        assert memory.get(bees).text == "I keep goats"
        assert [entry.client for entry in memory.history(bees).entries] == ["desk", "python"]
        assert memory.why_not(bees, "goats").verdict == "returned"
        undone = code.call("undo", change_id=updated.change_id)["structuredContent"]
        assert found(desk, "bees") == [("desk", "I keep bees")]
        memory.undo(undone["change_id"])
        assert found(desk, "goats") == [("desk", "I keep goats")]


def test_the_doctor_looks_through_the_running_engine(attach: Attach, home: Path) -> None:
    host = attach("desk")
    remember(host, "I keep bees")
    result = CliRunner().invoke(app, ["doctor", "--json"])
    checks = {check["name"]: check for check in json.loads(result.stdout)["checks"]}
    assert f"served by engine {engine_of(home).pid}" in checks["data folder"]["found"]
    assert checks["log"]["found"] == "1 memories"
    assert "all 1 memories are in the tables" in checks["index coverage"]["found"]
    assert result.exit_code == 0


def test_an_engine_is_shown_and_stopped_and_hosts_go_on(attach: Attach, home: Path) -> None:
    host = attach("desk")
    remember(host, "I keep bees")
    run = CliRunner().invoke
    status = json.loads(run(app, ["engine", "status", "--json"]).stdout)
    assert (status["pid"], status["clients"]) == (engine_of(home).pid, ["desk"])
    stopped = run(app, ["engine", "stop"])
    assert f"engine {status['pid']} has ended" in stopped.stdout
    assert run(app, ["engine", "status"]).exit_code == 1
    assert found(host, "bees") == [("desk", "I keep bees")]
    assert engine_of(home).pid != status["pid"]


def test_an_engine_whose_address_was_lost_can_still_be_stopped(attach: Attach, home: Path) -> None:
    host = attach("desk")
    remember(host, "I keep bees")
    pid = engine_of(home).pid
    (home / "engine.json").unlink()
    status = CliRunner().invoke(app, ["engine", "status"])
    assert (status.exit_code, f"engine {pid} does not answer" in status.stdout) == (1, True)
    assert f"engine {pid} did not answer and was ended" in CliRunner().invoke(app, ["engine", "stop"]).stdout
    assert found(host, "bees") == [("desk", "I keep bees")]


def test_a_folder_whose_lock_was_removed_under_an_engine_is_not_opened_beside_it(attach: Attach, home: Path) -> None:
    remember(attach("desk"), "I keep bees")
    (home / "lock").unlink()
    with pytest.raises(FolderInUseError, match="by the memory engine"):
        DataFolder(home)


def test_other_settings_than_the_running_engines_are_told_once(attach: Attach) -> None:
    attach("desk")
    other = attach("code", MCP_MEMORY_LLM_MODEL="tiny", MCP_MEMORY_RANKING="gated")
    first, second = (other.call("search_memory", query="bees")["content"] for _ in range(2))
    assert "other values of MCP_MEMORY_LLM_MODEL;" in first[-1]["text"]
    assert "other values" not in str(second)


def test_each_host_has_settings_of_its_own(attach: Attach) -> None:
    desk, code = attach("desk"), attach("code", MCP_MEMORY_FLOOR="0.99", MCP_MEMORY_AGENT_ID="work-laptop")
    remember(code, "I keep bees")
    assert found(desk, "Who keeps an animal?") == [("work-laptop", "I keep bees")]
    assert found(code, "Who keeps an animal?") == []
    deaf = attach("cursor", MCP_MEMORY_PROFILE="retrieval", MCP_MEMORY_SIGNAL_WEIGHTS='{"semantic": 0, "neighbour": 0}')
    assert found(deaf, "Who keeps an animal?") == []
    assert found(deaf, "bees") == [("work-laptop", "I keep bees")]


def test_a_hosts_wrong_setting_is_told_at_each_call(attach: Attach) -> None:
    attach("desk")
    other = attach("code", MCP_MEMORY_FLOOR="7")
    refused = other.call("search_memory", query="bees")
    assert refused["isError"]
    assert "floor = '7'" in refused["content"][0]["text"]


def test_a_folder_that_another_program_holds_is_told_at_each_call(attach: Attach, open_memory: Opener) -> None:
    memory = open_memory()
    host = attach("desk")
    refused = host.call("search_memory", query="bees")
    assert refused["isError"]
    assert f"in use by process {os.getpid()}" in refused["content"][0]["text"]
    memory.close()
    assert found(host, "bees") == []
