"""What is to be taken in: which form a file has, what identifies it, and its lines."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

from .errors import InvalidInputError, StorageError

Form = Literal["mcp-memory", "server-memory", "markdown", "messages"]
FORMS: tuple[Form, ...] = get_args(Form)
AUTO = "auto"
MARKDOWN_SUFFIXES = (".md", ".markdown")
_BLOCK_BYTES = 1 << 20
# Far more than the longest text that is kept, with its metadata.
MAX_LINE_BYTES = 1 << 26
_BOM = b"\xef\xbb\xbf"


def existing(source: str | Path) -> Path:
    """The absolute path of something that can be read.

    Raises:
        InvalidInputError: there is nothing.
    """
    path = Path(source).expanduser().absolute()
    if not path.exists():
        raise InvalidInputError(f"there is no {path}", hint="name a file, or a folder of Markdown notes")
    if not (path.is_file() or path.is_dir()):
        # A pipe would be waited for, and a device has no end.
        raise InvalidInputError(
            f"{path} is no file", hint="write what is to be read into a file, or give - and pipe it"
        )
    return path


def form_of(path: Path, wanted: str = AUTO) -> Form:
    """The form that a file or folder has, by its name or its first line; a `wanted` one is believed.

    Raises:
        InvalidInputError: it has none of them, or there is no such form.
        StorageError: it cannot be read.
    """
    if wanted != AUTO:
        if wanted not in FORMS:
            raise InvalidInputError(
                f"format {wanted!r} is none of {', '.join((AUTO, *FORMS))}", hint="use one of these"
            )
        form = next(form for form in FORMS if form == wanted)
        if path.is_dir() and form != "markdown":
            raise InvalidInputError(f"{path} is a folder", hint="name a file; only Markdown notes come in folders")
        return form
    if path.is_dir() or path.suffix.casefold() in MARKDOWN_SUFFIXES:
        return "markdown"
    first = next((line for _, line in lines(path)), b"")
    return _form_of_line(first, path)


def _form_of_line(first: bytes, path: Path) -> Form:
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        # A graph as one value goes over many lines.
        value = {"entities": []} if first.strip() in (b"{", b"[") else None
    if isinstance(value, dict):
        if value.get("format") == "mcp-memory":
            return "mcp-memory"
        if "entities" in value or value.get("type") in ("entity", "relation"):
            return "server-memory"
        if "content" in value or "text" in value:
            return "messages"
    if isinstance(value, list):
        return "server-memory"
    raise InvalidInputError(
        f"{path} begins like none of the forms {', '.join(FORMS)}",
        hint="name its form with --format; `mcp-memory import --help` says what each looks like",
    )


def unchanged_since(path: Path, seen: tuple[int, int, int]) -> bool:
    """Whether a file is the one that was `seen`, with the same contents as far as the system tells."""
    return state_of(path) == seen


def state_of(path: Path) -> tuple[int, int, int]:
    """What changes with a file: which one it is, its size, and when it was written last, in nanoseconds.

    Raises:
        StorageError: it cannot be read.
    """
    try:
        found = path.stat()
    except OSError as exc:
        raise unreadable(path, exc) from exc
    return found.st_ino, found.st_size, found.st_mtime_ns


def digest(path: Path) -> str:
    """SHA-256 of a file in hexadecimal digits, read in blocks.

    Raises:
        StorageError: it cannot be read.
    """
    hashed = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK_BYTES):
                hashed.update(block)
    except OSError as exc:
        raise unreadable(path, exc) from exc
    return hashed.hexdigest()


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """(number from 1, line) of the lines of a file that are not blank; an overlong one is cut, and no JSON.

    Raises:
        StorageError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(MAX_LINE_BYTES):
                number += 1
                if number == 1:
                    line = line.removeprefix(_BOM)
                if line.strip():
                    yield number, line
    except OSError as exc:
        raise unreadable(path, exc) from exc


def unreadable(path: Path, exc: OSError) -> StorageError:
    """That a source cannot be read."""
    return StorageError(
        f"{path} cannot be read: {exc.strerror or exc}", hint="see whether it is there and may be read by this account"
    )
