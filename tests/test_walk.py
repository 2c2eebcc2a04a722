"""Ways along facts: how far they lead, and what they leave out."""

from collections.abc import Sequence

import pytest
from town import HUB, NOW, OWNER, Said, Writer

from mcp_memory.fact_keys import labels_of
from mcp_memory.knowledge import MAX_LINKED, walk
from mcp_memory.memory import LocalMemory
from mcp_memory.mentions import name_key
from mcp_memory.phrases import USER_KEY
from tests.conftest import Opener


def told(open_memory: Opener, said: Sequence[Said]) -> LocalMemory:
    """A memory of one memory for each fact."""
    memory = open_memory(user_id=OWNER.user_id)
    Writer(memory).write([(" ".join(filter(None, fact)), [fact]) for fact in said], NOW)
    return memory


def entity_id(memory: LocalMemory, key: str) -> str:
    entity = memory.stores.index_of(memory.user_id).names.by_key(key)
    assert entity is not None
    return entity.id


def reached(memory: LocalMemory, name: str, *, depth: int = 2, limit: int = 50) -> dict[str, int]:
    """Steps by the text of each memory that a walk from a name reaches."""
    start, user = entity_id(memory, name_key(name)), entity_id(memory, USER_KEY)
    found = walk(memory.stores.log, memory.user_id, [start], user, (NOW, NOW), depth, limit)
    texts = memory.stores.log.get_texts([memory_id for memory_id, _ in found])
    return {texts[memory_id]: hops for memory_id, hops in found}


def works(name: str) -> Said:
    return (name, "works_at", "", HUB, HUB)


def test_a_walk_counts_the_steps_and_goes_no_further_than_it_is_told(open_memory: Opener) -> None:
    chain: list[Said] = [
        ("", "sister", "", "Eva", "Eva"),
        ("Eva", "boss", "", "Tom", "Tom"),
        ("Tom", "friend", "", "Mei", "Mei"),
        ("Mei", "dog", "", "Rex", "Rex"),
    ]
    memory = told(open_memory, chain)
    near = {"sister Eva Eva": 1, "Eva boss Tom Tom": 1, "Tom friend Mei Mei": 2}
    assert reached(memory, "Eva") == near
    assert reached(memory, "Eva", depth=3) == near | {"Mei dog Rex Rex": 3}


@pytest.mark.parametrize(("n_workers", "n_reached"), [(MAX_LINKED, 1 + MAX_LINKED), (MAX_LINKED + 1, 2)])
def test_a_walk_does_not_lead_through_what_too_many_memories_name(
    open_memory: Opener, n_workers: int, n_reached: int
) -> None:
    others = [f"Tom{number}" for number in range(n_workers - 1)]
    memory = told(open_memory, [("", "sister", "", "Eva", "Eva"), *map(works, ("Eva", *others))])
    assert len(reached(memory, "Eva", limit=2 * MAX_LINKED)) == n_reached


def test_of_those_as_near_a_walk_gives_the_newest(open_memory: Opener) -> None:
    memory = told(open_memory, [("", "sister", "", "Eva", "Eva"), *map(works, ("Eva", "Tom", "Mei"))])
    assert list(reached(memory, HUB, limit=2)) == [f"{name} works_at {HUB} {HUB}" for name in ("Mei", "Tom")]


def test_labels_are_found_by_their_first_word_alone(open_memory: Opener) -> None:
    labels = ("shoe", "shoe size", "shoelace", "running shoe")
    memory = told(open_memory, [("", "other", label, "42", "") for label in labels])
    log, user = memory.stores.log, entity_id(memory, USER_KEY)
    assert labels_of(log, [user], {"what", "shoe"}) == {"shoe", "shoe size"}
    assert labels_of(log, [user], {"size", 'a"b', "o'clock"}) == set()
