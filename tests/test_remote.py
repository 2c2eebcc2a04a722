"""The memory in an engine, over connections that the test plays: every call gets its own answer."""

from typing import cast

import pytest

from mcp_memory.dial import ENGINE_GONE, Line
from mcp_memory.errors import StorageError
from mcp_memory.remote import RemoteMemory
from tests.fake_lines import FakeLine

WHOSE = {"user": "ana", "folder": "/memory"}


def connected(*lines: FakeLine) -> RemoteMemory:
    """A memory that is given these connections in turn, and has asked whose it is."""
    left = list(lines)
    answers(lines[0], WHOSE)
    memory = RemoteMemory(lambda: cast(Line, left.pop(0)))
    assert (memory.user_id, str(memory.folder)) == ("ana", "/memory")
    return memory


def answers(line: FakeLine, *results: object) -> None:
    """Have each further call answered as it comes."""
    left = list(results)
    line.on_send = lambda _said: line.say(id=0, result=left.pop(0))


def test_a_call_that_was_interrupted_leaves_no_answer_to_the_next() -> None:
    first, second = FakeLine(), FakeLine()
    memory = connected(first, second)

    def interrupt(_said: bytes) -> None:
        first.say(id=2, result={"active": 1})
        raise KeyboardInterrupt

    first.on_send = interrupt
    with pytest.raises(KeyboardInterrupt):
        memory.stats()
    answers(second, {"active": 2})
    assert memory.stats() == {"active": 2}


def test_a_report_of_progress_that_fails_leaves_no_answer_to_the_next() -> None:
    first, second = FakeLine(), FakeLine()
    memory = connected(first, second)

    def report(_said: bytes) -> None:
        first.say(id=2, progress=[1, 2])
        first.say(id=2, result={"n_memories": 1, "n_entities": 0, "differences": []})

    first.on_send = report
    with pytest.raises(ZeroDivisionError):
        memory.verify(lambda _done, _total: 1 // 0)  # type: ignore[arg-type]
    answers(second, {"active": 2})
    assert memory.stats() == {"active": 2}


def test_an_engine_that_has_gone_between_two_calls_is_replaced_before_anything_is_sent() -> None:
    first, second = FakeLine(), FakeLine()
    memory = connected(first, second)
    first.end()
    answers(second, {"results": [], "episode_id": "e"})
    assert memory.add("I keep bees").episode_id == "e"
    assert len(first.sent) == 1


def test_a_search_is_asked_of_the_next_engine_and_a_change_is_not() -> None:
    lines = [FakeLine() for _ in range(3)]
    memory = connected(*lines)
    lines[0].on_send = lambda _said: lines[0].end()
    answers(lines[1], {"active": 1})
    assert memory.stats() == {"active": 1}
    lines[1].on_send = lambda _said: lines[1].end()
    with pytest.raises(StorageError, match=f"{ENGINE_GONE} .repeat the call: the same words are stored once"):
        memory.add("I keep bees")
    assert lines[2].sent == []
