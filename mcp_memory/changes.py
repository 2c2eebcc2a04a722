"""How one change becomes rows and events, inside the transaction that the log opened."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from . import schema
from .records import SEARCHABLE, Change, Entity, Memory
from .schema import aliases, entities, entity_links, episodes, events, facts, jobs, memories, messages, profiles

T = TypeVar("T")

WINDOW_SIZE = 10
_MAX_VARIABLES = 500


@dataclass(frozen=True, slots=True)
class Committed:
    """What a change did beyond its own rows: entities as they are now, those that are gone, its last event."""

    entities: tuple[Entity, ...]
    removed_entities: tuple[Entity, ...]
    through: int


def write(connection: Connection, change: Change) -> Committed:
    """Write everything that a change holds, and its events; the caller commits."""
    _insert_episode(connection, change)
    for entity in change.entities:
        connection.execute(insert(entities), asdict(entity))
    before = rows_by_id(connection, [memory.id for memory in change.memories])
    for memory in change.memories:
        row = memory_row(memory)
        statement = upsert(memories).values(row)
        connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=row))
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
    if change.facts:
        connection.execute(insert(facts), [asdict(fact) for fact in change.facts])
    _end_facts(connection, change)
    linked = _links_of(connection, [memory.id for memory in change.memories])
    touched = {entity_id for _, entity_id in change.links} | {entity.id for entity in change.entities}
    touched |= _unlink(connection, [memory.id for memory in change.memories if memory.state not in SEARCHABLE])
    _forget(connection, [memory for memory in change.memories if memory.state == "deleted"])
    if change.finished_job:
        # A change that finishes a job says why when the job was given up.
        state = "failed" if change.reason else "done"
        done = update(jobs).where(jobs.c.id == change.finished_job)
        connection.execute(done.values(state=state, last_error=change.reason))
    kept, removed = _recount(connection, touched)
    _write_events(connection, change, before, linked, removed)
    through = connection.scalar(select(func.max(events.c.sequence))) or 0
    return Committed(entities=kept, removed_entities=removed, through=through)


def _links_of(connection: Connection, memory_ids: Sequence[str]) -> dict[str, list[str]]:
    """The entities that each memory is linked to, before anything is unlinked."""
    found: dict[str, list[str]] = {}
    for part in batches(memory_ids):
        for row in connection.execute(select(entity_links).where(entity_links.c.memory_id.in_(part))):
            found.setdefault(row.memory_id, []).append(row.entity_id)
    return found


def _unlink(connection: Connection, memory_ids: Sequence[str]) -> set[str]:
    """Take the links of memories that nobody finds any more; returns the entities that lost one."""
    of_these = entity_links.c.memory_id.in_(memory_ids)
    lost = set(connection.scalars(select(entity_links.c.entity_id).where(of_these)))
    connection.execute(delete(entity_links).where(of_these))
    return lost


def _forget(connection: Connection, gone: Sequence[Memory]) -> None:
    """Remove what else speaks of deleted memories.

    The next extraction reads the message window, and a waiting job reads its episode: neither may bring back
    what was deleted.
    """
    for memory in gone:
        of_user = messages.c.user_id == memory.user_id
        connection.execute(delete(messages).where(of_user, messages.c.content == memory.text))
        _cancel_jobs(connection, memory)


def _end_facts(connection: Connection, change: Change) -> None:
    """Close the facts of memories that have ended or gone, and drop a profile that was made of them."""
    ended = [memory for memory in change.memories if memory.state not in ("active", "raw")]
    for memory in ended:
        of_memory = facts.c.memory_id == memory.id
        connection.execute(
            update(facts)
            .where(of_memory, facts.c.closed_at.is_(None))
            .values(invalid_at=memory.invalid_at, closed_at=memory.closed_at or change.at)
        )
    gone = {memory.id for memory in ended}
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


def _recount(connection: Connection, entity_ids: Collection[str]) -> tuple[tuple[Entity, ...], tuple[Entity, ...]]:
    """Bring the link counts of entities up to date and remove those without links: (kept, removed).

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
        for row in connection.execute(select(entities).where(these)).mappings():
            entity = Entity(**row)
            (kept if entity.n_linked else removed).append(entity)
    orphans = [entity.id for entity in removed]
    if orphans:
        connection.execute(delete(entities).where(entities.c.id.in_(orphans)))
        connection.execute(delete(aliases).where(aliases.c.entity_id.in_(orphans)))
    return tuple(kept), tuple(removed)


def _write_events(
    connection: Connection,
    change: Change,
    before: dict[str, Any],
    linked: dict[str, list[str]],
    removed: Sequence[Entity],
) -> None:
    shared = {
        "change_id": change.id,
        "at": change.at,
        "user_id": change.owner.user_id,
        "client": change.owner.agent_id,
        "reason": change.reason,
        "memory_id": "",
        "entity_id": "",
        "before": None,
        "after": None,
    }
    rows = [
        shared
        | {
            "operation": change.operation,
            "memory_id": memory.id,
            "before": _as_event(before[memory.id], linked.get(memory.id)) if memory.id in before else None,
            "after": _as_event(memory_row(memory), linked.get(memory.id) if memory.state in SEARCHABLE else None),
        }
        for memory in change.memories
    ]
    rows += [
        shared
        | {
            "operation": "sight",
            "memory_id": sighting.memory_id,
            "after": {"observed_at": sighting.observed_at.isoformat()},
        }
        for sighting in change.sightings
    ]
    touched = {entity.id for entity in change.entities} | {entity_id for entity_id, _, _ in change.aliases}
    rows += [shared | {"operation": "entity", "entity_id": entity_id} for entity_id in sorted(touched)]
    rows += [
        shared | {"operation": "entity_gone", "entity_id": entity.id, "before": asdict(entity)} for entity in removed
    ]
    if rows:
        connection.execute(insert(events), rows)


def memory_row(memory: Memory) -> dict[str, Any]:
    """A memory as a row: the same fields, metadata as a plain dict."""
    return {name: getattr(memory, name) for name in memory.__slots__} | {"metadata": dict(memory.metadata)}


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


def _as_event(row: Any, entity_ids: Sequence[str] | None) -> dict[str, Any]:
    """A memory as events keep it: its row, and the entities it is linked to."""
    return schema.as_json(dict(row)) | {"entities": list(entity_ids or ())}
