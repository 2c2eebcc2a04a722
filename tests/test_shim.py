"""What stands between a host and its engine, with engines that the test plays: each request has one answer."""

import json
import queue
import threading
from collections.abc import Iterator
from typing import Any, cast

import pytest

from mcp_memory.dial import Line
from mcp_memory.errors import StorageError
from mcp_memory.shim import Shim
from mcp_memory.tools import FULL
from tests.fake_lines import ANSWER_S, FakeLine, call, request

INITIALIZE = request(0, "initialize", protocolVersion="2025-06-18")
INITIALIZED = b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n'


class Host:
    """A host in front of a shim, and the engines that it is given in turn."""

    def __init__(self, n_engines: int) -> None:
        self.engines = [FakeLine() for _ in range(n_engines)]
        self._left = list(self.engines)
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._answers: queue.Queue[bytes] = queue.Queue()
        self.shim = Shim(self._connect, self._answers.put)
        self.threads = [
            threading.Thread(target=self.shim.listen, args=(iter(self._lines.get, b""),), daemon=True),
            threading.Thread(target=self.shim.carry, daemon=True),
        ]
        for thread in self.threads:
            thread.start()

    def _connect(self) -> Line:
        if not self._left:
            raise StorageError("no engine can be started", hint="run: mcp-memory doctor")
        return cast(Line, self._left.pop(0))

    def say(self, *lines: bytes) -> None:
        for line in lines:
            self._lines.put(line)

    def hear(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._answers.get(timeout=ANSWER_S))
        return answer

    def shake_hands(self) -> None:
        self.say(INITIALIZE)
        self.engines[0].wait_for(1)
        self.engines[0].say(id=0, result={})
        assert self.hear()["id"] == 0
        self.say(INITIALIZED)
        self.engines[0].wait_for(2)

    def leave(self) -> None:
        self._lines.put(b"")
        for thread in self.threads:
            thread.join(ANSWER_S)
            assert not thread.is_alive()
        assert self._answers.empty()


@pytest.fixture
def host() -> Iterator[Host]:
    started = Host(3)
    yield started
    for engine in started.engines:
        engine.end()


def ids(lines: list[dict[str, Any]]) -> list[Any]:
    return [line.get("id", line["method"]) for line in lines]


def test_lines_go_both_ways(host: Host) -> None:
    host.shake_hands()
    host.say(call(1, "search_memory"))
    assert ids(host.engines[0].wait_for(3)) == [0, "notifications/initialized", 1]
    host.engines[0].say(method="notifications/progress", params={})
    host.engines[0].say(id=1, result={"a": 1})
    assert host.hear()["method"] == "notifications/progress"
    assert host.hear() == {"id": 1, "result": {"a": 1}}
    host.leave()


@pytest.mark.parametrize("tool", [name for name, offer in FULL.items() if offer.is_read])
def test_what_only_reads_is_asked_of_the_next_engine_after_the_handshake(host: Host, tool: str) -> None:
    host.shake_hands()
    host.say(call(1, tool))
    host.engines[0].wait_for(3)
    host.engines[0].end()
    assert ids(host.engines[1].wait_for(3)) == [0, "notifications/initialized", 1]
    host.engines[1].say(id=0, result={})
    host.engines[1].say(id=1, result={"a": 1})
    assert host.hear() == {"id": 1, "result": {"a": 1}}
    host.leave()


@pytest.mark.parametrize("method", ["resources/list", "resources/read", "prompts/list", "prompts/get"])
def test_resources_and_prompts_are_asked_of_the_next_engine_and_fail_as_no_tool_does(host: Host, method: str) -> None:
    host.shake_hands()
    host.say(request(1, method, uri="memory://recent", name="add_memory"))
    host.engines[0].wait_for(3)
    host.engines[0].end()
    assert ids(host.engines[1].wait_for(3)) == [0, "notifications/initialized", 1]
    host.engines[1].end()
    told = host.hear()
    assert told["id"] == 1
    assert "nothing was changed: repeat the call" in told["error"]["message"]
    host.leave()


@pytest.mark.parametrize("tool", [name for name, offer in FULL.items() if not offer.is_read])
def test_a_change_under_way_is_told_and_never_sent_again(host: Host, tool: str) -> None:
    host.shake_hands()
    host.say(call(1, tool))
    host.engines[0].wait_for(3)
    host.engines[0].end()
    told = host.hear()["result"]
    assert told["isError"]
    assert "may have been done or not: repeating it is safe" in told["content"][0]["text"]
    host.say(call(2, "search_memory"))
    assert ids(host.engines[1].wait_for(3))[-1] == 2
    host.engines[1].say(id=2, result={})
    assert host.hear()["id"] == 2
    host.leave()


def test_a_line_that_could_not_be_sent_is_sent_once_over_the_next_connection(host: Host) -> None:
    host.shake_hands()

    def breaks(_line: bytes) -> None:
        host.engines[0].end()
        raise BrokenPipeError

    host.engines[0].on_send = breaks
    host.say(call(1, "add_memory"), call(2, "search_memory"))
    assert ids(host.engines[1].wait_for(4)) == [0, "notifications/initialized", 1, 2]
    host.engines[1].say(id=0, result={})
    host.engines[1].say(id=1, result={})
    host.engines[1].say(id=2, result={})
    assert [host.hear()["id"], host.hear()["id"]] == [1, 2]
    host.leave()
    assert len(host.engines[1].sent) == 4


