"""The extension in the real Pi, as it is now and as it was: what hooks are told, and that nothing stands in the way.

A stand-in for the command writes down what it is told; tests/test_real_hosts.py has the same with the real one.
"""

import json
import re
import sys
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tests.engines import wait_until
from tests.real_hosts import OLD_PI, PI, Machine, needs, texts_of
from tests.scripted_models import Call, CompletionsModel, Say

pytestmark = [pytest.mark.slow]

# What the stand-in does with what it is asked; it has `arguments` and `given`, the text of its standard input.
_QUIET = ""
_RECALLING = """
if arguments[1] == "recall":
    event = json.loads(given)["hook_event_name"]
    print("You knew: bees." if event == "UserPromptSubmit" else "Ana lives in Lisbon.")
"""
# Far longer than Pi may be kept waiting.
_STUCK = "time.sleep(30)"
_BROKEN = 'print("half a block"); sys.exit("it broke")'

both_pis = pytest.mark.parametrize(
    "package", [pytest.param(PI, marks=needs(PI)), pytest.param(OLD_PI, marks=needs(OLD_PI))], ids=["pi", "old-pi"]
)


class StandIn:
    """A command that writes down each call of it."""

    def __init__(self, folder: Path) -> None:
        self._script = folder / "stand_in.py"
        self._record = folder / "calls"
        self._record.mkdir()

    def doing(self, code: str) -> list[str]:
        """The command, with what it does once it has written down the call."""
        head = (
            "import json, os, sys, time\n"
            "arguments, given = sys.argv[1:], sys.stdin.read()\n"
            f"call = os.path.join({str(self._record)!r}, f'{{time.time_ns()}}-{{os.getpid()}}')\n"
            "open(call + '.part', 'w').write(json.dumps([arguments, given]))\n"
            "os.rename(call + '.part', call + '.json')\n"
        )
        self._script.write_text(head + code, encoding="utf-8")
        return [sys.executable, str(self._script)]

    def calls(self) -> list[tuple[list[str], str]]:
        """Arguments and standard input of each call, in the order in which they were read."""
        return [tuple(json.loads(path.read_text(encoding="utf-8"))) for path in sorted(self._record.glob("*.json"))]

    def events(self) -> list[Any]:
        """What the hooks were told, in their order."""
        return [json.loads(given) for arguments, given in self.calls() if arguments[0] == "hook"]

    def event(self, name: str) -> Any:
        """What a hook was told of an event; it is waited for, since Pi does not."""
        wait_until(lambda: any(event["hook_event_name"] == name for event in self.events()))
        return next(event for event in self.events() if event["hook_event_name"] == name)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.in_folder(tmp_path)


@pytest.fixture
def stand_in(tmp_path: Path) -> StandIn:
    return StandIn(tmp_path)


def test_the_template_has_each_marker_once_and_imports_nothing_that_would_have_to_be_installed() -> None:
    template = files("mcp_memory").joinpath("extensions", "pi.ts").read_text(encoding="utf-8")
    assert re.findall(r"__\w+__", template) == ["__MCP_MEMORY_COMMAND__", "__MCP_MEMORY_WITH_TOOLS__"]
    imports = re.findall(r'^import (type )?.* from "(.*)";$', template, re.MULTILINE)
    assert len(imports) == template.count("\nimport ")
    assert {module.split(":")[0] for is_type, module in imports if not is_type} == {"node"}


@both_pis
def test_what_is_recalled_stands_behind_the_prompt_and_changes_nothing_before_it(
    machine: Machine, stand_in: StandIn, package: str
) -> None:
    with CompletionsModel(Say("You keep bees."), Say("In Lisbon.")) as model:
        machine.extend_pi(stand_in.doing(_RECALLING), with_tools=False)
        assert machine.ask_pi("What do I keep?", model, package=package).output == "You keep bees.\n"
        machine.extend_pi(stand_in.doing(_QUIET), with_tools=False)
        machine.ask_pi("And where?", model, "--continue", package=package)
    first, second = (request["messages"] for request in model.requests)
    told = [texts_of(message) for message in first[1:]]
    assert told == ["What do I keep?", "Ana lives in Lisbon.\n\nYou knew: bees."]
    # What a provider has in its cache goes on to be the beginning of what it is sent.
    assert second[: len(first)] == first
    assert [texts_of(message) for message in second[len(first) :]] == ["You keep bees.", "And where?"]
    assert "bees" not in json.dumps(first[0])


