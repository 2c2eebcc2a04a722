"""`mcp-memory profile`: who the user is, as far as it is remembered."""

from typing import Annotated

import typer
from rich.text import Text

from .console import Json, out, print_json, working_memory
from .pack_profile import profile_lines, profile_payload


def add_to(app: typer.Typer) -> None:
    """Add the commands to those of the program."""
    app.command()(profile)


def profile(
    max_tokens: Annotated[int, typer.Option(help="Most tokens to show, 4 characters each.")] = 10_000,
    as_json: Json = False,
) -> None:
    """Show who you are to your agents: a summary, facts, and the most important statements; secrets are left out."""
    with working_memory("Reading") as memory:
        found = memory.profile()
    if as_json:
        print_json(profile_payload(found))
        return
    lines = profile_lines(found, max_tokens, with_ids=True)
    out.print(Text("\n".join(lines) or "nothing is remembered of you yet"), soft_wrap=True)
