"""Full disks, folders of others, processes that are gone, clocks set back: told clearly, nothing lost."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from mcp_memory import address
from mcp_memory.address import HOST, OWNER_NAME, Address
from mcp_memory.dial import connect
from mcp_memory.errors import FolderInUseError, McpMemoryError, StorageError
from mcp_memory.folder import LOCK_NAME, DataFolder
from mcp_memory.memory import LocalMemory
from tests.conftest import Clock, Opener
from tests.ollama_server import OllamaServer, facts
from tests.small_disk import no_space_left

resource = pytest.importorskip("resource", reason="limits, accounts and signals as on Linux and macOS")

NOBODY = 65534
FullDisk = Callable[[], AbstractContextManager[None]]


@pytest.fixture(params=["the disk is full", "files cannot grow"])
def full_disk(request: pytest.FixtureRequest, home: Path) -> FullDisk:
    """While the block lasts nothing more can be written. The second form works for every account."""
    if request.param == "files cannot grow":
        return files_cannot_grow
    if not request.getfixturevalue("mounted"):
        pytest.skip("this account cannot mount a small disk; the other form of this test runs")
    return lambda: no_space_left(home)


@contextlib.contextmanager
def files_cannot_grow() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python ignores the signal, so that writes fail.
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def texts(memory: LocalMemory) -> list[str]:
    return sorted(record.text for record in memory.list(limit=1000))


def test_on_a_full_disk_adds_fail_searches_go_on_and_nothing_acknowledged_is_lost(
    full_disk: FullDisk, open_memory: Opener
) -> None:
    memory = open_memory()
    memory.add("I keep bees near Ghent", infer=False)
    acknowledged, failures = ["I keep bees near Ghent"], []
    with full_disk():
        # A page or two may still be free in files that are there.
        for number in range(8):
            text = f"Statement {number} on a full disk"
            try:
                memory.add(text, infer=False)
                acknowledged.append(text)
            except McpMemoryError as exc:
                failures.append(exc)
        assert [record.text for record in memory.list(limit=1)]
        assert "bees" in memory.search("bees", top_k=1).hits[0].memory.text
        assert texts(memory) == sorted(acknowledged)
    assert failures
    assert {type(failure) for failure in failures} == {StorageError}
    assert {"free some" in failure.hint for failure in failures} == {True}
    memory.add("There is room again", infer=False)
    assert memory.search("room again").hits[0].memory.text == "There is room again"
    memory.close()
    again = open_memory()
    again.catch_up()
    assert texts(again) == sorted([*acknowledged, "There is room again"])
    assert sorted(again.stores.tables().memory_ids()) == sorted(record.id for record in again.list(limit=1000))
    assert again.search("bees").degraded == ()


def test_a_memory_is_opened_and_read_on_a_full_disk(full_disk: FullDisk, open_memory: Opener) -> None:
    with open_memory() as memory:
        memory.add("I keep bees", infer=False)
    with full_disk():
        try:
            memory = open_memory()
        except StorageError as exc:
            # SQLite needs 32 kB beside the log before it reads, and may not have them.
            assert "free some" in exc.hint  # noqa: PT017
            return
        assert texts(memory) == ["I keep bees"]
    memory.close()


def test_a_backup_onto_a_full_disk_is_told_and_leaves_nothing(
    full_disk: FullDisk, open_memory: Opener, home: Path, tmp_path: Path
) -> None:
    with open_memory(folder=tmp_path / "other") as memory:
        memory.add("I keep bees", infer=False)
        home.mkdir(exist_ok=True)
        with full_disk():
            with pytest.raises(StorageError) as caught:
                memory.backup(home / "backup.zip")
            assert "free some" in caught.value.hint
        assert list(home.iterdir()) == []
        memory.backup(home / "backup.zip")


def test_a_restore_onto_a_full_disk_changes_nothing(full_disk: FullDisk, open_memory: Opener, tmp_path: Path) -> None:
    with open_memory() as memory:
        memory.add("I keep bees", infer=False)
        memory.backup(tmp_path / "backup.zip")
        memory.add("I keep hens", infer=False)
        folder = memory.folder
    with full_disk(), pytest.raises(StorageError) as caught:
        LocalMemory.restore(tmp_path / "backup.zip", folder)
    assert "free some" in caught.value.hint
    with open_memory() as memory:
        assert texts(memory) == ["I keep bees", "I keep hens"]
        assert memory.search("hens").degraded == ()
    LocalMemory.restore(tmp_path / "backup.zip", folder)


@contextlib.contextmanager
def as_an_ordinary_account() -> Iterator[None]:
    """Work as nobody where the tests run as root, whom no permission binds; else as who runs them."""
    if os.geteuid():
        yield
        return
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.fixture
def others_folder() -> Iterator[Path]:
    """A folder of root: one made for this, or for who may not make one the programs' own."""
    if os.geteuid():
        yield Path("/usr")
        return
    parent = Path(tempfile.mkdtemp())
    parent.chmod(0o755)
    folder = parent / "home"
    folder.mkdir(mode=0o755)
    yield folder
    shutil.rmtree(parent)


