"""Connections to an engine that a test plays itself."""

import json
import queue
import threading
from collections.abc import Callable, Mapping
from typing import Any

from mcp_memory.address import Address
from tests.ollama_server import PATIENCE_S

ANSWER_S = PATIENCE_S


class FakeLine:
    """An open connection: what is sent is kept, what is to come is put in; `b''` ends it."""

    def __init__(self) -> None:
        self.reader = self
        self.notice = ""
        self.address = Address(0, "", 0, "")
        self.sent: list[bytes] = []
        self.on_send: Callable[[bytes], None] = lambda _line: None
        self._arrived: queue.Queue[bytes] = queue.Queue()
        self._was_sent = threading.Condition()
        self.is_finished = False

    def send(self, line: bytes) -> None:
        self.on_send(line)
        with self._was_sent:
            self.sent.append(line)
            self._was_sent.notify_all()

    def readline(self) -> bytes:
        line = self._arrived.get(timeout=ANSWER_S)
        if not line:
            self._arrived.put(b"")
        return line

    def is_quiet(self) -> bool:
        return self._arrived.empty()

    def finish(self) -> None:
        self.is_finished = True

    def close(self) -> None:
        self.end()

    # What a test does with it

    def say(self, **message: Any) -> None:
        self._arrived.put(json.dumps(message).encode() + b"\n")

    def end(self) -> None:
        """The engine goes."""
        self._arrived.put(b"")

    def wait_for(self, n_sent: int) -> list[dict[str, Any]]:
        """What was sent, once it is so much."""
        return [json.loads(line) for line in self.wait_for_bytes(n_sent)]

    def wait_for_bytes(self, n_sent: int) -> list[bytes]:
        with self._was_sent:
            assert self._was_sent.wait_for(lambda: len(self.sent) >= n_sent, ANSWER_S), self.sent
            return list(self.sent)


def request(identifier: int, method: str, **params: Any) -> bytes:
    message: Mapping[str, Any] = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}
    return json.dumps(message).encode() + b"\n"


def call(identifier: int, tool: str) -> bytes:
    return request(identifier, "tools/call", name=tool)
