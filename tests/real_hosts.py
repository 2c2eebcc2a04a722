"""The real hosts as processes, each with a home of its own and a scripted model on loopback.

`TEST_HOSTS` names the `node_modules/.bin` folder that `tests/hosts/package.json` was installed to; without it their
tests are skipped.
"""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import psutil
import pytest

from mcp_memory.paths import NAME, cache_folder
from tests.engines import is_running, kill, wait_until
from tests.scripted_models import CompletionsModel, GeminiModel, MessagesModel, ResponsesModel

VARIABLE = "TEST_HOSTS"
CLAUDE = "@anthropic-ai/claude-code"
# Pi under the name that it has now, and as it was before it spoke MCP.
PI, OLD_PI = "@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"
ADAPTER = "pi-mcp-adapter"
CODEX, GEMINI = "@openai/codex", "@google/gemini-cli"
# A turn takes about five seconds; reached only by a test that fails.
_PATIENCE_S = 120.0
# Nothing listens there: what a host would ask of the internet fails at once.
_NOWHERE = "http://127.0.0.1:9"


@dataclass(frozen=True)
class Ran:
    """What a program said until it ended."""

    code: int
    output: str
    errors: str


def modules() -> Path:
    """The folder `node_modules` with the hosts.

    Raises:
        KeyError: the environment names none.
    """
    return Path(os.environ[VARIABLE]).absolute().parent


def needs(*packages: str) -> pytest.MarkDecorator:
    """Skips a test where one of these is not installed."""
    missing = [name for name in packages if VARIABLE not in os.environ or not (modules() / name).is_dir()]
    return pytest.mark.skipif(bool(missing), reason=f"{VARIABLE} names no folder with {' and '.join(missing)}")


# What an installation writes as the command.
COMMAND = (sys.executable, "-P", "-m", "mcp_memory")


