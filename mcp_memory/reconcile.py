"""The tables brought in line with the log: what is pending, what is missing, what should not be there."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

from .records import SEARCHABLE, Memory
from .stores import Stores
from .text import heading

# Rows embedded and written at a time; changes go on between the batches.
BATCH = 128

OnProgress = Callable[[int, int], None]


def catch_up(stores: Stores, on_progress: OnProgress = lambda _done, _total: None) -> int:
    """Write to the tables what the log has and they have not; returns the number of rows.

    First what the events say is pending, then whatever differs by id, so that a folder whose tables were
    lost is made whole again. Repeating it is safe: every write is by id, from the log's present state.
    `on_progress` hears (done, total) after each batch.

    Raises:
        ModelUnavailableError, ConflictError, StorageError: nothing is lost, the rest stays as it is.
    """
    stores.tables()
    memory_ids, entity_ids = _differences(stores)
    done, total = 0, len(memory_ids) + len(entity_ids)
    for batch in _batches(memory_ids):
        with stores.writing:
            _write_memories(stores, batch)
        done += len(batch)
        on_progress(done, total)
    for batch in _batches(entity_ids):
        with stores.writing:
            _write_entities(stores, batch)
        done += len(batch)
        on_progress(done, total)
    with stores.writing:
        # Changes made meanwhile left their rows here.
        pending = stores.log.pending()
        _write_memories(stores, pending.memory_ids)
        _write_entities(stores, pending.entity_ids)
        stores.log.mark_applied(pending.through)
        stores.is_behind = False
    return total


def embedded_form(memory: Memory) -> tuple[str, str]:
    """(heading, text) of a memory as it is embedded: a pure function of date, speaker and text."""
    return heading(memory.observed_at, memory.speaker), memory.text


def _differences(stores: Stores) -> tuple[list[str], list[str]]:
    """Ids of memories and entities to be written or removed: pending ones, and those of one side only."""
    with stores.writing:
        pending = stores.log.pending()
        tables = stores.tables()
        memories = _differing(stores.log.searchable_ids(), tables.memory_ids(), pending.memory_ids)
        entities = _differing(stores.log.entity_ids(), tables.entity_ids(), pending.entity_ids)
        # From here on changes leave the tables to this function, or its later batches would undo them.
        if memories or entities:
            stores.is_behind = True
    return memories, entities


def _differing(wanted: set[str], held: Sequence[str], pending: Collection[str]) -> list[str]:
    doubled = {identifier for identifier, n in Counter(held).items() if n > 1}
    return sorted((wanted ^ set(held)) | doubled | set(pending))


def _write_memories(stores: Stores, ids: Sequence[str]) -> None:
    """Write or remove rows by their ids, as the log has them now."""
    if not ids:
        return
    kept = [memory for memory in stores.log.get_memories(ids).values() if memory.state in SEARCHABLE]
    embedded = stores.embedder.embed_texts([embedded_form(memory) for memory in kept])
    vectors = {memory.id: made for memory, made in zip(kept, embedded, strict=True)}
    tables = stores.tables()
    # Removed first in any case: a doubled row is not mended by an upsert.
    tables.delete_memories(ids)
    tables.put_memories(kept, vectors)
    indices = stores.loaded_indices()
    for memory in kept:
        if memory.user_id in indices:
            indices[memory.user_id].put_vectors(memory.id, vectors[memory.id])


def _write_entities(stores: Stores, ids: Sequence[str]) -> None:
    if not ids:
        return
    found = stores.log.get_entities(ids=ids)
    vectors = dict(zip([e.id for e in found], stores.embedder.embed_names([e.name for e in found]), strict=True))
    tables = stores.tables()
    tables.delete_entities(ids)
    tables.put_entities(found, vectors)
    indices = stores.loaded_indices()
    for entity in found:
        if entity.user_id in indices:
            index = indices[entity.user_id]
            with index.lock:
                index.names.put_vector(entity.id, vectors[entity.id])


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]
