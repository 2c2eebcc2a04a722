"""Backups: one file, whole, made while others write; brought back over anything, with nothing lost on the way."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from mcp_memory import cli, migrations
from mcp_memory.embedder import Embedder
from mcp_memory.errors import FolderInUseError, InvalidInputError, McpMemoryError, StorageError
from mcp_memory.log_copy import inspect_log
from mcp_memory.memory import LocalMemory
from tests.conftest import Opener
from tests.stdio_server import Server

runner = CliRunner()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    (tmp_path / "elsewhere").mkdir()
    return tmp_path / "elsewhere" / "backup.zip"


@pytest.fixture
def backup(open_memory: Opener, target: Path) -> Path:
    """A backup of one memory, which has been changed since."""
    memory = open_memory()
    memory.add("I keep bees", infer=False)
    memory.backup(target)
    memory.add("I keep hens", infer=False)
    memory.close()
    return target


def texts(memory: LocalMemory) -> list[str]:
    return sorted(record.text for record in memory.list(limit=1000))


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def edit(backup: Path, **parts: Callable[[bytes], bytes]) -> None:
    """Change members of a backup, named with _ for a dot."""
    with zipfile.ZipFile(backup) as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    with zipfile.ZipFile(backup, "w") as packed:
        for name, content in members.items():
            packed.writestr(name, parts.get(name.replace(".", "_"), bytes)(content))


def manifest_with(**fields: Any) -> Callable[[bytes], bytes]:
    return lambda found: json.dumps(json.loads(found) | fields).encode()


def test_a_backup_says_what_it_holds_and_is_for_its_owner_only(memory: LocalMemory, target: Path) -> None:
    memory.add("I keep bees", infer=False)
    memory.as_client(memory.settings.model_copy(update={"user_id": "ben"}), "desk").add("I keep hens", infer=False)
    result = memory.backup(target)
    assert (result.path, result.n_bytes) == (str(target), target.stat().st_size)
    with zipfile.ZipFile(target) as packed:
        assert sorted(packed.namelist()) == ["log.sqlite3", "manifest.json"]
        manifest = json.loads(packed.read("manifest.json"))
    assert (manifest["format"], manifest["schema"]) == (1, migrations.SCHEMA_VERSION)
    assert manifest["counts"]["active"] == result.manifest.n_memories == 2
    assert target.stat().st_mode & 0o077 == 0
    assert list(target.parent.iterdir()) == [target]


def test_what_was_acknowledged_before_a_backup_is_in_it_while_others_go_on_writing(
    open_memory: Opener, tmp_path: Path, target: Path
) -> None:
    memory = open_memory()
    acknowledged: list[str] = []
    is_done = threading.Event()

    def write() -> None:
        while not is_done.is_set():
            text = f"Statement {len(acknowledged)} about the harbour"
            memory.add(text, infer=False)
            acknowledged.append(text)

    memory.add("The first", infer=False)
    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(3):
            before = list(acknowledged)
            memory.backup(target.with_name(f"{number}.zip"))
            LocalMemory.restore(target.with_name(f"{number}.zip"), tmp_path / f"other-{number}")
            with open_memory(folder=tmp_path / f"other-{number}") as other:
                restored = texts(other)
                assert set(before) <= set(restored)
                assert len(other.search("harbour statement", top_k=100).hits) >= min(len(before), 100)
    finally:
        is_done.set()
        writer.join(timeout=60)
    assert texts(memory) == sorted([*acknowledged, "The first"])


def test_a_restored_memory_searches_as_it_did_and_the_present_one_is_set_aside(
    open_memory: Opener, backup: Path, home: Path
) -> None:
    result = LocalMemory.restore(backup, home)
    memory = open_memory()
    assert texts(memory) == ["I keep bees"]
    hits = memory.search("bees").hits
    assert hits[0].signals.semantic > 0
    assert memory.search("bees").degraded == ()
    memory.close()
    with open_memory(folder=result.set_aside) as before:
        assert texts(before) == ["I keep bees", "I keep hens"]
        assert before.search("hens").degraded == ()


def test_restoring_twice_keeps_both_of_what_was_there(open_memory: Opener, backup: Path, home: Path) -> None:
    first = LocalMemory.restore(backup, home)
    with open_memory() as memory:
        memory.add("I keep goats", infer=False)
    second = LocalMemory.restore(backup, home)
    assert first.set_aside != second.set_aside
    with open_memory(folder=second.set_aside) as between:
        assert texts(between) == ["I keep bees", "I keep goats"]
    with open_memory() as memory:
        assert texts(memory) == ["I keep bees"]


def test_a_backup_moves_to_a_new_folder_with_its_settings_and_its_user(
    open_memory: Opener, target: Path, home: Path, tmp_path: Path
) -> None:
    home.mkdir()
    (home / "settings.toml").write_text("floor = 0.2\n")
    with open_memory(user_id="") as memory:
        memory.add("I keep bees", infer=False)
        user = memory.user_id
        memory.backup(target)
    result = LocalMemory.restore(target, tmp_path / "new")
    assert result.set_aside == ""
    with open_memory(folder=tmp_path / "new", user_id="") as moved:
        assert (texts(moved), moved.user_id, moved.settings.floor) == (["I keep bees"], user, 0.2)


def test_settings_stay_where_the_backup_brings_none(backup: Path, home: Path) -> None:
    (home / "settings.toml").write_text("floor = 0.2\n")
    LocalMemory.restore(backup, home)
    assert (home / "settings.toml").read_text() == "floor = 0.2\n"


@pytest.mark.parametrize("content", [b"this is no database" * 300, b""])
def test_a_damaged_memory_is_replaced_and_kept_with_its_write_ahead_log(
    open_memory: Opener, backup: Path, home: Path, content: bytes
) -> None:
    (home / "log.sqlite3").write_bytes(content)
    (home / "log.sqlite3-wal").write_bytes(b"rest of it" * 100)
    result = LocalMemory.restore(backup, home)
    assert (Path(result.set_aside) / "log.sqlite3").read_bytes() == content
    with open_memory() as memory:
        assert texts(memory) == ["I keep bees"]


def test_what_a_killed_engine_left_in_the_write_ahead_log_is_set_aside_too(
    open_memory: Opener, backup: Path, home: Path, tmp_path: Path
) -> None:
    memory = open_memory()
    memory.add("I keep goats", infer=False)
    killed = tmp_path / "killed"
    killed.mkdir()
    for name in ("log.sqlite3", "log.sqlite3-wal"):
        shutil.copy(home / name, killed / name)
    assert (killed / "log.sqlite3-wal").stat().st_size
    memory.close()
    result = LocalMemory.restore(backup, killed)
    with open_memory(folder=killed) as restored, open_memory(folder=result.set_aside) as before:
        assert texts(restored) == ["I keep bees"]
        assert texts(before) == ["I keep bees", "I keep goats", "I keep hens"]


def test_a_lost_log_is_brought_back(open_memory: Opener, backup: Path, home: Path) -> None:
    (home / "log.sqlite3").unlink()
    LocalMemory.restore(backup, home)
    with open_memory() as memory:
        assert texts(memory) == ["I keep bees"]


# Restores in a child of its own, which is killed at the n-th change of a name; n comes as a line.
KILLED = """
import os, signal, sys
from datetime import datetime
from pathlib import Path
from mcp_memory import restore

