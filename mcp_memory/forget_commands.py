"""`mcp-memory delete` and `forget`: one memory, or all that something holds of; out of search, or purged."""

import sys
from typing import Annotated

import typer
from rich.text import Text

from . import pack
from .console import Json, failing_clearly, out, print_json, warn, working_memory
from .errors import InvalidInputError
from .inputs import where_pairs
from .records import Memory

Purge = Annotated[
    bool, typer.Option("--purge", help="Take it out of history and files as well, for good: there is no undo.")
]


def add_to(app: typer.Typer) -> None:
    """Add the commands to those of the program."""
    app.command()(delete)
    app.command()(forget)


def delete(
    memory_id: Annotated[str, typer.Argument(help="The id that search or list shows.")],
    purge: Purge = False,
    as_json: Json = False,
) -> None:
    """Delete one memory; undo brings it back, unless it is purged."""
    with working_memory("Purging" if purge else "Deleting") as memory:
        result = memory.delete(memory_id, purge=purge)
    if as_json:
        print_json(pack.delete_payload(result))
        return
    done = "purged" if purge else "deleted"
    out.print(Text(f"{done} {result.id}: {result.text}"))
    if notice := pack.delete_notice(result):
        warn(notice)


def forget(
    where: Annotated[
        list[str],
        typer.Option(
            "--where",
            help="KEY=VALUE; all hold. about, kind, agent, run_id, since, until, contains, state, meta.KEY.",
        ),
    ],
    purge: Purge = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count and show.")] = False,
    as_json: Json = False,
) -> None:
    """Delete all memories that something holds of, after showing how many that are; undo brings them back."""
    with failing_clearly():
        chosen = where_pairs("--where", where)
        if not (yes or dry_run or (sys.stdin.isatty() and not as_json)):
            raise InvalidInputError("nobody is there to be asked", hint="look with --dry-run, then give --yes")
    with working_memory("Counting") as memory:
        matching = memory.matching(chosen, purge=purge)
    if not as_json:
        for record in matching.newest:
            out.print(
                Text(f"{record.id}  {record.observed_at.date().isoformat()}  {_state(record)}{record.text}"),
                soft_wrap=True,
            )
        if matching.n > len(matching.newest):
            out.print(Text(f"… and {matching.n - len(matching.newest)} more", style="dim"))
    if dry_run or not matching.n:
        if as_json:
            print_json({"matching": matching.n, "forgotten": 0})
        else:
            out.print(Text(f"{matching.n} match; nothing was changed"))
        return
    way = "purge them for good" if purge else "delete them"
    if not yes and not typer.confirm(f"{matching.n} match: {way}?", err=True):
        raise typer.Exit(1)
    with working_memory("Purging" if purge else "Deleting") as memory:
        forgotten = memory.forget(chosen, expected=matching.mark, purge=purge)
    if as_json:
        told = {"matching": matching.n, "forgotten": forgotten.n, "change_id": forgotten.change_id}
        print_json({**told, "purged": forgotten.n_purged, "copies": list(forgotten.copies)})
        return
    if purge:
        led = forgotten.n_purged - forgotten.n
        out.print(Text(f"purged {forgotten.n}" + (f", and {led} that led to them" if led else "")))
    else:
        out.print(Text(f"deleted {forgotten.n}; to have them back: mcp-memory undo {forgotten.change_id}"))
    _name_copies(forgotten.copies)


def _state(record: Memory) -> str:
    return "" if record.state in ("active", "raw") else f"({record.state}) "


def _name_copies(paths: tuple[str, ...]) -> None:
    if paths:
        warn(f"copies of before are left as they are: {', '.join(paths)}")
