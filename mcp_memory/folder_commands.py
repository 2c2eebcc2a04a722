"""`mcp-memory verify`, `rebuild` and `reembed`: what derives from the log compared with it, and made anew from it."""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from .console import Json, measured_memory, out, print_json, reach_memory_with_its_own_model, warn
from .embedder import full_name
from .reports import Difference, Reembedded
from .settings import load_settings, naming_another_model

# Differences that are printed one by one.
_N_SHOWN = 20


def add_to(app: typer.Typer) -> None:
    """Add the commands to those of the program."""
    app.command()(verify)
    app.command()(rebuild)
    app.command()(reembed)


def verify(as_json: Json = False) -> None:
    """Compare every row of LanceDB, each field and vector, with the log; exits with 1 where one differs."""
    with measured_memory("Comparing") as (memory, show):
        found = memory.verify(show)
    if as_json:
        print_json({**asdict(found), "ok": not found.differences})
    else:
        for difference in found.differences[:_N_SHOWN]:
            out.print(_line(difference), soft_wrap=True)
        if (n_more := len(found.differences) - _N_SHOWN) > 0:
            out.print(Text(f"and {n_more} more (--json shows all)"), soft_wrap=True)
        rows = f"{found.n_memories} memories and {found.n_entities} entities"
        if found.differences:
            told = f"{len(found.differences)} differences in {rows}; to mend them, run: mcp-memory rebuild"
            out.print(Text(told), soft_wrap=True)
        else:
            out.print(Text(f"{rows}: all as in the log"))
    if found.differences:
        raise typer.Exit(1)


def rebuild(as_json: Json = False) -> None:
    """Make LanceDB's tables and the keyword index anew from the log; a run that was ended goes on the next time."""
    with measured_memory("Embedding") as (memory, show):
        made = memory.rebuild(show)
    if as_json:
        print_json(asdict(made))
        return
    resumed = f", {made.n_resumed} of them by an earlier run" if made.n_resumed else ""
    out.print(Text(f"made anew from the log: {made.n_memories} memories, {made.n_entities} entities{resumed}"))


def reembed(
    model: Annotated[
        str, typer.Option(help="Name or folder of the model to go over to; by default the one set, else the folder's.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Embed every memory anew, with another model or as prompts and weights are now; searches go on with the old.

    Ctrl-C ends it and changes nothing; the same command goes on where it stopped.
    """
    with measured_memory("Embedding", reach_memory_with_its_own_model) as (memory, show):
        try:
            made = memory.reembed(model, show)
        except KeyboardInterrupt:
            warn("Ended before its time: the folder keeps its model. The same command goes on where this one stopped.")
            raise
        # Those of the engine and those of this terminal.
        here = naming_another_model(load_settings().home, made.model, full_name)
    if as_json:
        print_json(asdict(made))
    else:
        out.print(Text(_told(made)), soft_wrap=True)
    for place in dict.fromkeys((*made.still_named, *here)):
        warn(f"{place}: with that the next start is refused; remove it, or set it to {made.model}")


def _told(made: Reembedded) -> str:
    told = f"{made.n_memories} memories and {made.n_entities} entities embedded with {made.model}"
    told += f" ({made.dimension} numbers each"
    if made.query_prompt or made.document_prompt:
        told += f", queries after {made.query_prompt!r}, memories after {made.document_prompt!r}"
    told += ")"
    if made.n_resumed:
        told += f", {made.n_resumed} of them by an earlier run"
    if made.model_before not in ("", made.model):
        told += f"; it was {made.model_before}"
    return told


def _line(difference: Difference) -> Text:
    where = f"{difference.table} {difference.id}".rstrip()
    return Text.assemble(
        (difference.flaw, "bold red"), f" {where}", f": {difference.detail}" if difference.detail else ""
    )
