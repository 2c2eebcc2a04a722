"""One memory at a time into a growing folder: adds, searches and disk as it grows, and against a rebuilt folder.

    python benchmarks/growth.py [--adds 10000] [--rate-adds 400] [--json OUT]

Once with the folder open in this process, once as a client of an engine over `mcp-memory serve`. The figures are taken
at a tenth of the adds and at all of them; the times of adds are those of the last tenth before. The rebuilt folder has
the same log and tables made anew from it. Then the adds a second of one, two and four clients at once are compared.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from hosts import Host, Place, disk_megabytes, end_like_interrupted, memory_command, wait_for_quiet
from latency import milliseconds
from rich.console import Console
from rich.progress import track
from rich.table import Table
from texts import questions, sentence

from mcp_memory.embedder import Embedder
from mcp_memory.memory import LocalMemory

LOG_NAME, TABLES_NAME = "log.sqlite3", "lancedb"
N_QUESTIONS = 40
N_ROUNDS = 5
CLIENTS = (1, 2, 4)
_REBUILD_S = 3600.0

Figures = dict[str, float]


def search_times(search: Callable[[str], object]) -> list[float]:
    """Milliseconds of a search for each question."""
    return [milliseconds(partial(search, asked)) for asked in questions(N_QUESTIONS)]


def grown(
    home: Path, n_adds: int, add: Callable[[str], object], search: Callable[[str], object], settle: Callable[[], None]
) -> Figures:
    """Add statements one by one; the figures at a tenth of them and at the end."""
    figures: Figures = {}
    times: list[float] = []
    for number in track(range(n_adds), description=f"adding {n_adds}", transient=True):
        times.append(milliseconds(partial(add, sentence(number))))
        size = number + 1
        if size in (n_adds // 10, n_adds):
            last = times[-max(size // 10, 1) :]
            settle()
            searches = search_times(search)
            figures |= {
                f"add p50 (ms) at {size}": statistics.median(last),
                f"add p95 (ms) at {size}": float(np.percentile(last, 95)),
                f"search p50 (ms) at {size}": statistics.median(searches),
                f"log (MB) at {size}": log_megabytes(home),
                f"tables (MB) at {size}": disk_megabytes(home / TABLES_NAME),
            }
    return figures


def log_megabytes(home: Path) -> float:
    """Size of the log with what SQLite keeps beside it."""
    return sum(path.stat().st_size for path in home.glob(f"{LOG_NAME}*")) / 1e6


def grown_here(n_adds: int, embedder: Embedder) -> Figures:
    """Growth of a folder open in this process."""
    with Place() as place:
        with LocalMemory.open(place.home, embedder=embedder) as memory:
            figures = grown(
                place.home, n_adds, lambda text: memory.add(text, infer=False), memory.search, memory.settle
            )
        return figures | against_rebuilt(place.home, embedder)


def grown_in_engine(n_adds: int, embedder: Embedder) -> Figures:
    """Growth as a client of an engine sees it."""
    with Place() as place:
        with Host() as host:
            host.search("Is the model loaded?")
            figures = grown(place.home, n_adds, host.add, host.search, lambda: wait_for_quiet(place.processes))
        subprocess.run(memory_command("engine", "stop"), check=True, capture_output=True, timeout=60)
        return figures | against_rebuilt(place.home, embedder)


def against_rebuilt(home: Path, embedder: Embedder) -> Figures:
    """Searches in a grown folder and in one whose tables were made anew from the same log, alternately."""
    with tempfile.TemporaryDirectory() as fresh:
        rebuild(home, Path(fresh))
        with LocalMemory.open(home, embedder=embedder) as old, LocalMemory.open(fresh, embedder=embedder) as new:
            for memory in (old, new):
                memory.warm()
                search_times(memory.search)
                memory.settle()
            times: dict[str, list[float]] = {"grown": [], "rebuilt": []}
            for _ in range(N_ROUNDS):
                times["grown"] += search_times(old.search)
                times["rebuilt"] += search_times(new.search)
        sizes = disk_megabytes(home / TABLES_NAME), disk_megabytes(Path(fresh) / TABLES_NAME)
    before, after = statistics.median(times["grown"]), statistics.median(times["rebuilt"])
    return {
        "search p50 (ms), grown": before,
        "search p50 (ms), rebuilt": after,
        "grown / rebuilt": before / after,
        "tables (MB), grown": sizes[0],
        "tables (MB), rebuilt": sizes[1],
    }


def rebuild(home: Path, fresh: Path) -> None:
    """Make a folder with the same log, and tables that come from it alone."""
    with Place() as place:
        shutil.copytree(home, place.home, dirs_exist_ok=True)
        subprocess.run(memory_command("rebuild"), check=True, capture_output=True, timeout=_REBUILD_S)
        shutil.copytree(place.home, fresh, dirs_exist_ok=True)


def adds_a_second(n_adds: int) -> dict[int, float]:
    """Adds a second of some clients at once, by their number; medians of rounds that alternate."""
    rates: dict[int, list[float]] = {n: [] for n in CLIENTS}
    number = 0
    with Place(), ExitStack() as attached, ThreadPoolExecutor(max(CLIENTS)) as threads:
        hosts = [attached.enter_context(Host(f"host-{place}")) for place in range(max(CLIENTS))]
        hosts[0].search("Is the model loaded?")
        for _ in track(range(3), description="clients at once", transient=True):
            for n_clients in CLIENTS:
                share = n_adds // n_clients
                parts = [range(number + place * share, number + (place + 1) * share) for place in range(n_clients)]
                number += n_adds
                began = time.perf_counter()
                list(threads.map(add_all, hosts[:n_clients], parts))
                rates[n_clients].append(share * n_clients / (time.perf_counter() - began))
    return {n: statistics.median(values) for n, values in rates.items()}


def add_all(host: Host, numbers: Sequence[int]) -> None:
    """Add the statements with these numbers."""
    for number in numbers:
        host.add(sentence(number))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adds", type=int, default=10_000)
    parser.add_argument("--rate-adds", type=int, default=400, help="adds of one round of one, two and four clients")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    end_like_interrupted()
    embedder = Embedder()
    embedder.load()
    here = grown_here(given.adds, embedder)
    engine = grown_in_engine(given.adds, embedder)
    rates = adds_a_second(given.rate_adds)
    table = Table("figure", "in this process", "client of an engine", title=f"{given.adds} single adds")
    for name, value in here.items():
        table.add_row(name, f"{value:.2f}", f"{engine[name]:.2f}")
    at_once = Table("clients adding at once", "adds a second", "against one")
    for n_clients, rate in rates.items():
        at_once.add_row(str(n_clients), f"{rate:.1f}", f"{rate / rates[1]:.2f}")
    Console().print(table, at_once)
    if given.json:
        found: dict[str, Any] = {"in_process": here, "client_of_engine": engine, "adds_a_second": rates}
        given.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
