"""What the log holds beyond memories: the facts read out of them, and the summary of each user."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.dialects.sqlite import insert as upsert

from .changes import batches
from .log import Log
from .records import SIGHTINGS, Fact, Profile
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


def last_sighted(log: Log, memory_ids: Sequence[str]) -> dict[str, datetime]:
    """When memories that were met again were last met, in world time; the others are absent."""
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
    return {memory_id: max(+times) for memory_id, times in found.items() if +times}


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
