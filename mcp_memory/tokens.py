"""The tokens in the log by which users come over HTTP: made, listed, revoked, recognised.

A token is `mcpm_ID_SECRET`. It is shown once, when it is made; what is kept of it is a hash, found by the id.
"""

import hashlib
import hmac
import re
import secrets
from datetime import datetime
from typing import Any

from sqlalchemy import insert, or_, select, update

from .log import Log
from .reports import Token, TokenState
from .schema import tokens

_SECRET_BYTES = 32
_SHAPE = re.compile(r"mcpm_([0-9a-z]{12})_[A-Za-z0-9_-]{43}")


def make_token(
    log: Log, identifier: str, user_id: str, label: str, now: datetime, expires_at: datetime | None
) -> tuple[str, Token]:
    """A new token of a user, as text and as it is listed.

    Raises:
        StorageError: nothing was written.
    """
    text = f"mcpm_{identifier}_{secrets.token_urlsafe(_SECRET_BYTES)}"
    token = Token(identifier, user_id, label, now, expires_at, "active")
    with log.writing() as connection:
        connection.execute(
            insert(tokens).values(
                id=identifier, user_id=user_id, label=label, hash=_hash(text), created_at=now, expires_at=expires_at
            )
        )
    return text, token


def list_tokens(log: Log, now: datetime) -> list[Token]:
    """All tokens, in the order in which they were made."""
    with log.reading() as connection:
        return [_token(row, now) for row in connection.execute(select(tokens).order_by(tokens.c.id))]


def revoke_tokens(log: Log, identifier: str, user_id: str, now: datetime) -> list[Token]:
    """Have the token of an id, and all those of a user, count no more; those of them that did until now.

    Raises:
        StorageError: nothing was written.
    """
    meant = or_(tokens.c.id == identifier, tokens.c.user_id == user_id)
    with log.writing() as connection:
        rows = connection.execute(
            update(tokens).where(meant, tokens.c.revoked_at.is_(None)).values(revoked_at=now).returning(tokens)
        ).all()
    return sorted((_token(row, now) for row in rows), key=lambda token: token.id)


def recognised(log: Log, text: str, now: datetime) -> Token | None:
    """The token that a text is, where it counts; None for any other text.

    Raises:
        StorageError: the log cannot be read.
    """
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        return None
    with log.reading() as connection:
        row = connection.execute(select(tokens).where(tokens.c.id == shape[1])).first()
    is_it = row is not None and hmac.compare_digest(row.hash, _hash(text))
    token = _token(row, now) if is_it else None
    return token if token and token.state == "active" else None


def _hash(text: str) -> str:
    # Fast on purpose: nobody guesses 256 random bits, however fast each try is. Slow hashes are for what people choose.
    return hashlib.sha256(text.encode()).hexdigest()


def _token(row: Any, now: datetime) -> Token:
    has_expired = row.expires_at is not None and row.expires_at <= now
    state: TokenState = "revoked" if row.revoked_at else "expired" if has_expired else "active"
    return Token(row.id, row.user_id, row.label, row.created_at, row.expires_at, state)
