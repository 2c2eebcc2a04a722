"""The index in memory: neighbours, rows and vectors stay right, and a reopened folder gives the same index."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from mcp_memory.index import SHORT_CHARS, UserIndex
from mcp_memory.memory import LocalMemory
from mcp_memory.records import Memory as Record
from mcp_memory.schema import to_micros
from mcp_memory.score import Floats
from tests.conftest import Clock, Opener

DAY = datetime(2026, 1, 1, tzinfo=UTC)
BASE = Record(
    id="", user_id="ana", agent_id="", run_id="r1", position=0, speaker="", role="user", about="user", kind="note",
    text="t", lemmas="t", hash="", language="", importance=0.5, observed_at=DAY, created_at=DAY, updated_at=DAY,
    expires_at=None, valid_from=None, invalid_at=None, closed_at=None, superseded_by="", state="active",
    episode_id="e", metadata={}, model="", prompt="", revision="",
)  # fmt: skip

Links = dict[str, tuple[str, str]]


def index_of(*ids: str, run_id: str = "r1", n_chars: int = 10) -> UserIndex:
    """An index of one run, each memory under its id as its only word."""
    index = UserIndex(2)
    for memory_id in ids:
        index.put(replace(BASE, id=memory_id, run_id=run_id), [memory_id], n_chars)
    return index


def links(index: UserIndex) -> Links:
    """The ids of the memories before and after each memory, '' where there is none."""

    def neighbour(column: str, row: int) -> str:
        place = int(index.column(column)[row])
        return index.ids[place] if place >= 0 else ""

    return {memory_id: (neighbour("previous", row), neighbour("next", row)) for memory_id, row in index.row_of.items()}


def chain(*ids: str) -> Links:
    """What `links` gives for one thread of these memories."""
    return {own: (before, after) for before, own, after in zip(["", *ids], ids, [*ids[1:], ""], strict=False)}


def vectors(*rows: tuple[float, float]) -> Floats:
    return np.array(rows, dtype=np.float32)


def cosines(index: UserIndex, *query: float) -> list[float]:
    found: list[float] = index.cosines(np.array(query, dtype=np.float32)).tolist()
    return found


def holders(index: UserIndex, word: str) -> set[str]:
    scores = index.keywords.scores([(word,)], len(index))
    return {index.ids[row] for row in np.flatnonzero(scores)}


# Neighbours


@pytest.mark.parametrize(
    ("removed", "left"),
    [
        ("", ["a", "b", "c"]),
        ("a", ["b", "c"]),
        ("b", ["a", "c"]),
        ("c", ["a", "b"]),
        ("ab", ["c"]),
        ("bc", ["a"]),
        ("cb", ["a"]),
        ("abc", []),
    ],
)
def test_neighbours_close_up_when_memories_go_and_more_are_appended(removed: str, left: list[str]) -> None:
    index = index_of("a", "b", "c")
    for memory_id in removed:
        index.remove(memory_id)
    assert links(index) == chain(*left)
    for memory_id in ("d", "e"):
        index.put(replace(BASE, id=memory_id), [memory_id], 10)
    assert links(index) == chain(*left, "d", "e")


def test_threads_are_linked_within_themselves_only() -> None:
    index = UserIndex(2)
    for memory_id, run_id, episode_id in [
        ("a", "r1", "e1"),
        ("x", "r2", "e1"),
        ("b", "r1", "e2"),
        ("m", "", "e3"),
        ("y", "r2", "e3"),
        ("n", "", "e3"),
    ]:
        index.put(replace(BASE, id=memory_id, run_id=run_id, episode_id=episode_id), [], 10)
    assert links(index) == chain("a", "b") | chain("x", "y") | chain("m", "n")


def test_a_short_turn_is_found_by_the_words_of_the_one_before_it() -> None:
    index = index_of("a", "b", "c")
    assert holders(index, "b") == {"b", "c"}
    index.remove("b")
    assert (holders(index, "a"), holders(index, "b")) == ({"a", "c"}, set())


def test_a_long_turn_stands_for_itself() -> None:
    index = index_of("a", "b", n_chars=SHORT_CHARS)
    assert holders(index, "a") == {"a"}


# Rows


def test_an_updated_memory_keeps_its_row_and_its_neighbours() -> None:
    index = index_of("a", "b", "c")
    before = (dict(index.row_of), links(index), len(index), dict(index.languages))
    index.put(replace(BASE, id="b", state="invalid", invalid_at=DAY + timedelta(days=1), importance=1.0), ["z"], 20)
    assert (dict(index.row_of), links(index), len(index), dict(index.languages)) == before
    row = index.row_of["b"]
    assert index.column("state")[row] == index.code("state", "invalid")
    assert index.column("invalid_at")[row] == to_micros(DAY + timedelta(days=1))
    assert (index.column("importance")[row], index.column("n_chars")[row]) == (1.0, 20)


def test_a_removed_memorys_row_is_given_to_no_other() -> None:
    index = index_of("a", "b")
    index.remove("b")
    index.remove("nobody")
    index.put(replace(BASE, id="c"), ["c"], 10)
    assert index.row_of == {"a": 0, "c": 2}
    assert index.column("is_live").tolist() == [True, False, True]


def test_an_index_grows_without_losing_anything() -> None:
    ids = [f"m{number:03}" for number in range(600)]
    index = UserIndex(2)
    for number, memory_id in enumerate(ids):
        index.put(replace(BASE, id=memory_id), [memory_id], number)
        index.put_vectors(memory_id, vectors((number, 1.0)))
    assert links(index) == chain(*ids)
    assert index.column("n_chars").tolist() == cosines(index, 1.0, 0.0) == list(range(600))


# Vectors


def test_a_memorys_best_chunk_counts() -> None:
    index = index_of("a", "b", "c")
    index.put_vectors("a", vectors((1.0, 0.0), (0.0, 1.0), (0.6, 0.8)))
    index.put_vectors("b", vectors((0.8, 0.6)))
    assert cosines(index, 1.0, 0.0) == pytest.approx([1.0, 0.8, 0.0])
    assert cosines(index, 0.0, 1.0) == pytest.approx([1.0, 0.6, 0.0])
    assert index.count_without_vector() == 1


def test_vectors_given_again_replace_the_old_ones() -> None:
    index = index_of("a", "b")
    index.put_vectors("b", vectors((0.0, 1.0), (0.8, 0.6)))
    index.put_vectors("a", vectors((1.0, 0.0), (0.0, 1.0)))
    index.put_vectors("a", vectors((0.6, 0.8), (0.8, 0.6)))
    assert cosines(index, 1.0, 0.0) == pytest.approx([0.8, 0.8])
    assert cosines(index, 0.0, 1.0) == pytest.approx([0.8, 1.0])
    index.put_vectors("a", vectors((0.6, 0.8)))
    assert cosines(index, 1.0, 0.0) == pytest.approx([0.6, 0.8])


def test_vectors_of_an_unknown_or_removed_memory_are_ignored() -> None:
    index = index_of("a", "b")
    index.remove("b")
    for memory_id in ("b", "nobody"):
        index.put_vectors(memory_id, vectors((1.0, 0.0), (0.0, 1.0)))
    assert cosines(index, 1.0, 1.0) == [0.0, 0.0]


# Against the stores


def snapshot(memory: LocalMemory) -> dict[str, object]:
    """What an index says of each memory, by id, with nothing that depends on the order of rows."""
    index = memory.stores.index_of("ana")
    with index.lock:
        columns = {
            name: {memory_id: index.column(name)[row].item() for memory_id, row in index.row_of.items()}
            for name in ("observed_at", "n_chars", "importance", "is_live", "has_vector")
        }
        linked = {
            entity_id: {index.ids[row] for row in index.names.rows(entity_id)} for entity_id in index.names.entities
        }
        words = {word: holders(index, word) for word in ("fish", "lisbon", "ana", "swim")}
        return {"links": links(index), "entities": linked, "words": words, **columns}


@pytest.mark.parametrize("removed", [[], [0], [2], [5], [0, 2, 5]])
def test_a_reopened_folder_gives_the_index_that_grew_in_use(
    open_memory: Opener, clock: Clock, removed: list[int]
) -> None:
    memory: LocalMemory = open_memory()
    memory.stores.index_of("ana")
    ids: list[str] = []
    for number, run_id in enumerate(["r2", "r1", "r2", "", "r1", "r2"]):
        contents = [f"Fish number {number} swims", f"I showed it to Ana in Lisbon, day {number}"]
        messages = [{"role": "user", "content": content} for content in contents]
        result = memory.add(messages=messages, infer=False, run_id=run_id)
        ids += [receipt.id for receipt in result.results]
        clock.advance(hours=1)
    for place in removed:
        memory.delete(ids[place])
    memory.add(messages=[{"role": "user", "content": "One more fish"}], infer=False, run_id="r2")
    grown = snapshot(memory)
    memory.close()
    assert snapshot(open_memory()) == grown


# Other words in place, and what comes back


def test_other_words_in_place_are_found_and_the_former_are_not_also_as_context_of_the_next() -> None:
    index = index_of("a", "b", "c")
    index.put(replace(BASE, id="b", language="de"), ["z"], 11)
    assert holders(index, "b") == set()
    assert holders(index, "z") == {"b", "c"}
    assert +index.languages == {"": 2, "de": 1}
    assert links(index) == chain("a", "b", "c")


def test_what_comes_back_stands_where_it_was_and_is_context_again() -> None:
    index = UserIndex(2)
    for place, memory_id in enumerate("abc"):
        index.put(replace(BASE, id=memory_id, position=place), [memory_id], 10)
    for place, memory_id in ((1, "b"), (0, "a"), (2, "c")):
        index.remove(memory_id)
        index.put(replace(BASE, id=memory_id, position=place), [memory_id], 10)
        assert links(index) == chain("a", "b", "c")
    assert holders(index, "a") == {"a", "b"}
    index.put(replace(BASE, id="d", position=3), ["d"], 10)
    assert links(index) == chain("a", "b", "c", "d")
