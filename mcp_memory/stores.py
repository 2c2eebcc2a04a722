"""The open parts of one data folder: log, tables, model, and the index of each user in memory."""

import contextlib
import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from .embedder import Embedder
from .errors import ConflictError, McpMemoryError, StorageError
from .ids import IdSequence
from .index import UserIndex, load_index, load_vectors
from .log import Log
from .settings import Settings
from .swap import TablesFolder
from .tables import Tables, TablesDamagedError
from .waiting import Waiting

logger = logging.getLogger(__name__)

LOG_NAME = "log.sqlite3"
_MODEL, _DIMENSION, _PROMPT = "embedding_model", "embedding_dimension", "embedding_document_prompt"


class Stores:
    """Log, tables, model and indices of a data folder that this process holds.

    `writing` serialises changes; it is held over a log commit and what follows it in memory. `applying` serialises
    what brings the tables in line with the log, and is taken before `writing` where both are. Only the log is
    indispensable: without tables or model, adding and searching by words go on.
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
        self.applying = threading.RLock()
        self.rebuilding = threading.Lock()
        self._is_closing = False
        # What the tables are to learn of the changes since they were last written.
        self.waiting = Waiting()
        self.folder = TablesFolder(settings.home)
        # Why the tables have to be made anew, and why they were: '' for neither.
        self.damage = ""
        self.set_aside_because = ""
        self.log = Log(settings.home / LOG_NAME)
        self._tables: Tables | None = None
        self._document_prompt = ""
        self._indices: dict[str, UserIndex] = {}
        try:
            self.ids = IdSequence(self.log.last_id())
            # Whether the tables lag behind the log; then changes leave them to `reconcile`.
            self.is_behind = self.log.has_pending()
            # Whether their vectors may be relied upon: not after a kill or a power cut, until they have been compared.
            self.are_tables_checked = not self.log.are_tables_in_use
            self._check_model()
            self._check_log()
        except McpMemoryError:
            self.log.close()
            raise

    def _check_model(self) -> None:
        recorded = self.log.get_meta(_MODEL)
        if recorded and recorded != self.embedder.name:
            raise ConflictError(
                f"the folder {self.settings.home} was embedded with {recorded!r}, not {self.embedder.name!r}",
                hint=f"set MCP_MEMORY_EMBEDDING_MODEL={recorded}, or MCP_MEMORY_HOME to another folder",
            )

    def _check_log(self) -> None:
        """Refuse to start empty beside the tables of memories that an earlier log held."""
        if not self.dimension and any(self.tables_path.glob("memories.lance/data/*")):
            raise StorageError(
                f"{self.log.path} is new, but {self.tables_path} holds memories: the log was lost",
                hint=f"put {LOG_NAME} back from a copy; to start anew, move {self.tables_path} away",
            )

    @property
    def tables_path(self) -> Path:
        """Where LanceDB keeps its files."""
        return self.folder.path

    @property
    def dimension(self) -> int:
        """Length of the folder's vectors as recorded, 0 before the first."""
        return int(self.log.get_meta(_DIMENSION) or 0)

    def tables(self) -> Tables:
        """The open tables; the first time in a new folder this loads the model to learn its dimension.

        Raises:
            ModelUnavailableError: the folder is new and the model cannot be loaded.
            ConflictError: the model's dimension is not the recorded one.
            TablesDamagedError: LanceDB's files cannot be made sense of; `reconcile` makes them anew.
            StorageError: they cannot be read or written.
        """
        if self._tables is None:
            with self.writing:
                if self._tables is None:
                    self._tables = self._open_tables()
                    # What was loaded without tables has no vectors.
                    self._indices.clear()
        self._check_vectors(self._tables.dimension)
        return self._tables

    def recorded_dimension(self) -> int:
        """Length of the folder's vectors, recorded now where it was not; checks that the model makes such vectors.

        Raises:
            ModelUnavailableError, ConflictError: as `tables` does.
        """
        recorded = self.dimension
        dimension = recorded or self.embedder.dimension
        if recorded:
            self._document_prompt = self.log.get_meta(_PROMPT)
        else:
            self._document_prompt = self.embedder.prompts.document
        self._check_vectors(dimension)
        if not recorded:
            # Before the tables: without it their files would look like those of a lost log.
            made_by = {_MODEL: self.embedder.name, _DIMENSION: str(dimension), _PROMPT: self._document_prompt}
            self.log.set_meta(**made_by)
        return dimension

    def _open_tables(self) -> Tables:
        dimension = self.recorded_dimension()
        self.folder.recover()
        if not self.log.are_tables_in_use:
            self.log.mark_tables_in_use()
        return Tables(self.tables_path, dimension)

    def set_tables_aside(self, reason: str) -> None:
        """Move damaged tables away and open empty ones; `reconcile` fills them. Call with `applying` held.

        Raises:
            StorageError: they cannot be moved, or have been since the folder was opened: then it is not their fault.
        """
        if self.set_aside_because:
            raise StorageError(reason, hint="look at the disk: tables made anew were damaged again")
        with self.writing:
            self._tables = None
            self.folder.set_aside()
            self.damage, self.set_aside_because = "", reason
            self.is_behind = True
            self.waiting.drop()
            logger.warning(
                "the tables were moved to %s and are made anew from the log: %s", self.folder.damaged, reason
            )
            self._tables = self._open_tables()

    def exchange_tables(self) -> None:
        """Go over to the fresh tables, which hold everything, and to new indices. Call with both locks held."""
        self._tables = None
        self.folder.exchange()
        self._tables = self._open_tables()
        self.waiting.drop()
        self.log.mark_applied(self.log.last_event())
        self.is_behind, self.are_tables_checked, self.damage = False, True, ""
        self._indices.clear()

    def rely_on_tables(self) -> None:
        """Use the vectors of tables that have been compared with the log. Call with `writing` held."""
        if not self.are_tables_checked:
            self.are_tables_checked = True
            for user_id, index in self._indices.items():
                self._fill(index, user_id)

    def _fill(self, index: UserIndex, user_id: str) -> None:
        """Give an index the vectors that the tables hold, and those that wait to be written."""
        tables: Tables | None = None
        if self.dimension:
            # Whoever needs vectors meets the failure again, and reports it.
            with contextlib.suppress(McpMemoryError):
                tables = self.tables()
        if not tables or not self.are_tables_checked:
            return
        try:
            load_vectors(index, user_id, tables)
        except TablesDamagedError as exc:
            self.damage, self.is_behind = exc.message, True
        for memory_id, vectors in self.waiting.memory_vectors().items():
            index.put_vectors(memory_id, vectors)
        with index.lock:
            for entity_id, vector in self.waiting.entity_vectors().items():
                if entity_id in index.names.entities:
                    index.names.put_vector(entity_id, vector)

    def _check_vectors(self, dimension: int) -> None:
        """Refuse to mix vectors that cannot be compared. The query's prompt may change: no vector is kept of it."""
        if not self.embedder.is_loaded:
            return
        if dimension != self.embedder.dimension:
            raise ConflictError(
                f"the folder holds vectors of {dimension} numbers,"
                f" {self.embedder.name!r} makes {self.embedder.dimension}",
                hint="set MCP_MEMORY_EMBEDDING_MODEL to the model that the folder was made with",
            )
        if (prompt := self.embedder.prompts.document) != self._document_prompt:
            raise ConflictError(
                f"the folder's memories were embedded after the prompt {self._document_prompt!r},"
                f" {self.embedder.name!r} would now embed others after {prompt!r}",
                hint=f"set MCP_MEMORY_EMBEDDING_DOCUMENT_PROMPT to {self._document_prompt!r},"
                " or MCP_MEMORY_HOME to another folder",
            )

    @property
    def opened_tables(self) -> Tables | None:
        """The tables if they are open already."""
        return self._tables

    def index_of(self, user_id: str) -> UserIndex:
        """The in-memory index of a user, made on first use; without vectors where the tables cannot be read.

        Raises:
            StorageError: the log cannot be read.
        """
        if (index := self._indices.get(user_id)) is not None:
            # No lock: a search need not wait for a write in progress.
            return index
        with self.writing:
            if self.dimension:
                # Opening them for the first time makes indices void.
                with contextlib.suppress(McpMemoryError):
                    self.tables()
            if user_id not in self._indices:
                index = load_index(user_id, self.log, self.dimension or 1)
                self._fill(index, user_id)
                self._indices[user_id] = index
            return self._indices[user_id]

    def loaded_indices(self) -> dict[str, UserIndex]:
        """The indices in memory, by user."""
        return dict(self._indices)

    def begin_closing(self) -> None:
        """Have long work end after the batch that it is at; `close` is to follow. Safe to repeat."""
        self._is_closing = True

    @property
    def is_closing(self) -> bool:
        """Whether long work is not to be begun any more."""
        return self._is_closing

    def check_open(self) -> None:
        """Long work asks between its batches whether it is to go on.

        Raises:
            StorageError: the stores are being closed.
        """
        if self._is_closing:
            raise StorageError("the memory is being closed", hint="open it again: the work goes on where it stopped")

    def close(self) -> None:
        """Wait for a change in progress, have everything on the disk, close the log for good. Safe to repeat."""
        self.begin_closing()
        with self.applying, self.writing:
            if self._tables and self.are_tables_checked and not self.damage:
                # What cannot be brought to the disk is compared with the log the next time.
                with contextlib.suppress(McpMemoryError):
                    self._tables.sync()
                    self.log.mark_tables_safe()
            self.log.close()


def utc_now() -> datetime:
    """The present, aware."""
    return datetime.now(UTC)
