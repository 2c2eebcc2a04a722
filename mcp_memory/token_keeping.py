"""Who may come over HTTP: tokens made, listed and revoked by the owner of the folder, and recognised."""

from . import inputs, tokens
from .errors import InvalidInputError, NotFoundError
from .ids import canonical
from .parts import Parts
from .reports import NewToken, Token


class TokenKeeping:
    """The methods of `LocalMemory` about the tokens of all users of a folder. None of them is a tool."""

    _parts: Parts

    def add_token(self, user_id: str, *, label: str = "", expires_at: inputs.Moment = None) -> NewToken:
        """Make a token by which whoever shows it is this user. Its text is told here and never again.

        `label` names the client, where that does not name itself. Without `expires_at` it counts until it is revoked.

        Raises:
            InvalidInputError: the name is empty or long, or the time has passed.
            StorageError: nothing was written.
        """
        now = self._parts.clock()
        named = inputs.short("the user's name", user_id)
        if not named:
            raise InvalidInputError("the user's name is empty", hint="give one: mcp-memory users add NAME")
        until = inputs.moment("expires_at", expires_at)
        if until:
            inputs.to_come("expires_at", until, now)
        agent_id = inputs.agent_id_of(label) if label.strip() else ""
        text, token = tokens.make_token(self._parts.stores.log, self._parts.next_id(now), named, agent_id, now, until)
        return NewToken(text, token)

    def tokens(self) -> list[Token]:
        """The tokens of all users, oldest first; nobody can read from them what to show."""
        return tokens.list_tokens(self._parts.stores.log, self._parts.clock())

    def revoke_token(self, reference: str) -> list[Token]:
        """Have a token, by its id, or all tokens of a user, by name, count no more from the next request on.

        Raises:
            NotFoundError: none of these counts.
            StorageError: nothing was written.
        """
        named = inputs.short("the reference", reference)
        revoked = tokens.revoke_tokens(self._parts.stores.log, canonical(named) or "", named, self._parts.clock())
        if not revoked:
            raise NotFoundError(f"no token of {named!r} is there to revoke", hint="run: mcp-memory users list")
        return revoked

    def recognised(self, text: str) -> Token | None:
        """The token that a text is, None where it is none that counts: unknown, revoked or expired.

        Raises:
            StorageError: the log cannot be read.
        """
        return tokens.recognised(self._parts.stores.log, text, self._parts.clock())
