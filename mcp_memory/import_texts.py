"""The pipeline that takes in texts of elsewhere, as `add` takes them: checked as a whole, then remembered in batches.

Each batch is one durable change together with the number of texts taken of its file, so that a run that was cut short
goes on where it stopped. Two batches are worked on at a time, and written in their order.
"""

import contextlib
import json
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from . import add as adding
from .add import Added
from .changes import put_taken
from .errors import InvalidInputError
from .exclusions import is_text_excluded
from .foreign_records import Found, Item, graph_items, message_items
from .import_source import Form, digest
from .markdown_notes import note_files, note_items
from .records import Episode, OnProgress, OwnDetails, Owner, Taken
from .reports import Imported, Problem
from .stores import Stores
from .text import content_hash
from .transfer_form import FlawError
from .transfer_rows import forget_taken, taken
from .turns import Turn

BATCH = 200
# Files are checked, and the known among them told, so many texts at a time.
_LOOKED_UP = 400
_SHOWN = 20
_MAX_BATCH_CHARS = 400_000


@dataclass(frozen=True, slots=True)
class _File:
    """A file to be taken in: what identifies it with its contents, and how many of its texts have been taken."""

    path: Path
    name: str
    source: str
    done: int


@dataclass(slots=True)
class _Checked:
    """What a reading of all files has found."""

    counts: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    outcome: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    n_items: int = 0
    n_done: int = 0
    said: set[tuple[str, ...]] = field(default_factory=set)


def import_texts(
    stores: Stores,
    owner: Owner,
    path: Path,
    form: Form,
    on_progress: OnProgress,
    *,
    after_change: Callable[[], None],
    exclude: Sequence[str] = (),
    is_dry_run: bool = False,
    again: bool = False,
    infer: bool = False,
    skip_bad: bool = False,
) -> Imported:
    """Take in messages, notes, or a graph of server-memory, word for word; `infer` queues them for extraction, too.

    What is known word for word is not doubled. With `again` files that were taken before are read once more; with
    `skip_bad` lines that are wrong are left out, and told. `after_change` starts what follows a change, so that little
    waits to be written to the tables.

    Raises:
        InvalidInputError: a line is wrong; nothing was written.
        StorageError: what was taken stays, and the same call goes on from there.
    """
    files = list(_files(stores, owner.user_id, path, form))
    if form == "markdown" and not files:
        raise InvalidInputError(f"there are no Markdown notes in {path}", hint="they end in .md or .markdown")
    if again:
        files = [_File(file.path, file.name, file.source, 0) for file in files]
    checked = _check(stores, owner, files, form, exclude, is_dry_run=is_dry_run)
    if checked.problems and not skip_bad and not is_dry_run:
        raise _refused(checked.problems)
    outcome = checked.outcome
    lag = ""
    if not is_dry_run:
        taking = _Taking(
            stores, owner, form, exclude, infer, on_progress, after_change, checked.n_done, checked.n_items
        )
        outcome = taking.run(files, again=again)
        n_left = stores.index_of(owner.user_id).count_without_vector()
        lag = f"{n_left} memories have still to be embedded" if n_left else ""
    return Imported(
        source=str(path),
        format=form,
        n_records=checked.n_items,
        counts=dict(checked.counts),
        outcome=dict(outcome),
        n_resumed=checked.n_done,
        is_dry_run=is_dry_run,
        problems=tuple(checked.problems),
        notices=_notices(checked),
        lag=lag,
    )


def _files(stores: Stores, user_id: str, path: Path, form: Form) -> Iterator[_File]:
    known = taken(stores.log, user_id, f"{form}:")
    paths = note_files(path) if form == "markdown" else [path]
    for each in paths:
        name = each.relative_to(path).as_posix() if path.is_dir() else each.name
        # Notes of the same words in two places are two notes; what one is called may be what is purged one day.
        source = f"{form}:{digest(each)}" + (f":{content_hash(name)}" if form == "markdown" else "")
        yield _File(each, name, source, known.get(source, 0))


