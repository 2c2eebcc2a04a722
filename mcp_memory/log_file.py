"""The SQLite file of the log: opened and brought to the present schema, its transactions, and errors with a way out."""

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, create_engine, event, select
from sqlalchemy.dialects.sqlite import insert as upsert
from sqlalchemy.exc import SQLAlchemyError

from . import migrations
from .disk import sync
from .errors import StorageError
from .log_copy import copy_log, draft_beside
from .place import no_wal
from .schema import meta
from .version import __version__

_PROGRAM = "schema_program"

# Twice the size at which SQLite folds it by itself.
_LARGE_WAL_BYTES = 8_000_000
_BUSY_MS = 5000


class LogFile:
    """An open file. Reads come from any thread; the caller lets one thread write at a time."""

    def __init__(self, path: Path) -> None:
        """Open or create the file and bring it to the present schema.

        Raises:
            StorageError: it cannot be opened, is damaged, or was written by a newer program.
        """
        self.path = path
        self._is_closed = False
        # Parameters are what people said: errors, which are logged, must not show them.
        self._engine = create_engine(
            URL.create("sqlite", database=str(path)), isolation_level="AUTOCOMMIT", hide_parameters=True
        )
        event.listen(self._engine, "connect", lambda connection, _record: configure(connection))
        with self._translating(), self._engine.connect() as connection:
            self._migrate(connection)
        # Which files these are: those of the same name may be others one day.
        self._wal_path = path.with_name(f"{path.name}-wal")
        self._file, self._wal = _identity(path), _identity(self._wal_path)

    def close(self) -> None:
        """Record what was left to record, fold the WAL into the file, and let go of it for good. Safe to repeat."""
        if self._is_closed:
            return
        self._is_closed = True
        with contextlib.suppress(SQLAlchemyError), self._engine.connect() as connection:
            self._before_closing(connection)
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        self._engine.dispose()

    def _before_closing(self, connection: Connection) -> None:
        """What is to be written on the last connection; a failure there does not keep the file open."""

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection to read from; failures become `StorageError`."""
        with self._translating(), self._engine.connect() as connection:
            yield connection

    def rows(self, query: str, **given: Any) -> list[tuple[Any, ...]]:
        """The rows of a query in SQL as SQLite has them; failures become `StorageError`."""
        with self._translating(), self._engine.connect() as connection:
            try:
                return _driver_connection(connection).execute(query, given).fetchall()
            except sqlite3.Error as exc:
                raise StorageError(f"the log {self.path} failed: {exc}", hint=_hint(str(exc))) from exc

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection in a transaction, committed at the end of the block; failures become `StorageError`."""
        self._check_in_place()
        with self._translating(), self._engine.connect() as connection, _transaction(connection):
            yield connection
        if not self._wal:
            self._wal = _identity(self._wal_path)

    def _check_in_place(self) -> None:
        """Refuse to write to files that nobody will find again: SQLite would not notice."""
        is_log_there = _identity(self.path) == self._file
        if is_log_there and (not self._wal or _identity(self._wal_path) == self._wal):
            return
        lost = self._wal_path if is_log_there else self.path
        raise StorageError(
            f"{lost} was removed or replaced while it was in use: nothing more is stored",
            hint=f"end process {os.getpid()} and start again; see whether a backup is needed",
        )

    def get_meta(self, key: str) -> str:
        """A recorded property of the folder, '' where there is none."""
        with self.reading() as connection:
            return _meta(connection, key)

    def set_meta(self, **values: str) -> None:
        """Record properties of the folder, replacing earlier values."""
        with self.writing() as connection:
            for key, value in values.items():
                write_meta(connection, key, value)

    def fold_wal(self) -> None:
        """Fold the WAL into the file and empty it, when it has become large; call while nothing is being written.

        SQLite folds it by itself, but never makes it smaller, and not at all while one reader follows the other.
        """
        try:
            is_large = self.path.with_name(f"{self.path.name}-wal").stat().st_size > _LARGE_WAL_BYTES
        except OSError:
            return
        if is_large:
            with self.reading() as connection:
                # A reader that takes long would hold every writer up: it is for the next time then.
                connection.exec_driver_sql("PRAGMA busy_timeout=0")
                try:
                    connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
                finally:
                    connection.exec_driver_sql(f"PRAGMA busy_timeout={_BUSY_MS}")

    def squeeze(self) -> None:
        """Write the file anew, without what was deleted from it, and empty the WAL. Call while nothing is written.

        Raises:
            StorageError: it could not be written, or somebody was reading all the while; nothing is lost.
        """
        with self.reading() as connection:
            connection.exec_driver_sql("VACUUM")
            if connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()[0]:
                raise StorageError(f"{self._wal_path} is being read and could not be emptied", hint="try again")

    def copies_before_migrating(self) -> list[Path]:
        """The copies that were made before the file was brought to a newer schema."""
        return sorted(self.path.parent.glob(f"{self.path.stem}.schema*.bak"))

    def check(self) -> str:
        """'ok', or what SQLite's own check finds wrong with the file."""
        with self.reading() as connection:
            return str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar())

    def copy(self, target: Path) -> None:
        """Write the log as of now into a new file, while reading and writing go on.

        Raises:
            StorageError: the log cannot be read.
            OSError: the file exists, or cannot be written.
        """
        try:
            with self.reading() as connection:
                copy_log(_driver_connection(connection), target)
        except sqlite3.OperationalError as exc:
            raise StorageError(f"the copy {target} could not be written: {exc}", hint=_hint(str(exc))) from exc
        except sqlite3.Error as exc:
            raise StorageError(f"the log {self.path} cannot be copied: {exc}", hint=_hint(str(exc))) from exc

    def _migrate(self, connection: Connection) -> None:
        version = _schema_version(connection)
        if version > migrations.SCHEMA_VERSION:
            raise newer_schema(str(self.path), version, migrations.SCHEMA_VERSION, _meta(connection, _PROGRAM))
        if version == migrations.SCHEMA_VERSION:
            return
        copy = self._copy_before_migrating(connection, version) if version else None
        try:
            # All of them or none: whoever meets a failure goes on with the program that knows the schema as it is.
            with _transaction(connection):
                for migrate in migrations.MIGRATIONS[version:]:
                    migrate(connection)
                write_meta(connection, "schema_version", str(migrations.SCHEMA_VERSION))
                write_meta(connection, _PROGRAM, __version__)
        except Exception as exc:
            if copy is None:
                raise
            cause = getattr(exc, "orig", None) or exc
            raise StorageError(
                f"{self.path} could not be brought from schema {version} to {migrations.SCHEMA_VERSION}: {cause}",
                hint=f"it is as it was, with a copy in {copy}: {_hint(str(cause))},"
                " or go on with the mcp-memory that you had before",
            ) from exc

    def _copy_before_migrating(self, connection: Connection, version: int) -> Path:
        copy = self.path.with_suffix(f".schema{version}.bak")
        try:
            with draft_beside(copy) as draft:
                copy_log(_driver_connection(connection), draft)
                draft.replace(copy)
                sync(copy.parent)
        except (OSError, sqlite3.Error) as exc:
            raise StorageError(
                f"{self.path} was not brought from schema {version} to {migrations.SCHEMA_VERSION}:"
                f" the copy {copy} could not be made first: {exc}",
                hint=_hint(str(exc)),
            ) from exc
        return copy

    @contextlib.contextmanager
    def _translating(self) -> Iterator[None]:
        if self._is_closed:
            raise StorageError(f"the log {self.path} has been closed", hint="open the memory again")
        try:
            yield
        except SQLAlchemyError as exc:
            cause = getattr(exc, "orig", None) or type(exc).__name__
            raise StorageError(f"the log {self.path} failed: {cause}", hint=_hint(str(cause))) from exc


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file a name leads to, None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def write_meta(connection: Connection, key: str, value: str) -> None:
    """Record a property of the folder on an open connection, replacing an earlier value."""
    statement = upsert(meta).values(key=key, value=value)
    connection.execute(statement.on_conflict_do_update(index_elements=["key"], set_={"value": value}))


