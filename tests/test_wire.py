"""Lines of JSON-RPC: what is mended, what is refused, and that nothing is met with silence."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCNotification, JSONRPCRequest

from mcp_memory.wire import BadLineError, parse_line


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
