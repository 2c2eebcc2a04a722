"""What the log holds beyond memories: the facts read out of them, and the summary of each user."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    and_,
    bindparam,
    func,
    literal,
    or_,
    select,
    union_all,
)
from sqlalchemy.dialects.sqlite import insert as upsert

from .changes import batches, is_withdrawn
from .log import Log
from .records import SIGHTINGS, Fact, Kind, Memory, Profile, Validity
from .reports import Counted, FactAudit
from .schema import UtcMicros, entities, events, facts, memories, profiles
from .schema import former_validity as former
from .vocabulary import OTHER

# What more memories name leads everywhere, and says little: `score.entity` has fallen to a tenth there.
MAX_LINKED = 100


def facts_of_memories(log: Log, memory_ids: Sequence[str]) -> dict[str, list[Fact]]:
    """The facts of some memories, by memory; ended ones too."""
    found: dict[str, list[Fact]] = {}
    with log.reading() as connection:
        for part in batches(memory_ids):
            for row in connection.execute(select(facts).where(facts.c.memory_id.in_(part))).mappings():
                found.setdefault(row["memory_id"], []).append(Fact(**row))
    return found


def facts_of_types(log: Log, user_id: str, fact_types: Collection[str]) -> list[Fact]:
    """A user's facts of some types that have not ended, newest first; those of expired memories too."""
    with log.reading() as connection:
        rows = connection.execute(
            select(facts)
            .where(
                facts.c.user_id == user_id,
                facts.c.fact_type.in_(fact_types),
                facts.c.holds,
                facts.c.closed_at.is_(None),
            )
            .order_by(facts.c.id.desc())
        )
        return [Fact(**row) for row in rows.mappings()]


def facts_of_user(
    log: Log, user_id: str, now: datetime, *, of: str, relation: str, with_ended: bool, limit: int
) -> list[Fact]:
    """A user's facts, newest first, those in force or ended ones too; of one relation and of subjects named so.

    A fact of a memory that has expired is in force no more, and neither is one that begins later.
    """
    wanted = [facts.c.user_id == user_id, ~is_withdrawn()]
    if not with_ended:
        lasts = or_(memories.c.expires_at.is_(None), memories.c.expires_at > now)
        wanted += [
            facts.c.holds,
            facts.c.valid_from <= now,
            or_(facts.c.invalid_at.is_(None), facts.c.invalid_at > now),
            facts.c.memory_id.in_(select(memories.c.id).where(memories.c.user_id == user_id, lasts)),
        ]
    if relation:
        wanted.append(facts.c.relation == relation)
    if of:
        wanted.append(facts.c.subject.icontains(of, autoescape=True))
    with log.reading() as connection:
        rows = connection.execute(select(facts).where(*wanted).order_by(facts.c.id.desc()).limit(limit))
        return [Fact(**row) for row in rows.mappings()]


def audit_of(log: Log, user_id: str) -> FactAudit:
    """Numbers of a user's facts in force, by relation and source, and by label where no relation fits; most first."""
    in_force = (facts.c.user_id == user_id, facts.c.closed_at.is_(None), facts.c.holds)

    def counted(column: Any, *more: ColumnElement[bool]) -> tuple[Counted, ...]:
        n = func.count().label("n")
        query = select(column, n).where(*in_force, *more).group_by(column).order_by(n.desc(), column)
        with log.reading() as connection:
            return tuple(Counted(name, number) for name, number in connection.execute(query))

    with log.reading() as connection:
        n_ended = connection.scalar(
            select(func.count()).where(facts.c.user_id == user_id, facts.c.invalid_at.is_not(None))
        )
    return FactAudit(
        relations=counted(facts.c.relation),
        sources=counted(facts.c.source),
        other_labels=counted(facts.c.label, facts.c.relation == OTHER),
        n_ended=int(n_ended or 0),
    )


def walk(
    log: Log,
    user_id: str,
    start: Collection[str],
    not_through: str,
    during: tuple[datetime, datetime],
    depth: int,
    limit: int,
) -> list[tuple[str, int]]:
    """(memory_id, hops) of the memories whose facts lead away from some entities, the nearest first.

    A fact leads both ways, from its subject to its object and back, but not through the entity `not_through`, which
    everything is about, nor through one that more than `MAX_LINKED` memories name. Only facts that held at some time
    of `during` count. It ends after `depth` steps or `limit` entities, and gives `limit` memories at most, the newest
    of those that are as near.
    """
    given = {
        "user_id": user_id,
        "start": list(start),
        "not_through": not_through,
        "since": during[0],
        "until": during[1],
        "depth": depth,
        "limit": limit,
    }
    with log.reading() as connection:
        return [(memory_id, int(hops)) for memory_id, hops in connection.execute(_WALK, given)]


