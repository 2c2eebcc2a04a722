"""The LanceDB tables: memories and entities with their vectors, derived from the log and rebuildable.

The one place that knows LanceDB, its filters and its distances. Every write is an upsert by id, so that it
can be repeated; nothing relies on LanceDB for uniqueness or durability.
"""

import contextlib
import json
import os
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .disk import is_machines_fault, sync
from .errors import StorageError
from .records import Entity, Memory
from .reports import TableName

if TYPE_CHECKING:
    import lancedb
    import pyarrow as pa

Vectors = NDArray[np.float32]
# Older versions of a table are kept this long, for readers that are in the middle of one.
_KEEP_VERSIONS = timedelta(minutes=1)
_MAX_IDS = 500
_COPIED_AT_ONCE = 8192
# What LanceDB and its libraries say in words of their own; whatever else they report, other than what the system said,
# means that the files cannot be used as they are.
_OF_THE_MACHINE = ("no space", "storage full", "quota", "read-only", "out of memory")
_REBUILD = "run: mcp-memory rebuild"


class TablesDamagedError(StorageError):
    """LanceDB's files are not what LanceDB wrote: the tables have to be made anew from the log."""

    code = "tables_damaged"


@dataclass(frozen=True, slots=True)
class StoredVectors:
    """Vectors of a user as they lie in the table: parallel arrays, one row per chunk."""

    ids: list[str]
    chunks: list[int]
    vectors: Vectors


