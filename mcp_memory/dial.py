"""A connection to the engine of a data folder. Standard library only.

The first line that a client sends is the preamble, the first that comes back says whether it is welcome; what follows
is MCP, or the calls of `remote`, or an order of `control`, or the address at which HTTP is to be served.
"""

import contextlib
import json
import os
import select
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Literal

from .address import HOST, PREAMBLE_VERSION, Address, may_run, published
from .errors import McpMemoryError
from .paths import HOME_VARIABLE
from .version import __version__

Kind = Literal["mcp", "api", "control", "http"]
PREFIX = "MCP_MEMORY_"
USER_VARIABLE = "MCP_MEMORY_USER_ID"
ENGINE_GONE = "the memory engine went away before it answered"
_OLLAMA_VARIABLE = "OLLAMA_HOST"
# The longest line of a client that is read.
MAX_LINE_BYTES = 64_000_000
_CONNECT_S = 5.0
_ANSWER_S = 10.0


class Line:
    """An open connection; the preamble has been accepted."""

    def __init__(
        self, connection: socket.socket, reader: IO[bytes], address: Address, welcome: Mapping[str, Any]
    ) -> None:
        self.connection = connection
        self.reader = reader
        self.address = address
        # What the user is to know of this connection, '' for nothing.
        self.notice = str(welcome.get("notice") or "")

    def send(self, line: bytes) -> None:
        """Send a line. Raises OSError when the engine has gone."""
        self.connection.sendall(line)

    def is_quiet(self) -> bool:
        """Whether nothing has come that was not read, not even the end."""
        return not select.select([self.connection], [], [], 0)[0]

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


def own_variables(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The settings in the environment, but for the folder, which both sides have in common."""
    return {
        name: value
        for name, value in sorted(environment.items())
        if (name.startswith(PREFIX) and name != HOME_VARIABLE) or name == _OLLAMA_VARIABLE
    }


def connect(
    home: Path, kind: Kind, *, user_id: str = "", agent_id: str = "", name: str = "", address: Address | None = None
) -> Line | None:
    """A connection to the engine that runs, None where none does. '' means the user that the environment names,
    and for the agent what the settings say, else the `name`. An `address` that was looked at is used as it is.

    Raises:
        McpMemoryError: the engine refuses; what it said.
    """
    address = address or published(home)
    if address is None or not may_run(address.pid):
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
        "user_id": user_id or os.environ.get(USER_VARIABLE, ""),
        "agent_id": agent_id,
        "name": name,
        "settings": own_variables(),
    }
    reader = connection.makefile("rb")
    try:
        connection.sendall(json.dumps(preamble).encode() + b"\n")
        answer = json.loads(reader.readline() or b"null")
    except (OSError, ValueError):
        answer = None
    line = Line(connection, reader, address, answer if isinstance(answer, dict) else {})
    if not isinstance(answer, dict):
        # It left meanwhile, or something else has the port now.
        line.close()
        return None
    if refusal := answer.get("error"):
        line.close()
        raise McpMemoryError(str(refusal.get("message")), hint=str(refusal.get("hint")))
    connection.settimeout(None)
    return line
