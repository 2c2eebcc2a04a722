"""Lines over a socket: the same two functions that a session over standard streams uses."""

import contextlib

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream

from .dial import MAX_LINE_BYTES

_GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError)


class SocketLines:
    """A client's lines. Once `leaving` is set nothing more is read, as if it had gone."""

    def __init__(self, stream: anyio.abc.SocketStream, leaving: anyio.Event) -> None:
        self._stream = stream
        self._buffered = BufferedByteReceiveStream(stream)
        self._leaving = leaving

    async def read_line(self, max_bytes: int = MAX_LINE_BYTES) -> bytes:
        """The next line with its end, b'' where the client has gone or sends what no host sends."""
        line = b""

        async def read() -> None:
            nonlocal line
            with contextlib.suppress(anyio.EndOfStream, anyio.IncompleteRead, anyio.DelimiterNotFound, *_GONE):
                line = await self._buffered.receive_until(b"\n", max_bytes) + b"\n"
            tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await self._leaving.wait()
            tasks.cancel_scope.cancel()
        return line

    async def write_line(self, line: bytes) -> None:
        """Send a line. Raises OSError when the client has gone."""
        try:
            await self._stream.send(line)
        except _GONE as exc:
            raise OSError("the client has gone") from exc
