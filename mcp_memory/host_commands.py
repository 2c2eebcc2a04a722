"""`mcp-memory install` and `uninstall`: setting up a host, shown before it is done, and undoing it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from .config_file import Change
from .console import Json, failing_clearly, out, print_json, shown_while

if TYPE_CHECKING:
    from .host_health import Condition
    from .install import Plan

Dry = Annotated[bool, typer.Option("--dry-run", help="Show the change and write nothing.")]
Name = Annotated[str, typer.Option("--name", help="What the entry is called; memory by default.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands to those of the program."""
    app.command()(install)
    app.command()(uninstall)


def install(
    host: Annotated[
        str, typer.Argument(help="claude-desktop, claude-code, cursor, vscode, codex, gemini or pi; none lists them.")
    ] = "",
    dry_run: Dry = False,
    check: Annotated[bool, typer.Option(help="Start the server as the host would before anything is written.")] = True,
    name: Name = "",
    as_json: Json = False,
) -> None:
    """Set up a host: its entry, and its hooks where it has any. Shows the change, keeps a copy, leaves all else."""
    # Imported here, as no other command needs them.
    from . import host_health
    from . import install as installing
    from .host_check import start_and_ask

    around = host_health.here()
    with failing_clearly():
        if not host:
            _list(host_health.conditions(around), as_json=as_json)
            return
        chosen = installing.host_named(host)
        plan = installing.plan_install(chosen, around, name=name)
        if check and not dry_run:
            for _ in shown_while("Starting the server as the host would", [0]):
                command, env = host_health.wanted(plan)
                answered = start_and_ask(command, env, os.environ)
            # The host may have written its file meanwhile.
            plan = installing.plan_install(chosen, around, name=name)
        _show(plan)
        if not plan.changes:
            out.print(f"{chosen.label} is set up already; nothing was changed")
        elif dry_run:
            out.print("nothing was written (--dry-run)")
        else:
            _tell_copies(installing.apply_install(plan, around))
            if check:
                out.print(f"the server answers with {len(answered.tools)} tools")
            out.print(Text(chosen.afterwards), soft_wrap=True)


def uninstall(
    host: Annotated[str, typer.Argument(help="claude-desktop, claude-code, cursor, vscode, codex, gemini or pi.")],
    dry_run: Dry = False,
    name: Name = "",
) -> None:
    """Take everything of mcp-memory out of a host again; its files are then as they were before."""
    from . import host_health
    from . import install as installing

    around = host_health.here()
    with failing_clearly():
        chosen = installing.host_named(host)
        plan = installing.plan_uninstall(chosen, around, name=name)
        _show(plan)
        if not plan.changes:
            out.print(f"{chosen.label} is not set up; nothing was changed")
        elif dry_run:
            out.print("nothing was written (--dry-run)")
        else:
            _tell_copies(installing.apply_uninstall(plan, around))
            out.print(f"taken out of {chosen.label}; sessions that run keep it until they end. Memories stay.")


def _show(plan: "Plan") -> None:
    for one in plan.changes:
        _print_diff(one)


def _print_diff(change: Change) -> None:
    from .install import diff

    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in diff(change):
        out.print(Text(line, style=colours.get(line[:1], "")), soft_wrap=True)


def _tell_copies(copies: Sequence[Path]) -> None:
    for copy in copies:
        out.print(Text(f"a copy of it as it was: {copy}"), soft_wrap=True)


def _list(found: Sequence["Condition"], *, as_json: bool) -> None:
    if as_json:
        rows = [
            {"host": one.host.name, "found": one.is_here, "set_up": one.is_set_up, "trouble": one.trouble}
            for one in found
        ]
        print_json({"hosts": rows})
        return
    table = Table("host", "program", "found here", "set up", box=None, pad_edge=False, header_style="bold")
    for one in found:
        set_up = one.trouble or ("yes" if one.is_set_up else "no")
        table.add_row(one.host.name, one.host.label, "yes" if one.is_here else "no", Text(set_up))
    out.print(table)
    out.print("to set one up, run: mcp-memory install HOST")
