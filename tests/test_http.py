"""MCP over HTTP as it is answered on a real port: who is let in, what is refused and how, and for whose memory."""

import json
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import anyio.from_thread
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation, TextResourceContents

from mcp_memory import http_app, http_listener
from mcp_memory.engine import Engine
from mcp_memory.errors import InvalidInputError
from mcp_memory.http_address import HttpAddress
from mcp_memory.http_listener import HttpListener
from mcp_memory.memory import LocalMemory
from mcp_memory.server import Client as Asking
from mcp_memory.settings import Settings
from tests.conftest import Clock
from tests.engines import wait_until
from tests.http_server import HttpClient
from tests.ollama_server import PATIENCE_S


class SlowEngine(Engine):
    """An engine whose calls wait while it is held."""

    def __init__(self, memory: LocalMemory) -> None:
        super().__init__(lambda: memory)
        self.released = threading.Event()
        self.released.set()
        self.asked = threading.Event()

    def memory_of(self, *given: Any, **more: Any) -> LocalMemory:
        self.asked.set()
        assert self.released.wait(PATIENCE_S)
        return super().memory_of(*given, **more)


class Served:
    """A memory served in a thread of this process."""

    def __init__(self, memory: LocalMemory, portal: Any, engine: SlowEngine) -> None:
        self.memory, self._portal, self.engine = memory, portal, engine
        self.settings_of: Callable[[str], Settings] = lambda user: memory.settings.model_copy(
            update={"user_id": user, "tools": "full"}
        )
        self.listener: HttpListener = portal.call(
            HttpListener.bound, HttpAddress(port=0), ["memory.example"], engine, lambda u: Asking(self.settings_of(u))
        )
        self.serving = portal.start_task_soon(self.listener.serve)
        self._clients: list[HttpClient] = []

    @property
    def place(self) -> tuple[str, int]:
        return self.listener.address.host, self.listener.address.port

    def token(self, user: str = "ana", **more: Any) -> str:
        return self.memory.add_token(user, **more).text

    def client(self, token: str = "") -> HttpClient:
        self._clients.append(HttpClient(self.place, token))
        return self._clients[-1]

    def stop(self, patience_s: int = 10) -> None:
        self._portal.call(self.listener.stop, patience_s)
        self.serving.result(PATIENCE_S)

    def close(self) -> None:
        for client in self._clients:
            client.close()
        self.engine.released.set()
        self.stop(1)


@pytest.fixture
def served(memory: LocalMemory) -> Iterator[Served]:
    with anyio.from_thread.start_blocking_portal() as portal:
        server = Served(memory, portal, SlowEngine(memory))
        yield server
        server.close()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def test_a_token_opens_its_users_memory_and_no_other(served: Served) -> None:
    ana, rui = served.client(served.token("ana", label="desk")), served.client(served.token("rui"))
    [kept] = ana.call("add_memory", text="I keep bees in Ghent", infer=False)["structuredContent"]["results"]
    assert ana.call("search_memory", query="bees")["structuredContent"]["memories"][0]["agent"] == "desk"
    assert rui.call("search_memory", query="bees")["structuredContent"]["memories"] == []
    rui.call("add_memory", text="I keep hens", infer=False)
    assert served.memory.as_client(served.settings_of("rui"), "x").list()[0].agent_id == "http"
    assert rui.call("delete_memory", memory_id=kept["id"])["isError"]
    assert rui.rpc("resources/read", {"uri": f"memory://memories/{kept['id']}"}).error["data"]["code"] == "not_found"
    read = ana.rpc("resources/read", {"uri": "memory://recent"}).result["contents"][0]["text"]
    assert "bees in Ghent" in read
    assert "hens" not in read


