"""JSON-RPC lines to and from an MCP session: every line is answered, whatever it holds.

The SDK parses strictly and stays silent on what it cannot parse. Here a line with lone surrogates is mended,
and any other bad line gets a JSON-RPC error. The same function serves standard streams and, later, sockets.
"""

import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import IO, Any

import anyio
import anyio.to_thread
from mcp.server.lowlevel.server import Server
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from .text import clean

ReadLine = Callable[[], Awaitable[bytes]]
WriteLine = Callable[[bytes], Awaitable[None]]

# How long the next answer to what was asked before the input ended may take; loading the model is part of it.
_LAST_ANSWERS_S = 60.0


class BadLineError(Exception):
    """A line that is no JSON-RPC message; carries the answer."""

    def __init__(self, answer: JSONRPCError) -> None:
        super().__init__(answer.error.message)
        self.answer = answer


def parse_line(line: bytes) -> JSONRPCMessage:
    """The message in a line, lone surrogates replaced by U+FFFD.

    Raises:
        BadLineError: no JSON, or JSON that is no JSON-RPC message; its answer bears the id where one can be read.
    """
    text = line.decode("utf-8", errors="replace").removeprefix("\ufeff")
    try:
        message = jsonrpc_message_adapter.validate_json(text, by_name=False)
        if not (isinstance(message, JSONRPCNotification) and '"id"' in text):
            return message
    except ValidationError:
        pass
    try:
        value = json.loads(text)
        value = json.loads(clean(json.dumps(value, ensure_ascii=False)))
    except (ValueError, RecursionError) as exc:
        raise BadLineError(_error(None, PARSE_ERROR, f"what was sent is no JSON: {exc}")) from exc
    if not isinstance(value, dict):
        raise BadLineError(_error(None, INVALID_REQUEST, "a message is one JSON object"))
    identifier = value.get("id")
    has_good_id = isinstance(identifier, str | int) and not isinstance(identifier, bool)
    if "id" in value and not has_good_id:
        raise BadLineError(_error(None, INVALID_REQUEST, "an id is text or a whole number"))
    try:
        return jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValidationError as exc:
        message_text = 'a message has "jsonrpc": "2.0", a "method" and, as an object, "params"'
        raise BadLineError(_error(identifier, INVALID_REQUEST, message_text)) from exc


def _error(identifier: str | int | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=identifier, error=ErrorData(code=code, message=message))


async def serve_lines(server: Server[Any], read_line: ReadLine, write_line: WriteLine) -> None:
    """Run one MCP session over lines until `read_line` returns b'' and what was asked before is answered."""
    incoming, to_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    from_server, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    unanswered = _Unanswered()

    async def read() -> None:
        async with incoming:
            while line := await read_line():
                if not line.strip():
                    continue
                try:
                    message = parse_line(line)
                except BadLineError as exc:
                    await from_server.send(SessionMessage(exc.answer))
                    continue
                unanswered.note_incoming(message)
                await incoming.send(SessionMessage(message))
            # A script that pipes its calls in closes its end at once and still wants the answers.
            await unanswered.wait_until_none(_LAST_ANSWERS_S)

    async def write() -> None:
        async with outgoing:
            async for item in outgoing:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    await write_line(text.encode() + b"\n")
                except OSError:
                    # The host has gone without a word; nobody is left to answer.
                    tasks.cancel_scope.cancel()
                    return
                unanswered.note_outgoing(item.message)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        await server.run(to_server, from_server, server.create_initialization_options())
        tasks.cancel_scope.cancel()


class _Unanswered:
    """The requests that wait for their answer."""

    def __init__(self) -> None:
        self._ids: set[str | int] = set()
        self._changed = anyio.Event()

    def note_incoming(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCRequest):
            self._ids.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))

    def note_outgoing(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._settle(message.id)

    def _settle(self, identifier: Any) -> None:
        if isinstance(identifier, str | int):
            self._ids.discard(identifier)
        self._changed.set()
        self._changed = anyio.Event()

    async def wait_until_none(self, patience_s: float) -> None:
        """Wait until all are answered, or until no answer has come for a while."""
        while self._ids:
            with anyio.move_on_after(patience_s) as waiting:
                await self._changed.wait()
            if waiting.cancelled_caught:
                return


@asynccontextmanager
async def standard_streams() -> AsyncIterator[tuple[ReadLine, WriteLine]]:
    """Lines of standard input and output, which meanwhile belong to the protocol alone.

    What anything else prints to standard output goes to standard error, and children read an empty input.
    """
    wire_in, wire_out = _set_aside(0, "rb"), _set_aside(1, "wb")
    # Threads of their own: calls that wait in the shared ones must not keep answers from being sent.
    reader, writer = anyio.CapacityLimiter(1), anyio.CapacityLimiter(1)

    async def read_line() -> bytes:
        return await anyio.to_thread.run_sync(wire_in.readline, abandon_on_cancel=True, limiter=reader)

    async def write_line(line: bytes) -> None:
        def write() -> None:
            wire_out.write(line)
            wire_out.flush()

        await anyio.to_thread.run_sync(write, limiter=writer)

    yield read_line, write_line


def _set_aside(descriptor: int, mode: str) -> IO[bytes]:
    """A private copy of a standard stream; the original is diverted to where it can do no harm."""
    private = os.fdopen(os.dup(descriptor), mode)
    if descriptor == 1:
        sys.stdout.flush()
        os.dup2(2, 1)
    else:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, descriptor)
        os.close(nothing)
    return private
