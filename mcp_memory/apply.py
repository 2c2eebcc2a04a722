"""Rows written to tables: groups of changes as they wait in memory, or by their ids as the log has them now."""

from collections.abc import Sequence

from .embedder import Embedder
from .log import Log
from .records import SEARCHABLE, Entity, Memory
from .score import Floats
from .stores import Stores
from .tables import Tables
from .text import heading
from .waiting import Group

# Rows embedded and written at a time; changes go on between the batches.
BATCH = 128


def apply_waiting(stores: Stores) -> None:
    """Write what waits to the tables, in one group.

    Raises:
        StorageError, ModelUnavailableError, ConflictError: nothing is lost; it is left to `reconcile`, like all later
            changes until that has worked.
    """
    with stores.applying:
        with stores.writing:
            if not len(stores.waiting):
                return
            group = stores.waiting.take()
        try:
            _write(group, stores.tables())
        except BaseException:
            with stores.writing:
                stores.is_behind = True
                stores.waiting.drop()
            raise
        with stores.writing:
            stores.waiting.settle()
            stores.log.mark_applied(group.through)


def _write(group: Group, tables: Tables) -> None:
    memories = [row for row in group.memories.values() if row]
    entities = [row for row in group.entities.values() if row]
    tables.delete_memories(sorted(group.outdated))
    tables.put_memories([memory for memory, _ in memories], {memory.id: vectors for memory, vectors in memories})
    tables.put_entities([entity for entity, _ in entities], {entity.id: vector for entity, vector in entities})
    tables.delete_memories([identifier for identifier, row in group.memories.items() if row is None])
    tables.delete_entities([identifier for identifier, row in group.entities.items() if row is None])


def write_pending(stores: Stores) -> None:
    """Write what the log's events say is pending, and end the tables' lag. Call with both locks held."""
    pending = stores.log.pending()
    tables = stores.tables()
    write_memories(stores, tables, pending.memory_ids)
    write_entities(stores, tables, pending.entity_ids)
    stores.log.mark_applied(pending.through)
    stores.is_behind = False


def write_memories(stores: Stores, tables: Tables, ids: Sequence[str]) -> None:
    """Write or remove rows of the tables in use by their ids, as the log has them now, and update the indices."""
    indices = stores.loaded_indices()
    for memory, vectors in put_memories(stores.log, stores.embedder, tables, ids):
        if memory.user_id in indices:
            indices[memory.user_id].put_vectors(memory.id, vectors)


def write_entities(stores: Stores, tables: Tables, ids: Sequence[str]) -> None:
    """Write or remove entities of the tables in use by their ids, as the log has them now, and update the indices."""
    indices = stores.loaded_indices()
    for entity, vector in put_entities(stores.log, stores.embedder, tables, ids):
        if entity.user_id in indices:
            index = indices[entity.user_id]
            with index.lock:
                index.names.put_vector(entity.id, vector)


def put_memories(log: Log, embedder: Embedder, tables: Tables, ids: Sequence[str]) -> list[tuple[Memory, Floats]]:
    """Have tables hold of these ids what the log has now; returns that, with the vectors it was given."""
    if not ids:
        return []
    kept = [memory for memory in log.get_memories(ids).values() if memory.state in SEARCHABLE]
    vectors = embedder.embed_texts([embedded_form(memory) for memory in kept])
    # Removed first in any case: a doubled row is not mended by an upsert.
    tables.delete_memories(ids)
    tables.put_memories(kept, {memory.id: made for memory, made in zip(kept, vectors, strict=True)})
    return list(zip(kept, vectors, strict=True))


def put_entities(log: Log, embedder: Embedder, tables: Tables, ids: Sequence[str]) -> list[tuple[Entity, Floats]]:
    """The same for entities."""
    if not ids:
        return []
    found = log.get_entities(ids=ids)
    vectors = embedder.embed_names([entity.name for entity in found])
    tables.delete_entities(ids)
    tables.put_entities(found, {entity.id: vector for entity, vector in zip(found, vectors, strict=True)})
    return list(zip(found, vectors, strict=True))


def embedded_form(memory: Memory) -> tuple[str, str]:
    """(heading, text) of a memory as it is embedded: a pure function of date, speaker and text."""
    return heading(memory.observed_at, memory.speaker), memory.text
