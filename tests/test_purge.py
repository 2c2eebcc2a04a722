"""What is purged is nowhere any more: not in the log, not in a table of any version, not in a file of the folder."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_memory.embedder import Embedder
from mcp_memory.errors import ConflictError, NotFoundError, StorageError
from mcp_memory.memory import LocalMemory
from mcp_memory.notes import carry_out, plan_sync
from tests.conftest import Clock, Opener
from tests.ollama_server import OllamaServer, facts
from tests.scanner import data_files, traces_of
from tests.test_queue import NOTHING, open_with, wait_for_jobs
from tests.test_supersede import compared

MARKER = "Quillbyzax"
HIDDEN = f"The spare key lies under the {MARKER} stone."
SIBLING = "The cat is fed at seven."


def cut_short(*_given: object) -> None:
    raise StorageError("the disk is away", hint="attach it")


def ids_by_text(memory: LocalMemory) -> dict[str, str]:
    states = ("active", "raw", "invalid", "merged", "distilled", "deleted")
    return {record.text: record.id for record in memory.list(states=states)}


def purged(memory: LocalMemory, memory_id: str, home: Path) -> Any:
    """Purge a memory of which there are traces before, and none after; none of the tables' files stays either."""
    memory.settle()
    assert traces_of(MARKER, home), "the scanner finds nothing where there is something"
    before = data_files(home)
    assert before
    result = memory.delete(memory_id, purge=True)
    assert traces_of(MARKER, home) == []
    assert not before & data_files(home)
    assert memory.verify().differences == ()
    memory.close()
    assert traces_of(MARKER, home) == []
    return result


def test_a_purged_memory_is_nowhere_and_its_siblings_answer(
    memory: LocalMemory, home: Path, open_memory: Opener
) -> None:
    memory.add(messages=[{"role": "user", "content": each} for each in (HIDDEN, SIBLING)], infer=False)
    result = purged(memory, ids_by_text(memory)[HIDDEN], home)
    assert (result.text, result.n_purged, result.copies, result.same_words) == (HIDDEN, 1, (), ())
    again = open_memory()
    assert [hit.memory.text for hit in again.search("when is the cat fed?").hits] == [SIBLING]
    assert again.search("where is the spare key?").hits == ()
    # The rest of the message's call is still there.
    [sibling] = again.list()
    assert again.history(sibling.id).text == SIBLING


def test_what_was_deleted_before_can_be_purged(memory: LocalMemory, home: Path) -> None:
    memory.add(messages=[{"role": "user", "content": each} for each in (HIDDEN, SIBLING)], infer=False)
    memory.settle()
    hidden = ids_by_text(memory)[HIDDEN]
    memory.delete(hidden)
    purged(memory, hidden, home)


def test_every_wording_that_a_memory_ever_had_goes(memory: LocalMemory, home: Path) -> None:
    memory.add(f"The key is with {MARKER}.", infer=False)
    [record] = memory.list()
    memory.update(record.id, text="The key is with Ben.")
    memory.update(record.id, text="The key is with Carla.")
    purged(memory, record.id, home)


def test_what_was_said_again_elsewhere_goes_with_it(memory: LocalMemory, home: Path, clock: Clock) -> None:
    memory.add(HIDDEN, infer=False)
    clock.advance(days=3)
    assert memory.add(f"  {HIDDEN.upper()} ", infer=False).results[0].status == "duplicate"
    memory.add(messages=[{"role": "user", "content": each} for each in (SIBLING, HIDDEN)], infer=False)
    purged(memory, ids_by_text(memory)[HIDDEN], home)


def test_words_that_a_memory_was_read_out_of_go_and_its_siblings_stay(
    open_memory: Opener, server: OllamaServer, home: Path
) -> None:
    memory = open_with(open_memory, server)
    server.script(facts(f"The user hides the key under the {MARKER} stone.", "The user's cat eats at seven."))
    memory.add(f"I hide my key under the {MARKER} stone and my cat eats at seven")
    wait_for_jobs(memory)
    hidden = next(record for record in memory.list() if MARKER in record.text)
    result = purged(memory, hidden.id, home)
    assert result.n_purged == 2
    again = open_memory()
    assert [record.text for record in again.list()] == ["The user's cat eats at seven."]
    [left] = again.list()
    assert again.history(left.id).words == ()


