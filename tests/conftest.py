"""What all tests share: the real model, loaded once; a folder each; a clock to set; no network."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from mcp_memory import host_health
from mcp_memory.embedder import Embedder
from mcp_memory.graph import build_graph
from mcp_memory.install import Surroundings
from mcp_memory.memory import LocalMemory
from tests import request_budget
from tests.engines import engines_on, kill
from tests.ollama_server import OllamaServer
from tests.stdio_server import Server

# Processes share the cores here, and PyTorch's threads wait for each other longer than they work.
os.environ.setdefault("OMP_NUM_THREADS", "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # What a shell starts in its background ignores interrupts, and so do its children: tests that send them would hang.
    signal.signal(signal.SIGINT, signal.default_int_handler)

hypothesis_settings.register_profile(
    "tests", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("tests")

Opener = Callable[..., LocalMemory]
Attach = Callable[..., Server]

# What the report of a test says of its requests to a language model.
_LARGEST, _RULES = "largest request", "rules and examples"


class Clock:
    """A time that stands still until it is told to move."""

    def __init__(self) -> None:
        self.now = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> None:
        self.now += timedelta(**by)


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail every connection that would leave the machine."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a test tried to reach {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the developer's own memory and settings out of every test."""
    for name in [name for name in os.environ if name.startswith("MCP_MEMORY_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MCP_MEMORY_HOME", str(tmp_path / "home"))
    # Nothing listens there.
    monkeypatch.setenv("MCP_MEMORY_OLLAMA_HOST", "http://127.0.0.1:9")
    # The developer's hosts are nobody's business either.
    monkeypatch.setattr(host_health, "here", lambda: Surroundings({**os.environ, "PATH": ""}, tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "PI_CODING_AGENT_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def requests_within_budget(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that has sent a language model more than the budget allows, and note its largest request."""
    request_budget.received.clear()
    yield
    sizes = list(request_budget.received)
    if of_tasks := [size for size in sizes if size.task]:
        # Reports carry it from the processes that share the suite to the one that sums up.
        request.node.user_properties.append((_LARGEST, asdict(max(of_tasks, key=lambda size: size.n_total))))
        request.node.user_properties.append((_RULES, max(size.n_constant for size in of_tasks)))
    assert [size.flaw for size in sizes if size.flaw] == []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell how large requests to a language model have become."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    noted = [
        (name, value, report.nodeid) for report in reports for name, value in getattr(report, "user_properties", ())
    ]
    n_constant = max((value for name, value, _ in noted if name == _RULES), default=0)
    sizes = [(request_budget.Size(**value), nodeid) for name, value, nodeid in noted if name == _LARGEST]
    if sizes:
        size, nodeid = max(sizes, key=lambda noted: noted[0].n_total)
        terminalreporter.write_line(
            f"largest request: {size.n_read} + {size.n_output} of {size.n_context} tokens, {size.task!r} in {nodeid}"
        )
        terminalreporter.write_line(f"most rules and examples: {n_constant} of {request_budget.MAX_CONSTANT_TOKENS}")


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    """The packaged model, as it is used from the second start on; the processes that tests start find it too."""
    build_graph()
    model = Embedder()
    model.load()
    return model


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def open_memory(tmp_path: Path, clock: Clock, embedder: Embedder) -> Iterator[Opener]:
    """Opens the test's folder, as often as wanted; whatever is left open is closed."""
    opened: list[LocalMemory] = []

    def opener(**given: Any) -> LocalMemory:
        given = dict[str, Any]({"user_id": "ana", "clock": clock, "embedder": embedder}) | given
        memory = LocalMemory.open(given.pop("folder", tmp_path / "home"), **given)
        opened.append(memory)
        return memory

    yield opener
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: Opener) -> LocalMemory:
    """An open, empty memory of user ana."""
    return open_memory()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def mounted(home: Path) -> Iterator[bool]:
    """Whether the folder to be is a disk of its own, of 24 MB; only the machine's administrator can have that."""
    home.mkdir()
    mount = [shutil.which("mount") or "false", "-t", "tmpfs", "-o", "size=24m", "memory-test", str(home)]
    is_mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    yield is_mounted
    if is_mounted:
        subprocess.run(["umount", "--lazy", str(home)], check=True)


@pytest.fixture
def start(home: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers on the test's folder and ends what is left of them."""
    started: list[Server] = []

    def starter(code: str = "", *, shared: bool = False, python: str = sys.executable, **environment: str) -> Server:
        started.append(Server(home, len(started), code, environment, shared=shared, python=python))
        return started[-1]

    yield starter
    for server in started:
        server.discard()


@pytest.fixture
def attach(start: Callable[..., Server], home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Attach]:
    """Attaches hosts under a name to the engine that they share, and sees to it that none is left."""
    monkeypatch.setenv("MCP_MEMORY_HOME", str(home))
    monkeypatch.setenv("MCP_MEMORY_USER_ID", "ana")
    monkeypatch.setenv("MCP_MEMORY_ENGINE_IDLE_S", "30")

    def attacher(name: str = "host", **given: str) -> Server:
        server = start(shared=True, **given)
        server.initialize(name)
        return server

    yield attacher
    for pid in engines_on(home):
        kill(pid)


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    """A running server that speaks Ollama's format, with an empty script."""
    with OllamaServer() as running:
        yield running
