"""The searching pipeline: candidates, score, fuse. Packing is the hosts' last step."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from . import candidates, fuse, score
from .embedder import Embedder
from .errors import ConflictError, McpMemoryError, ModelUnavailableError, StorageError
from .index import Mask, Rows, UserIndex
from .knowledge import facts_of_memories, former_validity
from .recall import Recalled, recall, told_as
from .records import SEARCHABLE, Memory, Validity
from .rewrite import Rewriting
from .schema import to_micros
from .score import Floats
from .search_records import Hit, KnownFact, SearchResult, Selection
from .settings import Settings
from .stores import Stores

_MICROS_PER_DAY = 86_400_000_000
# Size of the pool of nearest vectors in the gated ranking.
MIN_POOL, POOL_PER_HIT = 60, 4
NOTHING_VISIBLE = "Nothing is remembered that this search may see: its scope, run_id, date or filters leave nothing."
NOTHING_RELEVANT = "Nothing relevant is remembered; the closest memory has relevance {:.2f}."


def search(
    query_text: str,
    selection: Selection,
    stores: Stores,
    settings: Settings,
    *,
    top_k: int,
    threshold: float,
    rewritten: Callable[[], Rewriting] = Rewriting,
    waits_for_model: bool = True,
) -> SearchResult:
    """The memories that answer a query, best first, at most `top_k`, each with relevance ≥ `threshold`.

    When even the best is below the floor, nothing is returned and the notice says so. A signal that failed
    is named in `degraded`. `rewritten` gives the query in other words; it is called late, when the query itself
    has been read and embedded. The `settings` are the client's, who chooses ranking, weights and floor. One that does
    not wait for the model searches by words alone while that is not loaded.
    """
    index, embedder = stores.index_and_model_of(selection.owner.user_id)
    query = candidates.read_query(query_text, index)
    if waits_for_model or embedder.is_loaded:
        query, lag = _with_vectors(query, index, embedder, stores)
    else:
        lag = "the embedding model is being loaded"
    rewriting = rewritten()
    reworded = _reworded(query, rewriting.queries, index, embedder)
    bounds = bounds_of(query, selection, stores)
    selection, former, recalled = bounds.selection, bounds.former, bounds.recalled
    if recalled.period:
        query = candidates.without_dates(query, recalled.period)
    with_metadata = (
        stores.log.ids_with_metadata(selection.owner.user_id, selection.filters) if selection.filters.metadata else None
    )
    weights = settings.relevance_weights
    with index.lock:
        scope = scope_weight(index, selection, settings.scope_weights)
        eligible = index.select(selection, with_metadata, former) & (scope > 0)
        eligible[[index.row_of[memory_id] for memory_id in recalled.later if memory_id in index.row_of]] = False
        evidence = [candidates.gather(each, index, eligible, weights, recalled) for each in (query, *reworded)]
        if settings.ranking == "gated":
            pool = max(MIN_POOL, POOL_PER_HIT * top_k)
            evidence = [candidates.nearest_only(each, pool) for each in evidence]
        ids = list(index.ids)
        importance = _importance(index, selection)
        recency = _recency(index, selection, settings.score_weights.half_life_days)
    if query.phrases and weights.exact:
        rows = candidates.rows_to_read(evidence[0], weights)
        texts = stores.log.get_texts([ids[row] for row in rows])
        candidates.add_exact(evidence[0], query, rows, [texts.get(ids[row], "") for row in rows])
    own, *others = (fuse.relevance(each, weights) for each in evidence)
    relevance, raised_by = fuse.with_rewritten(own, others)
    blended = candidates.blend(evidence, raised_by)
    relevance = relevance * scope
    scores = fuse.score(relevance, importance, recency, settings.score_weights)
    best = _best(scores, relevance, blended.eligible, top_k, threshold)
    found = stores.log.get_memories([ids[row] for row in best])
    outdated = _outdated(found, bounds, stores)
    hits = tuple(
        Hit(
            memory=_as_known(found[ids[row]], former),
            score=float(scores[row]),
            relevance=float(relevance[row]),
            signals=blended.signals(row, float(importance[row]), float(recency[row])),
            raised_by=("", *rewriting.queries)[raised_by[row]],
            outdated=outdated.get(ids[row], ()),
        )
        for row in best.tolist()
        # Deleted or distilled since the index was read.
        if ids[row] in found and found[ids[row]].state in SEARCHABLE
    )
    result = _above_floor(hits, relevance, blended.eligible, settings.floor)
    shown = {hit.memory.id: hit.memory for hit in result.hits}
    facts = tuple(_lasting(fact, shown[fact.memory_id]) for fact in recalled.values if fact.memory_id in shown)
    result = replace(result, facts=facts)
    return _report(replace(result, rewritten=rewriting.queries), lag, rewriting, index)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a search may see: the selection with the time that the question names, and what the facts say to it.

    `former` gives the validity by id that rows had at `known_at` where it has changed since.
    """

    selection: Selection
    former: Mapping[str, Validity]
    recalled: Recalled


def bounds_of(query: candidates.Query, selection: Selection, stores: Stores) -> Bounds:
    """The bounds of a search for a question that has been read."""
    former = former_validity(stores.log, selection.owner.user_id, selection.known_at) if selection.known_at else {}
    recalled = recall(query.text, query.names, selection, former, stores)
    if recalled.period:
        selection = replace(selection, during=(recalled.period.start, recalled.period.end))
    return Bounds(selection, former, recalled)