def test_whoever_claims_another_user_than_the_tokens_stays_who_they_are(served: Served) -> None:
    served.memory.add("I keep bees in Ghent", infer=False)
    rui = served.client(served.token("rui"))
    claims = {"user_id": "ana", "agent_id": "ana", "scope": "all"}
    found = rui.call("search_memory", query="bees", **claims, _meta={"user_id": "ana"})
    assert found["structuredContent"]["memories"] == []
    body = b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"memory://recent"}}'
    answer = rui.ask(body=body, X_User_Id="ana", X_Forwarded_User="ana", MCP_Memory_User_ID="ana", Cookie="user=ana")
    assert answer.result["contents"][0]["text"] == "Nothing is remembered yet."


def refused_tokens(served: Served, clock: Clock) -> list[str | None]:
    good, other = served.token(), served.token("rui")
    expired = served.token(expires_at="2026-06-15T13:00")
    clock.advance(hours=2)
    revoked = served.memory.add_token("rui")
    served.memory.revoke_token(revoked.token.id)
    mixed = good[:17] + other[17:]
    shown = ("", expired, revoked.text, mixed, f"{good}x", f"{good} {good}", "mcpm_x_y")
    return [None, "", "Bearer", good, f"Basic {good}", f"Bearer={good}", *(f"Bearer {text}" for text in shown)]


def test_missing_wrong_revoked_and_expired_tokens_are_refused_alike(served: Served, clock: Clock) -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    answers = [served.client().ask(body=body, Authorization=shown) for shown in refused_tokens(served, clock)]
    assert {answer.status for answer in answers} == {401}
    assert {answer.headers["WWW-Authenticate"] for answer in answers} == {'Bearer realm="mcp-memory"'}
    [told] = {answer.body for answer in answers}
    assert "mcp-memory users add" in json.loads(told)["error"]["message"]
    assert served.client().ask(body=body, authorization=f"bearer {served.token()}").status == 200


def test_two_tokens_in_one_request_are_none(served: Served) -> None:
    token = served.token()
    twice = f"Authorization: Bearer {token}\r\n" * 2
    assert b" 401 " in raw(
        served, f"POST /mcp HTTP/1.1\r\nHost: localhost\r\n{twice}Content-Length: 0\r\n\r\n".encode()
    )


def test_a_revoked_token_is_refused_from_the_next_request_on(served: Served) -> None:
    token = served.token()
    client = served.client(token)
    assert client.rpc("tools/list").status == 200
    served.memory.revoke_token("ana")
    assert client.rpc("tools/list").status == 401


def test_nothing_is_told_without_a_token_but_that_the_server_is_well(served: Served) -> None:
    served.memory.add("I keep bees in Ghent", infer=False)
    client = served.client()
    for method in ("POST", "GET", "DELETE", "PUT", "OPTIONS", "HEAD"):
        assert client.ask(method, Origin=None).status == 401
    assert (
        client.ask("GET", "/").status == client.ask("GET", "/mcp/").status == client.ask("GET", "/mcp/x").status == 404
    )
    health = client.ask("GET", "/healthz")
    assert (health.status, set(health.messages[0])) == (200, {"status", "version"})
    assert client.ask("POST", "/healthz").status == 405


def test_a_server_that_is_leaving_is_not_well(served: Served) -> None:
    client = served.client()
    assert client.ask("GET", "/healthz").status == 200
    served.listener._app.is_leaving = True
    health = client.ask("GET", "/healthz")
    assert (health.status, health.messages) == (503, [{"status": "leaving"}])


@pytest.mark.parametrize("token", [True, False])
def test_names_and_pages_of_others_are_refused(served: Served, token: bool) -> None:
    client = served.client(served.token() if token else "")
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    let_in = 200 if token else 401
    host = f"localhost:{served.place[1]}"
    assert client.ask(body=body, Host="evil.example").status == 421
    assert client.ask("GET", "/healthz", Host="evil.example").status == 421
    assert client.ask(body=body, Origin="http://evil.example").status == 403
    assert client.ask(body=body, Origin="null").status == 403
    assert client.ask(body=body, Host=host, Origin="http://localhost:3000").status == 403
    assert client.ask(body=body, Host=host, Origin=f"http://{host}").status == let_in
    assert client.ask(body=body, Host="memory.example", Origin="https://memory.example").status == let_in


