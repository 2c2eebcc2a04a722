"""Markdown notes as texts to be remembered: each part of a note by itself, under the headings that it stands under.

Front matter gives title, date and tags; without a date the file's own time counts. What other programs write as lists
of single statements comes apart: `- [category] statement #tag` and `- relation [[Other note]]`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import inputs
from .errors import InvalidInputError
from .foreign_records import Found, Item
from .import_source import MARKDOWN_SUFFIXES, unreadable
from .records import Message
from .transfer_form import FlawError

if TYPE_CHECKING:
    from markdown_it.token import Token

# About as much as the embedding model reads in three pieces: what is longer has several subjects.
PART_CHARS = 1500
_MAX_VALUES = 2000
_DATES = ("date", "created", "created_at")
_OF_ITS_OWN = frozenset(("title", "tags", *_DATES))
_WIKI_LINK = re.compile(r"!?\[\[([^\[\]|]+)(?:\|([^\[\]]+))?\]\]")
_TAG = re.compile(r"(?<![\w#&/])#([\w/-]*[^\W\d_][\w/-]*)")
# Two characters at least: `[x]` is a task that is done.
_OBSERVATION = re.compile(r"\[([^\]\[()]{2,60})\]\s+(?=\S)")
_RELATION = re.compile(r"([^\[\]\n]{1,80}?)\s+\[\[([^\[\]|]+)(?:\|[^\[\]]+)?\]\]\s*(?:\([^()]*\))?\s*$")
_BETWEEN = " › "


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of a note: the line that it begins at, its headings, its text, and its category, '' for none."""

    line: int
    headings: tuple[str, ...]
    text: str
    category: str = ""


def note_files(path: Path) -> list[Path]:
    """The Markdown files in a folder, at any depth, in order; hidden ones and those in hidden folders stay out."""
    if path.is_file():
        return [path]
    return sorted(
        found
        for found in path.rglob("*")
        if found.suffix.casefold() in MARKDOWN_SUFFIXES
        and not any(part.startswith(".") for part in found.relative_to(path).parts)
        and found.is_file()
    )


def note_items(path: Path, name: str) -> Found:
    """(line, item) of the parts of a note, in order; `name` says where it comes from."""
    import frontmatter
    from yaml import YAMLError

    try:
        written = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as exc:
        yield 0, FlawError(f"it is no UTF-8: {exc.reason} at byte {exc.start}")
        return
    except OSError as exc:
        raise unreadable(path, exc) from exc
    try:
        given, body = frontmatter.parse(written)
        _check_size(given)
        observed_at = _observed_at(given)
    except (YAMLError, ValueError, InvalidInputError) as exc:
        told = exc.message if isinstance(exc, InvalidInputError) else " ".join(str(exc).split())
        yield 1, FlawError(f"the front matter cannot be read: {told}")
        return
    offset = written.count("\n", 0, written.rfind(body)) if body else 0
    title = str(given.get("title") or "").strip() or _title(body) or path.stem
    shared = _shared(given, name, title)
    for part in _parts(body, title):
        try:
            yield part.line + offset + 1, _item(part, observed_at, shared)
        except InvalidInputError as exc:
            yield part.line + offset + 1, FlawError(exc.message)


def _item(part: _Part, observed_at: datetime | None, shared: Mapping[str, Any]) -> Item:
    text = f"{_BETWEEN.join(part.headings)}\n{part.text}" if part.headings else part.text
    metadata = dict(shared)
    tags = list(dict.fromkeys([*shared.get("tags", ()), *_TAG.findall(part.text)]))
    if tags:
        metadata["tags"] = tags
    if part.category:
        metadata["category"] = part.category
    message = Message("user", inputs.text_of("the part", text))
    return Item(message, "note", observed_at=observed_at, metadata=inputs.metadata_of(metadata))


def _observed_at(given: Mapping[str, Any]) -> datetime | None:
    for name in _DATES:
        value = given.get(name)
        if isinstance(value, datetime):
            return inputs.moment(name, value)
        if isinstance(value, date):
            return datetime.combine(value, time(), UTC)
        if isinstance(value, str) and value.strip():
            return inputs.moment(name, value.strip())
    return None


