"""Who serves a data folder: where the engine listens, who holds the folder, which program is started. Small files.

Standard library only.
"""

import contextlib
import json
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FILE_NAME = "engine.json"
PROGRAM_NAME = "program.json"
OWNER_NAME = "owner.json"
# What the engine has to say, and what libraries print.
LOG_NAME, STDERR_NAME = "engine.log", "engine.stderr"
HOST = "127.0.0.1"
# The first line of a connection and its answer are frozen: any shim works with any engine.
PREAMBLE_VERSION = 1
# Whatever a file may hold that somebody else wrote, or that was torn.
_NOTHING_READABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
_STAGES = ("dev", "a", "b", "rc", "")


@dataclass(frozen=True, slots=True)
class Address:
    """A port of this machine, the token that a client must show, and whose they are."""

    port: int
    token: str
    pid: int
    version: str


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that holds a folder: an engine, or one that works on it by itself."""

    pid: int
    is_engine: bool


@dataclass(frozen=True, slots=True)
class Program:
    """The newest program that has worked on a data folder: its version and the command that runs it."""

    version: str
    command: tuple[str, ...]

    @property
    def is_there(self) -> bool:
        """Whether its interpreter can be run still."""
        try:
            return bool(self.command) and os.access(self.command[0], os.X_OK)
        except ValueError:
            # What no path can hold.
            return False


def published(home: Path) -> Address | None:
    """The address in a data folder, None where there is none that can be read."""
    try:
        found = json.loads((home / FILE_NAME).read_text(encoding="utf-8"))
        address = Address(int(found["port"]), str(found["token"]), int(found["pid"]), str(found["version"]))
    except _NOTHING_READABLE:
        return None
    return address if 0 < address.port < 1 << 16 and 0 < address.pid < 1 << 31 else None


def publish(home: Path, address: Address) -> None:
    """Put the address into the folder at once as a whole, readable for its owner only.

    Raises:
        OSError: the folder cannot be written.
    """
    _write(home / FILE_NAME, asdict(address))


def withdraw(home: Path, address: Address) -> None:
    """Take the address away, if it is still this one."""
    if published(home) == address:
        with contextlib.suppress(OSError):
            (home / FILE_NAME).unlink()


def holder_of(home: Path) -> Holder | None:
    """The process that says it holds a folder, None where none does; it may be gone, and its number another's."""
    try:
        found = json.loads((home / OWNER_NAME).read_text(encoding="utf-8"))
        holder = Holder(int(found["pid"]), bool(found.get("is_engine")))
    except _NOTHING_READABLE:
        return None
    return holder if 0 < holder.pid < 1 << 31 else None


def recorded_program(home: Path) -> Program | None:
    """The program that a folder names, None where it names none that can be read."""
    try:
        found = json.loads((home / PROGRAM_NAME).read_text(encoding="utf-8"))
        return Program(str(found["version"]), tuple(str(part) for part in found["command"]))
    except _NOTHING_READABLE:
        return None


def record_program(home: Path, program: Program) -> None:
    """Name a program in the folder, for all who start an engine there.

    Raises:
        OSError: the folder cannot be written.
    """
    _write(home / PROGRAM_NAME, asdict(program))


def is_newer(version: str, than: str) -> bool:
    """Whether a version comes after another; a pre-release (1.0rc1, 1.0.dev3) before its release.

    >>> is_newer("0.10.0", "0.9"), is_newer("1.0", "1.0rc2"), is_newer("1.0.0", "1.0"), is_newer("?", "0.1")
    (True, True, False, False)
    """
    return _order(version) > _order(than)


def _order(version: str) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
    # More digits than any version has would not even be read.
    release = re.match(r"\d{1,18}(?:\.\d{1,18})*", version)
    if not release:
        return (), 0, ()
    numbers = [int(part) for part in release[0].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    rest = version[release.end() :]
    stage = re.match(r"[._-]?(dev|a|b|rc)", rest, re.IGNORECASE)
    return (
        tuple(numbers),
        _STAGES.index(stage[1].lower() if stage else ""),
        tuple(map(int, re.findall(r"\d{1,18}", rest))),
    )


def may_run(pid: int) -> bool:
    """Whether there is such a process; its port may be somebody else's by now."""
    if os.name != "posix":
        # There a signal 0 would end it.
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _write(path: Path, content: dict[str, Any]) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(content, file)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
