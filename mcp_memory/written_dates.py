"""The absolute dates that a text names: in ISO form, or written with a month's name and a year in any language.

And those that code has put into it, in round brackets after a relative date: `Unannotated` is the text without them.
"""

from bisect import bisect_right
from datetime import date
from functools import cache

import regex

from .date_rules import DAY, ORDINAL
from .date_words import LANGUAGES
from .patterns import compiled

# A day, a month or a year.
ISO = r"\d{4}(?:-\d\d(?:-\d\d)?)?"
_ANNOTATION = regex.compile(rf" ?[(（]{ISO}(?: to {ISO})?[)）]")
_ISO_DATE = regex.compile(r"(?<![\d-])\d{4}-\d\d(?:-\d\d)?(?![\d]|-\d)")


class Unannotated:
    """A text without the dates that stand in round brackets in it, and its places in the text as it was.

    >>> plain = Unannotated("see you today (2026-03-11), ok")
    >>> plain.text, plain.original(12), plain.original(13)
    ('see you today, ok', 12, 26)
    """

    def __init__(self, annotated: str) -> None:
        pieces: list[str] = []
        self._marks: list[int] = []
        self._cuts = [0]
        last = 0
        for match in _ANNOTATION.finditer(annotated):
            pieces.append(annotated[last : match.start()])
            self._marks.append(match.start() - self._cuts[-1])
            self._cuts.append(self._cuts[-1] + len(match.group()))
            last = match.end()
        self.text = "".join([*pieces, annotated[last:]])

    def original(self, place: int) -> int:
        """Where a place of `text` is in the annotated text: behind an annotation that stands there."""
        return place + self._cuts[bisect_right(self._marks, place)]


def dates_in(text: str) -> frozenset[str]:
    """The absolute dates that a text names, as ISO: days, and months with their year.

    >>> sorted(dates_in("on 2026-03-13, not on March 14th, 2026"))
    ['2026-03-13', '2026-03-14']
    """
    found = {m.group() for m in _ISO_DATE.finditer(text)}
    numbers = month_numbers()
    for match in _written().finditer(text):
        month = numbers[match["month"].lower()]
        day = f"-{int(match['day']):02}" if match["day"] else ""
        found.add(f"{int(match['year']):04}-{month:02}{day}")
    return frozenset(iso for iso in found if _is_date(iso))


def without_dates(text: str) -> str:
    """The text without the absolute dates that `dates_in` finds.

    >>> without_dates("two tickets for 2026-03-13")
    'two tickets for  '
    """
    return _written().sub(" ", _ISO_DATE.sub(" ", text))


def _is_date(iso: str) -> bool:
    try:
        date.fromisoformat(iso if len(iso) == 10 else f"{iso}-01")
    except ValueError:
        return False
    return True


@cache
def month_numbers() -> dict[str, int]:
    """The number of a month, 1 to 12, by its name in any language."""
    return {
        name: place
        for words in LANGUAGES.values()
        for place, names in enumerate(words.months.split(), 1)
        for name in names.split("|")
    }


@cache
def _written() -> regex.Pattern[str]:
    """Dates with a month's name and a year, in any language's order."""
    names = "|".join(sorted(month_numbers(), key=len, reverse=True))
    month, day, year = rf"(?P<month>{names})", rf"(?P<day>{DAY}){ORDINAL}", r"(?P<year>\d{4})(?!\d)"
    of = r"(?:(?:of|de|del|di)[ ])?"
    return compiled(
        rf"(?<![\w.])(?:{day}[ ]{of})?{month}\.?,?[ ]{of}{year}"
        rf"|(?<!\w){month}\.?[ ](?:the[ ])?{day},?[ ]{of}{year}"
        rf"|(?<!\d){year}年[ ]?{month}(?:[ ]?(?P<day>{DAY})[日号號])?"
    )
