"""What a purge takes out of the log: rows by their ids, and everything that was ever said under them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from .changes import batches, facts_by_id, rows_by_id
from .schema import entity_links, events, facts, memories
from .text import content_hash, normalise

# A text as it is compared, and who said it.
Said = tuple[str, str]
# Words in these states are no memories that anybody finds: they led to others, or were deleted.
_GIVEN_WAY = ("distilled", "merged", "deleted")


@dataclass(frozen=True, slots=True)
class Doomed:
    """What goes. `texts` is all that these memories and their facts ever said, `said` the messages that said it."""

    user_id: str
    memory_ids: Sequence[str]
    fact_ids: Sequence[str]
    entity_ids: Collection[str]
    episode_ids: Collection[str]
    texts: Collection[str]
    said: Collection[Said]
    created_at: datetime

    def and_said(self, more: Collection[Said]) -> "Doomed":
        """The same, where other messages turn out to have said it as well."""
        return replace(self, said={*self.said, *more}, texts={*self.texts, *(text for text, _ in more)})


def doomed_with(connection: Connection, user_id: str, memory_ids: Sequence[str]) -> Doomed:
    """What goes with some memories; words that are the same as theirs and led elsewhere, or were deleted, among it."""
    first = _doomed(connection, user_id, memory_ids)
    twins = [each for each in _twins(connection, first) if each not in set(memory_ids)]
    return _doomed(connection, user_id, [*memory_ids, *twins]) if twins else first


def _doomed(connection: Connection, user_id: str, memory_ids: Sequence[str]) -> Doomed:
    rows = list(rows_by_id(connection, memory_ids).values())
    told = [*rows, *_told_in_events(connection, events.c.memory_id, memory_ids)]
    own_facts = _ids(connection, facts.c.id, facts.c.memory_id, memory_ids)
    from_here = _facts_told_by(connection, user_id, memory_ids)
    there = facts_by_id(connection, sorted(from_here - own_facts))
    strayed = {fact_id for fact_id, fact in there.items() if not _stands_by_itself(connection, fact)}
    fact_ids = sorted(own_facts | strayed | (from_here - own_facts - there.keys()))
    told_facts = [*facts_by_id(connection, fact_ids).values(), *_told_in_events(connection, events.c.fact_id, fact_ids)]
    entity_ids = {row[column] for row in told_facts for column in ("subject_id", "object_id")}
    entity_ids |= {each for row in told for each in row.get("entities", ())}
    entity_ids |= _ids(connection, entity_links.c.entity_id, entity_links.c.memory_id, memory_ids)
    said = [row for row in told if "text" in row]
    return Doomed(
        user_id=user_id,
        memory_ids=memory_ids,
        fact_ids=fact_ids,
        entity_ids=entity_ids - {""},
        episode_ids={row["episode_id"] for row in rows},
        texts={row["text"] for row in said} | {row["object"] for row in told_facts},
        said={(normalise(row["text"]), row["speaker"]) for row in said},
        created_at=min(row["created_at"] for row in rows),
    )


def _twins(connection: Connection, doomed: Doomed) -> list[str]:
    """Words that say the very same and that nobody finds: they are not somebody's memory of something else."""
    speakers = {content_hash(text): set[str]() for text, _ in doomed.said}
    for text, speaker in doomed.said:
        speakers[content_hash(text)].add(speaker)
    found: list[str] = []
    for part in batches(sorted(speakers)):
        rows = connection.execute(
            select(memories.c.id, memories.c.hash, memories.c.speaker).where(
                memories.c.user_id == doomed.user_id, memories.c.hash.in_(part), memories.c.state.in_(_GIVEN_WAY)
            )
        )
        found += [row.id for row in rows if row.speaker in speakers[row.hash]]
    return found


def living_twins(connection: Connection, doomed: Doomed) -> list[str]:
    """Other memories of the user that say the same word for word, and stay."""
    going = set(doomed.memory_ids)
    found: list[str] = []
    for part in batches(sorted({content_hash(text) for text, _ in doomed.said})):
        rows = connection.execute(
            select(memories.c.id).where(
                memories.c.user_id == doomed.user_id, memories.c.hash.in_(part), memories.c.state.not_in(_GIVEN_WAY)
            )
        )
        found += [row.id for row in rows if row.id not in going]
    return sorted(found)


def other_texts(connection: Connection, doomed: Doomed) -> Iterator[str]:
    """The texts of the user's other memories, deleted ones included: those can be brought back."""
    going = set(doomed.memory_ids)
    rows = connection.execute(select(memories.c.id, memories.c.text).where(memories.c.user_id == doomed.user_id))
    return (row.text for row in rows if row.id not in going)


def names_one_of(memory_ids: Sequence[str]) -> ColumnElement[bool]:
    """The condition on an event that it tells of a fact of one of these memories."""
    return and_(
        events.c.fact_id != "",
        or_(*(func.json_extract(side, "$.memory_id").in_(memory_ids) for side in (events.c.before, events.c.after))),
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
        of_these = select(events.c.fact_id).where(events.c.user_id == user_id, names_one_of(part))
        found |= set(connection.scalars(of_these))
    return found


def _stands_by_itself(connection: Connection, fact: Mapping[str, Any]) -> bool:
    """Whether the memory that a fact is of now says it in words of its own."""
    text = connection.scalar(select(memories.c.text).where(memories.c.id == fact["memory_id"]))
    return text is not None and normalise(fact["object"]) in normalise(text)