def _as_known(memory: Memory, former: Mapping[str, Validity]) -> Memory:
    """A memory with the time in which it held by what was known then."""
    begin, end = former.get(memory.id, (memory.valid_from, memory.invalid_at))
    return replace(memory, valid_from=begin, invalid_at=end)


def _lasting(fact: KnownFact, memory: Memory) -> KnownFact:
    """A fact that ends with its memory at the latest."""
    ends = [end for end in (fact.until, memory.expires_at) if end]
    return replace(fact, until=min(ends, default=None))


def _outdated(found: Mapping[str, Memory], bounds: Bounds, stores: Stores) -> dict[str, tuple[KnownFact, ...]]:
    """What of memories that hold had ended by the time asked about, by what was known then: they say more than that."""
    selection, former = bounds.selection, bounds.former
    moment = selection.as_of or selection.now
    holding = [
        identifier
        for identifier, memory in found.items()
        if (end := _as_known(memory, former).invalid_at) is None or end > moment
    ]
    outdated = {}
    for identifier, facts in facts_of_memories(stores.log, holding).items():
        told = [told_as(fact, former) for fact in facts if fact.holds]
        outdated[identifier] = tuple(fact for fact in told if fact.until is not None and fact.until <= moment)
    return outdated


def _with_vectors(
    query: candidates.Query, index: UserIndex, embedder: Embedder, stores: Stores
) -> tuple[candidates.Query, str]:
    """The query with its vector and those of names not known by key; or the reason why there are none."""
    if not len(index):
        return query, ""
    try:
        with index.lock:
            unknown = [name for key, name in query.names if index.names.by_key(key) is None]
        vector, of_names = embedder.embed_query(query.text, unknown)
        vectors = dict(zip(unknown, of_names, strict=True))
        stores.tables()
    except (ModelUnavailableError, ConflictError, StorageError) as exc:
        return query, _reason(exc)
    if len(vector) != index.dimension:
        return query, "the vectors in memory belong to another model"
    nothing = np.zeros(index.dimension, dtype=np.float32)
    by_name = tuple(vectors.get(name, nothing) for _, name in query.names)
    return replace(query, vector=vector, name_vectors=by_name), ""


def _reworded(
    query: candidates.Query, texts: Sequence[str], index: UserIndex, embedder: Embedder
) -> list[candidates.Query]:
    """The query in other words, with vectors where the query itself has one."""
    vectors: Sequence[Floats] = ()
    if texts and query.vector is not None:
        # What embedded the query a moment ago; if it fails now, words are enough for an extra.
        with contextlib.suppress(ModelUnavailableError):
            vectors = list(embedder.embed_queries(texts))
    return candidates.reword(query, texts, vectors, index)


def _reason(exc: McpMemoryError) -> str:
    return f"{exc.message} ({exc.hint})"


def scope_weight(index: UserIndex, selection: Selection, weights: fuse.ScopeWeights) -> Floats:
    """What each row counts by whose it is; all the same where the search has chosen a scope.

    Call it with the index's lock held.
    """
    if selection.scope != "all":
        return np.ones(len(index), dtype=np.float32)
    is_own = index.is_of_agent(selection.owner.agent_id)
    return fuse.scope_weight(index.is_about_agent(), is_own, index.is_in_run(selection.run_id), weights)


def _importance(index: UserIndex, selection: Selection) -> Floats:
    """Importance as stored and learned. Ratings are the reader's of today, also where `as_of` asks for another day."""
    age = to_micros(selection.now) - index.column("rated_at")
    days = (age / _MICROS_PER_DAY).astype(np.float32)
    return score.learned_importance(index.column("importance"), index.column("rating"), days)


def _recency(index: UserIndex, selection: Selection, half_life_days: float) -> Floats:
    """Counted from the last useful read where there was one by then, else from the observation."""
    moment = to_micros(selection.as_of or selection.now)
    useful, observed = index.column("useful_at"), index.column("observed_at")
    since = np.where(useful <= moment, np.maximum(useful, observed), observed)
    return score.recency(((moment - since) / _MICROS_PER_DAY).astype(np.float32), half_life_days)


def _best(scores: Floats, relevance: Floats, eligible: Mask, top_k: int, threshold: float) -> Rows:
    # A row without any evidence is no answer, however recent it is.
    allowed = eligible & (relevance > 0) & (relevance >= threshold)
    ranked = candidates.top_rows(np.where(allowed, scores, np.float32(-1.0)), top_k)
    kept: Rows = ranked[allowed[ranked]]
    return kept


def _above_floor(hits: tuple[Hit, ...], relevance: Floats, eligible: Mask, floor: float) -> SearchResult:
    """All hits, or none when the best of all is below the floor."""
    closest = float(np.max(relevance[eligible], initial=0.0))
    if not eligible.any():
        return SearchResult((), notice=NOTHING_VISIBLE)
    if closest < floor or not hits:
        return SearchResult((), notice=NOTHING_RELEVANT.format(closest), closest_score=closest)
    return SearchResult(hits)


def _report(result: SearchResult, lag: str, rewriting: Rewriting, index: UserIndex) -> SearchResult:
    """The result with what failed in it, and why."""
    notes, degraded = [result.notice], []
    if lag:
        notes.append(f"Searched by words only: {lag}.")
        degraded.append("semantic")
    elif waiting := index.count_without_vector():
        notes.append(f"{waiting} memories cannot be found by meaning yet.")
        degraded.append("semantic")
    if rewriting.is_missing:
        notes.append(rewriting.notice)
        degraded.append("rewrite")
    return replace(result, notice=" ".join(note for note in notes if note), degraded=tuple(degraded))