def test_no_page_of_another_site_is_allowed_anything(served: Served) -> None:
    client = served.client(served.token())
    answers = [
        client.ask("OPTIONS", Origin="http://evil.example", Access_Control_Request_Method="POST"),
        client.ask("OPTIONS", Access_Control_Request_Method="POST"),
        client.rpc("tools/list"),
    ]
    assert [answer.status for answer in answers] == [403, 405, 200]
    assert [name for answer in answers for name in answer.headers if name.lower().startswith("access-control")] == []


def test_there_are_no_sessions(served: Served) -> None:
    client = served.client(served.token())
    initialize = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    answer = client.rpc("initialize", initialize)
    assert answer.result["serverInfo"]["name"] == "mcp-memory"
    assert "mcp-session-id" not in answer.headers
    for method in ("GET", "DELETE", "PUT"):
        answer = client.ask(method)
        assert (answer.status, answer.headers["Allow"]) == (405, "POST")
    assert client.ask(body=b'{"jsonrpc":"2.0","method":"notifications/initialized"}').status == 202


BAD = [
    b"", b"{", b"[]", b"null", b"1", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"id": 1}', b'{"jsonrpc":"2.0","id":1}',
    b'{"jsonrpc":"1.0","id":1,"method":"ping"}', b'{"jsonrpc":"2.0","id":[],"method":"ping"}',
    b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]',
]  # fmt: skip


@pytest.mark.parametrize("version", [None, "2025-06-18", "2026-07-28", "1999-01-01"])
def test_a_body_that_is_no_single_message_is_told_so(served: Served, version: str | None) -> None:
    client = served.client(served.token())
    for body in BAD:
        answer = client.ask(body=body, MCP_Protocol_Version=version)
        assert answer.status == 400, body[:50]
        assert answer.error["code"] in (-32700, -32600, -32602), body[:50]
    assert client.rpc("ping").result == {}


def test_other_content_and_other_answers_than_json_and_events_are_refused(served: Served) -> None:
    client = served.client(served.token())
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    for content_type in (None, "text/plain", "application/x-www-form-urlencoded", "application/jsonp"):
        assert client.ask(body=ping, Content_Type=content_type).status == 415
    assert client.ask(body=ping, Content_Type="application/json; charset=utf-8").status == 200
    assert client.ask(body=ping, Accept="text/html").status == 406


def test_lone_surrogates_are_mended(served: Served) -> None:
    client = served.client(served.token())
    client.call("add_memory", text="I keep \ud800 bees", infer=False)
    assert [memory.text for memory in served.memory.list()] == ["I keep \ufffd bees"]


def raw(served: Served, said: bytes, *, is_cut: bool = False) -> bytes:
    """What comes back, until the server closes or an answer is whole, for bytes as they are."""
    with socket.create_connection(served.place, PATIENCE_S) as connection:
        connection.sendall(said)
        if is_cut:
            return b""
        return connection.recv(65536)


def head(served: Served, *lines: str) -> bytes:
    of_request = (f"Host: localhost:{served.place[1]}", f"Authorization: Bearer {served.token()}", *lines)
    return "\r\n".join(["POST /mcp HTTP/1.1", *of_request, "Content-Type: application/json", "", ""]).encode()


@pytest.mark.parametrize("length", ["Content-Length: 52428800", "Transfer-Encoding: chunked"])
def test_a_body_of_fifty_megabytes_is_refused_without_being_read_whole(served: Served, length: str) -> None:
    n_sent, piece = 0, b"x" * 65536
    with socket.create_connection(served.place, PATIENCE_S) as connection:
        connection.sendall(head(served, length))
        if "chunked" in length:
            piece = b"%x\r\n%b\r\n" % (len(piece), piece)
        while n_sent < 52_428_800:
            try:
                n_sent += connection.send(piece)
            except OSError:
                break
        answer = connection.recv(65536)
    # What the kernel takes in on both sides comes on top of the limit.
    assert n_sent < 20_000_000
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"4,194,304 bytes" in answer
    assert served.client(served.token()).rpc("ping").status == 200


