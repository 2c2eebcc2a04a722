"""`mcp-memory serve`: lines between a host and the engine that all hosts share. Standard library only.

It reads message ids and the handshake, nothing else. When the engine goes - stopped, replaced by a newer one, killed -
what was under way is answered with an error that says whether to repeat it, and the next message finds or starts
another engine, to which the handshake is replayed: the host notices nothing else.
"""

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from .dial import ENGINE_GONE, Line
from .errors import McpMemoryError
from .paths import data_folder
from .starter import connect_or_start

# After the host has closed its end, answers may take as long as loading the model does.
LAST_ANSWERS_S = 60.0
_CODE = -32001
_MAY_REPEAT = f"{ENGINE_GONE}; nothing was changed: repeat the call"
_MAY_HAVE_HAPPENED = (
    f"{ENGINE_GONE}; what was asked may have been done or not: repeating it is safe, the same words are stored once"
)
_READS = frozenset({"search_memory"})


class Shim:
    """One host's stream of messages, and the connection to the engine that is at present behind it."""

    def __init__(self, connect: Callable[[], Line], write: Callable[[bytes], None]) -> None:
        """Connect to the engine; `write` brings a line to the host.

        Raises:
            McpMemoryError: there is no engine and none can be started.
        """
        self._connect = connect
        self._write = write
        # Guards what both threads change: the connection, what is under way, the handshake.
        self._lock = threading.Lock()
        # One thread at a time looks for an engine.
        self._opening = threading.Lock()
        self._under_way: dict[str | int, bytes] = {}
        # Of those, what the engine before had been asked too.
        self._asked_again: set[str | int] = set()
        self._handshake: list[bytes] = []
        self._line: Line | None = None
        # The connection on which the answer to a handshake said again is awaited.
        self._replaying: Line | None = None
        self._reader = threading.Thread()
        self._is_ending = False
        self._opened()

    def take(self, line: bytes) -> None:
        """Bring a line of the host to the engine, over a new connection where the old one is gone."""
        message = _message(line)
        method, identifier = message.get("method"), message.get("id")
        with self._lock:
            if isinstance(method, str) and isinstance(identifier, str | int):
                self._under_way[identifier] = line
            if method == "initialize":
                self._handshake = [line]
            elif method == "notifications/initialized":
                self._handshake = [*self._handshake[:1], line]
            elif method == "notifications/cancelled":
                # No answer is owed any more.
                params = message.get("params")
                cancelled = params.get("requestId") if isinstance(params, dict) else None
                if isinstance(cancelled, str | int):
                    self._under_way.pop(cancelled, None)
        self._bring(line, identifier if isinstance(method, str) else None)

    def end(self) -> None:
        """The host has closed its end: wait for the answers that are still to come."""
        with self._lock:
            self._is_ending = True
            line, reader = self._line, self._reader
        if line:
            line.finish()
            reader.join(LAST_ANSWERS_S)
            line.close()

    def _bring(self, line: bytes, identifier: Any) -> None:
        """Send a line, once more where the connection turns out to be gone; a request answered meanwhile is left."""
        for _ in range(2):
            current = self._line
            try:
                current = current or self._opened(but_not=line)
                current.send(line)
            except McpMemoryError as exc:
                self._fail_all(f"{exc.message} ({exc.hint})")
                return
            except OSError:
                with self._lock:
                    is_answered = identifier is not None and self._under_way.pop(identifier, None) is None
                self._lose(current)
                if is_answered:
                    return
                if identifier is not None:
                    with self._lock:
                        self._under_way[identifier] = line
            else:
                return
        self._fail_all("the memory engine goes away again and again (run: mcp-memory doctor)")

    def _opened(self, but_not: bytes = b"") -> Line:
        """The connection, made anew where there is none, with the host's handshake said again but for one line."""
        with self._opening:
            if self._line is not None:
                return self._line
            line = self._connect()
            with self._lock:
                said_again = [said for said in self._handshake if said is not but_not]
                if said_again and said_again[0] is self._handshake[0]:
                    self._replaying = line
                self._line = line
                self._reader = threading.Thread(target=self._read, args=(line,), name="answers", daemon=True)
            for said in said_again:
                line.send(said)
            self._reader.start()
            return line

    def _read(self, line: Line) -> None:
        try:
            while said := line.reader.readline():
                self._give(said, line)
        except (OSError, ValueError):
            # Torn down by the other side, or closed by this one.
            pass
        self._lose(line)

    def _give(self, said: bytes, line: Line) -> None:
        """Bring a line of the engine to the host; the answer to a handshake said again is not for it."""
        message = _message(said) if b'"id"' in said else {}
        if "id" in message and "method" not in message:
            with self._lock:
                if self._replaying is line and message["id"] == _message(self._handshake[0]).get("id"):
                    self._replaying = None
                    return
                self._under_way.pop(message["id"], None)
                self._asked_again.discard(message["id"])
        self._write(said)

    def _lose(self, line: Line | None) -> None:
        """A connection has ended: a change under way is answered here, everything else is asked once more."""
        with self._lock:
            if line is None or self._line is not line:
                return
            self._line = None
            asked, self._under_way = self._under_way, {}
            again = {
                identifier: said
                for identifier, said in asked.items()
                if not (self._is_ending or _changes(said) or identifier in self._asked_again)
            }
            self._asked_again |= again.keys()
            self._under_way |= again
        line.close()
        for identifier, said in asked.items():
            if identifier in again:
                self._bring(said, identifier)
            else:
                self._fail(said, _MAY_HAVE_HAPPENED if _changes(said) else _MAY_REPEAT)

    def _fail_all(self, why: str) -> None:
        with self._lock:
            asked, self._under_way = self._under_way, {}
        for said in asked.values():
            self._fail(said, why)

    def _fail(self, asked: bytes, why: str) -> None:
        """Answer a request in the engine's place; what a tool says reaches the model in every host."""
        message = _message(asked)
        failed: dict[str, Any] = (
            {"result": {"content": [{"type": "text", "text": why}], "isError": True}}
            if message.get("method") == "tools/call"
            else {"error": {"code": _CODE, "message": why}}
        )
        self._write(json.dumps({"jsonrpc": "2.0", "id": message.get("id"), **failed}).encode() + b"\n")


def _changes(line: bytes) -> bool:
    """Whether a request may have changed something."""
    message = _message(line)
    params = message.get("params")
    return message.get("method") == "tools/call" and isinstance(params, dict) and params.get("name") not in _READS


def _message(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        # The engine answers what is wrong with it.
        return {}
    return message if isinstance(message, dict) else {}


def serve() -> None:
    """Serve the host on standard input and output until it closes its end."""
    home: Path = data_folder()
    to_host: IO[bytes] = sys.stdout.buffer
    writing = threading.Lock()

    def write(line: bytes) -> None:
        with writing:
            try:
                to_host.write(line)
                to_host.flush()
            except OSError:
                # The host has gone without a word.
                os._exit(0)

    try:
        shim = Shim(lambda: connect_or_start(home, "mcp"), write)
    except McpMemoryError as exc:
        # Nothing has been read yet: a real server can tell the host at each call what is wrong.
        print(f"mcp-memory: {exc.message}", file=sys.stderr, flush=True)
        os.execv(sys.executable, [sys.executable, "-P", "-m", "mcp_memory", "serve", "--standby"])
    try:
        for line in sys.stdin.buffer:
            if line.strip():
                shim.take(line if line.endswith(b"\n") else line + b"\n")
        shim.end()
    except KeyboardInterrupt:
        pass
    os._exit(0)
