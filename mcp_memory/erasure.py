"""A memory taken out of the log for good, with everything that would tell what it said. No change can be undone here.

What goes: its row and those that lead to it, the messages that it came from, its events, jobs, facts, ratings, and the
names that nothing else names. What stays: that something was purged, when and by whom, under ids alone.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, delete, func, insert, or_, select, update

from .changes import batches, facts_by_id, recount, rows_by_id
from .erasure_names import Names, strip_names
from .log import Log
from .log_file import write_meta
from .records import PURGED, Owner
from .schema import (
    entities,
    entity_links,
    episodes,
    events,
    facts,
    feedback,
    former_validity,
    given,
    jobs,
    memories,
    messages,
    profiles,
)
from .text import normalise
from .traces import Traces

UNFINISHED = "purge_unfinished"
# A text as it is compared, and who said it.
_Said = tuple[str, str]
_MAX_AT_ONCE = 5000


@dataclass(frozen=True, slots=True)
class Erased:
    """What was taken out: the ids of the memories, the oldest time of them on the record clock, and their traces."""

    memory_ids: tuple[str, ...]
    created_at: datetime
    traces: Traces
    n_messages: int


@dataclass(frozen=True, slots=True)
class _Doomed:
    """What a purge takes out, by ids, and all that was ever said under them."""

    user_id: str
    memory_ids: Sequence[str]
    fact_ids: Sequence[str]
    entity_ids: Collection[str]
    episode_ids: Collection[str]
    texts: Collection[str]
    said: Collection[_Said]
    created_at: datetime


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


def erase(log: Log, owner: Owner, memory_ids: Sequence[str], change_id: str, at: datetime) -> Erased:
    """Take memories of one user, which are deleted already, out of the log in one transaction.

    On return the log's rows say nothing of them, but its file may, and so may the tables: until `finish_erasing` the
    log remembers that a purge is unfinished.

    Raises:
        StorageError: nothing was taken out.
    """
    with log.writing() as connection:
        # What is deleted is written over, also in the pages that are not given back yet.
        connection.exec_driver_sql("PRAGMA secure_delete=ON")
        doomed = _doomed(connection, owner.user_id, memory_ids)
        _note_orphans(connection, doomed)
        names = _names_of(connection, doomed)
        traces = Traces(doomed.texts, [name for of_one in names.values() for name in of_one.written])
        for text in _other_texts(connection, doomed):
            traces.spare(text)
        _delete_rows(connection, doomed)
        n_messages = _blank_messages(connection, doomed)
        touched = strip_names(connection, owner.user_id, names, traces.names)
        kept, removed = recount(connection, touched.changed | set(doomed.entity_ids))
        gone = touched.gone | {entity.id for entity in removed}
        _forget_errors(connection, owner.user_id, traces)
        _scrub_events(connection, doomed, gone | touched.changed, traces)
        _tell(connection, owner, doomed, change_id, at, gone, [each for each in kept if each.id in touched.changed])
        write_meta(connection, UNFINISHED, at.isoformat())
    return Erased(tuple(memory_ids), doomed.created_at, traces, n_messages)


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


def _doomed(connection: Connection, user_id: str, memory_ids: Sequence[str]) -> _Doomed:
    rows = list(rows_by_id(connection, memory_ids).values())
    told = [*rows, *_told_in_events(connection, events.c.memory_id, memory_ids)]
    own_facts = _ids(connection, facts.c.id, facts.c.memory_id, memory_ids)
    from_here = _facts_told_by(connection, user_id, memory_ids)
    strayed = [
        fact_id
        for fact_id, fact in facts_by_id(connection, sorted(from_here - own_facts)).items()
        if not _stands_by_itself(connection, fact)
    ]
    fact_ids = sorted(own_facts | set(strayed) | (from_here - facts_by_id(connection, sorted(from_here)).keys()))
    told_facts = [*facts_by_id(connection, fact_ids).values(), *_told_in_events(connection, events.c.fact_id, fact_ids)]
    entity_ids = {row[column] for row in told_facts for column in ("subject_id", "object_id")}
    entity_ids |= {each for row in told for each in row.get("entities", ())}
    entity_ids |= _ids(connection, entity_links.c.entity_id, entity_links.c.memory_id, memory_ids)
    texts = {row["text"] for row in told if "text" in row}
    return _Doomed(
        user_id=user_id,
        memory_ids=memory_ids,
        fact_ids=fact_ids,
        entity_ids=entity_ids - {""},
        episode_ids={row["episode_id"] for row in rows},
        texts=texts | {row[column] for row in told_facts for column in ("subject", "object", "label")},
        said={(normalise(row["text"]), row["speaker"]) for row in told if "text" in row},
        created_at=min(row["created_at"] for row in rows),
    )


def _told_in_events(connection: Connection, column: Any, ids: Sequence[str]) -> list[Mapping[str, Any]]:
    """Rows as the events of some ids show them, before and after."""
    found: list[Mapping[str, Any]] = []
    for part in batches(ids):
        for before, after in connection.execute(select(events.c.before, events.c.after).where(column.in_(part))):
            found += [row for row in (before, after) if row]
    return found


def _ids(connection: Connection, wanted: Any, column: Any, ids: Sequence[str]) -> set[str]:
    return {each for part in batches(ids) for each in connection.scalars(select(wanted).where(column.in_(part)))}


def _facts_told_by(connection: Connection, user_id: str, memory_ids: Sequence[str]) -> set[str]:
    """The ids of facts that ever were facts of these memories, also where another memory has taken them over."""
    found: set[str] = set()
    for part in batches(memory_ids):
        of_these = select(events.c.fact_id).where(events.c.user_id == user_id, _names_one_of(part))
        found |= set(connection.scalars(of_these))
    return found


def _names_one_of(memory_ids: Sequence[str]) -> Any:
    """The condition on an event that it tells of a fact of one of these memories."""
    return and_(
        events.c.fact_id != "",
        or_(*(func.json_extract(side, "$.memory_id").in_(memory_ids) for side in (events.c.before, events.c.after))),
    )


def _stands_by_itself(connection: Connection, fact: Mapping[str, Any]) -> bool:
    """Whether the memory that a fact is of now says it in words of its own."""
    text = connection.scalar(select(memories.c.text).where(memories.c.id == fact["memory_id"]))
    return text is not None and normalise(fact["object"]) in normalise(text)


def _other_texts(connection: Connection, doomed: _Doomed) -> Iterator[str]:
    """The texts of the user's other memories, deleted ones included: those can be brought back."""
    going = set(doomed.memory_ids)
    rows = connection.execute(select(memories.c.id, memories.c.text).where(memories.c.user_id == doomed.user_id))
    return (row.text for row in rows if row.id not in going)


