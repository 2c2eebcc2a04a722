"""`mcp-memory engine`: what runs, and ending it."""

from pathlib import Path
from typing import Any

import psutil
import typer
from rich.table import Table
from rich.text import Text

from . import control
from .address import holder_of
from .console import Json, failing_clearly, out, print_json
from .paths import data_folder

app = typer.Typer(help="The process that all hosts share: is it there, and end it.", no_args_is_help=True)


@app.command()
def status(as_json: Json = False) -> None:
    """Show the running engine of the data folder; exits with 1 where none runs."""
    with failing_clearly():
        found = control.status_of(data_folder())
    if as_json:
        print_json(found or {})
    elif found:
        table = Table(box=None, show_header=False, pad_edge=False)
        for name, value in found.items():
            table.add_row(name.removesuffix("_s"), Text(_shown(name, value)))
        out.print(table)
    elif pid := _silent_engine(data_folder()):
        out.print(f"engine {pid} does not answer; to end it, run: mcp-memory engine stop", soft_wrap=True)
    else:
        out.print(f"no engine runs on {data_folder()}", soft_wrap=True)
    if not found:
        raise typer.Exit(1)


@app.command()
def stop() -> None:
    """End the running engine; calls under way are answered first. Hosts start another one with their next call."""
    with failing_clearly():
        home = data_folder()
        if found := control.stop(home):
            out.print(f"engine {found['pid']} has ended")
        elif pid := _silent_engine(home):
            psutil.Process(pid).terminate()
            control.wait_until_gone(home, pid)
            out.print(f"engine {pid} did not answer and was ended")
        else:
            out.print(f"no engine runs on {home}", soft_wrap=True)


def _shown(name: str, value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value) or "none"
    return f"{value} s" if name.endswith("_s") else str(value)


def _silent_engine(home: Path) -> int:
    """The engine that holds a folder and cannot be reached, 0 where there is none."""
    holder = holder_of(home)
    try:
        is_one = holder is not None and psutil.Process(holder.pid).cmdline()[-2:] == ["engine", "run"]
    except psutil.Error:
        return 0
    return holder.pid if holder and is_one else 0
