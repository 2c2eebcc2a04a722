"""Hosts that attach: time from spawn to connected client, memory of shims and engine, and what is left afterwards.

    python benchmarks/start.py [--warm 20] [--cold 5] [--json OUT]

A client is connected when its handshake has been answered. Each time is measured with a bare JSON-RPC client and with
that of the MCP SDK. Warm: an engine runs. Cold: none does; one start before the first is not measured. Memory is
that of processes which have answered a search: resident (RSS, pages shared with others included) and their own (USS).
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anyio
import psutil
from hosts import Host, Place, end_like_interrupted, mcp_client, wait_for_quiet, wait_until
from rich.console import Console
from rich.progress import track
from rich.table import Table

QUESTION = "who keeps bees?"
IDLE_S = 1.0
N_HOSTS = 4
# An engine leaves some moments after its idle time.
_LEAVES_S = IDLE_S + 30.0


def bare_connection() -> dict[str, float]:
    """Seconds from spawn to handshake and of two searches, of a bare client that comes and goes."""
    began = time.perf_counter()
    host = Host()
    try:
        host.shake_hands()
        times = {"connected": time.perf_counter() - began}
        for name in ("first search", "second search"):
            began = time.perf_counter()
            host.search(QUESTION)
            times[name] = time.perf_counter() - began
        host.leave()
    finally:
        host.process.kill()
    return times


def sdk_connection() -> dict[str, float]:
    """Seconds from spawn to handshake of the MCP SDK's client."""

    async def connect() -> float:
        began = time.perf_counter()
        async with mcp_client("sdk"):
            return time.perf_counter() - began

    return {"connected": anyio.run(connect)}


def await_no_engine(place: Place) -> None:
    """Wait until the last engine has left.

    Raises:
        TimeoutError: it stays.
    """
    if not wait_until(lambda: not place.engines(), _LEAVES_S):
        raise TimeoutError(f"an engine stays for more than {_LEAVES_S:.0f} s after its last client")


def cold(place: Place, connection: Callable[[], dict[str, float]], n_runs: int) -> list[dict[str, float]]:
    """Connections that have to start an engine."""
    runs = []
    for _ in track(range(n_runs), description="cold", transient=True):
        await_no_engine(place)
        runs.append(connection())
    return runs


def warm(connection: Callable[[], dict[str, float]], n_runs: int) -> list[dict[str, float]]:
    """Connections to an engine that has answered before."""
    return [connection() for _ in track(range(n_runs), description="warm", transient=True)]


def megabytes(process: psutil.Process) -> dict[str, float]:
    """Memory of a process."""
    used = process.memory_full_info()
    return {"USS": used.uss / 1e6, "RSS": used.rss / 1e6}


def four_hosts(place: Place) -> dict[str, float]:
    """Engines and memory of four hosts attached at once, and what is left when they have gone."""
    with ExitStack() as attached:
        for number in range(N_HOSTS):
            attached.enter_context(Host(f"host-{number}")).search(QUESTION)
        wait_for_quiet(place.processes)
        engines = [megabytes(process) for process in place.engines()]
        shims = [megabytes(process) for process in place.shims()]
        figures: dict[str, float] = {
            "engines of four hosts": len(engines),
            "processes of four hosts": len(place.processes()),
            **{f"a shim, {name} (MB)": statistics.median(shim[name] for shim in shims) for name in ("USS", "RSS")},
            **{f"the engine, {name} (MB)": max(engine[name] for engine in engines) for name in ("USS", "RSS")},
            "all together, USS (MB)": sum(each["USS"] for each in (*shims, *engines)),
        }
    began = time.perf_counter()
    wait_until(lambda: not place.processes(), _LEAVES_S)
    figures[f"processes left, idle time {IDLE_S:.0f} s"] = len(place.processes())
    figures["until they were gone (s)"] = time.perf_counter() - began
    return figures


def measure(n_warm: int, n_cold: int) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Seconds of each kind of start, and the figures of four hosts."""
    runs: dict[str, list[dict[str, float]]] = {}
    with Place(ENGINE_IDLE_S=str(IDLE_S)) as place:
        with Host() as host:
            host.add("Rui keeps bees in the orchard")
            # What a machine's first start leaves behind, and later ones find.
            wait_for_quiet(place.processes)
        await_no_engine(place)
        bare_connection()
        runs["cold, bare client"] = cold(place, bare_connection, n_cold)
        runs["cold, MCP SDK"] = cold(place, sdk_connection, n_cold)
        with Host("stays") as host:
            host.search(QUESTION)
            wait_for_quiet(place.processes)
            runs["warm, bare client"] = warm(bare_connection, n_warm)
            runs["warm, MCP SDK"] = warm(sdk_connection, n_warm)
        await_no_engine(place)
        figures = four_hosts(place)
    seconds = {
        f"{kind}: {name}": [run[name] for run in of_kind] for kind, of_kind in runs.items() for name in of_kind[0]
    }
    return seconds, figures


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warm", type=int, default=20)
    parser.add_argument("--cold", type=int, default=5)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    end_like_interrupted()
    seconds, figures = measure(given.warm, given.cold)
    times = Table("start", "n", "median ms", "min", "max")
    for name, values in seconds.items():
        shown = (statistics.median(values), min(values), max(values))
        times.add_row(name, str(len(values)), *(f"{value * 1e3:.0f}" for value in shown))
    rest = Table("four hosts", "figure")
    for name, value in figures.items():
        rest.add_row(name, f"{value:.1f}" if isinstance(value, float) else str(value))
    Console().print(times, rest)
    if given.json:
        found: dict[str, Any] = {"seconds": seconds, "four_hosts": figures}
        given.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
