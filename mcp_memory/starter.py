"""Sees to it that an engine runs: one per data folder, of the newest program that has worked on it.

Standard library only: the shim is made of this.
"""

import contextlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from .address import Program, holder_of, is_newer, may_run, published, record_program, recorded_program
from .control import retire
from .dial import Kind, Line, connect
from .errors import StorageError
from .paths import HOME_VARIABLE
from .version import __version__

# -P: what lies in the working folder of a host must not be taken for a module of Python's.
_ENTRY = ("-P", "-m", "mcp_memory")
# An engine that finds the folder held by somebody else ends with this.
HELD_ELSEWHERE = 3
# 0: it was told to leave before it was reached.
_TRY_AGAIN = (0, HELD_ELSEWHERE)
_START_S = 30.0
# An engine that is told to leave lets its calls end first, and a command of the terminal is done in some seconds.
_HELD_S = 15.0
_LOOK_EVERY_S = 0.005
_HELD_AGAIN_S = 5.0
# How often one may be ended from outside while it starts.
_MAX_KILLED = 3
_LAST_WORDS_S = 1.0


def connect_or_start(home: Path, kind: Kind, *, user_id: str = "", agent_id: str = "") -> Line:
    """A connection to the engine, which is started where none runs; of two that start at once one stays.

    An engine of an older program than this one is asked to leave first.

    Raises:
        StorageError: none runs and none can be started; why not.
        McpMemoryError: the engine refuses.
    """
    own = Program(__version__, (sys.executable, *_ENTRY))
    _record(home, own)
    began = start_at = time.monotonic()
    program = _newest(home, own)
    started: _Started | None = None
    n_killed = 0
    while time.monotonic() - began < _START_S:
        if (running := published(home)) and is_newer(own.version, running.version):
            retire(home, running)
        if line := connect(home, kind, user_id=user_id, agent_id=agent_id):
            return line
        if started is None:
            # Whoever holds the folder is starting or ending as an engine, or is a command that is done soon.
            if time.monotonic() >= start_at or not _is_held(home):
                started = _Started(home, program)
        elif (status := started.status()) is not None:
            if status in _TRY_AGAIN and time.monotonic() - began < _HELD_S:
                start_at = time.monotonic() + _HELD_AGAIN_S
            elif status < 0 and n_killed < _MAX_KILLED:
                n_killed += 1
            elif status not in _TRY_AGAIN and program != own:
                # It was removed, or does not work any more.
                program = own
            else:
                raise StorageError(started.last_words(), hint="run: mcp-memory doctor")
            started = None
        time.sleep(_LOOK_EVERY_S)
    raise StorageError(f"the engine did not start within {_START_S:.0f} s", hint="run: mcp-memory doctor")


def _is_held(home: Path) -> bool:
    """Whether a process that lives says it holds the folder; its number may be another's by now."""
    holder = holder_of(home)
    return bool(holder) and may_run(holder)


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
        apart: dict[str, Any] = (
            {"creationflags": 0x00000008 | 0x00000200} if sys.platform == "win32" else {"start_new_session": True}
        )
        self._process = subprocess.Popen(
            [*program.command, "engine", "run"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            # Not the host's working folder, which somebody may want to remove; so the folder is named in full.
            cwd=home if home.is_dir() else None,
            env={**os.environ, HOME_VARIABLE: str(home)},
            **apart,
        )
        self._said = b""
        # Waits for its end, or what is left of it would stay among the processes.
        self._listener = threading.Thread(target=self._listen, name="engine", daemon=True)
        self._listener.start()

    def status(self) -> int | None:
        """With what it ended, None while it runs."""
        return self._process.poll()

    def last_words(self) -> str:
        """Why it has ended."""
        self._listener.join(_LAST_WORDS_S)
        said = self._said.decode(errors="replace").strip()
        status = self._process.returncode
        ended = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        return said.splitlines()[-1] if said else f"the engine {ended}"

    def _listen(self) -> None:
        _, self._said = self._process.communicate()
