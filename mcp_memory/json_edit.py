"""One member or element of JSON text put in, replaced or taken out, and not another byte touched.

What was put in can be taken out again exactly: it begins right behind what stood last, so that all space before it
is its own, and the comma that it needed goes with it.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .errors import InvalidInputError
from .json_text import MARK, Item, Node, gaps, parse, value_of

Path = tuple[str | int, ...]
MISSING: Any = object()


@dataclass(frozen=True, slots=True)
class Made:
    """A container that was filled: what stood between its brackets, None where the container itself was missing."""

    path: tuple[str, ...]
    inner: str | None


def get(text: str, path: Path) -> Any:
    """What stands at a path, MISSING where there is nothing.

    Raises:
        InvalidInputError: the text is no JSON.
    """
    found = _find(parse(text), path)
    return MISSING if found is None else value_of(text, found)


def put(text: str, path: tuple[str, ...], value: Any) -> tuple[str, list[Made]]:
    """The text with this member, and what had to be made or filled for it, outermost first.

    Raises:
        InvalidInputError: the text is no JSON, or something on the way is no object.
    """
    if _find(parse(text), path) is not None:
        return replace(text, path, value), []
    text, made = _containers(text, path[:-1], "object")
    return _insert(text, path[:-1], value, path[-1]), made


def append(text: str, path: tuple[str, ...], value: Any) -> tuple[str, list[Made]]:
    """The text with one element more at the end of an array, and what had to be made or filled for it.

    Raises:
        InvalidInputError: the text is no JSON, or something on the way is no object, or the last no array.
    """
    text, made = _containers(text, path, "array")
    return _insert(text, path, value, None), made


def replace(text: str, path: Path, value: Any) -> str:
    """The text with another value at a path, where there is one."""
    node = _known(text, path)
    style = _Style(text)
    inline = "\n" not in text[node.start : node.end] and not style.is_spread
    shown = style.shown(value, style.indent_of_line(node.start), inline=inline)
    return text[: node.start] + shown + text[node.end :]


def remove(text: str, path: Path) -> str:
    """The text without the member or element at a path, where there is one."""
    holder = _known(text, path[:-1])
    item = holder.at(path[-1])
    assert item is not None, path
    place = holder.items.index(item)
    before = _last_of(holder, place)
    start = _end_of_words(text, before, item.start)
    rest = max(item.node.end, item.comma + 1)
    if _is_line_comment(text, before, start) and not re.match(r"[ \t]*\r?\n", text[rest : rest + 1000]):
        # Or what follows would be part of the comment.
        start = text.index("\n", start) + 1
    cuts = [(start, item.node.end)]
    if item.comma >= 0:
        cuts.append((item.comma, item.comma + 1))
    elif place:
        comma = holder.items[place - 1].comma
        cuts.append((comma, comma + 1))
    for begin, end in sorted(cuts, reverse=True):
        text = text[:begin] + text[end:]
    return text


def unmake(text: str, made: Sequence[Made]) -> str:
    """The text with the containers that were made for us taken out, or emptied as they were, where they are empty."""
    for one in reversed(made):
        node = _find(parse(text), one.path)
        if node is None or node.items or node.kind == "simple":
            continue
        inner = text[node.start + 1 : node.end - 1]
        if one.inner is None and not inner.strip():
            text = remove(text, one.path) if one.path else text[: node.start] + text[node.end :]
        elif one.inner is not None and inner.strip() == one.inner.strip():
            text = text[: node.start + 1] + one.inner + text[node.end - 1 :]
    return text


def _find(node: Node | None, path: Path) -> Node | None:
    for key in path:
        item = node.at(key) if node else None
        node = item.node if item else None
    return node


def _known(text: str, path: Path) -> Node:
    node = _find(parse(text), path)
    assert node is not None, path
    return node


def _containers(text: str, path: tuple[str, ...], kind: str) -> tuple[str, list[Made]]:
    """The text with all containers down a path, and those that are new or empty."""
    made: list[Made] = []
    for depth in range(len(path) + 1):
        wanted = kind if depth == len(path) else "object"
        here = path[:depth]
        node = _find(parse(text), here)
        if node is None:
            made.append(Made(here, None))
            text = _insert(text, here[:-1], {} if wanted == "object" else [], here[-1]) if here else _root(text)
        elif node.kind != wanted:
            where = ".".join(here) or "the whole"
            raise InvalidInputError(f"{where} is no {wanted}", hint="correct or remove it")
        elif not node.items:
            made.append(Made(here, text[node.start + 1 : node.end - 1]))
    return text, made


def _root(text: str) -> str:
    """An empty object where there was no value; comments and the byte order mark stay before it."""
    if not text.strip(MARK + " \t\r\n"):
        return f"{MARK if text.startswith(MARK) else ''}{{}}\n"
    return f"{text}{'' if text.endswith(chr(10)) else chr(10)}{{}}"


def _insert(text: str, path: Path, value: Any, key: str | None) -> str:
    holder = _known(text, path)
    style = _Style(text)
    inline = style.is_inline(holder)
    items = holder.items
    at = _end_of_words(text, _last_of(holder, len(items)), holder.end - 1)
    outer = style.indent_of_line(holder.start)
    indent = style.indent_of_item(items[-1]) if items else outer + style.unit
    begin = f"{json.dumps(key, ensure_ascii=False)}{style.colon}" if key is not None else ""
    # Behind a comment up to the end of its line there is nothing to be had.
    breaks = not inline or _is_line_comment(text, _last_of(holder, len(items)), at)
    lead = style.newline + indent if breaks else " " if items and style.is_airy else ""
    shown = lead + begin + style.shown(value, indent, inline=inline)
    if not items:
        # The space that was there is in what was noted of it.
        end = style.newline + outer if breaks else ""
        return text[:at] + shown + end + text[holder.end - 1 :]
    last = items[-1]
    if last.comma >= 0:
        return f"{text[:at]}{shown},{text[at:]}"
    return text[: last.node.end] + "," + text[last.node.end : at] + shown + text[at:]


def _last_of(holder: Node, place: int) -> int:
    """Where what stands before an item's place ends: the bracket, or the item before it with its comma."""
    if not place:
        return holder.start + 1
    item = holder.items[place - 1]
    return max(item.node.end, item.comma + 1)


