"""Card numbers, by Luhn's check, with the security codes and expiry dates beside them."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

import regex

from .records import Secret
from .secret_words import EXPIRES, NAMING, SECURITY_CODE, VERBS, any_of

_DIGIT_RUN = regex.compile(r"(?<![A-Za-z\d+])(?<!\d[.-])\d++(?:[ \u00a0\u2009.–-]\d++)*+")
# Longer numbers, IBANs and UUIDs, parts of which may pass for a card.
_NOT_CARD = regex.compile(
    r"(?<![A-Za-z0-9])(?:[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?"
    r"|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?![A-Za-z0-9])"
)
_NUMBER = regex.compile(r"\d+")
_ISSUER = regex.compile(r"[3-6]|2[2-7]")
_MAX_GROUPS, _MIN_CARD, _MAX_CARD = 8, 13, 19
_NEAR_CARD = 150
_MONTH = r"(?:0?[1-9]|1[0-2])\s?[/.|–-]\s?(?:20)?\d\d|20\d\d[/.年-]\d{1,2}月?|\p{L}{3,9}\.?\s20\d\d"
_DATE = rf"(?P<s>(?<!\d)(?:{_MONTH})(?!\d|[/.-]\d))"
_AFTER_CARD = regex.compile(
    rf"[^\d\n]{{0,25}}{_DATE}(?:[^\d\n]{{1,20}}(?P<s>\d{{3,4}})(?!\d))?|[\s,;|/]{{1,3}}(?P<s>\d{{3}})(?![\d/.-])"
)
_EXPIRY = regex.compile(rf"(?:{any_of(EXPIRES)})[^\d\n]{{0,25}}?{_DATE}", regex.IGNORECASE)
_CVC = regex.compile(
    rf"(?:{any_of(SECURITY_CODE)})(?:[ -]?(?:code|number|value|nummer))?\)?"
    rf"(?:\s*(?:{any_of(VERBS)}|{any_of(NAMING)}|[是为は]))?[\s:：=#.(|-]{{0,4}}"
    r"(?P<s>\d{3,4})(?!\d|[-\s]{1,2}(?:digit|stell|cifr|chiffr))",
    regex.IGNORECASE,
)


def find_cards(text: str) -> Iterator[Secret]:
    """Card numbers and security codes, and the expiry dates within `_NEAR_CARD` characters of either."""
    blanked = _NOT_CARD.sub(lambda match: "x" * len(match.group()), text)
    anchors = [match.span("s") for match in _CVC.finditer(text)]
    for run in _DIGIT_RUN.finditer(blanked):
        for start, end in _card_numbers(run):
            anchors.append((start, end))
            if after := _AFTER_CARD.match(text, end):
                anchors += after.spans("s")
    anchors.sort()
    yield from (Secret(start, end, "card") for start, end in anchors)
    ends = [end for _, end in anchors]
    for match in _EXPIRY.finditer(text) if anchors else ():
        start, end = match.span("s")
        nearest = bisect_left(ends, start - _NEAR_CARD)
        if nearest < len(anchors) and anchors[nearest][0] <= end + _NEAR_CARD:
            yield Secret(start, end, "card")


def _card_numbers(run: regex.Match[str]) -> Iterator[tuple[int, int]]:
    """The spans in a run of digit groups that are laid out like a card's number and pass its check."""
    body = run.group()
    groups = [match.span() for match in _NUMBER.finditer(body)]
    first = 0
    while first < len(groups):
        sizes: list[int] = []
        best = 0
        for last in range(first, min(first + _MAX_GROUPS, len(groups))):
            start, end = groups[last]
            sizes.append(end - start)
            if sum(sizes) > _MAX_CARD:
                break
            if _is_layout(sizes, whole=len(sizes) == len(groups)) and _is_card(body[groups[first][0] : end]):
                best = last + 1
        if best:
            yield run.start() + groups[first][0], run.start() + groups[best - 1][1]
        first = best or first + 1


def _is_layout(sizes: Sequence[int], whole: bool) -> bool:
    if sum(sizes) < _MIN_CARD:
        return False
    in_fours = all(size == 4 for size in sizes[:-1]) and sizes[-1] <= 4
    return len(sizes) == 1 or in_fours or tuple(sizes[:2]) == (4, 6) or (whole and min(sizes) >= 2)


def _is_card(number: str) -> bool:
    """Whether 13 to 19 digits pass Luhn's check and begin as cards do.

    >>> _is_card("4111111111111111"), _is_card("4111111111111112"), _is_card("350000000000006")
    (True, False, False)

    Source: H. P. Luhn, US patent 2950048 (1960).
    """
    digits = [int(character) for character in reversed(number) if character.isdecimal()]
    # Fifteen digits that begin with 35 or 86 are a telephone's serial number, which passes the same check.
    telephone = len(digits) == 15 and number[:2] not in ("34", "37")
    if telephone or not _MIN_CARD <= len(digits) <= _MAX_CARD or not _ISSUER.match(number):
        return False
    return (sum(digits[::2]) + sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2])) % 10 == 0