@both_pis
def test_a_hook_hears_of_a_conversation_in_its_order_and_under_one_id(
    machine: Machine, stand_in: StandIn, package: str
) -> None:
    machine.extend_pi(stand_in.doing(_QUIET), with_tools=False)
    with CompletionsModel(Say("You keep bees.")) as model:
        machine.ask_pi("What do I keep?", model, package=package)
        machine.ask_pi("And where?", model, "--continue", package=package)
        stand_in.event("SessionEnd")
        wait_until(lambda: len(stand_in.events()) == 8)
    names = [event["hook_event_name"] for event in stand_in.events()]
    assert names == 2 * ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]
    assert [event["source"] for event in stand_in.events() if "source" in event] == ["startup", "resume"]
    assert [event["prompt"] for event in stand_in.events() if "prompt" in event] == ["What do I keep?", "And where?"]
    assert {event["cwd"] for event in stand_in.events()} == {str(machine.work)}
    [session] = {event["session_id"] for event in stand_in.events()}
    [file] = machine.home.glob(".pi/agent/sessions/*/*.jsonl")
    assert session in file.name
    assert {tuple(arguments) for arguments, _ in stand_in.calls()} == {
        ("hook", "recall", "pi"),
        ("hook", "capture", "pi", "--patiently"),
    }


@both_pis
def test_only_what_was_said_is_captured_each_message_under_an_id_of_its_own(
    machine: Machine, stand_in: StandIn, package: str
) -> None:
    (machine.work / "hives.txt").write_text("THREE HIVES IN A FILE", encoding="utf-8")
    machine.extend_pi(stand_in.doing(_RECALLING), with_tools=False)
    with CompletionsModel(Call("read", {"path": "hives.txt"}), Say("You keep three.")) as model:
        machine.ask_pi("How many hives?", model, "@hives.txt", package=package)
    stopped = stand_in.event("Stop")
    assert "THREE HIVES" in json.dumps(model.requests[0]), "the file did not reach the model"
    assert [(message["role"], message["content"]) for message in stopped["messages"]] == [
        ("user", "How many hives?"),
        ("assistant", "You keep three."),
    ]
    assert stand_in.event("UserPromptSubmit")["prompt"] == "How many hives?"
    assert len({message["id"] for message in stopped["messages"]}) == 2
    assert all(message["timestamp"].endswith("Z") for message in stopped["messages"])


@both_pis
def test_ids_that_the_tools_of_the_memory_returned_are_told_and_what_is_said_on_the_way_is_no_answer(
    machine: Machine, stand_in: StandIn, package: str
) -> None:
    found = 'if arguments[0] != "hook": print(json.dumps({"memories": [{"id": "d25smbvvg000", "text": "bees"}]}))'
    (machine.work / "hives.txt").write_text("d25smbvvg111", encoding="utf-8")
    machine.extend_pi(stand_in.doing(found), with_tools=True)
    with CompletionsModel(
        Call("search_memory", {"query": "bees"}, saying="Let me look."),
        Call("read", {"path": "hives.txt"}, saying="And here."),
        Say("You keep bees."),
    ) as model:
        machine.ask_pi("What do I keep?", model, package=package)
    assert "d25smbvvg111" in json.dumps(model.requests[-1])
    stopped = stand_in.event("Stop")
    assert stopped["served"] == ["d25smbvvg000"]
    assert [message["content"] for message in stopped["messages"]] == ["What do I keep?", "You keep bees."]
    # Whoever has conversations captured at their end gets all of it then.
    ended = stand_in.event("SessionEnd")
    assert (ended["messages"], ended["served"]) == (stopped["messages"], stopped["served"])


