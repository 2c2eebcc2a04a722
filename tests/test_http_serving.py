"""`mcp-memory serve --http` as processes: a port that is served while somebody asks for it, and freed when they go."""

import contextlib
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mcp_memory import Memory
from mcp_memory.cli import app
from tests.engines import engine_of, engines_on, is_running, kill, wait_until
from tests.http_server import HttpClient, HttpServer
from tests.ollama_server import PATIENCE_S, OllamaServer, Step

pytestmark = pytest.mark.slow

Serve = Callable[..., HttpServer]
ClientAt = Callable[..., HttpClient]


@pytest.fixture
def serve(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Starts servers over HTTP on the test's folder, and sees to it that nothing is left of them."""
    monkeypatch.setenv("MCP_MEMORY_ENGINE_IDLE_S", "30")
    started: list[HttpServer] = []

    def starter(address: str = "127.0.0.1:0", *arguments: str, **environment: str) -> HttpServer:
        started.append(HttpServer(home, address, len(started), arguments, **environment))
        return started[-1]

    yield starter
    for server in started:
        server.discard()
    for pid in engines_on(home):
        kill(pid)


@pytest.fixture
def client_at() -> Iterator[ClientAt]:
    """Connects clients, with or without a token, and lets go of them."""
    with contextlib.ExitStack() as opened:

        def connect(place: tuple[str, int], token: str = "") -> HttpClient:
            return opened.enter_context(contextlib.closing(HttpClient(place, token)))

        yield connect


def token_of(user: str) -> str:
    """A new token, made as a program does."""
    with Memory(user_id="owner") as memory:
        return memory.add_token(user).text


def texts(client: HttpClient, query: str) -> list[str]:
    found = client.call("search_memory", query=query)["structuredContent"]["memories"]
    return [hit["text"] for hit in found]


def said_in(home: Path) -> str:
    """All that engines have written beside the memory."""
    return "".join(path.read_text(encoding="utf-8") for path in home.glob("engine.*") if path.name != "engine.json")


def test_it_is_served_told_of_and_ended_and_nothing_is_said_of_tokens_and_texts(
    serve: Serve, client_at: ClientAt, home: Path
) -> None:
    # The user of the environment is nobody over HTTP, and an engine that serves is not idle.
    server = serve(MCP_MEMORY_USER_ID="eve", MCP_MEMORY_ENGINE_IDLE_S="0.1", MCP_MEMORY_TOOLS="full")
    url = server.url()
    wait_until(lambda: "mcp-memory users add" in server.errors)
    token = token_of("ana")
    client = client_at(server.place, token)
    assert len(client.rpc("tools/list").result["tools"]) == 10
    client.call("add_memory", text="I keep bees in Ghent", infer=False)
    client.call("get_memory", memory_id="000000000000")
    client_at(server.place, f"{token}x").rpc("tools/list")
    with Memory(user_id="ana") as memory:
        assert [record.text for record in memory.list()] == ["I keep bees in Ghent"]
    with Memory(user_id="eve") as memory:
        assert memory.list() == []
    status = json.loads(CliRunner().invoke(app, ["engine", "status", "--json"]).stdout)
    assert status["http"] == [url]
    assert status["clients"] == [f"http {url.split('/')[2]}"]
    checks = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)["checks"]
    assert [check["found"] for check in checks if check["name"] == "HTTP"] == [f"served at {url}"]
    pid = engine_of(home).pid
    assert server.end() == 0
    with pytest.raises(OSError, match=r"refused|reset"):
        socket.create_connection(server_place(url), PATIENCE_S)
    wait_until(lambda: not is_running(pid))
    told = said_in(home) + server.said + server.errors
    assert token not in told
    assert token.rpartition("_")[2] not in told
    assert "bees" not in told
    assert "Traceback" not in told


def server_place(url: str) -> tuple[str, int]:
    host, _, port = url.split("/")[2].rpartition(":")
    return host, int(port)


def test_a_request_under_way_is_answered_before_it_ends(
    serve: Serve, client_at: ClientAt, server: OllamaServer
) -> None:
    server.script(Step(ending="hold"))
    model = {"MCP_MEMORY_OLLAMA_HOST": server.url, "MCP_MEMORY_LLM_MODEL": "tiny", "MCP_MEMORY_ADD_WAIT_S": "1"}
    serving = serve(**model)
    client = client_at(serving.place, token_of("ana"))
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(client.call, "add_memory", text="I keep bees", infer=True)
        server.wait_until_held()
        assert serving.end(signal.SIGINT) == 0
        assert asked.result(PATIENCE_S)["structuredContent"]["results"][0]["status"] == "queued"
    assert "Traceback" not in serving.errors


