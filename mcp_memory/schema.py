"""The log's tables, and the numbered migrations that lead to them.

Migrations are append-only and written as literal SQL: what a released version did to a file never changes.
"""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
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


def _first_schema(connection: Connection) -> None:
    for statement in (
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE memories (id TEXT PRIMARY KEY, user_id TEXT NOT NULL, agent_id TEXT NOT NULL,"
        " run_id TEXT NOT NULL, position INTEGER NOT NULL, speaker TEXT NOT NULL, role TEXT NOT NULL,"
        " about TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, lemmas TEXT NOT NULL, hash TEXT NOT NULL,"
        " language TEXT NOT NULL, importance REAL NOT NULL, observed_at INTEGER NOT NULL,"
        " created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, expires_at INTEGER, valid_from INTEGER,"
        " invalid_at INTEGER, closed_at INTEGER, superseded_by TEXT NOT NULL, state TEXT NOT NULL,"
        " episode_id TEXT NOT NULL, metadata TEXT NOT NULL, model TEXT NOT NULL, prompt TEXT NOT NULL,"
        " revision TEXT NOT NULL) WITHOUT ROWID",
        "CREATE INDEX memories_by_hash ON memories (user_id, hash)",
        "CREATE INDEX memories_by_run ON memories (user_id, run_id, position)",
        "CREATE INDEX memories_by_episode ON memories (episode_id)",
        "CREATE TABLE entities (id TEXT PRIMARY KEY, user_id TEXT NOT NULL, name TEXT NOT NULL,"
        " name_key TEXT NOT NULL, type TEXT NOT NULL, n_linked INTEGER NOT NULL, revision TEXT NOT NULL)"
        " WITHOUT ROWID",
        "CREATE UNIQUE INDEX entities_by_key ON entities (user_id, name_key)",
        "CREATE TABLE aliases (entity_id TEXT NOT NULL, name_key TEXT NOT NULL, name TEXT NOT NULL,"
        " PRIMARY KEY (entity_id, name_key)) WITHOUT ROWID",
        "CREATE TABLE entity_links (memory_id TEXT NOT NULL, entity_id TEXT NOT NULL,"
        " PRIMARY KEY (memory_id, entity_id)) WITHOUT ROWID",
        "CREATE INDEX entity_links_by_entity ON entity_links (entity_id)",
        "CREATE TABLE events (sequence INTEGER PRIMARY KEY AUTOINCREMENT, change_id TEXT NOT NULL,"
        " at INTEGER NOT NULL, user_id TEXT NOT NULL, client TEXT NOT NULL, operation TEXT NOT NULL,"
        ' memory_id TEXT NOT NULL, entity_id TEXT NOT NULL, "before" TEXT, "after" TEXT, reason TEXT NOT NULL)',
        "CREATE INDEX events_by_memory ON events (memory_id)",
        "CREATE INDEX events_by_change ON events (change_id)",
        "CREATE TABLE episodes (id TEXT PRIMARY KEY, user_id TEXT NOT NULL, agent_id TEXT NOT NULL,"
        " run_id TEXT NOT NULL, messages TEXT NOT NULL, infer INTEGER NOT NULL, about TEXT NOT NULL,"
        " kind TEXT NOT NULL, observed_at INTEGER NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER,"
        " metadata TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE messages (sequence INTEGER PRIMARY KEY AUTOINCREMENT, user_id TEXT NOT NULL,"
        " agent_id TEXT NOT NULL, run_id TEXT NOT NULL, role TEXT NOT NULL, speaker TEXT NOT NULL,"
        " content TEXT NOT NULL, observed_at INTEGER NOT NULL, episode_id TEXT NOT NULL)",
        "CREATE INDEX messages_by_scope ON messages (user_id, agent_id, run_id, sequence)",
        "CREATE TABLE jobs (id TEXT PRIMARY KEY, user_id TEXT NOT NULL, episode_id TEXT NOT NULL,"
        " run_id TEXT NOT NULL, task TEXT NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL,"
        " next_at INTEGER NOT NULL, last_error TEXT NOT NULL, created_at INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE INDEX jobs_due ON jobs (state, next_at)",
    ):
        connection.exec_driver_sql(statement)


def _facts_and_profiles(connection: Connection) -> None:
    for statement in (
        "CREATE TABLE facts (id TEXT PRIMARY KEY, user_id TEXT NOT NULL, subject_id TEXT NOT NULL,"
        " subject TEXT NOT NULL, fact_type TEXT NOT NULL, relation TEXT NOT NULL, object TEXT NOT NULL,"
        " object_id TEXT NOT NULL, memory_id TEXT NOT NULL, confidence REAL NOT NULL, valid_from INTEGER,"
        " invalid_at INTEGER, closed_at INTEGER) WITHOUT ROWID",
        "CREATE INDEX facts_by_memory ON facts (memory_id)",
        "CREATE INDEX facts_by_type ON facts (user_id, fact_type)",
        "CREATE TABLE profiles (user_id TEXT PRIMARY KEY, text TEXT NOT NULL, memory_ids TEXT NOT NULL,"
        " made_at INTEGER NOT NULL, model TEXT NOT NULL, prompt TEXT NOT NULL) WITHOUT ROWID",
    ):
        connection.exec_driver_sql(statement)


def _facts_with_keys(connection: Connection) -> None:
    """Facts become rows with a key; those of an earlier time keep their words under the relation `other`."""
    for statement in (
        "ALTER TABLE facts RENAME TO facts_before",
        "DROP INDEX facts_by_memory",
        "DROP INDEX facts_by_type",
        "CREATE TABLE facts (id TEXT PRIMARY KEY, user_id TEXT NOT NULL, subject_id TEXT NOT NULL,"
        " subject TEXT NOT NULL, fact_type TEXT NOT NULL, relation TEXT NOT NULL, label TEXT NOT NULL,"
        " object TEXT NOT NULL, object_key TEXT NOT NULL, object_id TEXT NOT NULL, holds INTEGER NOT NULL,"
        " memory_id TEXT NOT NULL, confidence REAL NOT NULL, source TEXT NOT NULL, valid_from INTEGER NOT NULL,"
        " invalid_at INTEGER, created_at INTEGER NOT NULL, closed_at INTEGER, ended_by TEXT NOT NULL,"
        " revision TEXT NOT NULL) WITHOUT ROWID",
        "INSERT INTO facts SELECT f.id, f.user_id, f.subject_id, f.subject, f.fact_type, 'other', f.relation, f.object,"
        " lower(f.object), f.object_id, 1, f.memory_id, f.confidence, 'model',"
        " coalesce(f.valid_from, m.observed_at, 0), f.invalid_at, coalesce(m.created_at, 0), f.closed_at, '', ''"
        " FROM facts_before f LEFT JOIN memories m ON m.id = f.memory_id",
        "DROP TABLE facts_before",
        "CREATE INDEX facts_by_key ON facts (subject_id, relation, label)",
        "CREATE INDEX facts_by_label ON facts (subject_id, label) WHERE label != ''",
        "CREATE INDEX facts_by_type ON facts (user_id, fact_type)",
        "CREATE INDEX facts_by_object ON facts (object_id, relation)",
        "CREATE INDEX facts_by_memory ON facts (memory_id)",
        "CREATE TABLE former_validity (sequence INTEGER PRIMARY KEY AUTOINCREMENT, user_id TEXT NOT NULL,"
        " item_id TEXT NOT NULL, until INTEGER NOT NULL, valid_from INTEGER, invalid_at INTEGER)",
        "CREATE INDEX former_validity_by_time ON former_validity (user_id, until)",
        "CREATE TABLE feedback (memory_id TEXT PRIMARY KEY, user_id TEXT NOT NULL, value REAL NOT NULL,"
        " rated_at INTEGER NOT NULL, useful_at INTEGER) WITHOUT ROWID",
        "ALTER TABLE events ADD COLUMN fact_id TEXT NOT NULL DEFAULT ''",
        "CREATE INDEX events_by_fact ON events (fact_id) WHERE fact_id != ''",
        "CREATE INDEX events_by_entity ON events (entity_id) WHERE entity_id != ''",
    ):
        connection.exec_driver_sql(statement)


def _conversations(connection: Connection) -> None:
    for statement in (
        "CREATE TABLE conversations (user_id TEXT NOT NULL, id TEXT NOT NULL, project TEXT NOT NULL,"
        " captured_to INTEGER NOT NULL, begun_at INTEGER, seen_at INTEGER NOT NULL,"
        " PRIMARY KEY (user_id, id)) WITHOUT ROWID",
        "CREATE TABLE given (user_id TEXT NOT NULL, conversation_id TEXT NOT NULL, memory_id TEXT NOT NULL,"
        " PRIMARY KEY (user_id, conversation_id, memory_id)) WITHOUT ROWID",
        "CREATE TABLE pauses (user_id TEXT NOT NULL, agent_id TEXT NOT NULL, paused_at INTEGER NOT NULL,"
        " PRIMARY KEY (user_id, agent_id)) WITHOUT ROWID",
    ):
        connection.exec_driver_sql(statement)


# Migration n leads from schema version n to n + 1.
MIGRATIONS: tuple[Callable[[Connection], None], ...] = (
    _first_schema,
    _facts_and_profiles,
    _facts_with_keys,
    _conversations,
)
SCHEMA_VERSION = len(MIGRATIONS)


def as_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as it goes into an event: times as ISO 8601 text, the rest as it is."""
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}
