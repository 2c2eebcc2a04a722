"""What the log's events tell: of one change, of one row, and which changes still stand. Only reads."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, literal_column, select

from .changes import batches
from .log import Log
from .records import PURGED, SIGHTINGS, Entity, Fact, Memory
from .schema import aliases, entities, entity_links, events, facts, memories

_UNDO_OF = "undo of "
# Written out: without this condition the indices of facts and entities, which leave others out, are not used.
_NONE: ColumnElement[str] = literal_column("''")
# What a history tells of; the others follow from these, or are the log's own.
TOLD_FIELDS = (
    "text", "state", "kind", "about", "importance", "observed_at", "valid_from", "invalid_at", "expires_at",
    "superseded_by", "speaker", "metadata", "model",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Event:
    """One row that a change touched, by its id, as it was before and as it is after; None where it was not there."""

    sequence: int
    change_id: str
    at: datetime
    client: str
    operation: str
    memory_id: str
    entity_id: str
    fact_id: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    reason: str


@dataclass(frozen=True, slots=True)
class Touch:
    """A change that touched some rows: its operation there, and which change it undoes, '' for none."""

    sequence: int
    change_id: str
    at: datetime
    operation: str
    undoes: str


def reason_of_undoing(change_id: str) -> str:
    """The reason that an undo carries; `Touch.undoes` reads it."""
    return f"{_UNDO_OF}{change_id}"


def events_of_change(log: Log, user_id: str, change_id: str) -> list[Event]:
    """Everything that one of a user's changes did, in order."""
    with log.reading() as connection:
        rows = connection.execute(
            select(*_COLUMNS)
            .where(events.c.change_id == change_id, events.c.user_id == user_id)
            .order_by(events.c.sequence)
        )
        return [Event(**row) for row in rows.mappings()]


def events_of(log: Log, *, memory_ids: Sequence[str] = (), fact_ids: Sequence[str] = ()) -> list[Event]:
    """The events of some memories and facts, oldest first."""
    found: list[Event] = []
    with log.reading() as connection:
        for column, ids in ((events.c.memory_id, memory_ids), (events.c.fact_id, fact_ids)):
            for part in batches(ids):
                rows = connection.execute(select(*_COLUMNS).where(column.in_(part), column != _NONE))
                found += [Event(**row) for row in rows.mappings()]
    return sorted(found, key=lambda event: event.sequence)


def facts_touched(log: Log, memory_id: str, change_ids: Sequence[str]) -> list[str]:
    """The ids of the facts of a memory that some changes touched, also of those that are gone."""
    found: dict[str, None] = {}
    with log.reading() as connection:
        for part in batches(change_ids):
            rows = connection.execute(
                select(events.c.fact_id, events.c.before, events.c.after).where(
                    events.c.change_id.in_(part), events.c.fact_id != _NONE
                )
            )
            found |= {row.fact_id: None for row in rows if (row.after or row.before)["memory_id"] == memory_id}
    return list(found)


def touches_of(log: Log, memory_ids: Sequence[str], fact_ids: Sequence[str]) -> list[Touch]:
    """The changes that touched any of some memories and facts, oldest first, each once."""
    found: dict[str, Touch] = {}
    columns = [events.c[name] for name in ("sequence", "change_id", "at", "operation", "reason")]
    with log.reading() as connection:
        for column, ids in ((events.c.memory_id, memory_ids), (events.c.fact_id, fact_ids)):
            for part in batches(ids):
                for row in connection.execute(
                    select(*columns).where(column.in_(part), column != _NONE).order_by(events.c.sequence)
                ):
                    undoes = row.reason.removeprefix(_UNDO_OF) if row.reason.startswith(_UNDO_OF) else ""
                    touch = Touch(row.sequence, row.change_id, row.at, row.operation, undoes)
                    found.setdefault(row.change_id, touch)
    return sorted(found.values(), key=lambda touch: touch.sequence)


def undone_by(touches: Iterable[Touch]) -> dict[str, Touch]:
    """By the id of each change that does not stand any more, what undid it and stands itself.

    >>> at = datetime(2026, 1, 1)
    >>> chain = [Touch(1, "a", at, "add", ""), Touch(2, "b", at, "undo", "a"), Touch(3, "c", at, "undo", "b")]
    >>> sorted(undone_by(chain[:2])), sorted(undone_by(chain))
    (['a'], ['b'])
    """
    found: dict[str, Touch] = {}
    # The latest first: whether it stands is known before what it undoes is looked at.
    for touch in sorted(touches, key=lambda touch: -touch.sequence):
        if touch.undoes and touch.change_id not in found:
            found[touch.undoes] = touch
    return found


def standing(touches: Sequence[Touch]) -> list[Touch]:
    """Those whose effect stands: neither undone, nor the undoing of another of them."""
    undone = undone_by(touches)
    undoing = {touch.change_id for key, touch in undone.items() if key in {each.change_id for each in touches}}
    return [touch for touch in touches if touch.change_id not in undone and touch.change_id not in undoing]


def begins_at(log: Log) -> datetime | None:
    """When the oldest change was made of which something is left; None in a log without changes."""
    with log.reading() as connection:
        first = connection.execute(_oldest()).first()
    return first.at if first else None


def may_lack_events(log: Log, change_id: str) -> bool:
    """Whether some of a change's events may have been dropped: they go oldest first, and not by whole changes."""
    with log.reading() as connection:
        first = connection.execute(_oldest()).first()
        if first is None or first.change_id != change_id or first.sequence == 1:
            return False
        before = select(events.c.sequence).where(events.c.sequence == first.sequence - 1)
        return connection.execute(before).first() is None


