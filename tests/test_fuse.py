"""Signals to one score: the weights by hand arithmetic, and monotone in each."""

from dataclasses import dataclass, fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.fuse import (
    FUSED,
    GATED,
    REWRITTEN_SHARE,
    SIGNAL_NAMES,
    ScopeWeights,
    ScoreWeights,
    SignalWeights,
    relevance,
    scope_weight,
    score,
    with_rewritten,
)
from mcp_memory.score import Floats


def floats(*values: float) -> Floats:
    return np.array(values, dtype=np.float32)


@dataclass(slots=True)
class Columns:
    """One row of signals, in the form that `relevance` reads."""

    semantic: Floats
    keyword: Floats
    entity: Floats
    neighbour: Floats
    exact: Floats
    speaker: Floats
    fact: Floats
    date: Floats


NAMES = tuple(field.name for field in fields(Columns))
unit = st.floats(0, 1, width=32)
rows = st.fixed_dictionaries(dict.fromkeys(NAMES, unit))
shares = st.sampled_from([0.0, 0.05, 0.5, 0.9, 1.0, 3.0])
presets = st.sampled_from([GATED, FUSED])


def columns(**values: float) -> Columns:
    return Columns(**{name: floats(values.get(name, 0.0)) for name in NAMES})


def relevance_of(weights: SignalWeights, **values: float) -> float:
    return float(relevance(columns(**values), weights)[0])


def test_gated_is_the_reference_formula() -> None:
    # (semantic + keyword + entity) / 2.5 = (0.5 + 0.25 + 0.5) / 2.5 = 0.5
    assert relevance_of(GATED, semantic=0.5, keyword=0.25, entity=0.5) == pytest.approx(0.5)


@given(rows)
def test_gated_is_the_reference_formula_for_any_signals(row: dict[str, float]) -> None:
    expected = min(1.0, (row["semantic"] + row["keyword"] + row["entity"]) / 2.5)
    assert relevance_of(GATED, **row) == pytest.approx(expected, abs=1e-6)


def test_fused_weighs_each_signal() -> None:
    # Each signal alone, at full strength: its weight over the scale.
    for name in NAMES:
        expected = min(1.0, getattr(FUSED, name) / FUSED.scale)
        assert relevance_of(FUSED, **{name: 1.0}) == pytest.approx(expected), name


def test_signals_add_up() -> None:
    weights = SignalWeights(1.0, 2.0, 1.0, 0.5, 0.5, 0.25, 1.5, 0.25, scale=5.0)
    # (1·0.5 + 2·0.25 + 1·0.5 + 0.5·1 + 0.5·1 + 0.25·1 + 1.5·0.4 + 0.25·0.6) / 5 = 3.5 / 5 = 0.7
    strengths = {"semantic": 0.5, "keyword": 0.25, "entity": 0.5, "neighbour": 1.0, "exact": 1.0, "speaker": 1.0}
    assert relevance_of(weights, **strengths, fact=0.4, date=0.6) == pytest.approx(0.7)


def test_more_than_the_scale_is_one() -> None:
    assert relevance_of(FUSED, **dict.fromkeys(NAMES, 1.0)) == 1.0


@given(presets, rows, st.sampled_from(NAMES), unit)
def test_relevance_is_monotone_in_every_signal(
    weights: SignalWeights, row: dict[str, float], name: str, other: float
) -> None:
    low, high = sorted([row[name], other])
    assert 0 <= relevance_of(weights, **row | {name: low}) <= relevance_of(weights, **row | {name: high}) <= 1


@given(presets, rows, rows)
def test_relevance_does_not_depend_on_what_else_was_found(
    weights: SignalWeights, row: dict[str, float], other: dict[str, float]
) -> None:
    both = Columns(**{name: floats(row[name], other[name]) for name in NAMES})
    assert relevance(both, weights)[0] == relevance_of(weights, **row)


def test_a_rewriting_raises_a_memory_by_its_share_of_the_difference() -> None:
    raised, raised_by = with_rewritten(floats(0.3, 0.3, 0.0), [floats(0.9, 0.1, 0.0), floats(0.6, 0.0, 0.6)])
    # 0.3 + (0.9 - 0.3) / 3 = 0.5; not raised; 0 + (0.6 - 0) / 3 = 0.2
    assert raised.tolist() == pytest.approx([0.5, 0.3, 0.2])
    assert raised_by.tolist() == [1, 0, 2]


def test_without_a_rewriting_relevance_is_that_of_the_question() -> None:
    raised, raised_by = with_rewritten(floats(0.3, 0.0), [])
    assert raised.tolist() == floats(0.3, 0.0).tolist()
    assert raised_by.tolist() == [0, 0]


columns_of = st.lists(st.tuples(unit, unit, unit), min_size=1, max_size=8)


@given(columns_of)
def test_no_memory_loses_by_a_rewriting_and_none_passes_its_best_wording(found: list[tuple[float, ...]]) -> None:
    original, *rewritten = (floats(*column) for column in zip(*found, strict=True))
    raised, raised_by = with_rewritten(original, rewritten)
    best = np.max([original, *rewritten], axis=0)
    assert np.all(raised >= original)
    assert np.all(raised <= best + 1e-6)
    assert np.all((raised > original) <= (raised_by > 0))


