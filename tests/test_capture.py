"""Automatic capture: what was said is stored once, without secrets, noise and what the user excludes."""

from typing import Any

import pytest

from mcp_memory.errors import InvalidInputError
from mcp_memory.memory import LocalMemory
from mcp_memory.overheard import MAX_CHARS
from tests.conftest import Clock, Opener

LISBON = {"role": "user", "content": "I moved to Lisbon.", "at": "2026-06-15T11:58:00Z"}
NOTED = {"role": "assistant", "content": "Noted, Lisbon it is.", "at": "2026-06-15T11:58:10Z"}


def texts(memory: LocalMemory) -> list[str]:
    return [record.text for record in reversed(memory.list())]


def test_what_both_sides_said_is_found_with_its_conversation_project_and_time(memory: LocalMemory) -> None:
    memory.capture([LISBON, NOTED], conversation="one", folder="/home/ana/src/larkspur")
    first, second = reversed(memory.list())
    assert (first.text, first.role, first.run_id, first.state) == ("I moved to Lisbon.", "user", "one", "raw")
    assert (second.text, second.role) == ("Noted, Lisbon it is.", "assistant")
    assert first.metadata == {"captured": True, "project": "larkspur"}
    assert first.observed_at.isoformat() == "2026-06-15T11:58:00+00:00"
    assert memory.search("Where did I move?").hits[0].memory.id == first.id
    assert memory.stats()["jobs"] == 1


def test_a_part_of_a_transcript_that_was_taken_in_is_not_taken_in_twice(memory: LocalMemory) -> None:
    assert memory.capture([LISBON], conversation="one", read=(0, 100)).is_taken
    assert memory.capture_point("one").offset == 100
    again = memory.capture([LISBON, NOTED], conversation="one", read=(0, 150))
    assert (again.is_taken, texts(memory)) == (False, ["I moved to Lisbon."])
    assert memory.capture([NOTED], conversation="one", read=(100, 150)).is_taken
    assert texts(memory) == ["I moved to Lisbon.", "Noted, Lisbon it is."]


def test_a_transcript_that_was_written_anew_is_taken_in_from_its_start(memory: LocalMemory) -> None:
    memory.capture([LISBON], conversation="one", read=(0, 1000))
    assert memory.capture([LISBON, NOTED], conversation="one", read=(0, 200)).is_taken
    assert texts(memory) == ["I moved to Lisbon.", "Noted, Lisbon it is."]
    assert memory.capture_point("one").offset == 200


def test_secrets_are_taken_out_before_anything_is_stored(memory: LocalMemory) -> None:
    memory.capture([{"role": "user", "content": "My wifi password is hunter2 and I like tea."}], conversation="one")
    assert texts(memory) == ["My wifi password is [secret] and I like tea."]
    with memory.stores.log.reading() as connection:
        stored = str(connection.exec_driver_sql("SELECT group_concat(messages) FROM episodes").scalar())
    assert "hunter2" not in stored


@pytest.mark.parametrize("said", ["ok, thanks!", "Can you run the tests?", "yes", "```\nx = 1\n```"])
def test_what_says_nothing_becomes_no_memory(memory: LocalMemory, said: str) -> None:
    captured = memory.capture([{"role": "user", "content": said}], conversation="one")
    assert [receipt.status for receipt in captured.receipts] == ["ignored"]
    assert texts(memory) == []


def test_what_says_nothing_beside_what_does_stays_with_the_episode_for_the_model_to_read(memory: LocalMemory) -> None:
    memory.capture([{"role": "user", "content": "What is the capital of Portugal?"}, LISBON], conversation="one")
    assert texts(memory) == ["I moved to Lisbon."]
    with memory.stores.log.reading() as connection:
        stored = str(connection.exec_driver_sql("SELECT messages FROM episodes").scalar())
    assert "What is the capital of Portugal?" in stored