def _end_of_words(text: str, start: int, end: int) -> int:
    """Where the last comment of a stretch ends, its start where it has none."""
    return max((stop for _, stop in gaps(text, start, end)), default=start)


def _is_line_comment(text: str, start: int, at: int) -> bool:
    """Whether a comment that begins in a stretch and goes to the end of its line ends here."""
    return any(stop == at and text.startswith("//", begin) for begin, stop in gaps(text, start, at))


class _Style:
    """How a text is laid out: its line ends, its indentation, and whether it stands in one line."""

    def __init__(self, text: str) -> None:
        self._text = text
        first = text.find("\n")
        self.newline = "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
        found = re.search(r"[{\[][^\S\n]*\r?\n([ \t]+)\S", text)
        root = parse(text)
        self.unit = found[1] if found else "  "
        # Nothing at all is laid out as people like it.
        self.is_spread = root is None or not root.items or "\n" in text[root.start : root.items[-1].start]
        is_dense = bool(re.search(r'":\S', text)) and not re.search(r'": ', text)
        self.is_airy = self.is_spread or not is_dense
        self.colon = ": " if self.is_airy else ":"

    def is_inline(self, holder: Node) -> bool:
        """Whether what is put into a container stands in the line that it is in."""
        if holder.items:
            return "\n" not in self._text[holder.start : holder.items[-1].start]
        return not self.is_spread

    def indent_of_line(self, at: int) -> str:
        """The space with which the line of a position begins."""
        start = self._text.rfind("\n", 0, at) + 1
        found = re.compile(r"[ \t]*").match(self._text, start)
        return found[0] if found else ""

    def indent_of_item(self, item: Item) -> str:
        """The space before an item that begins its line, else that of its line and one step more."""
        return self.indent_of_line(item.start)

    def shown(self, value: Any, indent: str, *, inline: bool) -> str:
        """A value as it is laid out behind such an indentation."""
        separators = (", ", ": ") if self.is_airy else (",", ":")
        if inline:
            return _printable(json.dumps(value, ensure_ascii=False, separators=separators))
        lines = _printable(json.dumps(value, ensure_ascii=False, indent=self.unit)).split("\n")
        return (self.newline + indent).join(lines)


def _printable(shown: str) -> str:
    """The same JSON where half a surrogate pair stands as an escape, since UTF-8 has none."""
    return re.sub(r"[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", shown)
