"""The SQLite log: the truth about every memory. One durable transaction per change, then events to tell it.

LanceDB and the in-memory indices are derived from here and may lag; `pending` says by how much. Opening the file and
its connections are the work of `log_file`, the rows of a change that of `changes`.
"""

import json
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, delete, func, or_, select

from . import changes
from . import events as telling
from .changes import batches, rows_by_id
from .log_file import LogFile, write_meta
from .records import PURGED, SEARCHABLE, SIGHTINGS, Change, Entity, Memory, State
from .schema import aliases, entities, entity_links, episodes, events, jobs, memories
from .search_records import Filters, Where
from .text import fold, normalise

_APPLIED, _IN_USE = "applied_through", "tables_in_use"
# LanceDB leaves it to the operating system to write its files. Linux does so within 35 s by default, other systems
# sooner; twice that, and what was written then survives a power cut.
SAFE_AGE_S = 70.0
_EVENTS_AT_ONCE = 1000
_FEW = 20


@dataclass(frozen=True, slots=True)
class Pending:
    """Rows that LanceDB does not hold yet as the log has them, up to event `through`."""

    memory_ids: tuple[str, ...]
    entity_ids: tuple[str, ...]
    through: int


@dataclass(frozen=True, slots=True)
class Committed:
    """What a change did beyond its own rows: entities as they are now, those that are gone, its last event.

    `reworded` are the memories that were known with another text or another date or speaker, which vectors depend on.
    """

    entities: tuple[Entity, ...]
    removed_entities: tuple[Entity, ...]
    through: int
    reworded: frozenset[str] = frozenset()