def _note_orphans(connection: Connection, doomed: _Doomed) -> None:
    """Take the links of what goes, so that entities that nothing else links can be told."""
    for part in batches(doomed.memory_ids):
        connection.execute(delete(entity_links).where(entity_links.c.memory_id.in_(part)))


def _names_of(connection: Connection, doomed: _Doomed) -> dict[str, Names]:
    """The names of entities that are touched, of those as well that are gone already."""
    return Names.of(connection, sorted(doomed.entity_ids))


def _delete_rows(connection: Connection, doomed: _Doomed) -> None:
    for part in batches(doomed.memory_ids):
        for table, column in ((memories, memories.c.id), (feedback, feedback.c.memory_id), (given, given.c.memory_id)):
            connection.execute(delete(table).where(column.in_(part)))
    for part in batches(doomed.fact_ids):
        connection.execute(delete(facts).where(facts.c.id.in_(part)))
    for part in batches([*doomed.memory_ids, *doomed.fact_ids]):
        connection.execute(delete(former_validity).where(former_validity.c.item_id.in_(part)))
    # A summary may have been made of it in any words.
    connection.execute(delete(profiles).where(profiles.c.user_id == doomed.user_id))


def _blank_messages(connection: Connection, doomed: _Doomed) -> int:
    """Take the words out of what was brought, by whichever call; how many messages that were."""
    n_blanked = 0
    kept = _said_by_others(connection, doomed)
    rows = connection.execute(select(episodes.c.id, episodes.c.messages).where(episodes.c.user_id == doomed.user_id))
    touched: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        keys = [(normalise(message["content"]), message["speaker"]) for message in row.messages]
        own = kept.get(row.id, set())
        going = {place for place, key in enumerate(keys) if key in doomed.said and key not in own}
        if not going and row.id in doomed.episode_ids:
            # What it came from cannot be told from the rest: only what others came from stays.
            going = {place for place, key in enumerate(keys) if key not in own and key[0]}
        if going:
            n_blanked += len(going)
            touched[row.id] = [_blank(each) if n in going else each for n, each in enumerate(row.messages)]
    for episode_id, said in touched.items():
        of_it = jobs.c.episode_id == episode_id
        if any(message["content"] for message in said):
            connection.execute(update(episodes).where(episodes.c.id == episode_id).values(messages=said))
            connection.execute(update(jobs).where(of_it).values(last_error=""))
        else:
            connection.execute(delete(episodes).where(episodes.c.id == episode_id))
            connection.execute(delete(jobs).where(of_it))
    _delete_from_window(connection, doomed, kept, touched)
    return n_blanked


