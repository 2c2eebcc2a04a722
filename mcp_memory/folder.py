"""The data folder: made for its owner only, held by one process, which says who it is."""

import contextlib
import errno
import json
import logging
import os
import stat
from dataclasses import asdict
from pathlib import Path

from filelock import FileLock, Timeout

from .address import OWNER_NAME, Holder, holder_of
from .dial import connect
from .disk import is_full
from .errors import FolderInUseError, McpMemoryError, StorageError
from .place import NETWORK_ADVICE, check_hard_links, network_warning, no_locks

logger = logging.getLogger(__name__)

LOCK_NAME = "lock"
_LETTING_GO_S = 0.5
_ELSEWHERE = "set MCP_MEMORY_HOME to another folder"


class DataFolder:
    """An exclusively held data folder. The operating system frees the lock when the process ends, however."""

    def __init__(self, path: Path, *, is_engine: bool = False) -> None:
        """Create the folder where needed and take its lock; where it is held there is no waiting for it.

        An engine tells others that it is one.

        Raises:
            FolderInUseError: another process holds it; the message names its pid.
            StorageError: the folder cannot be made, written or locked, or its file system has no hard links.
        """
        self.path = path
        # A soft lock would outlive a process that is killed.
        self._lock = FileLock(path / LOCK_NAME, timeout=0, thread_local=False, fallback_to_soft=False)
        try:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            _keep_others_out(path)
            self._acquire()
            check_hard_links(path / LOCK_NAME)
            _refuse_beside_an_engine(path)
        except Timeout as exc:
            raise _in_use(path) from exc
        except NotImplementedError as exc:
            raise no_locks(path) from exc
        except OSError as exc:
            self._lock.release()
            raise no_locks(path) if exc.errno in (errno.ENOLCK, errno.ENOSYS) else _unusable(path, exc) from exc
        except McpMemoryError:
            self._lock.release()
            raise
        # Only for telling others who holds the lock; a full disk must not keep anybody from reading.
        with contextlib.suppress(OSError):
            (path / OWNER_NAME).write_text(json.dumps(asdict(Holder(os.getpid(), is_engine))), encoding="utf-8")
        if warning := network_warning(path):
            logger.warning("%s: %s", warning, NETWORK_ADVICE)

    def _acquire(self) -> None:
        try:
            self._lock.acquire()
        except Timeout:
            if holder_of(self.path) is not None:
                raise
            # Nobody says that it holds it: whoever did is letting go, or has only just come.
            self._lock.acquire(timeout=_LETTING_GO_S)

    def release(self) -> None:
        """Let go of the folder. Safe to repeat."""
        if self._lock.is_locked:
            with contextlib.suppress(OSError):
                (self.path / OWNER_NAME).unlink(missing_ok=True)
            self._lock.release()


def _refuse_beside_an_engine(path: Path) -> None:
    """The lock file may have been removed under an engine that works on."""
    holder = holder_of(path)
    if holder and holder.is_engine and holder.pid != os.getpid() and (line := connect(path, "control")):
        line.close()
        raise _in_use(path)


def _keep_others_out(path: Path) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    # What its owner may do stays: whoever made it read-only meant it.
    if mode & 0o077:
        path.chmod(mode & ~0o077)


def _in_use(path: Path) -> FolderInUseError:
    owner = holder_of(path)
    # Whoever holds a folder on a full disk could not say so, and an earlier holder may have left its name.
    holder = owner.pid if owner and _is_running(owner.pid) else None
    if owner and holder and owner.is_engine:
        return FolderInUseError(
            f"the data folder {path} is in use by the memory engine, process {holder}",
            hint=f"run: mcp-memory engine stop, or {_ELSEWHERE}",
        )
    return FolderInUseError(
        f"the data folder {path} is in use by process {holder or 'unknown'}",
        hint=f"end what works on it{f', process {holder}' if holder else ''}, or {_ELSEWHERE}",
    )


def _is_running(pid: int) -> bool:
    import psutil

    return psutil.pid_exists(pid)


def _unusable(path: Path, exc: OSError) -> StorageError:
    if is_full(exc):
        return StorageError(f"cannot use the data folder {path}: {exc.strerror}", hint="free some disk space")
    owner = _other_owner(path)
    return StorageError(
        f"cannot use the data folder {path}: {exc.strerror or exc}"
        + (f"; it belongs to the account {owner}" if owner else ""),
        hint=f"work as the account {owner}, or {_ELSEWHERE}"
        if owner
        else "make it a folder writable for this account, or set MCP_MEMORY_HOME to another",
    )


def _other_owner(path: Path) -> str:
    """The account that a folder belongs to, '' where it is this one or cannot be told."""
    with contextlib.suppress(OSError, NotImplementedError, KeyError):
        if hasattr(os, "geteuid") and path.stat().st_uid != os.geteuid():
            return path.owner()
    return ""