def _shared(given: Mapping[str, Any], name: str, title: str) -> dict[str, Any]:
    tags = given.get("tags") or []
    tags = tags.replace(",", " ").split() if isinstance(tags, str) else tags if isinstance(tags, list) else [tags]
    rest = {str(key): _plain(value) for key, value in given.items() if key not in _OF_ITS_OWN}
    found: dict[str, Any] = {"source": name, "title": title}
    if tags:
        found["tags"] = [str(tag).lstrip("#") for tag in tags]
    if rest:
        found["front_matter"] = rest
    return found


def _check_size(given: Any) -> None:
    """Refuse front matter that names its own parts again and again: written out it has no end, or very far off."""
    waiting, n_seen = [given], 0
    while waiting:
        value = waiting.pop()
        n_seen += 1
        if n_seen > _MAX_VALUES:
            raise ValueError(f"it has more than {_MAX_VALUES} values")
        waiting += (
            list(value.values()) if isinstance(value, dict) else value if isinstance(value, (list, tuple, set)) else []
        )


def _plain(value: Any) -> Any:
    """A value of YAML as JSON has it."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


def _tokens(body: str) -> "list[Token]":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").parse(body)


def _title(body: str) -> str:
    """The heading of the first level that a note begins with, '' where it begins otherwise."""
    tokens = _tokens(body)
    if len(tokens) > 1 and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        return _unlinked(tokens[1].content)
    return ""


def _parts(body: str, title: str) -> Iterator[_Part]:
    lines = body.split("\n")
    headings: list[tuple[int, str]] = []
    held: list[str] = []
    begun = 0
    for line, text, level in _blocks(_tokens(body), lines):
        if held and (level or not text or sum(map(len, held)) + len(text) > PART_CHARS):
            yield _Part(begun, _path(title, headings), "\n\n".join(held))
            held = []
        if level:
            headings = [*(each for each in headings if each[0] < level), (level, _unlinked(text))]
        elif text:
            begun = begun if held else line
            held.append(_unlinked(text))
        else:
            yield from _statements(lines, line, _path(title, headings), title)
    if held:
        yield _Part(begun, _path(title, headings), "\n\n".join(held))


def _blocks(tokens: "Sequence[Token]", lines: Sequence[str]) -> Iterator[tuple[int, str, int]]:
    """(line, text, level) of each block: the level of a heading, else 0; no text where an item is a statement."""
    for place, token in enumerate(tokens):
        if token.map is None or token.nesting < 0:
            continue
        begin, end = token.map
        if token.level == 0 and token.type == "heading_open":
            yield begin, tokens[place + 1].content, int(token.tag[1:])
        elif token.level == 0 and token.type != "bullet_list_open":
            yield begin, "\n".join(lines[begin:end]).strip(), 0
        elif token.level == 1 and token.type == "list_item_open" and token.markup in "-*+":
            item = "\n".join(lines[begin:end]).rstrip()
            yield begin, "" if _statement_in(item) else item, 0


def _statement_in(item: str) -> bool:
    said = item.lstrip().lstrip("-*+").strip()
    return "\n" not in said and bool(_OBSERVATION.match(said) or _RELATION.match(said))


def _statements(lines: Sequence[str], line: int, headings: tuple[str, ...], title: str) -> Iterator[_Part]:
    said = lines[line].lstrip().lstrip("-*+").strip()
    if found := _OBSERVATION.match(said):
        yield _Part(line, headings, _unlinked(said[found.end() :]), found[1].strip())
    elif found := _RELATION.match(said):
        relation = " ".join(found[1].replace("_", " ").split())
        yield _Part(line, (), f"{title} {relation} {found[2].strip()}", "relation")


def _path(title: str, headings: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """What a part stands under, the title first, and once."""
    names = [title, *(name for _, name in headings)]
    return tuple(dict.fromkeys(name for name in names if name))


def _unlinked(text: str) -> str:
    """A text with the words of links between notes in their place.

    >>> _unlinked("see [[Berlin]] and [[people/Ana|Ana]]")
    'see Berlin and Ana'
    """
    return _WIKI_LINK.sub(lambda found: found[2] or found[1], text).strip()
