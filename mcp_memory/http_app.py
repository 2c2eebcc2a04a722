"""MCP over HTTP as an ASGI application: which requests are let in, for whose memory, and how each other is refused.

Every request stands for itself: there are no sessions. Who asks is told by the token alone.
"""

import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import replace
from email.utils import formatdate
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import INTERNAL_ERROR, INVALID_REQUEST, JSONRPCMessage
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from .errors import McpMemoryError
from .http_address import PATH, Names
from .server import Client, build_server_of
from .version import __version__
from .wire import BadLineError, parse_line

if TYPE_CHECKING:
    from .engine import Engine
    from .reports import Token

logger = logging.getLogger(__name__)

HEALTH = "/healthz"
# Room for the longest text that is kept, also where each of its characters is written as an escape.
MAX_BODY_BYTES = 4 * 1024 * 1024
_BODY_S = 30.0
# How a client is called that says nothing of itself, with a token that has no label.
_NAMELESS = "http"
_CLIENT = "mcp_memory.client"
_UNAUTHORIZED = -32001
# Tokens are looked up in threads of their own: calls that wait in the others must not keep anybody from being let in.
_LOOKING_UP = anyio.CapacityLimiter(8)


class _RefusedError(Exception):
    """A request that is not let in, and what it is answered."""

    def __init__(
        self,
        status: int,
        message: str,
        code: int = INVALID_REQUEST,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.code, self.headers = status, message, code, headers


class HttpApp:
    """The application over one engine; it answers within `running`."""

    def __init__(self, engine: "Engine", names: Names, client_of_user: Callable[[str], Client]) -> None:
        """`client_of_user` tells what holds for all clients of a user; McpMemoryError where a setting is wrong."""
        self._engine = engine
        self._names = names
        self._client_of_user = client_of_user
        # What each user may do at once is shared by their clients.
        self._users: dict[str, Client] = {}
        # Answers are events, so that a call that takes long can say what it waits for.
        self._mcp = StreamableHTTPSessionManager(
            build_server_of(engine, _client_of), stateless=True, max_request_body_size=MAX_BODY_BYTES
        )
        self.is_leaving = False

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Have it answer until the end of the block; what is not answered by then is given up."""
        async with self._mcp.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        is_answered = False

        async def send_dated(message: Message) -> None:
            nonlocal is_answered
            if message["type"] == "http.response.start":
                is_answered = True
                date = (b"date", formatdate(usegmt=True).encode())
                message = {**message, "headers": [*message.get("headers", ()), date]}
            await send(message)

        try:
            await self._answer(scope, receive, send_dated)
        except _RefusedError as refused:
            await _refuse(refused, Headers(scope=scope))(scope, receive, send_dated)
        except Exception:  # what nobody expected is told to nobody but the log
            logger.exception("unexpected error")
            if not is_answered:
                failed = _RefusedError(500, "unexpected error; the engine's log has the details", INTERNAL_ERROR)
                await _refuse(failed, Headers(scope=scope))(scope, receive, send_dated)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, method = Headers(scope=scope), scope["method"]
        self._check_names(headers)
        if scope["path"] == HEALTH:
            if method not in ("GET", "HEAD"):
                raise _RefusedError(405, f"{HEALTH} answers to GET", headers={"Allow": "GET, HEAD"})
            await self._health()(scope, receive, send)
            return
        if scope["path"] != PATH:
            raise _RefusedError(404, f"there is nothing at this path (the memory is at {PATH})")
        token = await self._token(headers)
        if method != "POST":
            # Without sessions there is nothing to listen to or to end.
            raise _RefusedError(405, "every request is a POST here; there are no sessions", headers={"Allow": "POST"})
        if headers.get("content-type", "").partition(";")[0].strip().casefold() != "application/json":
            raise _RefusedError(415, "the body is not said to be JSON (send Content-Type: application/json)")
        client = await self._client(token)
        body = await _body(headers, receive)
        if body is None:
            return
        try:
            # Mended, and told of here where it is none: the SDK takes some of these for notifications.
            message = parse_line(body)
        except BadLineError as exc:
            await Response(_as_json(exc.answer), 400, media_type="application/json")(scope, receive, send)
            return
        # The SDK compares it letter by letter.
        told = [(name, b"application/json" if name == b"content-type" else value) for name, value in scope["headers"]]
        asked = {**scope, "headers": told, _CLIENT: client}
        await self._mcp.handle_request(asked, _given(_as_json(message), receive), send)

    def _check_names(self, headers: Headers) -> None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._names.is_host(hosts[0]):
            raise _RefusedError(
                421,
                "this server is not known by the name in the Host header "
                "(ask for it by its address, or allow the name: mcp-memory serve --http … --allow-host NAME)",
            )
        if not all(self._names.is_origin(origin, hosts[0]) for origin in headers.getlist("origin")):
            raise _RefusedError(
                403,
                "pages of other sites may not ask this server "
                "(to allow those of a name: mcp-memory serve --http … --allow-host NAME)",
            )

    def _health(self) -> JSONResponse:
        if self.is_leaving:
            return JSONResponse({"status": "leaving"}, 503)
        return JSONResponse({"status": "ok", "version": __version__})

    async def _token(self, headers: Headers) -> "Token":
        """The token that a request shows. Whether it shows none, a wrong one or one that ended is not told."""
        shown = [value.partition(" ") for value in headers.getlist("authorization")]
        texts = [text.strip() for scheme, _, text in shown if scheme.casefold() == "bearer"]
        token = None
        if len(shown) == len(texts) == 1:
            with _unavailable():
                token = await anyio.to_thread.run_sync(
                    lambda: self._engine.memory().recognised(texts[0]), abandon_on_cancel=True, limiter=_LOOKING_UP
                )
        if token is None:
            raise _RefusedError(
                401,
                "this needs a token that counts: send the header Authorization: Bearer TOKEN "
                "(the owner of the memory makes one with: mcp-memory users add NAME)",
                _UNAUTHORIZED,
                {"WWW-Authenticate": 'Bearer realm="mcp-memory"'},
            )
        return token

    async def _client(self, token: "Token") -> Client:
        user_id = token.user_id
        if user_id not in self._users:
            with _unavailable():
                client = await anyio.to_thread.run_sync(self._client_of_user, user_id, limiter=_LOOKING_UP)
            # Of two requests that come at once, the first one's.
            self._users.setdefault(user_id, client)
        return replace(self._users[user_id], label=token.label or _NAMELESS)


@contextlib.contextmanager
def _unavailable() -> Iterator[None]:
    """Answers that the memory cannot be reached; what is wrong with it is not for everybody who asks."""
    try:
        yield
    except McpMemoryError as exc:
        logger.warning("%s", exc)
        told = "the memory cannot be reached at present (on its machine, run: mcp-memory doctor)"
        raise _RefusedError(503, told, INTERNAL_ERROR) from exc


def _client_of(context: ServerRequestContext[Any]) -> Client:
    assert context.request is not None
    client = context.request.scope[_CLIENT]
    assert isinstance(client, Client)
    return client


async def _body(headers: Headers, receive: Receive) -> bytes | None:
    """The body of a request, None where the client goes before it has sent all of it.

    Raises:
        _RefusedError: it is too long, or takes too long to come.
    """
    if (_declared(headers) or 0) > MAX_BODY_BYTES:
        raise _too_long()
    body = bytearray()
    with anyio.move_on_after(_BODY_S):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            body += message.get("body", b"")
            if len(body) > MAX_BODY_BYTES:
                raise _too_long()
            if not message.get("more_body"):
                return bytes(body)
    raise _RefusedError(408, f"the body did not come within {_BODY_S:.0f} s")


def _declared(headers: Headers) -> int | None:
    """The length of the body in bytes as it was declared, None where it was not."""
    if "transfer-encoding" in headers:
        return None
    return int(headers.get("content-length", "0"))


def _too_long() -> _RefusedError:
    return _RefusedError(413, f"a request has at most {MAX_BODY_BYTES:,} bytes (split what is to be added)")


def _as_json(message: JSONRPCMessage) -> bytes:
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode()


def _given(body: bytes, receive: Receive) -> Receive:
    """What a request says after its body has been read."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


def _refuse(refused: _RefusedError, headers: Headers) -> JSONResponse:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": refused.code, "message": refused.message}}
    declared = _declared(headers)
    # A long body that nobody wants is not read to its end; a short one is, or the client may not see the answer.
    is_read = refused.status != 408 and declared is not None and declared <= MAX_BODY_BYTES
    ending = {} if is_read else {"Connection": "close"}
    return JSONResponse(error, refused.status, {**refused.headers, **ending})
