"""The open parts of one data folder: log, tables, model, and the index of each user in memory."""

import contextlib
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from .embedder import Embedder
from .errors import ConflictError, McpMemoryError, StorageError
from .ids import IdSequence
from .index import UserIndex, load_index
from .log import Log
from .settings import Settings
from .tables import Tables

LOG_NAME = "log.sqlite3"
TABLES_NAME = "lancedb"
_MODEL, _DIMENSION, _PROMPT = "embedding_model", "embedding_dimension", "embedding_document_prompt"


class Stores:
    """Log, tables, model and indices of a data folder that this process holds.

    `writing` serialises changes; it is held over a log commit and the writes that follow it. Only the log is
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
        self.log = Log(settings.home / LOG_NAME)
        self._tables: Tables | None = None
        self._document_prompt = ""
        self._indices: dict[str, UserIndex] = {}
        try:
            self.ids = IdSequence(self.log.last_id())
            # Whether the tables lag behind the log; then changes leave them to `reconcile`.
            self.is_behind = self.log.has_pending()
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
        if self._tables is None:
            with self.writing:
                if self._tables is None:
                    self._tables = self._open_tables()
                    # What was loaded without tables has no vectors.
                    self._indices.clear()
        self._check_vectors(self._tables.dimension)
        return self._tables

    def _open_tables(self) -> Tables:
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
        return Tables(self.tables_path, dimension)

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
            tables: Tables | None = None
            if self.dimension:
                # Whoever needs vectors meets the failure again, and reports it.
                with contextlib.suppress(McpMemoryError):
                    tables = self.tables()
            if user_id not in self._indices:
                self._indices[user_id] = load_index(user_id, self.log, tables, self.dimension or 1)
            return self._indices[user_id]

    def loaded_indices(self) -> dict[str, UserIndex]:
        """The indices in memory, by user."""
        return dict(self._indices)

    def close(self) -> None:
        """Wait for a change in progress, then close the log for good. Safe to repeat."""
        with self.writing:
            self.log.close()


def utc_now() -> datetime:
    """The present, aware."""
    return datetime.now(UTC)
