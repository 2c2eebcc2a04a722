"""Files of other programs: read whole, and several changed as one, so that each is there old or new and never half.

Links are followed and modes kept; when one cannot be changed, those before it are put back.
"""

import os
import stat
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .errors import HostError

_MINE = 0o600
_MY_FOLDER = 0o700


@dataclass(frozen=True, slots=True)
class Change:
    """What a file holds and what it is to hold; None where it is not there."""

    path: Path
    before: bytes | None
    after: bytes | None


def read(path: Path) -> bytes | None:
    """What is in a file, None where there is none.

    Raises:
        HostError: it is there and cannot be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise HostError(f"{path} cannot be read: {exc.strerror}", hint="see to it that it is a file of yours") from exc


def text_of(path: Path, content: bytes | None) -> str:
    """The text of a file, '' where there is none.

    Raises:
        HostError: it is not in UTF-8.
    """
    try:
        return (content or b"").decode("utf-8")
    except UnicodeDecodeError as exc:
        raise HostError(
            f"{path} is not in UTF-8: byte {exc.start}", hint="save it as UTF-8; nothing was changed"
        ) from exc


def missing_folders(path: Path) -> list[Path]:
    """The folders that have to be made for a file, outermost first."""
    found = [folder for folder in path.parents if not folder.exists()]
    return found[::-1]


def change(changes: Sequence[Change]) -> None:
    """Make all changes or none; new files and folders are their owner's alone.

    Raises:
        HostError: one cannot be made; nothing is changed then.
    """
    staged: list[tuple[Change, Path, Path | None]] = []
    folders: list[Path] = []
    done: list[tuple[Change, Path]] = []
    try:
        for one in changes:
            folders += _make_folders(one)
            target = one.path.resolve()
            staged.append((one, target, _staged(target, one.after) if one.after is not None else None))
        for one, target, ready in staged:
            _check_unchanged(one, target)
            done.append((one, target))
            if ready:
                ready.replace(target)
            else:
                target.unlink(missing_ok=True)
    except (OSError, HostError) as exc:
        _put_back(done, folders, [ready for _, _, ready in staged if ready])
        if isinstance(exc, HostError):
            raise
        failed = changes[min(len(staged), len(changes) - 1)] if not done else done[-1][0]
        raise HostError(
            f"{failed.path} cannot be written: {exc.strerror or exc}; nothing was changed",
            hint="see to it that the file and its folder are yours to write and that there is room on the disk",
        ) from exc


def write_own(path: Path, content: bytes) -> None:
    """Write a file of ours, which only its owner may read.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(mode=_MY_FOLDER, parents=True, exist_ok=True)
    _staged(path, content, _MINE).replace(path)


def remove_empty(folders: Sequence[Path]) -> None:
    """Remove those of some folders that are empty, innermost first."""
    for folder in sorted(folders, key=lambda folder: len(folder.parts), reverse=True):
        with suppress(OSError):
            folder.rmdir()


def _check_unchanged(one: Change, target: Path) -> None:
    if read(target) != one.before:
        raise HostError(f"{one.path} was changed by somebody else meanwhile", hint="try it again")


def _make_folders(one: Change) -> list[Path]:
    if one.after is None:
        return []
    made = missing_folders(one.path)
    one.path.parent.mkdir(mode=_MY_FOLDER, parents=True, exist_ok=True)
    return made


def _staged(target: Path, content: bytes, mode: int | None = None) -> Path:
    """A file beside another, with what that one is to hold, ready to take its place."""
    kept = target.stat() if target.exists() else None
    if kept and not (kept.st_mode & stat.S_IWUSR and os.access(target, os.W_OK)):
        raise PermissionError(13, "it is write-protected")
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    ready = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        ready.chmod(mode if mode is not None else stat.S_IMODE(kept.st_mode) if kept else _MINE)
        if kept and hasattr(os, "chown") and (kept.st_uid, kept.st_gid) != (os.geteuid(), os.getegid()):
            with suppress(OSError):
                os.chown(ready, kept.st_uid, kept.st_gid)
    except BaseException:
        ready.unlink(missing_ok=True)
        raise
    return ready


def _put_back(done: Sequence[tuple[Change, Path]], folders: Sequence[Path], staged: Sequence[Path]) -> None:
    for one, target in reversed(done):
        with suppress(OSError):
            if one.before is None:
                target.unlink(missing_ok=True)
            elif read(target) != one.before:
                _staged(target, one.before).replace(target)
    for ready in staged:
        with suppress(OSError):
            ready.unlink(missing_ok=True)
    remove_empty(folders)
