"""A chat log taken in by a running engine, interrupted twice: is all of it there, once, and does the pace hold?

    python benchmarks/moving.py [--messages 100000] [--model FOLDER] [--export] [--json OUT]

`mcp-memory import` asks an engine, as it does while hosts are attached. At a third of the messages the engine is
killed, at two thirds the command is interrupted; each time the same command follows. A row is printed for every tenth:
messages taken, seconds, messages a second since the last row, resident memory of engine and command. With `--export`
the memory leaves again into a file, and comes from there into a new folder, with the same two interruptions. What the
embedding model alone does of the same texts is measured at the end: more than that no import can do.
"""

import argparse
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from texts import sentence

from mcp_memory.address import published
from mcp_memory.embedder import Embedder
from mcp_memory.memory import LocalMemory
from mcp_memory.score import Floats

LOG_NAME = "log.sqlite3"
PER_RUN = 500
COMMAND = (sys.executable, "-P", "-m", "mcp_memory")
_LOOK_EVERY_S = 0.02
_N_EMBEDDED = 400


@dataclass(slots=True)
class Row:
    """How far it was at one moment."""

    taken: int
    seconds: float
    rate: float
    engine_mb: float
    command_mb: float


@dataclass(slots=True)
class Import:
    """A file that is being taken into a folder by an engine of its own, with what was seen meanwhile."""

    home: Path
    file: Path
    environment: Mapping[str, str]
    total: int
    rows: list[Row] = field(default_factory=list)
    begun: float = field(default_factory=time.perf_counter)
    engine: "subprocess.Popen[bytes] | None" = None
    result: Any = None

    def start_engine(self) -> None:
        """Start the engine, and wait until it listens."""
        self.engine = subprocess.Popen([*COMMAND, "engine", "run"], env=self.environment)
        while (found := published(self.home)) is None or found.pid != self.engine.pid:
            assert self.engine.poll() is None, "the engine has ended"
            time.sleep(_LOOK_EVERY_S)

    def kill_engine(self) -> None:
        """End it without giving it a chance to do anything."""
        assert self.engine
        self.engine.kill()
        self.engine.wait()

    def stop_engine(self) -> None:
        """End it as a user does."""
        assert self.engine
        self.engine.terminate()
        self.engine.wait()

    def taken(self) -> int:
        """How many records are in the log, durably."""
        with contextlib.suppress(sqlite3.Error):
            uri = f"{(self.home / LOG_NAME).as_uri()}?mode=ro"
            with contextlib.closing(sqlite3.connect(uri, uri=True)) as log:
                return int(log.execute("SELECT coalesce(sum(done), 0) FROM imports").fetchone()[0])
        return 0

    def run(self, *, until: int = 0, then: Callable[["subprocess.Popen[bytes]"], None] | None = None) -> int:
        """Run the command to its end, or until so many records are taken; its exit code."""
        command = subprocess.Popen(
            [*COMMAND, "import", str(self.file), "--json"],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        has_interfered = False
        while command.poll() is None:
            self.look(command.pid)
            if then and not has_interfered and self.taken() >= until:
                then(command)
                has_interfered = True
            time.sleep(_LOOK_EVERY_S)
        output, errors = command.communicate()
        if command.returncode and not has_interfered:
            raise RuntimeError(errors.decode())
        if not command.returncode:
            self.result = json.loads(output)
        return command.returncode

    def look(self, command: int) -> None:
        """Note a row where another tenth has been taken."""
        taken, now = self.taken(), time.perf_counter() - self.begun
        before = self.rows[-1] if self.rows else Row(0, 0.0, 0.0, 0.0, 0.0)
        if (taken < self.total and taken - before.taken < self.total // 10) or taken == before.taken:
            return
        rate = (taken - before.taken) / (now - before.seconds)
        row = Row(taken, now, rate, _megabytes(self.engine.pid if self.engine else 0), _megabytes(command))
        self.rows.append(row)
        print(
            f"{row.taken:>9,} {row.seconds:>8.1f} s {row.rate:>8.0f} /s"
            f"   engine {row.engine_mb:>6.0f} MB   command {row.command_mb:>5.0f} MB",
            flush=True,
        )


def _megabytes(pid: int) -> float:
    with contextlib.suppress(psutil.Error):
        return float(psutil.Process(pid).memory_info().rss) / 1e6
    return 0.0


def write_messages(path: Path, n_messages: int) -> None:
    """A chat log of some conversations, no two messages alike."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(n_messages):
            run, place = divmod(number, PER_RUN)
            said = {
                "role": "assistant" if place % 2 else "user",
                "content": f"{sentence(number)} ({number})",
                "run_id": f"chat-{run}",
                "observed_at": f"20{10 + run % 15}-03-{1 + place // 20:02d}T12:{place % 60:02d}:00Z",
            }
            file.write(json.dumps(said) + "\n")


def interrupted_import(home: Path, file: Path, total: int, environment: Mapping[str, str]) -> Import:
    """Take a file in, the engine being killed at a third of it and the command interrupted at two thirds."""
    taking = Import(home, file, environment, total)
    taking.start_engine()
    code = taking.run(until=total // 3, then=lambda _: taking.kill_engine())
    print(f"{'':>9} the engine was killed: the command left with {code}, {taking.taken():,} taken", flush=True)
    assert code == 1, code
    taking.start_engine()
    code = taking.run(until=2 * total // 3, then=lambda command: command.send_signal(signal.SIGINT))
    print(f"{'':>9} the command was interrupted: it left with {code}, {taking.taken():,} taken", flush=True)
    assert code == 130, code
    assert taking.run() == 0
    return taking


def check_messages(home: Path, n_messages: int, user_id: str) -> None:
    """Fail unless every message is there once, in its place."""
    with contextlib.closing(sqlite3.connect(home / LOG_NAME)) as log:
        rows = log.execute(
            "SELECT text, run_id, position FROM memories WHERE user_id = ? ORDER BY id", (user_id,)
        ).fetchall()
    assert len(rows) == n_messages, f"{len(rows)} memories of {n_messages} messages"
    for number, (text, run_id, position) in enumerate(rows):
        run, place = divmod(number, PER_RUN)
        expected = (f"{sentence(number)} ({number})", f"chat-{run}", place)
        assert (text, run_id, position) == expected, (number, text, run_id, position)


def embedding_rate(model: str) -> float:
    """Texts a second that the model embeds while nothing else is done."""
    embedder = Embedder(model) if model else Embedder()
    embedder.load()
    forms = [("3 March 2020: ", f"{sentence(number)} ({number})") for number in range(_N_EMBEDDED)]
    begun = time.perf_counter()
    vectors: list[Floats] = embedder.embed_texts(forms)
    return len(vectors) / (time.perf_counter() - begun)


def environment_of(home: Path, model: str) -> dict[str, str]:
    """The environment of engine and command."""
    given = {name: value for name, value in os.environ.items() if not name.startswith("MCP_MEMORY_")}
    given |= {"MCP_MEMORY_HOME": str(home), "MCP_MEMORY_USER_ID": "ana", "MCP_MEMORY_OLLAMA_HOST": "http://127.0.0.1:9"}
    return given | ({"MCP_MEMORY_EMBEDDING_MODEL": model} if model else {})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--model", default="", help="name or folder of another embedding model")
    parser.add_argument("--export", action="store_true", help="take it out and into a new folder, too")
    parser.add_argument("--json", default="", help="a file for the rows")
    given = parser.parse_args()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # What a shell starts in its background ignores interrupts, and so would the command.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as folder:
        rows = measured(Path(folder), given.messages, given.model, with_export=given.export)
    if given.json:
        Path(given.json).write_text(json.dumps(rows, indent=1), encoding="utf-8")


def measured(folder: Path, n_messages: int, model: str, *, with_export: bool) -> dict[str, Any]:
    """Run it all in a folder; what was seen."""
    home, file, out = folder / "home", folder / "chat.jsonl", folder / "memory.jsonl"
    write_messages(file, n_messages)
    taking = interrupted_import(home, file, n_messages, environment_of(home, model))
    taking.stop_engine()
    check_messages(home, n_messages, "ana")
    seconds = taking.rows[-1].seconds
    print(
        f"{n_messages:,} messages, each there once and in order; {n_messages / seconds:.0f}/s with both interruptions"
    )
    found: dict[str, Any] = {"rows": [vars_of(row) for row in taking.rows], "embedding_rate": embedding_rate(model)}
    print(f"the model alone: {found['embedding_rate']:.0f} texts/s")
    if with_export:
        memory = LocalMemory.open(home, user_id="ana", embedding_model=model)
        begun = time.perf_counter()
        exported = memory.export_to(out)
        took = time.perf_counter() - begun
        n_records = sum(exported.counts.values())
        print(f"export: {n_records:,} records, {exported.n_bytes / 1e6:.0f} MB, {took:.1f} s")
        memory.close()
        other = folder / "other"
        moved = interrupted_import(other, out, n_records, environment_of(other, model))
        moved.stop_engine()
        check_messages(other, n_messages, "ana")
        print(f"all of it came into a new folder: {moved.result['outcome']}, lag {moved.result['lag']!r}")
        found["moved"] = [vars_of(row) for row in moved.rows]
    return found


def vars_of(row: Row) -> dict[str, float]:
    """A row by names."""
    return {name: getattr(row, name) for name in Row.__slots__}


if __name__ == "__main__":
    main()
