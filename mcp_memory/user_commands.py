"""`mcp-memory users`: who may come over HTTP."""

import re
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from .console import Json, out, print_json, warn, working_memory
from .errors import InvalidInputError
from .reports import Token

users = typer.Typer(help="Who may come over HTTP: tokens made, listed, revoked.", no_args_is_help=True)

_LASTS = re.compile(r"(\d{1,5})\s*([hdw])")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def add_to(app: typer.Typer) -> None:
    """Add the commands to those of the program."""
    users.command()(add)
    users.command(name="list")(list_tokens)
    users.command()(revoke)
    app.add_typer(users, name="users")


def add(
    name: Annotated[str, typer.Argument(help="Whose memory the token opens; a new name begins an empty one.")],
    label: Annotated[str, typer.Option(help="What a client is called that does not say its name.")] = "",
    expires: Annotated[str, typer.Option(help="When it ends to count: 90d, 12h, 4w, or an ISO time.")] = "",
    as_json: Json = False,
) -> None:
    """Make a token for a user; it is shown once, and only a hash of it is kept."""
    with working_memory("Making a token") as memory:
        made = memory.add_token(name, label=label, expires_at=expiry_of(expires, datetime.now(UTC)))
        own = memory.user_id
    if as_json:
        print_json({"token": made.text, **_shown(made.token)})
        return
    # Nothing but the token, so that it can be piped to where it is needed.
    out.print(Text(made.text), soft_wrap=True)
    if made.token.user_id != own:
        warn(f"it opens the memory of {made.token.user_id!r}; the memory of the hosts on this machine is {own!r}'s")
    warn("keep it: it is not shown again. A client sends it as header Authorization: Bearer TOKEN")


def list_tokens(as_json: Json = False) -> None:
    """List the tokens of all users, without what would have to be shown."""
    with working_memory("Reading") as memory:
        found = memory.tokens()
    _print(found, as_json=as_json)


def revoke(
    reference: Annotated[str, typer.Argument(metavar="ID|NAME", help="A token's id, or a user's name for all.")],
    as_json: Json = False,
) -> None:
    """Have a token, or all of a user, count no more, from the next request on."""
    with working_memory("Revoking") as memory:
        revoked = memory.revoke_token(reference)
    _print(revoked, as_json=as_json)


def expiry_of(given: str, now: datetime) -> datetime | str:
    """The time that a span such as 90d from now ends; anything else as it is.

    Raises:
        InvalidInputError: the span leads past all calendars.
    """
    span = _LASTS.fullmatch(given.strip().casefold())
    if span is None:
        return given
    try:
        return now + int(span[1]) * _UNITS[span[2]]
    except OverflowError as exc:
        raise InvalidInputError(f"--expires {given} is too long", hint="leave it out for a token without end") from exc


def _print(found: Sequence[Token], *, as_json: bool) -> None:
    if as_json:
        print_json([_shown(token) for token in found])
        return
    table = Table("id", "user", "label", "created", "expires", "state", box=None, pad_edge=False)
    for token in found:
        until = f"{token.expires_at:%Y-%m-%d %H:%M}" if token.expires_at else "never"
        table.add_row(
            *map(Text, (token.id, token.user_id, token.label, f"{token.created_at:%Y-%m-%d}", until, token.state))
        )
    out.print(table if found else Text("no tokens; to make one, run: mcp-memory users add NAME"))


def _shown(token: Token) -> dict[str, Any]:
    """A token for scripts, times as ISO text."""
    values = asdict(token) | {"created_at": token.created_at.isoformat()}
    return values | {"expires_at": token.expires_at.isoformat() if token.expires_at else None}