class Log(LogFile):
    """The open log of one data folder. Reads come from any thread; the caller lets one thread write at a time."""

    def __init__(self, path: Path) -> None:
        """Open or create the log and bring it to the present schema.

        Raises:
            StorageError: the file cannot be opened, is damaged, or was written by a newer program.
        """
        super().__init__(path)
        applied = self.get_meta(_APPLIED)
        self._applied_through = int(applied or 0)
        # When what was applied, as far as it is not recorded.
        self._applied: deque[tuple[float, int]] = deque()

    # Writing

    def commit(self, change: Change, then: Callable[[Any], None] = lambda _connection: None) -> Committed:
        """Write a change durably, with one event per row touched; on return it survives a power cut.

        `then` does more on the connection, in the same transaction.

        Links of memories that became `deleted` go, and so do entities that are left without links.

        Raises:
            StorageError: nothing was written.
        """
        with self.writing() as connection:
            self._record_applied(connection)
            was = telling.before(connection, change)
            written = changes.write(connection, change)
            through = telling.write(connection, change, was, written)
            then(connection)
        return Committed(written.entities, written.removed_entities, through, telling.reworded(change, was))

    def drop_events(self, before: datetime) -> int:
        """Drop some of the oldest events, those from before a time; returns how many, 0 when none is left.

        What LanceDB still has to learn is kept, and so is all current state: sightings are part of that, and that
        something was purged, by which an old export is known.
        """
        recorded = int(self.get_meta(_APPLIED) or 0)
        with self.writing() as connection:
            oldest = connection.execute(
                select(events.c.sequence, events.c.at)
                .where(events.c.operation.not_in((*SIGHTINGS, PURGED)))
                .order_by(events.c.sequence)
                .limit(_EVENTS_AT_ONCE)
            ).all()
            old = [row.sequence for row in oldest if row.at < before and row.sequence < recorded]
            for part in batches(old):
                connection.execute(delete(events).where(events.c.sequence.in_(part)))
        return len(old)

    # What LanceDB still has to learn

    def pending(self) -> Pending:
        """Every row whose last event came after what was applied."""
        return self.changed_since(self._applied_through)

    def changed_since(self, sequence: int) -> Pending:
        """Every row whose last event came after a given one."""
        with self.reading() as connection:
            found = connection.execute(
                select(events.c.sequence, events.c.memory_id, events.c.entity_id)
                .where(events.c.sequence > sequence, events.c.operation.not_in(SIGHTINGS))
                .order_by(events.c.sequence)
            ).all()
        return Pending(
            memory_ids=tuple(dict.fromkeys(row.memory_id for row in found if row.memory_id)),
            entity_ids=tuple(dict.fromkeys(row.entity_id for row in found if row.entity_id)),
            through=found[-1].sequence if found else sequence,
        )

    def last_event(self) -> int:
        """The number of the last event, 0 before the first."""
        with self.reading() as connection:
            return connection.scalar(select(func.max(events.c.sequence))) or 0

    def has_pending(self) -> bool:
        """Whether anything is pending."""
        pending = self.pending()
        return bool(pending.memory_ids or pending.entity_ids)

    def mark_applied(self, through: int) -> None:
        """Note that LanceDB holds everything up to an event; recorded with a later change, once its files are old.

        Losing the note costs a repetition of idempotent writes, so it needs no transaction of its own.
        """
        if through > self._applied_through:
            self._applied_through = through
            self._applied.append((time.monotonic(), through))

    @property
    def are_tables_in_use(self) -> bool:
        """Whether whoever had the tables open last has not closed them: their files may be torn."""
        return bool(self.get_meta(_IN_USE))

    def mark_tables_in_use(self) -> None:
        """Record that the tables are being written."""
        self.set_meta(**{_IN_USE: "yes"})

    def mark_tables_safe(self) -> None:
        """Record that the files of everything that was applied are on the disk, and that nobody writes to them."""
        with self.writing() as connection:
            write_meta(connection, _APPLIED, str(self._applied_through))
            write_meta(connection, _IN_USE, "")
        self._applied.clear()

    def _before_closing(self, connection: Connection) -> None:
        self._record_applied(connection)

    def _record_applied(self, connection: Connection) -> None:
        old = time.monotonic() - SAFE_AGE_S
        through = 0
        while self._applied and self._applied[0][0] <= old:
            through = self._applied.popleft()[1]
        if through:
            write_meta(connection, _APPLIED, str(through))

    # Reading

    def last_id(self) -> str:
        """The largest id ever given out, '' in an empty log."""
        columns = (memories.c.id, entities.c.id, episodes.c.id, jobs.c.id, events.c.change_id)
        with self.reading() as connection:
            return max(connection.scalar(select(func.max(column))) or "" for column in columns)

    def get_memories(self, ids: Sequence[str]) -> dict[str, Memory]:
        """The memories with these ids, whatever their state and owner; unknown ids are absent."""
        with self.reading() as connection:
            return {key: _memory(row) for key, row in rows_by_id(connection, ids).items()}

    def get_texts(self, ids: Sequence[str]) -> dict[str, str]:
        """The texts of the memories with these ids; unknown ids are absent."""
        with self.reading() as connection:
            return {
                row.id: row.text
                for part in batches(ids)
                for row in connection.execute(select(memories.c.id, memories.c.text).where(memories.c.id.in_(part)))
            }

    def list_memories(
        self,
        user_id: str,
        filters: Filters = Filters(),  # noqa: B008 - immutable
        *,
        states: Collection[str] = ("active", "raw"),
        run_id: str = "",
        limit: int = 100,
        offset: int = 0,
    ) -> list[Memory]:
        """Memories of a user, newest first by id."""
        wanted = self._restrictions(user_id, filters, states, run_id)
        with self.reading() as connection:
            rows = connection.execute(
                select(memories).where(*wanted).order_by(memories.c.id.desc()).limit(limit).offset(offset)
            )
            return [_memory(row) for row in rows.mappings()]

    def ids_where(self, user_id: str, where: Where) -> list[str]:
        """Ids of all of a user's memories that something holds of, newest first."""
        wanted = self._restrictions(user_id, where.filters, where.states, where.run_id)
        contained = fold(normalise(where.contains))
        with self.reading() as connection:
            rows = connection.execute(
                select(memories.c.id, memories.c.text).where(*wanted).order_by(memories.c.id.desc())
            )
            return [row.id for row in rows if not contained or contained in fold(normalise(row.text))]

    def _restrictions(
        self, user_id: str, filters: Filters, states: Collection[str], run_id: str
    ) -> list[ColumnElement[bool]]:
        conditions: list[ColumnElement[bool]] = [memories.c.user_id == user_id, memories.c.state.in_(states)]
        for column, value in (
            (memories.c.about, filters.about),
            (memories.c.kind, filters.kind),
            (memories.c.agent_id, filters.agent),
            (memories.c.run_id, run_id),
        ):
            if value:
                conditions.append(column == value)
        if filters.since:
            conditions.append(memories.c.observed_at >= filters.since)
        if filters.until:
            conditions.append(memories.c.observed_at <= filters.until)
        if filters.metadata:
            having = self.ids_with_metadata(user_id, filters)
            conditions.append(
                memories.c.id.in_(select(func.json_each(json.dumps(sorted(having))).table_valued("value")))
            )
        return conditions

    def ids_with_metadata(self, user_id: str, filters: Filters) -> set[str]:
        """Ids of the user's memories whose metadata equals every wanted key; true is not 1, 1 is 1.0."""
        with self.reading() as connection:
            rows = connection.execute(
                select(memories.c.id, memories.c.metadata).where(
                    memories.c.user_id == user_id, func.length(memories.c.metadata) > 2
                )
            ).all()
        return {row.id for row in rows if _matches(row.metadata, filters.metadata)}

    def index_rows(self, user_id: str) -> Iterator[Any]:
        """What the in-memory index needs of each searchable or ended memory, in order of thread and position."""
        columns = [memories.c[name] for name in _INDEX_COLUMNS]
        with self.reading() as connection:
            yield from connection.execute(
                select(*columns, func.length(memories.c.text).label("n_chars"))
                .where(memories.c.user_id == user_id, memories.c.state.in_(SEARCHABLE))
                .order_by(
                    memories.c.run_id,
                    # Without a run the call is the thread; within one, positions alone are the order.
                    case((memories.c.run_id == "", memories.c.episode_id), else_=""),
                    memories.c.position,
                    memories.c.id,
                )
            )

    def same_text(self, user_id: str, hashes: Collection[str], states: Collection[State]) -> list[Memory]:
        """A user's memories in one of some states with one of these hashes, oldest first."""
        with self.reading() as connection:
            found: list[Memory] = []
            for part in batches(list(hashes)):
                rows = connection.execute(
                    select(memories).where(
                        memories.c.user_id == user_id,
                        memories.c.hash.in_(part),
                        memories.c.state.in_(states),
                    )
                )
                found += [_memory(row) for row in rows.mappings()]
        return sorted(found, key=lambda memory: memory.id)

    def led_to(self, known: Sequence[Memory]) -> list[Memory]:
        """The distilled words whose ids lead to any of some memories of one user, oldest first."""
        wanted = {memory.id for memory in known}
        leads = memories.c.superseded_by
        # Looked for by SQLite where they are few.
        is_one = (
            or_(*(leads.contains(each, autoescape=True) for each in wanted)) if len(wanted) <= _FEW else leads != ""
        )
        of_user = memories.c.user_id.in_({memory.user_id for memory in known})
        with self.reading() as connection:
            rows = connection.execute(
                select(memories.c.id, leads).where(of_user, memories.c.state == "distilled", is_one)
            ).all()
        found = self.get_memories([row.id for row in rows if not wanted.isdisjoint(row.superseded_by.split())])
        return sorted(found.values(), key=lambda memory: memory.id)

    def next_position(self, user_id: str, run_id: str) -> int:
        """The place of the next memory in a run, 0 for the first and for memories without a run."""
        if not run_id:
            return 0
        with self.reading() as connection:
            last = connection.scalar(
                select(func.max(memories.c.position)).where(memories.c.user_id == user_id, memories.c.run_id == run_id)
            )
        return 0 if last is None else int(last) + 1

    def get_entities(self, user_id: str = "", ids: Sequence[str] | None = None) -> list[Entity]:
        """Entities of a user, or those with these ids."""
        wanted: list[ColumnElement[bool]] = []
        if user_id:
            wanted.append(entities.c.user_id == user_id)
        with self.reading() as connection:
            if ids is None:
                rows = connection.execute(select(entities).where(*wanted)).mappings().all()
            else:
                rows = [
                    row
                    for part in batches(list(ids))
                    for row in connection.execute(select(entities).where(entities.c.id.in_(part), *wanted)).mappings()
                ]
        return [Entity(**row) for row in rows]

    def get_aliases(self, user_id: str) -> list[tuple[str, str]]:
        """(entity_id, name_key) of every alias of a user's entities."""
        with self.reading() as connection:
            rows = connection.execute(
                select(aliases.c.entity_id, aliases.c.name_key)
                .join(entities, entities.c.id == aliases.c.entity_id)
                .where(entities.c.user_id == user_id)
            )
            return [(row.entity_id, row.name_key) for row in rows]

    def get_links(self, user_id: str) -> list[tuple[str, str]]:
        """(memory_id, entity_id) of every link of a user."""
        with self.reading() as connection:
            rows = connection.execute(
                select(entity_links.c.memory_id, entity_links.c.entity_id)
                .join(entities, entities.c.id == entity_links.c.entity_id)
                .where(entities.c.user_id == user_id)
            )
            return [(row.memory_id, row.entity_id) for row in rows]

    def counts(self, user_id: str = "") -> dict[str, int]:
        """Numbers of memories by state, entities, episodes and waiting jobs; of all users where none is named."""

        def of(table: Any) -> list[ColumnElement[bool]]:
            return [table.c.user_id == user_id] if user_id else []

        with self.reading() as connection:
            states = Counter(
                {
                    row.state: row.n
                    for row in connection.execute(
                        select(memories.c.state, func.count().label("n"))
                        .where(*of(memories))
                        .group_by(memories.c.state)
                    )
                }
            )
            others = {
                "entities": connection.scalar(select(func.count()).select_from(entities).where(*of(entities))),
                "episodes": connection.scalar(select(func.count()).select_from(episodes).where(*of(episodes))),
                "jobs": connection.scalar(
                    select(func.count()).select_from(jobs).where(jobs.c.state == "waiting", *of(jobs))
                ),
            }
        return {**states, **{name: int(value or 0) for name, value in others.items()}}

    def user_ids(self) -> list[str]:
        """Everybody who has memories or entities here."""
        with self.reading() as connection:
            found = set(connection.scalars(select(memories.c.user_id).distinct()))
            return sorted(found | set(connection.scalars(select(entities.c.user_id).distinct())))

    def searchable_ids(self) -> set[str]:
        """Ids of the memories of all users that LanceDB is to hold."""
        with self.reading() as connection:
            return set(connection.scalars(select(memories.c.id).where(memories.c.state.in_(SEARCHABLE))))

    def entity_ids(self) -> set[str]:
        """Ids of the entities of all users."""
        with self.reading() as connection:
            return set(connection.scalars(select(entities.c.id)))


_INDEX_COLUMNS = (
    "id", "agent_id", "run_id", "position", "episode_id", "speaker", "role", "about", "kind", "state", "lemmas",
    "language", "importance", "observed_at", "created_at", "expires_at", "valid_from", "invalid_at", "closed_at",
)  # fmt: skip


def _memory(row: Any) -> Memory:
    return Memory(**row)


def _matches(found: Any, wanted: Any) -> bool:
    return all(
        key in found and found[key] == value and isinstance(found[key], bool) == isinstance(value, bool)
        for key, value in wanted.items()
    )
