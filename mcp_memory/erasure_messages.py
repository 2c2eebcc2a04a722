"""The words that purged memories came from, taken out of what was brought, whichever call brought them."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Connection, delete, select, update

from .changes import batches
from .doomed import Doomed, Said
from .schema import episodes, jobs, memories, messages
from .text import normalise


def blank_messages(connection: Connection, doomed: Doomed) -> Doomed:
    """Leave messages without words in their places; what is doomed, with all that these turn out to have said."""
    kept = _said_by_others(connection, doomed)
    doomed = doomed.and_said(_said_in_own_calls(connection, doomed, kept))
    rows = connection.execute(select(episodes.c.id, episodes.c.messages).where(episodes.c.user_id == doomed.user_id))
    touched: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        own = kept.get(row.id, set())
        is_going = [(key := _said(message)) in doomed.said and key not in own for message in row.messages]
        if any(is_going):
            touched[row.id] = [
                _blank(message) if goes else message for message, goes in zip(row.messages, is_going, strict=True)
            ]
    for episode_id, said in touched.items():
        of_it = jobs.c.episode_id == episode_id
        if any(message["content"] for message in said):
            connection.execute(update(episodes).where(episodes.c.id == episode_id).values(messages=said))
            connection.execute(update(jobs).where(of_it).values(last_error=""))
        else:
            connection.execute(delete(episodes).where(episodes.c.id == episode_id))
            connection.execute(delete(jobs).where(of_it))
    _delete_from_window(connection, doomed, kept)
    return doomed


def _said(message: Mapping[str, Any]) -> Said:
    return normalise(message["content"]), message["speaker"]


def _blank(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message without words: the places of the others stay what they are."""
    return {**message, "content": "", "speaker": ""}


def _said_by_others(connection: Connection, doomed: Doomed) -> dict[str, set[Said]]:
    """What memories that stay say word for word, by the episode that brought them."""
    going = set(doomed.memory_ids)
    said = {text for text, _ in doomed.said}
    found: dict[str, set[Said]] = {}
    rows = connection.execute(
        select(memories.c.id, memories.c.episode_id, memories.c.text, memories.c.speaker).where(
            memories.c.user_id == doomed.user_id, memories.c.state != "deleted"
        )
    )
    for row in rows:
        if row.id not in going and (row.episode_id in doomed.episode_ids or normalise(row.text) in said):
            found.setdefault(row.episode_id, set()).add((normalise(row.text), row.speaker))
    return found


def _said_in_own_calls(connection: Connection, doomed: Doomed, kept: Mapping[str, Collection[Said]]) -> set[Said]:
    """Where what a memory came from cannot be told from the rest of its call: all of that that others did not say."""
    found: set[Said] = set()
    for part in batches(sorted(doomed.episode_ids)):
        rows = connection.execute(select(episodes.c.id, episodes.c.messages).where(episodes.c.id.in_(part)))
        for row in rows:
            keys = {_said(message) for message in row.messages if message["content"]}
            if keys.isdisjoint(doomed.said):
                found |= keys - set(kept.get(row.id, ()))
    return found


def _delete_from_window(connection: Connection, doomed: Doomed, kept: Mapping[str, Collection[Said]]) -> None:
    columns = (messages.c.sequence, messages.c.episode_id, messages.c.content, messages.c.speaker)
    rows = connection.execute(select(*columns).where(messages.c.user_id == doomed.user_id)).all()
    going = [
        row.sequence
        for row in rows
        if (key := (normalise(row.content), row.speaker)) in doomed.said and key not in kept.get(row.episode_id, ())
    ]
    for part in batches(going):
        connection.execute(delete(messages).where(messages.c.sequence.in_(part)))
