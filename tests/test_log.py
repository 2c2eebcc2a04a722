"""The SQLite log: schema and migrations, the message window, events, durability settings, errors."""

import contextlib
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect

from mcp_memory import log_file, migrations, schema
from mcp_memory.errors import StorageError
from mcp_memory.log import Log
from mcp_memory.log_file import configure
from mcp_memory.memory import LocalMemory
from tests.conftest import Clock, Opener
from tests.log_rows import events_of, last_messages


def test_the_migrations_make_the_tables_that_the_code_reads(tmp_path: Path) -> None:
    Log(tmp_path / "log.sqlite3").close()
    found = inspect(create_engine(f"sqlite:///{tmp_path / 'log.sqlite3'}"))
    migrated = {name: {c["name"] for c in found.get_columns(name)} for name in found.get_table_names()}
    migrated.pop("sqlite_sequence", None)
    described = {table.name: {c.name for c in table.columns} for table in schema.metadata.tables.values()}
    assert migrated == described


def test_a_log_of_a_newer_program_is_refused_with_both_versions_and_the_program_to_look_for(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite3"
    Log(path).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE meta SET value = '99' WHERE key = 'schema_version'")
        connection.execute("UPDATE meta SET value = '7.8.9' WHERE key = 'schema_program'")
    found = path.read_bytes()
    with pytest.raises(StorageError, match=rf"has schema 99, mcp-memory .* knows {migrations.SCHEMA_VERSION}") as error:
        Log(path)
    assert error.value.hint == "update mcp-memory to 7.8.9 or newer"
    assert path.read_bytes() == found


@pytest.fixture
def old_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log of an earlier schema whose program died: a part of it is in the write-ahead log only."""
    path = tmp_path / "old" / "log.sqlite3"
    live = tmp_path / "live" / "log.sqlite3"
    path.parent.mkdir()
    live.parent.mkdir()
    log = Log(live)
    log.set_meta(said="before the checkpoint")
    with log.reading() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    log.set_meta(said="in the write-ahead log")
    for name in ("log.sqlite3", "log.sqlite3-wal"):
        shutil.copy(live.with_name(name), path.with_name(name))
    log.close()
    assert path.with_name("log.sqlite3-wal").stat().st_size
    monkeypatch.setattr(migrations, "SCHEMA_VERSION", migrations.SCHEMA_VERSION + 2)
    return path


def migrate_with(monkeypatch: pytest.MonkeyPatch, *statements: str) -> None:
    added = [lambda connection, sql=sql: connection.exec_driver_sql(sql) for sql in statements]
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, *added))


def ask(path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


SAID = "SELECT value FROM meta WHERE key = 'said'"
TABLES = "SELECT name FROM sqlite_master WHERE name IN ('one', 'two') ORDER BY name"


def test_a_migration_leaves_a_whole_copy_of_what_it_found(old_log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    migrate_with(monkeypatch, "CREATE TABLE one (x)", "CREATE TABLE two (x)")
    Log(old_log).close()
    assert ask(old_log, TABLES) == [("one",), ("two",)]
    copy = old_log.with_name(f"log.schema{migrations.SCHEMA_VERSION - 2}.bak")
    assert ask(copy, TABLES) == []
    assert ask(copy, SAID) == ask(old_log, SAID) == [("in the write-ahead log",)]
    assert copy.stat().st_mode & 0o077 == 0


def test_a_failed_migration_leaves_the_log_to_the_program_before_and_names_the_copy(
    old_log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = old_log.with_name(f"log.schema{migrations.SCHEMA_VERSION - 2}.bak")
    with monkeypatch.context() as patch:
        migrate_with(patch, "CREATE TABLE one (x)", "this is no SQL")
        with pytest.raises(StorageError, match="could not be brought from schema") as caught:
            Log(old_log)
        assert str(copy) in caught.value.hint
    # The first of the two is undone with the second.
    assert ask(old_log, TABLES) == []
    monkeypatch.setattr(migrations, "SCHEMA_VERSION", migrations.SCHEMA_VERSION - 2)
    log = Log(old_log)
    assert log.get_meta("said") == "in the write-ahead log"
    log.close()
    assert ask(copy, SAID) == [("in the write-ahead log",)]


def test_without_a_copy_nothing_is_migrated(old_log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    migrate_with(monkeypatch, "CREATE TABLE one (x)", "CREATE TABLE two (x)")
    copy = old_log.with_name(f"log.schema{migrations.SCHEMA_VERSION - 2}.bak")
    copy.mkdir()
    with pytest.raises(StorageError, match="could not be made first"):
        Log(old_log)
    assert ask(old_log, TABLES) == []


def test_a_place_on_which_sqlite_keeps_no_write_ahead_log_is_refused(tmp_path: Path) -> None:
    # Locks by a file beside it, as on some network mounts: then there is no shared memory.
    path = tmp_path / "log.sqlite3"
    with (
        closing(sqlite3.connect(f"file:{path}?vfs=unix-dotfile", uri=True)) as connection,
        pytest.raises(StorageError, match=f"write-ahead log in {tmp_path}.* chose 'delete'") as caught,
    ):
        configure(connection)
    assert "local disk" in caught.value.hint


def test_a_damaged_file_is_named_and_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite3"
    path.write_bytes(b"this is no database" * 100)
    with pytest.raises(StorageError, match="not a database"):
        Log(path)
    assert path.read_bytes().startswith(b"this is no database")


def test_writes_survive_a_power_cut_by_setting(memory: LocalMemory) -> None:
    with memory.stores.log._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


def test_the_window_holds_the_last_ten_messages_of_each_scope(memory: LocalMemory) -> None:
    for number in range(7):
        for run in ("r1", "r2"):
            memory.add(
                messages=[{"content": f"{run} first {number}"}, {"content": f"{run} second {number}"}],
                infer=False,
                run_id=run,
                observed_at=f"2026-01-{20 - number:02}",
            )
    window = last_messages(memory.stores.log, "ana", "python", "r1")
    assert window == [f"r1 {which} {number}" for number in range(2, 7) for which in ("first", "second")]


def test_every_change_leaves_events_with_before_and_after(memory: LocalMemory) -> None:
    receipt = memory.as_agent("cursor").add("I keep bees", infer=False).results[0]
    memory.delete(receipt.id)
    added, deleted = events_of(memory.stores.log, receipt.id)
    assert (added["operation"], added["client"], added["before"]) == ("add", "cursor", None)
    assert (deleted["operation"], deleted["client"]) == ("delete", "python")
    assert deleted["before"]["text"] == "I keep bees"
    assert (deleted["before"]["state"], deleted["after"]["state"]) == ("active", "deleted")
    assert added["change_id"] < deleted["change_id"]


def test_nothing_is_pending_once_upkeep_is_done_and_the_note_survives_reopening(open_memory: Opener) -> None:
    memory = open_memory()
    memory.add("I keep bees with Maria Quintela", infer=False)
    memory.settle()
    assert memory.stores.log.pending().memory_ids == ()
    memory.close()
    assert open_memory().stores.log.pending().memory_ids == ()


def test_a_write_that_fails_changes_nothing(memory: LocalMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.add("I keep bees", infer=False)
    with memory.stores.log._engine.connect() as connection:
        connection.exec_driver_sql(
            "CREATE TRIGGER full BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
    with pytest.raises(StorageError, match="disk full") as caught:
        memory.add("I keep goats", infer=False)
    assert "free some disk space" in caught.value.hint
    # What is logged of it does not show what was said.
    assert caught.value.__cause__
    assert "goats" not in str(caught.value.__cause__)
    assert [record.text for record in memory.list()] == ["I keep bees"]
    assert [hit.memory.text for hit in memory.search("goats bees").hits] == ["I keep bees"]


def test_old_events_are_dropped_and_current_state_is_kept(open_memory: Opener, clock: Clock) -> None:
    memory = open_memory(keep_events_days=30)
    known = memory.add("I keep bees", infer=False, observed_at="2026-06-01").results[0]
    memory.add("I keep bees", infer=False, observed_at="2026-06-10")
    memory.close()
    clock.advance(days=31)
    memory = open_memory(keep_events_days=30)
    memory.add("I keep hens", infer=False)
    memory.settle()
    assert [event["operation"] for event in events_of(memory.stores.log, known.id)] == ["sight"]
    assert sorted(record.text for record in memory.list()) == ["I keep bees", "I keep hens"]
    assert memory.verify().differences == ()


def test_events_are_kept_for_good_where_that_is_set(open_memory: Opener, clock: Clock) -> None:
    memory = open_memory(keep_events_days=0)
    receipt = memory.add("I keep bees", infer=False).results[0]
    memory.close()
    clock.advance(days=30_000)
    memory = open_memory(keep_events_days=0)
    memory.add("I keep hens", infer=False)
    memory.settle()
    assert [event["operation"] for event in events_of(memory.stores.log, receipt.id)] == ["add"]


def test_what_the_tables_have_to_learn_is_no_old_event(open_memory: Opener, clock: Clock) -> None:
    memory = open_memory()
    memory.add("I keep bees", infer=False)
    clock.advance(days=10)
    assert memory.stores.log.drop_events(clock.now) == 0
    assert len(memory.stores.log.pending().memory_ids) <= 1


def test_the_wal_is_made_small_again_after_readers_kept_it_large(
    memory: LocalMemory, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_file, "_LARGE_WAL_BYTES", 40_000)
    wal = home / "log.sqlite3-wal"
    with contextlib.closing(sqlite3.connect(home / "log.sqlite3")) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memories").fetchone()
        for number in range(4):
            memory.add(f"Statement {number} " + "about boats " * 30, infer=False)
        assert wal.stat().st_size > 40_000
    memory.add("One more", infer=False)
    memory.settle()
    assert wal.stat().st_size <= 40_000


@pytest.mark.parametrize("name", ["log.sqlite3", "log.sqlite3-wal"])
@pytest.mark.parametrize("replaced", [False, True])
def test_nothing_is_acknowledged_that_nobody_would_find_again(
    memory: LocalMemory, home: Path, name: str, replaced: bool
) -> None:
    memory.add("I keep bees", infer=False)
    lost = home / name
    lost.rename(home / "elsewhere")
    if replaced:
        shutil.copy(home / "elsewhere", lost)
    with pytest.raises(StorageError, match=f"{name} was removed or replaced while it was in use"):
        memory.add("I keep hens", infer=False)
