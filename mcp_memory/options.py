"""Options that several commands of the command line have: what a search may see, and the filters, also of a list."""

from typing import Annotated, Any

import typer

from . import inputs

Threshold = Annotated[float, typer.Option(help="Least relevance of a hit, 0 to 1.")]
Scope = Annotated[str, typer.Option(help="all, user, agent or run; by default as set.")]
ScopeRun = Annotated[str, typer.Option(help="The conversation, for scope run.")]
AsOf = Annotated[str, typer.Option(help="ISO date: leave out what came later.")]
KnownAt = Annotated[str, typer.Option(help="ISO date: what had been recorded by then.")]
About = Annotated[str, typer.Option(help="Only about: user or agent.")]
Kind = Annotated[str, typer.Option(help="Only this kind: fact, preference, event, plan, procedure, message, note.")]
Agent = Annotated[str, typer.Option(help="Only what this agent wrote.")]
Since = Annotated[str, typer.Option(help="Only observed at or after this ISO date.")]
Until = Annotated[str, typer.Option(help="Only observed at or before this ISO date.")]
Meta = Annotated[list[str] | None, typer.Option("--meta", help="Only with metadata KEY=VALUE; may be repeated.")]


def filters_of(about: str, kind: str, agent: str, since: str, until: str, meta: list[str] | None) -> dict[str, Any]:
    """The filters that some options ask for.

    Raises:
        InvalidInputError: one of `--meta` is no KEY=VALUE.
    """
    return {
        "about": about, "kind": kind, "agent": agent, "since": since, "until": until,
        "metadata": inputs.pairs_of("--meta", meta),
    }  # fmt: skip
