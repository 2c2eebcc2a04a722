"""`mcp-memory serve`: lines between a host and the engine that all hosts share. Standard library only.

It reads message ids and the handshake, nothing else. When the engine goes - stopped, replaced by a newer one, killed -
what only reads is asked again of the next engine, to which the handshake is repeated; a change that was under way is
answered with an error that says whether to repeat it. The host notices nothing else.
"""

import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from .dial import ENGINE_GONE, MAX_LINE_BYTES, Line
from .errors import McpMemoryError
from .paths import data_folder
from .starter import connect_or_start

# After the host has closed its end, the next answer may take as long as loading the model does.
LAST_ANSWERS_S = 60.0
_CODE, _INVALID_REQUEST = -32001, -32600
_MAY_REPEAT = f"{ENGINE_GONE}; nothing was changed: repeat the call"
_MAY_HAVE_HAPPENED = (
    f"{ENGINE_GONE}; what was asked may have been done or not: repeating it is safe, the same words are stored once"
)
_READS = frozenset({"search_memory", "list_memories", "get_memory", "memory_history", "why_not"})
_MAX_SENT = 2


@dataclass(slots=True)
class Asked:
    """A request of the host that has no answer yet, and the connection on which it was last sent."""

    said: bytes
    message: dict[str, Any]
    line: Line | None = None
    n_sent: int = 0

    @property
    def may_change(self) -> bool:
        """Whether it may have changed something."""
        params = self.message.get("params")
        is_read = isinstance(params, dict) and params.get("name") in _READS
        return self.message.get("method") == "tools/call" and not is_read


@dataclass(frozen=True, slots=True)
class Said:
    """The host has sent a line."""

    line: bytes


@dataclass(frozen=True, slots=True)
class Lost:
    """A connection has ended, and all that came over it has been read."""

    line: Line


