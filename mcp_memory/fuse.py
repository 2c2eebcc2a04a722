"""Signals to one score: weighted sum, fixed map to relevance in [0, 1], then importance and recency."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .records import Weighting
from .score import Floats

# How far a memory is raised towards its relevance to a rewritten question. More cost a small model's poor rewritings
# first places; less took the gain from good ones.
REWRITTEN_SHARE = 1 / 3


@dataclass(frozen=True, slots=True)
class SignalWeights:
    """How much each signal counts in relevance. `scale` is the sum that maps to relevance 1."""

    semantic: float
    keyword: float
    entity: float
    neighbour: float
    exact: float
    speaker: float
    fact: float
    date: float
    scale: float


# Source of the gated weights: the reference formula, (semantic + keyword + entity) / 2.5.
GATED = SignalWeights(1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, scale=2.5)
FUSED = SignalWeights(1.0, 1.5, 0.5, 0.8, 0.5, 0.25, 1.5, 0.2, scale=3.0)


# What a setting can weigh by name. The scale stays: floor and thresholds are measured against it.
SIGNAL_NAMES = tuple(field.name for field in fields(SignalWeights) if field.name != "scale")


@dataclass(frozen=True, slots=True)
class ScoreWeights:
    """Shares of relevance, importance and recency in the final score; any non-negative numbers.

    Recency is halved every `half_life_days`.
    """

    relevance: float = 0.9
    importance: float = 0.05
    recency: float = 0.05
    half_life_days: float = 30.0


# Source of `chat`: measured on LoCoMo. `compliance`: no date counts, so that nothing sinks by age; importance counts
# three times as much, which leaves the reach of ratings below a tenth of relevance, as it is in `chat`.
PROFILES: Mapping[Weighting, ScoreWeights] = {
    "chat": ScoreWeights(),
    "compliance": ScoreWeights(relevance=0.85, importance=0.15, recency=0.0),
    "retrieval": ScoreWeights(relevance=1.0, importance=0.0, recency=0.0),
}


@dataclass(frozen=True, slots=True)
class ScopeWeights:
    """How much a memory counts by whose it is, in [0, 1], where a search looks everywhere; 0 leaves it out."""

    user: float = 1.0
    agent: float = 1.0
    other_agents: float = 0.5
    run: float = 1.0


class SignalColumns(Protocol):
    """Each signal of every row, shape (n_rows,) each."""

    semantic: Floats
    keyword: Floats
    entity: Floats
    neighbour: Floats
    exact: Floats
    speaker: Floats
    fact: Floats
    date: Floats


def relevance(signals: SignalColumns, weights: SignalWeights) -> Floats:
    """Relevance in [0, 1] of each row: the weighted sum over a fixed scale, never stretched to a query's best.

    Monotone in every signal, and the same signals give the same value whatever else was found.
    """
    total = (
        weights.semantic * signals.semantic
        + weights.keyword * signals.keyword
        + weights.entity * signals.entity
        + weights.neighbour * signals.neighbour
        + weights.exact * signals.exact
        + weights.speaker * signals.speaker
        + weights.fact * signals.fact
        + weights.date * signals.date
    )
    mapped: Floats = np.clip(total / np.float32(weights.scale), 0.0, 1.0).astype(np.float32)
    return mapped


def with_rewritten(original: Floats, rewritten: Sequence[Floats]) -> tuple[Floats, NDArray[np.intp]]:
    """Relevance in [0, 1] of each row to a question and its rewritings, and which of them raised it (0: none, 1, 2, …).

    r + s · max(0, max_i r_i − r) with r the relevance to the question, r_i that to its i-th rewriting and s = 1/3:
    a third of the way to the best rewriting where that is higher. No memory loses by a rewriting; of two that a
    rewriting finds alike, the one that answers the question itself comes first; and where nothing is relevant to
    either, nothing becomes so.
    Source: between no combination (s = 0) and CombMAX (s = 1) of Fox and Shaw, "Combination of Multiple Searches",
    TREC-2, 1994.
    """
    queries = np.stack([original, *rewritten])
    # The first of equal ones: a rewriting must be better than the question itself.
    counted = np.argmax(queries, axis=0)
    raised: Floats = original + np.float32(REWRITTEN_SHARE) * (np.max(queries, axis=0) - original)
    return raised, counted


def scope_weight(
    is_about_agent: NDArray[np.bool_], is_own: NDArray[np.bool_], is_in_run: NDArray[np.bool_], weights: ScopeWeights
) -> Floats:
    """The factor in [0, 1] that the relevance of each row is multiplied by, 0 where it is not to be found.

    Of its three parts exactly one holds for a row: it is about the user, or about the agent that searches (`is_own`:
    written by it), or about another one. `weights.run` multiplies that within the run that the search names.
    """
    of_agents = np.where(is_own, weights.agent, weights.other_agents)
    by_owner = np.where(is_about_agent, of_agents, weights.user)
    factor: Floats = np.where(is_in_run, by_owner * weights.run, by_owner).astype(np.float32)
    return factor


def score(relevance: Floats, importance: Floats, recency: Floats, weights: ScoreWeights) -> Floats:
    """Score in [0, 1] of each row: the weighted mean of the three; with all weights zero, relevance alone."""
    total = weights.relevance + weights.importance + weights.recency
    if total < 1e-9:
        return relevance
    mixed: Floats = weights.relevance * relevance + weights.importance * importance + weights.recency * recency
    return mixed / np.float32(total)
