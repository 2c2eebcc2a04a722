"""How long hosts wait for the hooks, when all is well and when it is not, and what they say then.

    python benchmarks/hooks.py [--runs 10] [--memories 1000] [--json OUT]

Times are those of the whole process, Python's start included. The full disk needs an account that may mount a small
one. Exits with 1 when a hook ends with another code than 0 or says more than one line on standard error.
"""

import argparse
import contextlib
import json
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from hosts import Host, Place, end_like_interrupted, memory_command, wait_until
from rich.console import Console
from rich.progress import track
from rich.table import Table
from texts import questions, sentence

from mcp_memory.address import Address, publish
from mcp_memory.control import stop

_LARGE_BYTES = 50_000_000


@dataclass(frozen=True)
class Row:
    """How a hook did in one situation: seconds, exit codes, lines on standard error, and the last of these."""

    situation: str
    median_s: float
    longest_s: float
    codes: tuple[int, ...]
    most_lines: int
    said: str


def run(kind: str, event: dict[str, object] | bytes) -> tuple[float, int, str]:
    """Seconds, exit code and standard error of one hook."""
    passed = event if isinstance(event, bytes) else json.dumps(event).encode()
    began = time.perf_counter()
    ran = subprocess.run(memory_command("hook", kind, "bench"), input=passed, capture_output=True, check=False)
    return time.perf_counter() - began, ran.returncode, ran.stderr.decode()


def measured(situation: str, kind: str, events: list[dict[str, object] | bytes], before: Callable[[], object]) -> Row:
    """A row of some runs; `before` is done before each and not timed."""
    done = []
    for event in track(events, description=situation, transient=True):
        before()
        done.append(run(kind, event))
    times, codes, said = zip(*done, strict=True)
    return Row(
        situation,
        statistics.median(times),
        max(times),
        tuple(sorted(set(codes))),
        max(len(told.splitlines()) for told in said),
        max(said, key=len).strip().removeprefix("mcp-memory: "),
    )


def prompts(n: int) -> list[dict[str, object] | bytes]:
    """As many prompts, each of a conversation of its own."""
    return [
        {"hook_event_name": "UserPromptSubmit", "prompt": asked, "session_id": f"recall {number}", "cwd": "/srv/work/x"}
        for number, asked in enumerate(questions(n))
    ]


def turns(n: int, transcript: Path) -> list[dict[str, object] | bytes]:
    """As many ends of a turn, each of a conversation of its own."""
    return [
        {"hook_event_name": "Stop", "session_id": f"capture {number}", "transcript_path": str(transcript)}
        for number in range(n)
    ]


def write_transcript(path: Path, n_bytes: int) -> Path:
    """A transcript of a turn, and as much of what tools returned."""
    noise = {"type": "user", "message": {"content": [{"type": "tool_result", "content": "x" * 100_000}]}}
    said = {"type": "user", "message": {"role": "user", "content": "I keep three hives near Ghent."}}
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps(said) + "\n")
        while file.tell() < n_bytes:
            file.write(json.dumps(noise) + "\n")
    return path


def measure(n_runs: int, n_memories: int) -> list[Row]:
    """The rows of all situations."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, Place() as place:
        short = write_transcript(Path(folder) / "short.jsonl", 0)
        large = write_transcript(Path(folder) / "large.jsonl", _LARGE_BYTES)
        nothing = list

        def stopped() -> None:
            stop(place.home)
            wait_until(lambda: not place.engines(), 60)

        with Host() as host:
            for number in track(range(n_memories), description="remembering", transient=True):
                host.add(sentence(number))
            rows.append(measured("recall", "recall", prompts(n_runs), nothing))
            rows.append(measured("capture of a turn", "capture", turns(n_runs, short), nothing))
            rows.append(measured("capture, transcript of 50 MB", "capture", turns(n_runs, large), nothing))
            rows.append(measured("broken JSON", "capture", [b'{"session_id": '] * n_runs, nothing))
        rows.append(measured("recall, no engine", "recall", prompts(n_runs), stopped))
        rows.append(measured("capture, no engine", "capture", turns(n_runs, short), stopped))
        stopped()
        with socket.create_server(("127.0.0.1", 0)) as silent:
            publish(place.home, Address(silent.getsockname()[1], "token", 1, "0"))
            rows.append(measured("recall, an engine that does not answer", "recall", prompts(n_runs), nothing))
    with small_disk() as disk:
        if disk:
            rows += measure_full_disk(disk, n_runs)
    return rows


def measure_full_disk(disk: Path, n_runs: int) -> list[Row]:
    """The rows of a data folder on a full disk."""
    with tempfile.TemporaryDirectory() as folder, Place(HOME=str(disk)) as place:
        transcript = Path(folder) / "transcript.jsonl"
        with transcript.open("w", encoding="utf-8") as file:
            for number in range(60):
                said = {"type": "user", "message": {"role": "user", "content": sentence(number)}}
                file.write(json.dumps(said) + "\n")
        place.home = disk
        with Host() as host:
            host.add(sentence(0))
            with contextlib.suppress(OSError), (disk / "filler").open("wb", buffering=0) as filler:
                while filler.write(b"x" * 4096):
                    pass
            rows = [
                measured("recall, full disk", "recall", prompts(n_runs), list),
                measured("capture, full disk", "capture", turns(n_runs, transcript), list),
            ]
            (disk / "filler").unlink()
        return rows


@contextlib.contextmanager
def small_disk() -> Iterator[Path | None]:
    """A disk of 24 MB, None for an account that cannot have one."""
    with tempfile.TemporaryDirectory() as folder:
        mount = [shutil.which("mount") or "false", "-t", "tmpfs", "-o", "size=24m", "memory-bench", folder]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            yield None
            return
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10, help="hooks in each situation")
    parser.add_argument("--memories", type=int, default=1000, help="memories that there are")
    parser.add_argument("--json", help="write the figures to this file")
    given = parser.parse_args()
    end_like_interrupted()
    rows = measure(given.runs, given.memories)
    table = Table("situation", "median s", "longest s", "exit", "lines", "what it says", box=None, pad_edge=False)
    for row in rows:
        codes = ", ".join(map(str, row.codes))
        table.add_row(
            row.situation, f"{row.median_s:.2f}", f"{row.longest_s:.2f}", codes, str(row.most_lines), row.said
        )
    Console().print(table)
    if given.json:
        Path(given.json).write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")
    sys.exit(any(row.codes != (0,) or row.most_lines > 1 for row in rows))


if __name__ == "__main__":
    main()
