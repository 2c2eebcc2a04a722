"""The life of one memory, read from the log: each change of it, its facts, and what took whose place. Only reads."""

from collections.abc import Mapping, Sequence
from typing import Any

from . import trail
from .knowledge import facts_of_memories
from .lookup import find
from .records import SIGHTINGS, Fact, Memory, Owner
from .reports import FactHistory, FieldChange, History, HistoryEntry, Related
from .stores import Stores
from .trail import TOLD_FIELDS, Event

# Of a memory that is new, what it began with.
_BEGAN_WITH = ("text", "state", "kind", "importance")
_IN_CHAIN = ("active", "raw", "invalid", "deleted")


def history(memory_id: str, owner: Owner, stores: Stores) -> History:
    """Everything that is known of how a memory came to be what it is; deleted ones have a history too.

    Raises:
        NotFoundError: there never was such a memory of this user.
    """
    log = stores.log
    memory = find(memory_id, owner.user_id, log)
    events = trail.events_of(log, memory_ids=[memory.id])
    present = {fact.id: fact for fact in facts_of_memories(log, [memory.id]).get(memory.id, ())}
    of_facts = _events_of_facts(memory, list(present), events, stores)
    undone = trail.undone_by(trail.touches_of(log, [memory.id], list({event.fact_id for event in of_facts})))
    names = trail.last_entities(log, {each for event in events for each in _linked(event)})
    entries = [_entry(event, of_facts, undone, names) for event in events]
    told = {event.change_id for event in events if event.operation not in SIGHTINGS}
    entries += [_entry(event, of_facts, undone, names) for event in _firsts(of_facts) if event.change_id not in told]
    others = trail.related(log, memory)
    return History(
        id=memory.id,
        text=memory.text,
        state=memory.state,
        entries=tuple(sorted(entries, key=lambda entry: entry.change_id)),
        facts=_facts(present, of_facts),
        chain=tuple(_related(each) for each in others if each.id == memory.id or each.state in _IN_CHAIN),
        merged=tuple(_related(each) for each in others if each.state == "merged" and each.id != memory.id),
        words=tuple(
            _related(each) for each in others if each.state == "distilled" and memory.id in each.superseded_by.split()
        ),
        notice=_beginning(memory, events),
    )


def _events_of_facts(memory: Memory, present: Sequence[str], events: Sequence[Event], stores: Stores) -> list[Event]:
    """The events of the facts of a memory, also of those that an undone change took with it."""
    changes = dict.fromkeys(event.change_id for event in events if event.operation not in SIGHTINGS)
    touched = trail.facts_touched(stores.log, memory.id, list(changes))
    return trail.events_of(stores.log, fact_ids=list(dict.fromkeys([*present, *touched])))


def _firsts(events: Sequence[Event]) -> list[Event]:
    """One event of each change."""
    return list({event.change_id: event for event in reversed(events)}.values())


def _linked(event: Event) -> set[str]:
    return {each for row in (event.before, event.after) if row for each in row.get("entities", ())}


def _entry(
    event: Event,
    of_facts: Sequence[Event],
    undone: Mapping[str, trail.Touch],
    names: Mapping[str, Mapping[str, Any]],
) -> HistoryEntry:
    changes: tuple[FieldChange, ...] = ()
    reason, facts = event.reason, tuple(_fact_line(each) for each in of_facts if each.change_id == event.change_id)
    if event.operation in SIGHTINGS and event.after:
        at = event.after["observed_at"][:10]
        reason, facts = ("met again on " if event.operation == "sight" else "not met again after all on ") + at, ()
    elif event.memory_id:
        changes = _changes(event, names)
    by = undone.get(event.change_id)
    return HistoryEntry(
        event.change_id, event.at, event.client, event.operation, changes, facts, by.change_id if by else "", reason
    )


def _changes(event: Event, names: Mapping[str, Mapping[str, Any]]) -> tuple[FieldChange, ...]:
    after = event.after or {}
    if event.before is None:
        is_late = after.get("observed_at", "")[:10] != event.at.date().isoformat()
        names_told = (*_BEGAN_WITH, "observed_at") if is_late else _BEGAN_WITH
        return tuple(FieldChange(name, None, after[name]) for name in names_told if name in after)
    found = [
        FieldChange(name, event.before.get(name), after.get(name))
        for name in TOLD_FIELDS
        if event.before.get(name) != after.get(name)
    ]
    were, are = (
        sorted(names[each]["name"] for each in row.get("entities", ()) if each in names)
        for row in (event.before, after)
    )
    # That what left search names nobody any more goes without saying.
    if were != are and event.before.get("state") == after.get("state"):
        found.append(FieldChange("names", were, are))
    return tuple(found)


def _fact_line(event: Event) -> str:
    row = event.after or event.before or {}
    if event.after is None:
        what = "gone"
    elif event.before is None:
        what = "read" if event.operation != "undo" else "back"
    elif event.after["closed_at"]:
        what = "ended" if event.after["invalid_at"] else "withdrawn"
    else:
        what = "back" if event.before["closed_at"] else "changed"
    return f"{what}: {_told(trail.fact_of(row))}"


def _told(fact: Fact) -> str:
    relation = fact.label if fact.relation == "other" and fact.label else fact.relation
    label = f" ({fact.label})" if fact.label and relation != fact.label else ""
    return f"{fact.subject} - {relation}{label} - {'' if fact.holds else 'not '}{fact.object}"


def _facts(present: Mapping[str, Fact], of_facts: Sequence[Event]) -> tuple[FactHistory, ...]:
    found = [FactHistory(f.id, _told(f), _state(f), f.source, f.valid_from, f.invalid_at) for f in present.values()]
    for event in of_facts:
        row = event.after or event.before
        if row and event.fact_id not in present and event.fact_id not in {each.id for each in found}:
            fact = trail.fact_of(row)
            found.append(FactHistory(fact.id, _told(fact), "undone", fact.source, fact.valid_from, fact.invalid_at))
    return tuple(sorted(found, key=lambda each: (each.valid_from, each.id)))


def _state(fact: Fact) -> Any:
    if fact.closed_at is None:
        return "holds"
    return "ended" if fact.invalid_at else "withdrawn"


def _related(memory: Memory) -> Related:
    return Related(
        memory.id,
        memory.text,
        memory.state,
        memory.valid_from or memory.observed_at,
        memory.invalid_at,
        tuple(memory.superseded_by.split()),
    )


def _beginning(memory: Memory, events: Sequence[Event]) -> str:
    rows = [event for event in events if event.operation not in SIGHTINGS]
    if rows and rows[0].before is None:
        return ""
    dropped = "older events have been dropped (MCP_MEMORY_KEEP_EVENTS_DAYS)"
    if not rows:
        return f"Nothing is left of its history: {dropped}; it was added on {memory.created_at.date()}."
    return f"Its history begins on {rows[0].at.date()}: {dropped}."