class Shim:
    """One host's stream of messages, and the connection to the engine that is at present behind it.

    Everything is sent by the thread that runs `carry`; a thread for each connection brings the answers to the host.
    """

    def __init__(self, connect: Callable[[], Line], write: Callable[[bytes], None]) -> None:
        """Connect to the engine; `write` brings a line to the host, from any thread.

        Raises:
            McpMemoryError: there is no engine and none can be started.
        """
        self._connect = connect
        self._write = write
        # What has happened, in order; None: the host has closed its end.
        self._events: SimpleQueue[Said | Lost | None] = SimpleQueue()
        # Guards what answers change.
        self._lock = threading.Lock()
        self._asked: dict[str | int, Asked] = {}
        self._handshake: list[bytes] = []
        self._answered_at = time.monotonic()
        self._line: Line | None = None
        self._open()

    def listen(self, lines: Iterable[bytes]) -> None:
        """Take in the host's lines until they end."""
        for line in lines:
            if line.strip():
                self._events.put(Said(line if line.endswith(b"\n") else line + b"\n"))
        self._events.put(None)

    def carry(self) -> None:
        """Bring lines to the engine until the host has closed its end and what it asked is answered."""
        while (event := self._events.get()) is not None:
            self._handle(event)
        self._answered_at = time.monotonic()
        while self._asked and (left_s := self._answered_at + LAST_ANSWERS_S - time.monotonic()) > 0:
            if self._line:
                self._line.finish()
            # The connection ends after its last answer; meanwhile others may come.
            with contextlib.suppress(Empty):
                if event := self._events.get(timeout=left_s):
                    self._handle(event)
        for identifier in list(self._asked):
            self._fail(identifier, f"no answer came for {LAST_ANSWERS_S:.0f} s after the end of the input")
        if self._line:
            self._line.close()

    def _handle(self, event: Said | Lost) -> None:
        if isinstance(event, Said):
            self._take(event.line)
        else:
            self._lose(event.line)

    def _take(self, said: bytes) -> None:
        message = _message(said)
        method, identifier = message.get("method"), message.get("id")
        if len(said) > MAX_LINE_BYTES:
            self._refuse(message, f"a line has at most {MAX_LINE_BYTES:,} bytes, this one {len(said):,}")
            return
        # What has no method is answered with what is wrong with it.
        if isinstance(identifier, str | int) and not message.keys() & {"result", "error"}:
            with self._lock:
                is_taken = identifier in self._asked
                if not is_taken:
                    self._asked[identifier] = Asked(said, message)
            if is_taken:
                self._refuse(message, f"a request with id {identifier!r} is under way")
            else:
                self._ask(identifier)
            return
        if method == "notifications/cancelled":
            # No answer is owed any more.
            params = message.get("params")
            cancelled = params.get("requestId") if isinstance(params, dict) else None
            if isinstance(cancelled, str | int):
                self._settle(cancelled)
        try:
            self._send(said)
        except (McpMemoryError, OSError):
            # A notification has no answer that could tell; the next request meets the same failure.
            return
        with self._lock:
            if method == "notifications/initialized":
                self._handshake = [*self._handshake[:1], said]

    def _refuse(self, message: dict[str, Any], why: str) -> None:
        refused = {"jsonrpc": "2.0", "id": message.get("id"), "error": {"code": _INVALID_REQUEST, "message": why}}
        self._write(json.dumps(refused).encode() + b"\n")

    def _ask(self, identifier: str | int) -> None:
        """Send a request, unless it has been answered meanwhile; it is answered here where there is no engine."""
        asked = self._asked.get(identifier)
        if asked is None:
            return
        try:
            asked.line = self._send(asked.said)
            asked.n_sent += 1
        except McpMemoryError as exc:
            self._fail(identifier, f"{exc.message} ({exc.hint})")
        except OSError:
            self._fail(identifier, "the memory engine goes away again and again (run: mcp-memory doctor)")

    def _send(self, said: bytes) -> Line:
        """Send a line, once more where the connection turns out to be gone: then no whole line has arrived.

        Raises:
            McpMemoryError: there is no engine.
            OSError: the second connection is gone, too.
        """
        line = self._line or self._open()
        try:
            line.send(said)
        except OSError:
            self._lose(line)
            line = self._line or self._open()
            line.send(said)
        return line

    def _open(self) -> Line:
        """A new connection, on which the host's handshake has been said again."""
        line = self._connect()
        with self._lock:
            handshake = self._handshake
        try:
            for said in handshake:
                line.send(said)
        except OSError:
            line.close()
            raise
        self._line = line
        answered_before = _message(handshake[0]).get("id") if handshake else None
        threading.Thread(target=self._read, args=(line, answered_before), name="answers", daemon=True).start()
        return line

    def _lose(self, line: Line) -> None:
        """A connection has ended: a change under way is answered here, everything else is asked once more."""
        if self._line is line:
            self._line = None
        line.close()
        with self._lock:
            under_way = [(identifier, asked) for identifier, asked in self._asked.items() if asked.line is line]
        for identifier, asked in under_way:
            if asked.may_change:
                self._fail(identifier, _MAY_HAVE_HAPPENED)
            elif asked.n_sent >= _MAX_SENT:
                self._fail(identifier, _MAY_REPEAT)
            else:
                self._ask(identifier)

    def _read(self, line: Line, answered_before: str | int | None) -> None:
        """Bring what comes over a connection to the host, but for the answer to a handshake said again."""
        try:
            while said := line.reader.readline():
                message = _message(said) if b'"id"' in said else {}
                if "id" not in message or "method" in message:
                    self._write(said)
                elif message["id"] == answered_before and answered_before is not None:
                    answered_before = None
                elif self._settle(message["id"]):
                    self._write(said)
        except (OSError, ValueError):
            # Torn down by the other side, or closed by this one.
            pass
        self._events.put(Lost(line))

    def _settle(self, identifier: Any) -> bool:
        """Whether somebody waits for this answer still; from now on nobody does. A line that is no call has id null."""
        with self._lock:
            asked = self._asked.pop(identifier, None) if isinstance(identifier, str | int) else None
            self._answered_at = time.monotonic()
            if asked and asked.message.get("method") == "initialize":
                self._handshake = [asked.said]
        return asked is not None or identifier is None

    def _fail(self, identifier: str | int, why: str) -> None:
        """Answer a request in the engine's place; what a tool says reaches the model in every host."""
        with self._lock:
            asked = self._asked.pop(identifier, None)
        if asked is None:
            return
        failed: dict[str, Any] = (
            {"result": {"content": [{"type": "text", "text": why}], "isError": True}}
            if asked.message.get("method") == "tools/call"
            else {"error": {"code": _CODE, "message": why}}
        )
        self._write(json.dumps({"jsonrpc": "2.0", "id": identifier, **failed}).encode() + b"\n")


def _message(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        # The engine answers what is wrong with it.
        return {}
    return message if isinstance(message, dict) else {}


def serve() -> None:
    """Serve the host on standard input and output until it closes its end."""
    home = data_folder()
    to_host = sys.stdout.buffer
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
    threading.Thread(target=shim.listen, args=(sys.stdin.buffer,), name="host", daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):
        shim.carry()
    os._exit(0)
