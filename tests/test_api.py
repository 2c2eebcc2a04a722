"""Calls over lines of JSON: whose fault it was is told rightly, and what nobody expected is logged."""

import json
from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from mcp_memory.api import answer_calls, read_answer
from mcp_memory.engine import Engine
from mcp_memory.memory import LocalMemory


def ask(memory: LocalMemory, method: str, **arguments: Any) -> Mapping[str, Any]:
    """The answer to one call, as a client reads it."""
    questions = [json.dumps({"id": 1, "method": method, "arguments": arguments}).encode(), b""]
    answers: list[bytes] = []

    async def read_line() -> bytes:
        return questions.pop(0)

    async def write_line(line: bytes) -> None:
        answers.append(line)

    anyio.run(answer_calls, Engine(lambda: memory), memory.settings, "python", read_line, write_line)
    return dict(json.loads(answers[-1]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"query": "bees", "depth": 3}, "search: got an unexpected keyword argument 'depth'"), ({}, "search: missing a")],
)
def test_arguments_that_a_method_does_not_take_are_the_callers_fault(
    memory: LocalMemory, caplog: pytest.LogCaptureFixture, arguments: dict[str, Any], message: str
) -> None:
    error = ask(memory, "search", **arguments)["error"]
    assert error["code"] == "invalid_input"
    assert error["message"].startswith(message)
    assert caplog.text == ""


def test_a_type_error_inside_a_method_is_internal_and_logged(
    memory: LocalMemory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_given: object) -> None:
        raise TypeError("a mistake of ours")

    monkeypatch.setattr(type(memory.stores.log), "counts", broken)
    error = ask(memory, "stats")["error"]
    assert (error["code"], error["message"]) == ("internal", "unexpected error")
    assert "a mistake of ours" in caplog.text


def test_a_profile_is_the_same_over_lines(memory: LocalMemory) -> None:
    memory.add("I keep bees", kind="fact", infer=False)
    memory.add(messages=[{"role": "user", "content": "I live in Porto."}], infer=False)
    profile = memory.profile()
    assert profile.facts
    assert profile.statements
    assert read_answer("profile", json.dumps(ask(memory, "profile")).encode()) == profile


def test_values_that_cannot_be_used_stay_the_callers_fault(memory: LocalMemory) -> None:
    error = ask(memory, "add", messages=[5])["error"]
    assert (error["code"], error["message"]) == ("invalid_input", "messages[0] is no object")


def test_a_call_is_answered(memory: LocalMemory) -> None:
    assert ask(memory, "add", text="I keep bees", infer=False)["result"]["results"][0]["status"] == "added"
    assert ask(memory, "stats")["result"]["active"] == 1


def test_a_rating_is_answered(memory: LocalMemory) -> None:
    rated = ask(memory, "add", text="I keep bees", infer=False)["result"]["results"][0]["id"]
    assert ask(memory, "rate", memory_id=rated, useful=False)["result"]["importance"] < 0.5
    assert ask(memory, "rate", memory_id="0" * 12, useful=True)["error"]["code"] == "not_found"
