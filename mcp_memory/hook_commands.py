"""`mcp-memory hook`, as the help shows it; what hosts run goes to `hooks` before this is imported."""

from typing import Annotated

import typer

app = typer.Typer(
    help="What hosts run by themselves: recall with a prompt, capture after a turn.", no_args_is_help=True
)

_Client = Annotated[str, typer.Argument(help="The host, such as claude-code, gemini or pi.")]
_Home = Annotated[str, typer.Option("--home", help="The data folder, where it is not the usual one.")]
_User = Annotated[str, typer.Option("--user", help="Whose memory, where it is not the folder's own user's.")]


@app.command()
def recall(client: _Client, home: _Home = "", user: _User = "") -> None:  # noqa: ARG001 - `hooks` reads them
    """Print what is remembered that bears on the prompt in the JSON on standard input; always exits with 0."""
    from .hooks import run

    run()


@app.command()
def capture(client: _Client, home: _Home = "", user: _User = "") -> None:  # noqa: ARG001
    """Take in what was said since the last time in the conversation of the JSON on standard input; exits with 0."""
    from .hooks import run

    run()
