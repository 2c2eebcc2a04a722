"""The purging pipeline: deleted, taken out of the log for good, and then out of every file of the data folder.

After the second step nothing can bring it back. The third may take a while: where it is cut short, the next start of
the folder takes it up.
"""

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from .address import LOG_NAME as ENGINE_LOG_NAME
from .address import STDERR_NAME
from .erasure import Erased, erase, expired, family_of, finish_erasing
from .errors import McpMemoryError, StorageError
from .forget import delete_all
from .lookup import find, find_kept
from .records import DeleteResult, Memory, Owner
from .renew import alone, rewrite
from .stores import Stores
from .traces import Traces

COPIES = "copies"
_SET_ASIDE = "before-restore-*"
_N_COPIES = 100
# How long a purge waits for an import to end.
_WAIT_S = 30.0


@dataclass(frozen=True, slots=True)
class Purged:
    """The memories that were meant, how many went in all, and the files of earlier times that still have them.

    `same_words` are the ids of memories that stay, and say the same word for word.
    """

    meant: tuple[Memory, ...]
    n_purged: int = 0
    copies: tuple[str, ...] = ()
    same_words: tuple[str, ...] = ()


def purge(memory_id: str, owner: Owner, stores: Stores) -> DeleteResult:
    """Take one memory out for good, with the words that it was read out of and what was merged into it.

    Siblings that were read out of the same words stay. It may have been deleted before.

    Raises:
        NotFoundError: no such memory, or it has given way to others, which are named.
        StorageError: as `purge_all` does.
    """
    purged = purge_all(lambda: [_meant(memory_id, owner, stores)], owner, stores)
    memory = purged.meant[0]
    return DeleteResult(
        memory.id, memory.text, n_purged=purged.n_purged, copies=purged.copies, same_words=purged.same_words
    )


def purge_all(choose: Callable[[], Sequence[Memory]], owner: Owner, stores: Stores) -> Purged:
    """Take memories of one user out for good; they are chosen when nothing can be changed any more.

    Raises:
        StorageError: before they were taken out: nothing has changed. After that, which the message says: they are gone
            from the log, and the rest is done when the folder is next opened.
    """
    with _while_nothing_comes_in(stores), alone(stores):
        with stores.writing:
            meant = choose()
            if not meant:
                return Purged(())
            was_unfinished = stores.is_purge_unfinished
            erased = _take_out(meant, owner, stores)
        # Of one that was cut short before nobody knows the traces: then the program's logs are emptied.
        _finish_or_say(stores, *([] if was_unfinished else [erased.traces]))
    copies = tuple(_copies(stores, owner.user_id, erased.created_at))
    return Purged(tuple(meant), len(erased.memory_ids), copies, erased.same_words)


def purge_expired(stores: Stores, kept_days: int, agent_id: str) -> int:
    """Take out what expired so many days ago, of all users; how many memories that were. -1 keeps everything.

    Raises:
        StorageError: as `purge` does; somebody makes the tables anew at present.
    """
    if kept_days < 0:
        return 0
    before = stores.clock() - timedelta(days=kept_days)
    if not expired(stores.log, before):
        return 0
    n_purged = 0
    with _while_nothing_comes_in(stores), alone(stores):
        traces: list[Traces] = []
        while due := expired(stores.log, before):
            for user_id, ids in due.items():
                with stores.writing:
                    # Somebody may have given it longer meanwhile.
                    found = [
                        memory
                        for memory in stores.log.get_memories(ids).values()
                        if memory.expires_at and memory.expires_at < before
                    ]
                    if not found:
                        continue
                    erased = _take_out(found, Owner(user_id, agent_id), stores)
                traces.append(erased.traces)
                n_purged += len(erased.memory_ids)
        _finish_or_say(stores, *traces)
    return n_purged


@contextlib.contextmanager
def _while_nothing_comes_in(stores: Stores) -> Iterator[None]:
    if not stores.importing.acquire(timeout=_WAIT_S):
        raise StorageError("a file is being imported; nothing was purged", hint="wait for that import to end")
    try:
        yield
    finally:
        stores.importing.release()


