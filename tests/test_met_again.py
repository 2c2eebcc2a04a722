"""What is said again, earlier or later: a fact holds from the first time on, and again after what came between."""

from collections.abc import Iterator
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_memory.embedder import Embedder
from mcp_memory.errors import ConflictError
from tests.shared_folder import SharedFolder, opened, values

HOME = "where do I live?"
BERLIN, LISBON = "I live in Berlin.", "I live in Lisbon."
JANUARY, MARCH, MAY, SEPTEMBER = "2025-01-10", "2025-03-10", "2025-05-10", "2025-09-10"
TOLD = ((BERLIN, JANUARY), (BERLIN, MARCH), (LISBON, MAY), (BERLIN, SEPTEMBER))


@pytest.fixture(scope="module")
def folder(embedder: Embedder) -> Iterator[SharedFolder]:
    with opened(embedder) as shared:
        yield shared


@pytest.mark.parametrize("told", list(permutations(TOLD)), ids=range(24))
def test_what_was_so_twice_has_its_two_times_in_whatever_order_it_was_told(
    folder: SharedFolder, told: tuple[tuple[str, str], ...]
) -> None:
    memory = folder.somebody()

    folder.tell(memory, *told)

    asked = {at: values(memory, HOME, as_of=at) for at in ("2024-12-01", "2025-02-01", "2025-06-01", "2025-10-01")}
    assert asked == {"2024-12-01": [], "2025-02-01": ["Berlin"], "2025-06-01": ["Lisbon"], "2025-10-01": ["Berlin"]}
    assert values(memory, HOME) == ["Berlin"]


@settings(max_examples=20)
@given(
    told=st.lists(
        st.tuples(st.sampled_from(("Berlin", "Lisbon", "Graz")), st.integers(1, 12)),
        max_size=7,
        unique_by=lambda t: t[1],
    )
)
def test_at_any_time_holds_what_was_said_last_before_it_and_all_of_it_can_be_undone(
    folder: SharedFolder, told: list[tuple[str, int]]
) -> None:
    memory = folder.somebody()
    changes = []
    for city, month in told:
        [receipt_id] = folder.tell(memory, (f"I live in {city}.", f"2025-{month:02}-05"))
        changes.append(memory.history(receipt_id).entries[-1].change_id)

    for month in range(1, 13):
        said = [city for city, at in sorted(told, key=lambda each: each[1]) if at <= month]
        assert values(memory, HOME, as_of=f"2025-{month:02}-20") == said[-1:]

    for change in reversed(changes):
        memory.undo(change)
    assert memory.facts(ended=True) == []
    assert memory.list(states=("active", "invalid")) == []


def test_what_was_known_before_what_came_between_was_told_is_known_for_that_time(folder: SharedFolder) -> None:
    memory = folder.somebody()
    folder.tell(memory, (BERLIN, JANUARY), (BERLIN, SEPTEMBER))
    before = folder.clock()
    folder.clock.advance(hours=1)
    folder.tell(memory, (LISBON, MAY))

    june = "2025-06-01"

    assert values(memory, HOME, as_of=june, known_at=before) == ["Berlin"]
    assert values(memory, HOME, as_of=june) == ["Lisbon"]


def test_what_came_between_is_undone_as_one(folder: SharedFolder) -> None:
    memory = folder.somebody()
    folder.tell(memory, (BERLIN, JANUARY), (BERLIN, SEPTEMBER))
    was = [(fact.id, fact.valid_from, fact.invalid_at) for fact in memory.facts(ended=True)]
    folder.tell(memory, (LISBON, MAY))

    [lisbon] = [row for row in memory.list(states=("active", "invalid")) if row.text == LISBON]
    memory.undo(lisbon.revision)

    assert [(fact.id, fact.valid_from, fact.invalid_at) for fact in memory.facts(ended=True)] == was
    assert values(memory, HOME, as_of="2025-06-01") == ["Berlin"]


def test_that_something_was_met_again_is_not_undone_under_what_rests_on_it(folder: SharedFolder) -> None:
    memory = folder.somebody()
    [berlin, _] = folder.tell(memory, (BERLIN, JANUARY), (BERLIN, SEPTEMBER))
    [met] = [entry for entry in memory.history(berlin).entries if entry.operation == "sight"]
    folder.tell(memory, (LISBON, MAY))
    [lisbon] = [row for row in memory.list(states=("active", "invalid")) if row.text == LISBON]

    with pytest.raises(ConflictError) as refused:
        memory.undo(met.change_id)

    assert lisbon.revision in (refused.value.hint or "")
    assert values(memory, HOME) == ["Berlin"]


def test_what_only_a_deleted_memory_had_ended_holds_again_until_what_is_still_to_come(folder: SharedFolder) -> None:
    memory = folder.somebody()
    _, lisbon, _ = folder.tell(memory, (BERLIN, JANUARY), (LISBON, MAY), ("I moved to Graz.", "2027-03-01"))

    memory.delete(lisbon)

    assert values(memory, HOME) == ["Berlin"]
    assert BERLIN in [row.text for row in memory.list()]


def test_a_fact_by_hand_that_is_given_again_since_an_earlier_time_holds_since_then(folder: SharedFolder) -> None:
    memory = folder.somebody()
    memory.add_fact("me", "boss", "Eva", since="2025-06-01")
    memory.add_fact("me", "boss", "Eva", since=JANUARY)

    assert values(memory, "who is my boss?", as_of=MARCH) == ["Eva"]


def test_what_is_told_of_a_role_and_with_its_name_in_one_text_is_told_of_one_person(folder: SharedFolder) -> None:
    memory = folder.somebody()

    folder.tell(memory, ("My boss lives in Berlin.", JANUARY), ("My boss Eva lives in Rome.", MARCH))

    assert values(memory, "where does Eva live?") == ["Rome"]
    assert values(memory, "where does my boss live?", as_of="2025-02-01") == ["Berlin"]