left = 0

def counted(change):
    def counting(*given, **named):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return change(*given, **named)
    return counting

for owner, name in ((Path, "rename"), (Path, "replace"), (Path, "mkdir"), (os, "link"), (restore, "sync")):
    setattr(owner, name, counted(getattr(owner, name)))
for line in sys.stdin:
    left = int(line)
    child = os.fork()
    if not child:
        restore.restore(sys.argv[1], Path(sys.argv[2]), datetime(2026, 1, 1))
        os._exit(0)
    print(os.waitpid(child, 0)[1], flush=True)
"""


@pytest.mark.slow
def test_a_restore_killed_at_any_step_leaves_the_old_or_the_new_memory_and_can_be_repeated(
    open_memory: Opener, backup: Path, home: Path
) -> None:
    (home / "settings.toml").write_text("floor = 0.2\n")
    source = backup.with_name("with-settings.zip")
    with open_memory() as memory:
        memory.backup(source)
    command = [sys.executable, "-c", KILLED, str(source), str(home)]
    found: list[list[str]] = []
    status = "9"
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as restorer:
        assert restorer.stdin
        assert restorer.stdout
        while status == "9" and len(found) < 100:
            print(len(found) + 1, file=restorer.stdin, flush=True)
            status = restorer.stdout.readline().strip()
            with open_memory() as memory:
                found.append(texts(memory))
                assert memory.search("bees").degraded == ()
                memory.add(f"Added after kill {len(found)}", infer=False)
        restorer.stdin.close()
    kept = ["I keep bees", "I keep hens"]
    assert (status, found[-1]) == ("0", kept)
    assert len(found) > 8
    for n_before, held in enumerate(found):
        # The memory as it was restored last, or with all that has been added since.
        added = [text for text in held if text not in kept]
        assert len(held) - len(added) == len(kept)
        assert added == [] or f"Added after kill {n_before}" in added


@pytest.mark.parametrize(
    ("make", "told"),
    [
        pytest.param(lambda path: path.unlink(), "there is no file", id="no file"),
        pytest.param(lambda path: (path.unlink(), path.mkdir()), "is a folder", id="a folder"),
        pytest.param(lambda path: path.write_bytes(b"hello"), "is no backup", id="another file"),
        pytest.param(lambda path: path.write_bytes(b""), "is no backup", id="an empty file"),
        pytest.param(lambda path: zipfile.ZipFile(path, "w").close(), "is no backup", id="another archive"),
        pytest.param(lambda path: os.truncate(path, path.stat().st_size - 9), "was cut short", id="cut"),
        pytest.param(lambda path: os.truncate(path, 1000), "was cut short", id="cut in the log"),
        pytest.param(
            lambda path: edit(path, manifest_json=manifest_with(log_sha256="0" * 64)), "its manifest says", id="hash"
        ),
        pytest.param(lambda path: edit(path, log_sqlite3=lambda log: log[:-4096]), "its manifest says", id="log cut"),
        pytest.param(
            lambda path: edit(path, manifest_json=lambda _: b"{}"), "manifest in .* cannot be read", id="manifest"
        ),
        pytest.param(
            lambda path: edit(path, manifest_json=manifest_with(schema=99, program="7.8.9")),
            "has schema 99, mcp-memory .* knows .*update mcp-memory to 7.8.9 or newer",
            id="newer schema",
        ),
        pytest.param(
            lambda path: edit(path, manifest_json=lambda _: b'{"format": 9, "program": "7.8.9"}'),
            "has format 9, mcp-memory .* knows 1 .*update mcp-memory to 7.8.9 or newer",
            id="newer format",
        ),
    ],
)
def test_what_is_no_whole_backup_is_refused_before_anything_is_touched(
    backup: Path, home: Path, make: Callable[[Path], object], told: str
) -> None:
    make(backup)
    before = everything(home)
    with pytest.raises(McpMemoryError, match=told):
        LocalMemory.restore(backup, home)
    assert everything(home) == before


def test_each_changed_byte_of_a_backup_is_found(backup: Path, home: Path) -> None:
    whole = backup.read_bytes()
    before = everything(home)
    # The last bytes are the archive's list of contents, where dates are that nobody reads.
    for place in range(100, len(whole) - 400, len(whole) // 40):
        backup.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        with pytest.raises(McpMemoryError):
            LocalMemory.restore(backup, home)
    assert everything(home) == before


def test_a_log_that_sqlite_finds_damaged_is_refused_though_its_hash_is_right(backup: Path, home: Path) -> None:
    import hashlib

    def damage(log: bytes) -> bytes:
        return log[:4096] + b"\xff" * 4096 * 3 + log[4096 * 4 :]

    with zipfile.ZipFile(backup) as packed:
        damaged = damage(packed.read("log.sqlite3"))
    edit(backup, log_sqlite3=damage, manifest_json=manifest_with(log_sha256=hashlib.sha256(damaged).hexdigest()))
    before = everything(home)
    with pytest.raises(StorageError, match="is damaged"):
        LocalMemory.restore(backup, home)
    assert everything(home) == before


def test_a_folder_that_is_in_use_is_not_restored(
    open_memory: Opener, backup: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_memory.restore._ENDING_S", 0.0)
    memory = open_memory()
    with pytest.raises(FolderInUseError, match=f"in use by process {os.getpid()}.*restore again"):
        LocalMemory.restore(backup, home)
    assert texts(memory) == ["I keep bees", "I keep hens"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("elsewhere/taken.zip", "exists"),
        ("elsewhere", "is a folder"),
        ("missing/backup.zip", "there is no folder"),
        ("home/backup.zip", "lies in the data folder"),
        ("link/backup.zip", "lies in the data folder"),
        ("elsewhere/nowhere", "exists"),
    ],
)
def test_a_target_that_is_none_is_named_and_nothing_is_overwritten(
    memory: LocalMemory, tmp_path: Path, target: Path, name: str, told: str
) -> None:
    target.with_name("taken.zip").write_text("mine")
    target.with_name("nowhere").symlink_to(tmp_path / "gone")
    (tmp_path / "link").symlink_to(tmp_path / "home")
    with pytest.raises(InvalidInputError, match=told):
        memory.backup(tmp_path / name)
    assert target.with_name("taken.zip").read_text() == "mine"


def test_a_disk_without_hard_links_takes_a_backup_too(
    memory: LocalMemory, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.add("I keep bees", infer=False)

    def link(*_names: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    # As memory sticks do.
    monkeypatch.setattr(os, "link", link)
    memory.backup(target)
    assert list(target.parent.iterdir()) == [target]
    with pytest.raises(InvalidInputError, match="exists"):
        memory.backup(target)


def test_a_name_that_is_taken_while_a_backup_is_made_is_not_overwritten(
    memory: LocalMemory, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def taking(path: Path) -> Any:
        target.write_text("mine")
        return inspect_log(path)

    monkeypatch.setattr("mcp_memory.backup.inspect_log", taking)
    with pytest.raises(InvalidInputError, match="exists"):
        memory.backup(target)
    assert target.read_text() == "mine"
    assert list(target.parent.iterdir()) == [target]


def test_a_damaged_log_makes_no_backup(open_memory: Opener, target: Path, home: Path) -> None:
    memory = open_memory()
    memory.add("I keep bees", infer=False)
    memory.close()
    log = home / "log.sqlite3"
    with closing(sqlite3.connect(log)) as found:
        page, size = found.execute("SELECT rootpage FROM sqlite_master WHERE name = 'episodes'").fetchone()[0], 4096
    content = bytearray(log.read_bytes())
    content[(page - 1) * size : page * size] = b"\xff" * size
    log.write_bytes(content)
    with pytest.raises(StorageError, match=r"damaged|malformed"):
        open_memory().backup(target)
    assert list(target.parent.iterdir()) == []


@pytest.fixture
def model_at_hand(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_memory.memory.Embedder", lambda *_: embedder)
    monkeypatch.setenv("MCP_MEMORY_USER_ID", "ana")


def run(*arguments: str) -> Result:
    return runner.invoke(cli.app, list(arguments))


@pytest.mark.usefixtures("model_at_hand")
def test_the_command_line_backs_up_and_restores(target: Path) -> None:
    empty = run("backup", str(target))
    assert (empty.exit_code, "there is no memory in" in empty.stderr) == (1, True)
    run("add", "I keep bees")
    done = run("backup", str(target))
    assert done.exit_code == 0, done.output
    assert f"1 memories in {target}" in done.stdout
    assert "LanceDB's tables are made anew from the log" in done.stdout
    again = run("backup", str(target))
    assert (again.exit_code, "exists" in again.stderr) == (1, True)
    run("add", "I keep hens")
    restored = run("restore", str(target))
    assert restored.exit_code == 0, restored.output
    assert "1 memories of " in restored.stdout
    assert "what was there before is in " in restored.stdout
    assert json.loads(run("stats", "--json").stdout)["active"] == 1
    as_json = json.loads(run("restore", str(target), "--json").stdout)
    assert as_json["active"] == 1
    assert Path(as_json["set_aside"]).is_dir()


@pytest.mark.slow
def test_a_running_engine_makes_the_backup_and_is_to_be_stopped_before_a_restore(
    start: Callable[..., Server], home: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_MEMORY_ENGINE_IDLE_S", "1")
    host = start(shared=True)
    host.initialize()
    host.call("add_memory", text="I keep bees", infer=False)
    monkeypatch.chdir(target.parent)
    made = run("backup", target.name)
    assert made.exit_code == 0, made.output
    assert f"1 memories in {target}" in made.stdout
    taken = run("backup", target.name)
    assert (taken.exit_code, "exists" in taken.stderr) == (1, True)
    host.call("add_memory", text="I keep hens", infer=False)
    refused = run("restore", target.name)
    assert refused.exit_code == 1
    assert "run: mcp-memory engine stop" in refused.stderr
    assert run("engine", "stop").exit_code == 0
    restored = run("restore", target.name)
    assert restored.exit_code == 0, restored.output
    found = host.call("search_memory", query="What do I keep?")["structuredContent"]["memories"]
    assert [memory["text"] for memory in found] == ["I keep bees"]
    assert host.end() == 0
    run("engine", "stop")