def configure(connection: sqlite3.Connection) -> None:
    """Have a connection write durably and beside the file, so that it is read meanwhile.

    Raises:
        StorageError: the file system does not allow it.
    """
    cursor = connection.cursor()
    # Before the mode, which may have to wait for another connection's change of it.
    for pragma in (f"busy_timeout={_BUSY_MS}", "synchronous=FULL"):
        cursor.execute(f"PRAGMA {pragma}")
    mode = cursor.execute("PRAGMA journal_mode=WAL").fetchone()[0]
    if mode != "wal":
        path = cursor.execute("PRAGMA database_list").fetchone()[2]
        raise no_wal(Path(path).parent, mode)
    cursor.close()


@contextlib.contextmanager
def _transaction(connection: Connection) -> Iterator[None]:
    # The driver begins transactions late and as readers; a writer says so at once.
    connection.exec_driver_sql("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.exec_driver_sql("ROLLBACK")
        raise
    connection.exec_driver_sql("COMMIT")


def _schema_version(connection: Connection) -> int:
    has_meta = connection.exec_driver_sql("SELECT 1 FROM sqlite_master WHERE name = 'meta'").scalar()
    if not has_meta:
        return 0
    return int(_meta(connection, "schema_version") or 0)


def _meta(connection: Connection, key: str) -> str:
    return str(connection.scalar(select(meta.c.value).where(meta.c.key == key)) or "")


def _driver_connection(connection: Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver


def newer_schema(what: str, version: int, known: int, program: str) -> StorageError:
    """That a log was written by a newer program; '' for one that did not leave its version."""
    return StorageError(
        f"{what} has schema {version}, mcp-memory {__version__} knows {known}",
        hint=f"update mcp-memory to {f'{program} or newer' if program else 'the version that wrote it'}",
    )


def _hint(message: str) -> str:
    for clue, hint in (
        ("full", "free some disk space and try again"),
        ("readonly", "make the data folder writable for this account"),
        ("read-only", "make the data folder writable for this account"),
        ("unable to open", "check that the data folder exists and belongs to this account"),
        ("malformed", "the file is damaged: run mcp-memory restore, with the last backup"),
        ("not a database", "the file is damaged: run mcp-memory restore, with the last backup"),
        ("locked", "another program holds the file: close it and try again"),
        ("No space left", "free some disk space and try again"),
        ("disk I/O", "free some disk space, see whether the disk is sound, and try again"),
        ("too large", "free some disk space, or raise the limit for the size of files, and try again"),
    ):
        if clue in message:
            return hint
    return "run: mcp-memory doctor"
