"""Each signal's formula, by hand arithmetic and by its bounds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory import score
from mcp_memory.score import Floats

counts = st.integers(0, 100_000)
unit = st.floats(0, 1, width=32)
lengths = st.floats(1, 10_000)


def floats(*values: float) -> Floats:
    return np.array(values, dtype=np.float32)


def test_similarity_is_the_cosine_and_nothing_below_zero() -> None:
    assert score.semantic(floats(-1.0, -0.25, 0.0, 0.5, 1.0)).tolist() == [0.0, 0.0, 0.0, 0.5, 1.0]


def test_rounding_never_takes_similarity_above_one() -> None:
    assert score.semantic(floats(1.0000001)).tolist() == [1.0]


def test_idf_is_lucenes() -> None:
    # 10 documents, 2 of them with the term: ln(1 + (10 - 2 + 0.5) / (2 + 0.5)) = ln(1 + 3.4) = ln 4.4
    assert score.idf(10, 2) == pytest.approx(math.log(4.4))
    # None with it: ln(1 + 10.5 / 0.5) = ln 22; all with it: ln(1 + 0.5 / 10.5) = ln(22 / 21)
    assert score.idf(10, 0) == pytest.approx(math.log(22))
    assert score.idf(10, 10) == pytest.approx(math.log(22 / 21))


@given(counts, st.data())
def test_idf_is_positive_and_falls_with_every_document_that_has_the_term(n: int, data: st.DataObject) -> None:
    containing = data.draw(st.integers(0, max(0, n - 1)))
    assert score.idf(n, containing) > 0
    if n:
        assert score.idf(n, containing) > score.idf(n, containing + 1)


def test_saturation_by_hand() -> None:
    # At the mean length the norm is k1 = 1.5: once 1 / (1 + 1.5) = 0.4, three times 3 / (3 + 1.5) = 2/3.
    assert score.bm25_saturation(1, 8, 8) == pytest.approx(0.4)
    assert score.bm25_saturation(3, 8, 8) == pytest.approx(2 / 3)
    # Twice the mean length: norm 1.5 (0.25 + 0.75 · 2) = 2.625, so 1 / 3.625.
    assert score.bm25_saturation(1, 16, 8) == pytest.approx(1 / 3.625)


@given(st.integers(0, 1000), lengths, lengths, lengths)
def test_saturation_stays_below_one_rises_with_frequency_and_falls_with_length(
    frequency: int, length: float, longer_by: float, mean: float
) -> None:
    share = score.bm25_saturation(frequency, length, mean)
    assert 0 <= share < 1
    assert score.bm25_saturation(frequency + 1, length, mean) >= share
    assert score.bm25_saturation(frequency, length + longer_by, mean) <= share


def test_keyword_is_the_share_of_the_querys_idf() -> None:
    # Of an idf sum of 4, earnings of 1 and 3 are a quarter and three quarters; 5 is capped.
    assert score.keyword(floats(0, 1, 3, 5), 4.0).tolist() == [0.0, 0.25, 0.75, 1.0]


def test_a_query_without_terms_covers_nothing() -> None:
    assert score.keyword(floats(0, 0), 0.0).tolist() == [0.0, 0.0]


@given(st.lists(st.floats(0, 100, width=32), min_size=2, max_size=10), st.floats(0.125, 100))
def test_keyword_stays_in_bounds_and_keeps_the_order(bm25: list[float], idf_sum: float) -> None:
    shares = score.keyword(floats(*sorted(bm25)), idf_sum)
    assert np.all((shares >= 0) & (shares <= 1))
    assert np.all(np.diff(shares) >= 0)


def test_entity_boost_by_hand() -> None:
    # One memory: 0.5 / 1. Eleven: 0.5 / (1 + 0.001 · 10²) = 0.5 / 1.1. A name 0.8 alike: 0.8 · 0.5.
    assert score.entity(1.0, 1) == 0.5
    assert score.entity(1.0, 11) == pytest.approx(0.5 / 1.1)
    assert score.entity(0.8, 1) == pytest.approx(0.4)


@given(unit, st.integers(1, 10**6))
def test_a_hub_never_says_more_than_a_rare_name(similarity: float, n_linked: int) -> None:
    boost = score.entity(similarity, n_linked)
    assert 0 <= score.entity(similarity, n_linked + 1) <= boost <= 0.5


def test_the_better_neighbour_counts() -> None:
    assert score.neighbour(floats(0.25, 0.5, 0.0), floats(0.5, 0.25, 0.0)).tolist() == [0.5, 0.5, 0.0]


@given(st.floats(-2, 2, width=32), st.floats(-2, 2, width=32))
def test_neighbours_may_swap_places(previous: float, following: float) -> None:
    there = score.neighbour(floats(previous), floats(following))
    assert there == score.neighbour(floats(following), floats(previous))
    assert 0 <= there[0] <= 1


def test_exact_is_the_share_of_literals_found() -> None:
    assert (score.exact(1, 4), score.exact(4, 4), score.exact(0, 0)) == (0.25, 1.0, 0.0)


def test_another_label_counts_half_and_more_than_a_step_of_the_way() -> None:
    assert score.of_label(is_meant=True) == score.fact(0) == 1.0
    assert score.of_label(is_meant=False) == 0.5 > score.fact(1)


def test_recency_halves_with_each_half_life() -> None:
    # Half-life 30 days: new 1, 30 days 1/2, 60 days 1/4; tomorrow counts as new.
    assert score.recency(floats(0, 30, 60, -1), 30.0).tolist() == [1.0, 0.5, 0.25, 1.0]


@given(st.lists(st.floats(-1000, 10_000, width=32), min_size=2, max_size=10), st.floats(1, 1000))
def test_recency_falls_with_age_and_stays_in_bounds(ages: list[float], half_life: float) -> None:
    weights = score.recency(floats(*sorted(ages)), half_life)
    assert np.all((weights >= 0) & (weights <= 1))
    assert np.all(np.diff(weights) <= 0)