def _finish_or_say(stores: Stores, *traces: Traces) -> None:
    try:
        finish(stores, *traces)
    except McpMemoryError as exc:
        raise StorageError(
            f"taken out of the log for good, and not yet out of every file: {exc.message}",
            hint=f"{exc.hint}; the rest is done when the folder is next opened (mcp-memory engine stop)",
        ) from exc


def finish(stores: Stores, *traces: Traces) -> None:
    """Take out of the files what is out of the log already. Call it `alone`, and without a lock; safe to repeat.

    Raises:
        StorageError: something of it is still to be done.
    """
    stores.is_purge_unfinished = True
    rewrite(stores)
    stores.folder.clear()
    try:
        for copy in stores.log.copies_before_migrating():
            copy.unlink(missing_ok=True)
        for path in _program_logs(stores.settings.home):
            if traces:
                _scrub(path, traces)
            elif path.exists():
                # By what lines would tell of it is not known any more.
                path.write_bytes(b"")
    except OSError as exc:
        raise StorageError(f"{exc.filename} cannot be changed: {exc.strerror}", hint="check its permissions") from exc
    with stores.writing:
        finish_erasing(stores.log)
    stores.is_purge_unfinished = False


def note_copy(stores: Stores, path: Path, at: datetime, user_id: str = "") -> None:
    """Remember where a copy of what is stored lies, of one user or of all, so that a purge can name it."""
    with stores.writing:
        known = _known_copies(stores)
        known.pop(str(path), None)
        kept = dict([*known.items(), (str(path), [at.isoformat(), user_id])][-_N_COPIES:])
        stores.log.set_meta(**{COPIES: json.dumps(kept, ensure_ascii=False)})


def _meant(memory_id: str, owner: Owner, stores: Stores) -> Memory:
    """The memory that is to go; one that was deleted still has something to take out."""
    memory = find(memory_id, owner.user_id, stores.log)
    return memory if memory.state == "deleted" else find_kept(memory_id, owner.user_id, stores.log, to="purge")


def _take_out(memories: Sequence[Memory], owner: Owner, stores: Stores) -> Erased:
    """Delete memories, as far as they are not, and take them out of the log: one transaction."""
    going = [each for each in memories if each.state != "deleted"]
    ids = family_of(stores.log, owner.user_id, [each.id for each in memories])
    now = stores.clock()
    change_id = stores.ids.next(now)
    erased: list[Erased] = []

    def take_out(connection: Any) -> None:
        erased.append(erase(connection, owner, ids, change_id, now))

    if going:
        delete_all(going, owner, stores, then=take_out)
    else:
        with stores.log.writing() as connection:
            take_out(connection)
    stores.is_purge_unfinished = True
    # What the index of the user has of names is not that of the log any more.
    stores.forget_index(owner.user_id)
    return erased[0]


def _copies(stores: Stores, user_id: str, since: datetime) -> Iterator[str]:
    """Files that may hold what a user had there at a time, and that are not this program's to change.

    Where files of the whole folder lie is for whoever it belongs to; others are told what they are called.
    """
    is_owner = user_id in (stores.settings.user_id, stores.log.get_meta("user_id"))
    for path, (at, whose) in _known_copies(stores).items():
        if datetime.fromisoformat(at) >= since and whose in ("", user_id) and Path(path).exists():
            yield path if whose or is_owner else Path(path).name
    for aside in sorted(stores.settings.home.glob(_SET_ASIDE)):
        yield str(aside) if is_owner else aside.name


def _known_copies(stores: Stores) -> dict[str, list[str]]:
    known: dict[str, list[str]] = json.loads(stores.log.get_meta(COPIES) or "{}")
    return known


def _program_logs(home: Path) -> list[Path]:
    return [*sorted(home.glob(f"{ENGINE_LOG_NAME}*")), home / STDERR_NAME]


def _scrub(path: Path, traces: Sequence[Traces]) -> None:
    """Take out the lines that tell of what was purged; the file stays the one that the program writes to."""
    try:
        with path.open("r+", encoding="utf-8", errors="surrogateescape", newline="") as file:
            lines = file.readlines()
            kept = [line for line in lines if not any(each.are_in(line) for each in traces)]
            if len(kept) < len(lines):
                file.seek(0)
                file.writelines(kept)
                file.truncate()
    except FileNotFoundError:
        return
