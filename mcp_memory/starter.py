"""Sees to it that an engine runs: one per data folder, of the newest program that has worked on it.

Standard library only: the shim is made of this.
"""

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from .address import Holder, Program, holder_of, is_newer, may_run, published, record_program, recorded_program
from .control import retire
from .dial import Kind, Line, connect
from .errors import FolderInUseError, StorageError
from .paths import HOME_VARIABLE
from .version import __version__

# -P: what lies in the working folder of a host must not be taken for a module of Python's.
_ENTRY = ("-P", "-m", "mcp_memory")
# Has an engine load all at once, as nobody waits for its handshake.
WARM_VARIABLE = "WARM_MCP_MEMORY_ENGINE"
# An engine that finds the folder held by somebody else ends with this.
HELD_ELSEWHERE = 3
# 0: it was told to leave before it was reached.
_TRY_AGAIN = (0, HELD_ELSEWHERE)
_START_S = 30.0
# An engine that is told to leave lets its calls end first.
_HELD_S = 20.0
# A command of the terminal is done sooner; a host does not wait for an answer for ever.
_OTHERS_S = 3.0
# After that a recorded program that has not come to listen is done without.
_OTHER_PROGRAM_S = 15.0
_LOOK_EVERY_S = 0.005
_HELD_AGAIN_S = 5.0
# How often one may be ended from outside while it starts.
_MAX_KILLED = 3
_LAST_WORDS_S = 1.0


def connect_or_start(home: Path, kind: Kind, *, user_id: str = "", agent_id: str = "", name: str = "") -> Line:
    """A connection to the engine, which is started where none runs; of two that start at once one stays.

    An engine of an older program than this one is asked to leave first. A process that works on the folder by itself,
    such as a command of the terminal, is waited for some seconds.

    Raises:
        FolderInUseError: another process than an engine holds the folder; its pid is named.
        StorageError: none runs and none can be started; why not.
        McpMemoryError: the engine refuses.
    """
    attempts = _Attempts(home)
    while attempts.may_go_on():
        if (running := published(home)) and is_newer(__version__, running.version):
            retire(home, running)
        if line := connect(home, kind, user_id=user_id, agent_id=agent_id, name=name):
            return line
        attempts.go_on()
        time.sleep(_LOOK_EVERY_S)
    holder = _holder(home)
    if holder and holder.is_engine:
        raise StorageError(f"engine {holder.pid} holds {home} and does not answer", hint="run: mcp-memory engine stop")
    raise StorageError(f"the engine did not start within {_START_S:.0f} s", hint="run: mcp-memory doctor")


def begin(home: Path) -> None:
    """Start an engine, of the newest program, where none listens; returns at once.

    Raises:
        OSError: the system does not allow it.
    """
    own = Program(__version__, (sys.executable, *_ENTRY))
    _record(home, own)
    _popen(home, _newest(home, own), subprocess.DEVNULL, {WARM_VARIABLE: "1"})


