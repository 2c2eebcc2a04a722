"""Lines of JSON-RPC: what is mended, what is refused, and that nothing is met with silence."""

import json
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server.lowlevel.server import Server
from mcp_types import CallToolRequestParams, CallToolResult, JSONRPCNotification, JSONRPCRequest, TextContent

from mcp_memory.wire import BadLineError, parse_line, serve_lines


def line(**message: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


def refused(raw: bytes) -> tuple[object, int]:
    with pytest.raises(BadLineError) as caught:
        parse_line(raw)
    return caught.value.answer.id, caught.value.answer.error.code


def test_requests_and_notifications_are_told_apart() -> None:
    assert isinstance(parse_line(line(id=1, method="ping")), JSONRPCRequest)
    assert isinstance(parse_line(line(method="notifications/initialized")), JSONRPCNotification)


def test_a_lone_surrogate_is_replaced_and_a_pair_is_kept() -> None:
    raw = b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"lone":"a\\ud800b","pair":"\\ud83d\\ude00"}}'
    message = parse_line(raw)
    assert isinstance(message, JSONRPCRequest)
    assert message.params == {"lone": "a�b", "pair": "😀"}


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    message = parse_line(b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"text":"\xff"}}')
    assert isinstance(message, JSONRPCRequest)
    assert message.params == {"text": "�"}


@pytest.mark.parametrize(
    ("raw", "answer"),
    [
        (b"hello", (None, -32700)),
        (b'{"jsonrpc":"2.0","id":1,', (None, -32700)),
        (b"[" * 100_000, (None, -32700)),
        (b"[]", (None, -32600)),
        (b"7", (None, -32600)),
        (line(id=5), (5, -32600)),
        (line(id="a", method=7), ("a", -32600)),
        (line(id=6, method="m", params=[1]), (6, -32600)),
        (line(id=None, method="m"), (None, -32600)),
        (line(id=True, method="m"), (None, -32600)),
        (line(id={"x": 1}, method="m"), (None, -32600)),
        (b'{"id":3,"method":"m"}', (3, -32600)),
    ],
)
def test_a_line_that_is_no_message_is_refused_with_its_id(raw: bytes, answer: tuple[object, int]) -> None:
    assert refused(raw) == answer


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: json.dumps(text).encode()))
def test_any_line_is_a_message_or_an_error(raw: bytes) -> None:
    try:
        parse_line(raw)
    except BadLineError as exc:
        assert exc.answer.error.message  # noqa: PT017 - either outcome is right


def serve(server: Server[Any], lines: list[bytes]) -> list[Any]:
    """What a server answers to lines that are piped in at once."""
    waiting = [*lines, b""]
    answers: list[Any] = []

    async def read_line() -> bytes:
        return waiting.pop(0)

    async def write_line(answer: bytes) -> None:
        answers.append(json.loads(answer))

    async def run() -> None:
        with anyio.fail_after(30):
            await serve_lines(server, read_line, write_line)

    anyio.run(run)
    return answers


HANDSHAKE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


def test_calls_that_are_piped_in_are_answered_before_the_end() -> None:
    async def slow(_context: object, params: CallToolRequestParams) -> CallToolResult:
        await anyio.sleep(0.05)
        return CallToolResult(content=[TextContent(type="text", text=params.name)])

    calls = [line(id=n, method="tools/call", params={"name": f"tool{n}"}) for n in range(1, 4)]
    answers = serve(Server("slow", on_call_tool=slow), [line(id=0, method="initialize", params=HANDSHAKE), *calls])
    assert sorted(answer["id"] for answer in answers) == [0, 1, 2, 3]


@pytest.mark.parametrize("wrong", [{"requestId": {"a": 1}}, {"requestId": [1]}, {"requestId": None}, {}])
def test_a_cancellation_of_nothing_sensible_ends_nothing(wrong: dict[str, object]) -> None:
    lines = [
        line(id=0, method="initialize", params=HANDSHAKE),
        line(method="notifications/cancelled", params=wrong),
        line(id=1, method="ping"),
    ]
    assert [answer["id"] for answer in serve(Server("any"), lines)] == [0, 1]


def test_a_host_that_is_gone_ends_the_session_quietly() -> None:
    asked = [line(id=0, method="initialize", params=HANDSHAKE), line(id=1, method="ping")]

    async def read_line() -> bytes:
        if not asked:
            await anyio.sleep_forever()
        return asked.pop(0)

    async def write_line(_answer: bytes) -> None:
        raise BrokenPipeError

    async def run() -> None:
        with anyio.fail_after(30):
            await serve_lines(Server("any"), read_line, write_line)

    anyio.run(run)


def test_a_byte_order_mark_is_skipped() -> None:
    assert isinstance(parse_line(b"\xef\xbb\xbf" + line(id=1, method="ping")), JSONRPCRequest)
