"""One table of TOML text put in, replaced or taken out, and not another byte touched.

A table of its own under a header is cut and put in as text; where the file has it within another value, tomlkit does
it. Either way the result is read by another parser, and refused where anything but the table has changed.
"""

import copy
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from .errors import InvalidInputError
from .json_text import MARK

MISSING: Any = object()
_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
Path = tuple[str, ...]


def get(text: str, path: Path) -> Any:
    """What stands at a path, MISSING where there is nothing.

    Raises:
        InvalidInputError: the text is no TOML; line and column are named.
    """
    found: Any = _read(text)
    for key in path:
        if not isinstance(found, dict) or key not in found:
            return MISSING
        found = found[key]
    return found


def put(text: str, path: Path, value: dict[str, Any]) -> tuple[str, str]:
    """The text with this table, and what was put before its header to set it off ('' where it was there before).

    Raises:
        InvalidInputError: the text is no TOML, or it is written so that the table cannot be put in.
    """
    before = _read(text)
    wanted = _with(before, path, value)
    newline = _newline_of(text)
    block = _block(path, value).replace("\n", newline)
    if get(text, path) is not MISSING:
        for start, end in _spans(text, path):
            if _means(changed := text[:start] + block.rstrip("\r\n") + text[end:], wanted):
                return changed, ""
        return _checked(_kit_put(text, path, value), path, wanted), ""
    glue = "" if not text.strip(MARK) else newline if text.endswith("\n") else newline * 2
    if _means(changed := text + glue + block, wanted):
        return changed, glue
    return _checked(_kit_put(text, path, value), path, wanted), ""


def remove(text: str, path: Path, glue: str = "") -> str:
    """The text without the table, and without what had been put before it to set it off, where that is still there.

    Raises:
        InvalidInputError: the text is no TOML, or it is written so that the table cannot be taken out.
    """
    if get(text, path) is MISSING:
        return text
    before = _read(text)
    # A table above it that has a header of its own stays, empty; else it goes too.
    wanted = (_without(before, path, also_empty=False), _without(before, path, also_empty=True))
    for start, end in _spans(text, path):
        after = re.match(r"[ \t]*(\r?\n)?", text[end:])
        rest = text[end + (after.end() if after else 0) :]
        head = text[:start]
        if glue and head.endswith(glue):
            # The line before must still end where something follows.
            head = head.removesuffix(glue) + (_newline_of(text) if rest.strip() and len(glue.split("\n")) > 2 else "")
        if _means(head + rest, *wanted):
            return head + rest
    return _checked(_kit_remove(text, path), path, *wanted)


def _read(text: str) -> dict[str, Any]:
    try:
        # Without its carriage returns tomllib would count lines right, but columns are the same either way.
        return tomllib.loads(text.removeprefix(MARK).replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as exc:
        raise InvalidInputError(str(exc), hint="correct it there") from exc


def _means(text: str, *wanted: dict[str, Any]) -> bool:
    try:
        return _read(text) in wanted
    except InvalidInputError:
        return False


def _checked(text: str, path: Path, *wanted: dict[str, Any]) -> str:
    if not _means(text, *wanted):
        raise InvalidInputError(f"the table {'.'.join(path)} cannot be changed alone", hint="change it by hand")
    return text


def _with(data: dict[str, Any], path: Path, value: dict[str, Any]) -> dict[str, Any]:
    changed = copy.deepcopy(data)
    here = changed
    for depth, key in enumerate(path[:-1], 1):
        here = here.setdefault(key, {})
        if not isinstance(here, dict):
            raise InvalidInputError(f"{'.'.join(path[:depth])} is no table", hint="correct or remove it")
    here[path[-1]] = value
    return changed


def _without(data: dict[str, Any], path: Path, *, also_empty: bool) -> dict[str, Any]:
    """The data without the table, and without those above it that are empty then, where that is wanted."""
    changed = copy.deepcopy(data)
    holders = [changed]
    for key in path[:-1]:
        holders.append(holders[-1][key])
    del holders[-1][path[-1]]
    for holder, key in zip(reversed(holders[:-1]), reversed(path[:-1]), strict=True):
        if also_empty and not holder[key]:
            del holder[key]
    return changed


def _spans(text: str, path: Path) -> Iterator[tuple[int, int]]:
    """Stretches that may be the table with those below it, the shortest first: from its header to its last line.

    They are guesses by the look of lines, as a line within a longer text may look like a header.
    """
    key = r"[ \t]*\.[ \t]*".join(rf"(?:{re.escape(name)}|\"{re.escape(name)}\"|'{re.escape(name)}')" for name in path)
    for header in re.finditer(rf"^[ \t]*\[[ \t]*{key}[ \t]*[\].]", text, re.MULTILINE):
        ends = [found.start() for found in _HEADER.finditer(text, header.end()) if found.start() > header.start()]
        for end in (*ends, len(text)):
            # Comments that lead over to what follows are not part of it.
            kept = re.sub(r"(?:\s*\n[ \t]*#[^\n]*)+\s*\Z|\s+\Z", "", text[header.start() : end])
            yield header.start(), header.start() + len(kept)


def _block(path: Path, value: dict[str, Any]) -> str:
    """A table with its header, those below it behind it."""
    name = ".".join(tomlkit.key(key).as_string() for key in path)
    plain = {key: one for key, one in value.items() if not isinstance(one, dict)}
    below = {key: one for key, one in value.items() if isinstance(one, dict)}
    parts = [f"[{name}]\n{tomlkit.dumps(plain)}"]
    parts += [_block((*path, key), one) for key, one in below.items()]
    return "\n".join(parts)


def _newline_of(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def _kit_put(text: str, path: Path, value: dict[str, Any]) -> str:
    try:
        document = tomlkit.parse(text)
        here: Any = document
        for key in path[:-1]:
            here = here[key]
        here[path[-1]] = value
        return tomlkit.dumps(document)
    except (TOMLKitError, KeyError, TypeError, ValueError) as exc:
        raise InvalidInputError(f"{'.'.join(path)} cannot be put in: {exc}", hint="put it in by hand") from exc


def _kit_remove(text: str, path: Path) -> str:
    try:
        document = tomlkit.parse(text)
        here: Any = document
        for key in path[:-1]:
            here = here[key]
        del here[path[-1]]
        return tomlkit.dumps(document)
    except (TOMLKitError, KeyError, TypeError, ValueError) as exc:
        raise InvalidInputError(f"{'.'.join(path)} cannot be taken out: {exc}", hint="take it out by hand") from exc