def test_another_accounts_folder_is_refused_by_its_owners_name(others_folder: Path) -> None:
    before = others_folder.stat()
    with as_an_ordinary_account():
        with pytest.raises(StorageError, match="belongs to the account root") as caught:
            DataFolder(others_folder)
        with pytest.raises(StorageError, match="ermission"):
            DataFolder(others_folder / "deeper")
    assert "work as the account root, or set MCP_MEMORY_HOME" in caught.value.hint
    assert others_folder.stat().st_mode == before.st_mode
    assert not (others_folder / LOCK_NAME).exists()


@pytest.fixture
def own_folder() -> Iterator[Path]:
    """A folder of the ordinary account, in a place that it can reach."""
    with as_an_ordinary_account():
        parent = Path(tempfile.mkdtemp(dir="/tmp"))
        yield parent / "home"
    for path in [parent, *parent.rglob("*")]:
        path.chmod(0o700)
    shutil.rmtree(parent)


def test_a_read_only_folder_is_refused_left_as_it_is_and_usable_once_it_is_writable(own_folder: Path) -> None:
    DataFolder(own_folder).release()
    own_folder.chmod(0o500)
    for _ in range(2):
        with pytest.raises(StorageError, match="Permission denied") as caught:
            DataFolder(own_folder)
        assert "writable for this account" in caught.value.hint
    assert own_folder.stat().st_mode & 0o777 == 0o500
    own_folder.chmod(0o700)
    DataFolder(own_folder).release()


def test_a_read_only_memory_is_told_at_each_step_and_unharmed(own_folder: Path, open_memory: Opener) -> None:
    with open_memory(folder=own_folder) as memory:
        memory.add("I keep bees", infer=False)
    (own_folder / "log.sqlite3").chmod(0o400)
    with (
        open_memory(folder=own_folder) as memory,
        pytest.raises(StorageError, match=r"log.sqlite3 failed") as caught,
    ):
        memory.add("I keep hens", infer=False)
    assert "writable for this account" in caught.value.hint
    (own_folder / "log.sqlite3").chmod(0o600)
    with open_memory(folder=own_folder) as memory:
        assert texts(memory) == ["I keep bees"]


def test_a_folder_is_closed_to_others(home: Path) -> None:
    home.mkdir(mode=0o755)
    home.chmod(0o755)
    DataFolder(home).release()
    assert home.stat().st_mode & 0o777 == 0o700


