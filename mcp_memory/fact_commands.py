"""`mcp-memory facts`: what is known as facts, one given by hand, and how far the vocabulary reaches."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from . import pack
from .console import Json, out, print_json, working_memory
from .records import Fact
from .reports import Counted

facts = typer.Typer(help="Facts: values by key, with the time in which they hold.", no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    """Add the commands to those of the program."""
    for command in (add, audit):
        facts.command()(command)
    facts.command(name="list")(list_facts)
    app.add_typer(facts, name="facts")


def list_facts(
    of: Annotated[str, typer.Option(help="Only of subjects with this in their name.")] = "",
    relation: Annotated[str, typer.Option(help="Only of this relation, as `facts audit` names them.")] = "",
    ended: Annotated[bool, typer.Option("--ended", help="Also those that hold no longer.")] = False,
    limit: Annotated[int, typer.Option(help="Most facts to show.")] = 100,
    as_json: Json = False,
) -> None:
    """List the facts in force, newest first."""
    with working_memory("Reading") as memory:
        found = memory.facts(of=of, relation=relation, ended=ended, limit=limit)
    if as_json:
        print_json([asdict(fact) for fact in found])
        return
    table = Table("subject", "relation", "value", "since", "until", "said by", "memory", box=None, pad_edge=False)
    for column in table.columns[3:]:
        column.no_wrap = True
    for fact in found:
        table.add_row(*map(Text, _row(fact)))
    out.print(table if found else Text("no facts"))


def add(
    subject: Annotated[str, typer.Argument(help='Whose: me, a name, "my sister", "Ana\'s boss".')],
    relation: Annotated[str, typer.Argument(help='Which: "phone number", boss, "billing unit", lives_in.')],
    value: Annotated[str, typer.Argument(help="What it is.")],
    since: Annotated[str, typer.Option(help="ISO date from which it holds; default now.")] = "",
    as_json: Json = False,
) -> None:
    """Remember a fact by hand; where there can be one only, it takes the place of the one before."""
    with working_memory("Remembering") as memory:
        result = memory.add_fact(subject, relation, value, since=since or None)
    if as_json:
        print_json(pack.add_payload(result))
    else:
        out.print(Text(pack.add_lines(result)), soft_wrap=True)


def audit(as_json: Json = False) -> None:
    """Count the facts in force by relation, and by label those that no relation of the vocabulary fits."""
    with working_memory("Counting") as memory:
        found = memory.audit_facts()
    if as_json:
        print_json(asdict(found))
        return
    for title, counted in (("relation", found.relations), ("said by", found.sources), ("other", found.other_labels)):
        _print_counts(title, counted)
    out.print(Text(f"ended: {found.n_ended}"))


def _print_counts(title: str, counted: Sequence[Counted]) -> None:
    if counted:
        table = Table(title, "facts", box=None, pad_edge=False)
        for one in counted:
            table.add_row(Text(one.name), str(one.n))
        out.print(table)
        out.print()


def _row(fact: Fact) -> tuple[str, ...]:
    until = fact.invalid_at.date().isoformat() if fact.invalid_at else ""
    value = fact.object if fact.holds else f"no longer {fact.object}".strip()
    return (
        fact.subject,
        fact.label or fact.relation,
        value,
        fact.valid_from.date().isoformat(),
        until,
        fact.source,
        fact.memory_id,
    )
