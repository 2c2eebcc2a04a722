"""Undoing: what a change touched is as it was, under the same ids; what stands in the way is named."""

import tempfile
import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from mcp_memory.embedder import Embedder
from mcp_memory.errors import ConflictError, NotFoundError
from mcp_memory.index import load_index
from mcp_memory.knowledge import facts_of_types, sightings_of
from mcp_memory.memory import LocalMemory
from mcp_memory.records import STATES
from mcp_memory.schema import aliases, as_json, entities, entity_links, facts, memories
from tests.conftest import Clock, Opener
from tests.ollama_server import OllamaServer
from tests.ollama_server import facts as statements
from tests.test_queue import open_with, texts
from tests.test_supersede import GRAZ, TURIN, compared, described, move


def last_change(memory: LocalMemory, memory_id: str) -> str:
    """The id of the last change of a memory."""
    return memory.history(memory_id).entries[-1].change_id


def add(memory: LocalMemory, text: str, **given: Any) -> str:
    """The id of a new memory."""
    [receipt] = memory.add(text, infer=False, **given).results
    assert receipt.status == "added"
    return receipt.id


def found(memory: LocalMemory, query: str) -> list[str]:
    result = memory.search(query)
    assert result.degraded == (), result.notice
    return [hit.memory.text for hit in result.hits]


# What is compared of rows: all but what every change writes anew.
ANEW = ("revision", "updated_at")


def rows(memory: LocalMemory) -> dict[str, list[dict[str, Any]]]:
    """Everything that the log holds of a user's memories, facts and names."""
    own = select(entities.c.id).where(entities.c.user_id == memory.user_id)
    with memory.stores.log.reading() as connection:
        return {
            table.name: sorted(
                (
                    {name: value for name, value in as_json(dict(row)).items() if name not in ANEW}
                    for row in connection.execute(
                        select(table).where(
                            table.c.entity_id.in_(own)
                            if table in (aliases, entity_links)
                            else table.c.user_id == memory.user_id
                        )
                    ).mappings()
                ),
                key=str,
            )
            for table in (memories, facts, entities, aliases, entity_links)
        }


def in_memory(memory: LocalMemory) -> tuple[Any, ...]:
    """What the index in memory says, in a form that does not depend on the numbers of rows."""
    live = memory.stores.index_of(memory.user_id)
    anew = load_index(memory.user_id, memory.stores.log, live.dimension)

    def told(index: Any) -> tuple[Any, ...]:
        def neighbour(column: str, row: int) -> str:
            place = int(index.column(column)[row])
            return index.ids[place] if place >= 0 else ""

        names = index.names
        return (
            {i: (neighbour("previous", r), neighbour("next", r)) for i, r in index.row_of.items()},
            {i: sorted(index.keywords._documents[r]) for i, r in index.row_of.items()},
            {key: sorted(owners) for key, owners in names._by_key.items()},
            {e: sorted(index.ids[row] for row in names.rows(e)) for e in names.entities},
            dict(+index.languages),
        )

    assert told(live) == told(anew)
    assert live.count_without_vector() == 0
    return told(live)


TEXTS = (
    "Greta Hansen keeps bees in Ghent",
    "Greta Hansen moved to Bruges with Pavel Novak",
    "PostgreSQL 16 runs the shop",
    "Postgresql-16 is slow on Mondays",
    "Pavel Novak repairs bicycles",
    "the kettle is blue",
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(("add", "add", "in a run", "delete", "update", "undo")),
        st.integers(0, 5),
        st.sampled_from(TEXTS),
    ),
    min_size=1,
    max_size=9,
)


