"""Hooks as hosts run them: as processes, which end with 0 and say in one line what went wrong."""

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from mcp_memory.address import Address, publish
from mcp_memory.errors import FolderInUseError
from mcp_memory.folder import DataFolder
from mcp_memory.pack_recall import BEGIN
from mcp_memory.remote import RemoteMemory
from tests.conftest import Attach
from tests.engines import engine_of, engines_on, kill, wait_until
from tests.small_disk import no_space_left
from tests.test_transcripts import assistant, user, written

MIGRATIONS = "In larkspur migrations are run with make migrate, never by hand."
PROMPT = {"hook_event_name": "UserPromptSubmit", "prompt": "how do I run the larkspur migrations?"}
CONVERSATION = {"session_id": "one", "cwd": "/home/ana/src/larkspur"}
PATIENCE_S = 60

Hook = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def hook(attach: Attach, home: Path) -> Hook:
    """Runs a hook of Claude Code, which sees the test's folder; `attach` sees to it that no engine is left."""
    home.mkdir(exist_ok=True)

    def run(kind: str, event: Mapping[str, Any] | bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
        passed = event if isinstance(event, bytes) else json.dumps({**CONVERSATION, **event}).encode()
        command = [sys.executable, "-P", "-m", "mcp_memory", "hook", kind, "claude-code", *options]
        ran = subprocess.run(command, input=passed, capture_output=True, timeout=PATIENCE_S, check=False)
        assert ran.returncode == 0
        return ran

    return run


@pytest.fixture
def engine(attach: Attach, hook: Hook) -> Iterator[RemoteMemory]:
    """A running engine that has loaded its model and knows one thing, and a client of it."""
    host = attach()
    host.call("add_memory", text=MIGRATIONS, infer=False)
    memory = RemoteMemory.of_running("test")
    assert memory
    with memory:
        yield memory


def texts(memory: RemoteMemory) -> list[str]:
    return [record.text for record in reversed(memory.list(limit=1000)) if record.text != MIGRATIONS]


def told(ran: subprocess.CompletedProcess[bytes]) -> str:
    """The one line on standard error."""
    (line,) = ran.stderr.decode().splitlines()
    return line


def test_recall_prints_what_bears_on_the_prompt_and_nothing_else(engine: RemoteMemory, hook: Hook) -> None:
    ran = hook("recall", PROMPT)
    assert ran.stdout.decode().startswith(BEGIN)
    assert MIGRATIONS in ran.stdout.decode()
    assert ran.stderr == b""
    again = hook("recall", PROMPT)
    assert (again.stdout, again.stderr) == (b"", b"")


def test_the_start_of_a_conversation_brings_what_is_known_of_the_project(engine: RemoteMemory, hook: Hook) -> None:
    assert MIGRATIONS in hook("recall", {"hook_event_name": "SessionStart", "source": "startup"}).stdout.decode()
    assert hook("recall", {"hook_event_name": "SessionStart", "source": "resume"}).stdout == b""
    assert MIGRATIONS in hook("recall", {"hook_event_name": "SessionStart", "source": "compact"}).stdout.decode()


def test_a_turn_is_captured_from_where_the_last_one_ended(engine: RemoteMemory, hook: Hook, tmp_path: Path) -> None:
    transcript = tmp_path / "transcript.jsonl"
    turn = written(user("I keep three hives."), assistant("Three is a fine number."))
    transcript.write_bytes(b"".join(turn) + b'{"type": "user", "mess')
    stop = {"hook_event_name": "Stop", "transcript_path": str(transcript)}
    assert hook("capture", stop).stderr == b""
    assert texts(engine) == ["I keep three hives.", "Three is a fine number."]
    transcript.write_bytes(b"".join([*turn, *written(user("And since May I brew mead."))]))
    hook("capture", stop)
    hook("capture", {**stop, "hook_event_name": "SessionEnd"})
    assert texts(engine) == ["I keep three hives.", "Three is a fine number.", "And since May I brew mead."]
    captured = engine.list(limit=1)[0]
    assert (captured.agent_id, captured.run_id, captured.metadata["project"]) == ("claude-code", "one", "larkspur")


def test_what_a_host_did_not_wait_for_is_given_with_the_next_prompt(engine: RemoteMemory, hook: Hook) -> None:
    asked = {"conversation": "one", "folder": CONVERSATION["cwd"], "notes_given": False}
    line = engine._open()
    line.send(
        json.dumps({"id": 1, "method": "remind", "arguments": {"prompt": PROMPT["prompt"], **asked}}).encode() + b"\n"
    )
    line.reader.readline()
    assert MIGRATIONS in hook("recall", PROMPT).stdout.decode()
    assert hook("recall", PROMPT).stdout == b""


def test_two_hooks_at_once_take_in_everything_once(engine: RemoteMemory, hook: Hook, tmp_path: Path) -> None:
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_bytes(b"".join(written(*(user(f"I own book number {number}.") for number in range(40)))))
    event = json.dumps({**CONVERSATION, "hook_event_name": "Stop", "transcript_path": str(transcript)}).encode()
    command = [sys.executable, "-P", "-m", "mcp_memory", "hook", "capture", "claude-code", "--patiently"]
    started = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(4)]
    for process in started:
        process.communicate(event, timeout=PATIENCE_S)
    assert sorted(texts(engine)) == sorted(f"I own book number {number}." for number in range(40))


