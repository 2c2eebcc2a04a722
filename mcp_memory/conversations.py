"""Conversations in the log that hooks follow: what their context holds already, and how far they are captured.

They are no events: nothing of a memory depends on them. A conversation that was not heard of for long is dropped.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, select, true
from sqlalchemy.dialects.sqlite import insert as upsert

from .log import Log
from .schema import conversations, given, pauses

_KEPT = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of a user with an agent.

    `captured_to` is the offset in its transcript, in bytes, before which everything has been taken in; `begun_at` is
    when its context was given what opens it, None where it was not.
    """

    id: str
    captured_to: int = 0
    begun_at: datetime | None = None


def conversation_of(log: Log, user_id: str, conversation_id: str) -> Conversation:
    """What is known of a conversation; of an unknown one that nothing has been done."""
    with log.reading() as connection:
        row = connection.execute(
            select(conversations.c.captured_to, conversations.c.begun_at).where(
                conversations.c.user_id == user_id, conversations.c.id == conversation_id
            )
        ).first()
    return Conversation(conversation_id, row.captured_to, row.begun_at) if row else Conversation(conversation_id)


def projects_of(log: Log, user_id: str) -> frozenset[str]:
    """The projects that a user has had conversations in."""
    with log.reading() as connection:
        rows = connection.execute(select(conversations.c.project).where(conversations.c.user_id == user_id).distinct())
        return frozenset(row.project for row in rows if row.project)


def given_in(log: Log, user_id: str, conversation_id: str) -> frozenset[str]:
    """The ids of the memories that the context of a conversation holds."""
    with log.reading() as connection:
        rows = connection.execute(
            select(given.c.memory_id).where(given.c.user_id == user_id, given.c.conversation_id == conversation_id)
        )
        return frozenset(row.memory_id for row in rows)


def begin_anew(log: Log, user_id: str, conversation_id: str, now: datetime) -> None:
    """Note that the context of a conversation is empty: what it was given is not there any more.

    Raises:
        StorageError: nothing was written.
    """
    with log.writing() as connection:
        _forget(connection, user_id, [conversation_id])
        stale = conversations.c.seen_at < now - _KEPT
        of_user = conversations.c.user_id == user_id
        old = [row.id for row in connection.execute(select(conversations.c.id).where(of_user, stale))]
        _forget(connection, user_id, old)
        connection.execute(delete(conversations).where(of_user, stale))
        _note(connection, user_id, conversation_id, begun_at=None, seen_at=now)


def note_given(
    log: Log, user_id: str, conversation_id: str, memory_ids: Collection[str], now: datetime, *, opened_in: str = ""
) -> None:
    """Note that the context of a conversation holds some memories, and in which project it was opened, if it was.

    Raises:
        StorageError: nothing was written.
    """
    begun = {"begun_at": now, "project": opened_in} if opened_in else {}
    rows = [
        {"user_id": user_id, "conversation_id": conversation_id, "memory_id": memory_id} for memory_id in memory_ids
    ]
    with log.writing() as connection:
        if rows:
            connection.execute(upsert(given).on_conflict_do_nothing(), rows)
        _note(connection, user_id, conversation_id, seen_at=now, **begun)


def note_captured(log: Log, user_id: str, conversation_id: str, offset: int, now: datetime) -> None:
    """Note that the transcript of a conversation has been taken in up to an offset, in bytes.

    Raises:
        StorageError: nothing was written.
    """
    with log.writing() as connection:
        _note(connection, user_id, conversation_id, captured_to=offset, seen_at=now)


def _note(connection: Connection, user_id: str, conversation_id: str, **values: object) -> None:
    row = {"user_id": user_id, "id": conversation_id, "project": "", "captured_to": 0, "begun_at": None, **values}
    connection.execute(
        upsert(conversations).values(row).on_conflict_do_update(index_elements=["user_id", "id"], set_=values)
    )


def _forget(connection: Connection, user_id: str, conversation_ids: Collection[str]) -> None:
    connection.execute(
        delete(given).where(given.c.user_id == user_id, given.c.conversation_id.in_([*conversation_ids]))
    )


def pause(log: Log, user_id: str, agent_id: str, now: datetime) -> None:
    """Note that a client is to have nothing to do with the memory until it is resumed; '' stands for every client.

    Raises:
        StorageError: nothing was written.
    """
    row = {"user_id": user_id, "agent_id": agent_id, "paused_at": now}
    with log.writing() as connection:
        connection.execute(upsert(pauses).values(row).on_conflict_do_nothing())


def resume(log: Log, user_id: str, agent_id: str) -> bool:
    """End the pause of a client, or with '' every pause; whether there was one.

    Raises:
        StorageError: nothing was written.
    """
    with log.writing() as connection:
        ended = connection.execute(
            delete(pauses)
            .where(pauses.c.user_id == user_id, (pauses.c.agent_id == agent_id) if agent_id else true())
            .returning(pauses)
        )
        return ended.first() is not None


def paused(log: Log, user_id: str) -> dict[str, datetime]:
    """The paused clients of a user, '' for all of them, and since when."""
    with log.reading() as connection:
        rows = connection.execute(select(pauses).where(pauses.c.user_id == user_id).order_by(pauses.c.agent_id))
        return {row.agent_id: row.paused_at for row in rows}