def test_what_was_merged_into_it_goes_with_it(open_memory: Opener, server: OllamaServer, home: Path) -> None:
    memory = open_with(open_memory, server)
    server.script(facts("The user's dog is called Bruno."), facts("The user has a dog named Bruno."))
    server.script_aside("verdict", compared("same", "Bruno", "Bruno"))
    first = memory.add("my dog is called Bruno", observed_at="2026-03-01").results[0]
    [second] = memory.add(f"I have a dog named Bruno, by {MARKER}!", observed_at="2026-01-01").results
    assert (second.status, second.id) == ("merged", first.id)
    with pytest.raises(NotFoundError, match="was merged into it"):
        memory.delete(ids_by_text(memory)["The user has a dog named Bruno."], purge=True)
    purged(memory, first.id, home)
    assert open_memory().list(states=["active", "merged", "distilled", "raw"]) == []


def test_a_replaced_memory_goes_and_what_replaced_it_stays(
    memory: LocalMemory, home: Path, open_memory: Opener
) -> None:
    memory.add(f"I live in {MARKER}.", infer=False, observed_at="2026-01-05")
    [receipt] = memory.add("I live in Lisbon.", infer=False, observed_at="2026-05-05").results
    assert receipt.status == "replaced"
    purged(memory, receipt.replaced_id, home)
    again = open_memory()
    assert [fact.object for fact in again.facts(ended=True)] == ["Lisbon"]
    assert again.search("where do I live?").hits[0].memory.text == "I live in Lisbon."
    assert again.history(receipt.id).text == "I live in Lisbon."


def test_what_only_it_had_ended_holds_again(memory: LocalMemory, home: Path, open_memory: Opener) -> None:
    memory.add("I live in Lisbon.", infer=False, observed_at="2026-01-05")
    [receipt] = memory.add(f"I live in {MARKER}.", infer=False, observed_at="2026-05-05").results
    purged(memory, receipt.id, home)
    again = open_memory()
    assert [(fact.object, fact.invalid_at) for fact in again.facts()] == [("Lisbon", None)]


def test_a_name_that_only_it_gave_to_somebody_goes(memory: LocalMemory, home: Path, open_memory: Opener) -> None:
    memory.add(f"My colleague Zelda {MARKER} plays the oboe.", infer=False)
    [full] = memory.list()
    memory.add("Zelda came to dinner with Zelda's brother.", infer=False)
    memory.add("Zelda plays chess on Mondays.", infer=False)
    purged(memory, full.id, home)
    again = open_memory()
    assert {hit.memory.text for hit in again.search("What does Zelda play?").hits} >= {"Zelda plays chess on Mondays."}


def test_facts_that_another_memory_took_over_go_unless_it_says_them(
    memory: LocalMemory, home: Path, open_memory: Opener
) -> None:
    memory.add(f"My sister {MARKER} lives in Graz.", infer=False, observed_at="2026-01-05")
    [first] = memory.list()
    memory.add("My sister lives in Linz.", infer=False, observed_at="2026-05-05")
    purged(memory, first.id, home)
    assert "Linz" in {fact.object for fact in open_memory().facts()}


def test_words_that_wait_for_the_language_model_are_not_read_after_a_purge(
    open_memory: Opener, server: OllamaServer, home: Path
) -> None:
    memory = open_memory(add_wait_s=0.0)
    memory.add(messages=[{"role": "user", "content": each} for each in (HIDDEN, SIBLING)])
    purged(memory, ids_by_text(memory)[HIDDEN], home)
    server.script(NOTHING)
    again = open_with(open_memory, server)
    wait_for_jobs(again)
    [asked] = server.requests
    assert SIBLING in str(asked)
    assert MARKER not in str(asked)


def test_nothing_of_what_was_purged_can_be_undone(memory: LocalMemory, home: Path, open_memory: Opener) -> None:
    memory.add(messages=[{"role": "user", "content": each} for each in (HIDDEN, SIBLING)], infer=False)
    ids = ids_by_text(memory)
    added = memory.history(ids[SIBLING]).entries[0].change_id
    deleted = memory.delete(ids[HIDDEN])
    assert deleted.n_purged == 0
    purged(memory, ids[HIDDEN], home)
    again = open_memory()
    with pytest.raises(NotFoundError, match="something was purged"):
        again.undo(added)
    with pytest.raises(NotFoundError, match="there is no memory"):
        again.history(ids[HIDDEN])
    with pytest.raises(NotFoundError, match="there is no memory"):
        again.delete(ids[HIDDEN], purge=True)


def test_another_users_memory_cannot_be_purged(memory: LocalMemory, open_memory: Opener) -> None:
    memory.add(HIDDEN, infer=False)
    [record] = memory.list()
    memory.close()
    with open_memory(user_id="ben") as other, pytest.raises(NotFoundError):
        other.delete(record.id, purge=True)
    assert [each.text for each in open_memory().list()] == [HIDDEN]