@dataclass(frozen=True)
class Machine:
    """A person's machine: a home folder, a folder to work in, and a memory."""

    home: Path
    memory: Path

    @classmethod
    def in_folder(cls, folder: Path) -> "Machine":
        """A machine without anything on it but what mcp-memory has cached, so that nothing is built twice."""
        machine = cls(folder / "person", folder / "home")
        machine.work.mkdir(parents=True)
        (machine.home / ".cache").mkdir()
        cache_folder().mkdir(parents=True, exist_ok=True)
        (machine.home / ".cache" / NAME).symlink_to(cache_folder(), target_is_directory=True)
        return machine

    @property
    def work(self) -> Path:
        """The folder that the hosts are started in."""
        return self.home / "work"

    def environment(self) -> dict[str, str]:
        """What a program sees: this home, this memory, and no way out of the machine."""
        kept = ("PYTHONPATH", "LANG", "TMPDIR", "OMP_NUM_THREADS")
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), _NOWHERE)
        return {
            **{name: os.environ[name] for name in kept if name in os.environ},
            # A node that was installed with the hosts is the one that they need.
            "PATH": os.pathsep.join([str(modules() / ".bin"), os.environ["PATH"]]),
            **proxies,
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
            "HOME": str(self.home),
            **self.memory_environment(),
        }

    def memory_environment(self) -> dict[str, str]:
        """What a host's configuration would say of the memory."""
        return {
            "MCP_MEMORY_HOME": str(self.memory),
            "MCP_MEMORY_USER_ID": "ana",
            "MCP_MEMORY_OLLAMA_HOST": _NOWHERE,
            "MCP_MEMORY_ENGINE_IDLE_S": "60",
        }

    def write(self, path: str, content: Any) -> None:
        """Write a file of the home folder; anything but a text as JSON."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")

    def run(self, *command: str | Path, given: str = "", **environment: str) -> Ran:
        """Run a program in the working folder until it ends; what is left of it then ends as with its terminal.

        What has gone into a session of its own goes on.

        Raises:
            AssertionError: it does not end; it has been killed.
        """
        (self.home / "stdin.txt").write_text(given, encoding="utf-8")
        outputs = self.home / "stdout.txt", self.home / "stderr.txt"
        # Files and no pipes: what a program leaves running may hold its output open.
        with (
            (self.home / "stdin.txt").open("rb") as source,
            outputs[0].open("wb") as output,
            outputs[1].open("wb") as errors,
        ):
            process = subprocess.Popen(
                command,
                stdin=source,
                stdout=output,
                stderr=errors,
                cwd=self.work,
                env=self.environment() | environment,
                start_new_session=True,
            )
            try:
                code = process.wait(timeout=_PATIENCE_S)
            except subprocess.TimeoutExpired:
                raise AssertionError(f"{command} did not end") from None
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        said = [path.read_text(encoding="utf-8", errors="replace") for path in outputs]
        return Ran(code, *said)

    def memory_command(self, *arguments: str) -> Any:
        """What a command of mcp-memory answers in JSON."""
        ran = self.run(*COMMAND, *arguments, "--json")
        assert ran.code == 0, ran
        return json.loads(ran.output)

    def remembered(self) -> list[Any]:
        """All memories, the oldest first."""
        return list(reversed(self.memory_command("list")["memories"]))

    def await_engine(self, **environment: str) -> None:
        """Have the engine run and answer, as it does from the first conversation on."""
        start = '{"hook_event_name": "SessionStart"}'
        self.run(*COMMAND, "hook", "recall", "terminal", given=start, **environment)
        wait_until(lambda: self.run(*COMMAND, "engine", "status").code == 0)

    def await_hooks(self) -> None:
        """Wait until no hook is at work: some outlive their host."""
        wait_until(lambda: not any("hook" in command for command in self._running().values()))

    def clear(self) -> None:
        """End, by pid, what still runs with this home: engines, and hooks that take their time."""
        while running := self._running():
            for pid in running:
                with contextlib.suppress(ProcessLookupError):
                    kill(pid)

    def _running(self) -> dict[int, list[str]]:
        """The processes that have this home, each with its command."""
        found = {}
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.environ().get("HOME") == str(self.home) and is_running(process.pid):
                    found[process.pid] = process.cmdline()
        return found

    def give_claude_memory(self) -> None:
        """The configuration of Claude Code: the server, and a hook for each event."""

        def hook(what: str) -> list[Any]:
            command = shlex.join([*COMMAND, "hook", what, "claude-code"])
            return [{"hooks": [{"type": "command", "command": command, "timeout": 10}]}]

        self.write(".claude.json", {"mcpServers": {"memory": {"type": "stdio", **self._server()}}})
        events = {"SessionStart": "recall", "UserPromptSubmit": "recall", "Stop": "capture", "SessionEnd": "capture"}
        self.write(".claude/settings.json", {"hooks": {event: hook(what) for event, what in events.items()}})

    def give_pi_server(self, **more: Any) -> None:
        """The file that Pi, and the adapter, read for servers."""
        self.write(".pi/agent/mcp.json", {"mcpServers": {"memory": self._server() | more}})

    def _server(self) -> dict[str, Any]:
        return {"command": COMMAND[0], "args": [*COMMAND[1:], "serve"], "env": self.memory_environment()}

    def claude(self, *arguments: str, **environment: str) -> Ran:
        """Run Claude Code."""
        # Its launcher finds the program of the platform also where npm was told to run no scripts.
        wrapper = modules() / CLAUDE / "cli-wrapper.cjs"
        return self.run("node", wrapper, *arguments, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", **environment)

    def ask_claude(self, prompt: str, model: MessagesModel, *, tools: str = "", more: tuple[str, ...] = ()) -> Any:
        """One turn of `claude -p` against a model; its result, as it prints it (`result`, `session_id`, ...)."""
        allowed = ("--allowedTools", tools) if tools else ()
        endpoint = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "any"}
        ran = self.claude("-p", prompt, "--output-format", "json", *allowed, *more, **endpoint)
        assert ran.code == 0, ran
        return json.loads(ran.output)

    def pi(self, *arguments: str | Path, package: str = PI, **environment: str) -> Ran:
        """Run Pi, without looking for news of it."""
        described = json.loads((modules() / package / "package.json").read_text(encoding="utf-8"))
        program = modules() / package / described["bin"]["pi"]
        return self.run("node", program, *arguments, PI_OFFLINE="1", **environment)

    def ask_pi(self, prompt: str, model: CompletionsModel, *more: str, package: str = PI, **environment: str) -> Ran:
        """One turn of `pi -p` against a model."""
        provider = {
            "baseUrl": f"{model.url}/v1",
            "api": "openai-completions",
            "apiKey": "any",
            "models": [{"id": "scripted"}],
        }
        self.write(".pi/agent/models.json", {"providers": {"scripted": provider}})
        named = ("--provider", "scripted", "--model", "scripted")
        ran = self.pi("-p", prompt, *named, *more, package=package, **environment)
        assert ran.code == 0, ran
        return ran

    def install(self, host: str) -> None:
        """Set a host up as its user would."""
        ran = self.run(*COMMAND, "install", host, "--no-check")
        assert ran.code == 0, ran

    def ask_codex(self, prompt: str, model: ResponsesModel, *, trusts_hooks: bool = True) -> Ran:
        """One turn of `codex exec` against a model, in which every tool may be called."""
        provider = f'{{name = "scripted", base_url = "{model.url}/v1", wire_api = "responses"}}'
        named = ("-c", f"model_providers.scripted={provider}", "-c", 'model_provider="scripted"', "-m", "scripted")
        trusted = ("--dangerously-bypass-hook-trust",) if trusts_hooks else ()
        allowed = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")
        program = modules() / CODEX / "bin" / "codex.js"
        ran = self.run("node", program, "exec", *named, *allowed, *trusted, prompt)
        assert ran.code == 0, ran
        return ran

    def ask_gemini(self, prompt: str, model: GeminiModel) -> Ran:
        """One turn of `gemini -p` against a model, in which every tool may be called."""
        endpoint = {"GOOGLE_GEMINI_BASE_URL": model.url, "GEMINI_API_KEY": "any", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
        program = modules() / GEMINI / "bundle" / "gemini.js"
        ran = self.run("node", program, "-p", prompt, "-m", "gemini-2.5-flash", "--yolo", **endpoint)
        assert ran.code == 0, ran
        return ran

    def extend_pi(self, command: Sequence[str], *, with_tools: bool) -> None:
        """Give Pi the extension, as it is installed."""
        template = files("mcp_memory").joinpath("extensions", "pi.ts").read_text(encoding="utf-8")
        filled = template.replace("__MCP_MEMORY_COMMAND__", json.dumps(list(command)))
        filled = filled.replace("__MCP_MEMORY_WITH_TOOLS__", json.dumps(with_tools))
        self.write(".pi/agent/extensions/mcp-memory.ts", filled)


def texts_of(message: Mapping[str, Any]) -> str:
    """All that a message of a request says, tool results among it."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    parts = []
    for block in content:
        inner = block.get("content")
        parts.append(block.get("text") or (texts_of(block) if inner else ""))
    return "\n".join(parts)
