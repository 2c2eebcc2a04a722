"""The entities in memory: found by name, by resemblance and by row, whatever was removed before."""

import numpy as np
import pytest

from mcp_memory.gazetteer import Gazetteer
from mcp_memory.records import Entity
from mcp_memory.score import Floats

DIRECTIONS = {"ana": (1.0, 0.0), "ben": (0.8, 0.6), "cem": (0.0, 1.0)}


def an_entity(entity_id: str, name: str) -> Entity:
    return Entity(entity_id, "ana", name, name.casefold(), "person", n_linked=1, revision="")


def vector(*values: float) -> Floats:
    return np.array(values, dtype=np.float32)


def gazetteer() -> Gazetteer:
    names = Gazetteer(2)
    for name, direction in DIRECTIONS.items():
        names.put(an_entity(name, name.title()))
        names.put_vector(name, vector(*direction))
    return names


def closest(names: Gazetteer, *direction: float) -> tuple[str, float]:
    entity, similarity = names.most_similar(vector(*direction))
    return entity.id if entity else "", round(similarity, 6)


def test_the_most_similar_name_is_found_with_its_cosine() -> None:
    assert closest(gazetteer(), 1.0, 0.0) == ("ana", 1.0)
    assert closest(gazetteer(), 0.6, 0.8) == ("ben", 0.96)


@pytest.mark.parametrize(
    ("removed", "left", "cosine"),
    [
        (["ana"], "ben", 0.8),
        (["ana", "cem"], "ben", 0.8),
        (["cem", "ben"], "ana", 1.0),
        (["ben"], "ana", 1.0),
        (["ana", "ben", "cem"], "", 0.0),
    ],
)
def test_after_removals_the_most_similar_of_the_rest_is_found(removed: list[str], left: str, cosine: float) -> None:
    names = gazetteer()
    for entity_id in removed:
        names.remove(entity_id)
    assert closest(names, 1.0, 0.0) == (left, cosine)


def test_an_entity_added_after_a_removal_is_found_by_its_own_vector() -> None:
    names = gazetteer()
    names.remove("ana")
    names.put(an_entity("dov", "Dov"))
    names.put_vector("dov", vector(0.96, -0.28))
    names.remove("cem")
    assert closest(names, 1.0, 0.0) == ("dov", 0.96)


def test_nothing_resembles_a_name_where_there_are_none() -> None:
    assert closest(Gazetteer(2), 1.0, 0.0) == ("", 0.0)


@pytest.mark.parametrize(("removed", "left"), [("one", "two"), ("two", "one")])
def test_a_key_of_two_entities_survives_the_removal_of_one(removed: str, left: str) -> None:
    names = Gazetteer(2)
    names.put(an_entity("one", "Nyc"))
    names.put(an_entity("two", "New York City"), ["nyc"])
    names.remove(removed)
    found = names.by_key("nyc")
    assert found is not None
    assert found.id == left
    names.remove(left)
    assert names.by_key("nyc") is None
    assert "nyc" not in names


def test_putting_an_entity_again_replaces_it_and_keeps_its_keys() -> None:
    names = Gazetteer(2)
    names.put(an_entity("one", "Ana"), ["anita"])
    renamed = an_entity("one", "Ana Silva")
    names.put(renamed)
    assert [names.by_key(key) for key in ("ana", "anita", "ana silva")] == [renamed] * 3
    names.remove("one")
    assert not any(key in names for key in ("ana", "anita", "ana silva"))


def test_removing_an_unknown_entity_does_nothing() -> None:
    names = gazetteer()
    names.remove("nobody")
    assert names.entities.keys() == DIRECTIONS.keys()


def test_the_rows_of_an_entity_are_those_linked_and_not_unlinked() -> None:
    names = gazetteer()
    for row in (3, 1, 3):
        names.link("ana", row)
    names.link("ben", 1)
    names.unlink(1)
    assert (names.rows("ana"), names.rows("ben"), names.rows("nobody")) == ([3], [], [])
    names.remove("ana")
    assert names.rows("ana") == []
