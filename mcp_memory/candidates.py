"""Evidence for each memory that a search may see: every signal, computed over all of them.

With one user's vectors in memory every candidate source is exact, so none has to gate another: the union of
all pools is simply every row. The `gated` preset keeps only the pool of nearest vectors, as the reference
formula does, so that the two can be compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from . import score
from .fuse import REWRITTEN_SHARE, SignalWeights, relevance
from .index import Mask, Rows, UserIndex
from .mentions import find_mentions
from .periods import Period
from .recall import Recalled
from .schema import to_micros
from .score import Floats
from .search_records import Signals
from .text import Term, contains_phrase, exact_phrases, fold, languages_for, normalise, terms

# A name resembling a stored one less than this says nothing about it.
MIN_NAME_SIMILARITY = 0.6
# How many of the best rows have their text read for literal matches.
EXACT_DEPTH = 200


@dataclass(frozen=True, slots=True)
class Query:
    """A question taken apart: terms for the keyword index, names, literal strings, and its vector."""

    text: str
    terms: tuple[Term, ...]
    names: tuple[tuple[str, str], ...]  # (key, as written)
    phrases: tuple[str, ...]
    speaker: str  # key of the one known speaker it names, or ''
    vector: Floats | None = None
    name_vectors: tuple[Floats, ...] = ()


@dataclass(slots=True)
class Evidence:
    """Each signal of every row, shape (n_rows,) each; zero outside `eligible`."""

    eligible: Mask
    semantic: Floats
    keyword: Floats
    entity: Floats
    neighbour: Floats
    exact: Floats
    speaker: Floats
    fact: Floats
    date: Floats

    def signals(self, row: int, importance: float, recency: float) -> Signals:
        """The signals of one row, for explaining."""
        return Signals(
            semantic=float(self.semantic[row]),
            keyword=float(self.keyword[row]),
            entity=float(self.entity[row]),
            neighbour=float(self.neighbour[row]),
            exact=float(self.exact[row]),
            speaker=float(self.speaker[row]),
            fact=float(self.fact[row]),
            date=float(self.date[row]),
            importance=importance,
            recency=recency,
        )


def read_query(text: str, index: UserIndex) -> Query:
    """Take a query apart with what is known of the user's languages, entities and speakers."""
    with index.lock:
        languages = languages_for(index.languages, text)
        mentions = find_mentions(text, index.names, languages)
        spoken = list(index.speakers)
    words = terms(text, languages)
    folded = fold(normalise(text))
    named = [key for key in spoken if contains_phrase(folded, key)]
    # Who said it is a signal of its own; as a word it only finds turns that address that person.
    of_names = {form for key in named for term in terms(key, languages) for form in term}
    rest = [term for term in words if not of_names.intersection(term)]
    return Query(
        text=text,
        terms=tuple(rest or words),
        names=tuple((mention.key, mention.name) for mention in mentions),
        phrases=exact_phrases(text),
        speaker=named[0] if len(named) == 1 else "",
    )


def without_dates(query: Query, period: Period) -> Query:
    """The question without the numbers that name its time: they tell when, and are not asked for to the letter."""
    days = {str(end.day) for end in (period.start, period.end) if period.start.date() == period.end.date()}
    told = days | {str(period.start.year), str(period.end.year)}
    return replace(query, phrases=tuple(phrase for phrase in query.phrases if phrase not in told))


def reword(query: Query, texts: Sequence[str], vectors: Sequence[Floats], index: UserIndex) -> list[Query]:
    """The same question in other words; `vectors` has one for each text, or none at all.

    Only the words and their meaning are new: whom it is about, who said it and what it asks for to the letter
    stay as the question has them.
    """
    by_text: Sequence[Floats | None] = vectors or [None] * len(texts)
    return [
        replace(query, text=text, terms=read_query(text, index).terms, phrases=(), vector=vector)
        for text, vector in zip(texts, by_text, strict=True)
    ]


def gather(query: Query, index: UserIndex, eligible: Mask, weights: SignalWeights, recalled: Recalled) -> Evidence:
    """All signals but `exact`, which needs the texts. Call with `index.lock` held."""
    n = len(index)
    zeros = np.zeros(n, dtype=np.float32)
    cosines = index.cosines(query.vector) if query.vector is not None else zeros
    evidence = Evidence(
        eligible=eligible,
        semantic=score.semantic(cosines) * eligible,
        keyword=index.keywords.scores(query.terms, n) * eligible,
        entity=_entity_boosts(query, index) * eligible,
        neighbour=zeros,
        exact=zeros.copy(),
        speaker=_speaker_matches(query, index) * eligible,
        fact=_fact_strengths(recalled, index) * eligible,
        date=_date_matches(recalled, index) * eligible,
    )
    evidence.neighbour = _neighbours(evidence, index, weights) * eligible
    return evidence


