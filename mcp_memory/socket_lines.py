"""Lines over a socket: the same two functions that a session over standard streams uses."""

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream

from .wire import ReadLine, WriteLine

_MAX_LINE_BYTES = 64_000_000
_GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError)


def lines_of(stream: anyio.abc.SocketStream, leaving: anyio.Event) -> tuple[ReadLine, WriteLine]:
    """Read and write lines of a client; once `leaving` is set nothing more is read, as if it had gone."""
    buffered = BufferedByteReceiveStream(stream)

    async def read_line() -> bytes:
        line = b""

        async def read() -> None:
            nonlocal line
            try:
                line = await buffered.receive_until(b"\n", _MAX_LINE_BYTES) + b"\n"
            except (anyio.EndOfStream, anyio.IncompleteRead, anyio.DelimiterNotFound, *_GONE):
                # It has gone, or sends what no host sends.
                pass
            tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            await leaving.wait()
            tasks.cancel_scope.cancel()
        return line

    async def write_line(line: bytes) -> None:
        try:
            await stream.send(line)
        except _GONE as exc:
            raise OSError("the client has gone") from exc

    return read_line, write_line
