"""The Python API of a data folder that this process holds."""

import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from . import add as adding
from . import inputs, purge, questions, rebuild, reembed, statements, verify
from . import rate as rating
from . import search as searching
from .backup import back_up
from .embedder import Embedder
from .erasing import Erasing
from .errors import InvalidInputError
from .exclusions import is_text_excluded
from .fact_keeping import FactKeeping
from .folder import DataFolder
from .health import examine
from .inputs import agent_id_of
from .language_model import ModelUse
from .moving import Moving
from .notes_keeping import NotesKeeping
from .parts import Parts
from .paths import data_folder
from .records import ABOUTS, KINDS, STATES, AddResult, Episode, Message, OnProgress, Owner, RateResult
from .records import (
    Memory as Record,
)
from .reports import BackupResult, Check, Rebuilt, Reembedded, Verification
from .restore import RestoreResult, restore
from .revising import Revising
from .rewrite import Rewriting
from .search_records import Filters, SearchResult, Selection
from .settings import Settings, load_settings
from .stores import Stores, utc_now
from .text import BASE_LANGUAGE
from .token_keeping import TokenKeeping
from .turns import Turn

# What SQLite counts with.
_MAX_LISTED = 1 << 62


class LocalMemory(Revising, Erasing, FactKeeping, NotesKeeping, TokenKeeping, Moving):
    """One user's memory in a data folder, as one client sees it.

    Open it with `LocalMemory.open`; it holds the folder until `close` or the end of a `with` block. Methods may
    be called from several threads.
    """

    def __init__(self, parts: Parts, owner: Owner, settings: Settings, turn: Turn = Turn()) -> None:  # noqa: B008
        self._parts = parts
        self._owner = owner
        self._settings = settings
        self._turn = turn

    @classmethod
    def open(
        cls,
        folder: str | Path | None = None,
        *,
        user_id: str = "",
        agent_id: str = "",
        clock: Callable[[], datetime] = utc_now,
        embedder: Embedder | None = None,
        held: DataFolder | None = None,
        **settings: Any,
    ) -> Self:
        """Open a data folder in this process (default: `MCP_MEMORY_HOME` or the platform's folder).

        `settings` overrides any setting by its field name. `embedder` brings a model that is loaded already, `held`
        a folder that this process holds already and goes on to hold afterwards. `embedding_model=""` opens the folder
        with its own model, whatever environment and file name: `reembed` goes over to what those name.

        Raises:
            FolderInUseError: another process holds the folder; its pid is named.
            ConflictError: the folder was embedded with another model.
            StorageError, InvalidInputError: the folder or a setting cannot be used.
        """
        home = held.path if held else folder
        given = settings | ({"home": Path(home)} if home else {}) | ({"user_id": user_id} if user_id else {})
        lasting = {name: value for name, value in given.items() if name != "embedding_model" or value}
        parts = Parts(load_settings(**given), clock, embedder, held, lambda: load_settings(**lasting))
        named = agent_id or parts.settings.agent_id or "python"
        return cls(parts, Owner(parts.user_id, agent_id_of(named)), parts.settings)

    def as_agent(self, agent_id: str) -> "LocalMemory":
        """The same memory as another client sees it, sharing this one's stores."""
        return LocalMemory(self._parts, replace(self._owner, agent_id=agent_id_of(agent_id)), self._settings)

    def as_client(self, settings: Settings, name: str) -> "LocalMemory":
        """The memory in the same folder as a client with settings of its own sees it, who calls itself `name`."""
        owner = Owner(settings.user_id or self._parts.user_id, agent_id_of(settings.agent_id or name))
        return LocalMemory(self._parts, owner, settings)

    def in_turn(self, turn: Turn) -> "LocalMemory":
        """The same memory for one change, which is made when those that came before it have been made."""
        return LocalMemory(self._parts, self._owner, self._settings, turn)

    @property
    def user_id(self) -> str:
        """Whose memory this is."""
        return self._owner.user_id

    @property
    def folder(self) -> Path:
        """Where it is kept."""
        return self._parts.settings.home

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._settings

    @property
    def stores(self) -> Stores:
        """The open stores, for `doctor` and for tests."""
        return self._parts.stores

    def warm(self, on_progress: OnProgress = lambda _done, _total: None) -> None:
        """Load the model and the index and apply what is pending, so that the next call need not.

        The first time on a machine another process is started that makes later starts quick.

        Raises:
            ModelUnavailableError, ConflictError, StorageError: calls go on as far as they can without.
        """
        stores = self._parts.stores
        stores.embedder.load()
        # First: it makes damaged tables anew.
        self._parts.upkeep.catch_up_once(on_progress)
        stores.tables()
        index = stores.index_of(self.user_id)
        if len(index):
            # The first encoding and the first lemma cost more than all later ones.
            anything = Selection(self._owner, self._parts.clock())
            searching.search("warm up", anything, stores, self._settings, top_k=1, threshold=0.0)
            questions.prepare({BASE_LANGUAGE, *index.languages})
        statements.prepare({BASE_LANGUAGE, *index.languages})
        stores.embedder.quicken()
        if self._parts.rewriter:
            self._parts.rewriter.prepare()
        # What waited when the last process ended, and what it left to be done.
        self._parts.queue.start()
        self._parts.upkeep.after_write()
        self._parts.notes.note_change()

    def catch_up(self, on_progress: OnProgress = lambda _done, _total: None) -> None:
        """Bring the tables in line with the log now; the first search does the same. Never raises for them."""
        self._parts.upkeep.catch_up_once(on_progress)

    def add(
        self,
        text: str = "",
        *,
        messages: Sequence[Message | Mapping[str, Any]] | None = None,
        infer: bool = True,
        about: str = "user",
        kind: str = "",
        run_id: str = "",
        observed_at: inputs.Moment = None,
        expires_at: inputs.Moment = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> AddResult:
        """Remember a text, or each of some messages; durable and searchable on return.

        `infer=False` keeps the words as they are. `infer=True` keeps them too and queues them for extraction
        by a language model. Messages are `{"role", "content", "name"?}`. Times without a zone are UTC.

        Raises:
            InvalidInputError: nothing was stored; the message names the value.
            StorageError: nothing was stored.
        """
        now = self._parts.clock()
        said = inputs.messages_of(text, messages)
        for place, message in enumerate(said):
            if is_text_excluded(message.content, self._settings.exclude_text):
                raise InvalidInputError(
                    f"{f'message {place}' if messages else 'the text'} holds what the user has excluded by the setting"
                    " exclude_text; nothing was stored",
                    hint="leave that out; it is never to be stored",
                )
        expires = inputs.moment("expires_at", expires_at)
        episode = Episode(
            id=self._parts.next_id(now),
            owner=self._owner,
            messages=said,
            infer=infer,
            about=inputs.one_of("about", about, ABOUTS),
            kind=inputs.one_of("kind", kind or ("message" if messages else "note"), KINDS),
            run_id=inputs.short("run_id", run_id),
            observed_at=inputs.moment("observed_at", observed_at) or now,
            created_at=now,
            expires_at=inputs.to_come("expires_at", expires, now) if expires else None,
            metadata=inputs.metadata_of(metadata),
        )
        added = adding.add(episode, self._parts.stores, self._turn)
        self._parts.after_change()
        return self._parts.distilled(added, self._settings.add_wait_s) if added.job_id else added.result

    def search(
        self,
        query: str,
        *,
        top_k: int = 10,
        threshold: float = 0.0,
        scope: str = "",
        run_id: str = "",
        as_of: inputs.Moment = None,
        known_at: inputs.Moment = None,
        filters: Filters | Mapping[str, Any] | None = None,
    ) -> SearchResult:
        """The memories that answer a query, best first.

        With the setting `rewrite_queries` a language model also puts the query in other words; that delays the
        search by `rewrite_wait_s` at most, and `degraded` says where it could not be done.

        `scope`: `all`, `user` (about the user), `agent` (about this agent, by itself) or `run` (needs
        `run_id`); '' means the setting `default_scope`. `as_of` asks what was true then, `known_at` what had been
        recorded by then. `filters` is a `Filters`, or a dict with its fields, times as ISO text.

        Raises:
            InvalidInputError: a value is out of range; the message names it.
            StorageError: the log cannot be read.
        """
        query = inputs.query_of(query)
        top_k, threshold = inputs.bounds_of(top_k, threshold)
        selection = inputs.selection_of(
            self._owner,
            self._parts.clock(),
            scope=scope or self._settings.default_scope,
            run_id=run_id,
            as_of=as_of,
            known_at=known_at,
            filters=filters,
        )
        rewritten = self._parts.rewriter.begin(query) if self._parts.rewriter else Rewriting
        self._parts.upkeep.catch_up_once()
        result = searching.search(
            query, selection, self._parts.stores, self._settings, top_k=top_k, threshold=threshold, rewritten=rewritten
        )
        # Reading may have found that the tables have to be made anew.
        self._parts.upkeep.after_write()
        notices = (
            result.notice,
            self._parts.upkeep.notice(),
            self._parts.queue.notice(self.user_id, is_folders_own=self.user_id == self._parts.user_id),
        )
        notice = " ".join(filter(None, notices))
        return replace(result, notice=notice)

    def rate(self, memory_id: str, useful: bool) -> RateResult:
        """Say whether a memory was of use; searches go by it within bounds, and less so as it fades.

        Raises:
            NotFoundError: there is no such memory (any more).
            StorageError: nothing was written.
        """
        with self._turn.served():
            rated = rating.rate(memory_id, self._owner, self._parts.stores, is_useful=useful)
        self._parts.notes.note_change()
        return rated

    def list(
        self,
        *,
        filters: Filters | Mapping[str, Any] | None = None,
        states: Iterable[str] = ("active", "raw"),
        run_id: str = "",
        limit: int = 100,
        offset: int = 0,
    ) -> list[Record]:
        """Memories, newest first."""
        wanted = [inputs.one_of("state", state, STATES) for state in states]
        if not (1 <= limit <= _MAX_LISTED and 0 <= offset <= _MAX_LISTED):
            raise InvalidInputError(
                f"limit {limit}, offset {offset}", hint="use a limit of 1 or more, an offset of 0 or more"
            )
        return self._parts.stores.log.list_memories(
            self.user_id, inputs.filters_of(filters), states=wanted, run_id=run_id, limit=limit, offset=offset
        )

    def stats(self) -> dict[str, int]:
        """Numbers of this user's memories by state, entities, episodes and waiting jobs."""
        return self._parts.stores.log.counts(self.user_id)

    def examine(self) -> builtins.list[Check]:
        """What `doctor` finds of the open folder, part by part."""
        return [*examine(self._parts.stores), *self._parts.notes.examine(self.user_id)]

    def backup(self, target: str | Path) -> BackupResult:
        """Write a backup of the whole folder, all its users included, into a new file outside of it.

        Adding and searching go on meanwhile; what was acknowledged before is in it.

        Raises:
            InvalidInputError: the target exists, or is no place for a file.
            StorageError: it cannot be written; nothing is left of it.
        """
        written = back_up(self._parts.stores, target, self._parts.clock())
        purge.note_copy(self._parts.stores, Path(written.path), written.manifest.made_at)
        return written

    @staticmethod
    def restore(source: str | Path, folder: str | Path | None = None) -> RestoreResult:
        """Put a backup into a data folder that nobody holds (default: that of `local`); what is there is set aside.

        Raises:
            InvalidInputError: there is no such file, or it is no backup.
            StorageError: the backup is damaged or of a newer program, or the folder cannot be used.
        """
        return restore(source, Path(folder).expanduser().absolute() if folder else data_folder(), utc_now())

    def verify(self, on_progress: OnProgress = lambda _done, _total: None) -> Verification:
        """Compare every field and every vector of the tables, of all users, with the log; nothing is mended.

        Each text is embedded once more. `on_progress` hears (done, total). Calls go on meanwhile.

        Raises:
            ModelUnavailableError, ConflictError, StorageError: it cannot be told.
        """
        return verify.verify(self._parts.stores, on_progress)

    def rebuild(self, on_progress: OnProgress = lambda _done, _total: None) -> Rebuilt:
        """Make the tables and the keyword index of all users anew from the log, and go over to them at the end.

        A run that was cut short has changed nothing; the next one goes on where it stopped.

        Raises:
            ModelUnavailableError, ConflictError, StorageError: the tables are as they were.
        """
        return rebuild.rebuild(self._parts.stores, on_progress)

    def reembed(self, model: str = "", on_progress: OnProgress = lambda _done, _total: None) -> Reembedded:
        """Embed everything of all users anew, and go over to those vectors and their model at the end.

        `model` is a folder or a name; '' means the model that the settings name by now, else the folder's own. Prompts
        are those of the settings by now, else the model's. From then on the folder keeps this model. Adding, searching
        and deleting go on meanwhile, with the old model; a run that was cut short has changed nothing, and the next
        one with the same model goes on where it stopped.

        Raises:
            ModelUnavailableError: there is no such model; nothing has changed.
            StorageError, ConflictError, InvalidInputError: the old model and its tables are in use.
        """
        return reembed.reembed(self._parts.stores, self._parts.settings_now(), model, on_progress)

    def settle(self) -> None:
        """Wait until the upkeep that follows writes is done; for measuring, and before copying the folder."""
        self._parts.upkeep.settle()

    def settle_queue(self, timeout_s: float) -> bool:
        """Wait until nothing is due for the language model; whether that came about in time."""
        return self._parts.queue.settle(timeout_s)

    def has_due_work(self) -> bool:
        """Whether texts are being read by the language model, or could be at once."""
        return self._parts.queue.has_due_work()

    def stop_waiting(self) -> None:
        """Have adds of every view of this folder answer `queued` at once, those that wait and all later ones.

        The queue goes on. Returns at once; safe to repeat, and after `close`.
        """
        self._parts.queue.stop_waiting()

    @property
    def model_use(self) -> ModelUse:
        """Calls and tokens that the language model has cost since the folder was opened."""
        rewriter = self._parts.rewriter
        return self._parts.model.use + rewriter.use if rewriter else self._parts.model.use

    def close(self) -> None:
        """Let go of the folder; long work ends after the batch that it is at. Safe to repeat.

        What has been said is durable before that. Waits for a write or a compaction under way, seconds at most where
        the disk is not slow.
        """
        self._parts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
