"""What the tables hold compared with what the log has: which rows there are, their fields and vectors. Only reads."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .log import Log
from .records import SEARCHABLE, Entity, Memory
from .reports import Difference, TableName
from .score import Floats
from .tables import Tables, entity_fields, memory_fields

# Two runs of the packaged model over the same text, in whatever company and by either of its runtimes, differ by at
# most 2.2e-7 in a number of a vector, and a vector's length by 4.2e-7 from 1. What differs by less than this changes
# no score in the digits that are shown.
TOLERANCE = 1e-5

TABLES: tuple[TableName, ...] = ("memories", "entities")


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of both sides: what the log has by id, and the rows that a table holds by id, chunks in order."""

    table: TableName
    wanted: Mapping[str, Memory | Entity]
    held: Mapping[str, Sequence[Mapping[str, Any]]]


def wanted_ids(log: Log, name: TableName) -> set[str]:
    """The ids that a table is to hold."""
    return log.searchable_ids() if name == "memories" else log.entity_ids()


def compare_keys(log: Log, tables: Tables, name: TableName) -> list[Difference]:
    """Rows that are missing, of which the log knows nothing, or that are there twice."""
    wanted = wanted_ids(log, name)
    times = Counter(tables.keys(name))
    n_chunks = Counter(identifier for identifier, _ in times)
    doubled = {identifier for (identifier, _), n in times.items() if n > 1}
    # Chunks count from 0: as many as the last one says.
    last: dict[str, int] = {}
    for identifier, chunk in times:
        last[identifier] = max(last.get(identifier, 0), chunk)
    gaps = {identifier for identifier, chunk in last.items() if n_chunks[identifier] != chunk + 1}
    return (
        [Difference(name, "missing", identifier) for identifier in sorted(wanted - n_chunks.keys())]
        + [Difference(name, "missing", identifier, "a part of its text") for identifier in sorted(gaps & wanted)]
        + [Difference(name, "extra", identifier) for identifier in sorted(n_chunks.keys() - wanted)]
        + [Difference(name, "doubled", identifier) for identifier in sorted(doubled & wanted)]
    )


def read_batch(log: Log, tables: Tables, name: TableName, ids: Sequence[str]) -> Batch:
    """The rows of these ids on both sides; an id that the log has no row for (any more) is left out."""
    wanted: dict[str, Memory | Entity] = {}
    if name == "memories":
        wanted.update({i: memory for i, memory in log.get_memories(ids).items() if memory.state in SEARCHABLE})
    else:
        wanted.update({entity.id: entity for entity in log.get_entities(ids=ids)})
    held: dict[str, list[Mapping[str, Any]]] = {}
    for row in sorted(tables.rows(name, ids), key=lambda row: int(row.get("chunk", 0))):
        held.setdefault(row["id"], []).append(row)
    return Batch(name, wanted, held)


def compare_fields(batch: Batch) -> list[Difference]:
    """Rows whose fields differ, whose vector is none, or that the index of ids does not find."""
    found: list[Difference] = []
    for identifier, record in batch.wanted.items():
        rows = batch.held.get(identifier, ())
        if not rows:
            found.append(Difference(batch.table, "index", identifier, "the index of id does not find it"))
        for row in rows:
            expected = memory_fields(record, row["chunk"]) if isinstance(record, Memory) else entity_fields(record)
            names = [name for name, value in expected.items() if row[name] != value]
            if names:
                found.append(Difference(batch.table, "field", identifier, ", ".join(names)))
            vector = row["vector"].astype(np.float64)
            if not abs(np.linalg.norm(vector) - 1.0) <= TOLERANCE:
                found.append(Difference(batch.table, "vector", identifier, "its length is not 1"))
    return found


def compare_vectors(batch: Batch, embedded: Mapping[str, Floats]) -> list[Difference]:
    """Rows whose vectors are not those of their text; `embedded` has shape (n_chunks, dimension) by id."""
    found: list[Difference] = []
    for identifier, vectors in embedded.items():
        rows = batch.held.get(identifier, ())
        chunks = {int(row.get("chunk", 0)) for row in rows}
        if rows and chunks != set(range(len(vectors))):
            detail = f"{len(chunks)} parts of its text instead of {len(vectors)}"
            found.append(Difference(batch.table, "missing", identifier, detail))
            continue
        for row in rows:
            gap = np.abs(row["vector"] - vectors[int(row.get("chunk", 0))]).max()
            if not gap <= TOLERANCE:
                found.append(Difference(batch.table, "vector", identifier, f"differs by up to {gap:.2g}"))
    return found
