"""Single memories and their changes in the form that hosts pass on to a model, by the rules of `pack`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from .pack import MAX_REPLY_CHARS, MIN_TEXT_CHARS, clip, memory_item, memory_line, memory_payload, quote
from .records import Memory
from .reports import FieldChange, History, HistoryEntry, Ranked, Related, Undone, Updated, WhyNot

# Of a text within a list of changes, so many characters.
_N_CHARS = 300
# Of the changes of one memory, so many of the last.
_N_ENTRIES = 50


def list_payload(memories: Sequence[Memory], notice: str = "") -> dict[str, Any]:
    """Memories as a list, in the order given."""
    found = [memory_item(memory, text) | _state_of(memory) for memory, text in _shown(memories)]
    return {"memories": found, **({"notice": notice} if notice else {})}


def list_lines(memories: Sequence[Memory], notice: str = "") -> str:
    """The same memories as text, one line each."""
    lines = [memory_line(memory, text) + _suffix(memory) for memory, text in _shown(memories)]
    return "\n".join([*lines, notice] if notice or not lines else lines)


def _shown(memories: Sequence[Memory]) -> list[tuple[Memory, str]]:
    """Memories with as much of their texts as one answer has room for."""
    share = max(MIN_TEXT_CHARS, MAX_REPLY_CHARS // max(1, len(memories)))
    return [(memory, clip(memory.text, share, "get_memory shows more")) for memory in memories]


def get_payload(memory: Memory) -> dict[str, Any]:
    """One memory with all that there is to say of it."""
    return {"memory": memory_payload(memory) | {"text": clip(memory.text, MAX_REPLY_CHARS, "too long to be shown")}}


def get_line(memory: Memory) -> str:
    """The same on one line."""
    leads_to = f" (see {', '.join(memory.superseded_by.split())})" if memory.superseded_by else ""
    return memory_line(memory, clip(memory.text, MAX_REPLY_CHARS, "too long to be shown")) + _suffix(memory) + leads_to


def _state_of(memory: Memory) -> dict[str, Any]:
    return {} if memory.state == "active" else {"state": memory.state}


def _suffix(memory: Memory) -> str:
    return "" if memory.state == "active" else f" ({memory.state})"


def history_payload(history: History) -> dict[str, Any]:
    """The structured answer of a history; what says nothing is left out."""
    others = {
        "chain": history.chain if len(history.chain) > 1 else (),
        "merged": history.merged,
        "words": history.words,
    }
    payload: dict[str, Any] = {
        "id": history.id,
        "text": _clipped(history.text),
        "state": history.state,
        "changes": [_entry_payload(entry) for entry in history.entries[-_N_ENTRIES:]],
        "facts": [
            {"fact": fact.told, "state": fact.state, "source": fact.source, "from": _day(fact.valid_from)}
            | ({"until": _day(fact.invalid_at)} if fact.invalid_at else {})
            for fact in history.facts
        ],
        **{name: [_related_payload(each) for each in found] for name, found in others.items()},
        "notice": _notice(history),
    }
    return {name: value for name, value in payload.items() if value not in ("", [])}


def _entry_payload(entry: HistoryEntry) -> dict[str, Any]:
    payload = {
        "change_id": entry.change_id,
        "at": _minute(entry.at),
        "client": entry.client,
        "operation": entry.operation,
        "changed": _changed(entry.changes),
        "facts": list(entry.facts),
        "undone_by": entry.undone_by,
        "reason": entry.reason,
    }
    return {name: value for name, value in payload.items() if value not in ("", [], {})}


def _changed(changes: Sequence[FieldChange]) -> dict[str, Any]:
    """[before, after] by field; of what is new only how it began."""
    return {
        change.name: _clipped(change.after)
        if change.before is None and change.name in ("text", "state", "kind", "importance", "observed_at")
        else [_clipped(change.before), _clipped(change.after)]
        for change in changes
    }


def _clipped(value: Any) -> Any:
    return value[:_N_CHARS] + " …" if isinstance(value, str) and len(value) > _N_CHARS else value


def _related_payload(related: Related) -> dict[str, Any]:
    payload = {
        "id": related.id,
        "text": _clipped(related.text),
        "state": related.state,
        "since": _day(related.since),
        "until": _day(related.until) if related.until else "",
    }
    return {name: value for name, value in payload.items() if value}


def history_lines(history: History) -> str:
    """The same history as text, oldest first."""
    lines = [f"[{history.id}] {history.state}: {quote(_clipped(history.text))}"]
    lines += [line for entry in history.entries[-_N_ENTRIES:] for line in _entry_lines(entry)]
    for fact in history.facts:
        until = f" until {_day(fact.invalid_at)}" if fact.invalid_at else ""
        lines.append(f"fact, {fact.state}: {quote(fact.told)} from {_day(fact.valid_from)}{until} (by {fact.source})")
    if len(history.chain) > 1:
        lines += [_related_line("in turn", each) for each in history.chain]
    lines += [_related_line("the same in other words", each) for each in history.merged]
    lines += [_related_line("read out of", each) for each in history.words]
    return "\n".join(filter(None, [*lines, _notice(history)]))


def _notice(history: History) -> str:
    n_more = len(history.entries) - _N_ENTRIES
    older = f"{n_more} older changes are not shown." if n_more > 0 else ""
    return " ".join(filter(None, (older, history.notice)))


def _entry_lines(entry: HistoryEntry) -> list[str]:
    told = [
        f"{change.name} {_value(change.after)}"
        if change.before is None
        else f"{change.name} {_value(change.before)} → {_value(change.after)}"
        for change in entry.changes
    ]
    undone = [f"undone by {entry.undone_by}"] if entry.undone_by else []
    rest = "; ".join([*told, *([entry.reason] if entry.reason else []), *undone])
    head = f"{_minute(entry.at)} {entry.operation} [{entry.change_id}] by {entry.client}"
    return [f"{head}: {rest}" if rest else head, *(f"  fact {quote(fact)}" for fact in entry.facts)]


def _related_line(how: str, related: Related) -> str:
    until = f" until {_day(related.until)}" if related.until else ""
    return f"{how}: [{related.id}] {related.state}, {_day(related.since)}{until}: {quote(_clipped(related.text))}"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_value, value)) or "none"
    return quote(_clipped(value)) if isinstance(value, str) else str(value)


def undo_payload(result: Undone) -> dict[str, Any]:
    """The structured answer of an undo."""
    payload: dict[str, Any] = {
        "undone": result.undone_id,
        "operation": result.operation,
        "change_id": result.change_id,
        "memories": [
            {"id": row.id, "text": _clipped(row.text), "state": row.state, "was": row.former_state}
            | ({"former_text": _clipped(row.former_text)} if row.former_text != row.text else {})
            for row in result.rows
        ],
    }
    return payload | ({"notice": result.notice} if result.notice else {})


def undo_lines(result: Undone) -> str:
    """The same as text."""
    lines = [
        f"undid {result.operation} [{result.undone_id}] of {_day(result.at)}; undo [{result.change_id}] to redo it"
    ]
    for row in result.rows:
        state = row.state if row.state == row.former_state else f"{row.former_state} → {row.state}"
        text = quote(_clipped(row.text))
        lines.append(f"[{row.id}] {state}: {text}" + (" again" if row.text != row.former_text else ""))
    return "\n".join([*lines, result.notice] if result.notice else lines)


def update_payload(result: Updated) -> dict[str, Any]:
    """The structured answer of a correction."""
    payload = {
        "updated": result.id,
        "text": _clipped(result.text),
        "changed": _changed_both(result.changes),
        "change_id": result.change_id,
        "facts_withdrawn": result.n_facts_withdrawn,
        "also": list(result.also),
        "reason": result.reason,
    }
    return {name: value for name, value in payload.items() if value or name in ("updated", "changed")}


def _changed_both(changes: Sequence[FieldChange]) -> dict[str, Any]:
    return {change.name: [_clipped(change.before), _clipped(change.after)] for change in changes}


def update_lines(result: Updated) -> str:
    """The same as text."""
    told = [f"  {change.name}: {_value(change.before)} → {_value(change.after)}" for change in result.changes]
    head = f"updated [{result.id}] in change [{result.change_id}]" if result.changes else f"[{result.id}]"
    also = [f"  {quote(line)}" for line in result.also]
    return "\n".join([f"{head}: {result.reason}" if result.reason else head, *told, *also])


def why_not_payload(result: WhyNot) -> dict[str, Any]:
    """The structured answer of why a memory was not returned."""
    payload: dict[str, Any] = {
        "id": result.id,
        "text": _clipped(result.text),
        "verdict": result.verdict,
        "reasons": list(result.reasons),
        "ranked": _ranked_payload(result.ranked) if result.ranked else {},
        "last": _ranked_payload(result.last) if result.last and result.verdict != "returned" else {},
        "degraded": list(result.degraded),
    }
    return {name: value for name, value in payload.items() if value not in ({}, [])}


def _ranked_payload(ranked: Ranked) -> dict[str, Any]:
    return {
        "id": ranked.id,
        "rank": ranked.rank,
        "score": ranked.score,
        "relevance": ranked.relevance,
        "signals": {name: value for name, value in ranked.signals.items() if value},
    }


def why_not_lines(result: WhyNot) -> str:
    """The same as text; the last hit stands below the memory, so that their signals can be compared."""
    lines = [f"[{result.id}] {quote(_clipped(result.text))}", *result.reasons]
    if result.ranked:
        lines.append(_ranked_line("it", result.ranked))
    if result.last and result.verdict != "returned":
        lines.append(_ranked_line(f"the last hit [{result.last.id}]", result.last))
    return "\n".join(lines)


def _ranked_line(who: str, ranked: Ranked) -> str:
    signals = ", ".join(f"{name} {value:.2f}" for name, value in ranked.signals.items() if value)
    return f"  {who}: number {ranked.rank}, score {ranked.score:.2f}, relevance {ranked.relevance:.2f}: {signals}"


def _day(at: datetime) -> str:
    return at.date().isoformat()


def _minute(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M")
