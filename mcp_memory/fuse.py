"""Signals to one score: weighted sum, fixed map to relevance in [0, 1], then importance and recency."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .score import Floats

# Relevance of a memory that an agent wrote about itself, when another agent searches.
OTHER_AGENTS_WEIGHT = 0.5
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
    scale: float


# Source of the gated weights: the reference formula, (semantic + keyword + entity) / 2.5.
GATED = SignalWeights(1.0, 1.0, 1.0, 0.0, 0.0, 0.0, scale=2.5)
FUSED = SignalWeights(1.0, 1.5, 0.5, 0.8, 0.5, 0.25, scale=3.0)


@dataclass(frozen=True, slots=True)
class ScoreWeights:
    """Shares of relevance, importance and recency in the final score; any non-negative numbers."""

    relevance: float = 0.9
    importance: float = 0.05
    recency: float = 0.05


class SignalColumns(Protocol):
    """Each signal of every row, shape (n_rows,) each."""

    semantic: Floats
    keyword: Floats
    entity: Floats
    neighbour: Floats
    exact: Floats
    speaker: Floats


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


def score(relevance: Floats, importance: Floats, recency: Floats, weights: ScoreWeights) -> Floats:
    """Score in [0, 1] of each row: the weighted mean of the three; with all weights zero, relevance alone."""
    total = weights.relevance + weights.importance + weights.recency
    if total < 1e-9:
        return relevance
    mixed: Floats = weights.relevance * relevance + weights.importance * importance + weights.recency * recency
    return mixed / np.float32(total)
