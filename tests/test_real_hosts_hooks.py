"""The real Codex and the real Gemini CLI, offline, as an installation sets them up: they recall and capture."""

import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.real_hosts import CODEX, GEMINI, Machine, Ran, needs
from tests.scripted_models import Call, GeminiModel, ResponsesModel, Say, ScriptedModel

pytestmark = [pytest.mark.slow]

KNOWN = "My sister Mira lives in Porto."
PROMPT = "Help me plan a dinner with my sister Mira. And note that I never eat meat."
NOTED = "The spare key is under the blue pot."
ANSWER = "I put a dinner in Porto together, without meat."
QUESTION = "Did I say that I never eat meat, or is it fish?"


@dataclass(frozen=True)
class Host:
    """A host on a machine that its model speaks to; `prefix` is what the names of the memory's tools begin with."""

    name: str
    machine: Machine
    model: type[ScriptedModel]
    prefix: str

    def ask(self, prompt: str, model: Any) -> Ran:
        """One conversation of one turn."""
        return self.machine.ask_codex(prompt, model) if self.name == "codex" else self.machine.ask_gemini(prompt, model)

    def captured(self) -> list[tuple[str, str]]:
        """Agent and text of what capture has stored, sorted, once the hooks are through."""
        self.machine.await_hooks()
        kept = [memory for memory in self.machine.remembered() if memory.get("metadata", {}).get("captured")]
        return sorted((memory["agent"], memory["text"]) for memory in kept)


@pytest.fixture(
    params=[pytest.param("codex", marks=needs(CODEX)), pytest.param("gemini", marks=needs(GEMINI))],
)
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Host]:
    """A host that has been set up, on a machine without anything else."""
    machine = Machine.in_folder(tmp_path)
    if request.param == "codex":
        found = Host("codex", machine, ResponsesModel, "mcp__memory__")
    else:
        found = Host("gemini", machine, GeminiModel, "mcp_memory_")
        # It asks nobody how to sign in where that was chosen before.
        machine.write(".gemini/settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}})
    machine.install(found.name)
    # What each puts into the first message of a conversation is not to be captured.
    machine.write("work/AGENTS.md", "I live in the file AGENTS.md.")
    machine.write("work/GEMINI.md", "I live in the file GEMINI.md.")
    yield found
    machine.clear()


def strings_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from strings_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings_in(each)


def recalled(request: Any) -> str:
    """The blocks that recall put into a request; Gemini CLI escapes them."""
    said = html.unescape("\n".join(strings_in(request)))
    return "\n".join(re.findall(r"<memory-recall>.*?</memory-recall>", said, re.DOTALL))


def test_what_is_known_comes_with_the_prompt_the_turn_is_captured_and_the_next_conversation_recalls_it(
    host: Host,
) -> None:
    host.machine.await_engine()
    host.machine.memory_command("add", KNOWN)
    script = (
        Call(f"{host.prefix}search_memory", {"query": "Where does Mira live?"}, saying="Let me look that up."),
        Call(f"{host.prefix}add_memory", {"text": NOTED, "infer": False}, saying="And I note it."),
        Say(ANSWER),
    )
    with host.model(*script) as model:
        assert ANSWER in host.ask(PROMPT, model).output
    assert model.n_left == 0
    assert KNOWN in recalled(model.requests[0])
    # What the tools have answered by then.
    assert NOTED in "\n".join(strings_in(model.requests[2]))
    assert host.captured() == sorted([(host.name, PROMPT), (host.name, ANSWER)])
    assert {memory["text"] for memory in host.machine.remembered()} == {KNOWN, NOTED, PROMPT, ANSWER}
    with host.model(Say("Meat.")) as model:
        host.ask(QUESTION, model)
    block = recalled(model.requests[0])
    assert PROMPT in block
    assert host.name in block


def test_where_that_is_set_a_conversation_is_captured_at_its_end(host: Host) -> None:
    host.machine.await_engine(MCP_MEMORY_CAPTURE="conversation")
    with host.model(Say("Bees need a lot of care.")) as model:
        host.ask("I keep three hives.", model)
    assert host.captured() == [(host.name, "Bees need a lot of care."), (host.name, "I keep three hives.")]
    assert host.machine.memory_command("stats")["episodes"] == 1


def test_what_is_said_while_no_engine_runs_is_captured_all_the_same(host: Host) -> None:
    with host.model(Say("Bees need a lot of care.")) as model:
        host.ask("I keep three hives.", model)
    assert (host.name, "I keep three hives.") in host.captured()


@needs(CODEX)
def test_codex_runs_no_hook_that_its_user_has_not_trusted(tmp_path: Path) -> None:
    machine = Machine.in_folder(tmp_path)
    machine.install("codex")
    machine.await_engine()
    machine.memory_command("add", KNOWN)
    try:
        with ResponsesModel(Say(ANSWER)) as model:
            machine.ask_codex(PROMPT, model, trusts_hooks=False)
        assert recalled(model.requests[0]) == ""
        assert [memory["text"] for memory in machine.remembered()] == [KNOWN]
    finally:
        machine.clear()
    assert "trusted_hash" not in (machine.home / ".codex" / "config.toml").read_text(encoding="utf-8")
    assert json.loads((machine.home / ".codex" / "hooks.json").read_text(encoding="utf-8"))["hooks"].keys() == {
        "SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"
    }  # fmt: skip
