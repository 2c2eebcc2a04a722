"""LanceDB's files torn in every way: `verify` names it, `rebuild` mends it, and searches answer as before."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from mcp_memory import log
from mcp_memory.audit import TOLERANCE
from mcp_memory.cli import app
from mcp_memory.embedder import Embedder
from mcp_memory.errors import StorageError
from mcp_memory.memory import LocalMemory
from mcp_memory.remote import RemoteMemory
from mcp_memory.score import Floats
from mcp_memory.tables import Tables
from tests.conftest import Clock, Opener
from tests.stdio_server import Server

TEXTS = [f"Statement {number} about Maria Quintela and the harbour" for number in range(3)]
LONG = "The harbour of Porto has many boats. " * 60
Damage = Callable[[Path], None]


class Recalling(Embedder):
    """The packaged model, which computes the vector of each text once; `computing` does so each time."""

    def __init__(self, computing: Embedder) -> None:
        super().__init__()
        self.computing = computing
        self._model = computing.load()
        self._known: dict[tuple[str, bool], Floats] = {}

    def _encode(self, texts: Sequence[str], *, is_query: bool = False) -> Floats:
        if new := [text for text in dict.fromkeys(texts) if (text, is_query) not in self._known]:
            for text, vector in zip(new, super()._encode(new, is_query=is_query), strict=True):
                self._known[text, is_query] = vector
        vectors = [self._known[text, is_query] for text in texts]
        return np.array(vectors, dtype=np.float32).reshape(len(texts), self.dimension)


@pytest.fixture(scope="module")
def embedder(embedder: Embedder) -> Recalling:
    """The cases of damage are about files, and their few texts are the same in all."""
    return Recalling(embedder)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Path:
    """A folder with some memories, one of several chunks, closed cleanly, its rows in the indices."""
    home = tmp_path_factory.mktemp("whole") / "home"
    with LocalMemory.open(home, user_id="ana", embedder=embedder) as memory:
        for text in (*TEXTS, LONG):
            memory.add(text, infer=False)
        memory.settle()
        memory.stores.tables().optimize()
    return home


@pytest.fixture
def copied(whole: Path, home: Path) -> Path:
    shutil.copytree(whole, home)
    return home


@pytest.fixture(scope="module")
def before(whole: Path, embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, Any]]:
    """What the whole folder answers."""
    home = shutil.copytree(whole, tmp_path_factory.mktemp("before") / "home")
    with LocalMemory.open(home, user_id="ana", clock=Clock(), embedder=embedder) as memory:
        return answers(memory)


def answers(memory: LocalMemory) -> list[tuple[str, Any]]:
    """Ids and scores; which texts share a batch shows in the seventh digit of a vector."""
    return [(hit.memory.id, pytest.approx(hit.score, abs=1e-6)) for hit in memory.search("Maria in the harbour").hits]


def table_of(home: Path) -> Tables:
    return Tables(home / "lancedb", 384)


def some_id(tables: Tables) -> str:
    return min(tables.memory_ids())


# What is done to files


def changed(pattern: str, change: Callable[[bytes], bytes | None]) -> Damage:
    """Changes, or removes, the files that a pattern names."""

    def damage(home: Path) -> None:
        files = [path for path in (home / "lancedb").glob(pattern) if path.is_file()]
        assert files
        for path in files:
            contents = change(path.read_bytes())
            if contents is None:
                path.unlink()
            else:
                path.write_bytes(contents)

    return damage


def removed(_contents: bytes) -> None:
    return None


def halved(contents: bytes) -> bytes:
    return contents[: len(contents) // 2]


def emptied(_contents: bytes) -> bytes:
    return b""


def one_byte_of_a_vector(home: Path) -> None:
    tables = table_of(home)
    [row, *_] = tables.rows("memories", [some_id(tables)])
    lies_in = row["vector"].astype("<f4").tobytes()
    one_byte_changed(home, lies_in, 3)


def one_byte_of_an_id(home: Path) -> None:
    one_byte_changed(home, some_id(table_of(home)).encode(), 5)


def one_byte_changed(home: Path, around: bytes, offset: int) -> None:
    for path in (home / "lancedb" / "memories.lance" / "data").iterdir():
        contents = bytearray(path.read_bytes())
        at = contents.find(around)
        if at >= 0:
            contents[at + offset] ^= 1
            path.write_bytes(contents)


# What is done to rows


def a_row_missing(home: Path) -> None:
    tables = table_of(home)
    tables.delete_memories([some_id(tables)])


def an_entity_missing(home: Path) -> None:
    tables = table_of(home)
    tables.delete_entities(tables.entity_ids())


def a_part_missing(home: Path) -> None:
    table_of(home)._memories.delete("chunk = 1")


def the_last_part_missing(home: Path) -> None:
    table = table_of(home)._memories
    last = max(table.search().select(["chunk"]).to_arrow().column("chunk").to_pylist())
    table.delete(f"chunk = {last}")


def a_row_doubled(home: Path) -> None:
    tables = table_of(home)
    table = tables._memories
    table.add(table.search().where(f"id = '{some_id(tables)}'").to_arrow())


def a_row_too_many(home: Path) -> None:
    tables = table_of(home)
    table = tables._memories
    row = table.search().where(f"id = '{some_id(tables)}'").to_arrow()
    table.add(row.set_column(row.schema.get_field_index("id"), "id", [["0000000strange"]]))


def set_in_one(column: str, value: object) -> Damage:
    def damage(home: Path) -> None:
        tables = table_of(home)
        tables._memories.update(where=f"id = '{some_id(tables)}'", values={column: value})

    return damage


def set_in_the_entity(column: str, value: object) -> Damage:
    return lambda home: table_of(home)._entities.update(where="true", values={column: value}) and None


another_vector = [0.6, 0.8] + [0.0] * 382
ROWS = {
    "a row missing": (a_row_missing, {"missing"}),
    "an entity missing": (an_entity_missing, {"missing"}),
    "a part of a text missing": (a_part_missing, {"missing"}),
    "the last part of a text missing": (the_last_part_missing, {"missing"}),
    "a row doubled": (a_row_doubled, {"doubled"}),
    "a row too many": (a_row_too_many, {"extra"}),
    "a text changed": (set_in_one("text", "Statement 0 about Marta"), {"field"}),
    "a time changed": (set_in_one("expires_at", "2026-06-15T12:00:00Z"), {"field"}),
    "a number changed": (set_in_one("importance", 0.51), {"field"}),
    "the metadata changed": (set_in_one("metadata", '{"a": 1}'), {"field"}),
    "the user changed": (set_in_one("user_id", "ben"), {"field", "index"}),
    "a name changed": (set_in_the_entity("name", "Marta"), {"field"}),
    "a vector changed": (set_in_one("vector", another_vector), {"vector"}),
    "a vector of nothing": (set_in_one("vector", [0.0] * 384), {"vector"}),
    "the vector of a name changed": (set_in_the_entity("vector", another_vector), {"vector"}),
    "one byte of a vector": (one_byte_of_a_vector, {"vector"}),
    "one byte of an id": (one_byte_of_an_id, {"missing", "extra"}),
}  # fmt: skip
TORN = {
    f"{part} {name}": changed(f"memories.lance/{pattern}", change)
    for part, pattern in (("data", "data/*"), ("manifests", "_versions/*"), ("indices", "_indices/*/*"))
    for name, change in (("removed", removed), ("cut", halved), ("emptied", emptied))
} | {
    "the entities' data removed": changed("entities.lance/data/*", removed),
    "a manifest made junk": changed("memories.lance/_versions/*", lambda _: b"junk"),
}
LOST = {
    "the table removed": lambda home: shutil.rmtree(home / "lancedb" / "memories.lance"),
    "the entities removed": lambda home: shutil.rmtree(home / "lancedb" / "entities.lance"),
    "all removed": lambda home: shutil.rmtree(home / "lancedb"),
}
CASES = (
    [pytest.param(damage, flaws, id=name) for name, (damage, flaws) in ROWS.items()]
    + [pytest.param(damage, {"unreadable"}, id=name) for name, damage in TORN.items()]
    + [pytest.param(damage, {"missing"}, id=name) for name, damage in LOST.items()]
)


def test_a_whole_folder_has_no_differences(copied: Path, open_memory: Opener, embedder: Recalling) -> None:
    told: list[tuple[int, int]] = []
    found = open_memory(embedder=embedder.computing).verify(lambda done, total: told.append((done, total)))
    assert (found.n_memories, found.n_entities, found.differences) == (4, 2, ())
    assert told[-1] == (6, 6)


@pytest.mark.parametrize(("damage", "flaws"), CASES)
def test_every_damage_is_found_by_verify_and_healed_by_rebuild(
    copied: Path, open_memory: Opener, before: list[tuple[str, Any]], damage: Damage, flaws: set[str]
) -> None:
    damage(copied)
    memory = open_memory()
    assert {difference.flaw for difference in memory.verify().differences} == flaws
    memory.rebuild()
    assert memory.verify().differences == ()
    assert answers(memory) == before
    memory.close()
    assert [path.name for path in copied.glob("lancedb*")] == ["lancedb"]


@pytest.mark.parametrize("name", ["data removed", "data cut", "manifests emptied", "indices removed", "all removed"])
def test_tables_that_cannot_be_used_are_made_anew_without_being_asked(
    copied: Path, open_memory: Opener, before: list[tuple[str, Any]], name: str
) -> None:
    (TORN | LOST)[name](copied)
    memory = open_memory()
    memory.search("Maria in the harbour")
    memory.settle()
    assert answers(memory) == before
    assert memory.search("Maria").degraded == ()
    assert memory.verify().differences == ()


def test_damaged_tables_are_kept_aside_once(copied: Path, open_memory: Opener) -> None:
    for _ in range(2):
        changed("memories.lance/_versions/*", emptied)(copied)
        memory = open_memory()
        memory.warm()
        memory.close()
    assert sorted(path.name for path in copied.glob("lancedb*")) == ["lancedb", "lancedb.damaged"]


# How many parts a text has, and what its vector is, shows only when it is embedded again: `verify` does that.
SEEN_AT_ONCE = [name for name in ROWS if name != "the last part of a text missing" and "vector" not in name]


@pytest.mark.parametrize("name", [*SEEN_AT_ONCE, "a vector of nothing"])
def test_after_an_unclean_stop_rows_are_compared_before_they_are_relied_upon(
    copied: Path, open_memory: Opener, before: list[tuple[str, Any]], name: str
) -> None:
    killed(copied, open_memory)
    ROWS[name][0](copied)
    memory = open_memory()
    assert memory.stores.log.pending().memory_ids == ()
    assert not memory.stores.are_tables_checked
    assert answers(memory) == before
    assert memory.verify().differences == ()


def killed(home: Path, open_memory: Opener) -> None:
    """Leave the folder as a process does that is killed while it has the tables open."""
    memory = open_memory()
    memory.stores.tables()
    as_it_was = home.with_name("killed")
    shutil.copytree(home, as_it_was)
    memory.close()
    shutil.rmtree(home)
    as_it_was.rename(home)


def test_what_was_applied_is_recorded_once_its_files_are_old(
    open_memory: Opener, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    for text in TEXTS[:2]:
        memory.add(text, infer=False)
        memory.settle()
    assert memory.stores.log.get_meta("applied_through") == ""
    monkeypatch.setattr(log, "SAFE_AGE_S", 0.0)
    memory.add(TEXTS[2], infer=False)
    n_events = memory.stores.log.last_event()
    assert 0 < int(memory.stores.log.get_meta("applied_through")) < n_events
    memory.close()
    again = open_memory()
    assert again.stores.log.get_meta("applied_through") == str(n_events)
    assert again.stores.are_tables_checked


def test_changes_during_a_rebuild_are_in_it(copied: Path, open_memory: Opener) -> None:
    memory = open_memory()
    gone = memory.list()[0].id
    asked: list[bool] = []

    def change(_done: int, _total: int) -> None:
        if not asked:
            asked.append(True)
            memory.add("Said while the tables were made anew", infer=False)
            memory.delete(gone)
            with pytest.raises(StorageError, match="being rebuilt already"):
                memory.rebuild()

    memory.rebuild(change)
    assert memory.verify().differences == ()
    assert "Said while the tables were made anew" in [hit.memory.text for hit in memory.search("made anew").hits]
    assert gone not in memory.stores.tables().memory_ids()


def test_a_rebuild_that_fails_leaves_the_tables_as_they_were(
    copied: Path, open_memory: Opener, before: list[tuple[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()

    def fails(*_given: object) -> None:
        raise StorageError("the disk is full", hint="free some space")

    with monkeypatch.context() as patch:
        patch.setattr(Tables, "put_entities", fails)
        with pytest.raises(StorageError, match="disk is full"):
            memory.rebuild()
    assert answers(memory) == before
    assert memory.verify().differences == ()
    assert memory.rebuild().n_resumed == 4


def test_a_torn_half_rebuild_is_begun_anew(copied: Path, open_memory: Opener) -> None:
    shutil.copytree(copied / "lancedb", copied / "lancedb.new")
    for path in (copied / "lancedb.new" / "memories.lance" / "data").iterdir():
        path.write_bytes(b"")
    memory = open_memory()
    assert memory.rebuild().n_resumed == 0
    assert memory.verify().differences == ()


def test_an_empty_folder_can_be_verified_and_rebuilt(open_memory: Opener) -> None:
    memory = open_memory()
    assert memory.verify().differences == ()
    memory.rebuild()
    memory.add("I keep bees", infer=False)
    assert memory.verify().differences == ()


def test_the_tolerance_is_wider_than_what_a_batch_changes(embedder: Recalling) -> None:
    model = embedder.computing
    together = model.embed_texts([("2026-06-15", text) for text in (*TEXTS, LONG)])
    alone = [model.embed_texts([("2026-06-15", text)])[0] for text in (*TEXTS, LONG)]
    gaps = [np.abs(a - b).max() for a, b in zip(together, alone, strict=True)]
    assert max(gaps) < TOLERANCE / 10


def test_the_commands_tell_and_mend_and_exit_accordingly(copied: Path) -> None:
    run = CliRunner().invoke
    whole = run(app, ["verify"])
    assert (whole.exit_code, whole.stdout) == (0, "4 memories and 2 entities: all as in the log\n")
    a_row_missing(copied)
    torn = run(app, ["verify"])
    assert torn.exit_code == 1
    assert torn.stdout.startswith("missing memories ")
    assert "run: mcp-memory rebuild" in torn.stdout
    found = json.loads(run(app, ["verify", "--json"]).stdout)
    assert [difference["flaw"] for difference in found["differences"]] == ["missing"]
    mended = run(app, ["rebuild"])
    assert (mended.exit_code, mended.stdout) == (0, "made anew from the log: 4 memories, 2 entities\n")
    assert json.loads(run(app, ["verify", "--json"]).stdout)["ok"]


@pytest.mark.slow
def test_a_running_engine_verifies_and_rebuilds_and_says_how_far_it_is(
    copied: Path, start: Callable[..., Server]
) -> None:
    start(shared=True).initialize()
    engine = RemoteMemory.of_running("cli")
    assert engine
    with engine:
        assert_verifies_and_rebuilds(engine)
    assert CliRunner().invoke(app, ["engine", "stop"]).exit_code == 0


def assert_verifies_and_rebuilds(engine: RemoteMemory) -> None:
    engine.add("Said to the engine", infer=False)
    told: list[tuple[int, int]] = []
    found = engine.verify(lambda done, total: told.append((done, total)))
    assert (found.n_memories, found.differences) == (5, ())
    made = engine.rebuild(lambda done, total: told.append((done, total)))
    assert (made.n_memories, made.n_resumed) == (5, 0)
    assert (0, 7) in told
    assert engine.verify().differences == ()