def _oldest() -> Select[Any]:
    columns = (events.c.sequence, events.c.change_id, events.c.at)
    return select(*columns).where(events.c.operation.not_in((*SIGHTINGS, PURGED))).order_by(events.c.sequence).limit(1)


def links_of(log: Log, memory_ids: Sequence[str]) -> dict[str, list[str]]:
    """The ids of the entities that memories are linked to, in order."""
    found: dict[str, list[str]] = {}
    with log.reading() as connection:
        for part in batches(memory_ids):
            for row in connection.execute(select(entity_links).where(entity_links.c.memory_id.in_(part))):
                found.setdefault(row.memory_id, []).append(row.entity_id)
    return {memory_id: sorted(ids) for memory_id, ids in found.items()}


def facts_ended_by(log: Log, user_id: str, fact_ids: Sequence[str]) -> list[Fact]:
    """A user's facts that some facts ended, the latest first; those that were withdrawn are left out."""
    found: list[Fact] = []
    with log.reading() as connection:
        for part in batches(fact_ids):
            ended = (facts.c.user_id == user_id, facts.c.ended_by.in_(part), facts.c.invalid_at.is_not(None))
            rows = connection.execute(select(facts).where(*ended).order_by(facts.c.id.desc()))
            found += [Fact(**row) for row in rows.mappings()]
    return found


def facts_with_ids(log: Log, fact_ids: Sequence[str]) -> dict[str, Fact]:
    """The facts with these ids; unknown ids are absent."""
    with log.reading() as connection:
        return {
            row["id"]: Fact(**row)
            for part in batches(fact_ids)
            for row in connection.execute(select(facts).where(facts.c.id.in_(part))).mappings()
        }


def last_entities(log: Log, entity_ids: Collection[str]) -> dict[str, Mapping[str, Any]]:
    """Entities with their aliases as the events last tell of them, also of those that are gone."""
    found: dict[str, Mapping[str, Any]] = {}
    with log.reading() as connection:
        for part in batches(sorted(entity_ids)):
            rows = connection.execute(
                select(events.c.entity_id, events.c.before, events.c.after)
                .where(events.c.entity_id.in_(part), events.c.entity_id != _NONE)
                .order_by(events.c.sequence)
            )
            for entity_id, before, after in rows:
                if told := after or before:
                    found[entity_id] = told
    return found


def bearers(log: Log, user_id: str, keys: Collection[str]) -> dict[str, str]:
    """The id of the user's entity that each key names, by name before alias; unknown keys are absent."""
    found: dict[str, str] = {}
    of_user = entities.c.user_id == user_id
    with log.reading() as connection:
        for part in batches(sorted(keys)):
            by_alias = select(aliases.c.name_key, aliases.c.entity_id).join(
                entities, entities.c.id == aliases.c.entity_id
            )
            found |= {
                row.name_key: row[1]
                for row in connection.execute(by_alias.where(of_user, aliases.c.name_key.in_(part)))
            }
            by_name = select(entities.c.name_key, entities.c.id).where(of_user, entities.c.name_key.in_(part))
            found |= {row.name_key: row[1] for row in connection.execute(by_name)}
    return found


def present_entities(log: Log, entity_ids: Collection[str]) -> dict[str, set[str]]:
    """The keys of the aliases of those of some entities that exist."""
    found: dict[str, set[str]] = {entity.id: set() for entity in log.get_entities(ids=sorted(entity_ids))}
    with log.reading() as connection:
        for part in batches(sorted(found)):
            for row in connection.execute(select(aliases).where(aliases.c.entity_id.in_(part))):
                found[row.entity_id].add(row.name_key)
    return found


def related(log: Log, memory: Memory) -> list[Memory]:
    """A memory, all that took each other's place before and after it, and the words it was read out of; by world time.

    Words lead to everything that was read out of them: they tie no two statements to each other.
    """
    leads = select(memories.c.id, memories.c.superseded_by, memories.c.state).where(
        memories.c.user_id == memory.user_id, memories.c.superseded_by != ""
    )
    before: dict[str, set[str]] = {}
    after: dict[str, set[str]] = {}
    words: set[str] = set()
    with log.reading() as connection:
        for row in connection.execute(leads):
            others = row.superseded_by.split()
            if row.state == "distilled":
                words |= {row.id} if memory.id in others else set()
                continue
            after[row.id] = set(others)
            for other in others:
                before.setdefault(other, set()).add(row.id)
    found, new = {memory.id}, {memory.id}
    while new:
        new = {each for known in new for each in after.get(known, set()) | before.get(known, set())} - found
        found |= new
    rows = log.get_memories(sorted(found | words)).values()
    return sorted(rows, key=lambda each: (each.valid_from or each.observed_at, each.id))


_COLUMNS = tuple(
    events.c[name]
    for name in (
        "sequence", "change_id", "at", "client", "operation", "memory_id", "entity_id", "fact_id", "before", "after",
        "reason",
    )
)  # fmt: skip


def memory_of(row: Mapping[str, Any]) -> Memory:
    """A memory from its form in an event."""
    return Memory(**{name: _value(name, row[name]) for name in Memory.__slots__})


def fact_of(row: Mapping[str, Any]) -> Fact:
    """A fact from its form in an event."""
    return Fact(**{name: _value(name, row[name]) for name in Fact.__slots__})


def entity_of(row: Mapping[str, Any]) -> Entity:
    """An entity from its form in an event."""
    return Entity(**{name: row[name] for name in Entity.__slots__})


def moment_of(text: str) -> datetime:
    """A time from its form in an event."""
    return datetime.fromisoformat(text)


def _value(name: str, value: Any) -> Any:
    is_time = name.endswith("_at") or name == "valid_from"
    return moment_of(value) if is_time and value is not None else value