def test_at_the_end_of_a_conversation_only_where_that_is_set(
    hook: Hook, attach: Attach, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_MEMORY_CAPTURE", "conversation")
    attach().call("add_memory", text=MIGRATIONS, infer=False)
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_bytes(b"".join(written(user("I keep three hives."))))
    with RemoteMemory.of_running("test") or pytest.fail("no engine") as memory:
        hook("capture", {"hook_event_name": "Stop", "transcript_path": str(transcript)})
        assert texts(memory) == []
        hook("capture", {"hook_event_name": "SessionEnd", "transcript_path": str(transcript)})
        assert texts(memory) == ["I keep three hives."]


def test_a_paused_client_gets_nothing_and_is_not_captured(engine: RemoteMemory, hook: Hook, tmp_path: Path) -> None:
    engine.pause("claude-code")
    assert hook("recall", PROMPT).stdout == b""
    messages = [{"role": "user", "content": "I keep three hives."}]
    hook("capture", {"hook_event_name": "Stop", "messages": messages})
    assert texts(engine) == []
    transcript = tmp_path / "transcript.jsonl"
    said = written(user("This is said while it is paused."))
    transcript.write_bytes(b"".join(said))
    stop = {"hook_event_name": "Stop", "transcript_path": str(transcript)}
    hook("capture", stop)
    engine.resume()
    transcript.write_bytes(b"".join([*said, *written(user("I keep three hives."))]))
    hook("capture", stop)
    assert texts(engine) == ["I keep three hives."]


def test_while_no_engine_runs_it_says_so_starts_one_and_the_next_prompt_is_served(hook: Hook, home: Path) -> None:
    first = hook("recall", PROMPT)
    assert first.stdout == b""
    assert "being started" in told(first)
    with RemoteMemory.awaited("test") as memory:
        memory.add(MIGRATIONS, infer=False)
    assert MIGRATIONS in hook("recall", PROMPT).stdout.decode()


def test_what_is_said_while_no_engine_runs_is_captured_when_one_does(hook: Hook, home: Path, tmp_path: Path) -> None:
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_bytes(b"".join(written(user("I keep three hives."))))
    ran = hook("capture", {"hook_event_name": "Stop", "transcript_path": str(transcript)})
    assert "captured when it runs" in told(ran)
    with RemoteMemory.awaited("test") as memory:
        wait_until(lambda: texts(memory) == ["I keep three hives."])


@pytest.mark.slow
def test_a_transcript_of_50_mb_is_captured_while_nobody_waits(engine: RemoteMemory, hook: Hook, tmp_path: Path) -> None:
    transcript = tmp_path / "transcript.jsonl"
    noise = json.dumps({"type": "user", "message": {"content": [{"type": "tool_result", "content": "x" * 100_000}]}})
    with transcript.open("wb") as file:
        for number in range(500):
            file.write(noise.encode() + b"\n")
            if number % 100 == 0:
                file.write(written(user(f"I own book number {number}."))[0])
    assert transcript.stat().st_size > 50_000_000
    stop = {"hook_event_name": "Stop", "transcript_path": str(transcript)}
    assert hook("capture", stop).stderr == b""
    expected = [f"I own book number {number}." for number in range(0, 500, 100)]
    wait_until(lambda: texts(engine) == expected)
    wait_until(lambda: engine.capture_point("one").offset == transcript.stat().st_size)
    hook("capture", stop)
    assert texts(engine) == expected


@pytest.mark.parametrize("kind", ["recall", "capture"])
def test_whatever_a_host_passes_at_most_one_line_is_told_and_the_host_goes_on(
    engine: RemoteMemory, hook: Hook, kind: str
) -> None:
    for passed in (b"", b"{", b"null", b"[1, 2]", b"\xff\xfe", b'"text"', b"[" * 100_000, b'{"source": "never"}'):
        ran = hook(kind, passed)
        assert (ran.stdout, len(ran.stderr.splitlines())) == (b"", 1), passed
    assert b"session_id" in hook("capture", b'{"session_id": 7, "messages": "x"}').stderr
    assert texts(engine) == []


def test_a_transcript_that_is_not_there_is_no_trouble(engine: RemoteMemory, hook: Hook, tmp_path: Path) -> None:
    ran = hook("capture", {"hook_event_name": "SessionEnd", "transcript_path": str(tmp_path / "gone.jsonl")})
    assert (ran.stdout, ran.stderr) == (b"", b"")


def test_on_a_full_disk_it_says_so_and_the_next_time_nothing_is_missing(
    mounted: bool, home: Path, hook: Hook, attach: Attach, tmp_path: Path
) -> None:
    if not mounted:
        pytest.skip("this account cannot mount a small disk")
    attach().call("add_memory", text=MIGRATIONS, infer=False)
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_bytes(b"".join(written(*(user(f"I own book number {number}.") for number in range(60)))))
    stop = {"hook_event_name": "Stop", "transcript_path": str(transcript)}
    with RemoteMemory.of_running("test") or pytest.fail("no engine") as memory:
        with no_space_left(home):
            # A busy machine has not come to the disk by the time at which a hook has to go.
            said = told(hook("capture", stop))
            assert "free some" in said or "captured by a process of its own" in said
            # It is recalled all the same; that it was cannot be noted.
            assert MIGRATIONS in hook("recall", PROMPT).stdout.decode()
        hook("capture", stop, "--patiently")
        assert sorted(texts(memory)) == sorted(f"I own book number {number}." for number in range(60))


def test_an_engine_that_does_not_answer_is_not_waited_for(hook: Hook, home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        publish(home, Address(silent.getsockname()[1], "token", 1, "0"))
        for kind, event in (("recall", PROMPT), ("capture", {"hook_event_name": "Stop", "transcript_path": "x"})):
            assert "no answer" in told(hook(kind, event))


def test_a_host_that_never_closes_its_end_is_not_waited_for(home: Path, hook: Hook) -> None:
    command = [sys.executable, "-P", "-m", "mcp_memory", "hook", "recall", "claude-code"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.wait(timeout=PATIENCE_S) == 0
        assert process.stderr
        assert b"no answer" in process.stderr.read()
    finally:
        process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()
        process.wait()


def test_the_engine_may_end_in_the_middle(engine: RemoteMemory, hook: Hook, home: Path) -> None:
    kill(engine_of(home).pid)
    ran = hook("recall", PROMPT)
    assert ran.stdout == b""
    assert "being started" in told(ran)


def test_folder_and_user_can_be_given_with_the_hook(hook: Hook, engine: RemoteMemory, tmp_path: Path) -> None:
    home = tmp_path / "other home"
    home.mkdir()
    assert "being started" in told(hook("recall", PROMPT, "--home", str(home)))
    wait_until(lambda: bool(engines_on(home)))
    for pid in engines_on(home):
        kill(pid)
    assert MIGRATIONS not in hook("recall", PROMPT, "--user", "ben").stdout.decode()
    assert MIGRATIONS in hook("recall", PROMPT).stdout.decode()


@pytest.mark.parametrize("arguments", [["nonsense", "x"], ["recall"], ["recall", "a", "b"], []])
def test_a_call_that_is_no_hook_tells_what_one_is(arguments: list[str], home: Path) -> None:
    command = [sys.executable, "-P", "-m", "mcp_memory", "hook", *arguments]
    ran = subprocess.run(command, input=b"{}", capture_output=True, timeout=PATIENCE_S, check=False)
    assert b"hook" in ran.stdout + ran.stderr


def test_a_hook_needs_nothing_but_the_standard_library() -> None:
    code = (
        "import sys; before = set(sys.modules); import mcp_memory.hooks\n"
        "names = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(names - set(sys.stdlib_module_names) - {'mcp_memory'}))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_what_is_said_while_a_command_has_the_folder_is_captured_when_it_has_gone(
    hook: Hook, home: Path, tmp_path: Path
) -> None:
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_bytes(b"".join(written(user("I keep three hives."))))
    folder = DataFolder(home)
    try:
        hook("capture", {"hook_event_name": "Stop", "transcript_path": str(transcript)})
        # Longer than an engine is waited for by whoever finds the folder held.
        with pytest.raises(FolderInUseError):
            RemoteMemory.awaited("test")
    finally:
        folder.release()
    with RemoteMemory.awaited("test") as memory:
        wait_until(lambda: texts(memory) == ["I keep three hives."])
