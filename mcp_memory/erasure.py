"""A memory taken out of the log for good, with everything that would tell what it said. No change can be undone here.

What goes: its row and those that lead to it, the messages that it came from, its events, jobs, facts, ratings, and the
names that nothing else names. What stays: that something was purged, when and by whom, under ids alone.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select, update

from .changes import batches, recount
from .doomed import Doomed, doomed_with, living_twins, other_texts
from .erasure_events import scrub_events, scrub_names, tell
from .erasure_messages import blank_messages
from .erasure_names import Names, gone_entities, strip_names
from .log import Log
from .log_file import write_meta
from .records import PURGED, Owner
from .schema import (
    entity_links,
    events,
    facts,
    feedback,
    former_validity,
    given,
    jobs,
    memories,
    profiles,
)
from .traces import Traces

UNFINISHED = "purge_unfinished"
_MAX_AT_ONCE = 5000


@dataclass(frozen=True, slots=True)
class Erased:
    """What was taken out: ids of memories, the earliest time of them on the record clock, and their traces.

    `same_words` are the ids of memories that stay and say the same word for word.
    """

    memory_ids: tuple[str, ...]
    created_at: datetime
    traces: Traces
    same_words: tuple[str, ...]


def family_of(log: Log, user_id: str, memory_ids: Collection[str]) -> list[str]:
    """Memories with what leads to them: the words that they were read out of, and what says the same and was merged.

    What they replaced, or what replaced them, is not among these.
    """
    found = dict.fromkeys(memory_ids)
    with log.reading() as connection:
        leads = connection.execute(
            select(memories.c.id, memories.c.superseded_by).where(
                memories.c.user_id == user_id,
                memories.c.superseded_by != "",
                memories.c.state.in_(("distilled", "merged", "deleted")),
                # Of what was deleted: what had not ended before.
                memories.c.invalid_at.is_(None),
            )
        ).all()
    leading: dict[str, list[str]] = {}
    for row in leads:
        for target in row.superseded_by.split():
            leading.setdefault(target, []).append(row.id)
    new = list(found)
    while new:
        new = [each for target in new for each in leading.get(target, ()) if each not in found]
        found |= dict.fromkeys(new)
    return list(found)


def expired(log: Log, before: datetime) -> dict[str, list[str]]:
    """Memories that expired before a time, whatever their state, by user; some thousands at a time."""
    with log.reading() as connection:
        rows = connection.execute(
            select(memories.c.user_id, memories.c.id).where(memories.c.expires_at < before).limit(_MAX_AT_ONCE)
        )
        found: dict[str, list[str]] = {}
        for row in rows:
            found.setdefault(row.user_id, []).append(row.id)
    return found


def erase(connection: Any, owner: Owner, memory_ids: Sequence[str], change_id: str, at: datetime) -> Erased:
    """Take memories of one user out of the log, within a transaction that has deleted them, if they were not.

    From its end on the log's rows say nothing of them, but its file may, and so may the tables: until `finish_erasing`
    the log remembers that a purge is unfinished.
    """
    # What is deleted is written over, also in the pages that are not given back yet.
    connection.exec_driver_sql("PRAGMA secure_delete=ON")
    doomed = doomed_with(connection, owner.user_id, memory_ids)
    _delete_links(connection, doomed)
    same_words = living_twins(connection, doomed)
    doomed = blank_messages(connection, doomed)
    names = Names.of(connection, sorted({*doomed.entity_ids, *gone_entities(connection, owner.user_id)}))
    traces = Traces(doomed.texts, [name for of_one in names.values() for name in of_one.written])
    for text in other_texts(connection, doomed):
        traces.spare(text)
    _delete_rows(connection, doomed)
    renamed = strip_names(connection, owner.user_id, names, traces.names, change_id)
    _, removed = recount(connection, {each for each, of_one in names.items() if of_one.is_there})
    scrub_events(connection, doomed, traces)
    scrub_names(connection, [each for each, of_one in names.items() if of_one.written & traces.names], traces.names)
    _forget_errors(connection, owner.user_id, traces)
    tell(connection, owner, doomed, change_id, at, renamed | {entity.id for entity in removed})
    write_meta(connection, UNFINISHED, at.isoformat())
    return Erased(tuple(doomed.memory_ids), doomed.created_at, traces, tuple(same_words))


def purged_among(log: Log, user_id: str, ids: Collection[str]) -> set[str]:
    """Those of some ids under which a memory of the user was purged."""
    found: set[str] = set()
    with log.reading() as connection:
        for part in batches(sorted(ids)):
            found |= set(
                connection.scalars(
                    select(events.c.memory_id).where(
                        events.c.memory_id.in_(part), events.c.operation == PURGED, events.c.user_id == user_id
                    )
                )
            )
    return found


def is_unfinished(log: Log) -> bool:
    """Whether something was purged whose traces may still lie in the files."""
    return bool(log.get_meta(UNFINISHED))


def finish_erasing(log: Log) -> None:
    """Write the log's file anew, without what was taken out; then nothing is left to be done for it.

    Raises:
        StorageError: it is as it was, and still unfinished.
    """
    log.squeeze()
    log.set_meta(**{UNFINISHED: ""})


def _delete_links(connection: Connection, doomed: Doomed) -> None:
    for part in batches(doomed.memory_ids):
        connection.execute(delete(entity_links).where(entity_links.c.memory_id.in_(part)))


def _delete_rows(connection: Connection, doomed: Doomed) -> None:
    for part in batches(doomed.memory_ids):
        for table, column in ((memories, memories.c.id), (feedback, feedback.c.memory_id), (given, given.c.memory_id)):
            connection.execute(delete(table).where(column.in_(part)))
    for part in batches(doomed.fact_ids):
        connection.execute(delete(facts).where(facts.c.id.in_(part)))
    for part in batches([*doomed.memory_ids, *doomed.fact_ids]):
        connection.execute(delete(former_validity).where(former_validity.c.item_id.in_(part)))
    # A summary may have been made of it in any words.
    connection.execute(delete(profiles).where(profiles.c.user_id == doomed.user_id))


def _forget_errors(connection: Connection, user_id: str, traces: Traces) -> None:
    """Take out what a language model's failure quoted."""
    rows = connection.execute(
        select(jobs.c.id, jobs.c.last_error).where(jobs.c.user_id == user_id, jobs.c.last_error != "")
    ).all()
    for row in rows:
        if traces.are_in(row.last_error):
            connection.execute(update(jobs).where(jobs.c.id == row.id).values(last_error=""))
