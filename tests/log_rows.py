"""Rows of the log that only tests look at."""

from typing import Any

from sqlalchemy import select

from mcp_memory.log import Log
from mcp_memory.schema import events, messages


def events_of(log: Log, memory_id: str) -> list[dict[str, Any]]:
    """The events of one memory, oldest first."""
    with log.reading() as connection:
        rows = connection.execute(select(events).where(events.c.memory_id == memory_id).order_by(events.c.sequence))
        return [dict(row) for row in rows.mappings()]


def last_messages(log: Log, user_id: str, agent_id: str, run_id: str) -> list[str]:
    """What was said last in a scope, oldest first, as far as the log keeps it by itself."""
    of_scope = (messages.c.user_id == user_id, messages.c.agent_id == agent_id, messages.c.run_id == run_id)
    with log.reading() as connection:
        return list(connection.scalars(select(messages.c.content).where(*of_scope).order_by(messages.c.sequence)))
