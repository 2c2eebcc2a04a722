"""`mcp-memory profile` and `sync-notes`: who the user is as far as is remembered, here and in a host's notes file."""

import difflib
from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from .console import Json, failing_clearly, out, print_json, reach_memory, working_memory
from .errors import InvalidInputError
from .notes import Edit, carry_out, plan_removal, plan_sync
from .pack_profile import notes_lines, profile_lines, profile_payload


def add_to(app: typer.Typer) -> None:
    """Add the commands to those of the program."""
    app.command()(profile)
    app.command(name="sync-notes")(sync_notes)


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


def sync_notes(
    file: Annotated[
        str, typer.Argument(help="AGENTS.md, GEMINI.md, CLAUDE.md, .cursor/rules/memory.mdc …; by default all kept.")
    ] = "",
    remove: Annotated[
        bool, typer.Option("--remove", help="Take the block out again, and keep the file no more.")
    ] = False,
    once: Annotated[bool, typer.Option("--once", help="Write the file now, and do not keep it up to date.")] = False,
    max_tokens: Annotated[int, typer.Option(min=1, help="Most tokens of memories, 4 characters each.")] = 800,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the change.")] = False,
    as_json: Json = False,
) -> None:
    """Keep your profile in a marked block of a host's own notes file; nothing outside the marks changes.

    From then on the file is brought up to date by itself when the profile changes. Without FILE, all such files are
    brought up to date now, and listed.
    """
    if file:
        edit = _removed(file, dry_run=dry_run) if remove else _synced(file, max_tokens, once=once, dry_run=dry_run)
        outcome = _outcome(edit, is_done=not dry_run)
        if as_json:
            print_json({"path": str(edit.path), "outcome": outcome, "kept": not (remove or once or dry_run)})
        else:
            out.print(Text(f"{edit.path}: {outcome}"), soft_wrap=True)
        return
    with failing_clearly():
        if remove or once or dry_run:
            raise InvalidInputError("no file is named", hint="name the notes file, e.g. AGENTS.md")
    _refresh(as_json=as_json)


def _synced(file: str, max_tokens: int, *, once: bool, dry_run: bool) -> Edit:
    """The file with the profile in its block, written and kept up to date as far as is wanted."""
    with working_memory("Reading") as memory:
        edit = plan_sync(file, notes_lines(memory.profile(), max_tokens))
        if dry_run:
            _show(edit)
            return edit
        carry_out(edit)
        if not once:
            # Last: only a block that is there is kept.
            memory.keep_notes(str(edit.path), max_tokens)
    return edit


def _removed(file: str, *, dry_run: bool) -> Edit:
    """The file without the block. It is kept no more, even where the block cannot be taken out."""
    with failing_clearly():
        if dry_run:
            edit = plan_removal(file)
            _show(edit)
            return edit
        try:
            edit = plan_removal(file)
            carry_out(edit)
        finally:
            with reach_memory() as memory:
                memory.forget_notes(file)
    return edit


def _refresh(*, as_json: bool) -> None:
    with working_memory("Writing") as memory:
        files = memory.refresh_notes()
    if as_json:
        print_json([asdict(file) for file in files])
    elif not files:
        out.print("no notes file is kept up to date; to have one, run: mcp-memory sync-notes FILE", soft_wrap=True)
    else:
        for file in files:
            told = f": {file.trouble}\n→ {file.advice}" if file.trouble else ""
            out.print(Text(f"{file.path}: {file.outcome}{told}"), soft_wrap=True)
    if any(file.trouble for file in files):
        raise typer.Exit(1)


def _outcome(edit: Edit, *, is_done: bool) -> str:
    if not edit.is_change:
        return "nothing to change"
    what = "removed" if edit.after is None else "made" if edit.before is None else "written"
    return what if is_done else f"would be {what}"


def _show(edit: Edit) -> None:
    before, after = ((text or "").splitlines() for text in (edit.before, edit.after))
    old, new = ("nothing" if text is None else str(edit.path) for text in (edit.before, edit.after))
    for line in difflib.unified_diff(before, after, old, new, lineterm=""):
        out.print(Text(line), soft_wrap=True)
