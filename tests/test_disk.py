"""What counts as a fault of the machine, and what is taken for damage of the tables."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from mcp_memory import disk
from mcp_memory.errors import StorageError
from mcp_memory.tables import Tables, TablesDamagedError, Vectors
from tests.builders import a_memory

_OF_THE_MACHINE = ["EFBIG", "ENOSPC", "EDQUOT", "ESTALE", "EIO", "EMFILE", "EACCES", "EPERM", "EROFS", "ENOMEM"]


@pytest.mark.parametrize("name", [name for name in _OF_THE_MACHINE if hasattr(errno, name)])
def test_what_the_system_says_of_the_machine_is_recognised_by_its_words_and_by_its_number(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = getattr(errno, name)
    assert disk.is_machines_fault(f"IO error: could not write: {os.strerror(number)}")
    # Words may come in the language of the machine.
    monkeypatch.setattr(os, "name", "posix")
    assert disk.is_machines_fault(f"IO error: could not write: was auch immer (os error {number})")


@pytest.mark.parametrize("number", [5, 32, 39, 112, 1117])
def test_windows_has_numbers_of_its_own(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "name", "nt")
    assert disk.is_machines_fault(f"Zugriff verweigert (os error {number})")


@pytest.mark.parametrize(
    "message",
    [
        "Not found: home/lancedb/memories.lance/data/1.lance (os error 2)",
        "Invalid user input: file is too short",
        "LanceError(IO): encountered corrupt file: magic number missing",
        "range end index 1000 out of range for slice of length 27",
    ],
)
def test_what_is_said_of_a_file_is_no_fault_of_the_machine(message: str) -> None:
    assert not disk.is_machines_fault(message)


def test_tables_that_cannot_grow_are_not_damaged(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="limits as on Linux and macOS")
    tables = Tables(tmp_path / "lancedb", 4)
    memory = a_memory()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        with pytest.raises(StorageError, match="File too large") as failure:
            tables.put_memories([memory], {memory.id: _vectors()})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not isinstance(failure.value, TablesDamagedError)
    tables.put_memories([memory], {memory.id: _vectors()})
    assert tables.memory_ids() == [memory.id]


def test_tables_that_have_lost_a_file_are_damaged(tmp_path: Path) -> None:
    memory = a_memory()
    Tables(tmp_path / "lancedb", 4).put_memories([memory], {memory.id: _vectors()})
    for file in (tmp_path / "lancedb" / "memories.lance" / "data").iterdir():
        file.unlink()
    with pytest.raises(TablesDamagedError):
        Tables(tmp_path / "lancedb", 4).vectors_of("ana")


def _vectors() -> Vectors:
    return np.ones((1, 4), dtype=np.float32)