@both_pis
def test_a_skill_that_pi_puts_before_a_prompt_is_not_what_somebody_said(
    machine: Machine, stand_in: StandIn, package: str
) -> None:
    skill = "---\nname: bees\ndescription: On bees\n---\nALWAYS SPEAK OF BEES\n"
    machine.write(".pi/agent/skills/bees/SKILL.md", skill)
    machine.extend_pi(stand_in.doing(_QUIET), with_tools=False)
    with CompletionsModel(Say("Yes.")) as model:
        machine.ask_pi("/skill:bees Do I keep any?", model, package=package)
    assert "ALWAYS SPEAK" in json.dumps(model.requests[0]["messages"][1:])
    assert stand_in.event("UserPromptSubmit")["prompt"] == "Do I keep any?"
    assert [message["content"] for message in stand_in.event("Stop")["messages"]] == ["Do I keep any?", "Yes."]


@both_pis
def test_a_long_turn_is_captured_whole_though_pi_ends_at_once(
    machine: Machine, stand_in: StandIn, package: str
) -> None:
    # More than a pipe holds.
    answer = "I keep bees. " * 100_000
    machine.extend_pi(stand_in.doing(_QUIET), with_tools=False)
    with CompletionsModel(Say(answer)) as model:
        machine.ask_pi("Tell me all.", model, "--no-session", package=package)
    stopped = stand_in.event("Stop")
    assert stopped["messages"][1]["content"] == answer.strip()
    assert stopped["session_id"]


@both_pis
@pytest.mark.parametrize("code", [_STUCK, _BROKEN], ids=["stuck", "broken"])
def test_a_hook_that_is_stuck_or_broken_neither_keeps_pi_waiting_nor_says_anything(
    machine: Machine, stand_in: StandIn, package: str, code: str
) -> None:
    machine.extend_pi(stand_in.doing(code), with_tools=False)
    began = time.monotonic()
    with CompletionsModel(Say("Yes.")) as model:
        ran = machine.ask_pi("Do I keep bees?", model, package=package)
    # 1.5 s before the prompt and 1.5 s at the end, beside what Pi takes by itself; the hooks would take 30 s each.
    assert time.monotonic() - began < 15
    assert (ran.output, ran.errors) == ("Yes.\n", "")
    assert [texts_of(message) for message in model.requests[0]["messages"][1:]] == ["Do I keep bees?"]


@both_pis
def test_without_the_command_pi_works_as_before_and_the_tools_say_what_is_missing(
    machine: Machine, package: str
) -> None:
    machine.extend_pi([str(machine.home / "gone")], with_tools=True)
    with CompletionsModel(Call("search_memory", {"query": "bees"}), Say("I cannot tell.")) as model:
        ran = machine.ask_pi("Do I keep bees?", model, package=package)
    assert (ran.output, ran.errors) == ("I cannot tell.\n", "")
    result = texts_of(model.requests[-1]["messages"][-1])
    assert "gone cannot be started" in result


@needs(PI)
def test_the_tools_take_texts_that_look_like_options_and_answer_in_lean_json(
    machine: Machine, stand_in: StandIn
) -> None:
    machine.extend_pi(stand_in.doing('print(json.dumps({"results": []}, indent=1))'), with_tools=True)
    with CompletionsModel(
        Call("search_memory", {"query": "--help", "top_k": 3, "scope": "user"}),
        Call("add_memory", {"text": "--infer is an option"}),
        Call("delete_memory", {"memory_id": "--json"}),
        Say("Done."),
    ) as model:
        machine.ask_pi("Go on.", model)
    assert [call for call in stand_in.calls() if call[0][0] != "hook"] == [
        (["search", "--json", "--top-k", "3", "--scope", "user", "--", "--help"], ""),
        (["add", "--infer", "--json", "-"], "--infer is an option"),
        (["delete", "--json", "--", "--json"], ""),
    ]
    results = [texts_of(message) for message in model.requests[-1]["messages"] if message["role"] == "tool"]
    assert results == 3 * ['{"results":[]}']


@needs(PI)
def test_a_tool_is_offered_only_where_it_is_told_to(machine: Machine, stand_in: StandIn) -> None:
    names = {}
    for with_tools in (False, True):
        machine.extend_pi(stand_in.doing(_QUIET), with_tools=with_tools)
        with CompletionsModel(Say("Yes.")) as model:
            machine.ask_pi("Do I keep bees?", model, "--no-session")
        names[with_tools] = {tool["function"]["name"] for tool in model.requests[0]["tools"]}
    assert names[True] - names[False] == {"search_memory", "add_memory", "delete_memory"}
