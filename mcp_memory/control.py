"""What is asked of a running engine about itself: how it is, and to leave. Standard library only."""

import json
import time
from pathlib import Path
from typing import Any

from .address import Address, holder_of, may_run, published
from .dial import connect
from .errors import StorageError

_LEAVE_S = 30.0
_LOOK_EVERY_S = 0.02


def status_of(home: Path) -> dict[str, Any] | None:
    """What the engine of a folder says of itself, None where none runs."""
    return _asked(home, "status")


def stop(home: Path) -> dict[str, Any] | None:
    """End the engine of a folder, calls under way being answered first; what it said of itself, None where none runs.

    Raises:
        StorageError: it does not end.
    """
    if found := _asked(home, "stop"):
        wait_until_gone(home, int(found["pid"]))
    return found


def retire(home: Path, address: Address) -> None:
    """End the engine at this address, of an older program, unless somebody else has.

    Raises:
        StorageError: it does not end.
    """
    if _asked(home, "stop", address):
        wait_until_gone(home, address.pid)


def wait_until_gone(home: Path, pid: int) -> None:
    """Wait until an engine has let go of its folder, which it does last.

    Raises:
        StorageError: it stays.
    """
    deadline = time.monotonic() + _LEAVE_S
    while _is_at_work(home, pid):
        if time.monotonic() > deadline:
            raise StorageError(f"engine {pid} does not end", hint=f"end process {pid}")
        time.sleep(_LOOK_EVERY_S)


def _is_at_work(home: Path, pid: int) -> bool:
    address = published(home)
    holder = holder_of(home)
    is_named = pid in (address and address.pid, holder and holder.pid)
    return is_named and may_run(pid)


def _asked(home: Path, order: str, address: Address | None = None) -> dict[str, Any] | None:
    line = connect(home, "control", address=address)
    if line is None:
        return None
    try:
        line.send(order.encode() + b"\n")
        return dict(json.loads(line.reader.readline()))
    except (OSError, ValueError):
        return None
    finally:
        line.close()
