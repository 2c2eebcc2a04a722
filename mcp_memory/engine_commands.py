"""`mcp-memory engine`: what runs, and ending it."""

import json
import time
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from .address import published
from .console import Json, failing_clearly, out, print_json
from .dial import dial
from .errors import StorageError
from .paths import data_folder

app = typer.Typer(help="The process that all hosts share: is it there, and end it.", no_args_is_help=True)
_LEAVE_S = 30.0


@app.command()
def status(as_json: Json = False) -> None:
    """Show the running engine of the data folder; exits with 1 where none runs."""
    with failing_clearly():
        found = _asked("status")
    if as_json:
        print_json(found or {})
    elif found:
        table = Table(box=None, show_header=False, pad_edge=False)
        for name, value in found.items():
            table.add_row(name.removesuffix("_s"), Text(f"{value} s" if name.endswith("_s") else str(value)))
        out.print(table)
    else:
        out.print(f"no engine runs on {data_folder()}", soft_wrap=True)
    if not found:
        raise typer.Exit(1)


@app.command()
def stop() -> None:
    """End the running engine; calls under way are answered first. Hosts start another one with their next call."""
    with failing_clearly():
        found = _asked("stop")
        if found is None:
            out.print(f"no engine runs on {data_folder()}", soft_wrap=True)
            return
        deadline = time.monotonic() + _LEAVE_S
        while (address := published(data_folder())) and address.pid == found["pid"]:
            if time.monotonic() > deadline:
                raise StorageError(f"engine {found['pid']} does not end", hint=f"end process {found['pid']}")
            time.sleep(0.02)
        out.print(f"engine {found['pid']} has ended")


def _asked(order: str) -> dict[str, Any] | None:
    """What the running engine answers to an order, None where none runs."""
    line = dial(data_folder(), "control")
    if line is None:
        return None
    try:
        line.send(order.encode() + b"\n")
        return dict(json.loads(line.reader.readline()))
    except (OSError, ValueError):
        return None
    finally:
        line.close()
