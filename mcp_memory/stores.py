"""The open parts of one data folder: log, tables, model, and the index of each user in memory."""

import contextlib
import logging
import shlex
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from .embedder import Embedder, full_name
from .erasure import is_unfinished
from .errors import ConflictError, McpMemoryError, StorageError
from .ids import IdSequence
from .index import UserIndex, load_index, load_vectors
from .log import Log
from .made_by import MadeBy, write_made_by
from .records import PACKAGED_MODEL
from .settings import Settings
from .swap import TablesFolder
from .tables import Tables, TablesDamagedError
from .waiting import Waiting

logger = logging.getLogger(__name__)

LOG_NAME = "log.sqlite3"
_MODEL, _DIMENSION, _PROMPT = "embedding_model", "embedding_dimension", "embedding_document_prompt"


@dataclass(slots=True)
class _Space:
    """Vectors that can be compared: the model that makes them, and where they are, on the disk and in memory.

    It is replaced as a whole, so that whoever takes hold of it once finds parts that belong together.
    """

    embedder: Embedder
    # What is recorded of the vectors, None before the first.
    made_by: MadeBy | None
    tables: Tables | None = None
    indices: dict[str, UserIndex] = field(default_factory=dict)


class Stores:
    """Log, tables, model and indices of a data folder that this process holds.

    `writing` serialises changes; it is held over a log commit and what follows it in memory. `applying` serialises
    what brings the tables in line with the log, and is taken before `writing` where both are. Only the log is
    indispensable: without tables or model, adding and searching by words go on.
    """

    def __init__(self, settings: Settings, embedder: Embedder | None, clock: Callable[[], datetime]) -> None:
        """Open the log; the tables and the model come when they are first needed.

        Without an `embedder` the model is the one that the settings name, else the folder's own.

        Raises:
            ConflictError: the folder was made with another embedding model.
            StorageError: the log cannot be opened.
        """
        self.settings = settings
        self.clock = clock
        self.writing = threading.RLock()
        self.applying = threading.RLock()
        self.rebuilding = threading.Lock()
        # Held while a file is taken in: what is purged meanwhile would come back with its next batch.
        self.importing = threading.Lock()
        self._is_closing = False
        # What the tables are to learn of the changes since they were last written.
        self.waiting = Waiting()
        self.folder = TablesFolder(settings.home)
        # Why the tables have to be made anew, and why they were: '' for neither.
        self.damage = ""
        self.set_aside_because = ""
        self.log = Log(settings.home / LOG_NAME)
        try:
            with contextlib.suppress(StorageError):
                # Before it is asked what they were made with; whoever needs the tables meets the failure again.
                self.folder.recover()
            made_by = self._read_made_by()
            self._space = _Space(embedder or self.embedder_of(settings, made_by), made_by)
            self.ids = IdSequence(self.log.last_id())
            # Whether the tables lag behind the log; then changes leave them to `reconcile`.
            self.is_behind = self.log.has_pending()
            # Whether their vectors may be relied upon: not after a kill or a power cut, until they have been compared.
            self.are_tables_checked = not self.log.are_tables_in_use
            # Whether traces of what was purged may still lie in the files.
            self.is_purge_unfinished = is_unfinished(self.log)
            self._check_model()
            self._check_log()
        except McpMemoryError:
            self.log.close()
            raise

    def _read_made_by(self) -> MadeBy | None:
        """With what the folder's vectors are made; where log and tables say different things, the tables know."""
        dimension = int(self.log.get_meta(_DIMENSION) or 0)
        if not dimension:
            return None
        in_log = MadeBy(self.log.get_meta(_MODEL), dimension, self.log.get_meta(_PROMPT))
        in_use = self.folder.made_by()
        if in_use is None or in_use.is_as_recorded(in_log):
            return in_log
        # The tables were exchanged, and the process ended before the log was told.
        self._record(in_use)
        return in_use

    def _record(self, made_by: MadeBy) -> None:
        """Have the log say what the tables say; where it cannot, the next start does this again."""
        try:
            self.log.set_meta(**_in_log(made_by))
        except StorageError as exc:
            logger.warning("the log does not name the embedding model yet: %s", exc)

    @staticmethod
    def embedder_of(settings: Settings, made_by: MadeBy | None, name: str = "") -> Embedder:
        """The model of a name, else the one that settings name, else the one that made the vectors; not loaded yet."""
        chosen = name or settings.embedding_model or (made_by and made_by.model) or PACKAGED_MODEL
        return Embedder(chosen, settings.embedding_query_prompt, settings.embedding_document_prompt)

    def _check_model(self) -> None:
        recorded = full_name(self.made_by.model) if self.made_by else ""
        if recorded and recorded != self.embedder.name:
            raise ConflictError(
                f"the folder {self.settings.home} was embedded with {recorded!r}, not {self.embedder.name!r}",
                hint=f"set MCP_MEMORY_EMBEDDING_MODEL={recorded}, or leave it out, to keep that one; to go over to"
                f" the other, run: mcp-memory reembed --model {shlex.quote(self.embedder.name)}",
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
    def embedder(self) -> Embedder:
        """The model of the folder's vectors. Another one takes its place together with the tables and the indices."""
        return self._space.embedder

    @property
    def made_by(self) -> MadeBy | None:
        """With what the folder's vectors are made as recorded, None before the first."""
        return self._space.made_by

    @property
    def dimension(self) -> int:
        """Length of the folder's vectors as recorded, 0 before the first."""
        return self.made_by.dimension if self.made_by else 0

    def tables(self) -> Tables:
        """The open tables; the first time in a new folder this loads the model to learn its dimension.

        Raises:
            ModelUnavailableError: the folder is new and the model cannot be loaded.
            ConflictError: the model's dimension is not the recorded one.
            TablesDamagedError: LanceDB's files cannot be made sense of; `reconcile` makes them anew.
            StorageError: they cannot be read or written.
        """
        space = self._space
        tables = space.tables
        if tables is None:
            with self.writing:
                space = self._space
                if space.tables is None:
                    space.tables = self._open_tables()
                    # What was loaded without tables has no vectors.
                    space.indices.clear()
                tables = space.tables
        if space.made_by:
            _check_vectors(space.embedder, space.made_by)
        return tables

    def agree_on_model(self) -> MadeBy:
        """With what the folder's vectors are made, recorded now where it was not; checks that the model does so.

        Raises:
            ModelUnavailableError, ConflictError: as `tables` does.
        """
        space = self._space
        if space.made_by is None:
            # Before the tables: without it their files would look like those of a lost log.
            made_by = space.embedder.made_by()
            self.log.set_meta(**_in_log(made_by))
            space.made_by = made_by
        _check_vectors(space.embedder, space.made_by)
        return space.made_by

    def have_weights_changed(self) -> bool:
        """Whether the model makes other vectors than those that the tables hold; False where it cannot be told.

        Raises:
            ModelUnavailableError: it cannot be loaded.
        """
        in_use = self.folder.made_by()
        now = self.embedder.made_by()
        return bool(in_use and in_use.sample and in_use.is_as_recorded(now) and not in_use.has_weights_of(now))

    def _open_tables(self) -> Tables:
        made_by = self.agree_on_model()
        self.folder.recover()
        in_use = self.folder.made_by()
        if in_use and not in_use.is_as_recorded(made_by):
            raise ConflictError(
                f"the tables hold vectors of {in_use.model!r}, and {made_by.model!r} is loaded",
                hint="run: mcp-memory engine stop, or start this program again",
            )
        if not self.log.are_tables_in_use:
            self.log.mark_tables_in_use()
        tables = Tables(self.tables_path, made_by.dimension)
        if in_use is None:
            # What does not say it is believed to be as the log has it.
            with contextlib.suppress(OSError):
                write_made_by(self.tables_path, made_by)
        return tables

    def set_tables_aside(self, reason: str) -> None:
        """Move damaged tables away and open empty ones; `reconcile` fills them. Call with `applying` held.

        Raises:
            StorageError: they cannot be moved, or have been since the folder was opened: then it is not their fault.
        """
        if self.set_aside_because:
            raise StorageError(reason, hint="look at the disk: tables made anew were damaged again")
        with self.writing:
            self._space.tables = None
            self.folder.set_aside()
            self.damage, self.set_aside_because = "", reason
            self.is_behind = True
            self.waiting.drop()
            logger.warning(
                "the tables were moved to %s and are made anew from the log: %s", self.folder.damaged, reason
            )
            self._space.tables = self._open_tables()

    def exchange_tables(self, fresh: Tables, embedder: Embedder, made_by: MadeBy) -> None:
        """Go over to fresh tables, which hold everything, to the model of their vectors, and to new indices.

        Call with both locks held. Searches that go on meanwhile have the old model and the old indices, later ones
        the new. Where the process ends, the names of the folders alone decide what holds.

        Raises:
            StorageError: they cannot be exchanged; the old ones are in use.
        """
        before = self._space
        indices = {user_id: self._loaded(user_id, fresh) for user_id in before.indices}
        before.tables = None
        self.folder.exchange()
        self._space = _Space(embedder, made_by, indices=indices)
        self.waiting.drop()
        self.is_behind, self.are_tables_checked, self.damage = False, True, ""
        self._record(made_by)
        self._space.tables = self._open_tables()
        self.log.mark_applied(self.log.last_event())

    def _loaded(self, user_id: str, tables: Tables) -> UserIndex:
        index = load_index(user_id, self.log, tables.dimension)
        load_vectors(index, user_id, tables)
        return index

    def rely_on_tables(self) -> None:
        """Use the vectors of tables that have been compared with the log. Call with `writing` held."""
        if not self.are_tables_checked:
            self.are_tables_checked = True
            for user_id, index in self._space.indices.items():
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

    @property
    def opened_tables(self) -> Tables | None:
        """The tables if they are open already."""
        return self._space.tables

    def index_of(self, user_id: str) -> UserIndex:
        """The in-memory index of a user, made on first use; without vectors where the tables cannot be read.

        Raises:
            StorageError: the log cannot be read.
        """
        return self.index_and_model_of(user_id)[0]

    def index_and_model_of(self, user_id: str) -> tuple[UserIndex, Embedder]:
        """The index of a user as `index_of` gives it, and the model of its vectors.

        Raises:
            StorageError: the log cannot be read.
        """
        # No lock where it is loaded: a search need not wait for a write in progress.
        space = self._space
        index = space.indices.get(user_id)
        if index is None:
            with self.writing:
                if self.dimension:
                    # Opening them for the first time makes indices void.
                    with contextlib.suppress(McpMemoryError):
                        self.tables()
                space = self._space
                index = space.indices.get(user_id)
                if index is None:
                    index = load_index(user_id, self.log, self.dimension or 1)
                    self._fill(index, user_id)
                    space.indices[user_id] = index
        return index, space.embedder

    def loaded_indices(self) -> dict[str, UserIndex]:
        """The indices in memory, by user."""
        return dict(self._space.indices)

    def forget_index(self, user_id: str) -> None:
        """Have the index of a user made anew with its next use. Call with `writing` held."""
        self._space.indices.pop(user_id, None)

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
            tables = self._space.tables
            if tables and self.are_tables_checked and not self.damage:
                # What cannot be brought to the disk is compared with the log the next time.
                with contextlib.suppress(McpMemoryError):
                    tables.sync()
                    self.log.mark_tables_safe()
            self.log.close()


def _in_log(made_by: MadeBy) -> dict[str, str]:
    return {_MODEL: made_by.model, _DIMENSION: str(made_by.dimension), _PROMPT: made_by.document_prompt}


def _check_vectors(embedder: Embedder, made_by: MadeBy) -> None:
    """Refuse to mix vectors that cannot be compared. The query's prompt may change: no vector is kept of it."""
    if not embedder.is_loaded:
        return
    if made_by.dimension != embedder.dimension:
        raise ConflictError(
            f"the folder holds vectors of {made_by.dimension} numbers, {embedder.name!r} makes {embedder.dimension}",
            hint="bring the other model back, or go over to this one with: mcp-memory reembed",
        )
    if (prompt := embedder.prompts.document) != made_by.document_prompt:
        raise ConflictError(
            f"the folder's memories were embedded after the prompt {made_by.document_prompt!r},"
            f" {embedder.name!r} would now embed others after {prompt!r}",
            hint=f"set MCP_MEMORY_EMBEDDING_DOCUMENT_PROMPT to {made_by.document_prompt!r} to keep that one; to go over"
            " to the other, run: mcp-memory reembed",
        )


def utc_now() -> datetime:
    """The present, aware."""
    return datetime.now(UTC)
