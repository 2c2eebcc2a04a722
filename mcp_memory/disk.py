"""What the operating system does and says of a disk: writing through to it, and which failures are the machine's."""

import errno
import os
import re
from pathlib import Path

_FULL = ("ENOSPC", "EDQUOT", "EFBIG")
# Those that say nothing about what is in a file. One that is not there, or no folder, is not among them.
_OF_THE_MACHINE = (
    *_FULL, "EACCES", "EPERM", "EROFS", "EIO", "ESTALE", "EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "EBUSY", "EINTR",
    "ENXIO", "ENODEV", "ENOLCK", "ENOTCONN", "ETIMEDOUT", "ECONNRESET", "ECONNABORTED", "EHOSTDOWN", "EHOSTUNREACH",
    "ENETDOWN", "ENETUNREACH", "EREMOTEIO", "ESHUTDOWN",
)  # fmt: skip
# The same as Windows numbers them, from its list "System Error Codes".
_OF_WINDOWS = frozenset(
    (
        4,  # too many open files
        5, 19, 65,  # access denied, write-protected
        8, 14, 1450, 1455,  # no memory or other resources
        21, 23, 27, 29, 30, 31, 55, 433, 1006, 1117, 1167,  # the device is away, or cannot read or write
        32, 33, 170, 1224,  # somebody else uses the file
        39, 112, 223, 1295, 1816,  # full, or no more for this account or file
        51, 53, 54, 59, 64, 67, 121, 1231, 1236,  # the network
    )
)  # fmt: skip
_NUMBER = re.compile(r"\bos error (\d+)\b")


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, on the disk before going on; folders where the system knows that."""
    if path.is_dir() and os.name == "nt":
        return
    # Windows wants it open for writing.
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def give_name(draft: Path, path: Path) -> None:
    """Give a complete file its name for good.

    Raises:
        FileExistsError: somebody has taken that name.
        OSError: the folder cannot be written.
    """
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError:
        # Memory sticks have no hard links, by which a name is taken or refused in one step.
        if path.exists():
            raise FileExistsError from None
        draft.rename(path)
    sync(path.parent)


def is_full(exc: OSError) -> bool:
    """Whether writing failed because there is no room, or no more for this account or this file."""
    return exc.errno in _numbers(_FULL)


def is_machines_fault(message: str) -> bool:
    """Whether a library's message quotes a failure of the system, which says nothing about what is in the files.

    Examples: "IO error: File too large (os error 27)" → True; "Invalid data: file is too short" → False.
    """
    numbers = _OF_WINDOWS if os.name == "nt" else _numbers(_OF_THE_MACHINE)
    if any(int(number) in numbers for number in _NUMBER.findall(message)):
        return True
    said = message.casefold()
    return any(os.strerror(number).casefold() in said for number in _numbers(_OF_THE_MACHINE))


def _numbers(names: tuple[str, ...]) -> frozenset[int]:
    """Those that this system has."""
    return frozenset(getattr(errno, name) for name in names if hasattr(errno, name))
