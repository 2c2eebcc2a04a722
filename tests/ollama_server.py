"""A server that speaks Ollama's wire format as a script tells it to, faults included.

Each request takes the next step of the script. What was asked is recorded; tests wait for events, within bounds.
"""

import asyncio
import contextlib
import json
import queue
import socket
import struct
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

from tests import request_budget

# Far more than anything here takes: reached only by a test that fails.
PATIENCE_S = 20.0

HTML = "<html><body><h1>502 Bad Gateway</h1></body></html>"


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Step:
    """One answer: the status and its pieces, a pause before each of them, and what comes after the last one.

    'cut' closes the connection without ending the answer, 'reset' tears it down, 'hold' keeps it open until the
    client leaves or the test releases it. Without a status, no byte is sent. One that is kept back has not begun
    before the test releases it.
    """

    pieces: Sequence[str] = ()
    status: int | None = 200
    content_type: str = "application/x-ndjson"
    pause_s: float = 0.0
    ending: Literal["end", "cut", "reset", "hold"] = "end"
    headers: Mapping[str, str] = field(default_factory=dict)
    is_kept_back: bool = False


def part(content: str | None, **more: Any) -> str:
    """A line of a streamed reply."""
    message = {"role": "assistant", "content": content} | more.pop("message", {})
    return json.dumps({"model": "qwen", "message": message, "done": False} | more) + "\n"


def last_part(**more: Any) -> str:
    """The line that ends a streamed reply, with its counts."""
    usual = {"done": True, "done_reason": "stop", "prompt_eval_count": 26, "eval_count": 3}
    return part("", **(usual | more))


def reply(*contents: str, **more: Any) -> Step:
    """A whole streamed reply; `more` goes into its last line."""
    return Step([*(part(content) for content in contents), last_part(**more)])


def facts(*statements: str, kind: str = "about_user") -> Step:
    """A model's statements, read out of a request that it was given whole."""
    return reply(json.dumps({"kind": kind, "facts": list(statements)}), prompt_eval_count=1500)


def kept_back(step: Step) -> Step:
    """The same answer, once the test releases it."""
    return replace(step, is_kept_back=True)


def failure(status: int, body: Any) -> Step:
    """A refusal: a text goes as it is, anything else as JSON."""
    if isinstance(body, str):
        return Step([body], status, "text/html")
    return Step([json.dumps(body)], status, "application/json")


def tags(*models: Mapping[str, Any]) -> Step:
    """The list of installed models."""
    return Step([json.dumps({"models": models})], content_type="application/json")


def progress(*steps: Mapping[str, Any], **more: Any) -> Step:
    """The lines of a download."""
    return Step([json.dumps(step) + "\n" for step in steps], **more)


# What the further calls about a statement are answered unless a test says otherwise, by a member of their schema.
ASIDES: Mapping[str, Any] = {
    "items": {"items": []},
    "verdict": {"topic": "", "earlier": "", "later": "", "verdict": "other"},
    "summary": {"summary": ""},
}