@given(columns_of)
def test_another_rewriting_never_lowers_a_memory(found: list[tuple[float, ...]]) -> None:
    original, first, second = (floats(*column) for column in zip(*found, strict=True))
    assert np.all(with_rewritten(original, [first, second])[0] >= with_rewritten(original, [first])[0])


@given(unit, unit, unit)
def test_of_two_that_a_rewriting_finds_alike_the_better_answer_to_the_question_comes_first(
    one: float, other: float, alike: float
) -> None:
    low, high = sorted([one, other])
    raised = with_rewritten(floats(low, high), [floats(alike, alike)])[0]
    assert raised[0] <= raised[1] + 1e-6


def test_the_question_itself_counts_more_than_its_rewritings() -> None:
    assert 0 < REWRITTEN_SHARE < 0.5


def factor(weights: ScopeWeights, *, is_about_agent: bool, is_own: bool, is_in_run: bool) -> float:
    return float(scope_weight(np.array([is_about_agent]), np.array([is_own]), np.array([is_in_run]), weights)[0])


def test_each_memory_has_the_weight_of_its_scope_times_that_of_its_run() -> None:
    weights = ScopeWeights(user=0.75, agent=0.5, other_agents=0.25, run=0.5)
    # Who wrote it plays a part only where an agent is what it is about.
    for is_own in (True, False):
        assert factor(weights, is_about_agent=False, is_own=is_own, is_in_run=False) == 0.75
    assert factor(weights, is_about_agent=True, is_own=True, is_in_run=False) == 0.5
    assert factor(weights, is_about_agent=True, is_own=False, is_in_run=False) == 0.25
    # 0.75 · 0.5, 0.25 · 0.5
    assert factor(weights, is_about_agent=False, is_own=False, is_in_run=True) == 0.375
    assert factor(weights, is_about_agent=True, is_own=False, is_in_run=True) == 0.125


@given(st.builds(ScopeWeights, unit, unit, unit, unit), st.booleans(), st.booleans(), st.booleans())
def test_a_scope_never_raises_a_memory(
    weights: ScopeWeights, is_about_agent: bool, is_own: bool, is_in_run: bool
) -> None:
    assert 0 <= factor(weights, is_about_agent=is_about_agent, is_own=is_own, is_in_run=is_in_run) <= 1


def test_every_signal_but_not_the_scale_can_be_weighed_by_name() -> None:
    assert set(SIGNAL_NAMES) == set(NAMES)


def test_score_is_the_weighted_mean() -> None:
    # (0.9·0.5 + 0.05·1 + 0.05·0) / (0.9 + 0.05 + 0.05) = 0.5
    mixed = score(floats(0.5), floats(1.0), floats(0.0), ScoreWeights())
    assert mixed[0] == pytest.approx(0.5)


def test_weights_need_not_sum_to_one() -> None:
    # (2·0.5 + 1·1 + 1·0) / 4 = 0.5
    assert score(floats(0.5), floats(1.0), floats(0.0), ScoreWeights(2, 1, 1))[0] == pytest.approx(0.5)


def test_without_any_weight_relevance_alone_counts() -> None:
    assert score(floats(0.25), floats(1.0), floats(1.0), ScoreWeights(0, 0, 0)).tolist() == [0.25]


@pytest.mark.parametrize("tiny", [1e-9, 1e-12, 1e-30, 1e-45, 1e-300, 5e-324])
@pytest.mark.parametrize("n_parts", [1, 3])
def test_tiny_weights_give_a_score_all_the_same(tiny: float, n_parts: int) -> None:
    weights = ScoreWeights(*[tiny] * n_parts, *[0.0] * (3 - n_parts))
    # All three parts are the same, so their mean is too, whatever the weights.
    assert score(floats(0.5), floats(0.5), floats(0.5), weights).tolist() == pytest.approx([0.5])


@given(unit, unit, unit, shares, shares, shares)
def test_score_lies_between_its_parts(
    relevant: float, important: float, recent: float, w_relevance: float, w_importance: float, w_recency: float
) -> None:
    weights = ScoreWeights(w_relevance, w_importance, w_recency)
    mixed = float(score(floats(relevant), floats(important), floats(recent), weights)[0])
    parts = (relevant, important, recent)
    assert min(parts) - 1e-6 <= mixed <= max(parts) + 1e-6


@given(unit, unit, st.integers(0, 2), unit)
def test_score_is_monotone_in_each_part(base: float, other: float, place: int, rest: float) -> None:
    low, high = sorted([base, other])

    def mixed(value: float) -> float:
        relevant, important, recent = (floats(value if part == place else rest) for part in range(3))
        return float(score(relevant, important, recent, ScoreWeights())[0])

    assert mixed(low) <= mixed(high)


def test_dropping_a_signal_from_the_weights_makes_it_count_nothing() -> None:
    deaf = replace(FUSED, keyword=0.0)
    assert relevance_of(deaf, keyword=1.0) == 0.0
