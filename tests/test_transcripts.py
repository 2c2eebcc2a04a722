"""What is heard in a transcript: what both sides said, in order, without tools, hosts' notes, and what was served."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.transcripts import hear, without_host

AT = "2026-06-15T12:00:00Z"


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}, "timestamp": AT, **more}


def assistant(*blocks: Any, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return {"type": "assistant", "message": {"role": "assistant", "content": content}, "timestamp": AT, **more}


def call(name: str, identifier: str = "t1") -> dict[str, Any]:
    return {"type": "tool_use", "id": identifier, "name": name, "input": {}}


def result(content: Any, identifier: str = "t1") -> dict[str, Any]:
    return user([{"type": "tool_result", "tool_use_id": identifier, "content": content}])


def written(*entries: Any) -> list[bytes]:
    return [json.dumps(entry).encode() + b"\n" for entry in entries]


def heard(*entries: Any) -> list[tuple[str, str]]:
    return [(said.role, said.content) for said in hear(written(*entries)).spoken]


def test_what_both_sides_say_is_heard_in_order_with_its_time() -> None:
    assert heard(user("I moved to Lisbon."), assistant("Noted.")) == [
        ("user", "I moved to Lisbon."),
        ("assistant", "Noted."),
    ]
    assert hear(written(user("hello"))).spoken[0].at == AT


def test_of_a_turn_with_tools_the_answer_is_what_comes_after_the_last_call() -> None:
    turn = [user("fix it"), assistant("Let me look."), assistant(call("Read")), result("code"), assistant("Now I see.")]
    assert heard(
        *turn, assistant(call("Edit", "t2")), result("ok", "t2"), assistant("Done: "), assistant("it works.")
    ) == [
        ("user", "fix it"),
        ("assistant", "Done:\n\nit works."),
    ]


def test_what_a_tool_returned_is_not_heard_but_ids_that_the_memory_served_are() -> None:
    turn = [user("where do I live?"), assistant(call("mcp__memory__search_memory"))]
    served = result([{"type": "text", "text": '{"memories": [{"id": "d25aw9s4r000", "text": "Lisbon"}]}'}])
    found = hear(written(*turn, served, assistant("In Lisbon.")))
    assert found.served == ["d25aw9s4r000"]
    assert [said.content for said in found.spoken] == ["where do I live?", "In Lisbon."]
    others = hear(written(user("hi"), assistant(call("Bash")), result("d25aw9s4r000"), assistant("Hello.")))
    assert others.served == []


def test_entries_that_a_host_makes_for_itself_are_passed_over() -> None:
    assert (
        heard(
            {"type": "queue-operation", "content": "user prompt"},
            {"type": "attachment", "attachment": {"stdout": "user said"}},
            user("a notice", isMeta=True),
            user("what a helper was told", isSidechain=True),
            user("This session continues …", isCompactSummary=True),
            assistant({"type": "thinking", "thinking": "hmm"}),
            {"type": "user", "message": "no message"},
            ["user"],
            "user",
        )
        == []
    )


def test_what_a_host_or_the_memory_puts_into_a_message_is_taken_out() -> None:
    assert without_host("<system-reminder>\nbe good\n</system-reminder>\nI like tea.") == "I like tea."
    assert without_host("<command-name>/clear</command-name><command-args></command-args>") == ""
    assert without_host("<memory-recall>\nold\n</memory-recall>\nand new") == "and new"
    assert without_host("[Request interrupted by user for tool use]") == ""
    assert without_host("compare a<b and b>c in <div>") == "compare a<b and b>c in <div>"


def test_a_line_without_its_end_is_left_for_the_next_time() -> None:
    lines = written(user("one"), user("two"))
    cut = [lines[0], lines[1][:-5]]
    first = hear(cut)
    assert ([said.content for said in first.spoken], first.end) == (["one"], len(lines[0]))
    rest = hear([lines[1]], first.end)
    assert ([said.content for said in rest.spoken], rest.end) == (["two"], len(lines[0]) + len(lines[1]))


def test_a_last_line_that_is_whole_is_taken_before_its_end_is_written() -> None:
    [line] = written(user("one"))
    first = hear([line.rstrip(b"\n")])
    assert ([said.content for said in first.spoken], first.end) == (["one"], len(line) - 1)
    rest = hear([b"\n", *written(user("two"))], first.end)
    assert ([said.content for said in rest.spoken], rest.end) == (["two"], len(line) + len(written(user("two"))[0]))


def test_lines_that_are_no_json_are_passed_over_and_counted() -> None:
    lines = [b'{"type": "user", broken\n', b"\xff\xfe user\n", *written(user("still there"))]
    found = hear(lines)
    assert [said.content for said in found.spoken] == ["still there"]
    assert found.end == sum(map(len, lines))


@given(st.lists(st.sampled_from(["u", "a", "t"]), max_size=12), st.integers(0, 12))
def test_reading_a_transcript_in_two_parts_at_a_users_message_hears_the_same(kinds: list[str], cut: int) -> None:
    entries = []
    for number, kind in enumerate(kinds):
        entries += {
            "u": [user(f"said {number}")],
            "a": [assistant(f"answer {number}")],
            "t": [assistant(call("Bash", f"t{number}")), result("noise", f"t{number}")],
        }[kind]
    users = [place for place, entry in enumerate(entries) if entry["type"] == "user" and "said" in str(entry)]
    place = users[cut % len(users)] if users else 0
    lines = written(*entries)
    whole, first = hear(lines), hear(lines[:place])
    second = hear(lines[place:], first.end)
    assert first.spoken + second.spoken == whole.spoken
    assert second.end == whole.end


def test_marks_that_nothing_closes_and_endless_texts_cost_no_time_by_their_square() -> None:
    endless = "I like tea. " + "<system-reminder>" * 20_000 + "[Request interrupted by user" * 20_000 + " And cake."
    (said,) = hear(written(user(endless))).spoken
    assert said.content.startswith("I like tea.")
    assert said.content.endswith("And cake.")
    assert len(said.content) < 25_000
