"""One user's memory in a running engine: the facade's methods, answered by another process."""

import builtins
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from .api import progress_in, question, read_answer
from .dial import ENGINE_GONE, Line, connect
from .errors import StorageError
from .hook_records import Captured, CapturePoint, Reminder, Said
from .hook_records import Moment as At
from .inputs import Moment
from .notes import place_of
from .paths import data_folder
from .records import AddResult, DeleteResult, Fact, Forgotten, Matching, Message, OnProgress, RateResult
from .records import Memory as Record
from .remote_work import RemoteWork
from .reports import (
    Check,
    FactAudit,
    History,
    NewToken,
    NotesFile,
    Token,
    Undone,
    Updated,
    WhyNot,
)
from .search_records import Filters, SearchResult, UserProfile
from .starter import connect_or_start

_READS = frozenset(
    "search list get facts audit_facts profile history why_not settings examine stats whose paused capture_point"
    " refuse_if_paused tokens".split()
)
# What to do where the engine went away before it answered.
_HINTS = {
    "add": "repeat the call: the same words are stored once",
    "import_from": "do the same again: it goes on where it stopped",
    "export_to": "do the same again: nothing was left",
}


class RemoteMemory(RemoteWork):
    """The memory of the user that the settings name, as one client of the engine sees it.

    Methods do and raise what those of `Memory` do; they may be called from several threads, one at a time is answered.
    """

    def __init__(self, connect: Callable[[], Line]) -> None:
        """Connect, and again with the first call after the engine has gone.

        Raises:
            McpMemoryError: there is no engine, or it refuses the connection.
        """
        self._connect = connect
        self._line: Line | None = connect()
        self._lock = threading.Lock()
        self._n_asked = 0
        self._whose: Mapping[str, str] = {}

    @classmethod
    def of_running(cls, name: str) -> Self | None:
        """The memory of the engine that runs, None where none does, for a client that calls itself `name`.

        Raises:
            McpMemoryError: the engine refuses, or cannot open the folder.
        """
        memory = cls.attached(name)
        if memory:
            memory.learn_whose()
        return memory

    @classmethod
    def attached(cls, name: str) -> Self | None:
        """The same, whether or not the engine can open the folder."""
        first = connect(data_folder(), "api", name=name)
        if first is None:
            return None
        lines = [first]
        return cls(lambda: lines.pop() if lines else connect_or_start(data_folder(), "api", name=name))

    @classmethod
    def awaited(cls, name: str) -> Self:
        """The same, of an engine that is waited for while it starts.

        Raises:
            McpMemoryError: it does not come to listen, or refuses.
        """
        return cls(lambda: connect_or_start(data_folder(), "api", name=name))

    def learn_whose(self) -> Mapping[str, str]:
        """Whose memory it is and where, from the engine, which opens the folder where it has not yet.

        Raises:
            McpMemoryError: it cannot be opened.
        """
        self._whose = self._whose or self._ask("whose")
        return self._whose

    @property
    def user_id(self) -> str:
        """Whose memory this is."""
        return self.learn_whose()["user"]

    @property
    def folder(self) -> Path:
        """Where it is kept."""
        return Path(self.learn_whose()["folder"])

    @property
    def notice(self) -> str:
        """What the engine says of this connection: that its settings are others, for instance."""
        return self._line.notice if self._line else ""

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
        """Remember a text, or each of some messages; see `Memory.add`."""
        given = {"text": text, "messages": messages, "infer": infer, "about": about, "kind": kind, "run_id": run_id}
        times = {"observed_at": observed_at, "expires_at": expires_at}
        answer: AddResult = self._ask("add", **given, **times, metadata=metadata)
        return answer

    def search(
        self,
        query: str,
        *,
        top_k: int = 10,
        threshold: float = 0.0,
        scope: str = "",
        run_id: str = "",
        as_of: Moment = None,
        known_at: Moment = None,
        filters: Filters | Mapping[str, Any] | None = None,
    ) -> SearchResult:
        """The memories that answer a query, best first; see `Memory.search`."""
        given = {"query": query, "top_k": top_k, "threshold": threshold, "scope": scope, "run_id": run_id}
        answer: SearchResult = self._ask("search", **given, as_of=as_of, known_at=known_at, filters=filters)
        return answer

    def delete(self, memory_id: str, *, purge: bool = False) -> DeleteResult:
        """Delete one memory by its id; see `Memory.delete`."""
        answer: DeleteResult = self._ask("delete", memory_id=memory_id, purge=purge)
        return answer

    def matching(self, where: Mapping[str, Any], *, purge: bool = False) -> Matching:
        """Which memories `forget` would take away; see `Memory.matching`."""
        answer: Matching = self._ask("matching", where=where, purge=purge)
        return answer

    def forget(self, where: Mapping[str, Any], *, expected: str, purge: bool = False) -> Forgotten:
        """Delete all memories that something holds of; see `Memory.forget`."""
        answer: Forgotten = self._ask("forget", where=where, expected=expected, purge=purge)
        return answer

    def rate(self, memory_id: str, useful: bool) -> RateResult:
        """Say whether a memory was of use; see `Memory.rate`."""
        answer: RateResult = self._ask("rate", memory_id=memory_id, useful=useful)
        return answer

    def list(
        self,
        *,
        filters: Filters | Mapping[str, Any] | None = None,
        states: Iterable[str] = ("active", "raw"),
        run_id: str = "",
        limit: int = 100,
        offset: int = 0,
    ) -> list[Record]:
        """Memories, newest first; see `Memory.list`."""
        answer: builtins.list[Record] = self._ask(
            "list", filters=filters, states=[*states], run_id=run_id, limit=limit, offset=offset
        )
        return answer

    def get(self, memory_id: str) -> Record:
        """One memory by its id; see `Memory.get`."""
        answer: Record = self._ask("get", memory_id=memory_id)
        return answer

    def update(
        self,
        memory_id: str,
        *,
        text: str = "",
        kind: str = "",
        importance: float | None = None,
        expires_at: Moment = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Updated:
        """Correct one memory in place; see `Memory.update`."""
        given = {"text": text, "kind": kind, "importance": importance, "expires_at": expires_at, "metadata": metadata}
        answer: Updated = self._ask("update", memory_id=memory_id, **given)
        return answer

    def facts(self, *, of: str = "", relation: str = "", ended: bool = False, limit: int = 100) -> builtins.list[Fact]:
        """The facts in force, newest first; see `Memory.facts`."""
        answer: builtins.list[Fact] = self._ask("facts", of=of, relation=relation, ended=ended, limit=limit)
        return answer

    def audit_facts(self) -> FactAudit:
        """How many facts there are of each relation; see `Memory.audit_facts`."""
        answer: FactAudit = self._ask("audit_facts")
        return answer

    def profile(self) -> UserProfile:
        """Who the user is, as far as it is remembered; see `Memory.profile`."""
        answer: UserProfile = self._ask("profile")
        return answer

    def add_fact(self, subject: str, relation: str, value: str, *, since: Moment = None) -> AddResult:
        """Remember a fact given by hand; see `Memory.add_fact`."""
        answer: AddResult = self._ask("add_fact", subject=subject, relation=relation, value=value, since=since)
        return answer

    def history(self, memory_id: str) -> History:
        """What has happened to a memory, oldest first; see `Memory.history`."""
        answer: History = self._ask("history", memory_id=memory_id)
        return answer

    def undo(self, change_id: str) -> Undone:
        """Undo a change by its id; see `Memory.undo`."""
        answer: Undone = self._ask("undo", change_id=change_id)
        return answer

    def why_not(
        self,
        memory_id: str,
        query: str,
        *,
        top_k: int = 10,
        threshold: float = 0.0,
        scope: str = "",
        run_id: str = "",
        as_of: Moment = None,
        known_at: Moment = None,
        filters: Filters | Mapping[str, Any] | None = None,
    ) -> WhyNot:
        """Why a memory is not among the hits of a search; see `Memory.why_not`."""
        given = {"query": query, "top_k": top_k, "threshold": threshold, "scope": scope, "run_id": run_id}
        times = {"as_of": as_of, "known_at": known_at}
        answer: WhyNot = self._ask("why_not", memory_id=memory_id, **given, **times, filters=filters)
        return answer

    def remind(self, prompt: str = "", *, conversation: str = "", moment: At = "prompt", folder: str = "") -> Reminder:
        """What is to go into a conversation with a prompt, or at its beginning; see `Memory.remind`."""
        where = {"conversation": conversation, "folder": folder}
        answer: Reminder = self._ask("remind", prompt=prompt, moment=moment, **where)
        return answer

    def capture_point(self, conversation: str, *, folder: str = "") -> CapturePoint:
        """When a conversation is to be captured, and from where on; see `Memory.capture_point`."""
        answer: CapturePoint = self._ask("capture_point", conversation=conversation, folder=folder)
        return answer

    def capture(
        self,
        said: Sequence[Said | Mapping[str, Any]],
        *,
        conversation: str,
        folder: str = "",
        read: tuple[int, int] | None = None,
        served: Sequence[str] = (),
    ) -> Captured:
        """Take in what was said in a conversation; see `Memory.capture`."""
        where = {"conversation": conversation, "folder": folder}
        answer: Captured = self._ask("capture", said=[*said], read=read, served=[*served], **where)
        return answer

    def pause(self, client: str = "") -> None:
        """Have the memory keep out of all that a client does; see `Memory.pause`."""
        self._ask("pause", client=client)

    def resume(self, client: str = "") -> bool:
        """End a pause, or all; see `Memory.resume`."""
        answer: bool = self._ask("resume", client=client)
        return answer

    def refuse_if_paused(self) -> None:
        """Raise where this client is paused; see `Memory.refuse_if_paused`."""
        self._ask("refuse_if_paused")

    def paused(self) -> dict[str, datetime]:
        """The paused clients and since when; see `Memory.paused`."""
        answer: dict[str, datetime] = self._ask("paused")
        return answer

    def keep_notes(self, file: str, max_tokens: int) -> None:
        """Keep the block of a notes file up to date, relative to this process; see `LocalMemory.keep_notes`."""
        self._ask("keep_notes", file=str(place_of(file)), max_tokens=max_tokens)

    def forget_notes(self, file: str) -> bool:
        """Keep a notes file no more; see `LocalMemory.forget_notes`."""
        answer: bool = self._ask("forget_notes", file=str(place_of(file)))
        return answer

    def refresh_notes(self) -> builtins.list[NotesFile]:
        """Bring the kept notes files up to date now; see `LocalMemory.refresh_notes`."""
        answer: builtins.list[NotesFile] = self._ask("refresh_notes")
        return answer

    def add_token(self, user_id: str, *, label: str = "", expires_at: Moment = None) -> NewToken:
        """Make a token by which whoever shows it over HTTP is this user; see `LocalMemory.add_token`."""
        answer: NewToken = self._ask("add_token", user_id=user_id, label=label, expires_at=expires_at)
        return answer

    def tokens(self) -> builtins.list[Token]:
        """The tokens of all users, oldest first; see `LocalMemory.tokens`."""
        answer: builtins.list[Token] = self._ask("tokens")
        return answer

    def revoke_token(self, reference: str) -> builtins.list[Token]:
        """Have a token, or all those of a user, count no more; see `LocalMemory.revoke_token`."""
        answer: builtins.list[Token] = self._ask("revoke_token", reference=reference)
        return answer

    def stats(self) -> dict[str, int]:
        """Numbers of this user's memories by state, entities, episodes and waiting jobs."""
        answer: dict[str, int] = self._ask("stats")
        return answer

    @property
    def engine_pid(self) -> int:
        """The process that answers, 0 where it is not known at present."""
        return self._line.address.pid if self._line else 0

    def engine_settings(self) -> builtins.list[tuple[str, str, str]]:
        """(name, value, source) of each setting with which the engine was started."""
        answer: builtins.list[tuple[str, str, str]] = self._ask("settings")
        return answer

    def examine(self) -> builtins.list[Check]:
        """What `doctor` finds of the open folder, part by part."""
        answer: builtins.list[Check] = self._ask("examine")
        return answer

    def close(self) -> None:
        """Let go of the connection. Safe to repeat; a later call makes another one."""
        if self._line:
            self._line.close()
            self._line = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, method: str, **arguments: Any) -> Any:
        return self._call(method, arguments)

    def _call(
        self, method: str, arguments: Mapping[str, Any], on_progress: OnProgress = lambda _done, _total: None
    ) -> Any:
        with self._lock:
            # What only reads is asked once more when the engine goes away.
            for _ in range(2 if method in _READS else 1):
                if answer := self._answer(method, arguments, on_progress):
                    return read_answer(method, answer)
        raise StorageError(ENGINE_GONE, hint=_HINTS.get(method, "see whether it was done"))

    def _answer(self, method: str, arguments: Mapping[str, Any], on_progress: OnProgress) -> bytes:
        """The line that answers, b'' where the engine went away before."""
        self._n_asked += 1
        line = self._open()
        answer = b""
        try:
            line.send(question(self._n_asked, method, arguments))
            while said := line.reader.readline():
                told = progress_in(said)
                if told is None:
                    answer = said
                    break
                on_progress(*told)
        except OSError:
            # Nothing is left to do but to see to another connection the next time.
            pass
        finally:
            # Also when the caller interrupts: the answer to this would be taken for that to the next.
            if not answer:
                self._line = None
                line.close()
        return answer

    def _open(self) -> Line:
        """The connection, made anew where it has ended since the last answer."""
        if self._line and not self._line.is_quiet():
            self._line.close()
            self._line = None
        self._line = self._line or self._connect()
        return self._line
