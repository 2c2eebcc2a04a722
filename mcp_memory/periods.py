"""The time that a text names: "in March", "last year", "since 2019", as a span of world time."""

from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache

import regex

from .date_rules import DAY, ORDINAL
from .date_words import CAPITALISED_ONLY, LANGUAGES
from .dates import resolve
from .text import detect_language
from .written_dates import dates_in, month_numbers

_DAY_END = time(23, 59, 59, 999999)
_MONTH_BEFORE = (
    r"(?:in|im|en|a|ad|au|mois de|nel|during|since|seit|desde|depuis|from|dal|da|back in|em|early"
    r"|late|mid-?|last|letzten|vergangenen|scorso)"
)
_DAY_BEFORE = (
    r"(?:on|since|from|as of|starting|before|after|seit|ab|am|vom|vor|nach|desde|el|del|depuis|le|du|dal?|il)"
    r"(?:\s(?:the|dem|der|el|le|il))?"
)
# Of these nothing but a time can follow before a month, whatever its name means elsewhere.
_BEFORE_ANY = regex.compile(r"(?i)(?:in|during|since|early|late|last)\s")
_YEAR = regex.compile(rf"(?i)\b{_MONTH_BEFORE}\s(?:l['’]?)?(?P<year>(?:19|20)\d\d)(?!\d|-\d)")


@dataclass(frozen=True, slots=True)
class Period:
    """A span of world time, both ends inclusive, aware UTC."""

    start: datetime
    end: datetime
    # Whether a year, or a word such as "last", leaves no doubt which one is meant.
    is_sure: bool = True

    def overlaps(self, begin: datetime | None, end: datetime | None) -> bool:
        """Whether something that held from `begin` until before `end` (None: open) held at some time of it."""
        return (begin is None or begin <= self.end) and (end is None or end > self.start)


def period_in(text: str, now: datetime) -> Period | None:
    """The one span that a text names, the latest one that is not after `now`; None where it names none or several.

    >>> period_in("what was my city in March?", datetime(2026, 11, 30, tzinfo=UTC)).start.isoformat()
    '2026-03-01T00:00:00+00:00'
    """
    found = {span for iso in _isos(text, now) if (span := _span(iso)) is not None}
    if not found:
        found = set(_bare(text, now))
    # A year that is written is meant.
    spans = {span if str(span.start.year) in text else _not_after(span, now.date()) for span in found}
    if len(spans) != 1:
        return None
    is_bare = _month_name().search(text) is not None and not _WRITTEN_YEAR.search(text)
    return replace(spans.pop(), is_sure=not is_bare)


def speaks_of_then(question: str) -> bool:
    """Whether a question is asked in the past tense, in one of the languages that facts are read in."""
    codes = [code for code in dict.fromkeys((detect_language(question), "en")) if code in LANGUAGES]
    return any(regex.search(LANGUAGES[code].past, question, regex.IGNORECASE) for code in codes)


def _isos(text: str, now: datetime) -> set[str]:
    return set(dates_in(text)) | {mention.iso for mention in resolve(text, now) if mention.iso}


def _bare(text: str, now: datetime) -> list[Period]:
    """Days of a month without their year, months without a day, and years alone."""
    days = {(month_numbers()[match["month"].lower()], int(match["day"])) for match in _days_of_months().finditer(text)}
    spans = [_days(day, day) for month, number in sorted(days) if (day := _day(now.year, month, number))]
    if spans:
        return spans
    for match in _months().finditer(text):
        name = match.group("month")
        # "in march" is a month, "on march" and "a mar" are none.
        is_sure = name[0].isupper() or match.group("year") or _BEFORE_ANY.match(match.group())
        if name.lower() in CAPITALISED_ONLY and not is_sure:
            continue
        month = month_numbers()[name.lower()]
        year = int(match.group("year") or now.year)
        spans.append(_of_month(year, month))
    if not spans:
        spans = [_of_year(int(match.group("year"))) for match in _YEAR.finditer(text)]
    return spans


def _day(year: int, month: int, number: int) -> date | None:
    """A day that there is, in the year before where a leap year is needed; None for the 31st of June."""
    for within in (year, year - 1, year - 2, year - 3):
        try:
            return date(within, month, number)
        except ValueError:
            continue
    return None


def _span(iso: str) -> Period | None:
    first, _, last = iso.partition(" to ")
    try:
        start, end = _ends(first), _ends(last or first)
    except ValueError:
        return None
    return Period(start.start, end.end)


def _ends(iso: str) -> Period:
    parts = [int(part) for part in iso.split("-")]
    if len(parts) == 1:
        return _of_year(parts[0])
    if len(parts) == 2:
        return _of_month(parts[0], parts[1])
    return _days(date(*parts), date(*parts))


def _of_year(year: int) -> Period:
    return _days(date(year, 1, 1), date(year, 12, 31))


def _of_month(year: int, month: int) -> Period:
    return _days(date(year, month, 1), date(year, month, monthrange(year, month)[1]))


def _days(first: date, last: date) -> Period:
    return Period(datetime.combine(first, time(), UTC), datetime.combine(last, _DAY_END, UTC))


def _not_after(span: Period, today: date) -> Period:
    """A span of days or months that lies ahead, a year earlier: who asks about March in May means the last one."""
    if span.start.date() <= today or span.end - span.start > timedelta(days=32):
        return span
    first, last = span.start.date(), span.end.date()
    try:
        earlier = first.replace(year=first.year - 1)
    except ValueError:  # 29 February
        earlier = first - timedelta(days=366)
    return _days(earlier, earlier + (last - first))


_WRITTEN_YEAR = regex.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


@cache
def _month_name() -> regex.Pattern[str]:
    names = "|".join(sorted(month_numbers(), key=len, reverse=True))
    return regex.compile(rf"(?i)\b(?:{names})\b")


@cache
def _days_of_months() -> regex.Pattern[str]:
    names = "|".join(sorted(month_numbers(), key=len, reverse=True))
    month, day = rf"(?P<month>{names})\b", rf"(?P<day>{DAY}){ORDINAL}"
    return regex.compile(
        rf"(?i)\b{_DAY_BEFORE}\s(?:{day}\s(?:(?:of|de|di)\s)?{month}\.?|{month}\.?\s(?:the\s)?{day})(?!\w|[.,]?\s?\d{{4}})"
    )


@cache
def _months() -> regex.Pattern[str]:
    names = "|".join(sorted(month_numbers(), key=len, reverse=True))
    return regex.compile(
        rf"(?i)(?:\b{_MONTH_BEFORE}\s)(?P<month>{names})\b(?:,?\s(?:of\s|de\s|del\s)?(?P<year>\d{{4}})(?!\d))?"
        rf"|\b(?P<month>{names})\s(?:of\s|de\s|del\s)?(?P<year>\d{{4}})(?!\d)"
    )
