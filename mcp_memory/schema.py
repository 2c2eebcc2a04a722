"""The log's tables as they are now; `migrations` leads to them."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970 of an aware time; exact, also before 1970."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def from_micros(micros: int) -> datetime:
    """The aware UTC time of a number of microseconds; inverse of `to_micros`."""
    return _EPOCH + timedelta(microseconds=micros)


class UtcMicros(TypeDecorator[datetime]):
    """An aware time as an integer of microseconds: exact, sortable, free of time zones."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        """Microseconds for an aware time."""
        return None if value is None else to_micros(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """The aware time of a number of microseconds."""
        return None if value is None else from_micros(value)


class Json(TypeDecorator[Any]):
    """A JSON value as compact text, keys in the order given."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Compact text for a value."""
        return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:  # noqa: ARG002
        """The value of a text."""
        return None if value is None else json.loads(value)


metadata = MetaData()

meta = Table("meta", metadata, Column("key", String, primary_key=True), Column("value", String))

memories = Table(
    "memories",
    metadata,
    Column("id", String, primary_key=True),
    Column("user_id", String),
    Column("agent_id", String),
    Column("run_id", String),
    Column("position", Integer),
    Column("speaker", String),
    Column("role", String),
    Column("about", String),
    Column("kind", String),
    Column("text", Text),
    Column("lemmas", Text),
    Column("hash", String),
    Column("language", String),
    Column("importance", Float),
    Column("observed_at", UtcMicros),
    Column("created_at", UtcMicros),
    Column("updated_at", UtcMicros),
    Column("expires_at", UtcMicros),
    Column("valid_from", UtcMicros),
    Column("invalid_at", UtcMicros),
    Column("closed_at", UtcMicros),
    Column("superseded_by", String),
    Column("state", String),
    Column("episode_id", String),
    Column("metadata", Json),
    Column("model", String),
    Column("prompt", String),
    Column("revision", String),
)

entities = Table(
    "entities",
    metadata,
    Column("id", String, primary_key=True),
    Column("user_id", String),
    Column("name", String),
    Column("name_key", String),
    Column("type", String),
    Column("n_linked", Integer),
    Column("revision", String),
)

aliases = Table(
    "aliases",
    metadata,
    Column("entity_id", String, primary_key=True),
    Column("name_key", String, primary_key=True),
    Column("name", String),
)

entity_links = Table(
    "entity_links",
    metadata,
    Column("memory_id", String, primary_key=True),
    Column("entity_id", String, primary_key=True),
)

events = Table(
    "events",
    metadata,
    Column("sequence", Integer, primary_key=True),
    Column("change_id", String),
    Column("at", UtcMicros),
    Column("user_id", String),
    Column("client", String),
    Column("operation", String),
    Column("memory_id", String),
    Column("entity_id", String),
    Column("fact_id", String),
    Column("before", Json),
    Column("after", Json),
    Column("reason", String),
)

episodes = Table(
    "episodes",
    metadata,
    Column("id", String, primary_key=True),
    Column("user_id", String),
    Column("agent_id", String),
    Column("run_id", String),
    Column("messages", Json),
    Column("infer", Integer),
    Column("about", String),
    Column("kind", String),
    Column("observed_at", UtcMicros),
    Column("created_at", UtcMicros),
    Column("expires_at", UtcMicros),
    Column("metadata", Json),
)

messages = Table(
    "messages",
    metadata,
    Column("sequence", Integer, primary_key=True),
    Column("user_id", String),
    Column("agent_id", String),
    Column("run_id", String),
    Column("role", String),
    Column("speaker", String),
    Column("content", Text),
    Column("observed_at", UtcMicros),
    Column("episode_id", String),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", String, primary_key=True),
    Column("user_id", String),
    Column("episode_id", String),
    Column("run_id", String),
    Column("task", String),
    Column("state", String),
    Column("attempts", Integer),
    Column("next_at", UtcMicros),
    Column("last_error", String),
    Column("created_at", UtcMicros),
)

facts = Table(
    "facts",
    metadata,
    Column("id", String, primary_key=True),
    Column("user_id", String),
    Column("subject_id", String),
    Column("subject", Text),
    Column("fact_type", String),
    Column("relation", String),
    Column("label", Text),
    Column("object", Text),
    Column("object_key", Text),
    Column("object_id", String),
    Column("holds", Boolean),
    Column("memory_id", String),
    Column("confidence", Float),
    Column("source", String),
    Column("valid_from", UtcMicros),
    Column("invalid_at", UtcMicros),
    Column("created_at", UtcMicros),
    Column("closed_at", UtcMicros),
    Column("ended_by", String),
    Column("revision", String),
)

# Validity that rows had until it was found to be otherwise: what the record clock needs beyond the rows as they are.
former_validity = Table(
    "former_validity",
    metadata,
    Column("sequence", Integer, primary_key=True),
    Column("user_id", String),
    Column("item_id", String),
    Column("until", UtcMicros),
    Column("valid_from", UtcMicros),
    Column("invalid_at", UtcMicros),
)

feedback = Table(
    "feedback",
    metadata,
    Column("memory_id", String, primary_key=True),
    Column("user_id", String),
    Column("value", Float),
    Column("rated_at", UtcMicros),
    Column("useful_at", UtcMicros),
)

# Conversations that hooks follow: how far the transcript has been captured, in bytes, and when its context began.
conversations = Table(
    "conversations",
    metadata,
    Column("user_id", String, primary_key=True),
    Column("id", String, primary_key=True),
    Column("project", String),
    Column("captured_to", Integer),
    Column("begun_at", UtcMicros),
    Column("seen_at", UtcMicros),
)

# What stands in the context of a conversation already.
given = Table(
    "given",
    metadata,
    Column("user_id", String, primary_key=True),
    Column("conversation_id", String, primary_key=True),
    Column("memory_id", String, primary_key=True),
)

pauses = Table(
    "pauses",
    metadata,
    Column("user_id", String, primary_key=True),
    Column("agent_id", String, primary_key=True),
    Column("paused_at", UtcMicros),
)

# Who may come over HTTP: of a token only its hash is kept.
tokens = Table(
    "tokens",
    metadata,
    Column("id", String, primary_key=True),
    Column("user_id", String),
    Column("label", String),
    Column("hash", String),
    Column("created_at", UtcMicros),
    Column("expires_at", UtcMicros),
    Column("revoked_at", UtcMicros),
)

# How much of a source has been taken in: `source` says which one, `done` how many of its records.
imports = Table(
    "imports",
    metadata,
    Column("user_id", String, primary_key=True),
    Column("source", String, primary_key=True),
    Column("done", Integer),
    Column("updated_at", UtcMicros),
)

profiles = Table(
    "profiles",
    metadata,
    Column("user_id", String, primary_key=True),
    Column("text", Text),
    Column("memory_ids", Json),
    Column("made_at", UtcMicros),
    Column("model", String),
    Column("prompt", String),
)


def as_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as it goes into an event: times as ISO 8601 text, the rest as it is."""
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}
