"""The form in which one user's memory leaves a folder and comes into another: JSON Lines, one record a line.

The first line is a header, the last a trailer with the number of records, so that a file that was cut is known. The
records between them are the rows of the log as they are, without whose they are: that stands in the header alone.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from . import schema
from .ids import ALPHABET, LENGTH, decode, encode
from .records import ABOUTS, FACT_TYPES, KINDS, ROLES, STATES
from .schema import Json, UtcMicros

FORMAT = "mcp-memory"
VERSION = 1
TRAILER = "end"
# The log's own numbers of rows: the next log gives its own, in the same order.
_LEFT_OUT = frozenset(("user_id", "sequence"))
_MAY_BE_NULL = frozenset(
    {
        *(("memory", name) for name in ("expires_at", "valid_from", "invalid_at", "closed_at")),
        *(("fact", name) for name in ("invalid_at", "closed_at")),
        *(("former_validity", name) for name in ("valid_from", "invalid_at")),
        *(("event", name) for name in ("before", "after")),
        ("episode", "expires_at"),
        ("feedback", "useful_at"),
        ("conversation", "begun_at"),
    }
)
_ALLOWED: Mapping[tuple[str, str], Sequence[str]] = {
    ("memory", "state"): STATES,
    ("memory", "kind"): KINDS,
    ("memory", "about"): ABOUTS,
    ("memory", "role"): ROLES,
    ("episode", "kind"): KINDS,
    ("episode", "about"): ABOUTS,
    ("fact", "fact_type"): FACT_TYPES,
}
# The tables behind the types, in the order of a file: what others name comes before them, and what sets work going
# comes last.
TABLES = {
    "entity": schema.entities,
    "episode": schema.episodes,
    "memory": schema.memories,
    "fact": schema.facts,
    "former_validity": schema.former_validity,
    "feedback": schema.feedback,
    "message": schema.messages,
    "conversation": schema.conversations,
    "given": schema.given,
    "pause": schema.pauses,
    "profile": schema.profiles,
    "event": schema.events,
    "job": schema.jobs,
}
# What stands in a record beside the columns of its table: the names of an entity, the entities of a memory.
BESIDE: Mapping[str, str] = {"entity": "aliases", "memory": "entities"}
# Columns that would be taken for the type of a record.
_CALLED: Mapping[tuple[str, str], str] = {("entity", "type"): "entity_type"}
_ID_FIELDS = (
    "id", "memory_id", "entity_id", "fact_id", "episode_id", "change_id", "revision", "subject_id", "object_id",
    "ended_by", "item_id",
)  # fmt: skip
_ID_LISTS = ("entities", "memory_ids")
_HAVE_NO_ID = ("conversation",)
_UNDO_OF = "undo of "


class FlawError(ValueError):
    """What is wrong with one line of a file."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first line: who wrote what, when, of whose memory; `origin` is the folder that it comes from."""

    version: int
    program: str
    user_id: str
    exported_at: datetime
    embedding_model: str
    origin: str
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Record:
    """One line between header and trailer: its type and the row, times as aware UTC."""

    type: str
    row: dict[str, Any]
    unknown: tuple[str, ...] = ()  # fields that this version does not know


@dataclass(frozen=True, slots=True)
class Trailer:
    """The last line: how many records stand before it."""

    n_records: int


Column = tuple[str, type, bool]


def _columns(name: str) -> tuple[Column, ...]:
    """(name, Python type, may be null) of what a record of a type has; `object` is any JSON value."""
    found: list[Column] = []
    for column in TABLES[name].columns:
        if column.name in _LEFT_OUT:
            continue
        kind = datetime if isinstance(column.type, UtcMicros) else object
        if not isinstance(column.type, (UtcMicros, Json)):
            kind = column.type.python_type
        found.append((column.name, kind, (name, column.name) in _MAY_BE_NULL))
    return tuple(found)


COLUMNS: Mapping[str, tuple[Column, ...]] = {name: _columns(name) for name in TABLES}
_KNOWN_FIELDS = {
    name: {
        "type",
        *(_CALLED.get((name, column), column) for column, _, _ in columns),
        *([BESIDE[name]] if name in BESIDE else []),
    }
    for name, columns in COLUMNS.items()
}


