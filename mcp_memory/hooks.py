"""`mcp-memory hook recall` and `hook capture`: what hosts run by themselves. Standard library only.

A hook is never the host's trouble: it ends with 0 within about a second, whatever happens, and says what went wrong in
one line on standard error. What takes longer is handed to a process that outlives it.
"""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from . import transcripts
from .dial import USER_VARIABLE, Line, connect
from .errors import McpMemoryError
from .paths import HOME_VARIABLE, data_folder
from .starter import apart, begin, connect_or_start

USAGE = "mcp-memory hook recall|capture CLIENT [--home FOLDER] [--user NAME]"
# From the start of this program on; Python itself takes some hundredths of a second more.
DEADLINE_S = 0.9
# For a process that nobody waits for.
_PATIENCE_S = 120.0
_PATIENTLY = "--patiently"
# What is read at once of a transcript while a host waits; more is left to the process that it does not wait for.
_READ_AT_ONCE_BYTES = 2_000_000
_MESSAGES_AT_A_TIME = 200
_NOTING_S = 0.3
_AGAIN_S = 2.0
_TRIES = 3
_STARTING = "the engine was not running and is being started; "
# What a host has passed, until it is captured.
_to_capture: list[dict[str, Any]] = []
# What the engine is to hear once the host has got what is printed.
_when_printed: list[tuple[Line, bytes]] = []
_PROMPT_EVENTS = ("UserPromptSubmit", "BeforeAgent")
_STARTS = ("startup", "resume", "clear", "compact")
_END = "SessionEnd"
# What Gemini CLI passes for an answer without words.
_NO_ANSWER = "[no response text]"


class _TroubleError(Exception):
    """What the user may read of why nothing was done."""


def run() -> None:
    """Be the hook that the command line names, and end the process."""
    ending = threading.Lock()
    is_patient = _PATIENTLY in sys.argv
    watch = threading.Timer(_PATIENCE_S if is_patient else DEADLINE_S, _give_up, (ending,))
    watch.daemon = True
    watch.start()
    said, trouble = "", ""
    try:
        said = _do(sys.argv[2:])
    except _TroubleError as exc:
        trouble = str(exc)
    except McpMemoryError as exc:
        trouble = f"{exc.message} ({exc.hint})"
    except Exception as exc:  # noqa: BLE001 - no fault of this program may become the host's
        trouble = f"{type(exc).__name__}: {exc}"
    # Whoever has it ends the process: what is printed is printed whole.
    ending.acquire()
    _end(said, trouble)


def _give_up(ending: threading.Lock) -> None:
    if not ending.acquire(blocking=False):
        return
    told = f"no answer within {DEADLINE_S:g} s; "
    try:
        if _to_capture and _PATIENTLY not in sys.argv:
            # Some hosts pass a turn once; what the engine has taken in meanwhile it knows.
            _hand_over(_to_capture[0])
            told += "what was said is captured by a process of its own"
        else:
            told += "nothing was recalled this time"
    except OSError as exc:
        told += f"what was said is captured the next time ({exc})"
    _end("", told)


def _end(said: str, trouble: str) -> None:
    try:
        if said:
            os.write(1, said.encode())
        for line, call in _when_printed if not trouble else ():
            line.connection.settimeout(_NOTING_S)
            line.send(call)
            line.finish()
            # The connection ends when that is done.
            line.reader.readline()
        if trouble:
            os.write(2, f"mcp-memory: {' '.join(trouble.split())}\n".encode())
    except OSError:
        # Nobody listens any more.
        pass
    os._exit(0)


def _do(arguments: list[str]) -> str:
    """What is to be printed."""
    names, options = _parsed(arguments)
    if len(names) != 2 or names[0] not in ("recall", "capture"):
        raise _TroubleError(f"{' '.join(arguments)!r} is no hook; use {USAGE}")
    for option, variable in (("--home", HOME_VARIABLE), ("--user", USER_VARIABLE)):
        if option in options:
            os.environ[variable] = options[option]
    event = _event(sys.stdin.buffer.read())
    if names[0] == "recall":
        return _recall(names[1], event)
    return _capture_at_last(names[1], event) if _PATIENTLY in arguments else _capture(names[1], event, is_patient=False)


