"""HTTP in the engine's own event loop: a port is bound, served, and let go of when what was asked has been answered."""

import asyncio
import contextlib
import errno
import os
import socket
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any

import anyio
import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from .errors import StorageError
from .http_address import HttpAddress, Names
from .http_app import HttpApp
from .server import Client

if TYPE_CHECKING:
    from .engine import Engine

# Clients keep connections for as long as servers let them; one that ends under a request is a failed request.
_KEEP_ALIVE_S = 75
_HEAD_S = 15.0
# Open connections; each is a file descriptor of the engine, of which many systems allow 1,024.
_MAX_CONNECTIONS = 512


class HttpListener:
    """A bound port, with the application that answers on it."""

    def __init__(self, listening: socket.socket, address: HttpAddress, app: HttpApp) -> None:
        self.address = address
        self._listening = listening
        self._app = app
        self._config = uvicorn.Config(
            app,
            http=_Protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            limit_concurrency=_MAX_CONNECTIONS,
            timeout_keep_alive=_KEEP_ALIVE_S,
        )
        self._server = _Server(self._config)

    @classmethod
    async def bound(
        cls, wanted: HttpAddress, allowed: Collection[str], engine: "Engine", client_of_user: Callable[[str], Client]
    ) -> "HttpListener":
        """A listener at an address, for requests that name it or one of the names that are allowed.

        Raises:
            StorageError: it cannot be had; why not.
        """
        listening = await _listening(wanted)
        address = HttpAddress(wanted.host, listening.getsockname()[1])
        return cls(listening, address, HttpApp(engine, Names(wanted.host, allowed), client_of_user))

    async def serve(self) -> None:
        """Serve until `stop` and until what was asked by then has been answered, or has had its time."""
        try:
            async with self._app.running():
                await self._server.serve([self._listening])
        finally:
            self._listening.close()

    def stop(self, patience_s: int) -> None:
        """Let go of the port; what has been asked may take some time still."""
        self._app.is_leaving = True
        self._config.timeout_graceful_shutdown = patience_s
        self._server.told_to_end.set()


class _Server(uvicorn.Server):
    """Uvicorn's server, but for signals, which are the engine's, and for looking ten times a second what to do."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.told_to_end = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self.told_to_end.wait()


class _Protocol(H11Protocol):
    """A connection of Uvicorn's on which the head of a request has to come within a time."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        if self._waiting is None and self.conn.their_state is h11.IDLE:
            self._wait()
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._wait_no_more()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(_HEAD_S, self.transport.close)

    def _wait_no_more(self) -> None:
        if self._waiting:
            self._waiting.cancel()
            self._waiting = None


async def _listening(wanted: HttpAddress) -> socket.socket:
    try:
        found = await anyio.getaddrinfo(wanted.host, wanted.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError) as exc:
        raise StorageError(
            f"this machine does not know the name {wanted.host!r}", hint="serve at an address of this machine"
        ) from exc
    # Of a name with several addresses the one that most clients try.
    family, _, _, _, place = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    # Of a socket whose protocol is not named asyncio does not know that its packets are not to wait for each other.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            # A port whose last connections are still fading can be had again. Elsewhere this would share it.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(_MAX_CONNECTIONS)
        listening.setblocking(False)
    except OSError as exc:
        listening.close()
        raise _told(wanted, exc) from exc
    return listening


def _told(wanted: HttpAddress, exc: OSError) -> StorageError:
    told: dict[Any, tuple[str, str]] = {
        errno.EADDRINUSE: (
            f"port {wanted.port} of {wanted.host} is in use",
            "end what listens there, which `mcp-memory engine status` may name, or serve at another port",
        ),
        errno.EACCES: (f"this account may not listen on port {wanted.port}", "serve at a port above 1023"),
        errno.EADDRNOTAVAIL: (
            f"{wanted.host} is no address of this machine",
            "serve at 127.0.0.1, at 0.0.0.0, or at another address that it has",
        ),
    }
    message, hint = told.get(
        exc.errno, (f"{wanted.authority} cannot be listened on: {exc.strerror}", "serve at another address")
    )
    return StorageError(message, hint=hint)
