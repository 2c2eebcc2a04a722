"""The engine as a process: one per data folder, with a session for each client over one memory.

It holds the folder, listens on this machine, and leaves some time after its last client.
"""

import contextlib
import faulthandler
import hmac
import json
import logging
import logging.handlers
import os
import secrets
import signal
import sys
import time
from collections.abc import Mapping
from functools import partial
from typing import Any, get_args

import anyio
import anyio.abc
import anyio.to_thread

from . import address
from .address import LOG_NAME, PREAMBLE_VERSION, STDERR_NAME, Address
from .api import answer_calls
from .dial import USER_VARIABLE, Kind, own_variables
from .engine import Engine
from .errors import McpMemoryError
from .folder import DataFolder
from .http_address import HttpAddress
from .memory import LocalMemory
from .server import Client, build_server
from .settings import Settings, for_client, load_settings, variables_of_a_client
from .socket_lines import SocketLines
from .starter import WARM_VARIABLE
from .version import __version__
from .wire import ReadLine, WriteLine, serve_lines

logger = logging.getLogger(__name__)

_N_LAST_BYTES = 10_000
_LOG_BYTES, _N_OLD_LOGS = 1_000_000, 3
_KINDS = get_args(Kind)
_PREAMBLE_S = 5.0
_FIRST_CLIENT_S = 30.0
_MAX_PREAMBLE_BYTES = 100_000
# How long calls under way may take when the engine is told to leave.
_DRAIN_S = 10.0
_LOOK_EVERY_S = 1.0
# The same for HTTP: less than that where the engine leaves. Where it stays, an add may wait for the language model.
_HTTP_DRAIN_S, _HTTP_STOP_S = 8, 30


