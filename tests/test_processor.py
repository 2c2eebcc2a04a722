"""A processor on which LanceDB dies is found by a process that may die; a good result is not asked for twice."""

import logging
import signal
import sys
from pathlib import Path

import pytest

from mcp_memory import processor
from mcp_memory.doctor import examine
from mcp_memory.errors import StorageError
from mcp_memory.memory import LocalMemory
from mcp_memory.processor import Tried, require_lancedb, try_lancedb
from tests.conftest import Opener


def dying(name: str) -> tuple[str, ...]:
    return sys.executable, "-c", f"import os, signal; os.kill(os.getpid(), signal.{name})"


FINE = (sys.executable, "-c", "")
FAILING = (sys.executable, "-c", "raise OSError('No space left on device')")
COUNTING = "import sys; open(sys.argv[1], 'a').write('x')"


@pytest.mark.slow
def test_lancedb_runs_in_a_process_of_its_own() -> None:
    assert try_lancedb() == Tried()


@pytest.mark.parametrize("name", ["SIGILL", "SIGSEGV", "SIGABRT"])
def test_a_child_that_dies_of_lancedb_is_told_by_its_signal(tmp_path: Path, name: str) -> None:
    with pytest.raises(StorageError, match=f"LanceDB dies on this processor with {name}") as caught:
        require_lancedb(dying(name), tmp_path)
    assert "AVX2" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (dying("SIGKILL"), "was ended by SIGKILL"),
        (FAILING, "No space left on device"),
        (("/nowhere/python",), "could not be tried"),
    ],
)
def test_what_says_nothing_of_the_processor_stops_nobody_and_is_not_remembered(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, command: tuple[str, ...], told: str
) -> None:
    with caplog.at_level(logging.WARNING):
        require_lancedb(command, tmp_path)
    assert told in caplog.text
    assert list(tmp_path.iterdir()) == []


def test_what_worked_is_remembered_for_the_version_and_the_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = tmp_path / "counted"
    command = (sys.executable, "-c", COUNTING, str(counted))
    for _ in range(3):
        require_lancedb(command, tmp_path / "cache")
    assert counted.read_text() == "x"
    monkeypatch.setattr(processor, "_processor", lambda: "another one")
    require_lancedb(command, tmp_path / "cache")
    assert counted.read_text() == "xx"
    (tmp_path / "cache" / "lancedb-runs.json").write_text("torn{")
    require_lancedb(command, tmp_path / "cache")
    assert counted.read_text() == "xxx"


def test_a_cache_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    require_lancedb(FINE, tmp_path / "cache")


def test_a_folder_is_not_opened_on_such_a_processor_and_doctor_tells_why(
    home: Path, open_memory: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("mcp_memory.parts.require_lancedb", lambda: require_lancedb(dying("SIGILL"), home / "cache"))
        with pytest.raises(StorageError, match="SIGILL"):
            LocalMemory.open(home)
        patch.setattr("mcp_memory.doctor.try_lancedb", lambda: try_lancedb(dying("SIGILL")))
        last = list(examine())[-1]
        assert (last.name, last.is_ok) == ("processor", False)
        assert last.found == "LanceDB dies here with SIGILL"
    # Nothing is held or spoilt.
    assert open_memory().stats()


def test_windows_names_the_signal_by_a_status() -> None:
    assert processor._signal_name(0xC000001D) == "SIGILL"
    assert processor._signal_name(-signal.SIGILL) == "SIGILL"
    assert processor._signal_name(3) == ""
