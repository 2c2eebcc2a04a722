"""Records of elsewhere as texts to be remembered: the knowledge graph of server-memory, and plain messages."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from . import inputs
from .errors import InvalidInputError
from .import_source import lines
from .records import ABOUTS, KINDS, About, Kind, Message
from .transfer_form import FlawError

# What server-memory's own instructions call the user.
_USER = "default_user"
_MESSAGE_FIELDS = frozenset(
    ("role", "content", "name", "text", "run_id", "about", "kind", "observed_at", "expires_at", "metadata")
)


@dataclass(frozen=True, slots=True)
class Item:
    """One text to be remembered, with what is known of it."""

    message: Message
    kind: Kind
    about: About = "user"
    run_id: str = ""
    observed_at: datetime | None = None
    expires_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()  # fields of the record that went into the metadata as they are


Found = Iterator[tuple[int, Item | FlawError]]


def graph_items(path: Path) -> Found:
    """(line, item) of a graph of server-memory: each observation, each relation, and entities without either.

    The graph is JSON Lines, or one JSON value with `entities` and `relations` as its older form has them.
    """
    named: set[str] = set()
    alone: list[tuple[int, Mapping[str, Any]]] = []
    for number, value in _graph_values(path):
        try:
            if isinstance(value, FlawError):
                yield number, value
            elif value.get("type", "relation" if "relationType" in value else "entity") == "relation":
                yield number, _relation(value, path)
                named |= {value["from"], value["to"]}
            else:
                observations = _observations(value)
                if not observations:
                    alone.append((number, value))
                for observation in observations:
                    yield number, _observation(value, observation, path)
        except FlawError as exc:
            yield number, exc
        except InvalidInputError as exc:
            yield number, FlawError(exc.message)
    for number, value in alone:
        if value["name"] not in named or value.get("entityType"):
            yield number, _observation(value, f"is of type {_words(str(value.get('entityType') or 'entity'))}", path)


def _observations(entity: Mapping[str, Any]) -> list[str]:
    """What an entity is said to be, in order; those without words left out."""
    _text(entity, "name")
    found = entity.get("observations")
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise FlawError("observations is no list of texts")
    return [each for each in found if each.strip()]


def _graph_values(path: Path) -> Iterator[tuple[int, Mapping[str, Any] | FlawError]]:
    found = lines(path)
    number, first = next(found, (0, b""))
    try:
        value = json.loads(first) if first else {}
    except (ValueError, RecursionError):
        value = None
    is_whole = isinstance(value, dict) and "type" not in value and ("entities" in value or "relations" in value)
    if isinstance(value, dict) and not is_whole:
        yield number, value if "type" in value else FlawError("it has no type: entity or relation")
        for number, line in found:
            yield number, _object(line)
        return
    if value is None:
        try:
            value = json.loads(path.read_text(encoding="utf-8-sig"))
        except (ValueError, RecursionError) as exc:
            # Lines after all, of which the first is wrong.
            yield number, FlawError(f"this is no JSON: {exc}")
            return
    if not isinstance(value, (dict, list)):
        yield number, FlawError("this is no graph")
        return
    lists = [value] if isinstance(value, list) else [value.get("entities", []), value.get("relations", [])]
    if not all(isinstance(each, list) for each in lists):
        yield number, FlawError("entities or relations is no list")
        return
    for part in [part for each in lists for part in each]:
        yield number, part if isinstance(part, dict) else FlawError("this is no entity and no relation")


def _object(line: bytes) -> Mapping[str, Any] | FlawError:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as exc:
        return FlawError(f"this is no JSON: {exc}")
    if not isinstance(value, dict):
        return FlawError("this is no JSON object")
    return value


def _text(value: Mapping[str, Any], name: str) -> str:
    found = value.get(name)
    if not isinstance(found, str) or not found.strip():
        raise FlawError(f"{name} is missing or no text")
    return found


def _words(name: str) -> str:
    """A name as people write it: `John_Smith` is how server-memory wants names of two words."""
    return "the user" if name.casefold() == _USER else " ".join(name.replace("_", " ").split())


def _observation(entity: Mapping[str, Any], observation: str, path: Path) -> Item:
    name, text = _words(entity["name"]), observation.strip()
    told = text if _names(text, name) else f"{name[:1].upper()}{name[1:]}: {text}"
    return Item(
        Message("user", inputs.text_of("the observation", told)),
        "fact",
        metadata=inputs.metadata_of(
            {"source": path.name, "entity": entity["name"], "entity_type": str(entity.get("entityType") or "")}
        ),
    )


def _relation(value: Mapping[str, Any], path: Path) -> Item:
    source, relation, target = (_text(value, name) for name in ("from", "relationType", "to"))
    subject, verb = _words(source), _words(relation)
    told = f"{subject[:1].upper()}{subject[1:]} {verb} {_words(target)}"
    metadata = {"source": path.name, "from": source, "relation_type": relation, "to": target}
    return Item(Message("user", inputs.text_of("the relation", told)), "fact", metadata=inputs.metadata_of(metadata))


def _names(text: str, name: str) -> bool:
    """Whether a text names something by itself, as a word."""
    return re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", text.casefold()) is not None


def message_items(path: Path) -> Found:
    """(line, item) of messages `{"role", "content", …}` and texts `{"text", …}`, one a line.

    Fields that none of these has go into the metadata.
    """
    for number, line in lines(path):
        value = _object(line)
        try:
            yield number, value if isinstance(value, FlawError) else _message(value, path)
        except FlawError as exc:
            yield number, exc
        except InvalidInputError as exc:
            yield number, FlawError(exc.message)


def _message(value: Mapping[str, Any], path: Path) -> Item:
    unknown = {name: each for name, each in value.items() if name not in _MESSAGE_FIELDS}
    if ("text" in value) == ("content" in value):
        raise FlawError("give either text or content")
    is_text = "text" in value
    given = {"content": value["text"], **value} if is_text else value
    for name in ("run_id", "about", "kind", "name", "role", "observed_at", "expires_at"):
        if not isinstance(value.get(name) or "", str):
            raise FlawError(f"{name} is no text")
    [message] = inputs.messages_of("", [given])
    given_metadata = inputs.metadata_of(value.get("metadata"))
    return Item(
        message=message,
        kind=inputs.one_of("kind", value.get("kind") or ("note" if is_text else "message"), KINDS),
        about=inputs.one_of("about", value.get("about") or "user", ABOUTS),
        run_id=inputs.short("run_id", value.get("run_id") or ""),
        observed_at=inputs.moment("observed_at", value.get("observed_at")),
        expires_at=inputs.moment("expires_at", value.get("expires_at")),
        metadata=inputs.metadata_of({"source": path.name, **unknown, **given_metadata}),
        unknown=tuple(unknown),
    )