def test_a_killed_server_frees_its_port_and_another_serves_there(serve: Serve, client_at: ClientAt, home: Path) -> None:
    first = serve()
    place, token = first.place, token_of("ana")
    client_at(place, token).call("add_memory", text="I keep bees", infer=False)
    pid = engine_of(home).pid
    taken = serve(f"{place[0]}:{place[1]}")
    assert taken.process.wait(PATIENCE_S) == 1
    assert f"port {place[1]} of 127.0.0.1 is in use" in taken.errors
    first.discard()
    wait_until(lambda: not is_listening(place))
    second = serve(f"{place[0]}:{place[1]}")
    assert second.place == place
    assert texts(client_at(place, token), "bees") == ["I keep bees"]
    assert engine_of(home).pid == pid


def is_listening(place: tuple[str, int]) -> bool:
    try:
        socket.create_connection(place, PATIENCE_S).close()
    except OSError:
        return False
    return True


def test_the_next_engine_serves_at_the_same_port_and_what_a_stopped_one_was_asked_is_answered(
    serve: Serve, client_at: ClientAt, home: Path, server: OllamaServer
) -> None:
    server.script(Step(ending="hold"))
    model = {"MCP_MEMORY_OLLAMA_HOST": server.url, "MCP_MEMORY_LLM_MODEL": "tiny", "MCP_MEMORY_ADD_WAIT_S": "50"}
    serving = serve(**model)
    place, token = serving.place, token_of("ana")
    client_at(place, token).call("add_memory", text="I keep hens", infer=False)
    kill(engine_of(home).pid)
    serving.url(2)
    assert texts(client_at(place, token), "hens") == ["I keep hens"]
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(client_at(place, token).call, "add_memory", text="I keep bees", infer=True)
        server.wait_until_held()
        assert CliRunner().invoke(app, ["engine", "stop"]).exit_code == 0
        assert asked.result(PATIENCE_S)["structuredContent"]["results"][0]["status"] == "queued"
    serving.url(3)
    assert serving.place == place
    assert "I keep bees" in texts(client_at(place, token), "bees")
    assert serving.errors.count("the engine has gone") == 2
    assert serving.end() == 0


@pytest.mark.parametrize(
    ("address", "host"), [("0.0.0.0:0", "127.0.0.1"), ("[::1]:0", "::1"), ("localhost:0", "localhost")]
)
def test_at_every_address_a_token_is_needed(serve: Serve, client_at: ClientAt, address: str, host: str) -> None:
    if host == "::1" and not has_ipv6():
        pytest.skip("this machine has no IPv6")
    server = serve(address, "--allow-host", "memory.example")
    port = server.place[1]
    assert server.url() == f"http://{address.removesuffix('0')}{port}/mcp"
    assert ("put TLS in front" in server.errors) is address.startswith("0.0.0.0")
    stranger = client_at((host, port))
    assert stranger.rpc("tools/list").status == 401
    assert stranger.ask("GET", "/healthz", Host="evil.example").status == 421
    client = client_at((host, port), token_of("ana"))
    assert client.rpc("tools/list").status == 200
    assert client.ask("GET", "/healthz", Host="memory.example").status == 200


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("nobody.invalid:80", "does not know the name 'nobody.invalid'"),
        ("192.0.2.1:80", "192.0.2.1 is no address of this machine"),
        ("a:b", "'a:b' is no address to serve at"),
    ],
)
def test_an_address_that_cannot_be_had_is_told(serve: Serve, address: str, told: str) -> None:
    server = serve(address)
    assert server.process.wait(PATIENCE_S) == 1
    assert told in server.errors
    assert "Traceback" not in server.errors
    assert server.said == ""


def test_what_has_http_served_needs_nothing_but_the_standard_library() -> None:
    code = (
        "import sys; before = set(sys.modules); import mcp_memory.http_shim\n"
        "names = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(names - set(sys.stdlib_module_names) - {'mcp_memory'}))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_a_wrong_setting_is_told_at_the_start(serve: Serve) -> None:
    server = serve(MCP_MEMORY_FLOOR="7")
    assert server.process.wait(PATIENCE_S) == 1
    assert "floor = '7'" in server.errors


def test_what_serves_without_http_knows_the_option_too() -> None:
    shown = CliRunner().invoke(app, ["serve", "--help"])
    assert "--http" in shown.stdout
    refused = CliRunner().invoke(app, ["serve", "--foreground", "--http", "x"])
    assert refused.exit_code == 2
