"""The formula of each signal, alone and pure. How they are combined is `fuse`'s business."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

BM25_K1 = 1.5
BM25_B = 0.75
ENTITY_WEIGHT = 0.5
ENTITY_SPREAD = 0.001
FACT_DECAY = 0.4
OTHER_LABEL = 0.5
WALK_STRENGTH = 0.2
# Ratings: how soon they fade, how many in a row count, how far they move importance, and after how many half of that.
RATING_HALF_LIFE_DAYS = 90.0
RATING_LIMIT = 8.0
RATING_REACH = 0.25
RATING_SPREAD = 4.0


def semantic(cosines: Floats) -> Floats:
    """Similarity in [0, 1] from cosines in [-1, 1]: what points away counts as unrelated."""
    return np.clip(cosines, 0.0, 1.0).astype(np.float32)


def idf(n_documents: int, n_containing: int) -> float:
    """Inverse document frequency, positive; largest for a term that no document contains.

    Source: Lucene's BM25 variant, as described by Kamphuis et al., "Which BM25 Do You Mean?", ECIR 2020.
    """
    return math.log(1.0 + (n_documents - n_containing + 0.5) / (n_containing + 0.5))


def bm25_saturation(frequency: float, length: float, mean_length: float) -> float:
    """The share in [0, 1) of its idf that a term earns in one document; `length` in terms.

    Source: Lucene's BM25 variant (Kamphuis et al., ECIR 2020): tf / (tf + k1 (1 - b + b length / mean)),
    k1 = 1.5, b = 0.75.
    """
    norm = BM25_K1 * (1.0 - BM25_B + BM25_B * length / mean_length)
    return frequency / (frequency + norm)


def keyword(bm25: Floats, idf_sum: float) -> Floats:
    """Coverage in [0, 1]: the share of the query's idf that each text earns; 0 for a query without terms.

    Terms that no text contains count in `idf_sum`, so that a text matching the one common word of a rare
    question stays low. Deviates from BM25 by this division, which makes scores comparable between queries.
    """
    if idf_sum <= 0.0:
        return np.zeros_like(bm25)
    shares: Floats = np.minimum(bm25 / np.float32(idf_sum), 1.0).astype(np.float32)
    return shares


def entity(similarity: float, n_linked: int) -> float:
    """Boost in [0, 0.5] for a memory linked to an entity that resembles one of the query's.

    `similarity` in [0, 1] between the two names, 1 for the same name; `n_linked` is the number of memories
    linked to the entity, at least 1. A hub that everything mentions says little:

    >>> entity(1.0, 1), round(entity(1.0, 101), 4)
    (0.5, 0.0455)
    """
    return similarity * ENTITY_WEIGHT / (1.0 + ENTITY_SPREAD * (n_linked - 1) ** 2)


def neighbour(previous: Floats, following: Floats) -> Floats:
    """Evidence in [0, 1] from the better of the two adjacent memories of the same run; 0 where there is none.

    The caller weighs it: an answer often stands beside the turn that names its subject.
    """
    return np.clip(np.maximum(previous, following), 0.0, 1.0).astype(np.float32)


def exact(n_found: int, n_asked: int) -> float:
    """Share in [0, 1] of the query's literal strings that a text holds; 0 for a query without any."""
    return n_found / n_asked if n_asked else 0.0


def fact(hops: int) -> float:
    """Signal in (0, 1] of a memory whose fact a question leads to: 1 for what it asks for by key.

    A fact on the way there, or one step beyond, counts by `FACT_DECAY` for each step:

    >>> fact(0), fact(1)
    (1.0, 0.4)
    """
    return float(FACT_DECAY**hops)


def of_label(*, is_meant: bool) -> float:
    """Factor in {0.5, 1} of a fact that a question asks for by its relation: less where it has another label.

    Of "my phone number" the one without a label is meant, and "my work phone" counts half. Source: our own; it lies
    above `FACT_DECAY`, as what is asked for in part says more than what leads there.

    >>> of_label(is_meant=True), of_label(is_meant=False)
    (1.0, 0.5)
    """
    return 1.0 if is_meant else OTHER_LABEL


def walked(hops: int) -> float:
    """Signal in (0, 0.2] of a memory that facts lead to from whom a question names, along relations it does not name.

    Source: spreading activation with a constant decay, Collins and Loftus, Psychological Review 1975; `hops` ≥ 1.
    """
    return WALK_STRENGTH * FACT_DECAY ** (hops - 1)


def date(n_days: int) -> float:
    """Signal in (0, 1] of a memory that was observed in the period a question names, by the length of the period.

    A day says most, a month less, a year little: 1, .6, .3 (the measured steps); what lies between falls in the next.
    """
    return 1.0 if n_days <= 2 else 0.6 if n_days <= 31 else 0.3


def recency(age_days: Floats, half_life_days: float) -> Floats:
    """Weight in (0, 1]: 1 when new or future-dated, halved with each half-life that has passed."""
    return np.power(0.5, np.maximum(age_days, 0.0) / half_life_days).astype(np.float32)


def rated(value: float, age_days: float, *, is_useful: bool) -> float:
    """The sum of a memory's ratings in [-8, 8] after one more, where it was `value` some days ago.

    Each counts 1 or -1 and half as much after 90 days: value · 0.5^(age / 90) ± 1. The bound lets the last word count
    also after a hundred others.

    >>> rated(0.0, 0.0, is_useful=True), rated(1.0, 90.0, is_useful=True), rated(8.0, 0.0, is_useful=False)
    (1.0, 1.5, 7.0)

    Source: the exponentially decaying sum of Cohen and Strauss, "Maintaining Time-Decaying Stream Aggregates",
    PODS 2003; the bound is ours.
    """
    faded = value * math.pow(0.5, max(age_days, 0.0) / RATING_HALF_LIFE_DAYS)
    return max(-RATING_LIMIT, min(RATING_LIMIT, faded + (1.0 if is_useful else -1.0)))


def learned_importance(importance: Floats, values: Floats, age_days: Floats) -> Floats:
    """Importance in [0, 1] with what ratings say: moved by less than 0.25, however many there are.

    clip(importance + 0.25 · tanh(v / 4), 0, 1), v the sum of the ratings as it has faded since the last of them, which
    is `age_days` old. One rating moves it by 0.06, three by 0.16; what moved it fades with v.
    Source: our own. tanh is odd, monotone and bounded, so that the first ratings count most and no number of them
    outweighs what `fuse.score` gives for being more relevant.
    """
    faded = values * recency(age_days, RATING_HALF_LIFE_DAYS)
    moved = importance + np.float32(RATING_REACH) * np.tanh(faded / np.float32(RATING_SPREAD))
    learned: Floats = np.clip(moved, 0.0, 1.0).astype(np.float32)
    return learned