class Hub:
    """The clients of one engine."""

    def __init__(self, engine: Engine, here: Address, settings: Settings) -> None:
        self._engine = engine
        self._address = here
        self._settings = settings
        self._variables = own_variables()
        self._began_at = time.time()
        self._leaving = anyio.Event()
        self._clients: dict[int, str] = {}
        # Where HTTP is served, by the number of the client that asked for it.
        self._urls: dict[int, str] = {}
        self._n_seen = 0
        # Set, and made anew, when a client comes or goes.
        self._changed = anyio.Event()

    async def serve(self, listener: anyio.abc.Listener[anyio.abc.SocketStream]) -> None:
        """Serve clients until told to leave, or until nobody has been there for a while."""
        async with anyio.create_task_group() as clients:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._watch_signals)
                tasks.start_soon(self._watch_idleness)
                tasks.start_soon(listener.serve, self._serve_client, clients)
                await self._leaving.wait()
                tasks.cancel_scope.cancel()
            await listener.aclose()
            with anyio.move_on_after(_DRAIN_S):
                while self._clients:
                    await self._changed.wait()
            clients.cancel_scope.cancel()

    def leave(self) -> None:
        """Accept nobody any more, let calls under way end, then go."""
        if not self._leaving.is_set():
            logger.info("leaving")
        self._leaving.set()
        self._engine.stop_waiting()

    async def _watch_signals(self) -> None:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            async for _ in signals:
                self.leave()

    async def _watch_idleness(self) -> None:
        while True:
            changed = self._changed
            if self._clients:
                await changed.wait()
                continue
            idle_s = self._settings.engine_idle_s
            # Whoever has started it is on the way.
            with anyio.move_on_after(idle_s if self._n_seen else max(idle_s, _FIRST_CLIENT_S)) as waiting:
                await changed.wait()
            if not waiting.cancelled_caught:
                continue
            if not self._engine.has_work():
                self.leave()
                return
            # Nobody is there, but texts wait and the language model answers.
            with anyio.move_on_after(_LOOK_EVERY_S):
                await changed.wait()

    def _note_change(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def _serve_client(self, stream: anyio.abc.SocketStream) -> None:
        lines = SocketLines(stream, self._leaving)
        async with stream:
            preamble: Mapping[str, Any] = {}
            with anyio.move_on_after(_PREAMBLE_S):
                preamble = _preamble(await lines.read_line(_MAX_PREAMBLE_BYTES))
            token = str(preamble.get("token")).encode(errors="replace")
            if not hmac.compare_digest(token, self._address.token.encode()):
                return
            self._n_seen += 1
            number = self._n_seen
            self._clients[number] = str(preamble.get("kind"))
            self._note_change()
            try:
                await self._attend(number, preamble, lines.read_line, lines.write_line)
            except OSError:
                # It went while it was being answered.
                pass
            except Exception:  # one client's trouble is not the others'
                logger.exception("a client was dropped")
            finally:
                del self._clients[number]
                self._note_change()

    async def _attend(
        self, number: int, preamble: Mapping[str, Any], read_line: ReadLine, write_line: WriteLine
    ) -> None:
        if preamble.get("mcp_memory") != PREAMBLE_VERSION or preamble.get("kind") not in _KINDS:
            await _refuse(
                f"engine {__version__} does not know what a client of version {preamble.get('version')} asks for",
                "run: mcp-memory engine stop, and update the older one",
                write_line,
            )
            return
        if preamble["kind"] == "control":
            await write_line(json.dumps(self._welcome("")).encode() + b"\n")
            await self._obey(read_line, write_line)
            return
        given = preamble.get("settings")
        variables = {str(name): str(value) for name, value in given.items()} if isinstance(given, dict) else {}
        if preamble["kind"] == "http":
            await self._serve_http(number, variables, read_line, write_line)
            return
        try:
            settings = for_client(self._settings, variables | {USER_VARIABLE: str(preamble.get("user_id") or "")})
        except McpMemoryError as exc:
            await _refuse(exc.message, exc.hint, write_line)
            return
        notice = _differences(self._variables, variables)
        await write_line(json.dumps(self._welcome(notice)).encode() + b"\n")
        if preamble["kind"] == "mcp":

            def note_name(name: str) -> None:
                self._clients[number] = name or "mcp"

            await serve_lines(build_server(self._engine, settings, notice, note_name), read_line, write_line)
        else:
            # An agent that the program names itself counts more than one that is set for all.
            settings = settings.model_copy(update={"agent_id": preamble.get("agent_id") or settings.agent_id})
            self._clients[number] = settings.agent_id or str(preamble.get("name"))
            await answer_calls(self._engine, settings, str(preamble.get("name")), read_line, write_line)

    async def _serve_http(
        self, number: int, variables: Mapping[str, str], read_line: ReadLine, write_line: WriteLine
    ) -> None:
        """Serve HTTP where a client asks for it, until it says to stop or is gone, or until the engine leaves."""
        # Imported here: most engines serve none.
        from .http_listener import HttpListener

        await write_line(json.dumps(self._welcome(_differences(self._variables, variables))).encode() + b"\n")

        def client_of_user(user_id: str) -> Client:
            return Client(for_client(self._settings, {**variables, USER_VARIABLE: user_id}))

        try:
            # A wrong setting is told now, and not to each user.
            client_of_user("")
            asked = _preamble(await read_line())
            wanted = HttpAddress(str(asked.get("host")), int(asked.get("port") or 0))
            allowed = [str(name) for name in asked.get("allow") or ()]
            listener = await HttpListener.bound(wanted, allowed, self._engine, client_of_user)
        except McpMemoryError as exc:
            await _refuse(exc.message, exc.hint, write_line)
            return
        self._urls[number], self._clients[number] = listener.address.url, f"http {listener.address.authority}"
        logger.info("HTTP is served at %s", listener.address.authority)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(listener.serve)
                await write_line(json.dumps({"port": listener.address.port}).encode() + b"\n")
                telling = anyio.CancelScope()
                tasks.start_soon(self._tell_of_tokens, telling, write_line)
                await read_line()
                telling.cancel()
                listener.stop(_HTTP_DRAIN_S if self._leaving.is_set() else _HTTP_STOP_S)
        finally:
            del self._urls[number]
            logger.info("HTTP is served no more at %s", listener.address.authority)

    async def _tell_of_tokens(self, telling: anyio.CancelScope, write_line: WriteLine) -> None:
        """Open the memory, and tell whoever has HTTP served whether anybody has a token, or why it does not open."""
        with telling:
            self._engine.warm()
            try:
                found = await anyio.to_thread.run_sync(lambda: self._engine.memory().tokens(), abandon_on_cancel=True)
                told: dict[str, Any] = {"has_tokens": any(token.state == "active" for token in found)}
            except McpMemoryError as exc:
                told = {"trouble": f"{exc.message} ({exc.hint})"}
            with contextlib.suppress(OSError):
                await write_line(json.dumps(told).encode() + b"\n")

    def _welcome(self, notice: str) -> dict[str, Any]:
        return {"ok": True, "version": __version__, "pid": os.getpid(), "notice": notice}

    async def _obey(self, read_line: ReadLine, write_line: WriteLine) -> None:
        """Answer what is asked about the engine itself."""
        order = (await read_line()).strip()
        status = {
            "pid": os.getpid(),
            "version": __version__,
            "port": self._address.port,
            "http": sorted(self._urls.values()),
            "clients": [kind for kind in self._clients.values() if kind != "control"],
            "up_s": round(time.time() - self._began_at, 1),
            "doing": self._engine.activity,
        }
        if order == b"stop":
            self.leave()
        await write_line(json.dumps(status).encode() + b"\n")


async def _refuse(message: str, hint: str, write_line: WriteLine) -> None:
    await write_line(json.dumps({"error": {"message": message, "hint": hint}}).encode() + b"\n")


def _preamble(line: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _differences(ours: Mapping[str, str], theirs: Mapping[str, Any]) -> str:
    """What to tell a client whose settings are not those that the engine was started with."""
    of_the_engine = (ours.keys() | theirs.keys()) - variables_of_a_client()
    names = sorted(name for name in of_the_engine if ours.get(name) != theirs.get(name))
    if not names:
        return ""
    return (
        f"The running engine was started with other values of {', '.join(names)}; to have yours, put them into "
        "settings.toml or run: mcp-memory engine stop."
    )


def run(folder: DataFolder) -> None:
    """Be the engine of a folder that this process holds, until nobody needs it."""
    for name in variables_of_a_client():
        # They are those of whoever started it; every client brings its own.
        os.environ.pop(name, None)
    try:
        settings = load_settings(home=folder.path)
    except McpMemoryError as exc:
        print(f"{exc.message} ({exc.hint})", file=sys.stderr, flush=True)
        os._exit(1)
    _log_to_file(settings)
    engine = Engine(partial(LocalMemory.open, held=folder))
    status = 0
    try:
        anyio.run(_serve, engine, settings)
    except Exception as exc:
        logger.exception("the engine ends")
        # While nobody has been served, whoever started it listens.
        print(f"the engine cannot work in {settings.home}: {exc}", file=sys.stderr, flush=True)
        status = 1
    finally:
        engine.close()
        folder.release()
        # A thread may still be importing; all that matters is in the log.
        os._exit(status)


async def _serve(engine: Engine, settings: Settings) -> None:
    listener = await anyio.create_tcp_listener(local_host=address.HOST, local_port=0)
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    here = Address(port, secrets.token_hex(32), os.getpid(), __version__)
    hub = Hub(engine, here, settings)
    if before := address.published(settings.home):
        logger.warning("engine %d has ended without a word", before.pid)
    try:
        address.publish(settings.home, here)
        _divert_standard_error(settings)
        logger.info("version %s listens on port %d", __version__, port)
        if os.environ.pop(WARM_VARIABLE, ""):
            engine.warm()
        await hub.serve(listener.listeners[0])
    finally:
        # First: whoever comes now starts another engine, which waits for the folder.
        address.withdraw(settings.home, here)


def _log_to_file(settings: Settings) -> None:
    handler = logging.handlers.RotatingFileHandler(
        settings.home / LOG_NAME, maxBytes=_LOG_BYTES, backupCount=_N_OLD_LOGS, encoding="utf-8", delay=True
    )
    logging.basicConfig(
        handlers=[handler], level=logging.WARNING, format="%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("mcp_memory").setLevel(logging.INFO)


def _divert_standard_error(settings: Settings) -> None:
    """What libraries print, and what Python tells of a crash, goes into a file: whoever started the engine may leave.

    What the engine before left there is put into the log.
    """
    path = settings.home / STDERR_NAME
    with contextlib.suppress(OSError):
        if said := path.read_bytes()[-_N_LAST_BYTES:].decode(errors="replace").strip():
            logger.warning("the engine before left in %s:\n%s", STDERR_NAME, said)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(descriptor, 2)
    os.close(descriptor)
    faulthandler.enable()
