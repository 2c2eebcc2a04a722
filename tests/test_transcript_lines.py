"""What is heard in the transcripts of Codex and Gemini CLI: the same as in any other, by the forms that theirs have."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.transcript_lines import entry_of
from mcp_memory.transcripts import hear
from tests.test_transcripts import AT, written

FOUND = '{"memories": [{"id": "d25aw9s4r000", "text": "Lisbon"}]}'


def item(kind: str, **payload: Any) -> dict[str, Any]:
    """A line of Codex that holds what goes to its model or comes from it."""
    return {"timestamp": AT, "type": "response_item", "payload": {"type": kind, **payload}}


def message(role: str, *texts: str, by: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    """A message of Codex; `by` tells who each of its texts is from, as its newer programs note it."""
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    told = {"content_item_metadata": [{"provenance": {"type": each}} for each in by]}
    noted = {"internal_chat_message_metadata_passthrough": told} if by else {}
    return item("message", role=role, content=content, **noted, **more)


def call(name: str, identifier: str = "c1", **more: Any) -> dict[str, Any]:
    return item("function_call", name=name, call_id=identifier, arguments="{}", **more)


def output(returned: Any, identifier: str = "c1") -> dict[str, Any]:
    return item("function_call_output", call_id=identifier, output=returned)


def typed(*texts: str, **more: Any) -> dict[str, Any]:
    """A line of Gemini CLI with what the user said."""
    return {"id": "u", "timestamp": AT, "type": "user", "content": [{"text": text} for text in texts], **more}


def replied(text: str, key: str, **more: Any) -> dict[str, Any]:
    return {"id": key, "timestamp": AT, "type": "gemini", "content": text, **more}


def ran(name: str, returned: Any = "ok") -> dict[str, Any]:
    """A call of a tool with what it returned, as Gemini CLI adds it to what was said before."""
    response = {"functionResponse": {"name": name, "response": {"output": returned}}}
    return {"toolCalls": [{"id": f"{name}-1", "name": name, "args": {}, "result": [response]}]}


def heard(*entries: Any) -> list[tuple[str, str]]:
    return [(said.role, said.content) for said in hear(written(*entries)).spoken]


def test_in_codex_both_sides_are_heard_and_of_a_turn_with_tools_what_comes_after_the_last_call() -> None:
    turn = (
        message("user", "fix it", by=("user",)),
        message("assistant", "Let me look."),
        call("exec_command"),
        output("code"),
        message("assistant", "Now I see."),
        item("custom_tool_call", name="apply_patch", call_id="c2", input="***"),
        item("custom_tool_call_output", call_id="c2", output="ok"),
        message("assistant", "It is about the loop.", phase="commentary"),
        message("assistant", "It works.", phase="final_answer"),
    )
    assert heard(*turn) == [("user", "fix it"), ("assistant", "It works.")]
    assert {said.at for said in hear(written(*turn)).spoken} == {AT}


@pytest.mark.parametrize(
    "entry",
    [
        message("user", "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>"),
        message("user", "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>"),
        message("user", "<user_instructions>\n\nBe kind.\n\n</user_instructions>"),
        message("user", "Be kind.", "It is Monday.", by=("agents_md", "harness")),
        message("developer", "<memory-recall>\nI moved to Lisbon.\n</memory-recall>", by=("harness",)),
        message("system", "You are helpful."),
        item("reasoning", summary=[{"type": "summary_text", "text": "I am the user"}]),
        {"timestamp": AT, "type": "event_msg", "payload": {"type": "user_message", "message": "said by user"}},
        {"timestamp": AT, "type": "compacted", "payload": {"message": "so far", "replacement_history": ["user"]}},
        {"timestamp": AT, "type": "session_meta", "payload": {"thread_source": "user"}},
        {"timestamp": AT, "type": "response_item", "payload": "message"},
        item("message", role="user", content=None),
        item("message"),
    ],
)
def test_what_codex_or_the_memory_says_for_itself_is_not_heard(entry: Any) -> None:
    assert heard(entry) == []


def test_the_summary_that_codex_has_its_model_write_is_no_answer() -> None:
    summary = "The user keeps three hives."
    compacted = {"timestamp": AT, "type": "compacted", "payload": {"message": f"This is what was done:\n{summary}"}}
    turn = [message("user", "I keep three hives."), message("assistant", "Good.")]
    later = [message("user", "And mead?"), message("assistant", "It keeps.")]
    assert heard(*turn, message("assistant", summary), compacted, *later) == heard(*turn, *later)
    assert heard(*turn, {"type": "compacted", "payload": {"message": ""}}, *later) == heard(*turn, *later)


def test_of_a_message_with_parts_by_codex_those_of_the_user_are_heard() -> None:
    said = message("user", "It is Monday.", "I moved to Lisbon.", by=("harness", "user"))
    assert heard(said) == [("user", "I moved to Lisbon.")]
    # An older program notes nothing of it; what notes something else than was expected hides nothing.
    odd = message("user", "I moved.")
    odd["payload"]["internal_chat_message_metadata_passthrough"] = {"content_item_metadata": [1, 2]}
    assert heard(message("user", "I moved."), odd) == [("user", "I moved."), ("user", "I moved.")]


def test_in_codex_ids_that_the_memory_served_are_heard_and_those_of_other_tools_are_not() -> None:
    own = call("search_memory", namespace="mcp__memory")
    found = hear(written(message("user", "where do I live?"), own, output(f"Output:\n{FOUND}"), output(FOUND)))
    assert found.served == ["d25aw9s4r000"]
    assert hear(written(call("mcp__memory__search_memory"), output([{"text": FOUND}]))).served == ["d25aw9s4r000"]
    assert hear(written(call("exec_command"), output(FOUND))).served == []


def test_in_gemini_both_sides_are_heard_and_of_a_turn_with_tools_what_comes_after_the_last_call() -> None:
    turn = (
        {"sessionId": "one", "kind": "main"},
        typed("fix it"),
        replied("Let me look.", "g1"),
        {"$set": {"lastUpdated": AT}},
        replied("Let me look.", "g1", **ran("read_file")),
        {"type": "user", "id": "u2", "content": [{"functionResponse": {"name": "read_file", "response": {}}}]},
        replied("It works.", "g2"),
        # The same once more, with the tokens that it took.
        replied("It works.", "g2", tokens={"total": 15}),
    )
    assert heard(*turn) == [("user", "fix it"), ("assistant", "It works.")]


@pytest.mark.parametrize(
    "entry",
    [
        {"$set": {"messages": [typed("<session_context>\nIt is Monday.\n</session_context>")]}},
        typed("<session_context>\nIt is Monday.\n</session_context>"),
        typed("Please continue.", displayContent=[{"text": "what was said before"}]),
        {"id": "i", "type": "info", "content": "The user is told."},
        {"id": "e", "type": "error", "content": 'no "user"'},
        replied("", "g1", thoughts=[{"subject": "the user"}]),
        {"id": "g", "type": "gemini", "content": None},
        {"id": "g", "type": "gemini", "content": [{"text": "Binary content received.", "thought": True}]},
    ],
)
def test_what_gemini_writes_for_itself_is_not_heard(entry: Any) -> None:
    assert heard(entry) == []


def test_in_gemini_what_was_recalled_is_taken_out_and_of_files_only_their_names_are_heard() -> None:
    recalled = "<hook_context>&lt;memory-recall&gt;\nold\n&lt;/memory-recall&gt;</hook_context>\n\nI like tea."
    assert heard(typed(recalled)) == [("user", "I like tea.")]
    assert heard(typed("I like tea.", "<hook_context>old</hook_context>")) == [("user", "I like tea.")]
    filled = typed(
        "read @a.txt", "--- Content from referenced files ---", "noise", displayContent=[{"text": "read @a.txt"}]
    )
    assert heard(filled) == [("user", "read @a.txt")]


def test_in_gemini_ids_that_the_memory_served_are_heard_once() -> None:
    asked = replied("", "g1", **ran("mcp_memory_search_memory", FOUND))
    assert hear(written(asked, asked)).served == ["d25aw9s4r000"]
    assert hear(written(replied("", "g1", **ran("read_file", FOUND)))).served == []


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["message", "user", "assistant"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "role", "content", "text", "payload", "message", "toolCalls", "result", "call_id"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(st.sampled_from(["user", "assistant", "gemini", "response_item", "compacted"]), st.dictionaries(
    st.sampled_from(["payload", "message", "content", "toolCalls", "displayContent", "timestamp", "id"]), anything
))  # fmt: skip
def test_no_line_of_whatever_form_is_too_odd_to_be_read(kind: str, rest: dict[str, Any]) -> None:
    line = json.dumps({"type": kind, **rest}).encode() + b"\n"
    entry = entry_of(line)
    assert entry is None or entry.role in ("user", "assistant")
    assert hear([line]).end == len(line)


@given(st.lists(st.sampled_from(["u", "a", "t"]), max_size=12), st.integers(0, 12), st.booleans())
def test_reading_in_two_parts_at_a_users_message_hears_the_same(kinds: list[str], cut: int, is_codex: bool) -> None:
    entries: list[dict[str, Any]] = []
    users = [0]
    for number, kind in enumerate(kinds):
        if kind == "u":
            users.append(len(entries))
        if is_codex:
            entries += {
                "u": [message("user", f"said {number}")],
                "a": [message("assistant", f"answer {number}")],
                "t": [call("exec_command", f"c{number}"), output("noise", f"c{number}")],
            }[kind]
        else:
            entries += {
                "u": [typed(f"said {number}")],
                "a": [replied(f"answer {number}", f"g{number}")],
                "t": [replied("", f"g{number}", **ran("read_file"))],
            }[kind]
    lines = written(*entries)
    place = users[cut % len(users)]
    whole, first = hear(lines), hear(lines[:place])
    second = hear(lines[place:], first.end)
    assert first.spoken + second.spoken == whole.spoken
    assert second.end == whole.end