def _blank(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message without words: the places of the others stay what they are."""
    return {**message, "content": "", "speaker": ""}


def _said_by_others(connection: Connection, doomed: _Doomed) -> dict[str, set[_Said]]:
    """What memories that stay say word for word, by the episode that brought them."""
    going = set(doomed.memory_ids)
    found: dict[str, set[_Said]] = {}
    rows = connection.execute(
        select(memories.c.id, memories.c.episode_id, memories.c.text, memories.c.speaker).where(
            memories.c.user_id == doomed.user_id, memories.c.state != "deleted"
        )
    )
    said = {text for text, _ in doomed.said}
    for row in rows:
        if row.id in going:
            continue
        if row.episode_id in doomed.episode_ids or normalise(row.text) in said:
            found.setdefault(row.episode_id, set()).add((normalise(row.text), row.speaker))
    return found


def _delete_from_window(
    connection: Connection, doomed: _Doomed, kept: Mapping[str, set[_Said]], touched: Mapping[str, Any]
) -> None:
    columns = (messages.c.sequence, messages.c.episode_id, messages.c.content, messages.c.speaker)
    rows = connection.execute(select(*columns).where(messages.c.user_id == doomed.user_id)).all()
    left = {
        episode_id: {(normalise(each["content"]), each["speaker"]) for each in said}
        for episode_id, said in touched.items()
    }
    going = [
        row.sequence
        for row in rows
        if (key := (normalise(row.content), row.speaker)) not in kept.get(row.episode_id, ())
        and (key in doomed.said or key not in left.get(row.episode_id, {key}))
    ]
    for part in batches(going):
        connection.execute(delete(messages).where(messages.c.sequence.in_(part)))


def _forget_errors(connection: Connection, user_id: str, traces: Traces) -> None:
    """Take out what a language model's failure quoted."""
    rows = connection.execute(
        select(jobs.c.id, jobs.c.last_error).where(jobs.c.user_id == user_id, jobs.c.last_error != "")
    ).all()
    for row in rows:
        if traces.are_in(row.last_error):
            connection.execute(update(jobs).where(jobs.c.id == row.id).values(last_error=""))


def _scrub_events(connection: Connection, doomed: _Doomed, entity_ids: Collection[str], traces: Traces) -> None:
    """Leave of each change that told of any of this one empty event, so that nobody undoes the rest of it."""
    conditions: list[Callable[[Sequence[str]], Any]] = [events.c.memory_id.in_, _names_one_of]
    found: set[tuple[int, str]] = set()
    for condition, ids in (
        *((each, doomed.memory_ids) for each in conditions),
        (events.c.fact_id.in_, doomed.fact_ids),
        (events.c.entity_id.in_, sorted(entity_ids)),
    ):
        for part in batches(ids):
            rows = connection.execute(select(events.c.sequence, events.c.change_id).where(condition(part)))
            found |= {(row.sequence, row.change_id) for row in rows}
    first: dict[str, int] = {}
    for sequence, change_id in sorted(found):
        first.setdefault(change_id, sequence)
    for others in batches(sorted({sequence for sequence, _ in found} - set(first.values()))):
        connection.execute(delete(events).where(events.c.sequence.in_(others)))
    empty = {"operation": PURGED, "memory_id": "", "entity_id": "", "fact_id": "", "reason": ""}
    for kept in batches(sorted(first.values())):
        nothing = {"before": None, "after": None}
        connection.execute(update(events).where(events.c.sequence.in_(kept)).values(**empty, **nothing))
    for changed in batches(sorted(first)):
        _clear_reasons(connection, changed, traces)


def _clear_reasons(connection: Connection, change_ids: Sequence[str], traces: Traces) -> None:
    told = connection.execute(
        select(events.c.sequence, events.c.reason).where(events.c.change_id.in_(change_ids), events.c.reason != "")
    ).all()
    for row in told:
        if traces.are_in(row.reason):
            connection.execute(update(events).where(events.c.sequence == row.sequence).values(reason=""))


def _tell(
    connection: Connection,
    owner: Owner,
    doomed: _Doomed,
    change_id: str,
    at: datetime,
    gone: Iterable[str],
    renamed: Sequence[Any],
) -> None:
    """Write the events of the purge: ids alone; by them the tables learn of it."""
    shared = {
        "change_id": change_id,
        "at": at,
        "user_id": owner.user_id,
        "client": owner.agent_id,
        "operation": PURGED,
        "memory_id": "",
        "entity_id": "",
        "fact_id": "",
        "before": None,
        "after": None,
        "reason": "",
    }
    rows = [shared | {"memory_id": each} for each in doomed.memory_ids]
    rows += [shared | {"entity_id": each} for each in sorted({*gone, *(entity.id for entity in renamed)})]
    connection.execute(insert(events), rows)
    # The revision says that the vector of the name is another now.
    for entity in renamed:
        connection.execute(update(entities).where(entities.c.id == entity.id).values(revision=change_id))
