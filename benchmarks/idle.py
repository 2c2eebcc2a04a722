"""An engine with one client that says nothing: CPU, memory and disk meanwhile, and what is left when it has gone.

    python benchmarks/idle.py [--minutes 60] [--json OUT]

Exits with 1 when a process is left.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import psutil
from hosts import Host, Place, cpu_seconds, disk_megabytes, end_like_interrupted, wait_for_quiet, wait_until
from rich.console import Console
from rich.progress import track
from rich.table import Table
from texts import questions, sentence

IDLE_S = 5.0
N_MEMORIES = 50
_LEAVES_S = IDLE_S + 30.0


def resident_megabytes(processes: list[psutil.Process]) -> float:
    """Resident memory of processes, together."""
    return sum(process.memory_info().rss for process in processes) / 1e6


def measure(minutes: float) -> dict[str, float]:
    """The figures of an idle engine and its shim."""
    with Place(ENGINE_IDLE_S=str(IDLE_S)) as place:
        with Host() as host:
            for number in range(N_MEMORIES):
                host.add(sentence(number))
            for asked in questions(10):
                host.search(asked)
            wait_for_quiet(place.processes)
            running = place.processes()
            before = cpu_seconds(running), resident_megabytes(running), disk_megabytes(place.home)
            for _ in track(range(round(minutes * 60)), description="idle", transient=True):
                time.sleep(1)
            after = cpu_seconds(running), resident_megabytes(running), disk_megabytes(place.home)
            n_running = len(place.processes())
        began = time.perf_counter()
        wait_until(lambda: not place.processes(), _LEAVES_S)
        return {
            "processes with one client": n_running,
            "CPU (s)": after[0] - before[0],
            "growth of resident memory (MB)": after[1] - before[1],
            "growth of the folder (MB)": after[2] - before[2],
            f"until all had gone, idle time {IDLE_S:.0f} s (s)": time.perf_counter() - began,
            "processes left": len(place.processes()),
        }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    end_like_interrupted()
    figures = measure(given.minutes)
    table = Table("figure", "value", title=f"{given.minutes:g} minutes idle")
    for name, value in figures.items():
        table.add_row(name, str(value) if isinstance(value, int) else f"{value:.3f}")
    Console().print(table)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    sys.exit(figures["processes left"] > 0)


if __name__ == "__main__":
    main()
