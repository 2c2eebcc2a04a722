"""What a language model may see of a message: its secrets replaced, its relative dates resolved beside their words."""

from bisect import bisect_right
from collections.abc import Collection, Iterable
from datetime import datetime

from .dates import resolve
from .redact import PLACEHOLDER, edited, find_secrets

# A shorter one may be any number: a PIN is looked for where its noun stands.
_MIN_SPOKEN_CHARS = 6


def spoken_secrets(texts: Iterable[str]) -> frozenset[str]:
    """The secrets in some texts of one conversation, to be hidden where they are said again without their noun.

    >>> sorted(spoken_secrets(["my password is plum-77x", "I typed plum-77x"]))
    ['plum-77x']
    """
    found = {text[secret.start : secret.end] for text in texts for secret in find_secrets(text)}
    return frozenset(value for value in found if len(value) >= _MIN_SPOKEN_CHARS)


def without_spoken(text: str, secrets: Collection[str]) -> str:
    """The text with these secrets replaced, the longest first."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, PLACEHOLDER)
    return text


def disclosed(text: str, said_at: datetime) -> str:
    """The text with its secrets replaced, and with the dates annotated that are no part of one.

    Both are looked for in the words as they were said: an annotation inside a secret would hide it, and a placeholder
    would come between a word and its date.

    >>> disclosed("I changed the password to plum77 yesterday", datetime(2026, 3, 11))
    'I changed the password to [secret] yesterday (2026-03-10)'
    """
    secrets = find_secrets(text)
    ends = [secret.end for secret in secrets]
    edits = [(secret.start, secret.end, PLACEHOLDER) for secret in secrets]
    for date in resolve(text, said_at):
        following = bisect_right(ends, date.start)
        if following == len(secrets) or secrets[following].start >= date.end:
            edits.append((date.end, date.end, f" ({date.iso})"))
    return edited(text, sorted(edits))
