"""What `serve --http` does when engines come and go, with connections that the test plays."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcp_memory import http_shim
from mcp_memory.errors import StorageError
from mcp_memory.http_address import HttpAddress
from mcp_memory.http_shim import HttpShim
from tests.fake_lines import FakeLine


def engine(*said: dict[str, Any]) -> FakeLine:
    """An engine that says this and goes."""
    line = FakeLine()
    for message in said:
        line.say(**message)
    line.end()
    return line


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> list[FakeLine]:
    """The engines that are there, one after the other; then there are none."""
    there: list[FakeLine] = []
    come = iter(there)

    def connect(_home: Path, kind: str) -> FakeLine:
        assert kind == "http"
        if line := next(come, None):
            return line
        raise StorageError("none can be started", hint="look")

    monkeypatch.setattr(http_shim, "connect_or_start", connect)
    monkeypatch.setattr(http_shim, "_FIRST_PAUSE_S", 0.0)
    return there


@pytest.fixture
def shim(tmp_path: Path) -> HttpShim:
    return HttpShim(tmp_path, HttpAddress(port=0), ["box"])


def test_the_port_that_was_free_first_is_asked_for_again(
    shim: HttpShim, engines: list[FakeLine], capsys: pytest.CaptureFixture[str]
) -> None:
    engines += [engine({"port": 4711}, {"has_tokens": True}), engine({"port": 4711}, {"has_tokens": False})]
    with pytest.raises(StorageError, match="does not stay"):
        shim.serve()
    asked = [line.wait_for(1)[0] for line in engines]
    assert asked == [{"host": "127.0.0.1", "port": port, "allow": ["box"]} for port in (0, 4711)]
    told = capsys.readouterr()
    assert told.out == "mcp-memory serves http://127.0.0.1:4711/mcp\n" * 2
    assert told.err.count("nobody has a token yet") == 1
    # Each attempt is told of, with why it failed.
    assert told.err.count("serving http://127.0.0.1:4711/mcp again") == 6
    assert told.err.count("none can be started (look)") == 5


@pytest.mark.parametrize("said", [(), ({"error": {"message": "the port is in use", "hint": "take another"}},)])
def test_what_cannot_be_served_the_first_time_is_not_tried_again(
    shim: HttpShim, engines: list[FakeLine], said: tuple[dict[str, Any], ...]
) -> None:
    engines += [engine(*said), engine({"port": 4711})]
    with pytest.raises(StorageError, match="in use" if said else "does not stay"):
        shim.serve()
    assert engines[1].sent == []


def test_it_ends_when_the_engine_has_done_what_it_was_told(shim: HttpShim, engines: list[FakeLine]) -> None:
    line = FakeLine()
    line.say(port=4711)
    line.on_send = lambda said: line.end() if said == b"stop\n" else None
    engines += [line, engine({"port": 4711})]
    # As if it came while the first answer is read.
    line.reader = _Interrupted(line, lambda: shim.stop(signal.SIGTERM, None))  # type: ignore[assignment]
    shim.serve()
    assert line.sent[-1] == b"stop\n"
    assert engines[1].sent == []


class _Interrupted:
    """What a line says, with something that happens while the second is waited for."""

    def __init__(self, line: FakeLine, happens: Callable[[], None]) -> None:
        self._line, self._happens, self._n_read = line, happens, 0

    def readline(self) -> bytes:
        self._n_read += 1
        if self._n_read == 2:
            self._happens()
        return self._line.readline()
