"""`mcp-memory profile` and `sync-notes`: who the user is as far as is remembered, here and in a host's notes file."""

import difflib
from typing import Annotated

import typer
from rich.text import Text

from .console import Json, failing_clearly, out, print_json, working_memory
from .notes import Edit, carry_out, plan_removal, plan_sync
from .pack_profile import profile_lines, profile_payload
from .redact import redact


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
    file: Annotated[str, typer.Argument(help="AGENTS.md, GEMINI.md, CLAUDE.md, .cursor/rules/memory.mdc …")],
    remove: Annotated[bool, typer.Option("--remove", help="Take the block out again.")] = False,
    max_tokens: Annotated[int, typer.Option(min=1, help="Most tokens of memories, 4 characters each.")] = 800,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the change.")] = False,
) -> None:
    """Write your profile into a marked block of a host's own notes file; nothing outside the marks changes."""
    with failing_clearly():
        edit = plan_removal(file) if remove else plan_sync(file, _profile_lines(max_tokens))
        if dry_run:
            _show(edit)
        else:
            carry_out(edit)
        out.print(Text(f"{edit.path}: {_outcome(edit, is_done=not dry_run)}"), soft_wrap=True)


def _profile_lines(max_tokens: int) -> list[str]:
    with working_memory("Reading") as memory:
        lines = profile_lines(memory.profile(), max_tokens)
    # The parts are without secrets; here what only a whole line shows.
    return [redact(line) for line in lines]


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