def _items(file: _File, form: Form) -> Found:
    if form == "markdown":
        return note_items(file.path, file.name)
    return graph_items(file.path) if form == "server-memory" else message_items(file.path)


def _good(file: _File, form: Form) -> Iterator[Item]:
    for _, found in _items(file, form):
        if isinstance(found, Item) and found.message.content.strip():
            yield found


def _check(
    stores: Stores, owner: Owner, files: Sequence[_File], form: Form, exclude: Sequence[str], *, is_dry_run: bool
) -> _Checked:
    checked = _Checked()
    waiting: list[Item] = []
    for file in files:
        n_items = 0
        for line, found in _items(file, form):
            if isinstance(found, FlawError):
                checked.problems.append(Problem(str(file.path), line, str(found)))
            elif not found.message.content.strip():
                checked.counts["empty"] += 1
            else:
                n_items += 1
                checked.counts[found.kind] += 1
                checked.unknown.update(found.unknown)
                if is_dry_run and n_items > file.done:
                    waiting.append(found)
                if len(waiting) == _LOOKED_UP:
                    stores.check_open()
                    _foresee(stores, owner, waiting, exclude, checked)
                    waiting = []
        checked.n_items += n_items
        checked.n_done += min(file.done, n_items)
        if file.done and form == "markdown":
            checked.counts["files taken before"] += 1
    _foresee(stores, owner, waiting, exclude, checked)
    return checked


def _foresee(stores: Stores, owner: Owner, items: Sequence[Item], exclude: Sequence[str], checked: _Checked) -> None:
    """Say of some items what would become of them, as nearly as can be told before they are read."""
    hashes = {id(item): content_hash(item.message.content) for item in items}
    known = stores.log.same_text(owner.user_id, sorted(set(hashes.values())), ("active", "raw"))
    there = {
        (memory.hash, memory.about, memory.speaker, memory.run_id if memory.kind == "message" else "")
        for memory in known
    }
    for item in items:
        run_id = item.run_id if item.kind == "message" else ""
        key = (hashes[id(item)], item.about, item.message.speaker, run_id)
        if is_text_excluded(item.message.content, exclude):
            checked.outcome["excluded"] += 1
        elif key in there or key in checked.said:
            checked.outcome["duplicate"] += 1
        else:
            checked.said.add(key)
            checked.outcome["added"] += 1


def _refused(problems: Sequence[Problem]) -> InvalidInputError:
    shown = "; ".join(f"{each.file}, line {each.line}: {each.message}" for each in problems[:_SHOWN])
    more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
    return InvalidInputError(
        f"{shown}{more}", hint="nothing was taken; mend them, or leave them out with --skip-bad (skip_bad=True)"
    )


def _notices(checked: _Checked) -> tuple[str, ...]:
    found = [f"{n} × field {name!r}: kept as metadata" for name, n in sorted(checked.unknown.items())]
    if checked.n_done:
        found.append(f"{checked.n_done} of {checked.n_items} texts had been taken by an earlier run.")
    return tuple(found)


class _After(Turn):
    """The turn of a batch: it comes when the one before has been written, and never where that has failed."""

    def __init__(self, before: "Future[Added] | None") -> None:
        super().__init__()
        self._before = before

    @contextlib.contextmanager
    def served(self) -> Iterator[None]:
        """Do something when the batch before has been written."""
        if self._before:
            self._before.result()
        yield


