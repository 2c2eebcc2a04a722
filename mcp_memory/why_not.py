"""Why a search has not returned a memory: searched anew, once as asked and once without floor, threshold and length.

Which memories it may see is asked of the search itself. No formula is here.
"""

from collections.abc import Collection
from dataclasses import fields, replace

from . import candidates
from .fuse import SIGNAL_NAMES, ScopeWeights
from .index import UserIndex
from .recall import Recalled
from .records import SEARCHABLE, Memory
from .reports import Missed, Ranked, WhyNot
from .rewrite import Rewriting
from .search import MIN_POOL, POOL_PER_HIT, Bounds, bounds_of, scope_weight, search
from .search_records import Filters, Hit, SearchResult, Selection
from .settings import Settings
from .stores import Stores

_OUT_OF_SEARCH = {
    "deleted": "it was deleted",
    "merged": "it was merged into {}, which says the same",
    "distilled": "it has given way to what was read out of it: {}",
}


def why_not(
    memory: Memory,
    query: str,
    selection: Selection,
    stores: Stores,
    settings: Settings,
    *,
    top_k: int,
    threshold: float,
    rewriting: Rewriting,
) -> WhyNot:
    """What has kept a memory from the hits of a search, or as which of them it was returned."""
    asked = search(query, selection, stores, settings, top_k=top_k, threshold=threshold, rewritten=lambda: rewriting)
    last = _ranked(len(asked.hits), asked.hits[-1]) if asked.hits else None
    for rank, hit in enumerate(asked.hits, start=1):
        if hit.memory.id == memory.id:
            reason = f"It was returned as number {rank} of {len(asked.hits)}."
            return _told(memory, "returned", [reason], asked, _ranked(rank, hit), last)
    if reason := _out_of_search(memory):
        return _told(memory, "not_visible", [reason], asked, None, last)
    index = stores.index_of(selection.owner.user_id)
    bounds = bounds_of(candidates.read_query(query, index), selection, stores)
    if hidden := _hidden(memory, bounds, stores, settings.scope_weights):
        return _told(memory, "not_visible", hidden, asked, None, last)
    unbound = settings.model_copy(update={"floor": 0.0})
    everything = search(
        query, selection, stores, unbound, top_k=max(1, len(index)), threshold=0.0, rewritten=lambda: rewriting
    )
    ranked = next(
        (_ranked(rank, hit) for rank, hit in enumerate(everything.hits, start=1) if hit.memory.id == memory.id), None
    )
    verdict, reason = _verdict(ranked, everything, asked, settings, top_k, threshold)
    return _told(memory, verdict, [reason], asked, ranked, last)


def _told(
    memory: Memory, verdict: Missed, reasons: list[str], asked: SearchResult, ranked: Ranked | None, last: Ranked | None
) -> WhyNot:
    return WhyNot(memory.id, memory.text, verdict, tuple(reasons), ranked, last, asked.degraded)


def _ranked(rank: int, hit: Hit) -> Ranked:
    signals = {name: round(getattr(hit.signals, name), 4) for name in hit.signals.__slots__}
    return Ranked(hit.memory.id, hit.memory.text, rank, round(hit.score, 4), round(hit.relevance, 4), signals)


def _verdict(
    ranked: Ranked | None,
    everything: SearchResult,
    asked: SearchResult,
    settings: Settings,
    top_k: int,
    threshold: float,
) -> tuple[Missed, str]:
    if ranked is None:
        return "no_evidence", _without_evidence(asked, settings)
    if ranked.relevance < threshold:
        return "below_threshold", f"Its relevance {ranked.relevance:.2f} is below the threshold {threshold:.2f}."
    if settings.ranking == "gated" and not _is_in_pool(ranked, everything, top_k):
        return "outside_pool", "It is not among the nearest in meaning, and the ranking 'gated' looks at no others."
    if not asked.hits:
        return "below_floor", (
            f"Nothing was returned: the most relevant memory has {asked.closest_score or 0.0:.2f}, which is below the"
            f" floor {settings.floor:.2f} (MCP_MEMORY_FLOOR); this one has {ranked.relevance:.2f}."
        )
    return "outranked", (
        f"It is number {ranked.rank} of {len(everything.hits)} with score {ranked.score:.2f};"
        f" {len(asked.hits)} were returned, the last with {asked.hits[-1].score:.2f}."
    )


def _is_in_pool(ranked: Ranked, everything: SearchResult, top_k: int) -> bool:
    nearer = sum(round(hit.signals.semantic, 4) > ranked.signals["semantic"] for hit in everything.hits)
    return nearer < max(MIN_POOL, POOL_PER_HIT * top_k)


def _without_evidence(asked: SearchResult, settings: Settings) -> str:
    """What finds nothing of the query in a memory; a signal that failed or does not count may have found it."""
    reason = "No signal finds it: it shares no word, no name and no meaning with the query."
    weights = settings.relevance_weights
    silent = [name for name in SIGNAL_NAMES if not getattr(weights, name)]
    if silent or "semantic" in asked.degraded:
        reason = "No signal that counts finds it."
    if "semantic" in asked.degraded:
        reason += " Not everything can be found by meaning yet."
    if silent:
        reason += f" These count nothing here: {', '.join(silent)} (MCP_MEMORY_RANKING, MCP_MEMORY_SIGNAL_WEIGHTS)."
    return reason


