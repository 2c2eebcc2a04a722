"""How one change becomes rows, inside the transaction that the log opened; `events` tells of it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, exists, func, insert, or_, select, update
from sqlalchemy.dialects.sqlite import Insert
from sqlalchemy.dialects.sqlite import insert as upsert

from .records import BY_HAND, ENDED_WITH_MEMORY, SEARCHABLE, Change, Entity, Fact, Memory, Taken
from .schema import (
    aliases,
    entities,
    entity_links,
    episodes,
    facts,
    former_validity,
    imports,
    jobs,
    memories,
    messages,
    profiles,
)

T = TypeVar("T")

WINDOW_SIZE = 10
_MAX_VARIABLES = 500


@dataclass(frozen=True, slots=True)
class Written:
    """What a change did beyond its own rows: facts as they are now, entities as they are now and those that are gone.

    `facts` holds those of the change and those of memories that ended with it.
    """

    facts: tuple[Fact, ...]
    entities: tuple[Entity, ...]
    removed_entities: tuple[Entity, ...]


def _put(table: Table) -> Insert:
    """A statement that writes rows in place of those with the same id; made once, as that takes longer than a row."""
    statement = upsert(table)
    return statement.on_conflict_do_update(index_elements=["id"], set_=dict(statement.excluded.items()))


_PUT_MEMORY, _PUT_FACT = _put(memories), _put(facts)


def write(connection: Connection, change: Change) -> Written:
    """Write everything that a change holds; the caller tells the events and commits."""
    _insert_episode(connection, change)
    for entity in change.entities:
        connection.execute(insert(entities), asdict(entity))
    known = rows_by_id(connection, [memory.id for memory in change.memories])
    if change.memories:
        connection.execute(_PUT_MEMORY, [memory_row(memory) for memory in change.memories])
    if change.links:
        connection.execute(
            upsert(entity_links).on_conflict_do_nothing(),
            [{"memory_id": memory_id, "entity_id": entity_id} for memory_id, entity_id in change.links],
        )
    if change.aliases:
        connection.execute(
            upsert(aliases).on_conflict_do_nothing(),
            [{"entity_id": i, "name": name, "name_key": key} for i, name, key in change.aliases],
        )
    for entity_id, key in change.gone_aliases:
        connection.execute(delete(aliases).where(aliases.c.entity_id == entity_id, aliases.c.name_key == key))
    written_facts, left = _write_facts(connection, change)
    _note_former(connection, change, [(memory, known.get(memory.id)) for memory in change.memories])
    touched = {entity_id for _, entity_id in (*change.links, *change.unlinks)} | left
    touched |= {entity.id for entity in change.entities}
    for memory_id, entity_id in change.unlinks:
        link = and_(entity_links.c.memory_id == memory_id, entity_links.c.entity_id == entity_id)
        connection.execute(delete(entity_links).where(link))
    touched |= _unlink(connection, [memory.id for memory in change.memories if memory.state not in SEARCHABLE])
    _forget(
        connection, [*(memory for memory in change.memories if memory.state == "deleted"), *_corrected(change, known)]
    )
    _drop_profile(connection, change, known)
    if change.taken:
        put_taken(connection, change.owner.user_id, change.taken, change.at)
    if change.finished_job:
        # A change that finishes a job says why when the job was given up.
        state = "failed" if change.reason else "done"
        done = update(jobs).where(jobs.c.id == change.finished_job)
        connection.execute(done.values(state=state, last_error=change.reason))
    kept, removed = recount(connection, touched)
    return Written(written_facts, kept, removed)


def put_taken(connection: Connection, user_id: str, taken: Taken, now: datetime) -> None:
    """Note how much of a source has been taken in, in the transaction that took it."""
    row = {"user_id": user_id, "source": taken.source, "done": taken.done, "updated_at": now}
    statement = upsert(imports).values(row)
    connection.execute(statement.on_conflict_do_update(index_elements=["user_id", "source"], set_=row))


def _unlink(connection: Connection, memory_ids: Sequence[str]) -> set[str]:
    """Take the links of memories that nobody finds any more; returns the entities that lost one."""
    lost: set[str] = set()
    for part in batches(memory_ids):
        of_these = entity_links.c.memory_id.in_(part)
        lost |= set(connection.scalars(select(entity_links.c.entity_id).where(of_these)))
        connection.execute(delete(entity_links).where(of_these))
    return lost


def _corrected(change: Change, known: Mapping[str, Any]) -> list[Memory]:
    """Memories as they were before a person put other words in their place, or took them from who was to read them."""
    if change.operation != "update":
        return []
    by_hand = [memory for memory in change.memories if memory.id in known and memory.prompt == BY_HAND]
    now = {memory.id: (memory.text, memory.state) for memory in by_hand}
    before = [Memory(**known[identifier]) for identifier in now]
    return [memory for memory in before if (memory.text, memory.state) != now[memory.id]]


def _forget(connection: Connection, gone: Sequence[Memory]) -> None:
    """Remove what else speaks of deleted memories, and of corrected ones with their former words.

    The next extraction reads the message window, and a waiting job reads its episode: neither may bring back
    what was deleted.
    """
    for memory in gone:
        of_user = messages.c.user_id == memory.user_id
        connection.execute(delete(messages).where(of_user, messages.c.content == memory.text))
        _cancel_jobs(connection, memory)


def _write_facts(connection: Connection, change: Change) -> tuple[tuple[Fact, ...], set[str]]:
    """Write the facts of a change and close those of memories that ended: (all of them, entities that they name)."""
    given = {fact.id for fact in change.facts} | set(change.gone_facts)
    ended = {memory.id: memory for memory in change.memories if memory.state not in ("active", "raw")}
    of_ended = [
        Fact(**row)
        for part in batches(list(ended))
        for row in connection.execute(select(facts).where(facts.c.memory_id.in_(part))).mappings()
        if row["id"] not in given
    ]
    closing = [
        _closed(fact, ended[fact.memory_id], change)
        for fact in of_ended
        if not _stays_closed(fact, ended[fact.memory_id])
    ]
    written = (*change.facts, *closing)
    before = facts_by_id(connection, [fact.id for fact in written])
    if written:
        connection.execute(_PUT_FACT, [asdict(fact) for fact in written])
    _note_former(connection, change, [(fact, before.get(fact.id)) for fact in written])
    gone = facts_by_id(connection, change.gone_facts)
    for part in batches(change.gone_facts):
        connection.execute(delete(facts).where(facts.c.id.in_(part)))
    rows = [asdict(fact) for fact in written] + [dict(row) for row in (*before.values(), *gone.values())]
    named = {row[column] for row in rows for column in ("subject_id", "object_id")}
    return written, named - {""}


def _stays_closed(fact: Fact, memory: Memory) -> bool:
    """Whether a fact was over before its memory is, or was withdrawn already."""
    return fact.closed_at is not None and (memory.state == "invalid" or fact.invalid_at is None)


def _closed(fact: Fact, memory: Memory, change: Change) -> Fact:
    """A fact as it is from the end of its memory on: over with it, or withdrawn where nobody finds the memory now."""
    is_over = memory.state == "invalid"
    return replace(
        fact,
        invalid_at=memory.invalid_at if is_over else None,
        closed_at=(memory.closed_at if is_over else None) or change.at,
        ended_by=ENDED_WITH_MEMORY,
        revision=change.id,
    )


def _note_former(
    connection: Connection, change: Change, items: Sequence[tuple[Memory | Fact, Mapping[str, Any] | None]]
) -> None:
    """Keep the validity that rows had until now, where it changes."""
    rows = [
        {"user_id": item.user_id, "item_id": item.id, "until": change.at, "valid_from": was[0], "invalid_at": was[1]}
        for item, before in items
        if before and (was := _validity(before)) != _validity(asdict(item))
    ]
    if rows:
        connection.execute(insert(former_validity), rows)


def _validity(row: Mapping[str, Any]) -> tuple[datetime | None, datetime | None]:
    return row["valid_from"], row["invalid_at"] if row["closed_at"] else None


def _drop_profile(connection: Connection, change: Change, known: Mapping[str, Any]) -> None:
    """Drop a profile that was made of memories which have ended or gone, or say something else now."""
    gone = {memory.id for memory in change.memories if memory.state not in ("active", "raw")}
    gone |= {memory.id for memory in change.memories if memory.id in known and known[memory.id]["text"] != memory.text}
    of_user = profiles.c.user_id == change.owner.user_id
    used = connection.scalar(select(profiles.c.memory_ids).where(of_user)) if gone else None
    if used and gone & set(used):
        connection.execute(delete(profiles).where(of_user))


def _insert_episode(connection: Connection, change: Change) -> None:
    episode = change.episode
    if episode is None:
        return
    owner = {"user_id": episode.owner.user_id, "agent_id": episode.owner.agent_id, "run_id": episode.run_id}
    connection.execute(
        insert(episodes),
        {
            **owner,
            "id": episode.id,
            "messages": [asdict(message) for message in episode.messages],
            "infer": int(episode.infer),
            "about": episode.about,
            "kind": episode.kind,
            "observed_at": episode.observed_at,
            "created_at": episode.created_at,
            "expires_at": episode.expires_at,
            "metadata": dict(episode.metadata),
        },
    )
    # Older ones of the same call would be dropped again at once.
    connection.execute(
        insert(messages),
        [
            {**owner, **asdict(message), "observed_at": episode.observed_at, "episode_id": episode.id}
            for message in episode.messages[-WINDOW_SIZE:]
        ],
    )
    in_scope = [messages.c[name] == value for name, value in owner.items()]
    kept = select(messages.c.sequence).where(*in_scope).order_by(messages.c.sequence.desc()).limit(WINDOW_SIZE)
    connection.execute(delete(messages).where(*in_scope, messages.c.sequence.not_in(kept)))
    if change.job:
        connection.execute(
            insert(jobs),
            {
                **asdict(change.job),
                "state": "waiting",
                "created_at": change.at,
            },
        )


def _cancel_jobs(connection: Connection, memory: Memory) -> None:
    """Cancel the waiting jobs of calls that brought nothing but a deleted text, or of which nothing raw is left."""
    still_raw = select(memories.c.id).where(memories.c.episode_id == episodes.c.id, memories.c.state == "raw")
    waiting = connection.execute(
        select(jobs.c.id, jobs.c.episode_id, episodes.c.messages, still_raw.exists().label("has_raw"))
        .join(episodes, episodes.c.id == jobs.c.episode_id)
        .where(jobs.c.user_id == memory.user_id, jobs.c.state == "waiting")
    ).all()
    void = [
        job.id
        for job in waiting
        if not job.has_raw
        and (job.episode_id == memory.episode_id or all(message["content"] == memory.text for message in job.messages))
    ]
    if void:
        connection.execute(update(jobs).where(jobs.c.id.in_(void)).values(state="cancelled"))


def recount(connection: Connection, entity_ids: Collection[str]) -> tuple[tuple[Entity, ...], tuple[Entity, ...]]:
    """Bring the link counts of entities up to date and remove those that nothing names any more: (kept, removed).

    A count is no new revision: the tables do not hold it.
    """
    kept: list[Entity] = []
    removed: list[Entity] = []
    for part in batches(sorted(entity_ids)):
        counted = (
            select(func.count()).where(entity_links.c.entity_id == entities.c.id).correlate(entities).scalar_subquery()
        )
        these = entities.c.id.in_(part)
        connection.execute(update(entities).where(these).values(n_linked=counted))
        # Two conditions, so that each has an index of its own.
        in_facts = or_(
            exists().where(facts.c.subject_id == entities.c.id, ~is_withdrawn()),
            exists().where(facts.c.object_id == entities.c.id, ~is_withdrawn()),
        )
        for row in connection.execute(select(entities, in_facts.label("is_in_facts")).where(these)).mappings():
            entity = Entity(**{name: row[name] for name in Entity.__slots__})
            (kept if entity.n_linked or row["is_in_facts"] else removed).append(entity)
    orphans = [entity.id for entity in removed]
    if orphans:
        connection.execute(delete(entities).where(entities.c.id.in_(orphans)))
        connection.execute(delete(aliases).where(aliases.c.entity_id.in_(orphans)))
    return tuple(kept), tuple(removed)


def memory_row(memory: Memory) -> dict[str, Any]:
    """A memory as a row: the same fields, metadata as a plain dict."""
    return {name: getattr(memory, name) for name in memory.__slots__} | {"metadata": dict(memory.metadata)}


def is_withdrawn() -> ColumnElement[bool]:
    """The condition on a fact that it is closed without an end: nobody says it any more."""
    return and_(facts.c.closed_at.is_not(None), facts.c.invalid_at.is_(None))


def facts_by_id(connection: Connection, ids: Sequence[str]) -> dict[str, Any]:
    """Rows of the facts with these ids, by id; unknown ids are absent."""
    return {
        row["id"]: row
        for part in batches(ids)
        for row in connection.execute(select(facts).where(facts.c.id.in_(part))).mappings()
    }


def rows_by_id(connection: Connection, ids: Sequence[str]) -> dict[str, Any]:
    """Rows of the memories with these ids, by id; unknown ids are absent."""
    return {
        row["id"]: row
        for part in batches(ids)
        for row in connection.execute(select(memories).where(memories.c.id.in_(part))).mappings()
    }


def batches(ids: Sequence[T]) -> Iterator[Sequence[T]]:
    """The ids in parts small enough for one statement."""
    for start in range(0, len(ids), _MAX_VARIABLES):
        yield ids[start : start + _MAX_VARIABLES]
