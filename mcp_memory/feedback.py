"""Ratings of memories in the log: one row a memory. They are no events, and the tables do not hold them."""

from dataclasses import asdict

from sqlalchemy import select
from sqlalchemy.dialects.sqlite import insert as upsert

from .log import Log
from .records import Rating
from .schema import feedback


def ratings_of(log: Log, user_id: str) -> list[Rating]:
    """What a user's ratings come to, also those of deleted memories."""
    with log.reading() as connection:
        rows = connection.execute(select(feedback).where(feedback.c.user_id == user_id))
        return [Rating(**row) for row in rows.mappings()]


def rating_of(log: Log, memory_id: str) -> Rating | None:
    """What the ratings of one memory come to, None where there are none."""
    with log.reading() as connection:
        row = connection.execute(select(feedback).where(feedback.c.memory_id == memory_id)).mappings().first()
    return None if row is None else Rating(**row)


def save_rating(log: Log, rating: Rating) -> None:
    """Keep what the ratings of a memory come to, durably, in place of what was before.

    Raises:
        StorageError: nothing was written.
    """
    row = asdict(rating)
    with log.writing() as connection:
        connection.execute(upsert(feedback).values(row).on_conflict_do_update(index_elements=["memory_id"], set_=row))
