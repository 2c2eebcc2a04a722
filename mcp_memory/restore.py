"""A backup brought back: checked before anything is touched, the present contents set aside, then put in place.

At each moment the folder holds the old log or the new one, whole: a restore that is killed can be done again.
"""

import contextlib
import os
import shutil
import time
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from . import migrations
from .address import published
from .backup import MANIFEST_NAME, copy_hashed, read_manifest
from .disk import is_full, sync
from .errors import FolderInUseError, InvalidInputError, StorageError
from .folder import DataFolder
from .log_copy import fold, inspect_log
from .log_file import newer_schema
from .reports import BackupManifest
from .settings import FILE_NAME as SETTINGS_NAME
from .stores import LOG_NAME
from .swap import DERIVED_NAMES

_ASIDE, _DRAFTS = "before-restore", "restore.draft"
# How long an engine may take to end after it has left its clients.
_ENDING_S, _LOOK_EVERY_S = 10.0, 0.05
_ANOTHER = "use another backup; nothing was changed"


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """What was restored, into which folder, and where the contents from before are: '' if there were none."""

    folder: str
    set_aside: str
    manifest: BackupManifest


def restore(source: str | Path, home: Path, now: datetime) -> RestoreResult:
    """Put a backup into a data folder that nobody holds. The tables are made anew when it is next opened.

    Settings that the folder has stay where the backup brings none.

    Raises:
        InvalidInputError: there is no such file, or it is no backup.
        StorageError: it is damaged or of a newer program, the folder is in use or cannot be written. Nothing
            was changed, but where the disk failed halfway: then the old or the new log is in place.
    """
    path = Path(source).expanduser().absolute()
    with _opened(path) as packed:
        manifest = _manifest(packed, path)
        folder = _held(home)
        try:
            with _drafts(home) as drafts:
                _unpack(packed, manifest, path, drafts)
                set_aside = _swap(home, drafts, now)
        except OSError as exc:
            hint = "free some disk space and restore again" if is_full(exc) else "restore again"
            raise StorageError(
                f"{home} could not be restored: {exc.strerror or exc}", hint=f"{hint}; nothing was lost"
            ) from exc
        finally:
            folder.release()
    return RestoreResult(str(home), set_aside, manifest)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    if not path.exists():
        raise InvalidInputError(f"there is no file {path}", hint="name a file that mcp-memory backup has made")
    if path.is_dir():
        raise InvalidInputError(f"{path} is a folder", hint="name a file that mcp-memory backup has made")
    try:
        with path.open("rb") as file:
            begins = file.read(4)
        if not zipfile.is_zipfile(path):
            if begins == b"PK\3\4":
                raise StorageError(f"the backup {path} was cut short", hint=_ANOTHER)
            raise InvalidInputError(f"{path} is no backup", hint="name a file that mcp-memory backup has made")
        with zipfile.ZipFile(path) as packed:
            yield packed
    # What the library makes of changed bytes, depending on where they lie.
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as exc:
        raise StorageError(f"the backup {path} is damaged: {exc}", hint=_ANOTHER) from exc
    except PermissionError as exc:
        if exc.filename is None or Path(exc.filename) != path:
            raise
        raise StorageError(f"{path} cannot be read: {exc.strerror}", hint="have it readable for this account") from exc


def _manifest(packed: zipfile.ZipFile, path: Path) -> BackupManifest:
    names = packed.namelist()
    if MANIFEST_NAME not in names or LOG_NAME not in names:
        raise InvalidInputError(f"{path} is no backup", hint="name a file that mcp-memory backup has made")
    manifest = read_manifest(packed.read(MANIFEST_NAME), path)
    if manifest.schema > migrations.SCHEMA_VERSION:
        raise newer_schema(f"the log in {path}", manifest.schema, migrations.SCHEMA_VERSION, manifest.program)
    return manifest


def _held(home: Path) -> DataFolder:
    deadline = time.monotonic() + _ENDING_S
    while True:
        try:
            return DataFolder(home)
        except FolderInUseError as exc:
            # An engine that was told to stop takes its address away first and lets go of the folder last.
            if published(home) is None and time.monotonic() < deadline:
                time.sleep(_LOOK_EVERY_S)
                continue
            raise FolderInUseError(exc.message, hint=f"{exc.hint}; then restore again, nothing was changed") from exc


@contextlib.contextmanager
def _drafts(home: Path) -> Iterator[Path]:
    drafts = home / _DRAFTS
    # What a restore that was killed left: nobody else is here.
    shutil.rmtree(drafts, ignore_errors=True)
    drafts.mkdir(mode=0o700)
    try:
        yield drafts
    finally:
        shutil.rmtree(drafts, ignore_errors=True)


def _unpack(packed: zipfile.ZipFile, manifest: BackupManifest, path: Path, drafts: Path) -> None:
    log = drafts / LOG_NAME
    with packed.open(LOG_NAME) as source, log.open("xb") as into:
        n_bytes, digest = copy_hashed(source, into)
    if digest != manifest.log_sha256:
        raise StorageError(
            f"the log in {path} has {n_bytes} bytes and sha256 {digest}, its manifest says {manifest.log_bytes}"
            f" and {manifest.log_sha256}",
            hint=_ANOTHER,
        )
    contents = inspect_log(log)
    if contents.schema > migrations.SCHEMA_VERSION:
        raise newer_schema(f"the log in {path}", contents.schema, migrations.SCHEMA_VERSION, contents.program)
    sync(log)
    if manifest.has_settings:
        settings = drafts / SETTINGS_NAME
        settings.write_bytes(packed.read(SETTINGS_NAME))
        sync(settings)


def _swap(home: Path, drafts: Path, now: datetime) -> str:
    """Set the present contents aside and put the new ones in place; where the old ones are now.

    The order is what makes it safe: without tables the old log is whole, and its name changes hands in one step.
    """
    aside = _new_folder(home, now)
    log, settings = home / LOG_NAME, home / SETTINGS_NAME
    for name in DERIVED_NAMES:
        if (home / name).exists():
            (home / name).rename(aside / name)
    if log.exists() and not fold(log):
        # A log that cannot be opened. Its rest must not be taken for that of the new one.
        log.with_name(f"{LOG_NAME}-wal").rename(aside / f"{LOG_NAME}-wal")
    log.with_name(f"{LOG_NAME}-shm").unlink(missing_ok=True)
    for file in (log, settings):
        if file.exists() and (drafts / file.name).exists():
            os.link(file, aside / file.name)
    sync(aside)
    for file in (settings, log):
        if (drafts / file.name).exists():
            (drafts / file.name).replace(file)
    sync(home)
    if any(aside.iterdir()):
        return str(aside)
    aside.rmdir()
    return ""


def _new_folder(home: Path, now: datetime) -> Path:
    name = f"{_ASIDE}-{now:%Y%m%d-%H%M%S}"
    number = 1
    while (home / name).exists():
        number += 1
        name = f"{_ASIDE}-{now:%Y%m%d-%H%M%S}-{number}"
    (home / name).mkdir(mode=0o700)
    return home / name