def _parsed(arguments: list[str]) -> tuple[list[str], dict[str, str]]:
    names: list[str] = []
    options: dict[str, str] = {}
    rest = [argument for argument in arguments if argument != _PATIENTLY]
    while rest:
        word = rest.pop(0)
        if word in ("--home", "--user") and rest:
            options[word] = rest.pop(0)
        else:
            names.append(word)
    return names, options


def _event(passed: bytes) -> dict[str, Any]:
    """What the host passes."""
    try:
        event = json.loads(passed)
    except (ValueError, RecursionError) as exc:
        raise _TroubleError(f"what the host passed is no JSON: {exc}") from exc
    if not isinstance(event, dict):
        raise _TroubleError("what the host passed is no JSON object")
    return event


def _text(event: dict[str, Any], name: str) -> str:
    value = event.get(name)
    return value if isinstance(value, str) else ""


def _recall(client: str, event: dict[str, Any]) -> str:
    name = _text(event, "hook_event_name")
    moment = "prompt" if name in _PROMPT_EVENTS else _text(event, "source") or "startup"
    if moment not in (*_STARTS, "prompt"):
        raise _TroubleError(f"the host passed source {moment!r}, which is none of {', '.join(_STARTS)}")
    home = data_folder()
    line = connect(home, "api", name=client)
    if line is None:
        begin(home)
        raise _TroubleError(f"{_STARTING}nothing was recalled this time")
    given = {
        "prompt": transcripts.without_host(_text(event, "prompt")) if moment == "prompt" else "",
        "conversation": _text(event, "session_id"),
        "moment": moment,
        "folder": _text(event, "cwd"),
    }
    reminder = _asked(line, "remind", {**given, "notes_given": False})
    where = {"conversation": given["conversation"], "folder": given["folder"]}
    # Said once it is printed: what comes too late for the host is to be given again.
    _when_printed.append((line, _call("note_given", {**where, "memory_ids": reminder["memory_ids"]})))
    return _as_the_host_reads(client, name, str(reminder["text"]))


def _as_the_host_reads(client: str, name: str, text: str) -> str:
    """Text for the context, in the form that a host takes it in."""
    if not text or client != "gemini":
        return text
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}})


def _capture_at_last(client: str, event: dict[str, Any]) -> str:
    """Capture, again and again while another process has the folder, or the engine goes; the watch ends it."""
    while True:
        try:
            return _capture(client, event, is_patient=True)
        except (McpMemoryError, _TroubleError):
            if not _text(event, "session_id"):
                raise
            time.sleep(_AGAIN_S)


def _capture(client: str, event: dict[str, Any], *, is_patient: bool) -> str:
    conversation, folder = _text(event, "session_id"), _text(event, "cwd")
    if not conversation:
        raise _TroubleError("the host passed no session_id; nothing was captured")
    _to_capture.append(event)
    home = data_folder()
    line = connect_or_start(home, "api", name=client) if is_patient else connect(home, "api", name=client)
    if line is None:
        _hand_over(event)
        raise _TroubleError(f"{_STARTING}what was said is captured when it runs")
    where = {"conversation": conversation, "folder": folder}
    point = _asked(line, "capture_point", where)
    is_end = _text(event, "hook_event_name") == _END
    path = _transcript(event)
    turn = _turn(event) if path is None else []
    # Where nothing will tell of the whole conversation at its end, a turn is taken in though that is set.
    if point["when"] == "off":
        # What is said meanwhile is not taken in afterwards either.
        if path:
            _asked(line, "pass_over", {"conversation": conversation, "offset": path.stat().st_size})
        return ""
    if point["when"] == "conversation" and not is_end and not turn:
        return ""
    if isinstance(messages := event.get("messages"), list):
        # At its end a host passes the whole conversation, turn by turn it has been taken in before.
        if is_end != (point["when"] == "turn"):
            _asked(line, "capture", {**where, "said": _passed(messages), "served": _served(event)})
    elif turn:
        _asked(line, "capture", {**where, "said": turn})
    elif path:
        _take_in(path, int(point["offset"]), event, line, where, is_patient)
    return ""


