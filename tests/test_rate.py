"""Ratings: they move a rank a little, within bounds, for one user, for a while, and are kept."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory import score
from mcp_memory.errors import NotFoundError
from mcp_memory.fuse import PROFILES, ScoreWeights
from mcp_memory.fuse import score as mix
from mcp_memory.memory import LocalMemory
from mcp_memory.records import Change, Owner, Weighting
from mcp_memory.score import Floats
from mcp_memory.search_records import Hit
from mcp_memory.settings import load_settings
from mcp_memory.store import commit
from tests.conftest import Clock, Opener

# What no number of ratings outweighs, in relevance.
FAR = 0.1
profiles = st.sampled_from(sorted(PROFILES.values(), key=str))
unit = st.floats(0, 1, width=32)
# (whether it was useful, days since the one before)
histories = st.lists(st.tuples(st.booleans(), st.floats(0, 400)), max_size=100)


def floats(*values: float) -> Floats:
    return np.array(values, dtype=np.float32)


def learned(importance: float, value: float, age_days: float = 0.0) -> float:
    return float(score.learned_importance(floats(importance), floats(value), floats(age_days))[0])


def sum_of(history: list[tuple[bool, float]]) -> float:
    value = 0.0
    for is_useful, days in history:
        value = score.rated(value, days, is_useful=is_useful)
    return value


# The formulas


def test_ratings_are_counted_and_fade() -> None:
    # 0 + 1 = 1; 90 days later 1/2 + 1 = 1.5; 180 days later 1.5/4 - 1 = -0.625
    values = [
        score.rated(0, 0, is_useful=True),
        score.rated(1, 90, is_useful=True),
        score.rated(1.5, 180, is_useful=False),
    ]
    assert values == [1, 1.5, -0.625]


def test_importance_moves_by_a_quarter_of_the_tanh() -> None:
    # 0.25 · tanh(1/4) = 0.0612; 0.25 · tanh(3/4) = 0.1588; 0.25 · tanh(8/4) = 0.2410
    found = [learned(0.5, value) for value in (0, 1, 3, 8, -8)]
    assert found == pytest.approx([0.5, 0.5612, 0.6588, 0.7410, 0.2590], abs=1e-4)
    # half of 8 is left after 90 days: 0.25 · tanh(4/4) = 0.1904
    assert learned(0.5, 8, 90) == pytest.approx(0.6904, abs=1e-4)
    assert (learned(0.95, 8), learned(0.05, -8)) == (1, 0)


@given(histories)
def test_the_sum_of_ratings_is_bounded_and_the_last_word_counts(history: list[tuple[bool, float]]) -> None:
    value = sum_of(history)
    assert -score.RATING_LIMIT <= value <= score.RATING_LIMIT
    if history:
        before = sum_of(history[:-1])
        is_useful, days = history[-1]
        faded = before * 0.5 ** (days / score.RATING_HALF_LIFE_DAYS)
        at_limit = score.RATING_LIMIT if is_useful else -score.RATING_LIMIT
        assert (value > faded) == is_useful or faded == value == at_limit


@given(unit, st.floats(-8, 8), st.floats(-8, 8), st.floats(-10, 4000))
def test_importance_is_bounded_and_monotone_in_ratings(
    importance: float, one: float, other: float, days: float
) -> None:
    low, high = (learned(importance, value, days) for value in sorted([one, other]))
    assert 0 <= low <= high <= 1
    assert abs(low - importance) <= 0.25 + 1e-6
    assert abs(high - importance) <= 0.25 + 1e-6


@given(unit, st.floats(-8, 8), st.floats(0, 4000), st.floats(0, 4000))
def test_what_ratings_moved_goes_back_with_time(importance: float, value: float, one: float, other: float) -> None:
    near, far = (abs(learned(importance, value, days) - importance) for days in sorted([one, other]))
    assert far <= near + 1e-6


@given(unit, unit, st.floats(-8, 8), st.floats(0, 4000))
def test_ratings_keep_the_order_of_importance(one: float, other: float, value: float, days: float) -> None:
    low, high = sorted([one, other])
    assert learned(low, value, days) <= learned(high, value, days)


def test_without_ratings_importance_is_as_stored() -> None:
    stored = floats(0.0, 0.25, 1.0)
    assert score.learned_importance(stored, floats(0, 0, 0), floats(1e6, 0, 0)).tolist() == stored.tolist()


def scored(
    weights: ScoreWeights, relevance: float, importance: float, age_days: float, rating: tuple[float, float]
) -> float:
    """The score of a memory of some age, rated `rating[0]`, last found useful `rating[1]` days ago."""
    value, read_days = rating
    recency = score.recency(floats(min(age_days, read_days)), weights.half_life_days)
    return float(mix(floats(relevance), floats(learned(importance, value)), recency, weights)[0])


@given(profiles, unit, unit, st.floats(0, 4000), histories, histories, st.floats(0, 4000), st.floats(0, 4000))
def test_no_ratings_outweigh_a_tenth_of_relevance(
    weights: ScoreWeights, relevance: float, importance: float, age_days: float,
    of_better: list[tuple[bool, float]], of_poorer: list[tuple[bool, float]], one_read: float, other_read: float,
) -> None:  # fmt: skip
    poorer = min(relevance, 1 - FAR)
    better = poorer + FAR
    assert scored(weights, better, importance, age_days, (sum_of(of_better), one_read)) > scored(
        weights, poorer, importance, age_days, (sum_of(of_poorer), other_read)
    )


def test_the_bound_holds_at_its_worst() -> None:
    for name, weights in PROFILES.items():
        # All against the one and all for the other, which was read just now: half of importance, all of recency.
        reach = (2 * 0.25 * weights.importance + weights.recency) / weights.relevance
        assert reach < FAR, name


# The product


def client(memory: LocalMemory, profile: Weighting) -> LocalMemory:
    return memory.as_client(load_settings(home=memory.folder, user_id="ana", profile=profile), "python")


def found(memory: LocalMemory, query: str = "red lamp") -> dict[str, Hit]:
    return {hit.memory.id: hit for hit in memory.search(query).hits}


def add(memory: LocalMemory, text: str, **given: object) -> str:
    return memory.add(text, infer=False, **given).results[0].id  # type: ignore[arg-type]


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_a_hundred_ratings_bury_no_far_better_match_and_lift_no_poor_one(
    memory: LocalMemory, clock: Clock, profile: Weighting
) -> None:
    better = add(memory, "The red lamp stands in the attic")
    poorer = add(memory, "The kettle stands in the attic")
    view = client(memory, profile)
    before = found(view, "Where is the red lamp?")
    assert before[better].relevance - before[poorer].relevance > FAR
    clock.advance(days=365)
    for _ in range(100):
        memory.rate(better, useful=False)
        memory.rate(poorer, useful=True)
    after = found(view, "Where is the red lamp?")
    assert list(after) == [better, poorer]
    assert after[better].relevance == before[better].relevance
    assert (after[better].signals.importance, after[poorer].signals.importance) == pytest.approx(
        (0.259, 0.741), abs=1e-3
    )


@pytest.mark.parametrize(("profile", "moves"), [("chat", True), ("compliance", True), ("retrieval", False)])
def test_one_rating_decides_between_equals(memory: LocalMemory, profile: Weighting, moves: bool) -> None:
    older, newer = (
        add(memory, "The red lamp is lit", kind="message"),
        add(memory, "The red lamp is lit.", kind="message"),
    )
    view = client(memory, profile)
    first, second = found(view)
    assert {first, second} == {older, newer}
    result = memory.rate(second, useful=True)
    assert (result.importance_before, result.importance) == pytest.approx((0.5, 0.5612), abs=1e-4)
    hits = found(view)
    assert list(hits) == ([second, first] if moves else [first, second])
    assert hits[second].signals.importance == pytest.approx(0.5612, abs=1e-4)
    assert hits[first].signals.importance == 0.5


def test_a_useful_read_makes_a_memory_recent_and_a_useless_one_does_not(memory: LocalMemory, clock: Clock) -> None:
    rated = add(memory, "The red lamp is lit")
    clock.advance(days=60)
    memory.rate(rated, useful=False)
    assert found(memory)[rated].signals.recency == pytest.approx(0.25)
    memory.rate(rated, useful=True)
    assert found(memory)[rated].signals.recency == 1
    clock.advance(days=30)
    memory.rate(rated, useful=False)
    assert found(memory)[rated].signals.recency == pytest.approx(0.5)


def test_a_useful_read_says_nothing_of_the_time_before_it(memory: LocalMemory, clock: Clock) -> None:
    rated = add(memory, "The red lamp is lit")
    clock.advance(days=60)
    memory.rate(rated, useful=True)
    [then] = memory.search("red lamp", as_of=clock.now.replace(day=1)).hits
    days = (clock.now.replace(day=1) - then.memory.observed_at).days
    assert then.signals.recency == pytest.approx(0.5 ** (days / 30), abs=0.02)


def test_a_memory_observed_after_its_last_useful_read_is_as_recent_as_it_was(memory: LocalMemory, clock: Clock) -> None:
    rated = add(memory, "The red lamp is lit", observed_at=clock.now)
    clock.advance(days=-30)
    memory.rate(rated, useful=True)
    clock.advance(days=60)
    assert found(memory)[rated].signals.recency == pytest.approx(0.5)


def test_ratings_fade(memory: LocalMemory, clock: Clock) -> None:
    rated = add(memory, "The red lamp is lit")
    memory.rate(rated, useful=True)
    clock.advance(days=90)
    # 0.25 · tanh(0.5 / 4) = 0.0311
    assert found(memory)[rated].signals.importance == pytest.approx(0.5311, abs=1e-4)
    result = memory.rate(rated, useful=True)
    # 0.25 · tanh(1.5 / 4) = 0.0896
    assert (result.importance_before, result.importance) == pytest.approx((0.5311, 0.5896), abs=1e-4)


def test_ratings_are_kept_when_the_folder_is_opened_again(open_memory: Opener, clock: Clock) -> None:
    memory = open_memory()
    rated = add(memory, "The red lamp is lit")
    clock.advance(days=30)
    memory.rate(rated, useful=True)
    before = found(memory)[rated]
    memory.close()
    assert found(open_memory())[rated].signals == before.signals


def test_a_rating_before_the_first_search_counts(open_memory: Opener) -> None:
    memory = open_memory()
    rated = add(memory, "The red lamp is lit")
    memory.close()
    again = open_memory()
    again.rate(rated, useful=True)
    assert found(again)[rated].signals.importance > 0.5


def test_ratings_are_in_a_backup(open_memory: Opener, tmp_path: Path) -> None:
    memory = open_memory()
    rated = add(memory, "The red lamp is lit")
    memory.rate(rated, useful=True)
    memory.backup(tmp_path / "memory.zip")
    memory.rate(rated, useful=False)
    LocalMemory.restore(tmp_path / "memory.zip", tmp_path / "other")
    assert found(open_memory(folder=tmp_path / "other"))[rated].signals.importance == pytest.approx(0.5612, abs=1e-4)


def test_a_rating_is_no_event_and_leaves_nothing_to_apply(memory: LocalMemory) -> None:
    rated = add(memory, "The red lamp is lit")
    memory.settle()
    before = memory.stores.log.last_event()
    memory.rate(rated, useful=True)
    assert memory.stores.log.last_event() == before
    assert not memory.stores.log.has_pending()


@pytest.mark.parametrize("is_reopened", [False, True])
def test_a_memory_that_comes_back_has_its_ratings(open_memory: Opener, is_reopened: bool) -> None:
    memory = open_memory()
    rated = add(memory, "The red lamp is lit")
    memory.rate(rated, useful=True)
    stores = memory.stores
    stored = stores.log.get_memories([rated])[rated]
    found(memory)
    memory.delete(rated)
    assert found(memory) == {}
    change_id = stores.ids.next(stores.clock())
    with stores.writing:
        commit(Change(change_id, stores.clock(), Owner("ana", "test"), "undo", memories=(stored,)), stores)
    if is_reopened:
        memory.close()
        memory = open_memory()
    assert found(memory)[rated].signals.importance == pytest.approx(0.5612, abs=1e-4)


def test_only_ones_own_memories_can_be_rated(memory: LocalMemory) -> None:
    rated = add(memory, "The red lamp is lit")
    other = memory.as_client(load_settings(home=memory.folder, user_id="rui"), "python")
    with pytest.raises(NotFoundError, match=f"there is no memory '{rated}'"):
        other.rate(rated, useful=False)
    assert found(memory)[rated].signals.importance == 0.5


def test_what_cannot_be_rated_is_told(memory: LocalMemory) -> None:
    gone = add(memory, "The red lamp is lit")
    memory.delete(gone)
    for wrong, message in ((gone, "was deleted"), ("0" * 12, "there is no memory"), ("lamp", "no memory id")):
        with pytest.raises(NotFoundError, match=message):
            memory.rate(wrong, useful=True)


def test_being_returned_is_no_use(memory: LocalMemory, clock: Clock) -> None:
    add(memory, "The red lamp is lit")
    first = found(memory)
    for _ in range(20):
        assert found(memory) == first
    clock.advance(days=30)
    [hit] = found(memory).values()
    assert (hit.signals.importance, hit.signals.recency) == pytest.approx((0.5, 0.5))


@given(st.permutations([True] * 3 + [False] * 2))
def test_ratings_of_one_moment_count_the_same_in_any_order(order: list[bool]) -> None:
    steps = itertools.accumulate(order, lambda value, useful: score.rated(value, 0, is_useful=useful), initial=0.0)
    assert list(steps)[-1] == 1
