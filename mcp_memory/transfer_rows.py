"""One user's rows read from the log at one moment, and rows of another folder written to it; each batch one change.

What is here already is told by its id. Of two states of one row the later one stays: `revision` is the id of the change
that wrote it, and ids are ordered by time.
"""

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, delete, exists, func, insert, or_, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from .changes import WINDOW_SIZE, batches, is_withdrawn, put_taken
from .log import Log
from .records import Taken
from .schema import (
    aliases,
    entities,
    entity_links,
    facts,
    imports,
    messages,
)
from .transfer_form import BESIDE, COLUMNS, TABLES, Record, Translation, record_line

_AT_ONCE = 500
_ORDER: Mapping[str, tuple[str, ...]] = {
    "former_validity": ("sequence",),
    "message": ("sequence",),
    "event": ("sequence",),
    "feedback": ("memory_id",),
    "given": ("conversation_id", "memory_id"),
    "pause": ("agent_id",),
    "profile": ("made_at",),
}
# What tells that two rows with one id are one thing at two times.
_BIRTH: Mapping[str, tuple[str, ...]] = {
    "memory": ("user_id", "created_at"),
    "entity": ("user_id", "name_key"),
    "episode": ("user_id", "created_at"),
    "fact": ("user_id", "created_at"),
    "job": ("user_id", "created_at"),
}
# Columns that follow from others, or that say when work on a row is due.
_NOT_COMPARED = frozenset(("n_linked", "state", "attempts", "next_at", "last_error"))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One user's rows as they are at one moment, while others write."""

    connection: Connection
    user_id: str

    def counts(self) -> dict[str, int]:
        """How many records of each type there are."""
        return {
            name: int(self.connection.scalar(select(func.count()).select_from(table).where(self._is_mine(table))) or 0)
            for name, table in TABLES.items()
        }

    def lines(self) -> Iterator[bytes]:
        """Every row as a line of a file, in its order."""
        for name, table in TABLES.items():
            order = [table.c[column] for column in _ORDER.get(name, ("id",))]
            found = self.connection.execution_options(yield_per=_AT_ONCE).execute(
                select(table).where(self._is_mine(table)).order_by(*order)
            )
            for part in found.mappings().partitions(_AT_ONCE):
                beside = self._beside(name, [row["id"] for row in part]) if name in BESIDE else {}
                for row in part:
                    yield record_line(name, dict(row), beside.get(row["id"], []) if name in BESIDE else None)

    def _is_mine(self, table: Table) -> ColumnElement[bool]:
        return table.c.user_id == self.user_id

    def _beside(self, name: str, ids: Sequence[str]) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        if name == "entity":
            names = select(aliases).where(aliases.c.entity_id.in_(ids)).order_by(aliases.c.name_key)
            for row in self.connection.execute(names):
                found.setdefault(row.entity_id, []).append([row.name, row.name_key])
        else:
            links = select(entity_links).where(entity_links.c.memory_id.in_(ids)).order_by(entity_links.c.entity_id)
            for row in self.connection.execute(links):
                found.setdefault(row.memory_id, []).append(row.entity_id)
        return found


@contextlib.contextmanager
def snapshot(log: Log, user_id: str) -> Iterator[Snapshot]:
    """The rows of a user as of now; reading and writing go on meanwhile.

    Raises:
        StorageError: the log cannot be read.
    """
    with log.reading() as connection:
        connection.exec_driver_sql("BEGIN")
        try:
            yield Snapshot(connection, user_id)
        finally:
            connection.exec_driver_sql("ROLLBACK")


@dataclass(frozen=True, slots=True)
class Clash:
    """A record whose id is taken here: by another thing, or by the same one as the same change left it differently."""

    type: str
    id: str
    is_other: bool


def compare(
    log: Log, user_id: str, records: Sequence[Record], translation: Translation
) -> tuple[list[Clash], Counter[str]]:
    """The records that cannot come in under their ids as `translation` has them, and what would become of the others.

    Only of those that have ids; the names of outcomes are those of `write_batch`.
    """
    found: list[Clash] = []
    outcome: Counter[str] = Counter()
    with log.reading() as connection:
        for name, births in _BIRTH.items():
            rows = {row["id"]: row for row in _translated(name, user_id, records, translation)}
            known = _known(connection, TABLES[name], list(rows))
            for identifier, row in rows.items():
                there = known.get(identifier)
                outcome[_becomes(row, there)] += 1
                if there is None or (name == "entity" and identifier in translation.merged.values()):
                    continue
                if any(row[column] != there[column] for column in births):
                    found.append(Clash(name, identifier, is_other=True))
                elif row.get("revision") == there.get("revision") and not _is_same(name, row, there):
                    found.append(Clash(name, identifier, is_other=False))
    return found, outcome


def _becomes(row: Mapping[str, Any], there: Mapping[str, Any] | None) -> str:
    if there is None:
        return "added"
    ours, theirs = there.get("revision", ""), row.get("revision", "")
    return "known" if ours == theirs else "renewed" if theirs > ours else "outdated"


