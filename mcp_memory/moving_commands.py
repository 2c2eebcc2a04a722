"""`mcp-memory export` and `mcp-memory import`."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from .console import Json, measured_memory, out, print_json, warn
from .reports import Imported

_STANDARD = "-"
_N_SHOWN = 20


def add_to(app: typer.Typer) -> None:
    """Add the commands to those of the program."""
    app.command(name="export")(export)
    app.command(name="import")(import_)


def export(
    target: Annotated[str, typer.Argument(help="The file to write; - writes to standard output.")],
    training: Annotated[
        bool, typer.Option("--training", help="Pairs of messages and what is kept of them, for training a model.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that exists.")] = False,
    as_json: Json = False,
) -> None:
    """Write all that is remembered, with its history, into one file of JSON Lines."""
    with _file_for(target) as (path, is_given), measured_memory("Exporting") as (memory, show):
        result = memory.export_to(path, training=training, overwrite=force or not is_given, on_progress=show)
    if not is_given:
        return
    if as_json:
        print_json(asdict(result))
        return
    n = f"{sum(result.counts.values()):,} records" if not training else f"{result.counts['episodes']:,} pairs"
    out.print(Text(f"{n} in {result.path}, {result.n_bytes:,} bytes"), soft_wrap=True)
    told = ", ".join(f"{count:,} {name}" for name, count in result.counts.items() if count)
    out.print(Text(told, style="dim"), soft_wrap=True)


@contextmanager
def _file_for(target: str) -> Iterator[tuple[Path, bool]]:
    """The file to write, and whether it is the one that was named; another one goes to standard output at the end."""
    if target != _STANDARD:
        yield Path(target), True
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.jsonl"
        yield path, False
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def import_(
    source: Annotated[
        str,
        typer.Argument(help="An export, a graph of server-memory, messages as JSON Lines, or Markdown; - reads."),
    ],
    format: Annotated[  # noqa: A002 - the option's name
        str, typer.Option(help="auto, mcp-memory, server-memory, markdown or messages.")
    ] = "auto",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read and check everything, and change nothing.")] = False,
    infer: Annotated[bool, typer.Option(help="Queue what comes from elsewhere for a language model.")] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out wrong lines, and tell them.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Read a file once more that was taken before.")] = False,
    as_json: Json = False,
) -> None:
    """Take in a memory, or notes and messages from elsewhere. A run that was ended goes on where it stopped.

    Everything is read and checked first; where a line is wrong, it is named and nothing is taken.
    """
    with _given(source) as path, measured_memory("Checking" if dry_run else "Importing") as (memory, show):
        try:
            taken = memory.import_from(
                path, format=format, dry_run=dry_run, infer=infer, skip_bad=skip_bad, again=again, on_progress=show
            )
        except KeyboardInterrupt:
            if not dry_run:
                warn("Ended before its time. The same command goes on where this one stopped.")
            raise
    if as_json:
        print_json({**asdict(taken), "ok": not taken.problems})
    else:
        _tell(taken)
    if taken.problems:
        raise typer.Exit(1)


@contextmanager
def _given(source: str) -> Iterator[Path]:
    """The file or folder to read; what comes from standard input is kept in a file of this account meanwhile."""
    if source != _STANDARD:
        yield Path(source)
        return
    descriptor, name = tempfile.mkstemp(suffix=".jsonl")
    try:
        with os.fdopen(descriptor, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _tell(taken: Imported) -> None:
    for problem in taken.problems[:_N_SHOWN]:
        out.print(Text(f"{problem.file}, line {problem.line}: {problem.message}", style="red"), soft_wrap=True)
    if (n_more := len(taken.problems) - _N_SHOWN) > 0:
        out.print(Text(f"and {n_more} more (--json shows all)"), soft_wrap=True)
    would = "would be taken; nothing was changed" if taken.is_dry_run else "read"
    out.print(Text(f"{taken.n_records:,} records of {taken.source} ({taken.format}) {would}"), soft_wrap=True)
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, count in taken.counts.items():
        table.add_row(Text(name), f"{count:,}")
    for name, count in taken.outcome.items():
        if count:
            table.add_row(Text(f"→ {name}"), f"{count:,}", style="bold")
    out.print(table)
    for notice in taken.notices:
        out.print(Text(notice, style="yellow"), soft_wrap=True)
    if taken.lag:
        warn(f"Stored, but not yet findable by meaning: {taken.lag}")