def _take_in(
    path: Path, start: int, event: dict[str, Any], line: Line, where: dict[str, Any], is_patient: bool
) -> None:
    """Give the engine what a transcript says from an offset on, or leave that to a process that has the time."""
    size = path.stat().st_size
    # One that has become shorter was written anew.
    start = start if start <= size else 0
    if size - start > _READ_AT_ONCE_BYTES and not is_patient:
        _hand_over(event)
        return
    for _ in range(_TRIES):
        with path.open("rb") as transcript:
            transcript.seek(start)
            heard = transcripts.hear(transcript, start)
        if _store(line, where, heard):
            break
        # Another hook of the conversation was quicker.
        start = int(_asked(line, "capture_point", where)["offset"])


def _transcript(event: dict[str, Any]) -> Path | None:
    """The transcript that a host names.

    Some hosts run hooks for what was no conversation, and name one that does not exist. Gemini CLI has older ones that
    are no JSON lines.
    """
    path = Path(_text(event, "transcript_path"))
    return path if path.suffix == ".jsonl" and path.is_file() else None


def _turn(event: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of a turn that Gemini CLI passes after it; [] where it passes none."""
    if "prompt_response" not in event:
        return []
    answer = _text(event, "prompt_response")
    sides = (("user", _text(event, "prompt")), ("assistant", "" if answer == _NO_ANSWER else answer))
    return _passed([{"role": role, "content": said, "timestamp": _text(event, "timestamp")} for role, said in sides])


def _passed(messages: list[Any]) -> list[dict[str, Any]]:
    """The messages of a host that passes them itself."""
    said = [
        {
            "role": message["role"],
            "content": transcripts.without_host(message["content"]),
            "at": _text(message, "timestamp"),
        }
        for message in messages
        if isinstance(message, dict)
        and message.get("role") in ("user", "assistant")
        and isinstance(message.get("content"), str)
    ]
    return [message for message in said if message["content"]]


def _served(event: dict[str, Any]) -> list[str]:
    served = event.get("served")
    return [each for each in served if isinstance(each, str)] if isinstance(served, list) else []


def _store(line: Line, where: dict[str, Any], heard: transcripts.Heard) -> bool:
    """Give what was heard to the engine, part by part; whether it took it, or has had some of it already."""
    said = [{"role": each.role, "content": each.content, "at": each.at} for each in heard.spoken]
    ends = [each.end for each in heard.spoken]
    for first in range(0, max(len(said), 1), _MESSAGES_AT_A_TIME):
        last = first + _MESSAGES_AT_A_TIME
        is_last = last >= len(said)
        begins = ends[first - 1] if first else heard.start
        given = {
            **where,
            "said": said[first:last],
            "read": [begins, heard.end if is_last else ends[last - 1]],
            "served": heard.served if is_last else [],
        }
        if not _asked(line, "capture", given)["is_taken"]:
            return False
    return True


def _call(method: str, arguments: dict[str, Any]) -> bytes:
    return json.dumps({"id": 1, "method": method, "arguments": arguments}).encode() + b"\n"


def _asked(line: Line, method: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The engine's answer to one question.

    Raises:
        _TroubleError: it refuses, or goes away.
    """
    try:
        line.send(_call(method, arguments))
        answer = json.loads(line.reader.readline())
    except (OSError, ValueError) as exc:
        raise _TroubleError("the engine went away before it answered") from exc
    if error := answer.get("error"):
        raise _TroubleError(f"{error['message']} ({error['hint']})")
    return dict(answer["result"])


def _hand_over(event: dict[str, Any]) -> None:
    """Have the same done by a process that outlives this one and takes its time."""
    worker = subprocess.Popen(
        [sys.executable, "-P", "-m", "mcp_memory", *sys.argv[1:], _PATIENTLY],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ,
        **apart(),
    )
    if worker.stdin:
        worker.stdin.write(json.dumps(event).encode())
        worker.stdin.close()