@pytest.fixture(scope="module")
def shared(embedder: Embedder) -> Iterator[tuple[LocalMemory, Clock]]:
    """A folder for all examples of the property, each of which is another user's."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder, LocalMemory.open(folder, clock=clock, embedder=embedder) as memory:
        yield memory, clock
        # What all examples have left behind.
        memory.settle()
        assert memory.verify().differences == ()


@given(steps=STEPS)
@settings(max_examples=15)
def test_undoing_everything_in_reverse_leads_back_to_nothing_and_redoing_it_to_the_same_rows(
    shared: tuple[LocalMemory, Clock], steps: list[tuple[str, int, str]]
) -> None:
    folder, clock = shared
    memory = folder.as_client(folder.settings.model_copy(update={"user_id": uuid.uuid4().hex}), "test")
    changes: list[str] = []
    for step, number, text in steps:
        clock.advance(hours=1)
        before = rows(memory)
        changed = carry_out(memory, step, number, text, changes)
        assert bool(changed) == (rows(memory) != before)
        changes += changed
    at_the_end, index = rows(memory), in_memory(memory)
    undone = [memory.undo(change).change_id for change in reversed(changes)]
    assert memory.list() == []
    assert {record.state for record in memory.list(states=STATES)} <= {"deleted"}
    nothing: list[Any] = []
    assert {name: found for name, found in rows(memory).items() if name != "memories"} == {
        "facts": nothing, "entities": nothing, "aliases": nothing, "entity_links": nothing
    }  # fmt: skip
    assert "Nothing is remembered" in memory.search("bees in Ghent").notice
    for change in reversed(undone):
        memory.undo(change)
    assert rows(memory) == at_the_end
    assert in_memory(memory) == index


def carry_out(memory: LocalMemory, step: str, number: int, text: str, changes: list[str]) -> list[str]:
    """One step of a random sequence; the id of its change, if it made one."""
    known = memory.list()
    chosen = known[number % len(known)].id if known else ""
    if step in ("add", "in a run"):
        [receipt] = memory.add(text, infer=False, run_id="r1" if step == "in a run" else "").results
        return [last_change(memory, receipt.id)] if receipt.status == "added" else []
    if step == "undo":
        return undo_any(memory, changes, number)
    if not chosen:
        return []
    if step == "delete":
        memory.delete(chosen)
        return [last_change(memory, chosen)]
    if any(record.text == text for record in known):
        return []
    return [change for change in [memory.update(chosen, text=text).change_id] if change]


def undo_any(memory: LocalMemory, changes: list[str], number: int) -> list[str]:
    if not changes:
        return []
    try:
        return [memory.undo(changes[number % len(changes)]).change_id]
    except ConflictError:
        return []


def test_an_undone_add_leaves_no_trace_in_search_and_comes_back_under_its_id(memory: LocalMemory) -> None:
    bees = add(memory, "Greta Hansen keeps bees")
    undone = memory.undo(last_change(memory, bees))
    assert [(row.id, row.former_state, row.state) for row in undone.rows] == [(bees, "active", "deleted")]
    assert memory.search("bees").hits == ()
    assert memory.stats()["entities"] == 0
    memory.undo(undone.change_id)
    assert [hit.memory.id for hit in memory.search("Who is a beekeeper?").hits] == [bees]
    assert memory.stats()["entities"] == 1


def test_what_was_deleted_is_found_by_meaning_at_once_also_in_a_folder_opened_again(open_memory: Opener) -> None:
    memory = open_memory()
    bees = add(memory, "Greta Hansen keeps bees")
    memory.delete(bees)
    change = last_change(memory, bees)
    memory.close()
    memory = open_memory()
    memory.undo(change)
    assert found(memory, "Who is a beekeeper?") == ["Greta Hansen keeps bees"]
    memory.settle()
    assert not memory.stores.is_behind
    assert memory.verify().differences == ()


def test_later_changes_that_stand_in_the_way_are_named_the_latest_first(memory: LocalMemory, clock: Clock) -> None:
    bees = add(memory, "I keep bees")
    added = last_change(memory, bees)
    clock.advance(days=1)
    first = memory.update(bees, text="I keep goats").change_id
    second = memory.update(bees, importance=0.9).change_id
    with pytest.raises(ConflictError, match=f"since then came {second} .update, 2026-06-16., {first} ") as refused:
        memory.undo(added)
    assert refused.value.hint == "undo those, in this order, first"
    assert memory.get(bees).text == "I keep goats"
    undone = memory.undo(second)
    with pytest.raises(ConflictError, match=f"since then came {first} .update, 2026-06-16. .undo that first"):
        memory.undo(added)
    memory.undo(first)
    memory.undo(added)
    # What was undone meanwhile is not in the way of what is to come back.
    with pytest.raises(ConflictError, match="is no longer as change"):
        memory.undo(undone.change_id)


def test_what_was_met_again_since_is_not_in_the_way_and_is_not_named(memory: LocalMemory, clock: Clock) -> None:
    bees = add(memory, "I keep bees", observed_at="2026-01-01")
    added = last_change(memory, bees)
    memory.add("I keep bees", infer=False, observed_at="2026-03-01")
    changed = memory.update(bees, importance=0.9).change_id
    with pytest.raises(ConflictError, match=f"since then came {changed} .update, 2026-06-15. .undo that first"):
        memory.undo(added)
    memory.undo(changed)
    assert memory.undo(added).rows[0].state == "deleted"


def test_waiting_words_that_were_given_again_to_be_kept_are_not_undone_with_their_first_add(
    memory: LocalMemory,
) -> None:
    [receipt] = memory.add("I keep bees").results
    added = last_change(memory, receipt.id)
    memory.add("I keep bees", infer=False)
    kept = last_change(memory, receipt.id)
    with pytest.raises(ConflictError, match=f"since then came {kept} .add"):
        memory.undo(added)
    memory.undo(kept)
    # Their job waits as before.
    assert memory.get(receipt.id).state == "raw"
    memory.undo(added)
    assert memory.stats()["jobs"] == 0


def test_what_is_undone_twice_is_told_how_to_have_it_back(memory: LocalMemory) -> None:
    change = last_change(memory, add(memory, "I keep bees"))
    undone = memory.undo(change)
    with pytest.raises(ConflictError, match="was undone already, on 2026-06-15") as refused:
        memory.undo(change)
    assert undone.change_id in refused.value.hint


def test_a_memorys_id_is_no_changes_id_and_its_last_change_is_named(memory: LocalMemory) -> None:
    bees = add(memory, "I keep bees")
    change = last_change(memory, bees)
    with pytest.raises(NotFoundError, match="is the id of a memory") as refused:
        memory.undo(bees)
    assert f"its last change that stands is {change} (add, 2026-06-15)" in refused.value.hint
    memory.undo(change)
    with pytest.raises(NotFoundError, match="no change of it is left to undo"):
        memory.undo(bees)


@pytest.mark.parametrize(("identifier", "told"), [("soon", "is no change id"), ("000000000000", "there is no change")])
def test_an_id_that_is_none_is_told_of(memory: LocalMemory, identifier: str, told: str) -> None:
    with pytest.raises(NotFoundError, match=told):
        memory.undo(identifier)


def test_another_users_change_is_as_good_as_none(open_memory: Opener) -> None:
    memory = open_memory()
    change = last_change(memory, add(memory, "I keep bees"))
    memory.close()
    theirs = open_memory(user_id="ben")
    with pytest.raises(NotFoundError, match="there is no change"):
        theirs.undo(change)


def test_a_change_whose_events_have_been_dropped_is_told_of(open_memory: Opener, clock: Clock) -> None:
    memory = open_memory(keep_events_days=30)
    bees = add(memory, "I keep bees")
    change = last_change(memory, bees)
    clock.advance(days=40)
    goats = add(memory, "I keep goats")
    memory.settle()
    while memory.stores.log.drop_events(clock() - timedelta(days=30)):
        pass
    # What LanceDB may still have to learn is kept until its files are safe.
    memory.close()
    memory = open_memory(keep_events_days=30)
    while memory.stores.log.drop_events(clock() - timedelta(days=30)):
        pass
    with pytest.raises(NotFoundError, match=r"there is no change .* the history begins on 2026-07-25"):
        memory.undo(change)
    assert "Nothing is left of its history" in memory.history(bees).notice
    assert memory.history(goats).notice == ""


def test_a_name_that_was_brought_again_meanwhile_stays_one_name(memory: LocalMemory) -> None:
    first = add(memory, "Greta Hansen keeps bees")
    memory.delete(first)
    second = add(memory, "Greta Hansen keeps goats")
    undone = memory.undo(last_change(memory, first))
    [greta] = memory.stores.log.get_entities("ana")
    assert greta.n_linked == 2
    memory.undo(undone.change_id)
    memory.undo(last_change(memory, second))
    memory.undo(memory.history(first).entries[1].change_id)
    [greta] = memory.stores.log.get_entities("ana")
    assert (greta.name, greta.n_linked) == ("Greta Hansen", 1)
    memory.undo(memory.history(first).entries[0].change_id)
    assert memory.stores.log.get_entities("ana") == []
    in_memory(memory)


def test_an_undone_add_of_waiting_words_cancels_their_job(memory: LocalMemory) -> None:
    [receipt] = memory.add("I keep bees").results
    assert receipt.status == "queued"
    change = last_change(memory, receipt.id)
    undone = memory.undo(change)
    assert memory.stats()["jobs"] == 0
    # Nothing would read them if they waited.
    redone = memory.undo(undone.change_id)
    assert memory.get(receipt.id).state == "active"
    assert "word for word, and not read by the language model again" in redone.notice
    memory.undo(redone.change_id)
    assert memory.list() == []


def test_a_sighting_is_taken_back_and_met_again(memory: LocalMemory) -> None:
    bees = add(memory, "I keep bees", observed_at="2026-01-01")
    memory.add("I keep bees", infer=False, observed_at="2026-03-01")
    log = memory.stores.log
    assert [str(at.date()) for at in sightings_of(log, [bees])[bees]] == ["2026-03-01"]
    undone = memory.undo(last_change(memory, bees))
    assert "is as it was before" in undone.notice
    assert sightings_of(log, [bees]) == {}
    memory.undo(undone.change_id)
    assert [str(at.date()) for at in sightings_of(log, [bees])[bees]] == ["2026-03-01"]
    assert [entry.reason for entry in memory.history(bees).entries if entry.operation == "unsight"] == [
        "not met again after all on 2026-03-01"
    ]


@pytest.fixture
def reading(open_memory: Opener, server: OllamaServer) -> LocalMemory:
    """A memory whose language model is the server."""
    return open_with(open_memory, server)


def test_an_undone_replacement_brings_the_old_truth_back_with_its_facts(
    reading: LocalMemory, server: OllamaServer
) -> None:
    receipt = move(reading, server)
    undone = reading.undo(last_change(reading, receipt.id))
    graz = reading.get(receipt.replaced_id)
    assert (graz.state, graz.invalid_at, graz.closed_at, graz.superseded_by) == ("active", None, None, "")
    assert GRAZ in found(reading, "Where does the user live?")
    [home] = facts_of_types(reading.stores.log, "ana", ["home"])
    assert (home.object, home.closed_at) == ("Graz", None)
    # The words of the move stay, as they were said; undoing their add takes them away too.
    [words] = [row for row in undone.rows if row.former_state == "distilled"]
    assert (words.text, words.state) == ("My home is in Turin", "active")
    reading.undo(reading.history(words.id).entries[0].change_id)
    assert texts(reading) == [GRAZ]
    reading.undo(last_change(reading, words.id))
    reading.undo(undone.change_id)
    assert texts(reading) == [TURIN]
    assert texts(reading, "invalid") == [GRAZ]
    [home] = facts_of_types(reading.stores.log, "ana", ["home"])
    assert home.object == "Turin"
    assert [hit.memory.text for hit in reading.search("Where does the user live?", as_of="2026-02-01").hits] == [GRAZ]


def test_an_undone_merge_takes_the_sighting_with_it_and_leads_back_to_nothing(
    reading: LocalMemory, server: OllamaServer
) -> None:
    server.script(statements("The user's dog is called Bruno."), statements("The user has a dog named Bruno."))
    server.script_aside("verdict", compared("same", "Bruno", "Bruno"))
    [first] = reading.add("my dog is called Bruno", observed_at="2026-03-01").results
    [second] = reading.add("I have a dog named Bruno", observed_at="2026-01-01").results
    assert second.status == "merged"
    at_the_end = rows(reading)
    changes = all_changes(reading)
    merge = reading.undo(changes[-1])
    kept = reading.get(first.id)
    assert (kept.valid_from, sightings_of(reading.stores.log, [first.id])) == (None, {})
    assert texts(reading) == ["I have a dog named Bruno", "The user's dog is called Bruno."]
    undone = [merge.change_id, *(reading.undo(change).change_id for change in reversed(changes[:-1]))]
    assert reading.list() == []
    assert reading.stats()["entities"] == 0
    assert reading.search("dog").hits == ()
    for change in reversed(undone):
        reading.undo(change)
    assert rows(reading) == at_the_end
    reading.settle()
    assert reading.verify().differences == ()


def all_changes(memory: LocalMemory) -> list[str]:
    """The ids of the changes of all memories, oldest first."""
    ids = [record.id for record in memory.list(states=STATES)]
    return sorted({entry.change_id for each in ids for entry in memory.history(each).entries})


def test_the_words_of_an_undone_reading_are_found_and_nothing_waits(reading: LocalMemory, server: OllamaServer) -> None:
    server.script(statements("The user keeps bees."))
    [receipt] = reading.add("I keep bees").results
    undone = reading.undo(last_change(reading, receipt.id))
    assert found(reading, "bees") == ["I keep bees"]
    assert undone.notice == "1 text is back word for word, and not read by the language model again."
    assert reading.stats().get("raw", 0) == reading.stats()["jobs"] == 0
    # Said once more, they are known: nothing waits for a job that never comes.
    assert reading.add("I keep bees", infer=False).results[0].status == "duplicate"
    reading.undo(undone.change_id)
    assert found(reading, "bees") == ["The user keeps bees."]


def test_undoing_what_deleted_a_statement_and_its_words_brings_both_back(
    reading: LocalMemory, server: OllamaServer
) -> None:
    server.script(statements("The user keeps bees."))
    [receipt] = reading.add("I keep bees").results
    [words] = reading.list(states=["distilled"])
    reading.delete(receipt.id)
    reading.undo(last_change(reading, receipt.id))
    assert reading.get(words.id).superseded_by == receipt.id
    assert reading.get(words.id).state == "distilled"


def test_facts_that_an_undone_change_brought_are_gone_and_in_the_history(
    reading: LocalMemory, server: OllamaServer
) -> None:
    server.script(statements(GRAZ))
    server.script_aside("items", described("Graz"))
    [receipt] = reading.add("My home is in Graz").results
    reading.undo(last_change(reading, receipt.id))
    assert rows(reading)["facts"] == []
    [fact] = reading.history(receipt.id).facts
    assert (fact.state, fact.told) == ("undone", "the user - lives_in - Graz")