def _translated(
    name: str, user_id: str, records: Sequence[Record], translation: Translation
) -> Iterator[dict[str, Any]]:
    for record in records:
        if record.type == name:
            yield translation.of_row(name, record.row) | {"user_id": user_id}


def _is_same(name: str, row: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    return all(row[column] == known[column] for column, _, _ in COLUMNS[name] if column not in _NOT_COMPARED)


def _known(connection: Connection, table: Table, ids: Sequence[str]) -> dict[str, Any]:
    return {
        row["id"]: row
        for part in batches(ids)
        for row in connection.execute(select(table).where(table.c.id.in_(part))).mappings()
    }


def merge_entities(log: Log, user_id: str, records: Sequence[Record], translation: Translation) -> None:
    """Have the entities of which the user has one with the same name give way to that."""
    rows = {row["name_key"]: row for row in _translated("entity", user_id, records, translation)}
    with log.reading() as connection:
        for part in batches(list(rows)):
            bearing = select(entities.c.id, entities.c.name_key).where(
                entities.c.user_id == user_id, entities.c.name_key.in_(part)
            )
            for known in connection.execute(bearing):
                if known.id != rows[known.name_key]["id"]:
                    translation.merged[rows[known.name_key]["id"]] = known.id


def write_batch(
    log: Log,
    user_id: str,
    records: Sequence[Record],
    translation: Translation,
    taken_so_far: Taken,
    now: datetime,
) -> Counter[str]:
    """Write records, and how many of their source have been taken with them, in one durable transaction.

    Returns how many records were `added`, were there (`known`), took the place of an earlier state (`renewed`), or were
    left for a later one (`outdated`); entities that gave way to one of the same name are `merged`.

    Raises:
        StorageError: nothing of them was written.
    """
    outcome: Counter[str] = Counter()
    with log.writing() as connection:
        for name in TABLES:
            rows = list(_translated(name, user_id, records, translation))
            if rows:
                outcome.update(_WRITERS.get(name, _put_unless_known)(connection, name, rows))
        put_taken(connection, user_id, taken_so_far, now)
    return outcome


def _put_by_revision(connection: Connection, name: str, rows: Sequence[dict[str, Any]]) -> Counter[str]:
    table = TABLES[name]
    known = _known(connection, table, [row["id"] for row in rows])
    becomes = {row["id"]: _becomes(row, known.get(row["id"])) for row in rows}
    wanted = [row for row in rows if becomes[row["id"]] in ("added", "renewed")]
    _replace(connection, table, wanted)
    if name == "memory":
        _link(connection, wanted)
    return Counter(becomes.values())


def _put_entities(connection: Connection, _name: str, rows: Sequence[dict[str, Any]]) -> Counter[str]:
    """Entities are their names: known ones get the names that they lack."""
    known = _known(connection, entities, [row["id"] for row in rows])
    # One that gives way has been given the id of the other.
    own = {row["id"]: row for row in known.values()}
    new = [row for row in rows if row["id"] not in known]
    outcome = Counter(added=len(new))
    for row in rows:
        if row["id"] in own:
            outcome["merged" if own[row["id"]]["revision"] != row["revision"] else "known"] += 1
    _replace(connection, entities, new)
    names = [{"entity_id": row["id"], "name": alias, "name_key": key} for row in rows for alias, key in row["aliases"]]
    if names:
        connection.execute(upsert(aliases).on_conflict_do_nothing(), names)
    return outcome


def _replace(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    if not rows:
        return
    statement = upsert(table)
    keys = [column.name for column in table.primary_key.columns]
    columns = [column.name for column in table.columns]
    given = [{name: row[name] for name in columns if name in row} for row in rows]
    connection.execute(
        statement.on_conflict_do_update(index_elements=keys, set_=dict(statement.excluded.items())), given
    )


def _link(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    for part in batches([row["id"] for row in rows]):
        connection.execute(delete(entity_links).where(entity_links.c.memory_id.in_(part)))
    links = [{"memory_id": row["id"], "entity_id": each} for row in rows for each in row["entities"]]
    if links:
        connection.execute(upsert(entity_links).on_conflict_do_nothing(), links)


def _put_unless_known(connection: Connection, name: str, rows: Sequence[dict[str, Any]]) -> Counter[str]:
    """Rows that never change, or whose state here is the one to go on with."""
    table = TABLES[name]
    n_before = connection.exec_driver_sql("SELECT total_changes()").scalar() or 0
    columns = [column.name for column in table.columns]
    given = [{column: row[column] for column in columns if column in row} for row in rows]
    connection.execute(upsert(table).on_conflict_do_nothing(), given)
    n_added = int(connection.exec_driver_sql("SELECT total_changes()").scalar() or 0) - int(n_before)
    return Counter(added=n_added, known=len(rows) - n_added)


def _put_latest(key: str, time: str) -> "_Writer":
    """A writer of rows of which the one with the later time stays."""

    def put(connection: Connection, name: str, rows: Sequence[dict[str, Any]]) -> Counter[str]:
        table = TABLES[name]
        there: dict[str, datetime] = {}
        for part in batches([row[key] for row in rows]):
            mine = (table.c.user_id == rows[0]["user_id"], table.c[key].in_(part))
            there |= {row[0]: row[1] for row in connection.execute(select(table.c[key], table.c[time]).where(*mine))}
        wanted = [row for row in rows if row[key] not in there or there[row[key]] < row[time]]
        _replace(connection, table, wanted)
        n_renewed = sum(row[key] in there for row in wanted)
        n_known = sum(there.get(row[key]) == row[time] for row in rows)
        added = len(wanted) - n_renewed
        rest = len(rows) - len(wanted) - n_known
        return Counter(added=added, renewed=n_renewed, known=n_known, outdated=rest)

    return put


def _put_without_id(identity: tuple[str, ...], looked_up_by: str) -> "_Writer":
    """A writer of rows that the log numbers itself: those of which one with the same values is there stay out."""

    def put(connection: Connection, name: str, rows: Sequence[dict[str, Any]]) -> Counter[str]:
        table = TABLES[name]
        there: set[tuple[Any, ...]] = set()
        for part in batches(list(dict.fromkeys(row[looked_up_by] for row in rows))):
            mine = (table.c.user_id == rows[0]["user_id"], table.c[looked_up_by].in_(part))
            there |= {
                _identity(dict(row), identity) for row in connection.execute(select(table).where(*mine)).mappings()
            }
        new = [row for row in rows if _identity(row, identity) not in there]
        if new:
            connection.execute(insert(table), new)
        return Counter(added=len(new), known=len(rows) - len(new))

    return put


def _identity(row: Mapping[str, Any], names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(
        json.dumps({**value, "user_id": ""}, sort_keys=True) if isinstance(value := row[name], dict) else value
        for name in names
    )


def _put_events(connection: Connection, name: str, rows: Sequence[dict[str, Any]]) -> Counter[str]:
    for row in rows:
        # Whose they are stood in the header alone.
        for column in ("before", "after"):
            if isinstance(row[column], dict) and "id" in row[column]:
                row[column] = {**row[column], "user_id": row["user_id"]}
    identity = ("change_id", "operation", "memory_id", "entity_id", "fact_id", "before", "after")
    return _put_without_id(identity, "change_id")(connection, name, rows)


_Writer = Callable[[Connection, str, Sequence[dict[str, Any]]], "Counter[str]"]
_WRITERS: Mapping[str, _Writer] = {
    "entity": _put_entities,
    "memory": _put_by_revision,
    "fact": _put_by_revision,
    "former_validity": _put_without_id(("item_id", "until", "valid_from", "invalid_at"), "until"),
    "feedback": _put_latest("memory_id", "rated_at"),
    "message": _put_without_id(("episode_id", "role", "speaker", "content"), "episode_id"),
    "conversation": _put_latest("id", "seen_at"),
    "profile": _put_latest("user_id", "made_at"),
    "event": _put_events,
}


def tidy(log: Log, user_id: str) -> None:
    """Count the links of a user's entities anew, let go of those that nothing names, and of words beyond the window."""
    of_user = entities.c.user_id == user_id
    counted = (
        select(func.count()).where(entity_links.c.entity_id == entities.c.id).correlate(entities).scalar_subquery()
    )
    named = or_(
        exists().where(facts.c.subject_id == entities.c.id, ~is_withdrawn()),
        exists().where(facts.c.object_id == entities.c.id, ~is_withdrawn()),
    )
    scope = (messages.c.agent_id, messages.c.run_id)
    place = func.row_number().over(partition_by=scope, order_by=messages.c.sequence.desc()).label("place")
    placed = select(messages.c.sequence, place).where(messages.c.user_id == user_id).subquery()
    with log.writing() as connection:
        connection.execute(update(entities).where(of_user, entities.c.n_linked != counted).values(n_linked=counted))
        orphans = connection.scalars(select(entities.c.id).where(of_user, entities.c.n_linked == 0, ~named)).all()
        for part in batches(orphans):
            connection.execute(delete(entities).where(entities.c.id.in_(part)))
            connection.execute(delete(aliases).where(aliases.c.entity_id.in_(part)))
        beyond = select(placed.c.sequence).where(placed.c.place > WINDOW_SIZE)
        connection.execute(delete(messages).where(messages.c.sequence.in_(beyond)))


def taken(log: Log, user_id: str, prefix: str) -> dict[str, int]:
    """How many records have been taken of each source of a user whose name begins so."""
    begins = imports.c.source.startswith(prefix, autoescape=True)
    with log.reading() as connection:
        rows = connection.execute(
            select(imports.c.source, imports.c.done)
            .where(imports.c.user_id == user_id, begins)
            .order_by(imports.c.updated_at)
        )
        return {row.source: row.done for row in rows}


def forget_taken(log: Log, user_id: str, source: str) -> None:
    """Have the next import of a source begin at its first record."""
    with log.writing() as connection:
        connection.execute(delete(imports).where(imports.c.user_id == user_id, imports.c.source == source))
