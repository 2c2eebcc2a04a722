"""`mcp-memory show`, `history`, `update`, `undo` and `why-not`: single memories by their ids, changes by theirs."""

import sys
from typing import Annotated, Any

import typer
from rich.text import Text

from . import inputs, pack, pack_changes
from .console import Json, out, print_json, working_memory
from .options import (
    About,
    Agent,
    AsOf,
    Kind,
    KnownAt,
    Meta,
    Scope,
    ScopeRun,
    Since,
    Threshold,
    Until,
    filters_of,
)  # fmt: skip

MemoryId = Annotated[str, typer.Argument(help="The id that search or list shows.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands to those of the program."""
    for command in (show, history, update, undo):
        app.command()(command)
    app.command(name="why-not")(why_not)


def show(memory_id: MemoryId, as_json: Json = False) -> None:
    """Show one memory with all its fields."""
    with working_memory("Reading") as memory:
        found = memory.get(memory_id)
    if as_json:
        print_json(pack.memory_payload(found))
        return
    for name, value in pack.memory_payload(found).items():
        told = ", ".join(value) if isinstance(value, list) else str(value)
        out.print(Text(f"{name:<12} {told}"), soft_wrap=True)


def history(memory_id: MemoryId, as_json: Json = False) -> None:
    """Show what has happened to a memory, deleted ones too: its changes with their ids, its facts, what replaced it."""
    with working_memory("Reading") as memory:
        result = memory.history(memory_id)
    _print(pack_changes.history_payload(result), pack_changes.history_lines(result), as_json)


def update(
    memory_id: MemoryId,
    text: Annotated[str, typer.Option(help="The corrected statement; - reads standard input.")] = "",
    kind: Annotated[str, typer.Option(help="fact, preference, event, plan, procedure, message or note.")] = "",
    importance: Annotated[float | None, typer.Option(help="How much it matters, 0 to 1.")] = None,
    expires_at: Annotated[str, typer.Option(help="ISO time after which it is not found any more, or never.")] = "",
    meta: Annotated[list[str] | None, typer.Option("--meta", help="KEY=VALUE in place of all metadata.")] = None,
    as_json: Json = False,
) -> None:
    """Correct a memory in place; what is left out stays as it is, and its history keeps what was."""
    with working_memory("Correcting") as memory:
        result = memory.update(
            memory_id,
            text=sys.stdin.read() if text == "-" else text,
            kind=kind,
            importance=importance,
            expires_at=expires_at,
            metadata=inputs.pairs_of("--meta", meta) if meta else None,
        )
    _print(pack_changes.update_payload(result), pack_changes.update_lines(result), as_json)


def undo(
    change_id: Annotated[str, typer.Argument(help="The id of a change, as `history` shows it.")], as_json: Json = False
) -> None:
    """Undo a change, also an undo; says what has to be undone first where later changes stand in the way."""
    with working_memory("Undoing") as memory:
        result = memory.undo(change_id)
    _print(pack_changes.undo_payload(result), pack_changes.undo_lines(result), as_json)


def why_not(
    memory_id: MemoryId,
    query: Annotated[str, typer.Argument(help="What was searched for.")],
    top_k: Annotated[int, typer.Option(help="Most hits, 1 to 100.")] = 10,
    threshold: Threshold = 0.0,
    scope: Scope = "",
    run_id: ScopeRun = "",
    as_of: AsOf = "",
    known_at: KnownAt = "",
    about: About = "",
    kind: Kind = "",
    agent: Agent = "",
    since: Since = "",
    until: Until = "",
    meta: Meta = None,
    as_json: Json = False,
) -> None:
    """Say why a search does not return a memory: hidden by what, or ranked where and by which signals."""
    with working_memory("Searching") as memory:
        result = memory.why_not(
            memory_id,
            query,
            top_k=top_k,
            threshold=threshold,
            scope=scope,
            run_id=run_id,
            as_of=as_of,
            known_at=known_at,
            filters=filters_of(about, kind, agent, since, until, meta),
        )
    _print(pack_changes.why_not_payload(result), pack_changes.why_not_lines(result), as_json)


def _print(payload: dict[str, Any], lines: str, as_json: bool) -> None:
    if as_json:
        print_json(payload)
    else:
        out.print(Text(lines), soft_wrap=True)
