"""The events of a change: each row that it touched, as it was before and as it is after.

An event of a memory also names the entities that it is linked to, one of an entity its aliases, so that a change can
be undone from its events alone.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select

from . import schema
from .changes import Written, batches, facts_by_id, rows_by_id
from .records import SIGHTINGS, Change
from .schema import aliases, entities, entity_links, events, facts

Rows = Mapping[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Seen:
    """Memories, facts and entities as they are at one moment, by id, in the form of events."""

    memories: Rows
    facts: Rows
    entities: Rows


def before(connection: Connection, change: Change) -> Seen:
    """What a change may touch, as it is before."""
    memory_ids = [memory.id for memory in change.memories]
    fact_ids = [fact.id for fact in change.facts] + list(change.gone_facts)
    for part in batches(memory_ids):
        fact_ids += connection.scalars(select(facts.c.id).where(facts.c.memory_id.in_(part)))
    seen = _seen(connection, memory_ids, list(dict.fromkeys(fact_ids)), [])
    named = {identifier for row in seen.memories.values() for identifier in row["entities"]}
    named |= {row[column] for row in seen.facts.values() for column in ("subject_id", "object_id")}
    named |= {entity_id for entity_id, *_ in (*change.aliases, *change.gone_aliases)}
    named |= {entity_id for _, entity_id in (*change.links, *change.unlinks)}
    return Seen(seen.memories, seen.facts, _entities(connection, named - {""}))


def write(connection: Connection, change: Change, was: Seen, written: Written) -> int:
    """Write the events of a change that has been written; the number of the last event of all."""
    now = _seen(
        connection,
        [memory.id for memory in change.memories],
        [fact.id for fact in written.facts],
        # New ones, and those whose names have changed.
        {entity.id for entity in change.entities}
        | {entity_id for entity_id, *_ in (*change.aliases, *change.gone_aliases)},
    )
    shared = {
        "change_id": change.id,
        "at": change.at,
        "user_id": change.owner.user_id,
        "client": change.owner.agent_id,
        "reason": change.reason,
        "operation": change.operation,
        "memory_id": "",
        "entity_id": "",
        "fact_id": "",
        "before": None,
        "after": None,
    }
    rows = [
        shared | {"memory_id": key, "before": was.memories.get(key), "after": after}
        for key, after in now.memories.items()
    ]
    rows += [
        shared
        | {
            "operation": operation,
            "memory_id": sighting.memory_id,
            "after": {"observed_at": sighting.observed_at.isoformat()},
        }
        for operation, sightings in zip(SIGHTINGS, (change.sightings, change.unsightings), strict=True)
        for sighting in sightings
    ]
    rows += [
        shared | {"fact_id": key, "before": was.facts.get(key), "after": now.facts.get(key)}
        for key in (*now.facts, *change.gone_facts)
    ]
    rows += [
        shared | {"operation": "entity", "entity_id": key, "before": was.entities.get(key), "after": after}
        for key, after in sorted(now.entities.items())
    ]
    rows += [
        shared | {"operation": "entity_gone", "entity_id": entity.id, "before": was.entities.get(entity.id)}
        for entity in written.removed_entities
        # One that came and went with this change has left nothing.
        if entity.id in was.entities
    ]
    if rows:
        connection.execute(insert(events), rows)
    return connection.scalar(select(func.max(events.c.sequence))) or 0


def reworded(change: Change, was: Seen) -> frozenset[str]:
    """The known memories of a change of which anything that is embedded is another now."""
    return frozenset(
        memory.id
        for memory in change.memories
        if (before := was.memories.get(memory.id))
        and (memory.text, memory.speaker, memory.observed_at.isoformat())
        != (before["text"], before["speaker"], before["observed_at"])
    )


def _seen(
    connection: Connection, memory_ids: Sequence[str], fact_ids: Sequence[str], entity_ids: Collection[str]
) -> Seen:
    linked: dict[str, list[str]] = {}
    for part in batches(memory_ids):
        for row in connection.execute(select(entity_links).where(entity_links.c.memory_id.in_(part))):
            linked.setdefault(row.memory_id, []).append(row.entity_id)
    return Seen(
        memories={
            key: schema.as_json(dict(row)) | {"entities": sorted(linked.get(key, ()))}
            for key, row in rows_by_id(connection, memory_ids).items()
        },
        facts={key: schema.as_json(dict(row)) for key, row in facts_by_id(connection, fact_ids).items()},
        entities=_entities(connection, entity_ids),
    )


def _entities(connection: Connection, ids: Collection[str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for part in batches(sorted(ids)):
        for row in connection.execute(select(entities).where(entities.c.id.in_(part))).mappings():
            found[row["id"]] = {**row, "aliases": []}
        for alias in connection.execute(
            select(aliases).where(aliases.c.entity_id.in_(part)).order_by(aliases.c.name_key)
        ):
            if alias.entity_id in found:
                found[alias.entity_id]["aliases"].append([alias.name, alias.name_key])
    return found
