"""The real Claude Code and the real Pi, offline: they recall, call tools and capture; one knows what another learnt."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.real_hosts import ADAPTER, CLAUDE, COMMAND, OLD_PI, PI, Machine, modules, needs, texts_of
from tests.scripted_models import Call, CompletionsModel, MessagesModel, Say

pytestmark = [pytest.mark.slow]

KNOWN = "My sister Mira lives in Porto."
PROMPT = "Help me plan a dinner with my sister Mira. And note that I never eat meat."
NOTED = "Ana has a sister, Mira."
ANSWER = "I put a dinner in Porto together, without meat."
QUESTION = "Did I say that I never eat meat, or is it fish?"

both_pis = pytest.mark.parametrize(
    "package", [pytest.param(PI, marks=needs(PI)), pytest.param(OLD_PI, marks=needs(OLD_PI))], ids=["pi", "old-pi"]
)


def recalled(request: Any) -> str:
    """The blocks that recall put into a request."""
    said = "\n".join(texts_of(message) for message in request["messages"])
    return "\n".join(re.findall(r"<memory-recall>.*?</memory-recall>", said, re.DOTALL))


def captured(machine: Machine) -> list[tuple[str, str]]:
    """Agent and text of what capture has stored, sorted, once the hooks are through."""
    machine.await_hooks()
    kept = [memory for memory in machine.remembered() if memory.get("metadata", {}).get("captured")]
    return sorted((memory["agent"], memory["text"]) for memory in kept)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine.in_folder(tmp_path)
    yield machine
    machine.clear()


@dataclass(frozen=True)
class Talk:
    """The first conversation that Claude Code had on a machine."""

    machine: Machine
    result: Any
    requests: list[Any]


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """A conversation with Claude Code, on a machine whose memory holds something already."""
    machine = Machine.in_folder(tmp_path_factory.mktemp("talk"))
    machine.give_claude_memory()
    machine.await_engine()
    machine.memory_command("add", KNOWN)
    script = (
        Call("mcp__memory__search_memory", {"query": "Where does Mira live?"}, saying="Let me look that up."),
        Call("mcp__memory__add_memory", {"text": NOTED, "infer": False}),
        Say(ANSWER),
    )
    with MessagesModel(*script) as model:
        result = machine.ask_claude(PROMPT, model, tools="mcp__memory__search_memory,mcp__memory__add_memory")
    yield Talk(machine, result, model.requests)
    machine.clear()


@needs(CLAUDE)
def test_claude_code_reports_the_server_as_connected(machine: Machine) -> None:
    machine.give_claude_memory()
    ran = machine.claude("mcp", "list")
    assert "✔ Connected" in ran.output, ran


@needs(CLAUDE)
def test_in_claude_code_what_is_known_comes_with_the_prompt_and_the_tools_are_called(talk: Talk) -> None:
    assert talk.result["result"] == ANSWER
    first, second, third = talk.requests
    assert KNOWN in recalled(first)
    found, added = texts_of(second["messages"][-1]), texts_of(third["messages"][-1])
    assert KNOWN in [memory["text"] for memory in json.loads(found)["memories"]]
    assert [(each["status"], each["text"]) for each in json.loads(added)["results"]] == [("added", NOTED)]


@needs(CLAUDE)
def test_what_was_said_to_claude_code_is_stored_once_and_nothing_else_is(talk: Talk) -> None:
    assert captured(talk.machine) == [("claude-code", PROMPT), ("claude-code", ANSWER)]
    assert {memory["text"] for memory in talk.machine.remembered()} == {KNOWN, NOTED, PROMPT, ANSWER}
    runs = {memory["run"] for memory in talk.machine.remembered() if memory["text"] in (PROMPT, ANSWER)}
    assert runs == {talk.result["session_id"]}


@needs(CLAUDE)
def test_a_second_conversation_recalls_what_was_said_in_the_first(talk: Talk) -> None:
    with MessagesModel(Say("Meat.")) as model:
        result = talk.machine.ask_claude(QUESTION, model)
    assert result["session_id"] != talk.result["session_id"]
    assert PROMPT in recalled(model.requests[0])


@needs(CLAUDE)
@both_pis
def test_what_claude_code_learnt_pi_knows(talk: Talk, package: str) -> None:
    talk.machine.extend_pi(COMMAND, with_tools=False)
    with CompletionsModel(Say("Meat.")) as model:
        talk.machine.ask_pi(QUESTION, model, package=package)
    block = recalled(model.requests[0])
    assert PROMPT in block
    assert "claude-code" in block


def tell_pi(machine: Machine, *script: Call, package: str = PI) -> list[Any]:
    """A conversation in which Pi's model calls tools; its requests, once what was said in it is stored."""
    with CompletionsModel(*script, Say(ANSWER)) as model:
        assert machine.ask_pi(PROMPT, model, package=package).output == f"{ANSWER}\n"
    assert model.n_left == 0
    assert captured(machine) == [("pi", PROMPT), ("pi", ANSWER)]
    return model.requests