def test_an_unwelcome_long_body_is_not_read_either(served: Served) -> None:
    said = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 52428800\r\n\r\n"
    answer = raw(served, said)
    assert answer.startswith(b"HTTP/1.1 401 ")
    assert b"Connection: close" in answer or b"connection: close" in answer


def test_a_text_as_long_as_may_be_fits(served: Served) -> None:
    client = served.client(served.token())
    text = "🐝" * 100_000
    assert len(json.dumps(text)) > 1_000_000
    [kept] = client.call("add_memory", text=text, infer=False)["structuredContent"]["results"]
    assert kept["status"] == "added"


def test_requests_that_are_cut_off_leave_no_trace(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    begun = head(served, "Content-Length: 1000") + b'{"jsonrpc":"2.0","id":1,'
    for said in (b"", b"POST /mcp", b"POST /mcp HTTP/1.1\r\nHost:", begun):
        raw(served, said, is_cut=True)
    client = served.client(served.token())
    assert client.rpc("ping").status == 200
    server_state = served.listener._server.server_state
    wait_until(lambda: len(server_state.connections) == 1 and not server_state.tasks)
    assert caplog.records == []


def test_what_is_no_http_is_told_so(served: Served) -> None:
    for said in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"HELLO\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n"):
        assert raw(served, said).startswith(b"HTTP/1.1 4")


def test_a_request_whose_body_does_not_come_is_given_up(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_app, "_BODY_S", 0.1)
    answer = raw(served, head(served, "Content-Length: 1000") + b"{")
    assert answer.startswith(b"HTTP/1.1 408 ")


def test_a_connection_whose_request_does_not_come_is_closed(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_listener, "_HEAD_S", 0.1)
    assert raw(served, b"") == b""
    assert raw(served, b"POST /mcp HTTP/1.1\r\nHost: loc") == b""
    # The second of a connection too.
    with socket.create_connection(served.place, PATIENCE_S) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        said = b""
        while b'"ok"' not in said:
            said += connection.recv(65536)
        connection.sendall(b"GET /healthz HTTP/1.1\r\n")
        assert connection.recv(65536) == b""


def test_a_hundred_requests_at_once_are_all_answered(served: Served) -> None:
    token = served.token()
    clients = [served.client(token) for _ in range(100)]
    with ThreadPoolExecutor(100) as threads:
        found = list(threads.map(lambda client: client.call("search_memory", query="bees"), clients))
    assert [result["isError"] for result in found] == [False] * 100


def test_more_connections_than_are_served_are_told_to_come_again(served: Served) -> None:
    served.listener._config.limit_concurrency = 5
    served.listener._server.config.limit_concurrency = 5
    connections = [socket.create_connection(served.place, PATIENCE_S) for _ in range(6)]
    try:
        for connection in connections:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answers = [connection.recv(65536) for connection in connections]
    finally:
        for connection in connections:
            connection.close()
    assert any(b" 503 " in answer for answer in answers)
    assert served.client().ask("GET", "/healthz").status == 200