def _out_of_search(memory: Memory) -> str:
    """Why no search finds a memory; '' where one may."""
    if memory.state in SEARCHABLE:
        return ""
    others = ", ".join(memory.superseded_by.split())
    if memory.state == "distilled" and not others:
        return "It is out of search: there was nothing in it to keep."
    return f"It is out of search: {_OUT_OF_SEARCH[memory.state].format(others)}."


def _hidden(memory: Memory, bounds: Bounds, stores: Stores, weights: ScopeWeights) -> list[str]:
    """Why the search may not see a memory at all; nothing where it may."""
    selection, period = bounds.selection, bounds.recalled.period
    index = stores.index_of(selection.owner.user_id)
    metadata = selection.filters.metadata
    ids = stores.log.ids_with_metadata(memory.user_id, selection.filters) if metadata else None
    found: list[str] = []
    with index.lock:
        row = index.row_of.get(memory.id)
        if row is not None and not scope_weight(index, selection, weights)[row]:
            names = [field.name for field in fields(weights) if not getattr(weights, field.name)]
            of = ", ".join(f"MCP_MEMORY_WEIGHT_{name.upper()}" for name in names)
            found.append(f"It counts nothing by whose it is ({of} = 0): {_whose(memory)}.")
        if period and memory.id in bounds.recalled.later:
            found.append(f"What it says began only after what the question asks about, {_days(bounds)}.")
        if _sees(index, memory, bounds, ids):
            return found
        bare = replace(selection, scope="all", run_id="", filters=Filters())
        if not _sees(index, memory, replace(bounds, selection=bare)):
            found.append(_out_of_time(memory, bounds))
        of_scope = replace(bare, scope=selection.scope, run_id=selection.run_id)
        if not _sees(index, memory, _at_any_time(memory, of_scope)):
            of_run = f" {selection.run_id!r}" if selection.scope == "run" else ""
            found.append(f"Scope {selection.scope!r}{of_run} leaves it out: {_whose(memory)}.")
        for name in ("about", "kind", "agent", "since", "until"):
            value = getattr(selection.filters, name)
            of_filter = replace(bare, filters=Filters(**{name: value}))
            if value and not _sees(index, memory, _at_any_time(memory, of_filter)):
                own = {"agent": memory.agent_id, "since": memory.observed_at, "until": memory.observed_at}
                found.append(
                    f"The filter {name} = {value} leaves it out: it has {own.get(name) or getattr(memory, name)}."
                )
        if ids is not None and memory.id not in ids:
            found.append(f"The filter metadata = {dict(metadata)} leaves it out: it has {dict(memory.metadata)}.")
    return found or ["This search may not see it."]


def _whose(memory: Memory) -> str:
    return f"it is about the {memory.about}, by {memory.agent_id}, in run {memory.run_id!r}"


def _sees(index: UserIndex, memory: Memory, bounds: Bounds, ids: Collection[str] | None = None) -> bool:
    """Whether a selection lets a memory through; call it with the index's lock held."""
    row = index.row_of.get(memory.id)
    return row is not None and bool(index.select(bounds.selection, ids, bounds.former)[row])


def _at_any_time(memory: Memory, selection: Selection) -> Bounds:
    """A selection at a moment at which a memory held, so that only the rest of it counts."""
    moment = memory.valid_from or memory.observed_at
    return Bounds(replace(selection, as_of=moment, known_at=None, during=None), {}, Recalled())


def _days(bounds: Bounds) -> str:
    assert bounds.recalled.period
    return f"{bounds.recalled.period.start.date()} to {bounds.recalled.period.end.date()}"


def _out_of_time(memory: Memory, bounds: Bounds) -> str:
    """Why a memory does not count at the time that was asked for, by what was known then."""
    selection, former = bounds.selection, bounds.former
    at = selection.as_of or selection.now
    begin, end = former.get(memory.id, (memory.valid_from, memory.invalid_at))
    began = begin or memory.observed_at
    if memory.expires_at and memory.expires_at <= at:
        return f"It expired on {memory.expires_at.date()}."
    if selection.known_at and memory.created_at > selection.known_at:
        return f"It was not recorded before {memory.created_at.date()}, after the known_at that was asked for."
    if selection.as_of and began > at:
        return f"It holds since {began.date()}, after the as_of that was asked for."
    if end is None:
        return "It does not count at the time that was asked for."
    if bounds.recalled.period and not selection.as_of:
        return f"It held from {began.date()} to {end.date()}, and the question asks about {_days(bounds)}."
    if selection.known_at and memory.id not in former and memory.closed_at:
        return f"It ended on {end.date()}, which was known since {memory.closed_at.date()}."
    by = f", when {memory.superseded_by} took its place" if memory.superseded_by and memory.id not in former else ""
    return f"It ended on {end.date()}{by}; as_of an earlier date finds it."
