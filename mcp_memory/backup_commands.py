"""`mcp-memory backup` and `mcp-memory restore`."""

from typing import Annotated

import typer
from rich.text import Text

from .console import Json, busy, failing_clearly, out, print_json, reach_memory
from .errors import StorageError
from .memory import LocalMemory
from .paths import data_folder
from .restore import RestoreResult
from .stores import LOG_NAME


def backup(
    target: Annotated[str, typer.Argument(help="The file to write; it must not exist.")], as_json: Json = False
) -> None:
    """Write a backup into one file, also while hosts are attached; LanceDB is derived and not in it."""
    with failing_clearly(), busy() as progress:
        progress.add_task("Backing up", total=None)
        if not (data_folder() / LOG_NAME).exists():
            raise StorageError(f"there is no memory in {data_folder()}", hint="set MCP_MEMORY_HOME to where it is")
        with reach_memory() as memory:
            result = memory.backup(target)
    held = result.manifest
    if as_json:
        print_json({"backup": result.path, "bytes": result.n_bytes, "made_at": held.made_at.isoformat(), **held.counts})
        return
    rest = "log and settings" if held.has_settings else "log"
    out.print(Text(f"{held.n_memories} memories in {result.path}, {result.n_bytes:,} bytes"), soft_wrap=True)
    out.print(Text(f"It holds the {rest}; LanceDB's tables are made anew from the log.", style="dim"), soft_wrap=True)


def restore(
    source: Annotated[str, typer.Argument(help="A file that `backup` has made.")], as_json: Json = False
) -> None:
    """Put a backup in place of the present memory, which is set aside. No host may be attached."""
    with failing_clearly(), busy() as progress:
        progress.add_task("Restoring", total=None)
        result = LocalMemory.restore(source)
    if as_json:
        print_json(
            {"folder": result.folder, "set_aside": result.set_aside, "made_at": result.manifest.made_at.isoformat(),
             **result.manifest.counts}
        )  # fmt: skip
        return
    for line in _told(result):
        out.print(Text(line), soft_wrap=True)


def _told(result: RestoreResult) -> list[str]:
    held = result.manifest
    lines = [
        f"{held.n_memories} memories of {held.made_at:%Y-%m-%d %H:%M} UTC restored to {result.folder}",
        f"what was there before is in {result.set_aside}" if result.set_aside else "",
        "LanceDB's tables are made anew from the log at the next start.",
    ]
    return [line for line in lines if line]
