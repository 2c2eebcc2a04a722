"""Identifiers: 12 characters of lower-case Crockford base32, ordered by time, unique under one writer."""

from datetime import UTC, datetime, timedelta

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 12
# 60 bits: 42 of milliseconds (until the year 2109), then a counter within the millisecond.
COUNTER_BITS = 18
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# What people mistype, as Crockford's base32 reads it.
_LOOK_ALIKES = str.maketrans({"o": "0", "i": "1", "l": "1", "-": ""})


class IdSequence:
    """Hands out ids that never repeat and never go backwards, even when the clock does.

    Not thread-safe: the one writer holds its lock while it draws ids.
    """

    def __init__(self, last: str = "") -> None:
        """Start after `last`, the largest id already stored ('' when there is none)."""
        self._last = decode(last) if last else 0

    def skip(self, through: str) -> None:
        """Have all later ids come after one that was given out elsewhere."""
        self._last = max(self._last, decode(through))

    def next(self, now: datetime) -> str:
        """The next id, at or after the millisecond of `now` (aware)."""
        in_time = (now - _EPOCH) // timedelta(milliseconds=1) << COUNTER_BITS
        # A clock past 2109 no longer fits: order and uniqueness come before it.
        self._last = max(self._last + 1, in_time if in_time < 1 << 5 * LENGTH else 0)
        return encode(self._last)


def encode(number: int) -> str:
    """The 12 characters of a number below 2**60, most significant first."""
    return "".join(ALPHABET[(number >> shift) & 31] for shift in range(5 * (LENGTH - 1), -1, -5))


def decode(identifier: str) -> int:
    """The number behind an id; inverse of `encode`.

    Raises:
        ValueError: a character outside the alphabet.
    """
    number = 0
    for character in identifier:
        number = number << 5 | ALPHABET.index(character)
    return number


def canonical(identifier: str) -> str | None:
    """The id as stored, from what a person or a model typed (case and look-alikes mended), or None."""
    mended = identifier.strip().strip("[]()\"'`").casefold().translate(_LOOK_ALIKES)
    return mended if len(mended) == LENGTH and all(c in ALPHABET for c in mended) else None
