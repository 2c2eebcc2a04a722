"""What was said in a host's transcript: the words of the two sides, without tools and noise. Standard library only.

A transcript is JSON lines, one entry each. Of a turn with tool calls only what the assistant says after the last one
is its answer; what it says on the way tells of its work.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from .transcript_lines import entry_of

# What a host puts into the messages of either side for itself, with all that is in it.
_OF_THE_HOST = re.compile(
    r"<(system-reminder|local-command-stdout|local-command-stderr|local-command-caveat|command-name|command-message"
    r"|command-args|command-contents|ide_[a-z_]+|bash-input|bash-stdout|bash-stderr|task-notification"
    r"|user-prompt-submit-hook|memory-recall|hook_context|session_context)\b[^>]*>.*?</\1>",
    re.DOTALL,
)
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]]{0,40}\]")
_MAX_CHARS, _MANY_MARKS = 20_000, 1_000
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

    A line that is no JSON, or of no known form, is passed over; a last line that is not whole is not read.
    """
    heard = Heard(start=start, end=start)
    own_calls: set[str] = set()
    # What the assistant said since the user's last words or its own last tool call, each by what tells it from others.
    answer: dict[str, Spoken] = {}
    for line in lines:
        entry = entry_of(line)
        # Some hosts write the end of a line with the next one; what is a whole object already cannot grow.
        if entry is None and not line.endswith(b"\n"):
            break
        heard.end += len(line)
        if entry is None:
            continue
        if entry.calls:
            answer.clear()
            own_calls |= {identifier for identifier, tool in entry.calls if tool.endswith(_OWN_TOOLS)}
        for identifier, result in entry.results:
            if identifier in own_calls:
                heard.served += [each for each in _ID.findall(result) if each not in heard.served]
        if entry.summary:
            answer = {key: spoken for key, spoken in answer.items() if spoken.content not in entry.summary}
        said = without_host(entry.text)
        if not said:
            continue
        spoken = Spoken(entry.role, said, entry.at, heard.end)
        if entry.role == "assistant":
            answer[entry.key or str(heard.end)] = spoken
            continue
        heard.spoken += _joined(answer.values())
        answer.clear()
        heard.spoken.append(spoken)
    heard.spoken += _joined(answer.values())
    return heard


def without_host(text: str) -> str:
    """The words of a message without what a host, or the memory, has put into it, stripped.

    >>> without_host("<system-reminder>be good</system-reminder> I moved to Lisbon.")
    'I moved to Lisbon.'
    """
    # Marks that nothing closes would cost time by their square.
    if text.count("<") > _MANY_MARKS:
        text = _shortened(text)
    return _shortened(_INTERRUPTED.sub("", _OF_THE_HOST.sub("", text)).strip())


def _shortened(text: str) -> str:
    """The beginning and the end of a text that is longer than anybody types; what is kept of it is shorter still."""
    return text if len(text) <= _MAX_CHARS else f"{text[: _MAX_CHARS * 3 // 4]}\n…\n{text[-_MAX_CHARS // 4 :]}"


def _joined(parts: Collection[Spoken]) -> Iterator[Spoken]:
    if parts:
        *_, last = parts
        yield Spoken(last.role, "\n\n".join(each.content for each in parts), last.at, last.end)
