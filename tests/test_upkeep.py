"""Upkeep: what must not go on at once, what is told when it fails, and how soon it ends when the folder is closed."""

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mcp_memory import reconcile
from mcp_memory.apply import write_memories
from mcp_memory.errors import StorageError
from mcp_memory.memory import LocalMemory
from mcp_memory.tables import Tables
from tests.conftest import Opener

PATIENCE_S = 20


def fill(memory: LocalMemory) -> None:
    for number in range(4):
        memory.add(f"Statement {number} about Maria Quintela and the harbour", infer=False)
    memory.settle()


def is_free(lock: Any) -> bool:
    """Whether the calling thread could take a lock now."""
    if is_taken := lock.acquire(blocking=False):
        lock.release()
    return bool(is_taken)


def test_the_tables_are_not_exchanged_while_they_are_compacted(
    memory: LocalMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(memory)
    stores, optimize = memory.stores, Tables.optimize
    could_be_exchanged: list[bool] = []

    def optimize_and_look(tables: Tables) -> None:
        if tables is stores.opened_tables:
            with ThreadPoolExecutor(1) as other:
                could_be_exchanged.append(other.submit(is_free, stores.applying).result(PATIENCE_S))
        optimize(tables)

    monkeypatch.setattr(Tables, "optimize", optimize_and_look)
    stores.tables().n_unoptimized = stores.settings.optimize_every
    memory.settle()
    assert could_be_exchanged == [False]


def test_tables_that_a_rebuild_exchanges_during_a_verification_are_verified_to_the_end(memory: LocalMemory) -> None:
    fill(memory)
    rebuilt: list[int] = []

    def rebuild_once(_done: int, _total: int) -> None:
        if not rebuilt:
            rebuilt.append(memory.rebuild().n_memories)

    result = memory.verify(rebuild_once)
    assert rebuilt == [4]
    assert (result.n_memories, result.n_entities, result.differences) == (4, 1, ())


@pytest.fixture
def lagging(open_memory: Opener, home: Path, monkeypatch: pytest.MonkeyPatch) -> LocalMemory:
    """A memory whose tables were lost, and which knows that they lag behind; they are filled row by row."""
    memory = open_memory()
    fill(memory)
    memory.close()
    shutil.rmtree(home / "lancedb")
    monkeypatch.setattr(reconcile, "BATCH", 1)
    memory = open_memory()
    memory.stores.is_behind = True
    return memory


def test_closing_waits_for_one_batch_of_a_catching_up_that_is_under_way(
    lagging: LocalMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = lagging._parts.upkeep.finish
    begun, is_finishing, batches = threading.Event(), threading.Event(), list[int]()

    def write_and_count(stores: Any, tables: Any, ids: Any) -> None:
        batches.append(len(ids))
        begun.set()
        assert is_finishing.wait(PATIENCE_S)
        write_memories(stores, tables, ids)

    def finish_and_tell() -> None:
        is_finishing.set()
        finish()

    monkeypatch.setattr(reconcile, "write_memories", write_and_count)
    monkeypatch.setattr(lagging._parts.upkeep, "finish", finish_and_tell)
    lagging._parts.upkeep.after_write()
    assert begun.wait(PATIENCE_S)
    lagging.close()
    assert batches == [1]


def test_closing_does_not_begin_to_catch_up(lagging: LocalMemory, open_memory: Opener) -> None:
    lagging.close()
    again = open_memory()
    assert again.stores.tables().memory_ids() == []
    again.catch_up()
    assert len(again.stores.tables().memory_ids()) == 4


def test_settling_ends_where_compacting_fails_each_time(memory: LocalMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(memory)
    tries: list[int] = []

    def fails(tables: Tables) -> None:
        tries.append(tables.n_unoptimized)
        if len(tries) > 5:
            # So that this test ends in any case.
            tables.n_unoptimized = 0
        raise StorageError("the disk is full", hint="free some space")

    monkeypatch.setattr(Tables, "optimize", fails)
    memory.stores.tables().n_unoptimized = memory.stores.settings.optimize_every
    memory.settle()
    assert len(tries) == 1


def test_an_unexpected_error_is_logged_and_the_next_write_tries_again(
    memory: LocalMemory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    fill(memory)
    memory.stores.tables().n_unoptimized = memory.stores.settings.optimize_every
    with monkeypatch.context() as patch:

        def fails(_tables: Tables) -> None:
            raise ZeroDivisionError("nobody thought of this")

        patch.setattr(Tables, "optimize", fails)
        memory.settle()
    assert "nobody thought of this" in caplog.text
    assert "unexpected error in upkeep" in caplog.text
    memory.add("I keep bees", infer=False)
    memory.settle()
    assert memory.stores.tables().n_unoptimized == 0
