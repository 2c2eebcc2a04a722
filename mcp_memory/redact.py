"""Secrets in a text, found by their shape or by the words before them, and taken out.

Three kinds of evidence: a shape that nothing else has (`secret_shapes`), a noun with a value after it in one of ten
languages ("the password is ...", `secret_values`), and a number that checks (`secret_cards`). Where the evidence is
weak the text stays: a sentence about passwords is a memory, a password is not. The text is looked at as it is and
without the dates that code has put into it: "see you tomorrow (2026-03-12)" is the same passphrase as before.

Every pattern starts at a rare word or is bounded in length, so that a long text costs time in proportion.
"""

from collections.abc import Iterable, Iterator
from itertools import chain

import regex

from .records import Secret
from .secret_cards import find_cards
from .secret_shapes import find_shapes
from .secret_values import find_named
from .written_dates import Unannotated

PLACEHOLDER = "[secret]"


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Every secret in a text, in order, none overlapping another or a placeholder.

    >>> [(text[s.start:s.end], s.kind) for text in ["PIN is 4821"] for s in find_secrets(text)]
    [('4821', 'pin')]
    """
    found: list[Secret] = []
    pieces = [(start, start + len(piece)) for start, piece in _split(text)]
    # What is left around a secret is searched again by itself, so that a second redaction finds what this one saw.
    clean = {""}
    while pieces:
        start, end = pieces.pop()
        piece = text[start:end]
        if piece in clean:
            continue
        here = _merge(chain(_find(piece), _find_unannotated(piece)))
        if not here:
            clean.add(piece)
            continue
        last = start
        for secret in here:
            found.append(Secret(start + secret.start, start + secret.end, secret.kind))
            pieces.append((last, start + secret.start))
            last = start + secret.end
        pieces.append((last, end))
    return tuple(sorted(found, key=lambda secret: secret.start))


def redact(text: str) -> str:
    """The text with each secret replaced by `PLACEHOLDER`; doing it twice changes nothing more.

    >>> redact("my wifi password is hunter2, user ana")
    'my wifi password is [secret], user ana'
    """
    return edited(text, [(secret.start, secret.end, PLACEHOLDER) for secret in find_secrets(text)])


def edited(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """The text with spans replaced: (start, end, replacement), in order and apart."""
    parts, last = [], 0
    for start, end, replacement in edits:
        parts += [text[last:start], replacement]
        last = end
    return "".join([*parts, text[last:]])


def holds_secret(text: str) -> bool:
    """Whether `redact` would change the text.

    >>> holds_secret("PIN is 4821"), holds_secret("I forgot my password")
    (True, False)
    """
    return bool(find_secrets(text))


def holds_only_secrets(text: str) -> bool:
    """Whether nothing of a text is left once its secrets are out."""
    return not regex.sub(r"\W+", "", redact(text).replace(PLACEHOLDER, ""))


def _find(text: str) -> Iterator[Secret]:
    return chain(find_shapes(text), find_named(text), find_cards(text))


def _find_unannotated(text: str) -> Iterator[Secret]:
    """The secrets of a text without its annotations, each with those inside it and the one after it, which dates it."""
    plain = Unannotated(text)
    if plain.text == text:
        return
    for secret in _find(plain.text):
        yield Secret(plain.original(secret.start), plain.original(secret.end), secret.kind)


def _split(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for piece in text.split(PLACEHOLDER):
        yield start, piece
        start += len(piece) + len(PLACEHOLDER)


def _merge(spans: Iterator[Secret]) -> list[Secret]:
    """The spans in order, those that overlap joined under the kind of the first."""
    merged: list[Secret] = []
    for secret in sorted(spans, key=lambda span: (span.start, -span.end)):
        if merged and secret.start < merged[-1].end:
            merged[-1] = Secret(merged[-1].start, max(merged[-1].end, secret.end), merged[-1].kind)
        elif secret.end > secret.start:
            merged.append(secret)
    return merged
