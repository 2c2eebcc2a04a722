"""A backup: one file with a consistent copy of the log, the settings, and a manifest that says what it is.

LanceDB's tables are not in it: they are derived, and made anew from the log. `restore` is the way back.
"""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import IO

from pydantic import TypeAdapter

from .disk import give_name, sync
from .errors import InvalidInputError, StorageError
from .log_copy import inspect_log
from .place import unwritable
from .reports import BackupManifest, BackupResult
from .settings import FILE_NAME as SETTINGS_NAME
from .stores import LOG_NAME, Stores
from .version import __version__

FORMAT = 1
MANIFEST_NAME = "manifest.json"
_BLOCK_BYTES = 1 << 20
_BINARY: int = getattr(os, "O_BINARY", 0)


_MANIFEST: TypeAdapter[BackupManifest] = TypeAdapter(BackupManifest)


def back_up(stores: Stores, target: str | Path, now: datetime) -> BackupResult:
    """Write a backup of the whole data folder, of all its users; adding and searching go on meanwhile.

    Raises:
        InvalidInputError: the target exists, is no place for a file, or lies in the data folder.
        StorageError: it cannot be written, or the log is damaged; nothing is left.
    """
    path = _checked_target(target, stores.settings.home)
    try:
        with _draft_folder(path) as drafts:
            manifest = _write(stores, drafts / path.name, now)
            _publish(drafts / path.name, path)
    except OSError as exc:
        raise unwritable("backup", path, exc) from exc
    return BackupResult(str(path), path.stat().st_size, manifest)


def _checked_target(target: str | Path, home: Path) -> Path:
    path = Path(target).expanduser().absolute()
    if path.is_dir():
        raise InvalidInputError(f"{path} is a folder", hint=f"name a file in it: {path / 'memory-backup.zip'}")
    if not path.parent.is_dir():
        raise InvalidInputError(f"there is no folder {path.parent}", hint="make it, or name another file")
    if path.resolve().is_relative_to(home.resolve()):
        raise InvalidInputError(
            f"{path} lies in the data folder {home}, and would be lost with it",
            hint="name a file elsewhere, best on another disk",
        )
    # A link that leads nowhere is a name that is taken, too.
    if path.exists() or path.is_symlink():
        raise _taken(path)
    return path


def _taken(path: Path) -> InvalidInputError:
    return InvalidInputError(f"{path} exists", hint="name another file, or move that one away; none is overwritten")


@contextlib.contextmanager
def _draft_folder(path: Path) -> Iterator[Path]:
    """A folder for this account only beside a file to be, which goes with what is in it."""
    drafts = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".draft", dir=path.parent))
    try:
        yield drafts
    finally:
        shutil.rmtree(drafts, ignore_errors=True)


def _write(stores: Stores, archive: Path, now: datetime) -> BackupManifest:
    log = archive.with_name(f"{archive.name}.{LOG_NAME}")
    stores.log.copy(log)
    contents = inspect_log(log)
    settings = stores.settings.home / SETTINGS_NAME
    has_settings = settings.is_file()
    with (
        os.fdopen(os.open(archive, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, 0o600), "w+b") as file,
        # Times before 1980 have no place in this format.
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as packed,
    ):
        with log.open("rb") as source, packed.open(LOG_NAME, "w", force_zip64=True) as into:
            n_bytes, digest = copy_hashed(source, into)
        if has_settings:
            packed.write(settings, SETTINGS_NAME)
        manifest = BackupManifest(
            FORMAT, contents.schema, __version__, now, contents.counts, n_bytes, digest, has_settings
        )
        packed.writestr(MANIFEST_NAME, _MANIFEST.dump_json(manifest, indent=1))
    sync(archive)
    return manifest


def copy_hashed(source: IO[bytes], into: IO[bytes]) -> tuple[int, str]:
    """Copy all that is left of a file; the number of bytes and their SHA-256 in hexadecimal digits."""
    hashed, n_bytes = hashlib.sha256(), 0
    while block := source.read(_BLOCK_BYTES):
        into.write(block)
        hashed.update(block)
        n_bytes += len(block)
    return n_bytes, hashed.hexdigest()


def _publish(draft: Path, path: Path) -> None:
    """Give a complete file its name, unless somebody has taken it meanwhile."""
    try:
        give_name(draft, path)
    except FileExistsError as exc:
        raise _taken(path) from exc


def read_manifest(text: bytes, what: Path) -> BackupManifest:
    """A manifest from its JSON.

    Raises:
        StorageError: a newer program wrote it, or it is none.
    """
    with contextlib.suppress(ValueError):
        found = json.loads(text)
        if isinstance(found, dict) and isinstance(found.get("format"), int) and found["format"] > FORMAT:
            raise StorageError(
                f"the backup {what} has format {found['format']}, mcp-memory {__version__} knows {FORMAT}",
                hint=f"update mcp-memory to {found.get('program', 'a newer version')} or newer",
            )
        return _MANIFEST.validate_python(found)
    raise StorageError(f"the manifest in {what} cannot be read", hint="use another backup")
