"""The real programs find what an installation has written. TEST_HOSTS names the folder in which npm put them."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.engines import engines_on, kill

PROGRAMS = os.environ.get("TEST_HOSTS", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PROGRAMS, reason="TEST_HOSTS names no folder with the programs of the hosts"),
]
PATIENCE_S = 100


class Machine:
    """A home folder of its own, in which the command line and the hosts are run."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.data = home / "data"
        self._environment = {
            "HOME": str(home),
            "PATH": os.pathsep.join((PROGRAMS, os.environ["PATH"])),
            "COLUMNS": "300",
            "PYTHONPATH": str(Path(__file__).parents[1]),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }

    def run(self, *command: str, status: int = 0, given: Mapping[str, str] | None = None) -> str:
        """What a program says on both its outputs; it must end with this status."""
        done = subprocess.run(
            command,
            cwd=self.home,
            env={**self._environment, **(given or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=PATIENCE_S,
            check=False,
        )
        said = done.stdout + done.stderr
        assert done.returncode == status, said
        return said

    def memory(self, *arguments: str) -> str:
        """What mcp-memory says."""
        return self.run(sys.executable, "-P", "-m", "mcp_memory", *arguments, given={"MCP_MEMORY_HOME": str(self.data)})


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path)
    yield made
    for pid in engines_on(made.data):
        kill(pid)


def program(name: str) -> str:
    found = shutil.which(name, path=PROGRAMS)
    if not found:
        pytest.skip(f"{name} is not in {PROGRAMS}")
    return found


def claude() -> list[str]:
    """Claude Code, whose own script wants a step that npm may have left out."""
    wrapper = Path(PROGRAMS).parent / "@anthropic-ai" / "claude-code" / "cli-wrapper.cjs"
    if not wrapper.exists():
        return [program("claude")]
    return ["node", str(wrapper)]


def test_claude_code_connects(machine: Machine) -> None:
    command = claude()
    machine.memory("install", "claude-code")
    assert "✔ Connected" in machine.run(*command, "mcp", "list")
    told = machine.run(*command, "mcp", "get", "memory")
    assert "Scope: User config" in told
    assert str(machine.data) in told
    # It has written its file anew meanwhile: then our parts alone go.
    machine.memory("uninstall", "claude-code")
    assert "No MCP servers configured" in machine.run(*command, "mcp", "list")
    told = json.loads((machine.home / ".claude.json").read_text(encoding="utf-8"))
    assert "mcpServers" not in told
    assert not (machine.home / ".claude" / "settings.json").exists()


def test_claude_code_connects_where_its_folder_was_moved(machine: Machine) -> None:
    command = claude()
    moved = {"CLAUDE_CONFIG_DIR": str(machine.home / "moved")}
    run = [sys.executable, "-P", "-m", "mcp_memory", "install", "claude-code"]
    machine.run(*run, given={"MCP_MEMORY_HOME": str(machine.data), **moved})
    assert "✔ Connected" in machine.run(*command, "mcp", "list", given=moved)
    assert "✔ Connected" not in machine.run(*command, "mcp", "list")


def test_codex_lists_it(machine: Machine) -> None:
    codex = program("codex")
    config = machine.home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text('model = "gpt-5" # mine\n\n[mcp_servers.other]\ncommand = "true"', encoding="utf-8")
    before = config.read_bytes()
    machine.memory("install", "codex")
    listed = machine.run(codex, "mcp", "list")
    assert "other" in listed
    assert "memory" in listed
    told = machine.run(codex, "mcp", "get", "memory")
    assert "enabled: true" in told
    assert "args: serve" in told
    # Codex itself adds a server: what it wrote stays.
    machine.run(codex, "mcp", "add", "third", "--", "true")
    machine.memory("uninstall", "codex")
    left = config.read_bytes()
    assert left.startswith(before)
    assert b"third" in left
    assert b"memory" not in left


def test_codex_reads_it_where_its_folder_was_moved(machine: Machine) -> None:
    codex = program("codex")
    moved = {"CODEX_HOME": str(machine.home / "moved")}
    machine.run(sys.executable, "-P", "-m", "mcp_memory", "install", "codex", "--no-check", given=moved)
    assert "memory" in machine.run(codex, "mcp", "list", given=moved)


def test_gemini_connects(machine: Machine) -> None:
    gemini = program("gemini")
    machine.memory("install", "gemini")
    assert "serve (stdio) - Connected" in machine.run(gemini, "mcp", "list")
    # In a folder that it was not told to trust it starts no server at all.
    assert "Disabled" in machine.run(gemini, "mcp", "list", given={"GEMINI_CLI_TRUST_WORKSPACE": ""})
    machine.memory("uninstall", "gemini")
    assert not (machine.home / ".gemini" / "settings.json").exists()


@pytest.fixture
def refusing() -> Iterator[str]:
    """The address of a server that refuses every request at once."""

    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_error(400, "refused by the test")

        def log_message(self, *given: object) -> None:
            """Nothing is to be printed."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


def test_pi_loads_the_extension_without_complaint(machine: Machine, refusing: str) -> None:
    pi = program("pi")
    agent = machine.home / ".pi" / "agent"
    agent.mkdir(parents=True)
    provider = {"baseUrl": refusing, "api": "openai-completions", "apiKey": "x", "models": [{"id": "scripted"}]}
    (agent / "models.json").write_text(json.dumps({"providers": {"scripted": provider}}), encoding="utf-8")
    turn = (pi, "-p", "hi", "--provider", "scripted", "--model", "scripted", "--offline", "--no-session")
    machine.memory("install", "pi")
    said = machine.run(*turn, status=1)
    assert "400" in said
    assert "extension" not in said
    # Of one that cannot be loaded it does complain.
    (agent / "extensions" / "mcp-memory.ts").write_text("export default 1 +;", encoding="utf-8")
    assert "Failed to load extension" in machine.run(*turn, status=1)
