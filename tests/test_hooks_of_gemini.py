"""What Gemini CLI passes to its hooks: a turn's two sides after each, and prompts filled up with what was recalled."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcp_memory.remote import RemoteMemory
from tests.conftest import Attach
from tests.stdio_server import Server
from tests.test_transcript_lines import ran, replied, typed
from tests.test_transcripts import written

KNOWN = "My sister Mira lives in Porto."
SAID, ANSWER = "I keep three hives.", "Then they swarm in May."
RECALLED = f"<hook_context>&lt;memory-recall&gt;\n- {KNOWN}\n&lt;/memory-recall&gt;\n</hook_context>\n\n"
TURN = {
    "session_id": "one",
    "cwd": "/home/ana/src/larkspur",
    "timestamp": "2026-06-15T12:00:00.000Z",
    "hook_event_name": "AfterAgent",
    "prompt": RECALLED + SAID,
    "prompt_response": ANSWER,
}
PATIENCE_S = 60

Hook = Callable[..., str]


@pytest.fixture
def hook(home: Path) -> Hook:
    """Runs a hook of Gemini CLI on the test's folder; what it prints."""
    home.mkdir(exist_ok=True)

    def run(kind: str, event: Any) -> str:
        command = [sys.executable, "-P", "-m", "mcp_memory", "hook", kind, "gemini"]
        ran = subprocess.run(
            command, input=json.dumps(event).encode(), capture_output=True, timeout=PATIENCE_S, check=False
        )
        assert (ran.returncode, ran.stderr) == (0, b"")
        return ran.stdout.decode()

    return run


def warm(attach: Attach) -> Server:
    """A host on an engine that has loaded its model: before that it answers in more than a second."""
    host = attach()
    host.call("add_memory", text="The moon is full.", infer=False)
    return host


@pytest.fixture
def engine(attach: Attach) -> RemoteMemory:
    warm(attach)
    return RemoteMemory.of_running("test") or pytest.fail("no engine")


def captured(memory: RemoteMemory) -> list[str]:
    return [record.text for record in reversed(memory.list()) if record.agent_id == "gemini"]


def test_without_a_transcript_the_turn_is_taken_as_it_is_passed(engine: RemoteMemory, hook: Hook) -> None:
    assert hook("capture", TURN) == ""
    hook("capture", {**TURN, "hook_event_name": "SessionEnd", "prompt": "", "prompt_response": ""})
    with engine:
        assert captured(engine) == [SAID, ANSWER]
        last = engine.list(limit=1)[0]
    assert (last.run_id, last.metadata["project"], last.role) == ("one", "larkspur", "assistant")
    assert last.observed_at.isoformat() == "2026-06-15T12:00:00+00:00"


def test_an_answer_without_words_is_none(engine: RemoteMemory, hook: Hook) -> None:
    hook("capture", {**TURN, "prompt_response": "[no response text]"})
    with engine:
        assert captured(engine) == [SAID]


def test_of_a_transcript_the_answer_is_taken_and_not_all_that_was_said_on_the_way(
    engine: RemoteMemory, hook: Hook, tmp_path: Path
) -> None:
    transcript = tmp_path / "session.jsonl"
    said = [typed(RECALLED + SAID), replied("Let me look.", "g1", **ran("read_file")), replied(ANSWER, "g2")]
    transcript.write_bytes(b"".join(written(*said)))
    turn = {**TURN, "prompt_response": f"Let me look.\n{ANSWER}", "transcript_path": str(transcript)}
    hook("capture", turn)
    hook("capture", {**turn, "hook_event_name": "SessionEnd"})
    with engine:
        assert captured(engine) == [SAID, ANSWER]


@pytest.mark.parametrize("has_transcript", [True, False])
def test_at_the_end_of_a_conversation_where_that_is_set_and_something_tells_of_it_then(
    attach: Attach, hook: Hook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_transcript: bool
) -> None:
    monkeypatch.setenv("MCP_MEMORY_CAPTURE", "conversation")
    warm(attach)
    # Older programs write one that is no JSON lines.
    transcript = tmp_path / ("session.jsonl" if has_transcript else "session.json")
    transcript.write_bytes(b"".join(written(typed(SAID), replied(ANSWER, "g1"))))
    turn = {**TURN, "transcript_path": str(transcript)}
    with RemoteMemory.of_running("test") or pytest.fail("no engine") as memory:
        hook("capture", turn)
        assert captured(memory) == ([] if has_transcript else [SAID, ANSWER])
        hook("capture", {**turn, "hook_event_name": "SessionEnd"})
        assert captured(memory) == [SAID, ANSWER]


def test_a_prompt_is_searched_without_what_was_recalled_before(attach: Attach, hook: Hook) -> None:
    host = warm(attach)
    start = {**TURN, "hook_event_name": "SessionStart", "source": "startup"}
    prompt = {**TURN, "hook_event_name": "BeforeAgent"}
    assert KNOWN not in hook("recall", start)
    host.call("add_memory", text=KNOWN, infer=False)
    assert hook("recall", {**prompt, "prompt": RECALLED + "ok, thanks!"}) == ""
    asked = hook("recall", {**prompt, "prompt": RECALLED + "Where does my sister Mira live?"})
    told = json.loads(asked)["hookSpecificOutput"]
    assert told["hookEventName"] == "BeforeAgent"
    assert KNOWN in told["additionalContext"]