HOLDER = """
import os, signal, sys
from pathlib import Path
from mcp_memory.folder import DataFolder
held = DataFolder(Path(sys.argv[1]))
print(os.getpid(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def dead_holder(home: Path) -> int:
    """The pid of a process that held the folder and was killed."""
    done = subprocess.run([sys.executable, "-c", HOLDER, str(home)], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    return int(done.stdout)


def test_what_a_killed_holder_left_keeps_nobody_out(open_memory: Opener, home: Path) -> None:
    pid = dead_holder(home)
    assert (home / LOCK_NAME).exists()
    assert json.loads((home / OWNER_NAME).read_text()) == {"pid": pid, "is_engine": False}
    memory = open_memory()
    memory.add("I keep bees", infer=False)
    assert json.loads((home / OWNER_NAME).read_text()) == {"pid": os.getpid(), "is_engine": False}


def test_a_dead_process_is_not_named_as_the_holder(home: Path) -> None:
    pid = dead_holder(home)
    left = (home / OWNER_NAME).read_text()
    held = DataFolder(home)
    # As on a full disk, where the new holder could not say who it is.
    (home / OWNER_NAME).write_text(left)
    with pytest.raises(FolderInUseError, match="in use by process unknown") as caught:
        DataFolder(home)
    assert str(pid) not in caught.value.hint
    held.release()


@pytest.mark.parametrize("content", ["", "torn{", "[]", '{"pid": "x"}', '{"pid": null}'])
def test_an_owners_note_that_is_torn_hides_nothing(home: Path, content: str) -> None:
    held = DataFolder(home)
    (home / OWNER_NAME).write_text(content)
    with pytest.raises(FolderInUseError, match="in use by process unknown"):
        DataFolder(home)
    held.release()


def test_an_engine_that_holds_the_folder_is_to_be_stopped_by_its_command(home: Path) -> None:
    held = DataFolder(home, is_engine=True)
    with pytest.raises(FolderInUseError, match=f"by the memory engine, process {os.getpid()}") as caught:
        DataFolder(home)
    assert "mcp-memory engine stop" in caught.value.hint
    held.release()


def test_with_the_clock_set_back_ids_ascend_and_all_is_found(open_memory: Opener, clock: Clock) -> None:
    memory = open_memory()
    ids, said = [], []
    for number, days in enumerate((0, -1, -400, 3, -3)):
        clock.advance(days=days)
        said.append(f"Statement {number} about the harbour")
        ids.append(memory.add(said[-1], infer=False, run_id="r").results[0].id)
        assert {hit.memory.text for hit in memory.search("harbour statement").hits} == set(said)
    memory.close()
    clock.advance(days=-100)
    memory = open_memory()
    said.append("Statement 5 about the harbour")
    ids.append(memory.add(said[-1], infer=False, run_id="r").results[0].id)
    assert ids == sorted(set(ids))
    assert [record.text for record in memory.list()] == said[::-1]
    assert [record.position for record in memory.list()] == [5, 4, 3, 2, 1, 0]
    assert {hit.memory.text for hit in memory.search("harbour statement").hits} == set(said)
    memory.delete(ids[0])
    assert said[0] not in texts(memory)


def test_with_the_clock_set_back_texts_are_still_read_by_the_language_model(
    open_memory: Opener, clock: Clock, server: OllamaServer
) -> None:
    server.script(facts("The user keeps bees."))
    settings = {"ollama_host": "http://127.0.0.1:9", "add_wait_s": 0.0, "llm_model": "tiny"}
    with open_memory(**settings) as memory:
        assert memory.add("I keep bees").results[0].status == "queued"
    clock.advance(days=-30)
    with open_memory(**settings | {"ollama_host": server.url}) as memory:
        memory.warm()
        assert memory.settle_queue(30)
        assert texts(memory) == ["The user keeps bees."]


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server((HOST, 0)) as listening:
        yield listening


def answering(listening: socket.socket, reply: bytes) -> threading.Thread:
    """Something else that listens: reads what it is told, replies, and hangs up."""

    def answer() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(100_000)
            connection.sendall(reply)

    thread = threading.Thread(target=answer)
    thread.start()
    return thread


@pytest.mark.parametrize("reply", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x00\xff\n", b"[]\n", b"null\n"])
def test_a_port_that_something_else_has_now_is_no_engine(home: Path, listener: socket.socket, reply: bytes) -> None:
    home.mkdir()
    address.publish(home, Address(listener.getsockname()[1], "token", os.getpid(), "0"))
    other = answering(listener, reply)
    assert connect(home, "api") is None
    other.join(timeout=30)


@pytest.mark.parametrize("content", ["", "torn{", "[]", "{}", '{"port": "x", "token": 1, "pid": 2, "version": 3}'])
def test_an_address_that_is_torn_is_no_engine(home: Path, content: str) -> None:
    home.mkdir()
    (home / address.FILE_NAME).write_text(content)
    assert connect(home, "api") is None


def test_the_address_of_a_dead_engine_is_no_engine_and_keeps_nobody_out(
    open_memory: Opener, home: Path, listener: socket.socket
) -> None:
    pid = dead_holder(home)
    port = listener.getsockname()[1]
    listener.close()
    address.publish(home, Address(port, "token", pid, "0"))
    assert connect(home, "api") is None
    with open_memory() as memory:
        memory.add("I keep bees", infer=False)