def test_an_answer_is_given_once_though_two_engines_send_it(host: Host) -> None:
    host.shake_hands()
    host.say(call(1, "search_memory"))
    host.engines[0].wait_for(3)
    host.engines[0].end()
    host.engines[1].wait_for(3)
    for _ in range(2):
        host.engines[1].say(id=1, result={})
    host.engines[1].say(method="notifications/last", params={})
    assert [host.hear().get("id"), host.hear().get("method")] == [1, "notifications/last"]
    host.leave()


def test_a_search_that_ends_two_engines_is_told(host: Host) -> None:
    host.shake_hands()
    host.say(call(1, "search_memory"))
    for engine in host.engines[:2]:
        engine.wait_for(3)
        engine.end()
    assert "nothing was changed: repeat the call" in host.hear()["result"]["content"][0]["text"]
    host.leave()


def test_a_connection_that_breaks_in_the_repeated_handshake_is_followed_by_another(host: Host) -> None:
    host.shake_hands()

    def breaks(_line: bytes) -> None:
        raise BrokenPipeError

    host.engines[0].on_send = breaks
    host.engines[1].on_send = breaks
    host.say(call(1, "search_memory"))
    told = host.hear()["result"]["content"][0]["text"]
    assert "goes away again and again" in told
    host.say(call(2, "search_memory"))
    assert ids(host.engines[2].wait_for(3))[-1] == 2
    host.engines[2].say(id=2, result={})
    assert host.hear()["id"] == 2
    host.leave()


def test_a_handshake_that_had_no_answer_yet_is_simply_asked_again(host: Host) -> None:
    host.say(INITIALIZE)
    host.engines[0].wait_for(1)
    host.engines[0].end()
    assert ids(host.engines[1].wait_for(1)) == [0]
    host.engines[1].say(id=0, result={})
    assert host.hear()["id"] == 0
    host.leave()
    assert len(host.engines[1].sent) == 1


def test_a_cancelled_call_is_not_asked_again_and_its_answer_is_not_brought(host: Host) -> None:
    host.shake_hands()
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    host.say(call(1, "search_memory"), json.dumps(cancel).encode())
    host.engines[0].wait_for(4)
    host.engines[0].end()
    host.say(call(2, "search_memory"))
    assert ids(host.engines[1].wait_for(3)) == [0, "notifications/initialized", 2]
    host.engines[1].say(id=1, result={})
    host.engines[1].say(id=2, result={})
    assert host.hear()["id"] == 2
    host.leave()


def test_without_an_engine_each_request_is_told_why() -> None:
    host = Host(1)
    host.shake_hands()

    def breaks(_line: bytes) -> None:
        raise BrokenPipeError

    host.engines[0].on_send = breaks
    host.say(call(1, "add_memory"), request(2, "ping"), INITIALIZED)
    answers = {answer["id"]: answer for answer in (host.hear(), host.hear())}
    assert "no engine can be started (run: mcp-memory doctor)" in answers[1]["result"]["content"][0]["text"]
    assert "no engine can be started" in answers[2]["error"]["message"]
    host.leave()


def test_what_was_asked_before_the_host_left_is_answered_also_by_the_next_engine(host: Host) -> None:
    host.shake_hands()
    host.say(call(1, "search_memory"), b"")
    host.engines[0].wait_for(3)
    host.engines[0].end()
    host.engines[1].wait_for(3)
    host.engines[1].say(id=1, result={})
    assert host.hear()["id"] == 1
    host.engines[1].end()
    for thread in host.threads:
        thread.join(ANSWER_S)
        assert not thread.is_alive()


def test_what_is_no_message_is_left_to_the_engine(host: Host) -> None:
    host.say(b"{torn\n", b"[1]\n", b"   \n", b"no end")
    lines = host.engines[0].wait_for_bytes(3)
    assert lines == [b"{torn\n", b"[1]\n", b"no end\n"]
    host.engines[0].say(id=None, error={"code": -32700})
    assert host.hear()["error"]["code"] == -32700
    host.leave()


def test_a_second_request_with_an_id_that_is_under_way_is_refused(host: Host) -> None:
    host.shake_hands()
    host.say(call(1, "search_memory"), call(1, "add_memory"))
    assert "a request with id 1 is under way" in host.hear()["error"]["message"]
    host.engines[0].say(id=1, result={})
    assert host.hear() == {"id": 1, "result": {}}
    host.leave()
    assert len(host.engines[0].sent) == 3


def test_a_message_without_a_method_gets_the_engines_answer(host: Host) -> None:
    host.shake_hands()
    host.say(b'{"jsonrpc": "2.0", "id": 7}', b'{"jsonrpc": "2.0", "id": 8, "method": 5}')
    host.engines[0].wait_for(4)
    for identifier in (7, 8):
        host.engines[0].say(id=identifier, error={"code": -32600})
        assert host.hear()["id"] == identifier
    host.leave()


def test_a_line_that_is_too_long_is_refused_and_the_connection_stays(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_memory.shim.MAX_LINE_BYTES", 200)
    host.shake_hands()
    host.say(request(1, "tools/call", name="add_memory", text="x" * 200), call(2, "search_memory"))
    assert "a line has at most 200 bytes" in host.hear()["error"]["message"]
    assert ids(host.engines[0].wait_for(3))[-1] == 2
    host.engines[0].say(id=2, result={})
    assert host.hear()["id"] == 2
    host.leave()


def test_what_has_no_answer_long_after_the_end_of_the_input_is_told(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_memory.shim.LAST_ANSWERS_S", 0.05)
    host.shake_hands()
    host.say(call(1, "add_memory"), b"")
    assert "no answer came" in host.hear()["result"]["content"][0]["text"]
