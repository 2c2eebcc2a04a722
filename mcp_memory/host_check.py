"""Starts a server exactly as a host would, by its written command, and asks it for its tools."""

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from .errors import HostError

# Claude Desktop waits no longer for the first answer.
PATIENCE_S = 60.0
_LEAVE_S = 5.0
_BARE_PATH = "/usr/bin:/bin"
# What a program needs of its environment to run at all, and to know whose it is.
_KEPT = ("HOME", "USER", "LOGNAME", "LANG", "TMPDIR")
_KEPT_ON_WINDOWS = (
    "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "PATH", "PATHEXT", "COMSPEC", "TEMP", "TMP", "USERPROFILE", "USERNAME",
    "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
)  # fmt: skip
_PROTOCOL = "2025-06-18"


@dataclass(frozen=True, slots=True)
class Answered:
    """What a started server says of itself: its version, and the names of its tools."""

    version: str
    tools: tuple[str, ...]


def bare_environment(
    given: Mapping[str, str], environment: Mapping[str, str], platform: str = sys.platform
) -> dict[str, str]:
    """The little that a host hands on of an environment, and what its entry sets."""
    names = _KEPT_ON_WINDOWS if platform == "win32" else _KEPT
    kept = {name: environment[name] for name in names if name in environment}
    return {**kept, **({} if platform == "win32" else {"PATH": _BARE_PATH}), **given}


def start_and_ask(
    command: Sequence[str],
    given: Mapping[str, str],
    environment: Mapping[str, str] = os.environ,
    patience_s: float = PATIENCE_S,
) -> Answered:
    """Start the command with a bare environment in the root folder, shake hands and list its tools; then end it.

    Raises:
        HostError: it cannot be started, ends, or does not answer in time; what it said last is told.
    """
    try:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=os.path.abspath(os.sep),  # noqa: PTH100 - the root, of the drive where there are several
            env=bare_environment(given, environment),
        )
    except OSError as exc:
        raise HostError(f"{command[0]} cannot be started: {exc.strerror}", hint=_ADVICE) from exc
    talk = _Talk(process, time.monotonic() + patience_s)
    try:
        client = {"name": "mcp-memory-install", "version": "1"}
        hello = talk.ask("initialize", {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": client})
        talk.tell({"jsonrpc": "2.0", "method": "notifications/initialized"})
        tools = talk.ask("tools/list", {})
        return Answered(hello["serverInfo"]["version"], tuple(tool["name"] for tool in tools["tools"]))
    except (OSError, EOFError, TimeoutError, ValueError, KeyError, TypeError) as exc:
        why = str(exc) if isinstance(exc, TimeoutError | ValueError) else "it ended"
        raise HostError(
            f"{' '.join(command)} does not answer as a server: {talk.last_words() or why}", hint=_ADVICE
        ) from exc
    finally:
        talk.end()


_ADVICE = "run: mcp-memory doctor"


class _Talk:
    """Lines to a process and from it, with a time by which all must be said."""

    def __init__(self, process: subprocess.Popen[bytes], until: float) -> None:
        self._process = process
        self._until = until
        self._n_asked = 0
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._errors: list[bytes] = []
        assert process.stdout
        assert process.stderr
        self._readers = [
            threading.Thread(target=_read, args=(process.stdout, self._lines.put), daemon=True),
            threading.Thread(target=_read, args=(process.stderr, self._errors.append), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a request."""
        self._n_asked += 1
        self.tell({"jsonrpc": "2.0", "id": self._n_asked, "method": method, "params": params})
        while True:
            try:
                line = self._lines.get(timeout=max(self._until - time.monotonic(), 0))
            except queue.Empty:
                raise TimeoutError("no answer in time") from None
            if not line:
                raise EOFError
            told = json.loads(line)
            if told.get("id") == self._n_asked:
                result = told["result"]
                if not isinstance(result, dict):
                    raise ValueError(f"the answer to {method} is no object")
                return result

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send a line."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message).encode("utf-8") + b"\n")
        self._process.stdin.flush()

    def last_words(self) -> str:
        """The last line that it wrote as an error."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1)
        self._readers[1].join(timeout=1)
        said = b"".join(self._errors).decode(errors="replace").strip()
        return said.splitlines()[-1] if said else ""

    def end(self) -> None:
        """Let it leave, and see to it that it does."""
        with suppress(OSError):
            assert self._process.stdin
            self._process.stdin.close()
        try:
            self._process.wait(timeout=_LEAVE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for reader in self._readers:
            reader.join(timeout=1)
        for stream, reader in zip((self._process.stdout, self._process.stderr), self._readers, strict=True):
            if stream and not reader.is_alive():
                stream.close()


def _read(stream: IO[bytes], put: Any) -> None:
    """Hand on every line, and an empty one at the end."""
    with suppress(OSError, ValueError):
        for line in stream:
            put(line)
    put(b"")
