"""The life of a memory as it is told: what changed when and by whom, and what took whose place."""

import pytest

from mcp_memory import pack_changes
from mcp_memory.errors import NotFoundError
from mcp_memory.memory import LocalMemory
from tests.conftest import Clock, Opener
from tests.ollama_server import OllamaServer, facts
from tests.test_queue import open_with
from tests.test_supersede import GRAZ, TURIN, compared, described, move
from tests.test_undo import add


@pytest.fixture
def reading(open_memory: Opener, server: OllamaServer) -> LocalMemory:
    """A memory whose language model is the server."""
    return open_with(open_memory, server)


def test_each_change_tells_what_differs_who_did_it_and_when(memory: LocalMemory, clock: Clock) -> None:
    bees = add(memory, "Greta Hansen keeps bees")
    clock.advance(days=1)
    memory.as_agent("Claude Code").update(bees, text="Pavel Novak keeps bees", importance=0.9)
    clock.advance(days=1)
    memory.delete(bees)
    history = memory.history(bees)
    assert (history.text, history.state, history.notice) == ("Pavel Novak keeps bees", "deleted", "")
    added, updated, deleted = history.entries
    assert (added.operation, added.client, added.at.date().isoformat()) == ("add", "python", "2026-06-15")
    assert {change.name: change.after for change in added.changes} == {
        "text": "Greta Hansen keeps bees", "state": "active", "kind": "note", "importance": 0.5,
    }  # fmt: skip
    assert (updated.operation, updated.client) == ("update", "claude-code")
    assert {change.name: (change.before, change.after) for change in updated.changes} == {
        "text": ("Greta Hansen keeps bees", "Pavel Novak keeps bees"),
        "importance": (0.5, 0.9),
        "names": (["Greta Hansen"], ["Pavel Novak"]),
    }
    assert {change.name: (change.before, change.after) for change in deleted.changes} == {
        "state": ("active", "deleted")
    }


def test_a_deletion_withdraws_what_is_still_said_and_no_more(memory: LocalMemory) -> None:
    dentist = add(memory, "My dentist is called Doctor Amarel")
    memory.update(dentist, text="My dentist is called Doctor Amaral")
    memory.delete(dentist)
    assert [entry.facts for entry in memory.history(dentist).entries] == [
        ("read: the user - dentist - Doctor Amarel",),
        ("withdrawn: the user - dentist - Doctor Amarel", "read: the user - dentist - Doctor Amaral"),
        ("withdrawn: the user - dentist - Doctor Amaral",),
    ]


def test_an_undone_change_says_by_what(memory: LocalMemory) -> None:
    bees = add(memory, "I keep bees")
    changed = memory.update(bees, text="I keep goats").change_id
    undone = memory.undo(changed)
    entries = memory.history(bees).entries
    assert [(entry.operation, entry.undone_by) for entry in entries] == [
        ("add", ""), ("update", undone.change_id), ("undo", ""),
    ]  # fmt: skip
    memory.undo(undone.change_id)
    assert [bool(entry.undone_by) for entry in memory.history(bees).entries] == [False, False, True, False]


def test_what_was_met_again_is_told(memory: LocalMemory) -> None:
    bees = add(memory, "I keep bees", observed_at="2026-01-01")
    memory.add("I keep bees", infer=False, observed_at="2026-03-01")
    assert [(entry.operation, entry.reason) for entry in memory.history(bees).entries] == [
        ("add", ""), ("sight", "met again on 2026-03-01"),
    ]  # fmt: skip


def test_there_and_back_again_is_one_chain_in_order_of_time(reading: LocalMemory, server: OllamaServer) -> None:
    turin = move(reading, server)
    server.script(facts(GRAZ))
    server.script_aside("items", described("Graz"))
    server.script_aside("verdict", compared("changed", "Turin", "Graz"))
    [back] = reading.add("I live in Graz again", observed_at="2026-06-01").results
    assert back.status == "replaced"
    ids = [turin.replaced_id, turin.id, back.id]
    for each in ids:
        chain = reading.history(each).chain
        assert [related.id for related in chain] == ids
        assert [(r.text, str(r.since.date()), r.until and str(r.until.date())) for r in chain] == [
            (GRAZ, "2026-01-05", "2026-05-09"),
            (TURIN, "2026-05-09", "2026-06-01"),
            (GRAZ, "2026-06-01", None),
        ]  # fmt: skip
    history = reading.history(turin.replaced_id)
    assert [(fact.told, fact.state) for fact in history.facts] == [("the user - lives_in - Graz", "ended")]
    assert [words.text for words in history.words] == ["My home is in Graz"]
    assert [line for entry in history.entries for line in entry.facts] == [
        "read: the user - lives_in - Graz", "ended: the user - lives_in - Graz",
    ]  # fmt: skip
    lines = pack_changes.history_lines(history).splitlines()
    assert f'in turn: [{turin.id}] invalid, 2026-05-09 until 2026-06-01: "{TURIN}"' in lines


def test_what_was_read_out_of_the_same_words_is_no_chain(reading: LocalMemory, server: OllamaServer) -> None:
    server.script(facts("The user keeps bees.", "The user's sister Greta lives in Ghent."))
    first, second = reading.add("I keep bees, and my sister Greta lives in Ghent").results
    for each in (first, second):
        history = reading.history(each.id)
        assert [related.id for related in history.chain] == [each.id]
        assert [words.leads_to for words in history.words] == [(first.id, second.id)]


def test_what_was_merged_is_told_from_both_sides(reading: LocalMemory, server: OllamaServer) -> None:
    server.script(facts("The user's dog is called Bruno."), facts("The user has a dog named Bruno."))
    server.script_aside("verdict", compared("same", "Bruno", "Bruno"))
    [first] = reading.add("my dog is called Bruno").results
    reading.add("I have a dog named Bruno")
    [merged] = reading.history(first.id).merged
    assert merged.text == "The user has a dog named Bruno."
    assert [related.id for related in reading.history(merged.id).chain] == [first.id, merged.id]


def test_another_users_memory_has_no_history_here(open_memory: Opener) -> None:
    memory = open_memory()
    bees = add(memory, "I keep bees")
    memory.close()
    with pytest.raises(NotFoundError, match="there is no memory"):
        open_memory(user_id="ben").history(bees)


def test_long_texts_and_many_changes_are_shown_in_part(memory: LocalMemory) -> None:
    long = add(memory, "bees " * 1000)
    for number in range(60):
        memory.update(long, importance=number / 100)
    payload = pack_changes.history_payload(memory.history(long))
    assert len(payload["changes"]) == 50
    assert payload["notice"] == "11 older changes are not shown."
    assert len(str(payload)) < 15_000