class OllamaServer:
    """A server on a free port of this machine, down until its context is entered.

    Leaving the context stops it and closes every connection.

    The script is for extraction and whatever else a test asks; descriptions, comparisons and summaries have scripts
    of their own, so that a test need not know how many of them follow a statement. What is installed is asked of the
    script too, unless a test has said it.
    """

    def __init__(self) -> None:
        self.installed: Sequence[str] | None = None
        self.requests: list[Request] = []
        self._asides: dict[str, queue.SimpleQueue[Step]] = {member: queue.SimpleQueue() for member in ASIDES}
        self.most_at_once = 0
        self._script: queue.SimpleQueue[Step] = queue.SimpleQueue()
        self._changed = threading.Condition()
        self._n_open = 0
        self._n_running = 0
        self._n_held = 0
        self._n_left = 0
        self._loop = asyncio.new_event_loop()
        self._handlers: set[asyncio.Task[None]] = set()
        self._released = asyncio.Event()
        self._stopped = asyncio.Event()
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._serve()))

    def __enter__(self) -> Self:
        self._listener.listen()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive(), "the scripted server does not stop"
        self._loop.close()

    def script(self, *steps: Step) -> None:
        """Append answers for the next requests."""
        for step in steps:
            self._script.put(step)

    def script_aside(self, member: str, *answers: Any) -> None:
        """Append answers (objects, or steps) for the next requests whose schema has this member, one of `ASIDES`."""
        for answer in answers:
            step = answer if isinstance(answer, Step) else reply(json.dumps(answer), prompt_eval_count=1500)
            self._asides[member].put(step)

    def asked(self, member: str) -> list[str]:
        """What was asked in the end of each request whose schema has this member."""
        return [request.body["messages"][-1]["content"] for request in self.requests if member in _members(request)]

    def release(self) -> None:
        """End every answer that is held, and begin what is kept back, now and later."""
        self._loop.call_soon_threadsafe(self._released.set)

    def wait_for_requests(self, count: int) -> None:
        """Return when so many extractions have been asked for; the wait for each is bounded."""
        for number in range(1, count + 1):
            self._wait(lambda number=number: len(self.asked("facts")) >= number, f"request {number} of {count}")

    def wait_until_held(self) -> None:
        """Return when an answer is kept back, or has been sent up to where it is held."""
        self._wait(lambda: self._n_held > 0, "an answer to be held")

    def wait_until_left(self) -> None:
        """Return when the client has closed its connection within an answer."""
        self._wait(lambda: self._n_left > 0, "the client to close its connection")

    def wait_until_quiet(self) -> None:
        """Return when no connection is open."""
        self._wait(lambda: self._n_open == 0, "every connection to be closed")

    def _wait(self, condition: Any, what: str) -> None:
        with self._changed:
            assert self._changed.wait_for(condition, PATIENCE_S), f"waited in vain for {what}"

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connected, sock=self._listener)
        await self._stopped.wait()
        server.close()
        for handler in self._handlers:
            handler.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)
        await server.wait_closed()
        # One that was accepted while the server closed has no handler yet.
        while late := self._handlers | (asyncio.all_tasks() - {asyncio.current_task()}):
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
            self._handlers -= late

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._handlers.add(task)
        self._count(n_open=1)
        try:
            while request := await _read_request(reader):
                with self._running(request):
                    if not await self._answer(self._next_step(request), reader, writer):
                        break
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
            self._handlers.discard(task)
            self._count(n_open=-1)

    @contextlib.contextmanager
    def _running(self, request: Request) -> Iterator[None]:
        self.requests.append(request)
        if request.target.endswith("/api/chat"):
            request_budget.received.append(request_budget.size_of_body(request.body))
        self._count(n_running=1)
        try:
            yield
        except ConnectionError:
            self._count(n_left=1)
            raise
        finally:
            self._count(n_running=-1)

    def _count(self, *, n_open: int = 0, n_running: int = 0, n_held: int = 0, n_left: int = 0) -> None:
        with self._changed:
            self._n_open += n_open
            self._n_running += n_running
            self._n_held += n_held
            self._n_left += n_left
            self.most_at_once = max(self.most_at_once, self._n_running)
            self._changed.notify_all()

    def _next_step(self, request: Request) -> Step:
        if request.target.endswith("/api/tags") and self.installed is not None:
            return tags(*({"model": name} for name in self.installed))
        aside = next((member for member in ASIDES if member in _members(request)), "")
        try:
            if aside:
                return self._asides[aside].get_nowait()
            return self._script.get_nowait()
        except queue.Empty:
            if aside:
                return reply(json.dumps(ASIDES[aside]), prompt_eval_count=1500)
            return failure(500, {"error": "the script has no more answers"})

    async def _answer(self, step: Step, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Play a step; whether the connection can be used for another request."""
        if step.is_kept_back and await self._is_left_while_held(reader):
            return False
        if step.status is not None:
            headers = {"Content-Type": step.content_type, "Transfer-Encoding": "chunked", **step.headers}
            lines = [f"HTTP/1.1 {step.status} Scripted", *(f"{name}: {value}" for name, value in headers.items())]
            writer.write("\r\n".join([*lines, "", ""]).encode())
        for piece in step.pieces:
            if await self._client_leaves(reader, step.pause_s):
                return False
            data = piece.encode()
            writer.write(b"%x\r\n%b\r\n" % (len(data), data))
            await writer.drain()
        if step.ending == "hold" and await self._is_left_while_held(reader):
            return False
        if step.ending == "reset":
            lingering = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, lingering)
        if step.ending in ("cut", "reset") or step.status is None:
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    async def _is_left_while_held(self, reader: asyncio.StreamReader) -> bool:
        self._count(n_held=1)
        return await self._client_leaves(reader, None)

    async def _client_leaves(self, reader: asyncio.StreamReader, within_s: float | None) -> bool:
        """Wait for so long, or for the release, unless the client closes its connection first."""
        if within_s == 0:
            return False
        leaving = asyncio.ensure_future(_end_of(reader))
        released = asyncio.ensure_future(self._released.wait())
        try:
            await asyncio.wait((leaving, released), timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
            if leaving.done():
                self._count(n_left=1)
            return leaving.done()
        finally:
            leaving.cancel()
            released.cancel()
            await asyncio.gather(leaving, released, return_exceptions=True)


def _members(request: Request) -> Mapping[str, Any]:
    schema = request.body.get("format") if isinstance(request.body, dict) else None
    members = schema.get("properties", {}) if isinstance(schema, dict) else {}
    return members if isinstance(members, dict) else {}


async def _end_of(reader: asyncio.StreamReader) -> None:
    with contextlib.suppress(ConnectionError):
        while await reader.read(1024):
            pass


async def _read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request of a connection; None when the client has closed it."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, target, headers, json.loads(body) if body else None)
