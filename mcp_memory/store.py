"""The stores of one data folder, and the one way to change them: the log first, then what derives from it."""

import logging
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from .embedder import Embedder
from .errors import ConflictError, McpMemoryError
from .ids import IdSequence
from .index import UserIndex, load_index
from .log import Log
from .records import Change, Entity, Memory
from .score import Floats
from .settings import Settings
from .tables import Tables
from .text import heading

logger = logging.getLogger(__name__)

LOG_NAME = "log.sqlite3"
TABLES_NAME = "lancedb"
_MODEL, _DIMENSION = "embedding_model", "embedding_dimension"
# Rows embedded and written at a time when catching up.
_BATCH = 256


class Stores:
    """Log, tables, model and indices of a data folder that this process holds.

    `writing` serialises changes; it is held over a log commit and the writes that follow it.
    """

    def __init__(self, settings: Settings, embedder: Embedder, clock: Callable[[], datetime]) -> None:
        """Open the log; the tables and the model come when they are first needed.

        Raises:
            ConflictError: the folder was made with another embedding model.
            StorageError: the log cannot be opened.
        """
        self.settings = settings
        self.embedder = embedder
        self.clock = clock
        self.writing = threading.RLock()
        self.log = Log(settings.home / LOG_NAME)
        self.ids = IdSequence(self.log.last_id())
        self._opening = threading.RLock()
        self._tables: Tables | None = None
        self._indices: dict[str, UserIndex] = {}
        try:
            self._check_model()
        except ConflictError:
            self.log.close()
            raise

    def _check_model(self) -> None:
        recorded = self.log.get_meta(_MODEL)
        if recorded and recorded != self.embedder.name:
            raise ConflictError(
                f"the folder {self.settings.home} was embedded with {recorded!r}, not {self.embedder.name!r}",
                hint=f"set MCP_MEMORY_EMBEDDING_MODEL={recorded}, or MCP_MEMORY_HOME to another folder",
            )

    @property
    def tables_path(self) -> Path:
        """Where LanceDB keeps its files."""
        return self.settings.home / TABLES_NAME

    @property
    def dimension(self) -> int:
        """Length of the folder's vectors as recorded, 0 before the first."""
        return int(self.log.get_meta(_DIMENSION) or 0)

    def tables(self) -> Tables:
        """The open tables; the first time in a new folder this loads the model to learn its dimension.

        Raises:
            ModelUnavailableError: the folder is new and the model cannot be loaded.
            ConflictError: the model's dimension is not the recorded one.
            StorageError: LanceDB's files cannot be used.
        """
        with self._opening:
            if self._tables is None:
                recorded = self.dimension
                dimension = recorded or self.embedder.dimension
                if self.embedder.is_loaded and dimension != self.embedder.dimension:
                    raise ConflictError(
                        f"the folder holds vectors of {dimension} numbers,"
                        f" {self.embedder.name!r} makes {self.embedder.dimension}",
                        hint="set MCP_MEMORY_EMBEDDING_MODEL to the model that the folder was made with",
                    )
                self._tables = Tables(self.tables_path, dimension)
                if not recorded:
                    self.log.set_meta(**{_MODEL: self.embedder.name, _DIMENSION: str(dimension)})
                    self._indices.clear()
            return self._tables

    def index_of(self, user_id: str) -> UserIndex:
        """The in-memory index of a user, made on first use."""
        with self.writing, self._opening:
            if user_id not in self._indices:
                self._indices[user_id] = load_index(
                    user_id, self.log, self.tables() if self.dimension else None, self.dimension or 1
                )
            return self._indices[user_id]

    def loaded_indices(self) -> dict[str, UserIndex]:
        """The indices in memory, by user."""
        return dict(self._indices)

    def close(self) -> None:
        """Close the log. Safe to repeat."""
        self.log.close()


def utc_now() -> datetime:
    """The present, aware."""
    return datetime.now(UTC)


