"""Derived stores lost, damaged or behind: words go on being found, and the log makes everything whole again."""

import shutil
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from mcp_memory import stores
from mcp_memory.embedder import Embedder
from mcp_memory.errors import ModelUnavailableError, StorageError
from mcp_memory.memory import LocalMemory
from tests.conftest import Opener
from tests.log_rows import last_messages


def fill(memory: LocalMemory) -> list[str]:
    texts = [f"Statement {number} about Maria Quintela and the harbour" for number in range(5)]
    for text in texts:
        memory.add(text, infer=False)
    return texts


def signals(memory: LocalMemory) -> dict[str, Any]:
    """Rounded: which texts share a batch shows in the last digits of a vector."""
    hits = memory.search("Maria Quintela harbour").hits
    return {hit.memory.text: {name: round(value, 4) for name, value in asdict(hit.signals).items()} for hit in hits}


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(shutil.rmtree, id="all tables removed"),
        pytest.param(lambda tables: shutil.rmtree(tables / "memories.lance"), id="one table removed"),
        pytest.param(lambda tables: shutil.rmtree(tables / "entities.lance"), id="the entities removed"),
    ],
)
def test_lost_tables_are_made_anew_from_the_log(
    open_memory: Opener, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    memory = open_memory()
    fill(memory)
    before = signals(memory)
    memory.close()
    damage(tmp_path / "home" / "lancedb")
    again = open_memory()
    assert signals(again) == before
    assert sorted(again.stores.tables().memory_ids()) == sorted(record.id for record in again.list())
    assert again.stores.tables().entity_ids() == [entity.id for entity in again.stores.log.get_entities("ana")]
    assert again.search("harbour").degraded == ()


def test_a_missing_a_doubled_and_a_foreign_row_are_mended(open_memory: Opener) -> None:
    memory = open_memory()
    fill(memory)
    missing, doubled, foreign = memory.list(limit=3)
    tables = memory.stores.tables()
    vectors = {record.id: memory.stores.embedder.embed_texts([("", record.text)])[0] for record in memory.list()}
    tables.delete_memories([missing.id])
    # What concurrent upserts of a new id leave behind: LanceDB does not enforce unique ids.
    tables._memories.add(tables._memories.search().where(f"id = '{doubled.id}'").to_arrow())
    memory.delete(foreign.id)
    tables.put_memories([foreign], vectors)
    memory.close()
    again = open_memory()
    again.catch_up()
    assert sorted(again.stores.tables().memory_ids()) == sorted(record.id for record in again.list())


def test_tables_that_cannot_be_opened_stop_neither_adding_nor_searching_by_words(
    open_memory: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    fill(memory)
    memory.close()

    def fails(*_given: object) -> None:
        raise StorageError("LanceDB failed: permission denied", hint="check permissions")

    with monkeypatch.context() as patch:
        patch.setattr(stores, "Tables", fails)
        broken = open_memory()
        assert_goes_on_by_words(broken)
        broken.close()
    mended = open_memory().search("lighthouse")
    assert mended.degraded == ()
    assert mended.hits[0].signals.semantic > 0


def assert_goes_on_by_words(broken: LocalMemory) -> None:
    receipt = broken.add("Statement 6 about the lighthouse", infer=False).results[0]
    assert receipt.status == "added"
    assert "not yet findable by meaning" in receipt.reason
    result = broken.search("lighthouse harbour")
    assert {hit.memory.text for hit in result.hits} >= {"Statement 6 about the lighthouse"}
    assert result.degraded == ("semantic",)
    assert "LanceDB" in result.notice


def test_a_text_that_the_model_fails_on_is_kept_and_embedded_later(
    open_memory: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    fill(memory)
    with monkeypatch.context() as patch:

        def fails(*_given: object, **_named: object) -> None:
            raise RuntimeError("not enough memory")

        patch.setattr(memory.stores.embedder._model, "encode", fails)
        receipt = memory.add("A note that comes at a bad moment", infer=False).results[0]
    assert receipt.status == "added"
    assert "not enough memory" in receipt.reason
    assert memory.search("bad moment").hits[0].memory.text == "A note that comes at a bad moment"
    memory.close()
    again = open_memory().search("bad moment")
    assert again.degraded == ()
    assert again.hits[0].signals.semantic > 0


def test_a_change_after_a_failed_one_catches_up_by_itself(open_memory: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = open_memory()
    fill(memory)
    with monkeypatch.context() as patch:

        def fails(*_given: object) -> None:
            raise StorageError("the disk is full", hint="free some space")

        patch.setattr(memory.stores.tables(), "put_memories", fails)
        memory.add("Written while the disk was full", infer=False)
        memory.settle()
    assert memory.stores.is_behind
    memory.add("Written when there was room again", infer=False)
    memory.settle()
    memory.close()
    reopened = open_memory()
    assert reopened.stores.log.pending().memory_ids == ()
    assert len(reopened.stores.tables().memory_ids()) == 7


def test_a_search_during_adds_is_never_degraded_and_finds_what_was_acknowledged(memory: LocalMemory) -> None:
    acknowledged: list[str] = []
    faults: list[str] = []

    def add() -> None:
        for number in range(25):
            text = f"Parallel statement {number} of the harbour"
            memory.add(text, infer=False)
            acknowledged.append(text)

    def search() -> None:
        while writer.is_alive():
            known = list(acknowledged)
            result = memory.search("parallel statement harbour", top_k=100)
            found = {hit.memory.text for hit in result.hits}
            if result.degraded or not set(known) <= found:
                faults.append(f"{result.degraded} {set(known) - found}")

    memory.add("The first statement", infer=False)
    writer = threading.Thread(target=add)
    readers = [threading.Thread(target=search) for _ in range(2)]
    writer.start()
    for reader in readers:
        reader.start()
    for thread in (writer, *readers):
        thread.join(timeout=120)
    assert faults == []
    assert len(acknowledged) == 25


def test_adds_from_many_threads_are_each_kept_once(memory: LocalMemory) -> None:
    def add(thread: int) -> None:
        for number in range(8):
            memory.add(f"Thread {thread} says {number} about Maria Quintela", infer=False, run_id="shared")

    threads = [threading.Thread(target=add, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    records = memory.list(limit=100)
    assert len({record.text for record in records}) == len(records) == 32
    assert sorted(record.position for record in records) == list(range(32))
    [maria] = memory.stores.log.get_entities("ana")
    assert maria.n_linked == 32


def test_many_small_sessions_are_compacted(open_memory: Opener, tmp_path: Path) -> None:
    for number in range(12):
        memory = open_memory(optimize_every=4)
        memory.add(f"Session {number} about boats", infer=False)
        memory.close()
    assert open_memory().stores.tables().n_unoptimized < 8


def test_a_closed_memory_refuses_everything_and_closes_twice(memory: LocalMemory) -> None:
    memory.add("I keep bees", infer=False)
    memory.close()
    memory.close()
    for use in (lambda: memory.add("more", infer=False), lambda: memory.search("bees"), memory.list, memory.stats):
        with pytest.raises(StorageError, match="has been closed"):
            use()


def test_what_waited_for_extraction_is_kept_when_it_is_given_again_verbatim(memory: LocalMemory) -> None:
    queued = memory.add("I moved to Porto").results[0]
    again = memory.add("I moved to Porto", infer=False).results[0]
    assert (again.status, again.id) == ("duplicate", queued.id)
    assert [record.state for record in memory.list()] == ["active"]
    assert memory.search("Porto").hits[0].memory.state == "active"


def test_deleting_a_text_cancels_every_job_that_brought_only_it(memory: LocalMemory) -> None:
    receipt = memory.add("I moved to Porto", infer=False).results[0]
    memory.add("I moved to Porto")
    assert memory.stats()["jobs"] == 1
    memory.delete(receipt.id)
    assert memory.stats()["jobs"] == 0
    assert last_messages(memory.stores.log, "ana", "python", "") == []


def test_what_one_agent_says_of_itself_is_no_duplicate_of_anothers(memory: LocalMemory) -> None:
    for agent in ("claude", "cursor"):
        receipt = memory.as_agent(agent).add("I answer in lists", infer=False, about="agent").results[0]
        assert receipt.status == "added"
        assert len(memory.as_agent(agent).search("lists", scope="agent").hits) == 1


def test_an_embedder_that_is_gone_is_reported_in_words(open_memory: Opener, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match="cannot be loaded"):
        Embedder(str(tmp_path)).embed_query("x")


@pytest.mark.parametrize("name", ["what?now", "a%20b", "c#d", "with space", "dots.and-dash", "größe"])
def test_any_folder_name_holds_its_own_log(open_memory: Opener, tmp_path: Path, name: str) -> None:
    memory = open_memory(folder=tmp_path / name)
    memory.add("I keep bees", infer=False)
    memory.close()
    assert (tmp_path / name / "log.sqlite3").exists()
    assert [entry.name for entry in tmp_path.iterdir() if entry.name != "home"] == [name]


def test_a_lost_log_beside_filled_tables_is_refused_and_not_started_empty(open_memory: Opener, tmp_path: Path) -> None:
    memory = open_memory()
    fill(memory)
    memory.close()
    (tmp_path / "home" / "log.sqlite3").unlink()
    with pytest.raises(StorageError, match="the log was lost"):
        open_memory()


def test_the_order_of_a_run_is_the_order_of_commits_also_after_reopening(open_memory: Opener) -> None:
    memory = open_memory()
    slow = threading.Event()
    embed, fast_done = memory.stores.embedder.embed_texts, threading.Event()

    def embed_texts(texts: Any) -> Any:
        if "slow" in texts[0][1]:
            slow.set()
            fast_done.wait(timeout=30)
        return embed(texts)

    memory.stores.embedder.embed_texts = embed_texts  # type: ignore[method-assign]
    try:
        thread = threading.Thread(target=memory.add, args=("the slow one",), kwargs={"infer": False, "run_id": "r"})
        thread.start()
        slow.wait(timeout=30)
        memory.add("the fast one", infer=False, run_id="r")
        fast_done.set()
        thread.join(timeout=30)
    finally:
        del memory.stores.embedder.embed_texts

    def order(opened: LocalMemory) -> list[str]:
        index = opened.stores.index_of("ana")
        first = next(row for row in range(len(index)) if index.column("previous")[row] < 0)
        return [index.ids[first], index.ids[int(index.column("next")[first])]]

    live = order(memory)
    memory.close()
    assert order(open_memory()) == live


def test_a_deleted_speaker_no_longer_counts_as_one(memory: LocalMemory) -> None:
    said = memory.add(messages=[{"content": "Good morning", "name": "Maria"}], infer=False).results[0]
    memory.add("Berlin is where Maria Quintela works", infer=False)
    assert list(memory.stores.index_of("ana").speakers) == ["maria"]
    memory.delete(said.id)
    assert list(memory.stores.index_of("ana").speakers) == []
