"""The numbered migrations that lead to the log's tables as `schema` has them.

They are append-only and written as literal SQL: what a released version did to a file never changes.
"""

from collections.abc import Callable

from sqlalchemy import Connection


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


def _tokens_and_imports(connection: Connection) -> None:
    for statement in (
        "CREATE TABLE tokens (id TEXT PRIMARY KEY, user_id TEXT NOT NULL, label TEXT NOT NULL, hash TEXT NOT NULL,"
        " created_at INTEGER NOT NULL, expires_at INTEGER, revoked_at INTEGER) WITHOUT ROWID",
        "CREATE TABLE imports (user_id TEXT NOT NULL, source TEXT NOT NULL, done INTEGER NOT NULL,"
        " updated_at INTEGER NOT NULL, PRIMARY KEY (user_id, source)) WITHOUT ROWID",
    ):
        connection.exec_driver_sql(statement)


# Migration n leads from schema version n to n + 1.
MIGRATIONS: tuple[Callable[[Connection], None], ...] = (
    _first_schema,
    _facts_and_profiles,
    _facts_with_keys,
    _conversations,
    _tokens_and_imports,
)
SCHEMA_VERSION = len(MIGRATIONS)