def as_line(value: Mapping[str, Any]) -> bytes:
    """A record as one line of UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def header_line(header: Header) -> bytes:
    """The first line of a file."""
    return as_line(
        {
            "format": FORMAT,
            "version": header.version,
            "program": header.program,
            "user_id": header.user_id,
            "exported_at": as_text(header.exported_at),
            "embedding_model": header.embedding_model,
            "origin": header.origin,
            "counts": dict(header.counts),
        }
    )


def trailer_line(n_records: int) -> bytes:
    """The last line of a file."""
    return as_line({"type": TRAILER, "records": n_records})


def record_line(name: str, row: Mapping[str, Any], beside: Any = None) -> bytes:
    """A row of the log as a line; `beside` is what stands in it beside the columns."""
    record: dict[str, Any] = {"type": name}
    for column, kind, _ in COLUMNS[name]:
        value = row[column]
        called = _CALLED.get((name, column), column)
        record[called] = as_text(value) if kind is datetime and value is not None else value
    if name in BESIDE:
        record[BESIDE[name]] = beside
    for column in ("before", "after") if name == "event" else ():
        if record[column]:
            record[column] = {key: value for key, value in record[column].items() if key != "user_id"}
    return as_line(record)


def as_text(moment: datetime) -> str:
    """A time to the microsecond, in UTC.

    >>> as_text(datetime(2026, 1, 2, tzinfo=UTC))
    '2026-01-02T00:00:00.000000+00:00'
    """
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def read_header(line: bytes) -> Header:
    """The header of a file.

    Raises:
        FlawError: it is none, or of a newer version.
    """
    value = _object(line)
    if value.get("format") != FORMAT:
        raise FlawError("this is no header of an export of mcp-memory")
    version = value.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FlawError(f"the header has version {version!r}")
    if version > VERSION:
        program = str(value.get("program") or "a newer version")
        raise FlawError(
            f"the file has version {version} of the format, this program knows {VERSION}: update mcp-memory to"
            f" {program} or newer"
        )
    counts = value.get("counts")
    if not str(value.get("origin", "")).isalnum():
        raise FlawError("the header does not say which folder it comes from")
    try:
        return Header(
            version,
            str(value["program"]),
            str(value["user_id"]),
            _moment(value["exported_at"]),
            str(value["embedding_model"]),
            str(value["origin"]),
            {str(key): int(n) for key, n in counts.items()} if isinstance(counts, dict) else {},
        )
    except (KeyError, TypeError, ValueError) as exc:
        raise FlawError(f"the header lacks {exc}" if isinstance(exc, KeyError) else f"the header: {exc}") from exc


def read_line(line: bytes) -> Record | Trailer:
    """A record, or the trailer. A type that this version does not know comes as a record without a row.

    Raises:
        FlawError: it is no JSON object, or a field is missing or has another type.
    """
    value = _object(line)
    name = value.get("type")
    if name == TRAILER:
        n_records = value.get("records")
        if not isinstance(n_records, int):
            raise FlawError("the last line does not say how many records there are")
        return Trailer(n_records)
    if not isinstance(name, str):
        raise FlawError("there is no type")
    if name not in TABLES:
        return Record(name, {}, ("type",))
    row = {column: _value(name, column, kind, may_be_null, value) for column, kind, may_be_null in COLUMNS[name]}
    _check_id(name, row)
    if name in BESIDE:
        row[BESIDE[name]] = _beside(name, value.get(BESIDE[name]))
    return Record(name, row, tuple(sorted(value.keys() - _KNOWN_FIELDS[name])))


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line, parse_constant=_no_number)
        # Halves of characters that no text can hold.
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as exc:
        raise FlawError(f"this is no JSON: {exc}") from exc
    if not isinstance(value, dict):
        raise FlawError("this is no JSON object")
    return value


def _value(name: str, column: str, kind: type, may_be_null: bool, given: Mapping[str, Any]) -> Any:
    called = _CALLED.get((name, column), column)
    if called not in given:
        raise FlawError(f"{name} lacks {called}")
    value = given[called]
    if value is None:
        if may_be_null:
            return None
        raise FlawError(f"{column} is null")
    if kind is datetime:
        return _moment(value, column)
    if kind is object:
        _check_form(name, column, value)
        return value
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise FlawError(f"{column} is {type(value).__name__}, not {kind.__name__}")
    _check_bounds(name, column, value)
    return value


def _check_bounds(name: str, column: str, value: Any) -> None:
    if isinstance(value, int) and abs(value) >= 1 << 63:
        raise FlawError(f"{column} {value} is too large")
    if column == "importance" and not 0 <= value <= 1:
        raise FlawError(f"{column} {value} is not in 0..1")
    if column == "revision" and value and not is_id(value):
        raise FlawError(f"{column} {value!r} is no id")
    allowed = _ALLOWED.get((name, column))
    if allowed and value not in allowed:
        raise FlawError(f"{column} {value!r} is none of {', '.join(allowed)}")


def _moment(value: Any, name: str = "exported_at") -> datetime:
    try:
        moment = datetime.fromisoformat(value)
        in_utc = moment.astimezone(UTC)
    except (TypeError, ValueError, OverflowError) as exc:
        raise FlawError(f"{name} {value!r} is no ISO time") from exc
    if moment.tzinfo is None:
        raise FlawError(f"{name} {value!r} has no time zone")
    return in_utc


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _check_form(name: str, column: str, value: Any) -> None:
    """What the columns of any JSON value hold in this program."""
    if column == "metadata" and not isinstance(value, dict):
        raise FlawError("metadata is no object")
    if column == "messages":
        texts = ("role", "content", "speaker")
        if not isinstance(value, list) or not all(
            isinstance(each, dict) and set(each) == set(texts) and all(isinstance(each[part], str) for part in texts)
            for each in value
        ):
            raise FlawError(f"messages is no list of {', '.join(texts)}")
    if column == "memory_ids" and not (isinstance(value, list) and all(isinstance(each, str) for each in value)):
        raise FlawError("memory_ids is no list of ids")
    if name == "event" and not _is_told_row(value):
        raise FlawError(f"{column} is no row as an event tells it")


def _is_told_row(value: Any) -> bool:
    """Whether it is a memory, a fact, an entity with its names, or the time of a sighting."""
    if not isinstance(value, dict):
        return False
    if "name_key" in value:
        names = value.get("aliases")
        return isinstance(value.get("name"), str) and isinstance(names, list) and all(map(_is_pair, names))
    if "text" in value:
        return {"id", "state", "speaker", "observed_at", "superseded_by", "episode_id"} <= value.keys()
    return "observed_at" in value or {"id", "subject_id", "relation", "object", "memory_id"} <= value.keys()


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(each, str) for each in value)


def _check_id(name: str, row: Mapping[str, Any]) -> None:
    if "id" in row and name not in _HAVE_NO_ID and not is_id(row["id"]):
        raise FlawError(f"id {row['id']!r} is no id: those have {LENGTH} characters")


def _beside(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise FlawError(f"{name} lacks {BESIDE[name]}")
    if name == "memory":
        if not all(isinstance(each, str) for each in value):
            raise FlawError("entities is no list of ids")
    elif not all(isinstance(each, list) and len(each) == 2 and all(isinstance(s, str) for s in each) for each in value):
        raise FlawError("aliases is no list of [name, key]")
    return value


def is_id(value: str) -> bool:
    """Whether a text has the form of an id.

    >>> is_id("06f5wksm00dr"), is_id("memory")
    (True, False)
    """
    return len(value) == LENGTH and all(character in ALPHABET for character in value)


@dataclass(slots=True)
class Translation:
    """What becomes of ids on their way in: each is moved by `shift`, then those in `merged` give way to another.

    The same number for all keeps them in order and apart from each other, and what names them finds them.
    """

    shift: int = 0
    merged: dict[str, str] = field(default_factory=dict)

    def of(self, identifier: str) -> str:
        """What an id becomes; a text that is none stays as it is.

        >>> Translation(2).of("06f5wksm00dr"), Translation(2).of("memory")
        ('06f5wksm00dt', 'memory')
        """
        if self.shift and is_id(identifier):
            identifier = encode(decode(identifier) + self.shift)
        return self.merged.get(identifier, identifier)

    def of_row(self, name: str, row: Mapping[str, Any]) -> dict[str, Any]:
        """A row with its ids as they become, those in the rows that an event tells of too."""
        if not self.shift and not self.merged:
            return dict(row)
        found = _with_ids(row, self.of) if name not in _HAVE_NO_ID else dict(row)
        if name == "given":
            found["conversation_id"] = row["conversation_id"]
        if name == "event":
            for column in ("before", "after"):
                if isinstance(row[column], dict):
                    found[column] = _with_ids(row[column], self.of)
            if row["reason"].startswith(_UNDO_OF):
                found["reason"] = _UNDO_OF + self.of(row["reason"].removeprefix(_UNDO_OF))
        return found


def _with_ids(row: Mapping[str, Any], of: Callable[[str], str]) -> dict[str, Any]:
    found = dict(row)
    for name in _ID_FIELDS:
        if isinstance(found.get(name), str):
            found[name] = of(found[name])
    for name in _ID_LISTS:
        if isinstance(found.get(name), list):
            # Two that give way to one are one.
            found[name] = list(dict.fromkeys(of(each) for each in found[name]))
    if found.get("superseded_by"):
        found["superseded_by"] = " ".join(of(each) for each in found["superseded_by"].split())
    return found


def ids_in(records: Iterable[Record]) -> set[str]:
    """Every id that records bear or that wrote them: what later ids must come after."""
    return {
        value
        for record in records
        for name in ("id", "change_id", "revision")
        if isinstance(value := record.row.get(name), str) and is_id(value) and record.type not in _HAVE_NO_ID
    }
