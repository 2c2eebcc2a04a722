"""The data folder: made for its owner only, held by one process, which says who it is."""

import contextlib
import errno
import json
import os
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from .errors import FolderInUseError, StorageError

LOCK_NAME = "lock"
OWNER_NAME = "owner.json"


class DataFolder:
    """An exclusively held data folder. The operating system frees the lock when the process ends, however."""

    def __init__(self, path: Path) -> None:
        """Create the folder where needed and take its lock without waiting.

        Raises:
            FolderInUseError: another process holds it; the message names its pid.
            StorageError: the folder cannot be made or written.
        """
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.chmod(0o700)
            self._lock = FileLock(path / LOCK_NAME, timeout=0, thread_local=False)
            self._lock.acquire()
        except Timeout as exc:
            owner = read_owner(path).get("pid")
            raise FolderInUseError(
                f"the data folder {path} is in use by process {owner or 'unknown'}",
                hint=f"end process {owner}, or set MCP_MEMORY_HOME to another folder"
                if owner
                else "end the other mcp-memory, or set MCP_MEMORY_HOME to another folder",
            ) from exc
        except OSError as exc:
            is_full = exc.errno == errno.ENOSPC
            raise StorageError(
                f"cannot use the data folder {path}: {exc.strerror or exc}",
                hint="free some disk space"
                if is_full
                else "make it a folder writable for this account, or set MCP_MEMORY_HOME to another",
            ) from exc
        # Only for telling others who holds the lock; a full disk must not keep anybody from reading.
        with contextlib.suppress(OSError):
            (path / OWNER_NAME).write_text(json.dumps({"pid": os.getpid()}), encoding="utf-8")

    def release(self) -> None:
        """Let go of the folder. Safe to repeat."""
        if self._lock.is_locked:
            with contextlib.suppress(OSError):
                (self.path / OWNER_NAME).unlink(missing_ok=True)
            self._lock.release()


def read_owner(path: Path) -> dict[str, Any]:
    """What the holder of a folder wrote about itself, {} where there is nothing readable."""
    try:
        found = json.loads((path / OWNER_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