def ask_pi_again(machine: Machine, package: str = PI) -> None:
    """A second conversation, which is to recall what was said in the first one."""
    with CompletionsModel(Say("Meat.")) as model:
        machine.ask_pi(QUESTION, model, package=package)
    assert PROMPT in recalled(model.requests[0])


def results_in(request: Any) -> list[str]:
    """What tools have answered so far."""
    return [texts_of(message) for message in request["messages"] if message["role"] == "tool"]


@needs(PI, ADAPTER)
def test_pi_with_the_adapter_calls_the_tools_through_its_proxy(machine: Machine) -> None:
    installed = machine.pi("install", modules() / ADAPTER)
    assert installed.code == 0, installed
    machine.give_pi_server()
    machine.extend_pi(COMMAND, with_tools=False)
    machine.await_engine()
    machine.memory_command("add", KNOWN)
    requests = tell_pi(
        machine,
        Call("mcp", {"search": "memory"}),
        Call("mcp", {"tool": "memory_search_memory", "args": {"query": "Where does Mira live?"}}),
        Call("mcp", {"tool": "memory_add_memory", "args": {"text": NOTED, "infer": False}}),
    )
    assert KNOWN in recalled(requests[0])
    tools, found, added = results_in(requests[-1])
    assert "memory_search_memory" in tools
    assert KNOWN in found
    assert "added" in added
    assert NOTED in {memory["text"] for memory in machine.remembered()}
    ask_pi_again(machine)


@needs(PI)
def test_pi_that_speaks_mcp_itself_calls_the_tools(machine: Machine) -> None:
    machine.give_pi_server(exposure="direct")
    listed = machine.pi("mcp", "list")
    assert (listed.code, "memory: connected, 3 tools" in listed.output) == (0, True), listed
    machine.extend_pi(COMMAND, with_tools=False)
    machine.await_engine()
    machine.memory_command("add", KNOWN)
    requests = tell_pi(
        machine,
        Call("mcp__memory__search_memory", {"query": "Where does Mira live?"}),
        Call("mcp__memory__add_memory", {"text": NOTED, "infer": False}),
    )
    found, added = results_in(requests[-1])
    assert KNOWN in found
    assert "added" in added
    assert {(memory["agent"], memory["text"]) for memory in machine.remembered()} >= {("cli", KNOWN), ("pi", NOTED)}
    ask_pi_again(machine)


@both_pis
def test_pi_with_nothing_but_the_extension_calls_the_tools_though_no_engine_runs_yet(
    machine: Machine, package: str
) -> None:
    machine.extend_pi(COMMAND, with_tools=True)
    requests = tell_pi(
        machine,
        Call("add_memory", {"text": KNOWN}),
        Call("search_memory", {"query": "Where does Mira live?"}),
        Call("delete_memory", {"memory_id": "nothing"}),
        package=package,
    )
    added, found, refused = results_in(requests[-1])
    [receipt] = json.loads(added)["results"]
    assert receipt["text"] == KNOWN
    assert [(memory["text"], memory["agent"]) for memory in json.loads(found)["memories"]] == [(KNOWN, "pi")]
    assert refused.startswith("not_found: 'nothing' is no memory id")
    ask_pi_again(machine, package)


@needs(PI)
@pytest.mark.parametrize(("when", "n_episodes"), [("turn", 2), ("conversation", 1)])
def test_each_turn_of_a_conversation_is_stored_once_whenever_it_is_captured(
    machine: Machine, when: str, n_episodes: int
) -> None:
    machine.extend_pi(COMMAND, with_tools=False)
    machine.await_engine()
    with CompletionsModel(Say("Bees need a lot of care."), Say("Then the hives go there.")) as model:
        machine.ask_pi("I keep three hives.", model, "I have an orchard in Sintra.", MCP_MEMORY_CAPTURE=when)
    assert captured(machine) == [
        ("pi", "Bees need a lot of care."),
        ("pi", "I have an orchard in Sintra."),
        ("pi", "I keep three hives."),
        ("pi", "Then the hives go there."),
    ]
    # The engine knows a text that it is given twice; that it was said twice would count all the same.
    assert machine.memory_command("stats")["episodes"] == n_episodes
