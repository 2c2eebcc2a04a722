"""Corrections: in place, under the same id, found by the new words and not by the old, and stronger than a model."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from mcp_memory.errors import InvalidInputError, ModelUnavailableError, NotFoundError
from mcp_memory.knowledge import facts_of_memories, facts_of_types, get_profile, save_profile
from mcp_memory.memory import LocalMemory
from mcp_memory.pack_changes import update_lines, update_payload
from mcp_memory.records import BY_HAND, Profile
from mcp_memory.relate import outranks
from tests.builders import a_memory
from tests.conftest import Clock, Opener
from tests.ollama_server import OllamaServer, facts, kept_back
from tests.test_queue import open_with, texts, wait_for_jobs
from tests.test_supersede import GRAZ, TURIN, compared, described
from tests.test_undo import add, found, in_memory, last_change


def test_a_corrected_text_is_found_at_once_and_its_history_keeps_the_former(memory: LocalMemory, clock: Clock) -> None:
    memory.add(
        messages=[{"content": text} for text in ("My sister is called Greta Hansen.", "She keeps bees.", "In Ghent.")],
        infer=False,
        run_id="r1",
    )
    bees = next(record.id for record in memory.list() if "bees" in record.text)
    clock.advance(days=1)
    result = memory.update(bees, text="She keeps goats with Pavel Novak.")
    assert [(change.name, change.before, change.after) for change in result.changes] == [
        ("text", "She keeps bees.", "She keeps goats with Pavel Novak.")
    ]
    corrected = memory.get(bees)
    assert (corrected.text, corrected.model, corrected.prompt, corrected.updated_at) == (
        "She keeps goats with Pavel Novak.", "", BY_HAND, clock()
    )  # fmt: skip
    assert found(memory, "Who has goats?")[0] == corrected.text
    assert memory.search("bees").hits == () or memory.search("bees").hits[0].signals.keyword == 0
    assert {entity.name for entity in memory.stores.log.get_entities("ana")} >= {"Pavel Novak"}
    in_memory(memory)
    memory.settle()
    assert not memory.stores.is_behind
    assert memory.verify().differences == ()
    memory.undo(result.change_id)
    assert found(memory, "Who keeps bees?")[0] == "She keeps bees."
    assert "Pavel Novak" not in {entity.name for entity in memory.stores.log.get_entities("ana")}
    in_memory(memory)


def test_a_long_text_made_short_leaves_no_part_of_itself_behind(memory: LocalMemory) -> None:
    long = add(memory, "The orchard has apples, pears, plums and quinces in forty rows. " * 40)
    memory.settle()
    assert len(memory.stores.tables().keys("memories")) > 1
    memory.update(long, text="The orchard has apples.")
    memory.settle()
    assert memory.stores.tables().keys("memories") == [(long, 0)]
    assert memory.verify().differences == ()
    memory.delete(long)
    memory.undo(last_change(memory, long))
    memory.settle()
    assert memory.verify().differences == ()


def lives_in(memory: LocalMemory) -> list[str]:
    return [fact.value for fact in memory.search("where do I live?").facts]


def moved(memory: LocalMemory, text: str, **given: Any) -> str:
    """The id of a new memory that takes another's place."""
    [receipt] = memory.add(text, infer=False, **given).results
    assert receipt.status == "replaced"
    return receipt.id


def test_what_is_made_to_expire_lets_what_it_had_ended_hold_again(memory: LocalMemory, clock: Clock) -> None:
    berlin = add(memory, "I live in Berlin", observed_at="2026-01-05")
    lisbon = moved(memory, "I moved to Lisbon", observed_at="2026-05-09")
    assert (lives_in(memory), memory.get(berlin).state) == (["Lisbon"], "invalid")
    shortened = memory.update(lisbon, expires_at=clock() + timedelta(days=10))
    # While both hold, what was said last is told first.
    assert (lives_in(memory), memory.get(berlin).state) == (["Lisbon", "Berlin"], "active")
    in_memory(memory)
    memory.undo(shortened.change_id)
    assert (lives_in(memory), memory.get(berlin).state) == (["Lisbon"], "invalid")
    memory.update(lisbon, expires_at=clock() + timedelta(days=10))
    clock.advance(days=11)
    assert lives_in(memory) == ["Berlin"]
    memory.settle()
    assert memory.verify().differences == ()


def test_what_a_correction_ends_and_brings_back_elsewhere_is_told(memory: LocalMemory) -> None:
    berlin = add(memory, "I live in Berlin", observed_at="2026-01-05")
    stamps = add(memory, "My bank is Sparkasse and I collect stamps of the harbour", observed_at="2026-01-05")
    lisbon = moved(memory, "I moved to Lisbon", observed_at="2026-05-09")
    changed = memory.update(lisbon, text="My bank is Fortuneo")
    assert changed.also == (
        f"so again: [{berlin}] I live in Berlin",
        f"no longer so in [{stamps}], which stays: bank Sparkasse",
    )
    assert update_payload(changed)["also"] == list(changed.also)
    assert "so again" in update_lines(changed)
    back = memory.update(lisbon, text="I moved to Porto")
    assert back.also == (
        f"no longer so: [{berlin}] I live in Berlin",
        f"so again in [{stamps}], which stays: bank Sparkasse",
    )
    assert memory.update(lisbon, importance=0.9).also == ()
    assert "also" not in update_payload(memory.update(lisbon, importance=0.8))


