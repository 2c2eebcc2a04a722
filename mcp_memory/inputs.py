"""The door: every value from outside is checked once, here, and an error names it."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from .errors import InvalidInputError
from .records import ABOUTS, KINDS, ROLES, SCOPES, SEARCHABLE, STATES, Message, Owner
from .search_records import Filters, Selection, Where
from .text import clean

MAX_TEXT_CHARS = 200_000
MAX_QUERY_CHARS = 200_000
MAX_MESSAGES = 1_000
MAX_TOP_K = 100
# An expiry that a correction takes away.
NEVER = "never"
MAX_METADATA_BYTES = 16 * 1024
MAX_METADATA_DEPTH = 32

Moment = datetime | date | str | None


def messages_of(text: str, messages: Sequence[Message | Mapping[str, Any]] | None) -> tuple[Message, ...]:
    """The messages of a call, from a text or from messages as hosts send them."""
    if messages and text.strip():
        raise InvalidInputError("both text and messages were given", hint="give one of the two")
    if not messages:
        if not text.strip():
            raise InvalidInputError("there is nothing to remember", hint="give text, or messages")
        return (Message("user", text_of("text", text)),)
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
    role = one_of(f"{where}.role", str(message.get("role") or "user"), ROLES)
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
    return Message(role, text_of(where, content or ""), short(f"{where}.name", str(name or "")))


def text_of(name: str, value: str) -> str:
    """A text as it is kept, at most `MAX_TEXT_CHARS` long."""
    if len(value) > MAX_TEXT_CHARS:
        raise InvalidInputError(
            f"{name} has {len(value)} characters, at most {MAX_TEXT_CHARS} are kept", hint="split it"
        )
    return clean(value)


def short(name: str, value: str) -> str:
    """A name or id on one line, at most 200 characters."""
    value = " ".join(clean(value).split())
    if len(value) > 200:
        raise InvalidInputError(f"{name} has {len(value)} characters, at most 200", hint="shorten it")
    return value


UNKNOWN_AGENT = "unknown"


def agent_id_of(name: str) -> str:
    """A client's name as an agent id: lower case, of `[a-z0-9._-]`, at most 64 characters.

    >>> agent_id_of("Claude Code"), agent_id_of("")
    ('claude-code', 'unknown')
    """
    return re.sub(r"[^a-z0-9._-]+", "-", name.casefold()).strip("-")[:64] or UNKNOWN_AGENT


def one_of(name: str, value: str, allowed: Sequence[Any]) -> Any:
    """The value, if it is among those allowed."""
    if value not in allowed:
        raise InvalidInputError(
            f"{name} {value!r} is none of {', '.join(filter(None, allowed))}", hint="use one of these"
        )
    return value


def corrections_of(
    text: str,
    kind: str,
    importance: float | None,
    expires_at: Moment,
    metadata: Mapping[str, Any] | None,
    now: datetime,
) -> dict[str, Any]:
    """The fields of a memory that a person corrects; what is left out ('' or None) stays as it is.

    `expires_at` may be `NEVER`; `metadata` takes the place of all there is.
    """
    given: dict[str, Any] = {}
    if text:
        given["text"] = text_of("text", text)
        if not given["text"].strip():
            raise InvalidInputError("the text is empty", hint="give the corrected words; to remove it, delete it")
    if kind:
        given["kind"] = one_of("kind", kind, KINDS)
    if importance is not None:
        if not 0.0 <= importance <= 1.0:
            raise InvalidInputError(f"importance {importance} is not in 0..1", hint="use 0.5 for the usual")
        given["importance"] = float(importance)
    if expires_at == NEVER:
        given["expires_at"] = None
    elif until := moment("expires_at", expires_at):
        given["expires_at"] = to_come("expires_at", until, now)
    if metadata is not None:
        given["metadata"] = metadata_of(metadata)
    if not given:
        raise InvalidInputError(
            "nothing is given to be corrected", hint="give text, kind, importance, expires_at or metadata"
        )
    return given


def to_come(name: str, value: datetime, now: datetime) -> datetime:
    """A time that has not passed."""
    if value <= now:
        raise InvalidInputError(f"{name} {value.isoformat()} has passed", hint="give a time to come, or leave it out")
    return value


def query_of(query: str) -> str:
    """The words of a question, at most `MAX_QUERY_CHARS`."""
    query = clean(query).strip()
    if not query:
        raise InvalidInputError("the query is empty", hint="say what to look for, in words")
    if len(query) > MAX_QUERY_CHARS:
        raise InvalidInputError(
            f"the query has {len(query)} characters, at most {MAX_QUERY_CHARS} are read", hint="shorten it"
        )
    return query


def bounds_of(top_k: int, threshold: float) -> tuple[int, float]:
    """How many hits are wanted at most, and how relevant at least."""
    if not 1 <= top_k <= MAX_TOP_K:
        raise InvalidInputError(f"top_k {top_k} is not in 1..{MAX_TOP_K}", hint=f"use 1 to {MAX_TOP_K}")
    if not 0.0 <= threshold <= 1.0:
        raise InvalidInputError(f"threshold {threshold} is not in 0..1", hint="use 0 for no threshold")
    return top_k, threshold


def selection_of(
    owner: Owner,
    now: datetime,
    *,
    scope: str,
    run_id: str,
    as_of: Moment,
    known_at: Moment,
    filters: Filters | Mapping[str, Any] | None,
) -> Selection:
    """Which memories a search may see."""
    chosen = one_of("scope", scope, SCOPES)
    run_id = short("run_id", run_id)
    if chosen == "run" and not run_id:
        raise InvalidInputError("scope 'run' needs a run_id", hint="give run_id, or use scope 'all'")
    return Selection(
        owner=owner,
        now=now,
        scope=chosen,
        run_id=run_id,
        as_of=moment("as_of", as_of, end_of_day=True),
        known_at=moment("known_at", known_at, end_of_day=True),
        filters=filters_of(filters),
    )


def moment(name: str, value: Moment, *, end_of_day: bool = False) -> datetime | None:
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


def filters_of(given: Filters | Mapping[str, Any] | None) -> Filters:
    """Filters from an object or a mapping with its fields, times as text."""
    fields = given if isinstance(given, Mapping) else {n: getattr(given, n) for n in Filters.__slots__} if given else {}
    if unknown := set(fields) - set(Filters.__slots__):
        raise InvalidInputError(f"unknown filter {sorted(unknown)[0]!r}", hint=f"use {', '.join(Filters.__slots__)}")
    return Filters(
        about=one_of("about", fields.get("about") or "", ("", *ABOUTS)),
        kind=one_of("kind", fields.get("kind") or "", ("", *KINDS)),
        agent=short("agent", fields.get("agent") or ""),
        since=moment("since", fields.get("since")),
        until=moment("until", fields.get("until"), end_of_day=True),
        metadata=metadata_of(fields.get("metadata")),
    )


def where_of(given: Mapping[str, Any], *, purge: bool = False) -> Where:
    """Which memories are meant, by restrictions of which there has to be at least one; to purge, in whatever state."""
    names = (*Filters.__slots__, "run_id", "contains", "state")
    if unknown := set(given) - set(names):
        raise InvalidInputError(f"unknown restriction {sorted(unknown)[0]!r}", hint=f"use {', '.join(names)}")
    states = STATES if purge else SEARCHABLE
    state = one_of("state", given.get("state") or "", ("", *states))
    where = Where(
        filters=filters_of({name: value for name, value in given.items() if name in Filters.__slots__}),
        run_id=short("run_id", given.get("run_id") or ""),
        contains=clean(str(given.get("contains") or "")).strip(),
        states=(state,) if state else states,
    )
    if not (where.filters != Filters() or where.run_id or where.contains or state in ("invalid", "deleted")):
        raise InvalidInputError(
            "nothing says which memories are meant", hint="give a restriction beside the state; all is never meant"
        )
    return where


def where_pairs(name: str, given: Sequence[str]) -> dict[str, Any]:
    """Restrictions from KEY=VALUE pairs; `meta.KEY` is a key of the metadata, its value JSON or else text."""
    found: dict[str, Any] = {}
    metadata: list[str] = []
    for pair in given:
        key, separator, value = pair.partition("=")
        if key.startswith("meta.") and separator:
            metadata.append(pair.removeprefix("meta."))
        elif not separator or not value:
            raise InvalidInputError(f"{name} {pair!r} is not KEY=VALUE", hint=f"write {name} kind=note")
        elif key in found:
            raise InvalidInputError(f"{name} {key} is given twice", hint="all restrictions hold of each: give one")
        else:
            found[key] = value
    return found | ({"metadata": pairs_of(f"{name} meta.", metadata)} if metadata else {})


def pairs_of(name: str, given: Sequence[str] | None) -> dict[str, Any]:
    """KEY=VALUE pairs; a value that is JSON (12, true, [1]) is taken as such, everything else as text."""
    found: dict[str, Any] = {}
    for pair in given or ():
        key, separator, value = pair.partition("=")
        if not separator or not key:
            raise InvalidInputError(f"{name} {pair!r} is not KEY=VALUE", hint=f"write {name} project=apollo")
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
    return found


def metadata_of(value: Mapping[str, Any] | None) -> dict[str, Any]:
    """A JSON object of at most `MAX_METADATA_BYTES`, as a copy."""
    if not value:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"metadata is {type(value).__name__}, no object", hint='give {"key": "value"}')
    try:
        encoded = clean(json.dumps(dict(value), ensure_ascii=False, allow_nan=False))
        depth = _depth(value)
    except (TypeError, ValueError, RecursionError) as exc:
        raise InvalidInputError(f"metadata is no JSON object: {exc}", hint="use text, numbers, lists") from exc
    if depth > MAX_METADATA_DEPTH:
        raise InvalidInputError(f"metadata is nested {depth} deep, at most {MAX_METADATA_DEPTH}", hint="flatten it")
    if len(encoded.encode()) > MAX_METADATA_BYTES:
        raise InvalidInputError(
            f"metadata has {len(encoded.encode())} bytes, at most {MAX_METADATA_BYTES}", hint="keep it short"
        )
    return dict(json.loads(encoded))


def _depth(value: Any) -> int:
    if isinstance(value, Mapping):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, list | tuple):
        return 1 + max(map(_depth, value), default=0)
    return 0