class _Attempts:
    """What is done to have an engine on a folder, look by look."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._own = Program(__version__, (sys.executable, *_ENTRY))
        _record(home, self._own)
        self._program = _newest(home, self._own)
        self._began = time.monotonic()
        # Whoever holds the folder is an engine that starts or ends, or is done soon.
        self._start_at = self._began + (_HELD_AGAIN_S if _holder(home) else 0)
        self._started: _Started | None = None
        self._n_killed = 0

    @property
    def _passed_s(self) -> float:
        return time.monotonic() - self._began

    def may_go_on(self) -> bool:
        """Whether there is time left."""
        return self._passed_s < _START_S

    def go_on(self) -> None:
        """Start an engine where none is under way, or see what has become of it.

        Raises:
            FolderInUseError, StorageError: there will be none.
        """
        holder = _holder(self._home)
        if holder and not holder.is_engine and self._passed_s > _OTHERS_S:
            raise FolderInUseError(
                f"the data folder {self._home} is in use by process {holder.pid}",
                hint=f"end what works on it, process {holder.pid}, or set {HOME_VARIABLE} to another folder",
            )
        if self._started is None:
            if not holder or time.monotonic() >= self._start_at:
                self._start()
        elif (status := self._started.status()) is not None:
            self._judge(status, self._started)
            self._started = None
        elif self._program != self._own and self._passed_s > _OTHER_PROGRAM_S:
            self._started.end()
            self._started = None
            self._fall_back()

    def _start(self) -> None:
        try:
            self._started = _Started(self._home, self._program)
        except OSError as exc:
            if self._program == self._own:
                raise StorageError(f"the engine cannot be started: {exc}", hint="run: mcp-memory doctor") from exc
            self._fall_back()

    def _fall_back(self) -> None:
        """The recorded program was removed, or does not work any more."""
        self._program = self._own
        with contextlib.suppress(OSError):
            record_program(self._home, self._own)

    def _judge(self, status: int, ended: "_Started") -> None:
        if status < 0 and self._n_killed < _MAX_KILLED:
            self._n_killed += 1
        elif self._program != self._own and status != HELD_ELSEWHERE:
            self._fall_back()
        elif status in _TRY_AGAIN and self._passed_s < _HELD_S:
            self._start_at = time.monotonic() + _HELD_AGAIN_S
        else:
            raise StorageError(ended.last_words(), hint="run: mcp-memory doctor")


def _holder(home: Path) -> Holder | None:
    """The process that says it holds the folder, where it lives."""
    holder = holder_of(home)
    return holder if holder and may_run(holder.pid) else None


def _record(home: Path, own: Program) -> None:
    """Name this program in the folder, unless a newer one is named that is still there."""
    recorded = recorded_program(home)
    is_outdone = (
        recorded is not None
        and recorded.command != own.command
        and recorded.is_there
        and is_newer(recorded.version, own.version)
    )
    if recorded == own or is_outdone:
        return
    # The engine makes the folder where there is none, and tells what is wrong with it.
    with contextlib.suppress(OSError):
        record_program(home, own)


def _newest(home: Path, own: Program) -> Program:
    recorded = recorded_program(home)
    return recorded if recorded and recorded.is_there and is_newer(recorded.version, own.version) else own


class _Started:
    """An engine that was started in a session of its own, and outlives whoever started it."""

    def __init__(self, home: Path, program: Program) -> None:
        """Start it.

        Raises:
            OSError: the system does not allow it.
        """
        self._process = _popen(home, program, subprocess.PIPE)
        self._said = b""
        # Waits for its end, or what is left of it would stay among the processes.
        self._listener = threading.Thread(target=self._listen, name="engine", daemon=True)
        self._listener.start()

    def status(self) -> int | None:
        """With what it ended, None while it runs."""
        return self._process.poll()

    def end(self) -> None:
        """End it by force."""
        self._process.kill()

    def last_words(self) -> str:
        """Why it has ended."""
        self._listener.join(_LAST_WORDS_S)
        said = self._said.decode(errors="replace").strip()
        status = self._process.returncode
        ended = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        return said.splitlines()[-1] if said else f"the engine {ended}"

    def _listen(self) -> None:
        _, self._said = self._process.communicate()


def _popen(
    home: Path, program: Program, stderr: int, variables: Mapping[str, str] = MappingProxyType({})
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*program.command, "engine", "run"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        # Not the host's working folder, which somebody may want to remove; so the folder is named in full.
        cwd=home if os.access(home, os.X_OK) else None,
        env={**os.environ, **variables, HOME_VARIABLE: str(home)},
        **apart(),
    )


def apart() -> dict[str, Any]:
    """How a process is started that outlives its parent, and that no interrupt of a terminal reaches."""
    if sys.platform == "win32":
        return {"creationflags": 0x00000008 | 0x00000200}
    return {"start_new_session": True}
