"""The Python API, and the one place where the parts are wired together."""

import contextlib
import getpass
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from . import add as adding
from . import forget, upkeep
from . import search as searching
from .embedder import Embedder
from .errors import InvalidInputError
from .folder import DataFolder
from .records import (
    ABOUTS,
    KINDS,
    ROLES,
    SCOPES,
    STATES,
    AddResult,
    DeleteResult,
    Episode,
    Filters,
    Message,
    Owner,
    SearchResult,
    Selection,
)
from .records import (
    Memory as Record,
)
from .settings import Settings, load_settings
from .store import Stores, utc_now
from .text import clean

MAX_TEXT_CHARS = 200_000
MAX_QUERY_CHARS = 200_000
MAX_MESSAGES = 1_000
MAX_METADATA_BYTES = 16 * 1024
MAX_TOP_K = 100
_USER_ID = "user_id"

Moment = datetime | date | str | None


class Memory:
    """One user's memory in a data folder, as one client sees it.

    Open it with `Memory.local`; it holds the folder until `close` or the end of a `with` block. Methods may
    be called from several threads.
    """

    def __init__(self, parts: "Parts", owner: Owner) -> None:
        self._parts = parts
        self._owner = owner

    @classmethod
    def local(
        cls,
        folder: str | Path | None = None,
        *,
        user_id: str = "",
        agent_id: str = "python",
        clock: Callable[[], datetime] = utc_now,
        embedder: Embedder | None = None,
        **settings: Any,
    ) -> Self:
        """Open a data folder in this process (default: `MCP_MEMORY_HOME` or the platform's folder).

        `settings` overrides any setting by its field name. `embedder` brings a model that is loaded already.

        Raises:
            FolderInUseError: another process holds the folder; its pid is named.
            ConflictError: the folder was embedded with another model.
            StorageError, InvalidInputError: the folder or a setting cannot be used.
        """
        given = settings | ({"home": Path(folder)} if folder else {}) | ({"user_id": user_id} if user_id else {})
        parts = Parts(load_settings(**given), clock, embedder)
        return cls(parts, Owner(parts.user_id, agent_id))

    def as_agent(self, agent_id: str) -> "Memory":
        """The same memory as another client sees it, sharing this one's stores."""
        return Memory(self._parts, replace(self._owner, agent_id=agent_id))

    @property
    def user_id(self) -> str:
        """Whose memory this is."""
        return self._owner.user_id

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._parts.settings

    @property
    def stores(self) -> Stores:
        """The open stores, for `doctor` and for tests."""
        return self._parts.stores

    def warm(self, on_progress: Callable[[int, int], None] = lambda _done, _total: None) -> None:
        """Load the model and the index and apply what is pending, so that the next call need not.

        Raises:
            ModelUnavailableError, ConflictError, StorageError: calls go on as far as they can without.
        """
        stores = self._parts.stores
        stores.embedder.load()
        stores.tables()
        upkeep.catch_up(stores, on_progress)
        index = stores.index_of(self.user_id)
        if len(index):
            # The first encoding and the first lemma cost more than all later ones.
            self.search("warm up", top_k=1)

    def add(
        self,
        text: str = "",
        *,
        messages: Sequence[Message | Mapping[str, Any]] | None = None,
        infer: bool = True,
        about: str = "user",
        kind: str = "",
        run_id: str = "",
        observed_at: Moment = None,
        expires_at: Moment = None,
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
        said = _messages(text, messages)
        expires = _moment("expires_at", expires_at)
        if expires and expires <= now:
            raise InvalidInputError(
                f"expires_at {expires.isoformat()} has passed", hint="give a time to come, or leave it out"
            )
        episode = Episode(
            id=self._parts.next_id(now),
            owner=self._owner,
            messages=said,
            infer=infer,
            about=_one_of("about", about, ABOUTS),
            kind=_one_of("kind", kind or ("message" if messages else "note"), KINDS),
            run_id=_short("run_id", run_id),
            observed_at=_moment("observed_at", observed_at) or now,
            created_at=now,
            expires_at=expires,
            metadata=_metadata(metadata),
        )
        result = adding.add(episode, self._parts.stores)
        self._parts.upkeep.after_write()
        return result

    def search(
        self,
        query: str,
        *,
        top_k: int = 10,
        threshold: float = 0.0,
        scope: str = "all",
        run_id: str = "",
        as_of: Moment = None,
        known_at: Moment = None,
        filters: Filters | Mapping[str, Any] | None = None,
    ) -> SearchResult:
        """The memories that answer a query, best first.

        `scope`: `all`, `user` (about the user), `agent` (about this agent, by itself) or `run` (needs
        `run_id`). `as_of` asks what was true then, `known_at` what had been recorded by then. `filters` is a
        `Filters`, or a dict with its fields, times as ISO text.

        Raises:
            InvalidInputError: a value is out of range; the message names it.
            StorageError: the log cannot be read.
        """
        query = clean(query).strip()
        if not query:
            raise InvalidInputError("the query is empty", hint="say what to look for, in words")
        if len(query) > MAX_QUERY_CHARS:
            raise InvalidInputError(
                f"the query has {len(query)} characters, at most {MAX_QUERY_CHARS} are read",
                hint="shorten it",
            )
        if not 1 <= top_k <= MAX_TOP_K:
            raise InvalidInputError(f"top_k {top_k} is not in 1..{MAX_TOP_K}", hint=f"use 1 to {MAX_TOP_K}")
        if not 0.0 <= threshold <= 1.0:
            raise InvalidInputError(f"threshold {threshold} is not in 0..1", hint="use 0 for no threshold")
        chosen = _one_of("scope", scope, SCOPES)
        run_id = _short("run_id", run_id)
        if chosen == "run" and not run_id:
            raise InvalidInputError("scope 'run' needs a run_id", hint="give run_id, or use scope 'all'")
        selection = Selection(
            owner=self._owner,
            now=self._parts.clock(),
            scope=chosen,
            run_id=run_id,
            as_of=_moment("as_of", as_of, end_of_day=True),
            known_at=_moment("known_at", known_at, end_of_day=True),
            filters=_filters(filters),
        )
        return searching.search(query, selection, self._parts.stores, top_k=top_k, threshold=threshold)

    def delete(self, memory_id: str) -> DeleteResult:
        """Delete one memory by its id.

        Raises:
            NotFoundError: there is no such memory (any more).
        """
        result = forget.delete(memory_id, self._owner, self._parts.stores)
        self._parts.upkeep.after_write()
        return result

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
        wanted = [_one_of("state", state, STATES) for state in states]
        if limit < 1 or offset < 0:
            raise InvalidInputError(
                f"limit {limit}, offset {offset}", hint="use a limit of 1 or more, an offset of 0 or more"
            )
        return self._parts.stores.log.list_memories(
            self.user_id, _filters(filters), states=wanted, run_id=run_id, limit=limit, offset=offset
        )

    def stats(self) -> dict[str, int]:
        """Numbers of this user's memories by state, entities, episodes and waiting jobs."""
        return self._parts.stores.log.counts(self.user_id)

    def close(self) -> None:
        """Finish upkeep and let go of the folder. Safe to repeat."""
        self._parts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Parts:
    """What all views of one open folder share: the lock, the stores, the upkeep thread."""

    def __init__(self, settings: Settings, clock: Callable[[], datetime], embedder: Embedder | None) -> None:
        self.settings = settings
        self.clock = clock
        self._folder = DataFolder(settings.home)
        try:
            self.stores = Stores(settings, embedder or Embedder(settings.embedding_model), clock)
            self.user_id = settings.user_id or self._folders_user()
        except BaseException:
            self._folder.release()
            raise
        self.upkeep = upkeep.Upkeep(self.stores)

    def _folders_user(self) -> str:
        """The user written into the folder when it was made, else the account's name, written now."""
        recorded = self.stores.log.get_meta(_USER_ID)
        if not recorded:
            with contextlib.suppress(OSError, KeyError):
                recorded = getpass.getuser()
            recorded = recorded or "user"
            self.stores.log.set_meta(**{_USER_ID: recorded})
        return recorded

    def next_id(self, now: datetime) -> str:
        """A fresh id."""
        with self.stores.writing:
            return self.stores.ids.next(now)

    def close(self) -> None:
        self.upkeep.finish()
        self.stores.close()
        self._folder.release()


# The door: every value from outside is checked once, here.


def _messages(text: str, messages: Sequence[Message | Mapping[str, Any]] | None) -> tuple[Message, ...]:
    if messages and text.strip():
        raise InvalidInputError("both text and messages were given", hint="give one of the two")
    if not messages:
        if not text.strip():
            raise InvalidInputError("there is nothing to remember", hint="give text, or messages")
        return (Message("user", _text("text", text)),)
    if len(messages) > MAX_MESSAGES:
        raise InvalidInputError(
            f"{len(messages)} messages in one call, at most {MAX_MESSAGES}",
            hint="split them over several calls",
        )
    return tuple(_message(place, message) for place, message in enumerate(messages))


def _message(place: int, message: Message | Mapping[str, Any]) -> Message:
    where = f"messages[{place}]"
    if isinstance(message, Message):
        message = {"role": message.role, "content": message.content, "name": message.speaker}
    if not isinstance(message, Mapping):
        raise InvalidInputError(f"{where} is no object", hint='give {"role": "user", "content": "…"}')
    role = _one_of(f"{where}.role", str(message.get("role") or "user"), ROLES)
    content = message.get("content")
    if isinstance(content, list):
        # The block form of chat APIs: keep what is text.
        content = "\n".join(
            str(block.get("text", "")) if isinstance(block, Mapping) else str(block) for block in content
        ).strip()
    if content is not None and not isinstance(content, str):
        raise InvalidInputError(
            f"{where}.content is {type(content).__name__}, not text", hint="give the message's text"
        )
    name = message.get("name")
    return Message(role, _text(where, content or ""), _short(f"{where}.name", str(name or "")))


def _text(name: str, value: str) -> str:
    if len(value) > MAX_TEXT_CHARS:
        raise InvalidInputError(
            f"{name} has {len(value)} characters, at most {MAX_TEXT_CHARS} are kept", hint="split it"
        )
    return clean(value)


def _short(name: str, value: str) -> str:
    value = " ".join(clean(value).split())
    if len(value) > 200:
        raise InvalidInputError(f"{name} has {len(value)} characters, at most 200", hint="shorten it")
    return value


def _one_of(name: str, value: str, allowed: Sequence[Any]) -> Any:
    if value not in allowed:
        raise InvalidInputError(f"{name} {value!r} is none of {', '.join(allowed)}", hint="use one of these")
    return value


def _moment(name: str, value: Moment, *, end_of_day: bool = False) -> datetime | None:
    """An aware UTC time from what was given; a bare date is its first moment, or with `end_of_day` its last."""
    if value is None or value == "":
        return None
    is_date = False
    try:
        if isinstance(value, str):
            is_date = len(value.strip()) == 10
            value = datetime.fromisoformat(value.strip())
        elif not isinstance(value, datetime):
            is_date = True
            value = datetime(value.year, value.month, value.day)
        aware = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        return aware + timedelta(days=1, microseconds=-1) if is_date and end_of_day else aware
    except (ValueError, OverflowError) as exc:
        raise InvalidInputError(
            f"{name} {value!r} is no date or time",
            hint="use ISO 8601, such as 2026-03-09 or 2026-03-09T14:30:00+01:00",
        ) from exc


def _filters(given: Filters | Mapping[str, Any] | None) -> Filters:
    fields = given if isinstance(given, Mapping) else {n: getattr(given, n) for n in Filters.__slots__} if given else {}
    if unknown := set(fields) - set(Filters.__slots__):
        raise InvalidInputError(f"unknown filter {sorted(unknown)[0]!r}", hint=f"use {', '.join(Filters.__slots__)}")
    return Filters(
        about=_one_of("about", fields.get("about") or "", ("", *ABOUTS)),
        kind=_one_of("kind", fields.get("kind") or "", ("", *KINDS)),
        agent=_short("agent", fields.get("agent") or ""),
        since=_moment("since", fields.get("since")),
        until=_moment("until", fields.get("until"), end_of_day=True),
        metadata=_metadata(fields.get("metadata")),
    )


def _metadata(value: Mapping[str, Any] | None) -> dict[str, Any]:
    if not value:
        return {}
    try:
        encoded = clean(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError) as exc:
        raise InvalidInputError(f"metadata is no JSON object: {exc}", hint="use text, numbers, lists") from exc
    if len(encoded.encode()) > MAX_METADATA_BYTES:
        raise InvalidInputError(
            f"metadata has {len(encoded.encode())} bytes, at most {MAX_METADATA_BYTES}", hint="keep it short"
        )
    return dict(json.loads(encoded))
