"""A host's own notes file: read whole or refused, and written in one step, so that nobody ever sees half of it."""

import contextlib
import os
import secrets
import shlex
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .disk import sync
from .errors import ConflictError, InvalidInputError, NotFoundError, StorageError
from .notes_text import has_block, with_block, without_block

_MAX_BYTES = 5_000_000


class FileChangedError(ConflictError):
    """Somebody wrote a file between reading and writing it; nothing was written."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A notes file as it is and as it is to be, None where it is not there; `path` is what a link leads to."""

    path: Path
    before: str | None
    after: str | None

    @property
    def is_change(self) -> bool:
        """Whether there is anything to write."""
        return self.before != self.after

    @property
    def is_writable(self) -> bool:
        """Whether the file, as far as it is there, and its folder may be written."""
        is_file_writable = self.before is None or os.access(self.path, os.W_OK)
        return is_file_writable and os.access(self.path.parent, os.W_OK)


def plan_sync(file: str | Path, lines: Sequence[str]) -> Edit:
    """The file with these lines in its marked block. Nothing is written yet.

    Raises:
        InvalidInputError: it is no file of text, or its folder is not there.
        ConflictError: its marks are broken.
        StorageError: it cannot be read.
    """
    path = _checked_place(file)
    before = _read(path)
    return Edit(path, before, with_block(before, lines, is_rule=path.suffix == ".mdc"))


def plan_update(file: str | Path, lines: Sequence[str]) -> Edit:
    """The file with these lines in the block that it has; none is made. Nothing is written yet.

    Raises:
        NotFoundError: there is no such file.
        ConflictError: there is no block in it, or its marks are broken.
        InvalidInputError, StorageError: as `plan_sync` does.
    """
    path = _checked_place(file)
    before = _read(path)
    again = f"run: mcp-memory sync-notes {shlex.quote(str(path))}"
    if before is None:
        raise NotFoundError(f"{str(path)!r} has gone, and is kept no more", hint=f"to have it again, {again}")
    if not has_block(before):
        raise ConflictError(f"{str(path)!r} has no block of mcp-memory any more", hint=f"to have it again, {again}")
    return Edit(path, before, with_block(before, lines))


def plan_removal(file: str | Path) -> Edit:
    """The file without the block, as it was before; not there where it was made for the block. Nothing is written yet.

    Raises:
        InvalidInputError, ConflictError, StorageError: as `plan_sync` does.
    """
    path = _checked_place(file)
    before = _read(path)
    return Edit(path, before, None if before is None else without_block(before))


def carry_out(edit: Edit) -> None:
    """Do what was planned, in one step; a file that is as it is to be is not touched.

    Raises:
        FileChangedError: the file has changed since; nothing was written.
        StorageError: it cannot be written; it is as it was.
    """
    if not edit.is_change:
        return
    try:
        if edit.after is None:
            _see_unchanged(edit)
            edit.path.unlink()
        else:
            _write(edit, edit.after)
    except OSError as exc:
        raise StorageError(
            f"{str(edit.path)!r} cannot be written: {exc.strerror or exc}", hint="see to that; the file is as it was"
        ) from exc


def place_of(file: str | Path) -> Path:
    """Where a file is, or would be: its absolute path, with links followed.

    Raises:
        InvalidInputError: its links lead in a circle, or its home is not known.
    """
    try:
        return Path(file).expanduser().resolve()
    except (OSError, RuntimeError) as exc:
        raise InvalidInputError(f"{str(file)!r} leads nowhere: {exc}", hint="name another file") from exc


def _checked_place(file: str | Path) -> Path:
    place = place_of(file)
    if not place.parent.is_dir():
        raise InvalidInputError(f"there is no folder {str(place.parent)!r}", hint="make the folder first")
    return place


def _read(path: Path) -> str | None:
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            what = "a folder" if stat.S_ISDIR(found.st_mode) else "no regular file"
            raise InvalidInputError(f"{str(path)!r} is {what}", hint="name the notes file itself, e.g. AGENTS.md")
        if found.st_size > _MAX_BYTES:
            raise InvalidInputError(
                f"{str(path)!r} has {found.st_size:,} bytes, notes have at most {_MAX_BYTES:,}",
                hint="name another file",
            )
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise StorageError(f"{str(path)!r} cannot be read: {exc.strerror}", hint="see to its permissions") from exc
    if b"\0" in content:
        raise InvalidInputError(f"{str(path)!r} is no text: it has zero bytes", hint="name a file of text in UTF-8")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as exc:
        line = content.count(b"\n", 0, exc.start) + 1
        raise InvalidInputError(
            f"{str(path)!r} is not UTF-8: byte {exc.start}, in line {line}", hint="save it as UTF-8 first"
        ) from exc


def _write(edit: Edit, text: str) -> None:
    mode = None if edit.before is None else stat.S_IMODE(edit.path.stat().st_mode)
    if edit.before is not None and not os.access(edit.path, os.W_OK):
        raise PermissionError(0, "it is write-protected")
    draft = edit.path.with_name(f".{edit.path.name}.{secrets.token_hex(6)}.tmp")
    try:
        with draft.open("xb") as file:
            file.write(text.encode("utf-8"))
        if mode is not None:
            draft.chmod(mode)
        sync(draft)
        _see_unchanged(edit)
        draft.replace(edit.path)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise
    # The file is written, whether or not its name has reached the disk.
    with contextlib.suppress(OSError):
        sync(edit.path.parent)


def _see_unchanged(edit: Edit) -> None:
    if _read(edit.path) != edit.before:
        raise FileChangedError(f"{str(edit.path)!r} has changed meanwhile", hint="repeat the command")
