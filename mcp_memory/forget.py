"""The forgetting pipeline: out of search at once, in one change that keeps what was, so that it can be undone."""

from dataclasses import replace

from .errors import NotFoundError
from .ids import canonical
from .records import Change, DeleteResult, Memory, Owner
from .store import commit
from .stores import Stores


def delete(memory_id: str, owner: Owner, stores: Stores) -> DeleteResult:
    """Delete one memory of this user, with its links and the entities that only it named.

    Words that it was read out of go with it, once nothing else that came of them is left.

    Raises:
        NotFoundError: no such memory, or already deleted. Another user's memory is as good as none.
    """
    with stores.writing:
        memory = _find(memory_id, owner, stores)
        now = stores.clock()
        change_id = stores.ids.next(now)
        change = Change(
            id=change_id,
            at=now,
            owner=owner,
            operation="delete",
            memories=tuple(
                replace(gone, state="deleted", updated_at=now, revision=change_id)
                for gone in (memory, *_words_of(memory, stores))
            ),
        )
        outcome = commit(change, stores)
    return DeleteResult(memory.id, memory.text, tuple(sorted(entity.name for entity in outcome.removed_entities)))


def _words_of(memory: Memory, stores: Stores) -> list[Memory]:
    """The distilled words of which nothing but this memory is left."""
    words = stores.log.led_to(memory)
    others = {identifier for row in words for identifier in row.superseded_by.split()} - {memory.id}
    left = {row.id for row in stores.log.get_memories(sorted(others)).values() if row.state != "deleted"}
    return [row for row in words if left.isdisjoint(row.superseded_by.split())]


def _find(memory_id: str, owner: Owner, stores: Stores) -> Memory:
    wanted = canonical(memory_id)
    if wanted is None:
        raise NotFoundError(
            f"{memory_id!r} is no memory id: ids have 12 characters, as search_memory shows them",
            hint="search for the text and use the id of the hit",
        )
    memory = stores.log.get_memories([wanted]).get(wanted)
    if memory is None or memory.user_id != owner.user_id:
        raise NotFoundError(f"there is no memory {wanted!r}", hint="search for the text and use the id of the hit")
    if memory.state == "deleted":
        raise NotFoundError(
            f"memory {wanted!r} was deleted on {memory.updated_at.date().isoformat()}",
            hint="nothing is left to do",
        )
    if memory.state == "distilled" and memory.superseded_by:
        raise NotFoundError(
            f"memory {wanted!r} has given way to what was read out of it: {', '.join(memory.superseded_by.split())}",
            hint="delete those; the words go with the last of them",
        )
    if memory.state == "merged":
        raise NotFoundError(
            f"memory {wanted!r} says the same as {memory.superseded_by} and was merged into it", hint="delete that one"
        )
    return memory
