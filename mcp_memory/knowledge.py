"""What the log holds beyond memories: the facts read out of them, and the summary of each user."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.dialects.sqlite import insert as upsert

from .changes import batches, is_withdrawn
from .log import Log
from .records import Fact, Profile
from .schema import events, facts, profiles


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
            .where(facts.c.user_id == user_id, facts.c.fact_type.in_(fact_types), facts.c.closed_at.is_(None))
            .order_by(facts.c.id.desc())
        )
        return [Fact(**row) for row in rows.mappings()]


def facts_of_key(
    log: Log, user_id: str, subject_ids: Collection[str], relations: Collection[str], label: str | None = None
) -> list[Fact]:
    """A user's facts of some subjects and relations, and of one label where one is given; ended ones too, oldest first.

    Those that were withdrawn are left out: nobody says them any more.
    """
    wanted = [
        facts.c.user_id == user_id,
        facts.c.subject_id.in_(subject_ids),
        facts.c.relation.in_(relations),
        ~is_withdrawn(),
    ]
    if label is not None:
        wanted.append(facts.c.label == label)
    with log.reading() as connection:
        rows = connection.execute(select(facts).where(*wanted).order_by(facts.c.id))
        return [Fact(**row) for row in rows.mappings()]


def facts_about(log: Log, object_ids: Collection[str], relations: Collection[str]) -> list[Fact]:
    """Facts of some relations that have one of some entities as their object, and hold still."""
    with log.reading() as connection:
        rows = connection.execute(
            select(facts).where(
                facts.c.object_id.in_(object_ids),
                facts.c.relation.in_(relations),
                facts.c.holds,
                facts.c.closed_at.is_(None),
            )
        )
        return [Fact(**row) for row in rows.mappings()]


def last_sighted(log: Log, memory_ids: Sequence[str]) -> dict[str, datetime]:
    """When memories that were met again were last met, in world time; the others are absent."""
    found: dict[str, datetime] = {}
    with log.reading() as connection:
        for part in batches(memory_ids):
            rows = connection.execute(
                select(events.c.memory_id, events.c.after).where(
                    events.c.memory_id.in_(part), events.c.operation == "sight"
                )
            )
            for memory_id, after in rows:
                at = datetime.fromisoformat(after["observed_at"])
                found[memory_id] = max(at, found.get(memory_id, at))
    return found


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
