"""Kills of the real process at the worst moments: the next start converges, nothing acknowledged is lost or doubled."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mcp_memory.memory import LocalMemory
from tests.conftest import Opener
from tests.ollama_server import PATIENCE_S, OllamaServer, facts
from tests.stdio_server import Server

pytestmark = pytest.mark.slow

# Forks a writer for each (folder, moment) that it is told, and tells its status and output once it is dead. A writer
# prints each text once it is acknowledged. What starts threads is imported by the writers, the rest here, once.
WRITERS = """
import json, os, signal, sys, threading
from pathlib import Path
import lance_namespace
from mcp_memory import apply, log, renew, store, swap, tables
from mcp_memory.memory import LocalMemory

def die(*_given, **_named):
    os.kill(os.getpid(), signal.SIGKILL)

def optimize_for_ever():
    threading.Timer(0.004, die).start()
    while True:
        memory.stores.tables().optimize()

def die_between_the_renames():
    rename = Path.rename
    Path.rename = lambda path, target: die() if path.name == "lancedb.new" else rename(path, target)
    memory.rebuild()

def die_at(place, name, work=lambda: None):
    setattr(place, name, die)
    work()

MOMENTS = {
    "before the log": lambda: die_at(log.Log, "commit"),
    "after the log": lambda: die_at(store, "_update_index"),
    "after the index": lambda: die_at(store, "_leave_for_tables"),
    "before the tables": lambda: die_at(apply, "_write"),
    "between the tables": lambda: die_at(tables.Tables, "put_entities"),
    "after the tables": lambda: die_at(log.Log, "mark_applied"),
    "during optimize": optimize_for_ever,
    "during rebuild": lambda: die_at(renew, "put_entities", memory.rebuild),
    "before the exchange": lambda: die_at(swap.TablesFolder, "exchange", memory.rebuild),
    "during the exchange": die_between_the_renames,
    "after the exchange": lambda: die_at(swap, "sync", memory.rebuild),
}

def write(home, moment):
    global memory
    memory = LocalMemory.open(home, user_id="ana")
    for number in range(4):
        if number == 3:
            MOMENTS[moment]()
        text = f"Statement {number} about Maria Quintela"
        memory.add(text, infer=False)
        print(text, flush=True)
        memory.settle()

for line in sys.stdin:
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(writes, 1)
        write(*json.loads(line))
        os._exit(0)
    os.close(writes)
    with open(reads) as output:
        printed = output.read()
    print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), printed]), flush=True)
"""
# How many memories are acknowledged and how many are stored by then.
MOMENTS = {
    "before the log": (3, 3),
    "after the log": (3, 4),
    "after the index": (3, 4),
    "before the tables": (4, 4),
    "between the tables": (4, 4),
    "after the tables": (4, 4),
    "during optimize": (3, 3),
    "during rebuild": (3, 3),
    "before the exchange": (3, 3),
    "during the exchange": (3, 3),
    "after the exchange": (3, 3),
}


Writers = Callable[[Path, str], list[str]]


@pytest.fixture(scope="module")
def write_until_killed() -> Iterator[Writers]:
    """Fills a folder until its writer is killed at a moment; returns what was acknowledged."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MCP_MEMORY_")}
    with subprocess.Popen(
        [sys.executable, "-c", WRITERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as writers:

        def write(home: Path, moment: str) -> list[str]:
            assert writers.stdin
            assert writers.stdout
            print(json.dumps([str(home), moment]), file=writers.stdin, flush=True)
            status, printed = json.loads(writers.stdout.readline())
            assert status == -signal.SIGKILL
            return list(printed.splitlines())

        yield write


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


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_writer_leaves_a_folder_that_converges(
    home: Path, open_memory: Opener, write_until_killed: Writers, moment: str
) -> None:
    acknowledged = write_until_killed(home, moment)
    memory = open_memory()
    assert (len(acknowledged), len(memory.list())) == MOMENTS[moment]
    # Their files are young: a power cut could have taken them.
    assert len(memory.stores.log.pending().memory_ids) == len(memory.list())
    assert_whole(memory, acknowledged)
    assert memory.verify().differences == ()
    assert memory.stores.log.pending().memory_ids == ()


def test_a_rebuild_goes_on_where_a_killed_one_stopped(
    home: Path, open_memory: Opener, write_until_killed: Writers
) -> None:
    acknowledged = write_until_killed(home, "during rebuild")
    memory = open_memory()
    made = memory.rebuild()
    assert (made.n_memories, made.n_entities, made.n_resumed) == (3, 1, 3)
    assert memory.verify().differences == ()
    assert sorted(record.text for record in memory.list()) == acknowledged


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