class Tables:
    """Both tables of one data folder, opened by one process; safe to use from several threads."""

    def __init__(self, path: Path, dimension: int) -> None:
        """Open the tables, creating what is missing with scalar indices from the first row on.

        Raises:
            TablesDamagedError: the files cannot be made sense of, or hold vectors of another dimension.
            StorageError: they cannot be read or written.
        """
        # Its warnings are about our own short-lived versions.
        os.environ.setdefault("LANCEDB_LOG", "error")
        import lancedb

        self.path = path
        self.dimension = dimension
        # Serialises writers: LanceDB would let two upserts of a new id both insert.
        self._writing = threading.RLock()
        with _translating(path):
            self._database = lancedb.connect(path)
            # Asking a table for its schema is a round trip to its background thread.
            self._memory_schema, self._entity_schema = _memory_schema(dimension), _entity_schema(dimension)
            self._memories = self._open("memories", self._memory_schema)
            self._entities = self._open("entities", self._entity_schema)
            # Writes since the last compaction, an earlier process's among them: each left a small fragment.
            self.n_unoptimized = max(
                table.stats()["fragment_stats"]["num_small_fragments"] for table in (self._memories, self._entities)
            )

    def _open(self, name: str, schema: "pa.Schema") -> "lancedb.table.Table":
        from lancedb.index import Bitmap, BTree

        if name in self._database.list_tables().tables:
            table = self._database.open_table(name)
            if table.schema != schema:
                raise TablesDamagedError(
                    f"table {name!r} in {self.path} has another form than this program writes", hint=_REBUILD
                )
        else:
            table = self._database.create_table(name, schema=schema)
        indexed = {column for index in table.list_indices() for column in index.columns}
        for column, config in (("id", BTree()), ("user_id", Bitmap())):
            if column not in indexed:
                table.create_index(column, config=config)
        return table

    # Writing

    def put_memories(self, memories: Sequence[Memory], vectors: Mapping[str, Vectors]) -> None:
        """Upsert memories with their chunk vectors, shape (n_chunks, dimension) each, by memory id."""
        rows = [
            row for memory in memories for row in _memory_rows(memory, _checked(vectors[memory.id], self.dimension))
        ]
        self._upsert(self._memories, self._memory_schema, ["id", "chunk"], rows)

    def put_entities(self, entities: Sequence[Entity], vectors: Mapping[str, Vectors]) -> None:
        """Upsert entities with the vector of their name, shape (dimension,), by entity id."""
        rows = [
            entity_fields(entity) | {"vector": _checked(vectors[entity.id][None], self.dimension)[0]}
            for entity in entities
        ]
        self._upsert(self._entities, self._entity_schema, ["id"], rows)

    def delete_memories(self, ids: Sequence[str]) -> None:
        """Remove every chunk of these memories; unknown ids are fine."""
        self._delete(self._memories, ids)

    def delete_entities(self, ids: Sequence[str]) -> None:
        """Remove these entities; unknown ids are fine."""
        self._delete(self._entities, ids)

    def _upsert(
        self, table: "lancedb.table.Table", schema: "pa.Schema", keys: list[str], rows: Sequence[Mapping[str, Any]]
    ) -> None:
        import pyarrow as pa

        if not rows:
            return
        data = pa.Table.from_pylist([dict(row) for row in rows], schema=schema)
        with self._writing, _translating(self.path):
            table.merge_insert(keys).when_matched_update_all().when_not_matched_insert_all().execute(data)
            self.n_unoptimized += 1

    def _delete(self, table: "lancedb.table.Table", ids: Sequence[str]) -> None:
        from lancedb import col

        if not ids:
            return
        with self._writing, _translating(self.path):
            for start in range(0, len(ids), _MAX_IDS):
                table.delete(col("id").isin(list(ids[start : start + _MAX_IDS])))
                self.n_unoptimized += 1

    def optimize(self) -> None:
        """Merge small files, fold new rows into the indices, drop versions older than a minute."""
        with self._writing, _translating(self.path), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for table in (self._memories, self._entities):
                table.optimize(cleanup_older_than=_KEEP_VERSIONS)
            self.n_unoptimized = 0

    def sync(self) -> None:
        """Have the operating system write every file of the tables to the disk; LanceDB never does."""
        with self._writing, _translating(self.path):
            for folder, _, names in os.walk(self.path):
                for name in names:
                    sync(Path(folder, name))
                sync(Path(folder))

    def copy_into(self, other: "Tables", wanted: Mapping[TableName, Set[str]]) -> Iterator[int]:
        """Write the rows of some ids into other tables, which are empty, as they are; yields how many at a time.

        Nothing may be written to these meanwhile.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        for name, ids in wanted.items():
            keep = pa.array(sorted(ids), pa.string())
            with _translating(self.path):
                batches = iter(self._named(name).search().to_batches(_COPIED_AT_ONCE))
            while True:
                with _translating(self.path):
                    batch = next(batches, None)
                if batch is None:
                    break
                rows = pa.Table.from_batches([batch])
                rows = rows.filter(pc.is_in(rows.column("id"), value_set=keep))
                if not rows.num_rows:
                    continue
                with other._writing, _translating(other.path):
                    other._named(name).add(rows)
                    other.n_unoptimized += 1
                yield rows.num_rows

    # Reading

    def keys(self, name: TableName) -> list[tuple[str, int]]:
        """(id, chunk) of every row of a table, read without an index; entities have chunk 0 only."""
        columns = ["id", "chunk"] if name == "memories" else ["id"]
        with _translating(self.path):
            found = self._named(name).search().select(columns).to_arrow()
            ids = found.column("id").to_pylist()
            chunks = found.column("chunk").to_pylist() if name == "memories" else [0] * len(ids)
            return list(zip(ids, chunks, strict=True))

    def rows(self, name: TableName, ids: Sequence[str]) -> list[dict[str, Any]]:
        """The rows of these ids with all columns, `vector` as an array, as the index of ids finds them."""
        from lancedb import col

        table = self._named(name)
        rows: list[dict[str, Any]] = []
        with _translating(self.path):
            for start in range(0, len(ids), _MAX_IDS):
                found = table.search().where(col("id").isin(list(ids[start : start + _MAX_IDS]))).to_arrow()
                vectors = found.column("vector").combine_chunks().flatten().to_numpy(zero_copy_only=False)
                fields = found.drop_columns(["vector"]).to_pylist()
                reshaped = vectors.reshape(len(fields), self.dimension)
                rows += [row | {"vector": vector} for row, vector in zip(fields, reshaped, strict=True)]
        return rows

    def ids_of(self, name: TableName, user_id: str) -> set[str]:
        """The ids of a user's rows, as the index of users finds them."""
        from lancedb import col, lit

        with _translating(self.path):
            found = self._named(name).search().where(col("user_id") == lit(user_id)).select(["id"]).to_arrow()
            return set(found.column("id").to_pylist())

    def _named(self, name: TableName) -> "lancedb.table.Table":
        return self._memories if name == "memories" else self._entities

    def vectors_of(self, user_id: str) -> StoredVectors:
        """All vectors of a user's memories."""
        return self._vectors_of(self._memories, user_id)

    def entity_vectors_of(self, user_id: str) -> StoredVectors:
        """The vectors of a user's entities, chunk 0 each."""
        return self._vectors_of(self._entities, user_id)

    def memory_ids(self) -> list[str]:
        """The id of every memory held, once for each time it is held (chunk 0)."""
        return [identifier for identifier, chunk in self.keys("memories") if chunk == 0]

    def entity_ids(self) -> list[str]:
        """The id of every entity held, once for each time it is held."""
        return [identifier for identifier, _ in self.keys("entities")]

    def count_unindexed(self) -> int:
        """Rows that no scalar index covers yet; they are found all the same, by a scan."""
        with _translating(self.path):
            return max((index.num_unindexed_rows or 0 for index in self._memories.list_indices()), default=0)

    def _vectors_of(self, table: "lancedb.table.Table", user_id: str) -> StoredVectors:
        from lancedb import col, lit

        has_chunks = "chunk" in table.schema.names
        columns = ["id", "chunk", "vector"] if has_chunks else ["id", "vector"]
        with _translating(self.path):
            found = table.search().where(col("user_id") == lit(user_id)).select(columns).to_arrow()
        flat = found.column("vector").combine_chunks().flatten().to_numpy(zero_copy_only=False)
        return StoredVectors(
            ids=found.column("id").to_pylist(),
            chunks=found.column("chunk").to_pylist() if has_chunks else [0] * found.num_rows,
            vectors=flat.reshape(found.num_rows, self.dimension).astype(np.float32, copy=False),
        )


