"""A connection to the engine of a data folder: found, or started when there is none. Standard library only.

The first line that a client sends is the preamble, the first that comes back says whether it is welcome; what follows
is MCP, or the calls of `remote`.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, Literal

from .address import HOST, PREAMBLE_VERSION, Address, published
from .errors import McpMemoryError, StorageError
from .paths import HOME_VARIABLE
from .version import __version__

Kind = Literal["mcp", "api", "control"]
PREFIX = "MCP_MEMORY_"
USER_VARIABLE = "MCP_MEMORY_USER_ID"
# These belong to a connection, or name the engine itself; every other setting is the engine's.
_NOT_THE_ENGINES = frozenset({HOME_VARIABLE, USER_VARIABLE})
# An engine that finds the folder held by somebody else ends with this.
HELD_ELSEWHERE = 3
_CONNECT_S = 5.0
_ANSWER_S = 30.0
_START_S = 30.0
# An engine that is told to leave lets its calls end first, and a command of the terminal is done in some seconds.
_HELD_S = 15.0
_LOOK_EVERY_S = 0.005
_HELD_AGAIN_S = 0.1


class Line:
    """An open connection; the preamble has been accepted."""

    def __init__(
        self, connection: socket.socket, reader: IO[bytes], answer: Mapping[str, Any], address: Address
    ) -> None:
        self.connection = connection
        self.reader = reader
        self.address = address
        self.notice = str(answer.get("notice") or "")

    def send(self, line: bytes) -> None:
        """Send a line. Raises OSError when the engine has gone."""
        self.connection.sendall(line)

    def finish(self) -> None:
        """Say that nothing more will be sent; what was asked is still answered."""
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Let go of it. Safe to repeat."""
        with contextlib.suppress(OSError):
            # A thread that waits for a line gets the end, and lets go of the file that is closed next.
            self.connection.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError):
            self.reader.close()
            self.connection.close()


def engine_settings(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables that are settings of an engine and not of a connection."""
    return {
        name: value
        for name, value in sorted(environment.items())
        if name.startswith(PREFIX) and name not in _NOT_THE_ENGINES
    }


def dial(home: Path, kind: Kind, agent_id: str = "") -> Line | None:
    """A connection to the engine that runs, None where none does.

    Raises:
        McpMemoryError: the engine refuses; what it said.
    """
    address = published(home)
    if address is None:
        return None
    try:
        connection = socket.create_connection((HOST, address.port), _CONNECT_S)
    except OSError:
        # Its file outlived it.
        return None
    connection.settimeout(_ANSWER_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    preamble = {
        "mcp_memory": PREAMBLE_VERSION,
        "token": address.token,
        "version": __version__,
        "kind": kind,
        "user_id": os.environ.get(USER_VARIABLE, ""),
        "agent_id": agent_id,
        "settings": engine_settings(),
    }
    reader = connection.makefile("rb")
    try:
        connection.sendall(json.dumps(preamble).encode() + b"\n")
        answer = json.loads(reader.readline() or b"null")
    except (OSError, ValueError):
        answer = None
    if not isinstance(answer, dict):
        # It left meanwhile, or something else has the port now.
        reader.close()
        connection.close()
        return None
    if refusal := answer.get("error"):
        reader.close()
        connection.close()
        raise McpMemoryError(str(refusal.get("message")), hint=str(refusal.get("hint")))
    connection.settimeout(None)
    return Line(connection, reader, answer, address)


def dial_or_start(
    home: Path, kind: Kind, agent_id: str = "", start: Callable[[], subprocess.Popen[bytes]] | None = None
) -> Line:
    """A connection to the engine, which is started where none runs; of two that start at once one stays.

    Raises:
        StorageError: none runs and none can be started; why not.
        McpMemoryError: the engine refuses.
    """
    began = time.monotonic()
    started: subprocess.Popen[bytes] | None = None
    while time.monotonic() - began < _START_S:
        if line := dial(home, kind, agent_id):
            return line
        if started is None:
            started = (start or start_engine)()
        elif (status := started.poll()) is not None:
            if status != HELD_ELSEWHERE or time.monotonic() - began > _HELD_S:
                raise StorageError(_last_words(started), hint="run: mcp-memory doctor")
            # Another engine is about to listen or to end, or a command of the terminal is about to end.
            started = None
            time.sleep(_HELD_AGAIN_S)
        time.sleep(_LOOK_EVERY_S)
    raise StorageError(f"the engine did not start within {_START_S:.0f} s", hint="run: mcp-memory doctor")


def start_engine() -> subprocess.Popen[bytes]:
    """Start an engine of its own session, that outlives whoever started it."""
    environment = {name: value for name, value in os.environ.items() if name != USER_VARIABLE}
    apart: dict[str, Any] = (
        {"creationflags": 0x00000008 | 0x00000200} if sys.platform == "win32" else {"start_new_session": True}
    )
    return subprocess.Popen(
        [sys.executable, "-m", "mcp_memory", "engine", "run"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
        **apart,
    )


def _last_words(process: subprocess.Popen[bytes]) -> str:
    said = process.stderr.read().decode(errors="replace").strip() if process.stderr else ""
    return said.splitlines()[-1] if said else f"the engine ended with status {process.returncode}"
