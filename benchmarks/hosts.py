"""What the measurements of a running engine share: a folder of their own, hosts attached to it, and what runs on it."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil
from mcp import Client, StdioServerParameters
from mcp_types import Implementation

from mcp_memory.address import published

PREFIX = "MCP_MEMORY_"
HOME = f"{PREFIX}HOME"
# Nothing listens there: no text waits for a language model.
NO_MODEL = "http://127.0.0.1:9"
ANSWER_S = 180.0
_END_S = 20.0
_LOOK_EVERY_S = 0.01
_HANDSHAKE = {"protocolVersion": "2025-06-18", "capabilities": {}}


def memory_command(*arguments: str) -> list[str]:
    """The program as hosts start it: the installed script where there is one beside this Python."""
    script = Path(sys.executable).with_name("mcp-memory.exe" if sys.platform == "win32" else "mcp-memory")
    return [str(script), *arguments] if script.exists() else [sys.executable, "-m", "mcp_memory", *arguments]


def end_like_interrupted() -> None:
    """Have SIGTERM, and SIGINT where the shell set it aside, end this program by way of its `with` blocks."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))


class Place:
    """A temporary data folder, named in this process's environment too, and the processes on it.

    At the end, however it comes, the processes are ended and the folder is removed.
    """

    def __init__(self, **settings: str) -> None:
        """`settings` are the ends of the names of environment variables, with their values."""
        self._settings = {"USER_ID": "bench", "OLLAMA_HOST": NO_MODEL} | settings
        self._before: dict[str, str] = {}
        self.home = Path()

    def __enter__(self) -> Self:
        self.home = Path(tempfile.mkdtemp(prefix="mcp-memory-bench-"))
        self._before = _taken_from_environment()
        os.environ[HOME] = str(self.home)
        os.environ.update({PREFIX + name: value for name, value in self._settings.items()})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._end_processes()
        finally:
            _taken_from_environment()
            os.environ.update(self._before)
            shutil.rmtree(self.home, ignore_errors=True)

    def processes(self) -> list[psutil.Process]:
        """What runs on the folder, this process aside."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                is_of_it = process.pid != os.getpid() and process.environ().get(HOME) == str(self.home)
                if is_of_it and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def engines(self) -> list[psutil.Process]:
        """The engines among them, listening or not yet."""
        return [process for process in self.processes() if _arguments(process)[-2:] == ["engine", "run"]]

    def shims(self) -> list[psutil.Process]:
        """What hosts have started among them."""
        return [process for process in self.processes() if "serve" in _arguments(process)]

    def listening_engine(self) -> psutil.Process | None:
        """The engine that has published its address, None where none has or it has gone."""
        address = published(self.home)
        with contextlib.suppress(psutil.Error):
            if address:
                process = psutil.Process(address.pid)
                if process.environ().get(HOME) == str(self.home):
                    return process
        return None

    def log_of_engines(self) -> str:
        """What the engines have noted, oldest first."""
        files = sorted(self.home.glob("engine.log*"), key=lambda path: path.stat().st_mtime)
        return "".join(path.read_text(encoding="utf-8") for path in files)

    def _end_processes(self) -> None:
        deadline = time.monotonic() + _END_S
        while (left := self.processes()) and time.monotonic() < deadline:
            # A shim that outlives its engine starts another.
            for process in sorted(left, key=lambda process: "engine" in _arguments(process)):
                with contextlib.suppress(psutil.Error):
                    process.kill()
            psutil.wait_procs(left, timeout=1)


class Host:
    """A bare JSON-RPC client of `mcp-memory serve`: what the protocol costs at least."""

    def __init__(self, name: str = "host") -> None:
        """Start a shim on the folder of the environment; nothing is said yet."""
        self._name = name
        self._n_asked = 0
        self.process = subprocess.Popen(
            memory_command("serve"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(os.environ)
        )

    def __enter__(self) -> Self:
        self.shake_hands()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.leave()
        else:
            self.process.kill()
            self.process.wait()

    def shake_hands(self) -> None:
        """Connect as the protocol has it."""
        self._ask("initialize", _HANDSHAKE | {"clientInfo": {"name": self._name, "version": "1"}})
        self._send(method="notifications/initialized")

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """The structured answer of a tool.

        Raises:
            RuntimeError: it failed; what it said.
        """
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise RuntimeError(str(result["content"]))
        return dict(result["structuredContent"])

    def add(self, text: str) -> dict[str, Any]:
        """Add a text as it is."""
        return self.call("add_memory", text=text, infer=False)

    def search(self, query: str) -> dict[str, Any]:
        """Search with the defaults."""
        return self.call("search_memory", query=query)

    def leave(self) -> None:
        """Close this end and wait for the shim to go."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._n_asked += 1
        self._send(id=self._n_asked, method=method, params=params)
        assert self.process.stdout
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if message.get("id") == self._n_asked:
                if "error" in message:
                    raise RuntimeError(str(message["error"]["message"]))
                return dict(message["result"])
        raise RuntimeError("mcp-memory serve has ended")

    def _send(self, **message: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()


def mcp_client(name: str) -> Client:
    """The client of the MCP SDK, over a shim on the folder of the environment."""
    program, *arguments = memory_command("serve")
    server = StdioServerParameters(command=program, args=arguments, env=dict(os.environ))
    return Client(
        server, client_info=Implementation(name=name, version="1"), mode="legacy", read_timeout_seconds=ANSWER_S
    )


def wait_until(condition: Callable[[], bool], timeout_s: float) -> bool:
    """Whether something came about in time."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_EVERY_S)
    return True


def wait_for_quiet(processes: Callable[[], Iterable[psutil.Process]], timeout_s: float = 120.0) -> None:
    """Wait until processes use no CPU to speak of for a second: what follows writes and starts is done."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        before = cpu_seconds(processes())
        time.sleep(1.0)
        if cpu_seconds(processes()) - before < 0.02:
            return


def cpu_seconds(processes: Iterable[psutil.Process]) -> float:
    """CPU time that processes have used so far, together."""
    used = 0.0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            used += times.user + times.system
    return used


def disk_megabytes(folder: Path) -> float:
    """Size of all files of a folder; files that go meanwhile do not count."""
    size = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            size += path.stat().st_size if path.is_file() else 0
    return size / 1e6


def is_there(process: psutil.Process) -> bool:
    """Whether a process runs; one that has ended and nobody has looked after does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _arguments(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _taken_from_environment() -> dict[str, str]:
    return {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(PREFIX)}
