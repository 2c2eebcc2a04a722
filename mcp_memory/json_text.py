"""JSON with comments as text with positions: read, and found again where something is to be changed.

Comments, trailing commas and a byte order mark are allowed, as editors and agents write them. A tokenizer of our own:
of the libraries, tree-sitter's grammar of JSON has no trailing commas, and the others that keep positions run in Node
or take 15 s a megabyte, of which a host's file may have several. Changing is left to `json_edit`.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from .errors import InvalidInputError

MARK = "\ufeff"
# Deeper than anybody nests settings, and shallow enough for Python's stack.
_MAX_DEPTH = 200
_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_PLAIN = r'[^"\\\x00-\x1f]*'
_STRING = re.compile(rf'"{_PLAIN}(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{{4}}){_PLAIN})*"')
_SIMPLE = re.compile(r"(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])", re.ASCII)


@dataclass(slots=True)
class Item:
    """A member of an object or an element of an array; `start` is where its key or value begins.

    `comma` is the position of the comma behind it, -1 where there is none. An element has the key ''.
    """

    key: str
    start: int
    node: "Node"
    comma: int = -1


@dataclass(slots=True)
class Node:
    """A value in the text, which stands at text[start:end]; `items` are those of an object or array, in order."""

    kind: str  # object, array or simple
    start: int
    end: int = 0
    items: list[Item] = field(default_factory=list)

    def at(self, key: str | int) -> Item | None:
        """The member of this key, the last of several as JavaScript takes it, or the element of this number."""
        if isinstance(key, int):
            return self.items[key] if self.kind == "array" and 0 <= key < len(self.items) else None
        if self.kind != "object":
            return None
        return next((item for item in reversed(self.items) if item.key == key), None)


# One change asks for the same text several times.
@lru_cache(maxsize=4)
def parse(text: str) -> Node | None:
    """The value that a text holds, None where there is nothing but space and comments.

    Raises:
        InvalidInputError: it is no JSON, even with comments and trailing commas; line and column are named.
    """
    reader = _Reader(text)
    at = reader.gap(len(MARK) if text.startswith(MARK) else 0)
    if at == len(text):
        return None
    node = reader.value(at, 0)
    if (rest := reader.gap(node.end)) != len(text):
        raise _flaw(text, rest, "the end was expected")
    return node


def value_of(text: str, node: Node) -> Any:
    """What a node means, as the json module would give it."""
    if node.kind == "object":
        return {item.key: value_of(text, item.node) for item in node.items}
    if node.kind == "array":
        return [value_of(text, item.node) for item in node.items]
    return json.loads(text[node.start : node.end])


def gaps(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the comments stand in a stretch that holds nothing else but space."""
    for found in re.finditer(r"//[^\r\n]*|/\*.*?\*/", text[start:end], re.DOTALL):
        yield start + found.start(), start + found.end()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def gap(self, at: int) -> int:
        """Where space and comments that begin here end."""
        found = _GAP.match(self._text, at)
        return found.end() if found else at

    def value(self, at: int, depth: int) -> Node:
        first = self._text[at : at + 1]
        if first in ("{", "["):
            if depth >= _MAX_DEPTH:
                raise _flaw(self._text, at, f"it is nested deeper than {_MAX_DEPTH} levels")
            return self._container(at, depth)
        found = (_STRING if first == '"' else _SIMPLE).match(self._text, at)
        if not found:
            raise _flaw(self._text, at, "a value was expected")
        return Node("simple", at, found.end())

    def _container(self, start: int, depth: int) -> Node:
        text = self._text
        is_object = text[start] == "{"
        closing = "}" if is_object else "]"
        node = Node("object" if is_object else "array", start)
        at = self.gap(start + 1)
        while text[at : at + 1] != closing:
            if node.items and node.items[-1].comma < 0:
                raise _flaw(text, at, f"a comma or {closing!r} was expected")
            begin, key = at, ""
            if is_object:
                key, at = self._key(at)
            value = self.value(at, depth + 1)
            item = Item(key, begin, value)
            node.items.append(item)
            at = self.gap(value.end)
            if text[at : at + 1] == ",":
                item.comma = at
                at = self.gap(at + 1)
        node.end = at + 1
        return node

    def _key(self, at: int) -> tuple[str, int]:
        found = _STRING.match(self._text, at)
        if not found:
            raise _flaw(self._text, at, "a name in double quotes was expected")
        colon = self.gap(found.end())
        if self._text[colon : colon + 1] != ":":
            raise _flaw(self._text, colon, "a colon was expected")
        return json.loads(found[0]), self.gap(colon + 1)


def _flaw(text: str, at: int, expected: str) -> InvalidInputError:
    before = text[:at]
    line = before.count("\n") + 1
    column = at - (before.rfind("\n") + 1) + 1
    return InvalidInputError(f"line {line}, column {column}: {expected}", hint="correct it there")