def _any_of(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    return column.in_(bindparam(name, expanding=True))


def _walk() -> Select[Any]:
    holds = and_(
        facts.c.holds,
        ~is_withdrawn(),
        facts.c.valid_from <= bindparam("until", type_=UtcMicros),
        or_(facts.c.invalid_at.is_(None), facts.c.invalid_at > bindparam("since", type_=UtcMicros)),
    )
    is_narrow = entities.c.n_linked <= MAX_LINKED
    is_start = and_(_any_of(entities.c.id, "start"), entities.c.user_id == bindparam("user_id"), is_narrow)
    reach = select(entities.c.id.label("entity_id"), literal(0).label("hops")).where(is_start)
    reached = reach.cte("reached", recursive=True)
    # Two joins, so that each has an index of its own.
    onward = [
        select(there, reached.c.hops + 1)
        .join(facts, here == reached.c.entity_id)
        .join(entities, there == entities.c.id)
        .where(
            reached.c.hops < bindparam("depth", type_=Integer) - 1,
            there != bindparam("not_through"),
            is_narrow,
            holds,
        )
        for here, there in ((facts.c.subject_id, facts.c.object_id), (facts.c.object_id, facts.c.subject_id))
    ]
    reached = reached.union(*onward)
    some = select(reached.c.entity_id, reached.c.hops).limit(bindparam("limit", type_=Integer)).subquery()
    found = union_all(
        *(
            select(facts.c.memory_id, some.c.hops).join(some, end == some.c.entity_id).where(holds)
            for end in (facts.c.subject_id, facts.c.object_id)
        )
    ).subquery()
    nearest = func.min(found.c.hops) + 1
    near = select(found.c.memory_id, nearest).group_by(found.c.memory_id)
    return near.order_by(nearest, found.c.memory_id.desc()).limit(bindparam("limit", type_=Integer))


# Put together once: that takes longer than the answer.
_WALK = _walk()


def former_validity(log: Log, user_id: str, known_at: datetime) -> dict[str, Validity]:
    """(from, to) of a user's memories and facts by id as it was held at a time, where it has changed since."""
    with log.reading() as connection:
        rows = connection.execute(
            select(former.c.item_id, former.c.valid_from, former.c.invalid_at)
            .where(former.c.user_id == user_id, former.c.until > known_at)
            # The earliest change after that time ended what held then.
            .order_by(former.c.sequence.desc())
        )
        return {row.item_id: (row.valid_from, row.invalid_at) for row in rows}


def sightings_of(log: Log, memory_ids: Sequence[str]) -> dict[str, tuple[datetime, ...]]:
    """When memories that were met again were met, in world time, the earliest first; the others are absent."""
    found: dict[str, Counter[datetime]] = {}
    with log.reading() as connection:
        for part in batches(memory_ids):
            rows = connection.execute(
                select(events.c.memory_id, events.c.operation, events.c.after).where(
                    events.c.memory_id.in_(part), events.c.operation.in_(SIGHTINGS)
                )
            )
            for memory_id, operation, after in rows:
                at = datetime.fromisoformat(after["observed_at"])
                found.setdefault(memory_id, Counter())[at] += 1 if operation == "sight" else -1
    # What an undone change had met is met no more.
    return {memory_id: tuple(sorted(+times)) for memory_id, times in found.items() if +times}


def get_profile(log: Log, user_id: str) -> Profile | None:
    """The summary of a user, if there is one that still holds."""
    with log.reading() as connection:
        row = connection.execute(select(profiles).where(profiles.c.user_id == user_id)).mappings().first()
    return None if row is None else Profile(**{**row, "memory_ids": tuple(row["memory_ids"])})


def save_profile(log: Log, profile: Profile) -> None:
    """Keep a summary in place of the one before."""
    row = asdict(profile) | {"memory_ids": list(profile.memory_ids)}
    with log.writing() as connection:
        connection.execute(upsert(profiles).values(row).on_conflict_do_update(index_elements=["user_id"], set_=row))


def most_important(
    log: Log, user_id: str, kinds: Collection[Kind], now: datetime, *, max_chars: int, limit: int
) -> list[Memory]:
    """What holds about a user now, of some kinds and not longer than that; the most important and newest first."""
    ends = [or_(end.is_(None), end > now) for end in (memories.c.expires_at, memories.c.invalid_at)]
    wanted = (
        select(memories.c.id)
        .where(
            memories.c.user_id == user_id,
            memories.c.about == "user",
            memories.c.kind.in_(kinds),
            # What waits for the language model is known too; without one it waits for ever.
            memories.c.state.in_(("active", "raw")),
            func.length(memories.c.text) <= max_chars,
            *ends,
        )
        .order_by(memories.c.importance.desc(), memories.c.observed_at.desc(), memories.c.id.desc())
        .limit(limit)
    )
    with log.reading() as connection:
        ids = list(connection.scalars(wanted))
    found = log.get_memories(ids)
    return [found[identifier] for identifier in ids if identifier in found]