@contextlib.contextmanager
def _translating(path: Path) -> Iterator[None]:
    # LanceDB reports most failures as bare RuntimeError, OSError or ValueError.
    try:
        yield
    except (OSError, RuntimeError, ValueError, OverflowError) as exc:
        raise _translated(path, exc) from exc
    except BaseException as exc:
        # What its Rust code did not foresee, such as a length that a changed byte made absurd.
        if type(exc).__name__ != "PanicException":
            raise
        raise _translated(path, exc) from exc


def _translated(path: Path, exc: BaseException) -> StorageError:
    first_line = str(exc).splitlines()[0] if str(exc) else type(exc).__name__
    message = f"LanceDB in {path} failed: {first_line}"
    if is_machines_fault(str(exc)) or any(clue in str(exc).lower() for clue in _OF_THE_MACHINE):
        return StorageError(message, hint="check disk space and permissions")
    return TablesDamagedError(message, hint=_REBUILD)


def _checked(vectors: Vectors, dimension: int) -> Vectors:
    # LanceDB's own messages about shape and NaN mislead.
    if vectors.ndim != 2 or vectors.shape[1] != dimension or not np.isfinite(vectors).all():
        raise StorageError(
            f"a vector of shape {vectors.shape} does not fit {dimension} finite numbers",
            hint="check the embedding model: run mcp-memory doctor",
        )
    return vectors


def _memory_schema(dimension: int) -> "pa.Schema":
    import pyarrow as pa

    time = pa.timestamp("us", tz="UTC")
    text = ("id", "user_id", "agent_id", "run_id", "speaker", "role", "about", "kind", "text", "lemmas", "hash",
            "language", "superseded_by", "state", "episode_id", "metadata", "model", "prompt", "revision")  # fmt: skip
    times = ("observed_at", "created_at", "updated_at", "expires_at", "valid_from", "invalid_at", "closed_at")
    return pa.schema(
        [pa.field(name, pa.string(), nullable=False) for name in text]
        + [pa.field(name, time, nullable=name not in times[:3]) for name in times]
        + [
            pa.field("position", pa.int64(), nullable=False),
            pa.field("importance", pa.float64(), nullable=False),
            pa.field("chunk", pa.int32(), nullable=False),
            pa.field("vector", pa.list_(pa.float32(), dimension), nullable=False),
        ]
    )


def _entity_schema(dimension: int) -> "pa.Schema":
    import pyarrow as pa

    text = ("id", "user_id", "name", "name_key", "type", "revision")
    return pa.schema(
        [pa.field(name, pa.string(), nullable=False) for name in text]
        + [pa.field("vector", pa.list_(pa.float32(), dimension), nullable=False)]
    )


def memory_fields(memory: Memory, chunk: int) -> dict[str, Any]:
    """The columns of a chunk's row without its vector; the first holds the text for all."""
    row = {name: getattr(memory, name) for name in memory.__slots__} | {"chunk": chunk}
    row["metadata"] = json.dumps(dict(memory.metadata), ensure_ascii=False)
    # The text is written once: a long one has a hundred chunks.
    return row if chunk == 0 else row | {"text": "", "lemmas": ""}


def entity_fields(entity: Entity) -> dict[str, Any]:
    """The columns of an entity's row without its vector."""
    return {name: getattr(entity, name) for name in ("id", "user_id", "name", "name_key", "type", "revision")}


def _memory_rows(memory: Memory, vectors: Vectors) -> Iterator[dict[str, Any]]:
    for chunk, vector in enumerate(vectors):
        yield memory_fields(memory, chunk) | {"vector": vector}