def commit(
    change: Change,
    stores: Stores,
    memory_vectors: Mapping[str, Floats] | None = None,
    entity_vectors: Mapping[str, Floats] | None = None,
) -> str:
    """Write a change to the log, then to everything that derives from it; returns '' or what lags behind.

    Once the log has it the change stands. A failure after that leaves it pending, to be applied by the next
    change or the next start, and is reported and not raised. Call with `stores.writing` held.

    Raises:
        StorageError: the log could not write; nothing has changed.
    """
    committed = stores.log.commit(change)
    index = stores.loaded_indices().get(change.owner.user_id)
    if index is not None:
        _update_index(index, change, committed.entities, committed.removed_entities)
    try:
        apply_pending(stores, memory_vectors or {}, entity_vectors or {})
    except McpMemoryError as exc:
        logger.warning("change %s is in the log, not yet in the tables: %s", change.id, exc)
        return exc.message
    return ""


def _update_index(index: UserIndex, change: Change, kept: tuple[Entity, ...], removed: tuple[Entity, ...]) -> None:
    with index.lock:
        for memory in change.memories:
            if memory.state == "deleted":
                index.remove(memory.id)
            else:
                index.put(memory, memory.lemmas.split(), len(memory.text))
        for entity in kept:
            index.names.put(entity)
        for entity in removed:
            index.names.remove(entity.id)
        for entity_id, _, key in change.aliases:
            if entity_id in index.names.entities:
                index.names.put(index.names.entities[entity_id], [key])
        for memory_id, entity_id in change.links:
            if memory_id in index.row_of:
                index.names.link(entity_id, index.row_of[memory_id])


def apply_pending(
    stores: Stores,
    memory_vectors: Mapping[str, Floats],
    entity_vectors: Mapping[str, Floats],
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> int:
    """Bring tables and vectors up to the log; returns how many rows were written or removed.

    Vectors at hand are used, others are computed. Repeating it is safe: every write is by id, from the log's
    present state. `on_progress` hears (done, total) after each batch.

    Raises:
        ModelUnavailableError, StorageError: nothing is lost, the rest stays pending.
    """
    with stores.writing:
        pending = stores.log.pending()
        total = len(pending.memory_ids) + len(pending.entity_ids)
        if not total:
            return 0
        for start in range(0, len(pending.memory_ids), _BATCH):
            _apply_memories(stores, pending.memory_ids[start : start + _BATCH], memory_vectors)
            on_progress(min(start + _BATCH, len(pending.memory_ids)), total)
        for start in range(0, len(pending.entity_ids), _BATCH):
            _apply_entities(stores, pending.entity_ids[start : start + _BATCH], entity_vectors)
        on_progress(total, total)
        stores.log.mark_applied(pending.through)
        return total


def _apply_memories(stores: Stores, ids: tuple[str, ...], vectors: Mapping[str, Floats]) -> None:
    found = stores.log.get_memories(ids)
    kept = [memory for memory in found.values() if memory.state != "deleted"]
    missing = [memory for memory in kept if memory.id not in vectors]
    computed = stores.embedder.embed_texts([embedded_form(memory) for memory in missing]) if missing else []
    vectors = dict(vectors) | {memory.id: made for memory, made in zip(missing, computed, strict=True)}
    tables = stores.tables()
    tables.put_memories(kept, vectors)
    gone = [identifier for identifier in ids if identifier not in {memory.id for memory in kept}]
    if gone:
        tables.delete_memories(gone)
    indices = stores.loaded_indices()
    for memory in kept:
        if memory.user_id in indices:
            indices[memory.user_id].put_vectors(memory.id, vectors[memory.id])


def _apply_entities(stores: Stores, ids: tuple[str, ...], vectors: Mapping[str, Floats]) -> None:
    found = stores.log.get_entities(ids=ids)
    missing = [entity for entity in found if entity.id not in vectors]
    computed = stores.embedder.embed_names([entity.name for entity in missing])
    vectors = dict(vectors) | {entity.id: made for entity, made in zip(missing, computed, strict=True)}
    tables = stores.tables()
    tables.put_entities(found, vectors)
    gone = [identifier for identifier in ids if identifier not in {entity.id for entity in found}]
    if gone:
        tables.delete_entities(gone)
    indices = stores.loaded_indices()
    for entity in found:
        if entity.user_id in indices:
            indices[entity.user_id].names.put_vector(entity.id, vectors[entity.id])


def embedded_form(memory: Memory) -> tuple[str, str]:
    """(heading, text) of a memory as it is embedded: a pure function of date, speaker and text."""
    return heading(memory.observed_at, memory.speaker), memory.text
