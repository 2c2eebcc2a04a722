"""The history of purged memories: what told of them goes, and that something was purged stays, under ids alone."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from .changes import batches
from .doomed import Doomed, names_one_of
from .erasure_names import is_unsaid
from .records import PURGED, Owner
from .schema import entities, events
from .traces import Traces


def scrub_events(connection: Connection, doomed: Doomed, traces: Traces) -> None:
    """Leave of each change that told of any of it one empty event, so that nobody undoes the rest of it."""
    conditions: list[tuple[Callable[[Sequence[str]], Any], Sequence[str]]] = [
        (events.c.memory_id.in_, doomed.memory_ids),
        (names_one_of, doomed.memory_ids),
        (events.c.fact_id.in_, doomed.fact_ids),
    ]
    found: set[tuple[int, str]] = set()
    for condition, ids in conditions:
        for part in batches(ids):
            rows = connection.execute(select(events.c.sequence, events.c.change_id).where(condition(part)))
            found |= {(row.sequence, row.change_id) for row in rows}
    first: dict[str, int] = {}
    for sequence, change_id in sorted(found):
        first.setdefault(change_id, sequence)
    for others in batches(sorted({sequence for sequence, _ in found} - set(first.values()))):
        connection.execute(delete(events).where(events.c.sequence.in_(others)))
    empty = {"operation": PURGED, "memory_id": "", "entity_id": "", "fact_id": "", "reason": ""}
    for kept in batches(sorted(first.values())):
        nothing = {"before": None, "after": None}
        connection.execute(update(events).where(events.c.sequence.in_(kept)).values(**empty, **nothing))
    for changed in batches(sorted(first)):
        _clear_reasons(connection, changed, traces)


def scrub_names(connection: Connection, entity_ids: Collection[str], unsaid: Collection[str]) -> None:
    """Take names out of what events tell of entities; of one that is gone and had no other name nothing is left."""
    for part in batches(sorted(entity_ids)):
        present = connection.execute(
            select(entities.c.id, entities.c.name, entities.c.name_key).where(entities.c.id.in_(part))
        )
        named = {row.id: {"name": row.name, "name_key": row.name_key} for row in present}
        rows = connection.execute(select(events).where(events.c.entity_id.in_(part))).all()
        for row in rows:
            sides = {name: _without(getattr(row, name), unsaid, named.get(row.entity_id, {})) for name in _SIDES}
            of_it = events.c.sequence == row.sequence
            if any(sides[name] is None and getattr(row, name) for name in _SIDES):
                connection.execute(delete(events).where(of_it))
            elif any(sides[name] != getattr(row, name) for name in _SIDES):
                connection.execute(update(events).where(of_it).values(**sides))


_SIDES = ("before", "after")


def _without(
    side: Mapping[str, Any] | None, unsaid: Collection[str], name_now: Mapping[str, str]
) -> dict[str, Any] | None:
    """An entity as an event tells it, without some names; None where it has no other."""
    if not side:
        return None
    aliases = [[name, key] for name, key in side["aliases"] if not is_unsaid(key, name, unsaid)]
    told = {**side, "aliases": aliases}
    if not is_unsaid(side["name_key"], side["name"], unsaid):
        return told
    if name_now:
        return {**told, **name_now}
    return {**told, "name": aliases[0][0], "name_key": aliases[0][1]} if aliases else None


def _clear_reasons(connection: Connection, change_ids: Sequence[str], traces: Traces) -> None:
    told = connection.execute(
        select(events.c.sequence, events.c.reason).where(events.c.change_id.in_(change_ids), events.c.reason != "")
    ).all()
    for row in told:
        if traces.are_in(row.reason):
            connection.execute(update(events).where(events.c.sequence == row.sequence).values(reason=""))


def tell(
    connection: Connection,
    owner: Owner,
    doomed: Doomed,
    change_id: str,
    at: datetime,
    entity_ids: Iterable[str],
) -> None:
    """Write the events of the purge: ids alone. By them the tables learn of it."""
    shared = {
        "change_id": change_id,
        "at": at,
        "user_id": owner.user_id,
        "client": owner.agent_id,
        "operation": PURGED,
        "memory_id": "",
        "entity_id": "",
        "fact_id": "",
        "before": None,
        "after": None,
        "reason": "",
    }
    rows = [shared | {"memory_id": each} for each in doomed.memory_ids]
    rows += [shared | {"entity_id": each} for each in sorted(set(entity_ids))]
    connection.execute(insert(events), rows)
