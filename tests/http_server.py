"""The real `mcp-memory serve --http` as a process, asked by plain HTTP, and a way to it for clients without a token."""

import contextlib
import http.client
import json
import os
import signal
import socket
import socketserver
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from tests.engines import wait_until
from tests.ollama_server import PATIENCE_S

ACCEPTED = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


class HttpServer:
    """A started `mcp-memory serve --http`, at an address that it has told."""

    def __init__(self, home: Path, address: str, number: int, arguments: tuple[str, ...], **environment: str) -> None:
        home.mkdir(exist_ok=True)
        self.output, self.log = home / f"http-{number}.txt", home / f"http-errors-{number}.txt"
        with self.output.open("wb") as output, self.log.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "mcp_memory", "serve", "--http", address, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                env={**os.environ, "MCP_MEMORY_HOME": str(home), **environment},
            )

    @property
    def said(self) -> str:
        """What it has printed of itself."""
        return self.output.read_text(encoding="utf-8")

    @property
    def errors(self) -> str:
        """What it has printed beside that."""
        return self.log.read_text(encoding="utf-8")

    def url(self, n_served: int = 1) -> str:
        """Where it serves, as soon as it has said so, the n-th time."""
        wait_until(lambda: self.said.count("\n") >= n_served or self.process.poll() is not None)
        assert self.process.poll() is None, self.errors
        return self.said.split()[-1]

    @property
    def place(self) -> tuple[str, int]:
        """Host and port."""
        parts = urlsplit(self.url())
        assert parts.hostname
        assert parts.port
        return parts.hostname, parts.port

    def end(self, with_signal: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end; its exit code."""
        self.process.send_signal(with_signal)
        return self.process.wait(timeout=PATIENCE_S)

    def discard(self) -> None:
        self.process.kill()
        self.process.wait()


class Answer:
    """What an HTTP server answered."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def messages(self) -> list[Any]:
        """The JSON values in it, whether they came as one or as events."""
        if self.headers.get_content_type() != "text/event-stream":
            return [json.loads(self.body)]
        lines = self.body.decode().splitlines()
        return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]

    @property
    def result(self) -> Any:
        """The result of the call."""
        return self.messages[-1]["result"]

    @property
    def error(self) -> Any:
        """The error that was answered."""
        return self.messages[-1]["error"]


class HttpClient:
    """A connection that asks in raw HTTP, with or without a token."""

    def __init__(self, place: tuple[str, int], token: str = "") -> None:
        self._connection = http.client.HTTPConnection(*place, timeout=PATIENCE_S)
        self._headers = ACCEPTED | ({"Authorization": f"Bearer {token}"} if token else {})
        self._n_calls = 0

    def ask(self, method: str = "POST", path: str = "/mcp", body: bytes | None = None, **headers: str | None) -> Answer:
        """Send a request; headers are named with _ for -, and None leaves one out."""
        given: Mapping[str, str | None] = self._headers | {k.replace("_", "-"): v for k, v in headers.items()}
        self._connection.request(method, path, body, {name: value for name, value in given.items() if value})
        return Answer(self._connection.getresponse())

    def rpc(self, method: str, params: Mapping[str, Any] | None = None) -> Answer:
        """Ask in JSON-RPC."""
        self._n_calls += 1
        message = {"jsonrpc": "2.0", "id": self._n_calls, "method": method, "params": params or {}}
        return self.ask(body=json.dumps(message).encode())

    def call(self, tool: str, **arguments: Any) -> Any:
        """The result of a tool."""
        return self.rpc("tools/call", {"name": tool, "arguments": arguments}).result

    def close(self) -> None:
        """Let go of it."""
        self._connection.close()


class TokenProxy:
    """Passes requests on as they are, with a token, for clients that cannot send one; one request a connection."""

    def __init__(self, place: tuple[str, int], token: str) -> None:
        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                head = b""
                while b"\r\n\r\n" not in head:
                    received = self.request.recv(65536)
                    if not received:
                        return
                    head += received
                head, rest = head.split(b"\r\n\r\n", 1)
                lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
                lines += [b"Authorization: Bearer " + token.encode(), b"Connection: close"]
                with socket.create_connection(place, PATIENCE_S) as server:
                    server.sendall(b"\r\n".join(lines) + b"\r\n\r\n" + rest)
                    threading.Thread(target=_carry, args=(self.request, server), daemon=True).start()
                    _carry(server, self.request)

        class Proxy(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

        self._proxy = Proxy(("127.0.0.1", 0), Handler)
        self.url = f"http://localhost:{self._proxy.server_address[1]}/mcp"

    def __enter__(self) -> Self:
        threading.Thread(target=self._proxy.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._proxy.shutdown()
        self._proxy.server_close()


def _carry(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while received := source.recv(65536):
            target.sendall(received)
