"""The pipeline that takes in an export of mcp-memory: checked as a whole, written in batches, then embedded.

Nothing is written before every line has been read and found good. Each batch is one durable transaction together with
the number of records taken, so that a run that was cut short goes on where it stopped.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .erasure import purged_among
from .errors import ConflictError, InvalidInputError, McpMemoryError, StorageError
from .exclusions import is_text_excluded
from .export_file import shift_of
from .ids import IdSequence, decode
from .import_source import digest, lines, state_of, unchanged_since
from .reconcile import catch_up
from .records import SEARCHABLE, OnProgress, Taken
from .reports import Imported
from .stores import Stores
from .transfer_form import FlawError, Header, Record, Trailer, Translation, ids_in, read_header, read_line
from .transfer_rows import compare, merge_entities, taken, tidy, write_batch

BATCH = 1000
_SHOWN = 20
_FORM = "mcp-memory"


@dataclass(slots=True)
class _Checked:
    """What a reading of the whole file has found."""

    header: Header
    translation: Translation
    counts: Counter[str] = field(default_factory=Counter)
    outcome: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    n_records: int = 0
    n_to_embed: int = 0
    last_id: str = ""
    n_purged: int = 0
    edited: list[str] = field(default_factory=list)
    is_taken_by_another: bool = False


def import_rows(
    stores: Stores,
    user_id: str,
    path: Path,
    on_progress: OnProgress,
    *,
    exclude: Sequence[str] = (),
    is_dry_run: bool = False,
    again: bool = False,
) -> Imported:
    """Take in a file that `export` wrote, as the memory of this user whoever's it was.

    Rows come in as they were, with their ids, times, states and events. What is here already stays, unless the file
    tells a later state of it. Where an id of the file belongs to something else here, all its ids are moved by one
    number. With `again` a file that was taken before is read once more.

    Raises:
        InvalidInputError: a line is wrong, the file was cut or is of a newer program; nothing was written.
        ConflictError: the file and the folder tell different things of one change; nothing was written.
        StorageError: what was taken stays, and the same call goes on from there.
    """
    seen = state_of(path)
    header = _header(path)
    prefix = f"{_FORM}:{header.origin}:"
    earlier = taken(stores.log, user_id, prefix)
    shift = int(next(reversed(earlier), f"{prefix}0:").removeprefix(prefix).partition(":")[0])
    checked = _check(stores, user_id, path, header, shift, exclude)
    if checked.is_taken_by_another and not earlier:
        shift = shift_of(header.origin, user_id)
        checked = _check(stores, user_id, path, header, shift, exclude)
    if checked.is_taken_by_another:
        raise ConflictError(
            f"ids of {path} belong to other memories here", hint="import it into a new folder, and search both"
        )
    source = f"{prefix}{shift}:{digest(path)}"
    done = 0 if again else min(earlier.get(source, 0), checked.n_records)
    notices = _notices(checked, shift, done)
    outcome, lag = checked.outcome, ""
    if is_dry_run:
        notices = (*notices, "What would become of them is told of the records that have ids.")
    else:
        outcome = _write(stores, user_id, path, checked, source, done, on_progress, seen)
        lag = _embed(stores, checked.n_records, on_progress)
    return Imported(
        source=str(path),
        format=_FORM,
        n_records=checked.n_records,
        counts=dict(checked.counts),
        outcome=dict(outcome),
        n_resumed=done,
        is_dry_run=is_dry_run,
        notices=notices,
        lag=lag,
    )


def _header(path: Path) -> Header:
    for number, line in lines(path):
        try:
            return read_header(line)
        except FlawError as exc:
            raise InvalidInputError(
                f"{path}, line {number}: {exc}", hint="nothing was taken; use another file"
            ) from exc
    raise InvalidInputError(f"{path} is empty", hint="nothing was taken; use another file")


def _records(path: Path) -> Iterator[tuple[int, Record | Trailer | FlawError]]:
    """(line number, what it holds) after the header."""
    found = lines(path)
    next(found, None)
    for number, line in found:
        try:
            yield number, read_line(line)
        except FlawError as exc:
            yield number, exc


def _check(stores: Stores, user_id: str, path: Path, header: Header, shift: int, exclude: Sequence[str]) -> _Checked:
    """Read the whole file.

    Raises:
        InvalidInputError, ConflictError: it cannot be taken.
    """
    checked = _Checked(header, Translation(shift))
    problems = _Problems(path)
    batch: list[Record] = []
    trailer: Trailer | None = None
    number = 1
    for number, found in _records(path):
        if isinstance(found, FlawError):
            problems.note(number, str(found))
        elif trailer:
            problems.note(number, "there is more after the last line")
        elif isinstance(found, Trailer):
            trailer = found
        else:
            checked.n_records += 1
            _count(found, checked)
            if _is_excluded(found, exclude):
                problems.note(number, "it holds what the setting exclude_text excludes")
            batch.append(found)
        if len(batch) == BATCH:
            stores.check_open()
            _compare(stores, user_id, batch, checked)
            batch = []
    _compare(stores, user_id, batch, checked)
    _check_end(number, trailer, checked, problems)
    if not _is_soon_enough(checked.last_id, stores):
        problems.note(0, f"id {checked.last_id} is of a time that is still to come")
    problems.refuse()
    if checked.n_purged:
        raise ConflictError(
            f"{checked.n_purged} of the memories in {path} were purged here; nothing was taken",
            hint="use an export that was made since, or import this one into another folder",
        )
    if checked.edited:
        raise ConflictError(
            f"{checked.edited[0]} is here as the same change left it, and the file tells something else of it",
            hint="nothing was taken; an export is not to be edited: correct the memory itself",
        )
    return checked


def _check_end(number: int, trailer: Trailer | None, checked: _Checked, problems: "_Problems") -> None:
    if trailer is None:
        problems.note(number, "the last line is missing: the file was cut")
    elif trailer.n_records != checked.n_records and not problems.n:
        problems.note(number, f"{checked.n_records} records, and {trailer.n_records} were written")


@dataclass(slots=True)
class _Problems:
    """What is wrong with a file: the first of them, and how many there are."""

    path: Path
    first: list[str] = field(default_factory=list)
    n: int = 0

    def note(self, line: int, message: str) -> None:
        """Remember one; line 0 is the whole file."""
        self.n += 1
        if self.n <= _SHOWN:
            self.first.append(f"line {line}: {message}" if line else message)

    def refuse(self) -> None:
        """Raise where there is any."""
        more = f"; and {self.n - _SHOWN} more" if self.n > _SHOWN else ""
        if self.n:
            raise InvalidInputError(
                f"{self.path}: {'; '.join(self.first)}{more}",
                hint="nothing was taken; export again, or use another copy",
            )


def _compare(stores: Stores, user_id: str, batch: Sequence[Record], checked: _Checked) -> None:
    known = [record for record in batch if record.row]
    checked.last_id = max([checked.last_id, *map(checked.translation.of, ids_in(known))])
    memory_ids = [checked.translation.of(record.row["id"]) for record in known if record.type == "memory"]
    checked.n_purged += len(purged_among(stores.log, user_id, memory_ids))
    merge_entities(stores.log, user_id, known, checked.translation)
    clashes, outcome = compare(stores.log, user_id, known, checked.translation)
    checked.outcome += outcome
    checked.is_taken_by_another = checked.is_taken_by_another or any(clash.is_other for clash in clashes)
    checked.edited += [f"{clash.type} {clash.id}" for clash in clashes if not clash.is_other]


def _count(record: Record, checked: _Checked) -> None:
    if not record.row:
        checked.unknown[f"type {record.type!r}"] += 1
        return
    checked.counts[record.type] += 1
    checked.unknown.update(f"field {name!r} of {record.type}" for name in record.unknown)
    checked.n_to_embed += record.type == "entity" or record.row.get("state") in SEARCHABLE


def _is_excluded(record: Record, patterns: Sequence[str]) -> bool:
    return bool(patterns) and any(is_text_excluded(text, patterns) for text in _texts(record.row))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _is_soon_enough(last_id: str, stores: Stores) -> bool:
    """Whether ids of this folder can come after one, and go on to tell the time."""
    if not last_id:
        return True
    year_on = stores.clock().replace(year=stores.clock().year + 1, day=1)
    return decode(last_id) < decode(IdSequence().next(year_on))


def _notices(checked: _Checked, shift: int, done: int) -> tuple[str, ...]:
    found = [f"{n} × {what}: not known to this version, and left out" for what, n in sorted(checked.unknown.items())]
    if shift:
        found.append("Ids of the file belong to other memories here: what came from it has ids of its own.")
    if n_merged := len(checked.translation.merged):
        found.append(f"{n_merged} names are known here: what is linked to them is linked to those.")
    if done:
        found.append(f"{done} of {checked.n_records} records had been taken by an earlier run.")
    return tuple(found)


def _write(
    stores: Stores,
    user_id: str,
    path: Path,
    checked: _Checked,
    source: str,
    done: int,
    on_progress: OnProgress,
    seen: tuple[int, int, int],
) -> Counter[str]:
    outcome: Counter[str] = Counter()
    total = checked.n_records + checked.n_to_embed
    on_progress(done, total)
    for batch in _batches(path, done):
        stores.check_open()
        if not unchanged_since(path, seen):
            raise StorageError(f"{path} was changed while it was read", hint="run the same command again")
        done += len(batch)
        known = [record for record in batch if record.row]
        with stores.writing:
            # Later ids come after these, and the tables learn of them below.
            stores.ids.skip(checked.last_id)
            stores.is_behind = True
            merge_entities(stores.log, user_id, known, checked.translation)
            outcome += write_batch(stores.log, user_id, known, checked.translation, Taken(source, done), stores.clock())
            if any(record.type == "entity" for record in known):
                # Whoever adds meanwhile is to find the names.
                stores.forget_index(user_id)
        on_progress(done, total)
    with stores.writing:
        stores.is_behind = True
        tidy(stores.log, user_id)
        stores.forget_index(user_id)
    return outcome


def _batches(path: Path, done: int) -> Iterator[list[Record]]:
    """The records after those that are done."""
    batch: list[Record] = []
    for place, (_, found) in enumerate(_records(path)):
        if place < done or isinstance(found, Trailer):
            continue
        if isinstance(found, FlawError):
            raise StorageError(f"{path} was changed while it was read", hint="run the same command again")
        batch.append(found)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _embed(stores: Stores, n_records: int, on_progress: OnProgress) -> str:
    """Have the tables learn of what came; '' or why they cannot."""
    try:
        catch_up(stores, lambda done, total: on_progress(n_records + done, n_records + total))
    except McpMemoryError as exc:
        return exc.message
    return ""
