"""The forgetting pipeline: out of search at once, in one change that keeps what was, so that it can be undone."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from .admit import Admitted
from .knowledge import facts_of_memories
from .lookup import find_kept
from .records import Change, DeleteResult, Memory, Owner
from .resolve import Resolution
from .settle import settle
from .store import Outcome, commit, kept_vectors
from .stores import Stores


def delete(memory_id: str, owner: Owner, stores: Stores) -> DeleteResult:
    """Delete one memory of this user, with its links and the entities that only it named.

    Words that it was read out of go with it, once nothing else that came of them is left. What only it had ended holds
    again.

    Raises:
        NotFoundError: no such memory, or already deleted. Another user's memory is as good as none.
    """
    with stores.writing:
        memory = find_kept(memory_id, owner.user_id, stores.log, to="delete")
        outcome = delete_all([memory], owner, stores)
    return DeleteResult(memory.id, memory.text, tuple(sorted(entity.name for entity in outcome.removed_entities)))


def delete_all(
    memories: Sequence[Memory],
    owner: Owner,
    stores: Stores,
    then: Callable[[Any], None] = lambda _connection: None,
) -> Outcome:
    """Delete memories of one user in one change, as `delete` does each. Call it with `stores.writing` held.

    `then` writes more to the log in the same transaction.

    Raises:
        StorageError: nothing was deleted.
    """
    now = stores.clock()
    change_id = stores.ids.next(now)
    going = {memory.id: memory for memory in memories}
    going |= {words.id: words for words in _words_of(memories, stores)}
    facts = facts_of_memories(stores.log, list(going))
    # What only these had ended holds again.
    said = [fact for each in facts.values() for fact in each]
    settled = settle({}, Admitted({}, {}, ()), Resolution(), stores, change_id, withdrawn=said)
    known = [memory for memory in settled.known if memory.id not in going]
    change = Change(
        id=change_id,
        at=now,
        owner=owner,
        operation="delete",
        memories=(
            *(replace(gone, state="deleted", updated_at=now, revision=change_id) for gone in going.values()),
            *known,
        ),
        facts=settled.facts,
    )
    return commit(change, stores, kept_vectors(known, stores), then=then)


def _words_of(memories: Sequence[Memory], stores: Stores) -> list[Memory]:
    """The distilled words of which nothing but these memories is left."""
    words = stores.log.led_to(memories)
    others = {identifier for row in words for identifier in row.superseded_by.split()} - {each.id for each in memories}
    left = {row.id for row in stores.log.get_memories(sorted(others)).values() if row.state != "deleted"}
    return [row for row in words if left.isdisjoint(row.superseded_by.split())]
