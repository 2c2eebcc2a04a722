"""A change to the stores: the log first, then what derives from it."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from .changes import Committed
from .errors import McpMemoryError
from .index import UserIndex
from .records import SEARCHABLE, Change, Entity
from .score import Floats
from .stores import Stores

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a change led to: entities that lost their last link, and '' or why the tables lag behind."""

    removed_entities: tuple[Entity, ...]
    lag: str = ""


def commit(
    change: Change,
    stores: Stores,
    memory_vectors: Mapping[str, Floats] | None = None,
    entity_vectors: Mapping[str, Floats] | None = None,
) -> Outcome:
    """Write a change to the log, then to the index in memory and the tables. Call with `stores.writing` held.

    Once the log has it the change stands, and with the index the next search finds it. A failure of the
    tables leaves it pending, for `reconcile`, and is reported and not raised. So are missing vectors.

    Raises:
        StorageError: the log could not write; nothing has changed.
    """
    memory_vectors, entity_vectors = memory_vectors or {}, entity_vectors or {}
    committed = stores.log.commit(change)
    index = stores.loaded_indices().get(change.owner.user_id)
    if index is not None:
        _update_index(index, change, committed, memory_vectors, entity_vectors)
    lag = ""
    if not stores.is_behind:
        try:
            _update_tables(change, committed, stores, memory_vectors, entity_vectors)
        except McpMemoryError as exc:
            logger.warning("change %s is in the log, not yet in the tables: %s", change.id, exc)
            stores.is_behind, lag = True, exc.message
    return Outcome(committed.removed_entities, lag)


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
    for entity_id, vector in entity_vectors.items():
        names.put_vector(entity_id, vector)
    for memory_id, entity_id in change.links:
        if memory_id in index.row_of:
            names.link(entity_id, index.row_of[memory_id])


def _update_tables(
    change: Change,
    committed: Committed,
    stores: Stores,
    memory_vectors: Mapping[str, Floats],
    entity_vectors: Mapping[str, Floats],
) -> None:
    kept = [memory for memory in change.memories if memory.state in SEARCHABLE]
    gone = [memory.id for memory in change.memories if memory.state not in SEARCHABLE]
    have_vectors = all(memory.id in memory_vectors for memory in kept)
    if not have_vectors or not all(entity.id in entity_vectors for entity in change.entities):
        stores.is_behind = True
        return
    tables = stores.tables()
    tables.put_memories(kept, memory_vectors)
    tables.put_entities(change.entities, entity_vectors)
    tables.delete_memories(gone)
    tables.delete_entities([entity.id for entity in committed.removed_entities])
    stores.log.mark_applied(committed.through)