def test_what_no_longer_expires_ends_what_was_so_before(memory: LocalMemory, clock: Clock) -> None:
    berlin = add(memory, "I live in Berlin", observed_at="2026-01-05")
    lisbon = add(memory, "I moved to Lisbon", observed_at="2026-05-09", expires_at=clock() + timedelta(days=10))
    assert lives_in(memory) == ["Lisbon", "Berlin"]
    memory.update(lisbon, expires_at="never")
    assert (lives_in(memory), memory.get(berlin).state) == (["Lisbon"], "invalid")
    in_memory(memory)


def test_another_expiry_does_not_bring_back_what_has_ended(memory: LocalMemory, clock: Clock) -> None:
    berlin = add(memory, "I live in Berlin", observed_at="2026-01-05")
    moved(memory, "I moved to Lisbon", observed_at="2026-05-09")
    memory.update(berlin, expires_at=clock() + timedelta(days=10))
    assert (lives_in(memory), memory.get(berlin).state) == (["Lisbon"], "invalid")


def test_other_fields_are_corrected_without_a_new_vector(memory: LocalMemory) -> None:
    bees = add(memory, "I keep bees", metadata={"hives": 3}, expires_at="2027-01-01")
    memory.settle()
    result = memory.update(bees, kind="fact", importance=0.9, expires_at="never", metadata={})
    assert {change.name for change in result.changes} == {"kind", "importance", "expires_at", "metadata"}
    kept = memory.get(bees)
    assert (kept.kind, kept.importance, kept.expires_at, kept.metadata) == ("fact", 0.9, None, {})
    assert (kept.text, kept.prompt) == ("I keep bees", "")
    assert not memory.stores.is_behind
    memory.settle()
    assert memory.verify().differences == ()


def test_what_it_says_already_changes_nothing_and_is_said(memory: LocalMemory) -> None:
    bees = add(memory, "I keep bees")
    result = memory.update(bees, text="I keep bees", kind="note")
    assert (result.changes, result.change_id) == ((), "")
    assert "nothing was changed" in result.reason
    assert len(memory.history(bees).entries) == 1


def test_what_another_memory_says_is_refused_and_that_one_named(memory: LocalMemory) -> None:
    bees, goats = add(memory, "I keep bees"), add(memory, "I keep goats")
    with pytest.raises(InvalidInputError, match=f"memory '{bees}' says so already"):
        memory.update(goats, text="I keep BEES")
    assert memory.get(goats).text == "I keep goats"
    # What is only written otherwise is no repetition of itself.
    assert memory.update(bees, text="I keep Bees").changes


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "nothing is given to be corrected"),
        ({"text": "  "}, "the text is empty"),
        ({"text": "x" * 200_001}, "text has 200001 characters"),
        ({"kind": "rumour"}, "kind 'rumour'"),
        ({"importance": 1.5}, "importance 1.5"),
        ({"expires_at": "2020-01-01"}, "has passed"),
        ({"expires_at": "soon"}, "expires_at 'soon'"),
        ({"metadata": [1]}, "metadata is list"),
    ],
)
def test_values_that_cannot_be_used_are_named(memory: LocalMemory, given: dict[str, Any], told: str) -> None:
    bees = add(memory, "I keep bees")
    with pytest.raises(InvalidInputError, match=told):
        memory.update(bees, **given)
    assert len(memory.history(bees).entries) == 1


def test_what_is_gone_or_never_was_cannot_be_corrected(memory: LocalMemory) -> None:
    bees = add(memory, "I keep bees")
    memory.delete(bees)
    with pytest.raises(NotFoundError, match="was deleted on 2026-06-15") as refused:
        memory.update(bees, text="I keep goats")
    assert "undo the deletion" in refused.value.hint
    for identifier in ("000000000000", "bees"):
        with pytest.raises(NotFoundError):
            memory.update(identifier, text="I keep goats")


