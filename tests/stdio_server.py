"""The real `mcp-memory serve` as a process, spoken to as a host does."""

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

    def __init__(self, home: Path, number: int, code: str, environment: Mapping[str, str]) -> None:
        home.mkdir(exist_ok=True)
        self.log = home / f"stderr-{number}.txt"
        command = ["-c", code] if code else ["-m", "mcp_memory", "serve"]
        with self.log.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, *command],
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

    def initialize(self) -> Any:
        self.send(json.dumps({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": HANDSHAKE}).encode())
        answer = self.read()
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return answer

    def tools(self) -> list[str]:
        """The names of the tools, listed as every host does right after the handshake."""
        self.send(b'{"jsonrpc":"2.0","id":"t","method":"tools/list"}')
        return [tool["name"] for tool in self.read()["result"]["tools"]]

    def call(self, tool: str, **arguments: object) -> Any:
        """The result of a tool call; lone surrogates travel as they are."""
        self.n_calls += 1
        params = {"name": tool, "arguments": arguments}
        request = {"jsonrpc": "2.0", "id": self.n_calls, "method": "tools/call", "params": params}
        self.send(json.dumps(request).encode())
        answer = self.read()
        assert answer["id"] == self.n_calls
        return answer["result"]

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