def test_a_memory_that_cannot_be_reached_is_told_and_nothing_else_of_it(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = served.token()

    def broken(_text: str) -> None:
        raise InvalidInputError("/home/ana/secret is damaged", hint="restore it")

    monkeypatch.setattr(served.memory, "recognised", broken)
    answer = served.client(token).rpc("tools/list")
    assert answer.status == 503
    assert b"mcp-memory doctor" in answer.body
    assert b"secret" not in answer.body


def test_what_nobody_expected_is_told_to_the_log_only(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    token = served.token()

    def broken(_text: str) -> None:
        raise RuntimeError("/home/ana/secret")

    monkeypatch.setattr(served.memory, "recognised", broken)
    answer = served.client(token).rpc("tools/list")
    assert (answer.status, b"secret" in answer.body) == (500, False)
    assert "RuntimeError: /home/ana/secret" in caplog.text
    assert token not in caplog.text


def test_a_users_wrong_setting_is_no_crash(served: Served) -> None:
    def wrong(_user: str) -> Settings:
        raise InvalidInputError("setting floor = '7'", hint="correct it")

    client = served.client(served.token())
    served.settings_of, right = wrong, served.settings_of
    assert client.rpc("tools/list").status == 503
    served.settings_of = right
    assert client.rpc("tools/list").status == 200


def test_a_request_under_way_is_answered_when_serving_ends_and_no_further_one(served: Served) -> None:
    client = served.client(served.token())
    idle = served.client(served.token())
    assert idle.rpc("ping").status == 200
    served.engine.released.clear()
    served.engine.asked.clear()
    with ThreadPoolExecutor(2) as threads:
        asked = threads.submit(client.call, "add_memory", text="I keep bees", infer=False)
        assert served.engine.asked.wait(PATIENCE_S)
        ended = threads.submit(served.stop)
        wait_until(lambda: refuses_connections(served.place))
        assert not asked.done()
        served.engine.released.set()
        assert asked.result(PATIENCE_S)["structuredContent"]["results"][0]["status"] == "added"
        ended.result(PATIENCE_S)


def test_a_request_that_does_not_end_is_not_waited_for_for_ever(served: Served) -> None:
    client = served.client(served.token())
    served.engine.released.clear()
    served.engine.asked.clear()
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(client.rpc, "tools/call", {"name": "search_memory", "arguments": {"query": "bees"}})
        assert served.engine.asked.wait(PATIENCE_S)
        served.stop(1)
        assert refuses_connections(served.place)
        with pytest.raises(Exception):  # noqa: B017, PT011 - cut off, or ended without an answer
            asked.result(PATIENCE_S).result  # noqa: B018
        served.engine.released.set()


def refuses_connections(place: tuple[str, int]) -> bool:
    try:
        socket.create_connection(place, PATIENCE_S).close()
    except OSError:
        return True
    return False


@asynccontextmanager
async def connected(served: Served, token: str, mode: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S) as http:
        transport = streamable_http_client(served.listener.address.url, http_client=http)
        info = Implementation(name="Python Host", version="1")
        async with Client(transport, mode=mode, client_info=info) as client:
            yield client


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("mode", "agent"), [("legacy", "desk"), ("2026-07-28", "python-host"), ("auto", "python-host")]
)
async def test_the_sdks_client_lists_adds_searches_reads_and_deletes(served: Served, mode: str, agent: str) -> None:
    async with connected(served, served.token(label="desk"), mode) as client:
        assert len((await client.list_tools()).tools) == 10
        added = await client.call_tool("add_memory", {"text": "I keep bees in Ghent", "infer": False})
        assert added.structured_content
        identifier = added.structured_content["results"][0]["id"]
        found = await client.call_tool("search_memory", {"query": "Where do I keep bees?"})
        assert found.structured_content
        assert [(hit["id"], hit["agent"]) for hit in found.structured_content["memories"]] == [(identifier, agent)]
        [read] = (await client.read_resource(f"memory://memories/{identifier}")).contents
        assert isinstance(read, TextResourceContents)
        assert json.loads(read.text)["memory"]["text"] == "I keep bees in Ghent"
        prompt = await client.get_prompt("recall", {"topic": "bees"})
        assert identifier in prompt.model_dump_json()
        assert not (await client.call_tool("delete_memory", {"memory_id": identifier})).is_error
        assert (await client.call_tool("get_memory", {"memory_id": identifier})).is_error


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_slow_call_says_what_it_waits_for(served: Served, mode: str) -> None:
    heard: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")
        served.engine.released.set()

    async with connected(served, served.token(), mode) as client:
        served.engine.released.clear()
        result = await client.call_tool("search_memory", {"query": "bees"}, progress_callback=hear)
    assert not result.is_error
    assert heard
