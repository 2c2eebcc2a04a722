"""`mcp-memory serve --http`: has the engine serve HTTP for as long as this process lives. Standard library only.

The engine binds the port, so that it stays the only process that opens the memory. When it goes - stopped, replaced
by a newer one, killed - the next one is started and binds the port again.
"""

import argparse
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

from .dial import Line
from .errors import McpMemoryError, StorageError
from .http_address import HttpAddress, address_of
from .paths import data_folder
from .starter import connect_or_start

_ENGINE_GONE = "the engine does not stay"
_MAX_ATTEMPTS = 6
_FIRST_PAUSE_S = 0.2
# After so long the attempts before count no more.
_STAYED_S = 60.0


class HttpShim:
    """The connection that keeps HTTP served, made again when it ends."""

    def __init__(self, home: Path, address: HttpAddress, allowed: Sequence[str]) -> None:
        self._home = home
        self._address = address
        self._allowed = allowed
        self._line: Line | None = None
        self._is_told = False

    def stop(self, _number: int, _frame: FrameType | None) -> None:
        """Have the engine let go of the port when what was asked has been answered; the second time, leave at once."""
        if self._is_told or self._line is None:
            # The engine sees the connection end.
            os._exit(1 if self._is_told else 0)
        self._is_told = True
        with contextlib.suppress(OSError):
            self._line.send(b"stop\n")

    def serve(self) -> None:
        """Keep HTTP served until told to stop.

        Raises:
            McpMemoryError: it cannot be served, or not any more.
        """
        self._attend(self._begun())
        n_attempts = 0
        while not self._is_told:
            began = time.monotonic()
            _say(f"the engine has gone; serving {self._address.url} again")
            try:
                self._attend(self._begun())
            except McpMemoryError as exc:
                _say(f"{exc.message} ({exc.hint})")
            n_attempts = 0 if time.monotonic() - began > _STAYED_S else n_attempts + 1
            if n_attempts >= _MAX_ATTEMPTS and not self._is_told:
                raise StorageError(_ENGINE_GONE, hint="run: mcp-memory doctor")
            if not self._is_told:
                time.sleep(_FIRST_PAUSE_S * 2**n_attempts)

    def _begun(self) -> Line:
        """A connection to an engine that serves at the address.

        Raises:
            McpMemoryError: there is no engine, or it cannot serve there.
        """
        line = connect_or_start(self._home, "http")
        asked = {"host": self._address.host, "port": self._address.port, "allow": [*self._allowed]}
        try:
            line.send(json.dumps(asked).encode() + b"\n")
            answer = _told(line.reader.readline())
        except OSError:
            answer = {}
        if error := answer.get("error"):
            line.close()
            raise StorageError(str(error.get("message")), hint=str(error.get("hint")))
        if "port" not in answer:
            line.close()
            raise StorageError(_ENGINE_GONE, hint="run: mcp-memory doctor")
        # A port that was free the first time is the one that clients know from then on.
        self._address = replace(self._address, port=int(answer["port"]))
        return line

    def _attend(self, line: Line) -> None:
        """Tell what there is to tell, until the engine is done or gone."""
        self._line = line
        print(f"mcp-memory serves {self._address.url}", flush=True)
        if line.notice:
            _say(line.notice)
        if not self._address.is_loopback:
            _say("plain HTTP: whoever is on the way can read tokens and memories; put TLS in front of it")
        with contextlib.suppress(OSError):
            while said := line.reader.readline():
                told = _told(said)
                if told.get("has_tokens") is False:
                    _say("nobody has a token yet; to make one, run: mcp-memory users add NAME")
                elif trouble := told.get("trouble"):
                    _say(str(trouble))
        self._line = None
        line.close()


def _told(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _say(text: str) -> None:
    print(f"mcp-memory: {text}", file=sys.stderr, flush=True)


def run() -> None:
    """Serve HTTP as the arguments of the command line say."""
    parser = argparse.ArgumentParser(prog="mcp-memory", allow_abbrev=False)
    parser.add_argument("serve")
    parser.add_argument("--http", nargs="?", const="", metavar="HOST:PORT")
    parser.add_argument("--allow-host", action="append", default=[], metavar="NAME")
    given = parser.parse_args()
    try:
        shim = HttpShim(data_folder(), address_of(given.http), given.allow_host)
        signal.signal(signal.SIGTERM, shim.stop)
        signal.signal(signal.SIGINT, shim.stop)
        shim.serve()
    except McpMemoryError as exc:
        _say(f"{exc.message} ({exc.hint})")
        sys.exit(1)
