"""One line of a host's transcript: the forms in which Claude Code, Codex and Gemini CLI write them. Pure.

Which form a line has shows in the line itself. What no form has is passed over: hosts add to theirs all the time.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

# Most of a long transcript is something else, and need not be read.
_MARKS = (b'"user"', b'"assistant"', b'"response_item"', b'"compacted"', b'"gemini"')
# What Claude Code writes for itself: a notice, a helper's work, a summary, an error.
_NOTICES = ("isMeta", "isSidechain", "isCompactSummary", "isApiErrorMessage")
# So begins what Codex, and at last Gemini CLI, say in the user's name; not all of their programs mark it otherwise.
_IN_THE_USERS_NAME = (
    "<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<INSTRUCTIONS>", "<skill>",
    "<user_shell_command>", "<turn_aborted>", "<subagent_notification>",
    "System: Potential loop detected.",
)  # fmt: skip
_NUDGES = ("Please continue.", "System: Please continue.")


@dataclass(frozen=True, slots=True)
class Entry:
    """What a line tells: a text of one side, calls of tools before it, or what calls returned.

    `role` is `user` or `assistant`, `at` ISO 8601 or ''. `calls` are (id, name of the tool), `results` (id, what came
    back as JSON). An entry that a host writes again with more in it has the same `key`; '' where it never does. In
    `summary` stands, among other words, what the assistant said before for the host alone.
    """

    role: str
    text: str = ""
    at: str = ""
    key: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    results: tuple[tuple[str, str], ...] = ()
    summary: str = ""


def entry_of(line: bytes) -> Entry | None:
    """The entry of a line; None for one that is no part of a conversation, or no JSON.

    >>> entry_of(b'{"type": "user", "message": {"content": "I moved."}}')
    Entry(role='user', text='I moved.', at='', key='', calls=(), results=(), summary='')
    """
    if not any(mark in line for mark in _MARKS):
        return None
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict):
        return None
    kind, at = entry.get("type"), str(entry.get("timestamp") or "")
    if kind in ("user", "assistant") and isinstance(message := entry.get("message"), dict):
        return _of_claude(kind, entry, message, at)
    if kind == "response_item" and isinstance(payload := entry.get("payload"), dict):
        return _of_codex(payload, at)
    if kind == "compacted" and isinstance(payload := entry.get("payload"), dict):
        return Entry("assistant", summary=str(payload.get("message") or ""))
    if kind in ("user", "gemini") and "content" in entry:
        return _of_gemini(kind, entry, at)
    return None


def _of_claude(role: str, entry: dict[str, Any], message: dict[str, Any], at: str) -> Entry:
    blocks = _blocks(message.get("content"))
    is_notice = any(entry.get(name) for name in _NOTICES)
    return Entry(
        role,
        "" if is_notice else _text(block for block in blocks if block.get("type") == "text"),
        at,
        calls=tuple(
            (str(block.get("id")), str(block.get("name")))
            for block in blocks
            if role == "assistant" and block.get("type") == "tool_use"
        ),
        results=tuple(
            (str(block.get("tool_use_id")), json.dumps(block.get("content")))
            for block in blocks
            if block.get("type") == "tool_result"
        ),
    )


def _of_codex(payload: dict[str, Any], at: str) -> Entry | None:
    kind, identifier = str(payload.get("type")), str(payload.get("call_id"))
    if kind.endswith("_call_output"):
        return Entry("user", results=((identifier, json.dumps(payload.get("output"))),))
    if kind.endswith("_call"):
        return Entry("assistant", calls=((identifier, str(payload.get("name"))),))
    role, blocks = payload.get("role"), _blocks(payload.get("content"))
    if kind != "message" or role not in ("user", "assistant"):
        return None
    if role == "user":
        blocks = [block for block, by in zip(blocks, _sources(payload, len(blocks)), strict=True) if by == "user"]
        blocks = _by_the_user(blocks)
    elif payload.get("phase") == "commentary":
        # It tells of the work.
        return None
    return Entry(str(role), _text(blocks), at)


def _sources(payload: dict[str, Any], n_blocks: int) -> list[str]:
    """Who each block of a user's message is from; where nothing is said of it, the user."""
    passed = payload.get("internal_chat_message_metadata_passthrough")
    told = passed.get("content_item_metadata") if isinstance(passed, dict) else None
    if not isinstance(told, list) or len(told) != n_blocks:
        return ["user"] * n_blocks
    origins = [each.get("provenance") if isinstance(each, dict) else None for each in told]
    return [str(origin.get("type")) if isinstance(origin, dict) else "user" for origin in origins]


def _of_gemini(kind: str, entry: dict[str, Any], at: str) -> Entry:
    said = [block for block in _blocks(entry.get("content")) if not block.get("thought")]
    if kind == "user" and (said := _by_the_user(said)):
        # What they typed, where it was filled up with files for the model.
        said = _blocks(entry.get("displayContent")) or said
    calls = _blocks(entry.get("toolCalls"))
    return Entry(
        "user" if kind == "user" else "assistant",
        # What is said in the same breath as a call is said before it.
        "" if calls else _text(said),
        at,
        str(entry.get("id") or ""),
        calls=tuple((str(call.get("id")), str(call.get("name"))) for call in calls),
        results=tuple((str(call.get("id")), json.dumps(call.get("result"))) for call in calls),
    )


def _blocks(content: object) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _by_the_user(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    said = ((block, str(block.get("text")).strip()) for block in blocks)
    return [block for block, text in said if text not in _NUDGES and not text.startswith(_IN_THE_USERS_NAME)]


def _text(blocks: Iterable[dict[str, Any]]) -> str:
    return "\n".join(block["text"] for block in blocks if isinstance(block.get("text"), str))