@dataclass(slots=True)
class _Taking:
    """The remembering of the texts of some files, batch by batch."""

    stores: Stores
    owner: Owner
    form: Form
    exclude: Sequence[str]
    infer: bool
    on_progress: OnProgress
    after_change: Callable[[], None]
    n_done: int
    n_items: int
    outcome: Counter[str] = field(default_factory=Counter)
    ends: list[Taken] = field(default_factory=list)

    def run(self, files: Iterable[_File], *, again: bool) -> Counter[str]:
        """Remember everything; what became of it, by the status of receipts."""
        self.on_progress(self.n_done, self.n_items)
        with ThreadPoolExecutor(max_workers=2, thread_name_prefix="import") as executor:
            under_way: deque[tuple[Future[Added], int]] = deque()
            try:
                for file in files:
                    if again:
                        forget_taken(self.stores.log, self.owner.user_id, file.source)
                    for batch, done in self._batches(file):
                        before = under_way[-1][0] if under_way else None
                        work = self._work(batch, Taken(file.source, done), file, before)
                        under_way.append((executor.submit(work), len(batch)))
                        if len(under_way) > 2:
                            self._finish(*under_way.popleft())
                while under_way:
                    self._finish(*under_way.popleft())
                self._note_ends()
            except BaseException:
                executor.shutdown(wait=True, cancel_futures=True)
                raise
        return self.outcome

    def _finish(self, future: "Future[Added]", n_items: int) -> None:
        result = future.result().result
        self.outcome.update(receipt.status for receipt in result.results)
        self.n_done += n_items
        self.after_change()
        self.on_progress(self.n_done, self.n_items)

    def _batches(self, file: _File) -> Iterator[tuple[list[Item], int]]:
        """Items that can be remembered together, and how many of their file are done with them."""
        batch: list[Item] = []
        said: dict[tuple[str, str], datetime | None] = {}
        n_chars, done = 0, 0
        for done, item in enumerate(_good(file, self.form), start=1):
            if done <= file.done:
                continue
            key = (item.message.content.casefold(), item.message.speaker)
            # Said again on another day it is met again, or is news: that is told of what is known, not within a call.
            is_said_later = key in said and said[key] != item.observed_at
            n_chars += len(item.message.content)
            is_full = len(batch) == BATCH or n_chars > _MAX_BATCH_CHARS
            if batch and (is_full or is_said_later or self._together(batch[0]) != self._together(item)):
                yield batch, done - 1
                batch, said, n_chars = [], {}, len(item.message.content)
            said.setdefault(key, item.observed_at)
            batch.append(item)
        if batch:
            yield batch, done
        if done > file.done:
            self.ends.append(Taken(file.source, done))

    def _together(self, item: Item) -> tuple[Any, ...]:
        shared = (item.run_id, item.kind, item.about, item.expires_at)
        if not self.infer:
            return shared
        # The language model is told one date, and what it makes has the metadata of all.
        return (*shared, item.observed_at, json.dumps(dict(item.metadata), sort_keys=True))

    def _work(
        self, batch: Sequence[Item], taken_with: Taken, file: _File, before: "Future[Added] | None"
    ) -> Callable[[], Added]:
        # What has no time of its own was written by then; a file of a clock that is ahead was by now.
        modified_at = min(datetime.fromtimestamp(file.path.stat().st_mtime, UTC), self.stores.clock())
        wanted = [item for item in batch if not is_text_excluded(item.message.content, self.exclude)]
        self.outcome["excluded"] += len(batch) - len(wanted)
        first = wanted[0] if wanted else batch[0]
        own = [OwnDetails(item.observed_at or modified_at, dict(item.metadata)) for item in wanted]
        stores = self.stores
        now = stores.clock()

        def work() -> Added:
            stores.check_open()
            with stores.writing:
                identifier = stores.ids.next(now)
            episode = Episode(
                id=identifier,
                owner=self.owner,
                messages=tuple(item.message for item in wanted),
                infer=self.infer,
                about=first.about,
                kind=first.kind,
                run_id=first.run_id,
                observed_at=first.observed_at or modified_at,
                created_at=now,
                expires_at=first.expires_at,
                metadata=dict(first.metadata) if self.infer else _source_of(first.metadata),
            )
            return adding.add(episode, stores, _After(before), own=own, taken=taken_with)

        return work

    def _note_ends(self) -> None:
        """Note how far each file has been read, where its last texts led to no change."""
        with self.stores.writing, self.stores.log.writing() as connection:
            for end in self.ends:
                put_taken(connection, self.owner.user_id, end, self.stores.clock())


def _source_of(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {"source": metadata["source"]} if "source" in metadata else {}