def test_what_a_user_excludes_is_stored_nowhere(open_memory: Opener) -> None:
    memory = open_memory(exclude_text=["nightjar"])
    said = [LISBON, {"role": "user", "content": "Project Nightjar ships in May."}]
    captured = memory.capture(said, conversation="one")
    assert "exclude_text" in captured.receipts[0].reason
    assert texts(memory) == ["I moved to Lisbon."]
    with memory.stores.log.reading() as connection:
        stored = str(connection.exec_driver_sql("SELECT group_concat(messages) FROM episodes").scalar())
    assert "Nightjar" not in stored


def test_of_a_long_paste_beginning_and_end_are_kept(memory: LocalMemory) -> None:
    pasted = "I pasted this: " + "word " * 5_000 + "and that is the end."
    memory.capture([{"role": "user", "content": pasted}], conversation="one")
    (text,) = texts(memory)
    assert len(text) <= MAX_CHARS
    assert text.startswith("I pasted this:")
    assert text.endswith("and that is the end.")


def test_a_conversation_over_two_days_tells_each_day(memory: LocalMemory) -> None:
    before = {"role": "user", "content": "My flight is tomorrow.", "at": "2026-06-13T23:00:00Z"}
    memory.capture([before, LISBON], conversation="one")
    assert [record.observed_at.day for record in reversed(memory.list())] == [13, 15]


def test_a_time_to_come_or_none_counts_as_now(memory: LocalMemory, clock: Clock) -> None:
    said = [LISBON | {"at": "2031-01-01T00:00:00Z"}, NOTED | {"at": "yesterday, I think"}]
    memory.capture(said, conversation="one")
    assert {record.observed_at for record in memory.list()} == {clock.now}


@pytest.mark.parametrize(
    "message", [{"role": "tool", "content": "x"}, {"content": "x"}, {"role": "user", "content": 1}]
)
def test_what_is_no_message_is_refused_and_nothing_stored(memory: LocalMemory, message: Any) -> None:
    with pytest.raises(InvalidInputError, match="message 1"):
        memory.capture([LISBON, message], conversation="one")
    assert texts(memory) == []


@pytest.mark.parametrize("capture", ["turn", "conversation", "off"])
def test_when_it_captures_is_a_setting(open_memory: Opener, capture: str) -> None:
    memory = open_memory(capture=capture)
    assert memory.capture_point("one").when == capture
    memory.capture([LISBON], conversation="one")
    assert bool(texts(memory)) is (capture != "off")


def test_a_paused_client_is_neither_given_nor_captured_anything_and_others_are(memory: LocalMemory) -> None:
    code, desk = memory.as_agent("claude-code"), memory.as_agent("claude-desktop")
    memory.pause("Claude Code")
    assert code.capture([LISBON], conversation="one").reason.startswith("the memory is paused")
    assert code.capture_point("one").when == "off"
    assert "paused" in code.remind("where do I live?", conversation="one").reason
    assert desk.capture([LISBON], conversation="two").is_taken
    assert memory.resume("claude-code")
    assert not memory.resume("claude-code")
    assert code.capture_point("one").when == "turn"


def test_a_pause_without_a_name_is_everybodys_and_resuming_ends_all(memory: LocalMemory) -> None:
    memory.pause()
    memory.pause("pi")
    assert list(memory.paused()) == ["", "pi"]
    assert memory.as_agent("cursor").capture_point("one").when == "off"
    assert memory.resume()
    assert memory.paused() == {}


def test_what_no_store_can_hold_is_taken_in_all_the_same(memory: LocalMemory) -> None:
    said = {"role": "user", "content": "I like tea \ud800 and \x00 cake.", "at": "\ud800"}
    memory.capture([said], conversation="one \ud800", folder="/srv/\udfff")
    assert texts(memory) == ["I like tea � and � cake."]
    assert "tea" in memory.remind("do I like tea \ud800?", conversation="two", folder="/srv/x/\udfff").text


def test_an_answer_of_few_words_becomes_no_memory(memory: LocalMemory) -> None:
    memory.capture([LISBON, {"role": "assistant", "content": "You're welcome."}], conversation="one")
    assert texts(memory) == ["I moved to Lisbon."]
