"""The command line: the same operations as the tools, for people and for scripts (`--json`)."""

import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from . import (
    __version__,
    backup_commands,
    engine_commands,
    fact_commands,
    folder_commands,
    forget_commands,
    history_commands,
    hook_commands,
    host_commands,
    inputs,
    models,
    moving_commands,
    pack,
    pause_commands,
    profile_commands,
    user_commands,
)
from .console import Json, err, failing_clearly, out, print_json, shown_while, working_memory
from .http_address import HttpAddress
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

if TYPE_CHECKING:
    from .reports import Check

app = typer.Typer(
    help="Long-term memory for every agent you use, on your own machine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(backup_commands.backup)
app.command()(backup_commands.restore)
app.add_typer(models.app, name="models")
app.add_typer(engine_commands.app, name="engine")
app.add_typer(hook_commands.app, name="hook")
pause_commands.add_to(app)
folder_commands.add_to(app)
forget_commands.add_to(app)
moving_commands.add_to(app)
history_commands.add_to(app)
fact_commands.add_to(app)
host_commands.add_to(app)
profile_commands.add_to(app)
user_commands.add_to(app)


@app.callback(invoke_without_command=True)
def main(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """Long-term memory for every agent you use, on your own machine."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        # Some platforms' consoles have code pages of their own.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    if version:
        out.print(__version__)
        raise typer.Exit


@app.command()
def serve(
    foreground: Annotated[bool, typer.Option(help="Do it all in this process, without an engine.")] = False,
    http: Annotated[
        str,
        typer.Option(
            metavar="[HOST:PORT]",
            help=f"Serve MCP over HTTP instead, by default at {HttpAddress().authority}; `users add` makes tokens.",
        ),
    ] = "",
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A further name by which HTTP requests may ask; may be repeated."),
    ] = None,
) -> None:
    """Serve MCP over standard input and output, which is what hosts start; or over HTTP."""
    if http or allow_host:
        # What serves HTTP reads its arguments itself.
        err.print("usage: mcp-memory serve --http [HOST:PORT] [--allow-host NAME]")
        raise typer.Exit(2)
    if foreground:
        from .server import serve as run
    else:
        from .shim import serve as run
    run()


@app.command()
def demo() -> None:
    """Show the memory at work: two clients, one memory, in a temporary folder."""
    from .demo import run_demo

    with failing_clearly():
        run_demo(lambda line: out.print(Text(line), soft_wrap=True))


@app.command()
def add(
    text: Annotated[str, typer.Argument(help="What to remember; - reads standard input.")],
    infer: Annotated[bool, typer.Option(help="Queue for extraction by a language model.")] = False,
    about: Annotated[str, typer.Option(help="user or agent.")] = "user",
    kind: Annotated[str, typer.Option(help="fact, preference, event, plan, procedure, message or note.")] = "",
    run_id: Annotated[str, typer.Option(help="The conversation it belongs to.")] = "",
    observed_at: Annotated[str, typer.Option(help="ISO time at which it was said.")] = "",
    expires_at: Annotated[str, typer.Option(help="ISO time after which it is not found any more.")] = "",
    meta: Annotated[list[str] | None, typer.Option("--meta", help="Metadata KEY=VALUE; may be repeated.")] = None,
    as_json: Json = False,
) -> None:
    """Remember a text, word for word."""
    with working_memory("Remembering") as memory:
        result = memory.add(
            sys.stdin.read() if text == "-" else text,
            infer=infer,
            about=about,
            kind=kind,
            run_id=run_id,
            observed_at=observed_at,
            expires_at=expires_at,
            metadata=inputs.pairs_of("--meta", meta),
        )
    if as_json:
        print_json(pack.add_payload(result))
    else:
        out.print(Text(pack.add_lines(result)))


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to find, in plain words.")],
    top_k: Annotated[int, typer.Option(help="Most hits to show, 1 to 100.")] = 10,
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
    explain: Annotated[bool, typer.Option(help="Show every signal of every hit.")] = False,
    as_json: Json = False,
) -> None:
    """Find what answers a question."""
    with working_memory("Searching", catching_up=True) as memory:
        result = memory.search(
            query,
            top_k=top_k,
            threshold=threshold,
            scope=scope,
            run_id=run_id,
            as_of=as_of,
            known_at=known_at,
            filters=filters_of(about, kind, agent, since, until, meta),
        )
    if as_json:
        print_json(pack.search_payload(result, explain=explain))
        return
    for fact in result.facts:
        out.print(Text(pack.fact_line(fact)), soft_wrap=True)
    table = Table("id", "score", "date", "who", "text", box=None, pad_edge=False, header_style="bold")
    for hit in result.hits:
        memory_ = hit.memory
        table.add_row(
            memory_.id,
            f"{hit.score:.2f}",
            memory_.observed_at.date().isoformat(),
            Text(memory_.speaker or memory_.agent_id),
            Text(memory_.text),
        )
        if explain:
            table.add_row("", "", "", "", Text(pack.signal_line(hit), style="dim"))
    if result.hits:
        out.print(table)
    if explain and result.rewritten:
        out.print(Text(pack.rewritten_line(result), style="dim"))
    if result.notice:
        out.print(Text(result.notice))


@app.command(name="list")
def list_(
    about: About = "",
    kind: Kind = "",
    agent: Agent = "",
    since: Since = "",
    until: Until = "",
    meta: Meta = None,
    run_id: Annotated[str, typer.Option(help="Only this conversation.")] = "",
    state: Annotated[list[str] | None, typer.Option(help="States to list; default active and raw.")] = None,
    limit: Annotated[int, typer.Option(help="Most memories to list.")] = 50,
    offset: Annotated[int, typer.Option(help="Memories to leave out, newest first.")] = 0,
    as_json: Json = False,
) -> None:
    """List memories, newest first."""
    states = state or ["active", "raw"]
    with working_memory("Reading") as memory:
        found = memory.list(
            filters=filters_of(about, kind, agent, since, until, meta),
            states=states,
            run_id=run_id,
            # One more tells whether there are more.
            limit=limit + 1,
            offset=offset,
        )
    is_more, found = len(found) > limit, found[:limit]
    if as_json:
        print_json({"memories": [pack.memory_payload(record) for record in found]})
        return
    table = Table("id", "date", "who", "state", "text", box=None, pad_edge=False, header_style="bold")
    for record in found:
        table.add_row(
            record.id,
            record.observed_at.date().isoformat(),
            Text(record.speaker or record.agent_id),
            record.state,
            Text(record.text),
        )
    if found:
        out.print(table)
    more = f"; there are more: --offset {offset + limit}" if is_more else ""
    out.print(Text(f"{len(found)} shown{more}", style="dim"))


@app.command()
def rate(
    memory_id: Annotated[str, typer.Argument(help="The id that search or list shows.")],
    useful: Annotated[bool, typer.Option("--useful/--useless", help="Whether it was of use.")],
    as_json: Json = False,
) -> None:
    """Say whether a memory was of use; later searches go by it, within bounds."""
    with working_memory("Rating") as memory:
        result = memory.rate(memory_id, useful)
    if as_json:
        print_json(pack.rate_payload(result))
        return
    said = "useful" if result.is_useful else "useless"
    moved = f"importance {result.importance_before:.2f} → {result.importance:.2f}"
    out.print(Text(f"rated {result.id} {said}: {moved}"))


@app.command()
def stats(as_json: Json = False) -> None:
    """Count memories by state, entities, episodes and waiting jobs."""
    with working_memory("Counting") as memory:
        counts = memory.stats()
        where = {"user": memory.user_id, "folder": str(memory.folder)}
    if as_json:
        print_json({**where, **counts})
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in {**where, **counts}.items():
        table.add_row(name, Text(str(value)))
    out.print(table)


@app.command()
def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="First install again in hosts where something is broken.")] = False,
    as_json: Json = False,
) -> None:
    """Check folder, stores, index coverage, model and hosts; says `ok` or what to do. Fails when something is wrong."""
    from .doctor import examine, settings_in_force
    from .host_health import fix_hosts

    checks = []
    fixed: list[str] = []
    with failing_clearly():
        if fix:
            fixed = [line for lines in shown_while("Setting hosts right", [fix_hosts()]) for line in lines]
            for line in fixed if not as_json else ():
                out.print(Text(line), soft_wrap=True)
        for check in shown_while("Checking", examine()):
            checks.append(check)
            if not as_json:
                out.print(_check_line(check), soft_wrap=True)
        settings = settings_in_force() if checks[0].name == "settings" and checks[0].is_ok else []
    if as_json:
        print_json(
            {
                "checks": [{"name": c.name, "ok": c.is_ok, "found": c.found, "advice": c.advice} for c in checks],
                "settings": {name: {"value": value, "source": source} for name, value, source in settings},
                **({"fixed": fixed} if fix else {}),
            }
        )
    else:
        table = Table("setting", "value", "source", box=None, pad_edge=False, header_style="bold")
        for row in settings:
            table.add_row(*row)
        out.print(table)
    if not all(check.is_ok for check in checks):
        raise typer.Exit(1)


def _check_line(check: "Check") -> Text:
    mark, style = ("FIX ", "bold red") if not check.is_ok else ("note", "yellow") if check.advice else ("ok  ", "green")
    return Text.assemble((mark, style), f" {check.name}: {check.found}", f" → {check.advice}" if check.advice else "")
