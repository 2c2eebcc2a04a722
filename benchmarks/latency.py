"""Adding and searching by size and by the way memories came in: medians and ratios of one run.

    python benchmarks/latency.py [--size 10000] [--adds 2000] [--json OUT]

Two questions. Do many single adds leave search slower than one batch of the same memories? And does adding
between searches slow the searches down? Everything runs in this process, in temporary folders.
"""

import argparse
import json
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hosts import disk_megabytes
from rich.console import Console
from rich.progress import track
from rich.table import Table
from texts import questions, sentence

from mcp_memory.embedder import Embedder
from mcp_memory.memory import LocalMemory


def milliseconds(work: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e3


def search_median(memory: LocalMemory, asked: Sequence[str]) -> float:
    """Median time of a search."""
    return statistics.median(milliseconds(lambda q=q: memory.search(q)) for q in asked)  # type: ignore[misc]


def read_vectors(memory: LocalMemory) -> float:
    """Time to read all vectors of the user from LanceDB."""
    return milliseconds(lambda: memory.stores.tables().vectors_of(memory.user_id))


def fill(memory: LocalMemory, first: int, count: int) -> None:
    """Add statements in batches of a hundred."""
    for start in track(range(first, first + count, 100), description=f"adding {count} in batches", transient=True):
        batch = [{"content": sentence(n)} for n in range(start, min(start + 100, first + count))]
        memory.add(messages=batch, infer=False)


def singles_or_batches(embedder: Embedder, count: int, asked: Sequence[str]) -> dict[str, float]:
    """Search times in a folder of single adds and in one of batches, interleaved; and the time of an add."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as many:
        single, batched = LocalMemory.open(one, embedder=embedder), LocalMemory.open(many, embedder=embedder)
        adds = [
            milliseconds(lambda n=n: single.add(sentence(n), infer=False, kind="message"))  # type: ignore[misc]
            for n in track(range(count), description=f"adding {count} singly", transient=True)
        ]
        fill(batched, 0, count)
        single.settle()
        batched.settle()
        rounds = [(search_median(single, asked), search_median(batched, asked)) for _ in range(5)]
        sizes = [disk_megabytes(Path(folder)) for folder in (one, many)]
        # LanceDB itself, which the index in memory is read from.
        reads = [statistics.median(read_vectors(memory) for _ in range(30)) for memory in (single, batched)]
        single.close()
        batched.close()
    singly, batchwise = (statistics.median(values) for values in zip(*rounds, strict=True))
    return {
        "add_p50_ms": statistics.median(adds),
        "search_after_singles_ms": singly,
        "search_after_batches_ms": batchwise,
        "ratio": singly / batchwise,
        "lancedb_read_after_singles_ms": reads[0],
        "lancedb_read_after_batches_ms": reads[1],
        "lancedb_read_ratio": reads[0] / reads[1],
        "disk_singles_mb": sizes[0],
        "disk_batches_mb": sizes[1],
    }


def searches_between_adds(embedder: Embedder, size: int, asked: Sequence[str]) -> dict[str, float]:
    """Search times alone and right after an add, in one folder of `size` memories, in alternating rounds."""
    with tempfile.TemporaryDirectory() as folder, LocalMemory.open(folder, embedder=embedder) as memory:
        fill(memory, 0, size)
        alone: list[float] = []
        between: list[float] = []
        number = size
        for _ in range(5):
            # Upkeep that the adds began belongs to the searches between adds, not to these.
            memory.settle()
            alone += [milliseconds(lambda q=q: memory.search(q)) for q in asked]  # type: ignore[misc]
            for question in asked:
                memory.add(sentence(number), infer=False)
                number += 1
                between.append(milliseconds(lambda q=question: memory.search(q)))  # type: ignore[misc]
        embedding = statistics.median(milliseconds(lambda q=q: embedder.embed_query(q)) for q in asked)  # type: ignore[misc]
    return {
        "search_alone_ms": statistics.median(alone),
        "search_after_add_ms": statistics.median(between),
        "ratio": statistics.median(between) / statistics.median(alone),
        "of_which_embedding_the_query_ms": embedding,
    }


def main() -> None:
    """Run both measurements and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--adds", type=int, default=2_000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    embedder = Embedder()
    embedder.load()
    asked = questions(40)
    found: dict[str, dict[str, Any]] = {
        f"{given.adds} memories, added singly or in batches": singles_or_batches(embedder, given.adds, asked),
        f"{given.size} memories, searched alone or after an add": searches_between_adds(embedder, given.size, asked),
    }
    table = Table("measurement", "figure", "value", title=f"{platform.machine()}, Python {platform.python_version()}")
    for name, figures in found.items():
        for place, (figure, value) in enumerate(figures.items()):
            table.add_row("" if place else name, figure, f"{value:.2f}")
    Console().print(table)
    if given.json:
        given.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
