"""The real process over standard input and output: handshake, stray output, hostile lines, its end."""

import json
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcp_memory.memory import LocalMemory
from tests.builders import tiny_model
from tests.conftest import Opener
from tests.stdio_server import Server

pytestmark = pytest.mark.slow


@pytest.fixture
def server(start: Callable[..., Server]) -> Server:
    return start()


def test_the_handshake_needs_no_heavy_import(home: Path) -> None:
    code = (
        "import sys, atexit\n"
        "from mcp_memory import server\n"
        "from mcp_memory.wire import parse_line\n"
        "heavy = {'sentence_transformers', 'lancedb', 'torch', 'sqlalchemy', 'numpy', 'bm25s'} & set(sys.modules)\n"
        "print(heavy, file=sys.stderr)\n"
        "sys.exit(bool(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_a_server_that_is_only_asked_for_its_handshake_ends_quietly(server: Server) -> None:
    assert server.initialize()["result"]["serverInfo"]["name"] == "mcp-memory"
    assert server.end() == 0
    assert server.errors == ""


def test_stray_output_and_non_ascii_do_not_reach_the_protocol(start: Callable[..., Server]) -> None:
    noisy = start(
        code=(
            "import os, sys\n"
            "from mcp_memory import engine, server\n"
            "opened = engine.open_local\n"
            "def noisy():\n"
            "    print('a library says hello')\n"
            "    os.write(1, b'and so does a C extension\\n')\n"
            "    return opened()\n"
            "server.Engine = lambda: engine.Engine(noisy)\n"
            "server.serve()\n"
        ),
    )
    noisy.initialize()
    added = noisy.call("add_memory", text="Größe 😀 日本", infer=False)
    assert added["structuredContent"]["results"][0]["text"] == "Größe 😀 日本"
    assert noisy.end() == 0
    assert "a library says hello" in noisy.errors
    assert "and so does a C extension" in noisy.errors


def test_a_line_that_is_no_json_is_answered_and_the_session_goes_on(server: Server) -> None:
    server.send(b"this is no json")
    assert server.read()["error"]["code"] == -32700
    server.initialize()
    server.send(b'{"jsonrpc":"2.0","id":9}')
    assert server.read() == {
        "jsonrpc": "2.0",
        "id": 9,
        "error": {"code": -32600, "message": 'a message has "jsonrpc": "2.0", a "method" and, as an object, "params"'},
    }
    server.send(b'{"jsonrpc":"2.0","id":10,"method":"ping"}')
    assert server.read()["id"] == 10


# Strings that break programs: controls, lone surrogates, NUL, emoji, mixed directions, lengths, syntaxes.
HOSTILE = [
    "\0", "a\0b", "\x01\x02\x1b[31m", "\r\n\t\v\f", "\ud800", "x\udfffy\ud83d", "\ufeff\ufffe\uffff",
    "😀" * 50, "👩‍👩‍👧‍👦🏳️‍🌈", "\u202eevil\u202d", "العربية \u200f עברית", "e\u0301" * 30, "Z\u0335" * 200,
    "' OR '1'='1", '"; DROP TABLE memories; --', "{{7*7}} ${jndi:ldap://x} %s %n", "<script>alert(1)</script>",
    "../../etc/passwd", "[bold]rich[/bold]", '{"a":1}', "[1,2", "NaN", "null", "true", "-0", "1e999", "\\",
    "\\u0000", "%00", "a" * 100_000, "字" * 10_000, "word " * 2_000, "\u200b\u200c\u200d", " ", "\u3000",
    "ﷺ", "İıſK", "ß" * 99, "٣٤٥", "^(a+)+$" + "a" * 60, "@" * 500, "-" * 5000, "." * 5000, "A.B." * 500,
    "http://" + "a." * 2000, "x@" + "y." * 2000, "((((" * 1000, '"' * 999, "«“„" * 300, "A1-" * 3000, "_" * 9000,
    "Ab " * 3000, "a'" * 3000, "aB" * 5000, "1.2" * 3000,
]  # fmt: skip


def random_strings(count: int) -> list[str]:
    """Strings of characters that belong together no more than by their blocks, the stranger ones of Unicode."""
    dice = random.Random(7)
    ranges = [
        (0, 0x20),
        (0x7F, 0x100),
        (0x300, 0x370),
        (0x590, 0x700),
        (0xD800, 0xE000),
        (0x1F300, 0x1FAFF),
        (0x4E00, 0x9FFF),
    ]
    strings: list[str] = []
    while len(strings) < count:
        low, high = dice.choice(ranges)
        strings.append("".join(chr(dice.randrange(low, high)) for _ in range(dice.randrange(1, 40))))
    return strings


@pytest.mark.timeout(900)
def test_a_thousand_hostile_strings_each_get_an_answer_and_no_foreign_memory(
    start: Callable[..., Server], open_memory: Opener, tmp_path: Path
) -> None:
    # A small model: more than a thousand calls are about everything but the quality of vectors.
    model = tiny_model(tmp_path, 16)
    bob = open_memory(user_id="bob", embedding_model=model, embedder=None)
    bob.add("bob's secret is plum-harbour-77", infer=False)
    bob.close()
    server = start(MCP_MEMORY_EMBEDDING_MODEL=model)
    server.initialize()

    def asked(tool: str, *calls: dict[str, object]) -> list[Any]:
        """The results of several calls, which are all under way at once."""
        given = {server.begin(tool, **arguments): arguments for arguments in calls}
        answers = {answer["id"]: answer["result"] for answer in (server.read() for _ in given)}
        for identifier, arguments in given.items():
            told = json.dumps(answers[identifier])
            assert "plum-harbour" not in told
            assert "internal:" not in told, (str(arguments)[:200], told[:300])
            assert answers[identifier].get("isError") or "structuredContent" in answers[identifier]
        return [answers[identifier] for identifier in given]

    # Searched for as they come, while the store is still small.
    for text in HOSTILE:
        asked("add_memory", {"text": text, "infer": False, "run_id": text[:50], "metadata": {"k": text[:500]}})
        asked("search_memory", {"query": text, "top_k": 3})
    others = random_strings(1000 - len(HOSTILE))
    # What a write costs it costs for many texts as for one.
    for texts in (others[place : place + 20] for place in range(0, len(others), 20)):
        messages = [{"role": "user", "content": text, "name": text} for text in texts]
        metadata = {str(place): text for place, text in enumerate(texts)}
        [added] = asked("add_memory", {"messages": messages, "infer": False, "run_id": texts[0], "metadata": metadata})
        assert len(added["structuredContent"]["results"]) == len(texts)
        asked("search_memory", *({"query": text, "top_k": 3} for text in texts))
    assert server.call("search_memory", query="what is the secret of bob? plum-harbour-77")["structuredContent"]
    assert server.end() == 0
    ana: LocalMemory = open_memory(embedding_model=model, embedder=None)
    assert ana.stats()["active"] > 800
    assert all(record.user_id == "ana" for record in ana.list(limit=2000))


def test_a_second_server_lists_its_tools_and_names_the_owner_of_the_folder(
    server: Server, start: Callable[..., Server]
) -> None:
    server.initialize()
    server.call("search_memory", query="hello")
    second = start()
    second.initialize()
    second.send(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
    assert len(second.read()["result"]["tools"]) == 3
    second.n_calls = 1
    result = second.call("search_memory", query="hello")
    assert result["isError"]
    assert f"in use by process {server.process.pid}" in result["content"][0]["text"]
    assert second.end() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_and_frees_the_folder(server: Server, open_memory: Opener, number: int) -> None:
    server.initialize()
    server.call("add_memory", text="I keep bees", infer=False)
    server.process.send_signal(number)
    server.process.wait(timeout=20)
    assert "Traceback" not in server.errors
    assert [hit.memory.text for hit in open_memory().search("bees").hits] == ["I keep bees"]
