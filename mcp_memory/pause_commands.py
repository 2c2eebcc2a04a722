"""`mcp-memory pause` and `resume`: keeping the memory out of what a client does."""

from collections.abc import Collection
from typing import Annotated

import typer
from rich.text import Text

from .console import Json, out, print_json, warn, working_memory
from .hosts import HOSTS
from .inputs import agent_id_of


def add_to(app: typer.Typer) -> None:
    """Add the commands to those of the program."""
    app.command()(pause)
    app.command()(resume)


def pause(
    client: Annotated[str, typer.Argument(help="Its name, such as claude-code or pi; by default every client.")] = "",
    as_json: Json = False,
) -> None:
    """Keep out of all that a client does: no recall, no capture, and its tools refuse, until `resume`."""
    with working_memory("Pausing") as memory:
        memory.pause(client)
        paused = memory.paused()
    if client and not as_json and agent_id_of(client) not in HOSTS:
        warn(f"{client!r} is no host that mcp-memory installs into ({', '.join(HOSTS)}); taken as the name of a client")
    _show(paused.keys(), as_json=as_json)


def resume(
    client: Annotated[str, typer.Argument(help="Its name; by default whoever is paused.")] = "", as_json: Json = False
) -> None:
    """End the pause of a client, or every pause."""
    with working_memory("Resuming") as memory:
        is_ended = memory.resume(client)
        paused = memory.paused()
    if not is_ended and not as_json:
        out.print(Text(f"{client or 'nobody'} was not paused"))
    _show(paused.keys(), as_json=as_json)


def _show(paused: Collection[str], *, as_json: bool) -> None:
    names = [name or "every client" for name in paused]
    if as_json:
        print_json({"paused": names})
    else:
        out.print(Text(f"paused: {', '.join(names) or 'nobody'}"))