def test_backups_are_named_and_copies_in_the_folder_are_removed(
    memory: LocalMemory, home: Path, tmp_path: Path
) -> None:
    memory.add(HIDDEN, infer=False)
    [record] = memory.list()
    memory.backup(tmp_path / "copy.zip")
    (home / "log.schema3.bak").write_text(HIDDEN)
    (home / "lancedb.damaged").mkdir()
    (home / "lancedb.damaged" / "old").write_text(HIDDEN)
    (home / "engine.log").write_text(f"one line\nan error quoted {MARKER.lower()}\nanother line\n")
    result = purged(memory, record.id, home)
    assert result.copies == (str(tmp_path / "copy.zip"),)
    assert (home / "engine.log").read_text() == "one line\nanother line\n"


def test_a_purge_that_is_cut_short_is_finished_at_the_next_start(
    memory: LocalMemory, home: Path, open_memory: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.add(messages=[{"role": "user", "content": each} for each in (HIDDEN, SIBLING)], infer=False)
    memory.settle()
    with monkeypatch.context() as patch:
        patch.setattr("mcp_memory.swap.TablesFolder.exchange", cut_short)
        with pytest.raises(StorageError, match="taken out of the log for good"):
            memory.delete(ids_by_text(memory)[HIDDEN], purge=True)
        memory.close()
    assert traces_of(MARKER, home)
    with open_memory() as again:
        again.warm()
        again.settle()
        assert traces_of(MARKER, home) == []
        assert [record.text for record in again.list()] == [SIBLING]


def test_others_go_on_adding_and_searching_meanwhile(memory: LocalMemory, home: Path, open_memory: Opener) -> None:
    memory.add(messages=[{"role": "user", "content": each} for each in (HIDDEN, SIBLING)], infer=False)
    hidden = ids_by_text(memory)[HIDDEN]

    def add(number: int) -> None:
        memory.as_agent(f"agent-{number}").add(f"Note {number} is about topic {number}.", infer=False)
        assert memory.search("when is the cat fed?").hits

    with ThreadPoolExecutor(4) as pool:
        adding = [pool.submit(add, number) for number in range(40)]
        memory.delete(hidden, purge=True)
        for each in adding:
            each.result()
    memory.settle()
    assert traces_of(MARKER, home) == []
    assert memory.verify().differences == ()
    assert len(memory.list()) == 41
    memory.close()
    with open_memory() as again:
        assert len(again.search("topic 7", top_k=5).hits) > 0


def test_what_expired_is_purged_some_days_later(open_memory: Opener, home: Path, clock: Clock) -> None:
    memory = open_memory(purge_expired_days=7)
    memory.add(HIDDEN, infer=False, expires_at="2026-06-20")
    memory.add(SIBLING, infer=False)
    memory.settle()
    memory.close()
    for days, is_there in ((10, True), (3, False)):
        clock.advance(days=days)
        with open_memory(purge_expired_days=7) as again:
            again.warm()
            again.settle()
            assert again.search("where is the spare key?").hits == ()
            assert bool(traces_of(MARKER, home)) is is_there
            assert SIBLING in [record.text for record in again.list()]


def test_what_expired_stays_where_that_is_set(open_memory: Opener, home: Path, clock: Clock) -> None:
    with open_memory(purge_expired_days=-1) as memory:
        memory.add(HIDDEN, infer=False, expires_at="2026-06-20")
    clock.advance(days=400)
    with open_memory(purge_expired_days=-1) as again:
        again.warm()
        again.settle()
    assert traces_of(MARKER, home)


_TEXTS = st.sampled_from(
    [
        "My sister {} lives in Graz.", "I moved to {} in May.", "{} is my dentist.", "I work at {} now.",
        "We met {} at the fair with Zelda.", "The harbour portal uses {} since March.", "I no longer work at {}.",
    ]
)  # fmt: skip
_OTHERS = st.lists(st.sampled_from(["Graz", "Lisbon", "Zelda", "Fenwick", "Ostrava"]), min_size=1, max_size=5)


@settings(max_examples=15)
@given(said=st.lists(_TEXTS, min_size=1, max_size=4), others=_OTHERS, is_deleted=st.booleans(), data=st.data())
def test_whatever_is_said_of_somebody_in_any_order_leaves_no_trace(
    said: list[str], others: list[str], is_deleted: bool, data: st.DataObject, tmp_path_factory: Any, embedder: Embedder
) -> None:
    home = tmp_path_factory.mktemp("purge")
    names = data.draw(st.permutations([*others, *[MARKER] * len(said)]))
    frames = data.draw(st.lists(_TEXTS, min_size=len(names), max_size=len(names)))
    with LocalMemory.open(home, user_id="ana", embedder=embedder) as memory:
        for place, (name, frame) in enumerate(zip(names, frames, strict=True)):
            memory.add(frame.format(name), infer=False, observed_at=f"2026-01-{place + 1:02}")
        states = ("active", "raw", "invalid", "merged", "distilled", "deleted")
        going = [record for record in memory.list(states=states) if MARKER in record.text]
        staying = {record.text for record in memory.list(states=states)} - {record.text for record in going}
        for record in going:
            if is_deleted:
                memory.delete(record.id)
        for record in going:
            # The same words that had been deleted before went with the first of them.
            with suppress(NotFoundError):
                memory.delete(record.id, purge=True)
        assert traces_of(MARKER, home) == []
        assert memory.verify().differences == ()
        assert {record.text for record in memory.list(states=states)} == staying
        for text in staying:
            assert text in {hit.memory.text for hit in memory.search(text).hits} or memory.list(states=["invalid"])


def test_what_a_conversation_was_captured_and_given_goes_from_its_state_and_from_notes(
    memory: LocalMemory, home: Path, tmp_path: Path
) -> None:
    notes = tmp_path / "AGENTS.md"
    notes.write_text("# Mine\n", encoding="utf-8")
    carry_out(plan_sync(notes, []))
    memory.keep_notes(str(notes), 400)
    said = f"I live with {MARKER}, my dog."
    memory.add(said, infer=False, kind="fact")
    memory.add("I keep bees.", infer=False, kind="fact")
    # Known already: nothing but the call says it once more.
    memory.capture([{"role": "user", "content": said}], conversation="one", folder=str(tmp_path))
    memory.refresh_notes()
    assert MARKER in notes.read_text(encoding="utf-8")
    hidden = next(record for record in memory.list() if MARKER in record.text and record.kind == "fact")
    memory.note_given(conversation="two", memory_ids=[hidden.id])
    memory.settle()
    where = {"contains": MARKER}
    memory.forget(where, expected=memory.matching(where, purge=True).mark, purge=True)
    assert traces_of(MARKER, home) == []
    assert MARKER not in notes.read_text(encoding="utf-8")
    assert "bees" in notes.read_text(encoding="utf-8")


def test_an_export_made_since_goes_round_and_one_made_before_is_named_and_brings_nothing_back(
    memory: LocalMemory, home: Path, tmp_path: Path, open_memory: Opener, clock: Clock
) -> None:
    memory.add(messages=[{"role": "user", "content": each} for each in (HIDDEN, SIBLING)], infer=False)
    memory.add("My sister Zelda lives in Graz.", infer=False)
    memory.export_to(tmp_path / "before.jsonl")
    clock.advance(minutes=1)
    result = memory.delete(ids_by_text(memory)[HIDDEN], purge=True)
    assert result.copies == (str(tmp_path / "before.jsonl"),)
    with pytest.raises(ConflictError, match=r"1 of the memories in .* were purged here"):
        memory.import_from(tmp_path / "before.jsonl", again=True)
    memory.export_to(tmp_path / "since.jsonl")
    assert MARKER not in (tmp_path / "since.jsonl").read_text(encoding="utf-8")
    memory.import_from(tmp_path / "since.jsonl")
    memory.settle()
    assert traces_of(MARKER, home) == []
    with open_memory(folder=tmp_path / "other") as other:
        other.import_from(tmp_path / "since.jsonl")
        assert {record.text for record in other.list()} == {SIBLING, "My sister Zelda lives in Graz."}
        assert other.verify().differences == ()
        with pytest.raises(ConflictError, match="were purged here"):
            other.import_from(tmp_path / "before.jsonl")


def test_what_others_said_can_still_be_undone_and_the_user_keeps_being_called_so(
    memory: LocalMemory, home: Path
) -> None:
    memory.add("I live in Graz.", infer=False)
    [first] = memory.list()
    memory.add("My sister plays the oboe.", infer=False)
    memory.add(f"I work at {MARKER}, and my sister likes it.", infer=False)
    hidden = ids_by_text(memory)[f"I work at {MARKER}, and my sister likes it."]
    names = {entity.name for entity in memory.stores.log.get_entities("ana")}
    memory.delete(hidden, purge=True)
    assert {entity.name for entity in memory.stores.log.get_entities("ana")} == names - {MARKER}
    memory.undo(memory.history(first.id).entries[0].change_id)
    assert [record.text for record in memory.list()] == ["My sister plays the oboe."]
    assert traces_of(MARKER, home) == []


def test_the_same_words_that_stay_elsewhere_are_named_and_those_that_were_deleted_go(
    memory: LocalMemory, home: Path
) -> None:
    memory.add(HIDDEN, infer=False)
    memory.delete(memory.list()[0].id)
    memory.add(HIDDEN, infer=False)
    [record] = memory.list()
    memory.add(messages=[{"role": "user", "content": HIDDEN}], infer=False, run_id="other")
    result = memory.delete(record.id, purge=True)
    [other] = memory.list()
    assert (result.n_purged, result.same_words) == (2, (other.id,))
    purged(memory, other.id, home)


def test_what_was_read_beside_it_is_reached_by_its_words(open_memory: Opener, server: OllamaServer, home: Path) -> None:
    memory = open_with(open_memory, server)
    server.script(facts(f"The user hides the key under the {MARKER} stone."), *[NOTHING] * 3)
    said = [("user", f"I hide my key under the {MARKER} stone"), ("assistant", f"Noted: the {MARKER} stone.")]
    memory.add(messages=[{"role": role, "content": content} for role, content in said])
    wait_for_jobs(memory)
    where = {"contains": MARKER}
    assert memory.forget(where, expected=memory.matching(where, purge=True).mark, purge=True).n_purged == 3
    assert traces_of(MARKER, home) == []


def test_a_wording_that_the_history_has_dropped_goes_wherever_it_was_said(
    open_memory: Opener, home: Path, clock: Clock
) -> None:
    with open_memory(keep_events_days=30) as memory:
        memory.add(HIDDEN, infer=False)
        memory.add(HIDDEN, infer=False)
        [record] = memory.list()
        memory.update(record.id, text="The key is with Ben.")
        memory.settle()
    clock.advance(days=60)
    with open_memory(keep_events_days=30) as memory:
        memory.add(SIBLING, infer=False)
        memory.warm()
        memory.settle()
        assert memory.history(record.id).notice
        purged(memory, record.id, home)


@pytest.mark.parametrize("other", ["The annual fair is in May.", "Die Fleetbrücke ist offen."])
def test_a_short_name_inside_another_word_is_none(memory: LocalMemory, other: str, open_memory: Opener) -> None:
    memory.add("Ann and Lee fixed the pump.", infer=False)
    [record] = memory.list()
    memory.add(other, infer=False)
    memory.delete(record.id, purge=True)
    with memory.stores.log.reading() as connection:
        told = connection.exec_driver_sql('SELECT "before", "after" FROM events').fetchall()
    assert not any(name in str(told) for name in ('"Ann"', '"Lee"'))


def test_nothing_is_deleted_where_it_cannot_be_taken_out(memory: LocalMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.add(HIDDEN, infer=False)
    [record] = memory.list()
    with monkeypatch.context() as patch:
        patch.setattr("mcp_memory.purge.erase", cut_short)
        with pytest.raises(StorageError, match="the disk is away"):
            memory.delete(record.id, purge=True)
    assert [each.text for each in memory.list()] == [HIDDEN]
    assert memory.search("spare key").hits


def test_what_is_said_for_good_stays_when_the_same_said_for_a_while_has_expired(
    open_memory: Opener, clock: Clock
) -> None:
    with open_memory() as memory:
        memory.add(SIBLING, infer=False, expires_at="2026-06-20")
        assert memory.add(SIBLING, infer=False).results[0].status == "added"
        assert memory.add(SIBLING, infer=False, expires_at="2026-06-18").results[0].status == "duplicate"
    clock.advance(days=30)
    with open_memory() as memory:
        memory.warm()
        memory.settle()
        assert [(record.text, record.expires_at) for record in memory.list()] == [(SIBLING, None)]
        assert memory.search("cat").hits


def test_an_old_export_brings_nothing_back_when_the_history_has_been_dropped(
    open_memory: Opener, tmp_path: Path, clock: Clock
) -> None:
    with open_memory(keep_events_days=30) as memory:
        memory.add(HIDDEN, infer=False)
        memory.export_to(tmp_path / "before.jsonl")
        memory.delete(memory.list()[0].id, purge=True)
    clock.advance(days=60)
    with open_memory(keep_events_days=30) as memory:
        memory.add(SIBLING, infer=False)
        memory.warm()
        memory.settle()
        memory.stores.log.drop_events(clock())
        with pytest.raises(ConflictError, match="were purged here"):
            memory.import_from(tmp_path / "before.jsonl", again=True)
