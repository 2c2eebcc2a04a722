"""Rows written to tables: groups of changes as they wait in memory, or by their ids as the log has them now."""

from collections.abc import Sequence

from .records import SEARCHABLE, Memory
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
    """Write or remove rows by their ids, as the log has them now."""
    if not ids:
        return
    kept = [memory for memory in stores.log.get_memories(ids).values() if memory.state in SEARCHABLE]
    embedded = stores.embedder.embed_texts([embedded_form(memory) for memory in kept])
    vectors = {memory.id: made for memory, made in zip(kept, embedded, strict=True)}
    # Removed first in any case: a doubled row is not mended by an upsert.
    tables.delete_memories(ids)
    tables.put_memories(kept, vectors)
    indices = stores.loaded_indices()
    for memory in kept:
        if memory.user_id in indices:
            indices[memory.user_id].put_vectors(memory.id, vectors[memory.id])


def write_entities(stores: Stores, tables: Tables, ids: Sequence[str]) -> None:
    """Write or remove entities by their ids, as the log has them now."""
    if not ids:
        return
    found = stores.log.get_entities(ids=ids)
    vectors = dict(zip([e.id for e in found], stores.embedder.embed_names([e.name for e in found]), strict=True))
    tables.delete_entities(ids)
    tables.put_entities(found, vectors)
    indices = stores.loaded_indices()
    for entity in found:
        if entity.user_id in indices:
            index = indices[entity.user_id]
            with index.lock:
                index.names.put_vector(entity.id, vectors[entity.id])


def embedded_form(memory: Memory) -> tuple[str, str]:
    """(heading, text) of a memory as it is embedded: a pure function of date, speaker and text."""
    return heading(memory.observed_at, memory.speaker), memory.text
