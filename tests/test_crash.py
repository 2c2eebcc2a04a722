"""Kills of the real process at the worst moments: the next start converges, nothing acknowledged is lost or doubled."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_memory.memory import LocalMemory
from tests.conftest import Opener
from tests.ollama_server import PATIENCE_S, OllamaServer, facts
from tests.stdio_server import Server

pytestmark = pytest.mark.slow

# Adds one memory a line until it is killed; prints each text once it is acknowledged.
WRITER = """
import os, signal, sys, threading
from mcp_memory import add, store, tables
from mcp_memory.memory import LocalMemory

moment, first = sys.argv[2], int(sys.argv[3])

def die(*_given, **_named):
    os.kill(os.getpid(), signal.SIGKILL)

memory = LocalMemory.open(sys.argv[1], user_id="ana", optimize_every=4)
for number in range(first, first + 12):
    # The first statement brings the entity, the tenth is one among many.
    if number == first + (0 if moment == "before the entities" else 9):
        if moment == "after the log":
            store._update_tables = die
        elif moment == "before the entities":
            tables.Tables.put_entities = die
        elif moment == "during optimize":
            optimize = tables.Tables.optimize
            def dying(self):
                threading.Timer(0.004, die).start()
                while True:
                    optimize(self)
            tables.Tables.optimize = dying
            memory.stores.tables().optimize()
    text = f"Statement {number} about Maria Quintela"
    memory.add(text, infer=False)
    print(text, flush=True)
"""


def write_until_killed(home: Path, moment: str, first: int) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", WRITER, str(home), moment, str(first)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    return done.stdout.splitlines()


def assert_whole(memory: LocalMemory, acknowledged: list[str]) -> None:
    memory.warm()
    stored = Counter(record.text for record in memory.list(limit=1000))
    assert set(acknowledged) <= set(stored)
    assert set(stored.values()) == {1}
    in_tables = Counter(memory.stores.tables().memory_ids())
    assert set(in_tables.values()) == {1}
    assert set(in_tables) == {record.id for record in memory.list(limit=1000)}
    assert memory.stores.index_of("ana").count_without_vector() == 0
    for text in acknowledged:
        assert memory.search(text, top_k=1).hits[0].memory.text == text
    [maria] = memory.stores.log.get_entities("ana")
    assert (maria.name, maria.n_linked) == ("Maria Quintela", len(stored))


@pytest.mark.parametrize(
    ("moment", "n_acknowledged"), [("after the log", 9), ("before the entities", 0), ("during optimize", 9)]
)
def test_a_killed_writer_leaves_a_folder_that_converges(
    tmp_path: Path, open_memory: Opener, moment: str, n_acknowledged: int
) -> None:
    acknowledged = write_until_killed(tmp_path / "home", moment, 0)
    assert len(acknowledged) == n_acknowledged
    memory = open_memory()
    n_unacknowledged = len(memory.list(limit=1000)) - n_acknowledged
    assert n_unacknowledged == (moment != "during optimize")
    # What was applied is noted with the next change: here either the killed one, or the last acknowledged again.
    assert len(memory.stores.log.pending().memory_ids) == 1
    assert_whole(memory, acknowledged)
    assert memory.stores.log.pending().memory_ids == ()


def test_a_server_killed_while_clients_add_keeps_every_acknowledged_add(tmp_path: Path, open_memory: Opener) -> None:
    home = tmp_path / "home"
    environment = {**os.environ, "MCP_MEMORY_HOME": str(home), "MCP_MEMORY_USER_ID": "ana"}
    acknowledged: list[str] = []
    for round_ in range(2):
        server = subprocess.Popen(
            [sys.executable, "-m", "mcp_memory", "serve", "--foreground"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
        )  # fmt: skip
        assert server.stdin
        assert server.stdout
        handshake = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        messages: list[dict[str, object]] = [{"id": 0, "method": "initialize", "params": handshake}]
        messages.append({"method": "notifications/initialized"})
        texts = {number: f"Round {round_} statement {number} about Maria Quintela" for number in range(1, 40)}
        for number, text in texts.items():
            call = {"name": "add_memory", "arguments": {"text": text, "infer": False}}
            messages.append({"id": number, "method": "tools/call", "params": call})
        for message in messages:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        server.stdin.flush()
        for line in server.stdout:
            answer = json.loads(line)
            if answer.get("id"):
                assert answer["result"]["structuredContent"]["results"][0]["status"] == "added"
                acknowledged.append(texts[answer["id"]])
            if len(acknowledged) >= 5 * (round_ + 1):
                break
        server.kill()
        server.communicate()
    assert_whole(open_memory(), acknowledged)


def test_texts_queued_while_ollama_was_away_survive_kills_and_are_distilled_once_and_in_order(
    start: Callable[..., Server], open_memory: Opener
) -> None:
    said = [f"I have a cat called Moth {n}" for n in range(50)]
    distilled = [f"The user has a cat called Moth {n}." for n in range(50)]
    ollama = OllamaServer()
    ollama.script(*map(facts, distilled))
    environment = {"MCP_MEMORY_OLLAMA_HOST": ollama.url, "MCP_MEMORY_ADD_WAIT_S": "0"}

    first = start(**environment)
    first.initialize()
    for text in said:
        [receipt] = first.call("add_memory", text=text, run_id="cats")["structuredContent"]["results"]
        assert (receipt["status"], receipt["text"]) == ("queued", text)
    assert sorted(found(first, "cat Moth")) == sorted(said)
    first.discard()

    # Once more without Ollama: what was said is found though nothing has read it.
    second = start(**environment)
    second.initialize()
    assert sorted(found(second, "cat Moth")) == sorted(said)
    second.discard()

    with ollama:
        third = start(**environment)
        third.initialize()
        assert "add_memory" in third.tools()
        # Nothing has called a tool by then.
        ollama.wait_for_requests(len(said))
        # The last answer is being stored; until it is, its text is found.
        deadline = time.monotonic() + PATIENCE_S
        while sorted(found(third, "cat Moth")) != sorted(distilled):
            assert set(found(third, "cat Moth")) >= set(distilled[:-1])
            assert time.monotonic() < deadline
        assert third.end() == 0

    asked = ollama.asked("facts")
    assert len(asked) == len(said)
    assert all(f"<message>\n{text}\n</message>" in question for text, question in zip(said, asked, strict=True))
    memory = open_memory()
    assert memory.stats()["jobs"] == 0
    stored = sorted(memory.list(limit=200), key=lambda record: record.id)
    assert [(record.text, record.state) for record in stored] == [(text, "active") for text in distilled]
    by_text = {record.text: record for record in stored}
    raw = memory.list(states=["distilled"], limit=200)
    assert {record.text: record.superseded_by for record in raw} == {
        text: by_text[statement].id for text, statement in zip(said, distilled, strict=True)
    }


def found(server: Server, query: str) -> list[str]:
    """What a search through the server finds, at most 100 texts."""
    result = server.call("search_memory", query=query, top_k=100)["structuredContent"]
    return [memory["text"] for memory in result["memories"]]
