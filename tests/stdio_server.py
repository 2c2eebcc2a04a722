"""The real `mcp-memory serve` as a process, spoken to as a host does: all in one process, or a shim of an engine."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HANDSHAKE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "host", "version": "1"}}


class Server:
    """A started `mcp-memory serve`, spoken to in raw lines."""

    def __init__(
        self,
        home: Path,
        number: int,
        code: str,
        environment: Mapping[str, str],
        *,
        shared: bool = False,
        python: str = sys.executable,
    ) -> None:
        home.mkdir(exist_ok=True)
        self.log = home / f"stderr-{number}.txt"
        serve = ["-P", "-m", "mcp_memory", "serve", *([] if shared else ["--foreground"])]
        command = ["-c", code] if code else serve
        with self.log.open("wb") as errors:
            self.process = subprocess.Popen(
                [python, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, "MCP_MEMORY_HOME": str(home), "MCP_MEMORY_USER_ID": "ana", **environment},
            )
        self.n_calls = 0

    @property
    def errors(self) -> str:
        return self.log.read_text()

    def send(self, raw: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(raw + b"\n")
        self.process.stdin.flush()

    def read(self) -> Any:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def initialize(self, name: str = "host") -> Any:
        params = HANDSHAKE | {"clientInfo": {"name": name, "version": "1"}}
        self.send(json.dumps({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": params}).encode())
        answer = self.read()
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return answer

    def tools(self) -> list[str]:
        """The names of the tools, listed as every host does right after the handshake."""
        self.send(b'{"jsonrpc":"2.0","id":"t","method":"tools/list"}')
        return [tool["name"] for tool in self.read()["result"]["tools"]]

    def call(self, tool: str, **arguments: object) -> Any:
        """The result of a tool call; lone surrogates travel as they are."""
        answer = self.await_answer(self.begin(tool, **arguments))
        return answer["result"]

    def begin(self, tool: str, **arguments: object) -> int:
        """Ask for a tool call; the id of its answer."""
        self.n_calls += 1
        params = {"name": tool, "arguments": arguments}
        request = {"jsonrpc": "2.0", "id": self.n_calls, "method": "tools/call", "params": params}
        self.send(json.dumps(request).encode())
        return self.n_calls

    def await_answer(self, identifier: int) -> Any:
        """The next answer, which must be the one to this request."""
        answer = self.read()
        assert answer["id"] == identifier, answer
        return answer

    def end(self) -> int:
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(timeout=30)

    def discard(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                stream.close()
