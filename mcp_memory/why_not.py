"""Why a search has not returned a memory: searched anew, once as asked and once without bounds. No formula is here."""

from dataclasses import replace

from .index import UserIndex
from .records import SEARCHABLE, Memory
from .reports import Missed, Ranked, WhyNot
from .rewrite import Rewriting
from .search import MIN_POOL, POOL_PER_HIT, search
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
    if hidden := _hidden(memory, selection, stores):
        return _told(memory, "not_visible", hidden, asked, None, last)
    index = stores.index_of(selection.owner.user_id)
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
        return "no_evidence", "No signal finds it: it shares no word, no name and no meaning with the query."
    if ranked.relevance < threshold:
        return "below_threshold", f"Its relevance {ranked.relevance:.2f} is below the threshold {threshold:.2f}."
    if not asked.hits:
        best = max(hit.relevance for hit in everything.hits)
        return "below_floor", (
            f"Nothing was returned: the most relevant memory has {best:.2f}, which is below the floor"
            f" {settings.floor:.2f} (MCP_MEMORY_FLOOR); this one has {ranked.relevance:.2f}."
        )
    if settings.ranking == "gated" and not _is_in_pool(ranked, everything, top_k):
        return "outside_pool", "It is not among the nearest in meaning, and the ranking 'gated' looks at no others."
    return "outranked", (
        f"It is number {ranked.rank} of {len(everything.hits)} with score {ranked.score:.2f};"
        f" {len(asked.hits)} were returned, the last with {asked.hits[-1].score:.2f}."
    )


def _is_in_pool(ranked: Ranked, everything: SearchResult, top_k: int) -> bool:
    nearer = sum(round(hit.signals.semantic, 4) > ranked.signals["semantic"] for hit in everything.hits)
    return nearer < max(MIN_POOL, POOL_PER_HIT * top_k)


def _hidden(memory: Memory, selection: Selection, stores: Stores) -> list[str]:
    """Why the search may not see a memory at all; nothing where it may."""
    if memory.state not in SEARCHABLE:
        others = ", ".join(memory.superseded_by.split())
        if memory.state == "distilled" and not others:
            return ["It is out of search: there was nothing in it to keep."]
        return [f"It is out of search: {_OUT_OF_SEARCH[memory.state].format(others)}."]
    index = stores.index_of(selection.owner.user_id)
    metadata = selection.filters.metadata
    ids = stores.log.ids_with_metadata(memory.user_id, selection.filters) if metadata else None
    with index.lock:
        if _sees(index, memory, selection, ids):
            return []
        bare = replace(selection, scope="all", run_id="", filters=Filters())
        found = [] if _sees(index, memory, bare) else [_out_of_time(memory, selection)]
        if not _sees(index, memory, replace(bare, scope=selection.scope, run_id=selection.run_id), at_any_time=True):
            of_run = f" {selection.run_id!r}" if selection.scope == "run" else ""
            where = f"it is about the {memory.about}, by {memory.agent_id}, in run {memory.run_id!r}"
            found.append(f"Scope {selection.scope!r}{of_run} leaves it out: {where}.")
        for name in ("about", "kind", "agent", "since", "until"):
            value = getattr(selection.filters, name)
            if value and not _sees(index, memory, replace(bare, filters=Filters(**{name: value})), at_any_time=True):
                own = {"agent": memory.agent_id, "since": memory.observed_at, "until": memory.observed_at}
                found.append(
                    f"The filter {name} = {value} leaves it out: it has {own.get(name) or getattr(memory, name)}."
                )
        if ids is not None and memory.id not in ids:
            found.append(f"The filter metadata = {dict(metadata)} leaves it out: it has {dict(memory.metadata)}.")
    return found or ["This search may not see it."]


def _sees(
    index: UserIndex,
    memory: Memory,
    selection: Selection,
    ids: set[str] | None = None,
    *,
    at_any_time: bool = False,
) -> bool:
    """Whether a selection lets a memory through; call it with the index's lock held."""
    row = index.row_of.get(memory.id)
    if row is None:
        return False
    if at_any_time:
        # At a moment at which it held, so that only the rest of the selection counts.
        moment = memory.valid_from or memory.observed_at
        selection = replace(selection, as_of=moment, known_at=None)
    return bool(index.select(selection, ids)[row])


def _out_of_time(memory: Memory, selection: Selection) -> str:
    """Why a memory does not count at the time that was asked for."""
    at = selection.as_of or selection.now
    began = memory.valid_from or memory.observed_at
    if memory.expires_at and memory.expires_at <= at:
        return f"It expired on {memory.expires_at.date()}."
    if selection.known_at and memory.created_at > selection.known_at:
        return f"It was not recorded before {memory.created_at.date()}, after the known_at that was asked for."
    if selection.known_at and memory.closed_at and memory.closed_at <= selection.known_at:
        return f"That it had ended was known since {memory.closed_at.date()}."
    if selection.as_of and began > at:
        return f"It holds since {began.date()}, after the as_of that was asked for."
    if memory.invalid_at and (not selection.as_of or memory.invalid_at <= at):
        by = f", when {memory.superseded_by} took its place" if memory.superseded_by else ""
        return f"It ended on {memory.invalid_at.date()}{by}; as_of an earlier date finds it."
    return "It does not count at the time that was asked for."
