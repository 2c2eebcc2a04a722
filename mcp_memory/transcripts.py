"""What was said in a host's transcript: the words of the two sides, without tools and noise. Standard library only.

A transcript is JSON lines, one entry each, as Claude Code writes them. Of a turn with tool calls only what the
assistant says after the last one is its answer; what it says on the way tells of its work.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

# What a host puts into the messages of either side for itself, with all that is in it.
_OF_THE_HOST = re.compile(
    r"<(system-reminder|local-command-stdout|local-command-stderr|local-command-caveat|command-name|command-message"
    r"|command-args|command-contents|ide_[a-z_]+|bash-input|bash-stdout|bash-stderr|task-notification"
    r"|user-prompt-submit-hook|memory-recall)\b[^>]*>.*?</\1>",
    re.DOTALL,
)
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]]*\]")
_ID = re.compile(r"(?<![0-9a-z])[0-9a-hjkmnp-tv-z]{12}(?![0-9a-z])")
_OWN_TOOLS = ("search_memory", "add_memory", "get_memory", "list_memories", "update_memory")


@dataclass(frozen=True, slots=True)
class Spoken:
    """What one side said: `role` is `user` or `assistant`, `at` ISO 8601 or '', `end` the offset after it in bytes."""

    role: str
    content: str
    at: str
    end: int


@dataclass(slots=True)
class Heard:
    """What a part of a transcript holds.

    It was read from offset `start` up to `end`, which is the end of a line. `served` are the ids of memories that the
    tools of the memory returned in it.
    """

    spoken: list[Spoken] = field(default_factory=list)
    served: list[str] = field(default_factory=list)
    start: int = 0
    end: int = 0


def hear(lines: Iterable[bytes], start: int = 0) -> Heard:
    """What whole lines of a transcript say, the first of which begins at the offset `start`.

    An entry that is no JSON, or of no known form, is passed over; a last line without its end is not read.
    """
    heard = Heard(start=start, end=start)
    own_calls: set[str] = set()
    # What the assistant said since the user's last words or its own last tool call.
    answer: list[Spoken] = []
    for line in lines:
        if not line.endswith(b"\n"):
            break
        heard.end += len(line)
        entry = _entry(line)
        if entry is None:
            continue
        role, blocks = entry["type"], _blocks(entry["message"].get("content"))
        for block in blocks:
            if role == "assistant" and block.get("type") == "tool_use":
                answer.clear()
                if str(block.get("name")).endswith(_OWN_TOOLS):
                    own_calls.add(str(block.get("id")))
            elif block.get("type") == "tool_result" and block.get("tool_use_id") in own_calls:
                heard.served += _ID.findall(json.dumps(block.get("content")))
        said = without_host(_text(blocks))
        if not said or _is_of_the_host(entry):
            continue
        spoken = Spoken(role, said, str(entry.get("timestamp") or ""), heard.end)
        if role == "assistant":
            answer.append(spoken)
            continue
        heard.spoken += _joined(answer)
        answer.clear()
        heard.spoken.append(spoken)
    heard.spoken += _joined(answer)
    return heard


def without_host(text: str) -> str:
    """The words of a message without what a host, or the memory, has put into it, stripped.

    >>> without_host("<system-reminder>be good</system-reminder> I moved to Lisbon.")
    'I moved to Lisbon.'
    """
    return _INTERRUPTED.sub("", _OF_THE_HOST.sub("", text)).strip()


def _entry(line: bytes) -> dict[str, Any] | None:
    """The entry of a line where it is one of the conversation between user and assistant."""
    # Most of a long transcript is something else, and need not be read.
    if b'"user"' not in line and b'"assistant"' not in line:
        return None
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    is_said = isinstance(entry, dict) and entry.get("type") in ("user", "assistant")
    return entry if is_said and isinstance(entry.get("message"), dict) else None


def _is_of_the_host(entry: dict[str, Any]) -> bool:
    """Whether a host made an entry for itself: a notice, a summary, a helper's work."""
    return any(entry.get(name) for name in ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage"))


def _blocks(content: object) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _text(blocks: list[dict[str, Any]]) -> str:
    return "\n".join(str(block.get("text") or "") for block in blocks if block.get("type") == "text")


def _joined(answer: list[Spoken]) -> Iterator[Spoken]:
    if answer:
        last = answer[-1]
        yield Spoken(last.role, "\n\n".join(each.content for each in answer), last.at, last.end)
