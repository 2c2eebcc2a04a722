"""Start of the server as a host sees it: spawn to answered `initialize`, first search, second search.

    python benchmarks/start.py [--runs 5] [--json OUT]

Each run starts a new process on a folder with a few memories; medians, with the smallest and the largest.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from mcp_memory.memory import LocalMemory

HANDSHAKE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


def run_once(home: str) -> dict[str, float]:
    """One start of the server: seconds of handshake and of two searches, and how often progress was told."""
    started = time.perf_counter()
    server = subprocess.Popen(
        [sys.executable, "-m", "mcp_memory", "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "MCP_MEMORY_HOME": home, "MCP_MEMORY_USER_ID": "bench"},
    )
    assert server.stdin
    assert server.stdout
    wire_in, wire_out = server.stdin, server.stdout

    def send(**message: Any) -> None:
        wire_in.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        wire_in.flush()

    def answer(identifier: int) -> tuple[float, int]:
        begun, n_progress = time.perf_counter(), 0
        while (line := json.loads(wire_out.readline())).get("id") != identifier:
            n_progress += line.get("method") == "notifications/progress"
        return time.perf_counter() - begun, n_progress

    def search(identifier: int) -> tuple[float, int]:
        arguments = {"name": "search_memory", "arguments": {"query": "who keeps bees?"}, "_meta": {"progressToken": 1}}
        send(id=identifier, method="tools/call", params=arguments)
        return answer(identifier)

    send(id=0, method="initialize", params=HANDSHAKE)
    answer(0)
    handshake = time.perf_counter() - started
    send(method="notifications/initialized")
    cold, n_progress = search(1)
    warm, _ = search(2)
    wire_in.close()
    server.wait(timeout=60)
    wire_out.close()
    return {"handshake_s": handshake, "first_search_s": cold, "progress_notes": n_progress, "second_search_s": warm}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        with LocalMemory.open(home, user_id="bench") as memory:
            memory.add("Rui keeps bees in the orchard", infer=False)
        runs = [run_once(home) for _ in range(given.runs)]
    table = Table("figure", "median", "min", "max", title=f"{given.runs} starts")
    for name in runs[0]:
        values = [run[name] for run in runs]
        table.add_row(name, *(f"{value:.2f}" for value in (statistics.median(values), min(values), max(values))))
    Console().print(table)
    if given.json:
        given.json.write_text(json.dumps(runs, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