def nearest_only(evidence: Evidence, pool: int) -> Evidence:
    """The evidence with only the `pool` most similar rows eligible."""
    similarity = np.where(evidence.eligible, evidence.semantic, -1.0)
    kept = np.zeros_like(evidence.eligible)
    kept[top_rows(similarity, pool)] = True
    return Evidence(*(getattr(evidence, field.name) * kept for field in fields(Evidence)))


def blend(evidence: Sequence[Evidence], raised_by: NDArray[np.intp]) -> Evidence:
    """The evidence for a question where rewritings of it raised some rows, as `fuse.with_rewritten` does.

    `evidence` is that for the question and then for each rewriting; a row that number i raised has the signals of
    both, mixed in the shares of the formula, so that they still add up to its relevance.
    """
    own = evidence[0]
    if len(evidence) == 1:
        return own
    share = np.float32(REWRITTEN_SHARE)

    def mixed(name: str) -> Floats:
        columns = np.stack([getattr(each, name) for each in evidence])
        found: Floats = (1 - share) * columns[0] + share * np.take_along_axis(columns, raised_by[None, :], axis=0)[0]
        return found

    eligible: Mask = np.logical_or.reduce([each.eligible for each in evidence])
    signals = (field.name for field in fields(Evidence) if field.name != "eligible")
    return Evidence(eligible=eligible, **{name: mixed(name) for name in signals})


def add_exact(evidence: Evidence, query: Query, rows: Rows, texts: Sequence[str]) -> None:
    """Fill in the `exact` signal of some rows from their texts."""
    for row, text in zip(rows, texts, strict=True):
        normalised = normalise(text)
        n_found = sum(contains_phrase(normalised, phrase) for phrase in query.phrases)
        evidence.exact[row] = score.exact(n_found, len(query.phrases))


def rows_to_read(evidence: Evidence, weights: SignalWeights) -> Rows:
    """The rows whose text may hold what the query asks for to the letter: the best overall and by keyword."""
    overall = np.where(evidence.eligible, relevance(evidence, weights), -1.0)
    by_keyword = np.where(evidence.eligible & (evidence.keyword > 0), evidence.keyword, -1.0)
    best = np.union1d(top_rows(overall, EXACT_DEPTH), top_rows(by_keyword, EXACT_DEPTH))
    return best[evidence.eligible[best]]


def top_rows(values: Floats, k: int) -> Rows:
    """The rows of the k largest values, best first; equal ones in order of row."""
    if k < len(values):
        # Everything that ties with the k-th stays in, so that ties are broken by row and not by chance.
        kth = np.partition(values, len(values) - k)[len(values) - k]
        pool = np.flatnonzero(values >= kth)
    else:
        pool = np.arange(len(values))
    return pool[np.argsort(-values[pool], kind="stable")][:k]


def _entity_boosts(query: Query, index: UserIndex) -> Floats:
    boosts = np.zeros(len(index), dtype=np.float32)
    vectors: Sequence[Floats | None] = query.name_vectors or [None] * len(query.names)
    speakers = index.speakers
    for (key, _), vector in zip(query.names, vectors, strict=True):
        if key in speakers:
            continue  # everybody addresses a speaker by name; who said it is a signal of its own
        entity, similarity = index.names.by_key(key), 1.0
        if entity is None and vector is not None:
            entity, similarity = index.names.most_similar(vector)
        if entity is None or similarity < MIN_NAME_SIMILARITY:
            continue
        rows = index.names.rows(entity.id)
        boosts[rows] = np.maximum(boosts[rows], score.entity(similarity, max(1, entity.n_linked)))
    return boosts


def _fact_strengths(recalled: Recalled, index: UserIndex) -> Floats:
    strengths = np.zeros(len(index), dtype=np.float32)
    for memory_id, strength in recalled.strengths.items():
        if (row := index.row_of.get(memory_id)) is not None:
            strengths[row] = strength
    return strengths


def _date_matches(recalled: Recalled, index: UserIndex) -> Floats:
    if recalled.period is None:
        return np.zeros(len(index), dtype=np.float32)
    observed = index.column("observed_at")
    period = recalled.period
    is_inside = (observed >= to_micros(period.start)) & (observed <= to_micros(period.end))
    return is_inside.astype(np.float32) * np.float32(score.date((period.end - period.start).days + 1))


def _speaker_matches(query: Query, index: UserIndex) -> Floats:
    if not query.speaker:
        return np.zeros(len(index), dtype=np.float32)
    codes = list(index.speakers.get(query.speaker, ()))
    return np.isin(index.column("speaker"), codes).astype(np.float32)


def _neighbours(evidence: Evidence, index: UserIndex, weights: SignalWeights) -> Floats:
    """What the adjacent memories have to say on their own: their similarity and keyword coverage."""
    own_weight = weights.semantic + weights.keyword
    if not own_weight:
        return np.zeros(len(index), dtype=np.float32)
    own = (weights.semantic * evidence.semantic + weights.keyword * evidence.keyword) / own_weight
    padded = np.append(own, np.float32(0.0))  # -1 is where there is no neighbour
    return score.neighbour(padded[index.column("previous")], padded[index.column("next")])