def test_without_the_model_a_correction_stands_and_is_found_by_its_words(
    memory: LocalMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    bees = add(memory, "I keep bees")

    def away(*_given: Any) -> Any:
        raise ModelUnavailableError("the model is away", hint="wait")

    with monkeypatch.context() as patched:
        patched.setattr(type(memory.stores.embedder), "embed_texts", away)
        result = memory.update(bees, text="I keep goats")
        assert "not yet findable by meaning: the model is away" in result.reason
        assert [hit.memory.text for hit in memory.search("goats").hits] == ["I keep goats"]
        assert memory.search("goats").hits[0].signals.semantic == 0
    memory.settle()
    memory.catch_up()
    assert memory.search("goats").hits[0].signals.semantic > 0.5
    assert memory.verify().differences == ()


def test_a_summary_made_of_the_former_words_goes(memory: LocalMemory, clock: Clock) -> None:
    bees = add(memory, "I keep bees")
    save_profile(memory.stores.log, Profile("ana", "Keeps bees.", (bees,), clock(), "tiny", "p"))
    memory.update(bees, importance=0.9)
    assert get_profile(memory.stores.log, "ana")
    memory.update(bees, text="I keep goats")
    assert get_profile(memory.stores.log, "ana") is None


@pytest.fixture
def reading(open_memory: Opener, server: OllamaServer) -> LocalMemory:
    """A memory whose language model is the server."""
    return open_with(open_memory, server)


def test_the_facts_of_the_former_words_are_withdrawn_and_come_back_with_an_undo(
    reading: LocalMemory, server: OllamaServer
) -> None:
    server.script(facts(GRAZ))
    server.script_aside("items", described("Graz"))
    [receipt] = reading.add("My home is in Graz").results
    result = reading.update(receipt.id, text="The user spends weekends in Gratwein.")
    assert result.n_facts_withdrawn == 1
    assert facts_of_types(reading.stores.log, "ana", ["home"]) == []
    [fact] = facts_of_memories(reading.stores.log, [receipt.id])[receipt.id]
    assert (fact.invalid_at, fact.closed_at is None) == (None, False)
    assert reading.history(receipt.id).entries[-1].facts == ("withdrawn: the user - lives_in - Graz",)
    reading.undo(result.change_id)
    [fact] = facts_of_types(reading.stores.log, "ana", ["home"])
    assert fact.object == "Graz"


def test_what_was_said_before_a_correction_does_not_end_it_and_what_is_said_after_it_does(
    reading: LocalMemory, server: OllamaServer, clock: Clock
) -> None:
    server.script(facts(GRAZ), facts(TURIN), facts("The user lives in Linz."))
    server.script_aside("items", described("Graz"), described("Turin"), described("Linz"))
    [receipt] = reading.add("My home is in Graz", observed_at="2026-01-05").results
    reading.update(receipt.id, text="The user's home is in Gratwein.")
    said_at_the_same_time = reading.add("My home is in Turin", observed_at=clock()).results[0]
    assert said_at_the_same_time.status == "added"
    assert server.asked("verdict") == []
    reading.delete(said_at_the_same_time.id)
    clock.advance(days=1)
    server.script_aside("verdict", compared("changed", "Gratwein", "Linz"))
    [moved] = reading.add("I moved from Gratwein to Linz").results
    assert (moved.status, moved.replaced_id) == ("replaced", receipt.id)


def test_a_correction_counts_from_when_it_was_made(clock: Clock) -> None:
    corrected = a_memory(prompt=BY_HAND, updated_at=clock())
    before, at, after = (
        datetime(2026, 1, 1, tzinfo=clock().tzinfo),
        clock(),
        datetime(2026, 7, 1, tzinfo=clock().tzinfo),
    )
    assert [outranks(corrected, said_at) for said_at in (before, at, after)] == [True, True, False]
    assert not outranks(a_memory(prompt="extract-1", updated_at=clock()), before)


def test_corrected_words_that_waited_are_not_read_and_the_others_of_their_call_are(
    open_memory: Opener, server: OllamaServer
) -> None:
    memory = open_memory()
    receipts = memory.add(messages=[{"content": "I keep bees in Gent"}, {"content": "I play the cello"}]).results
    result = memory.update(receipts[0].id, text="I keep bees in Ghent")
    assert "kept as it is now" in result.reason
    assert memory.get(receipts[0].id).state == "active"
    memory.close()
    server.script(facts("The user plays the cello."))
    memory = open_with(open_memory, server)
    memory.warm()
    wait_for_jobs(memory)
    assert texts(memory) == ["I keep bees in Ghent", "The user plays the cello."]
    assert all("Gent" not in str(request.body).replace("Ghent", "") for request in server.requests)


def test_correcting_the_only_words_that_wait_cancels_their_job(memory: LocalMemory) -> None:
    [receipt] = memory.add("I keep bees in Gent").results
    result = memory.update(receipt.id, text="I keep bees in Ghent")
    assert memory.stats()["jobs"] == 0
    memory.undo(result.change_id)
    assert (memory.get(receipt.id).text, memory.get(receipt.id).state) == ("I keep bees in Gent", "active")


def test_a_correction_while_the_words_are_read_stands(open_memory: Opener, server: OllamaServer) -> None:
    memory = open_with(open_memory, server, add_wait_s=0)
    server.script(kept_back(facts("The user keeps bees in Gent.")))
    [receipt] = memory.add("I keep bees in Gent").results
    server.wait_until_held()
    memory.update(receipt.id, text="I keep bees in Ghent")
    server.release()
    wait_for_jobs(memory)
    memory.settle_queue(5)
    assert texts(memory) == ["I keep bees in Ghent"]
