"""A change to the stores: the log and the index in memory at once; what the tables are to learn of it waits."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .index import UserIndex
from .log import Committed
from .records import SEARCHABLE, Change, Entity, Memory
from .score import Floats
from .stores import Stores


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a change led to: entities that lost their last link. `change_id` is what it is undone by."""

    change_id: str
    removed_entities: tuple[Entity, ...]


def commit(
    change: Change,
    stores: Stores,
    memory_vectors: Mapping[str, Floats] | None = None,
    entity_vectors: Mapping[str, Floats] | None = None,
    then: Callable[[Any], None] = lambda _connection: None,
) -> Outcome:
    """Write a change to the log and the index in memory. Call with `stores.writing` held.

    Once the log has it the change stands, and with the index the next search finds it. The tables learn of it
    from `stores.waiting`, or by `reconcile` where they lag behind or vectors are missing. `then` writes more to the log
    in the same transaction.

    Raises:
        StorageError: the log could not write; nothing has changed.
    """
    memory_vectors, entity_vectors = memory_vectors or {}, entity_vectors or {}
    committed = stores.log.commit(change, then)
    index = stores.loaded_indices().get(change.owner.user_id)
    if index is not None:
        _update_index(index, change, committed, memory_vectors, entity_vectors)
    if not stores.is_behind:
        _leave_for_tables(change, committed, stores, memory_vectors, entity_vectors)
    return Outcome(change.id, committed.removed_entities)


def kept_vectors(memories: Iterable[Memory], stores: Stores) -> dict[str, Floats]:
    """The vectors that memories have: those that change in state and times only keep theirs."""
    found: dict[str, Floats] = {}
    for memory in memories:
        vectors = stores.index_of(memory.user_id).vectors_of(memory.id)
        if vectors is not None:
            found[memory.id] = vectors
    return found


def _update_index(
    index: UserIndex,
    change: Change,
    committed: Committed,
    memory_vectors: Mapping[str, Floats],
    entity_vectors: Mapping[str, Floats],
) -> None:
    with index.lock:
        for memory in change.memories:
            if memory.state not in SEARCHABLE:
                index.remove(memory.id)
                continue
            index.put(memory, memory.lemmas.split(), len(memory.text))
            if memory.id in memory_vectors:
                index.put_vectors(memory.id, memory_vectors[memory.id])
            elif memory.id in committed.reworded:
                index.drop_vectors(memory.id)
        _update_names(index, change, committed, entity_vectors)


def _update_names(index: UserIndex, change: Change, committed: Committed, entity_vectors: Mapping[str, Floats]) -> None:
    names = index.names
    for entity in committed.entities:
        names.put(entity)
    for entity in committed.removed_entities:
        names.remove(entity.id)
    for entity_id, _, key in change.aliases:
        if entity_id in names.entities:
            names.put(names.entities[entity_id], [key])
    for entity_id, key in change.gone_aliases:
        names.take_key(entity_id, key)
    for entity_id, vector in entity_vectors.items():
        if entity_id in names.entities:
            names.put_vector(entity_id, vector)
    _update_links(index, change)


def _update_links(index: UserIndex, change: Change) -> None:
    names = index.names
    for memory_id, entity_id in change.links:
        if memory_id in index.row_of:
            names.link(entity_id, index.row_of[memory_id])
    for memory_id, entity_id in change.unlinks:
        if memory_id in index.row_of:
            names.take_link(entity_id, index.row_of[memory_id])


def _leave_for_tables(
    change: Change,
    committed: Committed,
    stores: Stores,
    memory_vectors: Mapping[str, Floats],
    entity_vectors: Mapping[str, Floats],
) -> None:
    kept = [memory for memory in change.memories if memory.state in SEARCHABLE]
    have_vectors = all(memory.id in memory_vectors for memory in kept)
    if not have_vectors or not all(entity.id in entity_vectors for entity in change.entities):
        stores.is_behind = True
        return
    group = stores.waiting.growing
    for memory in change.memories:
        is_kept = memory.state in SEARCHABLE
        was_to_go = memory.id in group.memories and group.memories[memory.id] is None
        if is_kept and (was_to_go or memory.id in committed.reworded):
            group.outdated.add(memory.id)
        group.memories[memory.id] = (memory, memory_vectors[memory.id]) if is_kept else None
    for entity in change.entities:
        group.entities[entity.id] = (entity, entity_vectors[entity.id])
    for entity in committed.removed_entities:
        group.entities[entity.id] = None
    group.through = committed.through
