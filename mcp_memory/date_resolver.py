"""What a relative date stands for on the day on which it was said: a day, week, month or year, if one is certain."""

from calendar import monthrange
from datetime import date, timedelta

import regex

from .date_context import DateContext
from .date_phrases import DatePhrase, Page
from .date_rules import day_number, number_of, place_of
from .date_words import LANGUAGES
from .patterns import compiled
from .written_dates import ISO

_IN_CALENDAR = regex.compile(rf"(?!0000)(?:{ISO} to )?{ISO}")
_YEAR_AFTER = regex.compile(r"[\s,.]{0,3}(?:(?:of|de|del|des|do|di)\s+)?['’]?\d{2,4}(?!\d)|\s*[-–/]\s*\d|\s*年")
_DAY_AFTER = regex.compile(r"[\s,(（]{0,3}(?:(?:the|den|dem|der|le|el|il|dia)\s+)?\d")
_UNITS = ("days", "weeks", "months", "years")
# "On 3 March", said a week later without a sign of tense, is more likely past than a year ahead.
_RECENT_DAYS = 45


class DateResolver:
    """The relative dates of a text, read on one day."""

    def __init__(self, page: Page, today: date) -> None:
        self._text = page.text
        self._today = today
        self._context = DateContext(page)

    def iso(self, phrase: DatePhrase) -> str:
        """The date that an expression stands for, or '' where that is not certain."""
        try:
            iso = self._iso(phrase)
        except (ValueError, OverflowError):
            # A day that the calendar has not: 30 February, or a year before the first.
            return ""
        return iso if _IN_CALENDAR.fullmatch(iso) else ""

    def _iso(self, phrase: DatePhrase) -> str:
        kind, offset = phrase.rule.kind, phrase.rule.offset
        if kind == "open":
            return ""
        if kind == "n":
            return self._counted(phrase)
        if kind in _UNITS:
            if offset > 0 and self._context.tense(phrase) != "coming":
                return ""
            return _moved(self._today, kind, offset)
        if kind == "day":
            return (self._today + timedelta(offset)).isoformat()
        if kind in ("week", "weekend", "month", "year"):
            return self._period(kind, offset)
        if kind in ("bare", "last", "this", "next", "agree", "coming", "weekday", "since_day", "from"):
            return self._weekday(phrase)
        return self._day_and_month(phrase)

    def _counted(self, phrase: DatePhrase) -> str:
        words, sign = LANGUAGES[phrase.rule.code], phrase.rule.offset
        count = number_of(phrase.groups["n"], words.numbers)
        unit = place_of(phrase.groups["unit"], words.units)
        if sign > 0:
            start, end = self._context.clause(phrase)
            if self._context.tense(phrase) != "coming" or compiled(words.duration).search(self._text[start:end]):
                return ""
        return _moved(self._today, _UNITS[unit], sign * count)

    def _period(self, kind: str, offset: int) -> str:
        if kind == "year":
            return f"{self._today.year + offset:04}"
        if kind == "month":
            return _moved(self._today.replace(day=1), "months", offset)[:7]
        monday = self._today + timedelta(7 * offset - self._today.weekday())
        first = monday + timedelta(5 if kind == "weekend" else 0)
        return f"{first.isoformat()} to {(monday + timedelta(6)).isoformat()}"

    def _weekday(self, phrase: DatePhrase) -> str:
        kind, words = phrase.rule.kind, LANGUAGES[phrase.rule.code]
        name = phrase.groups["weekday"] if "weekday" in phrase.groups else self._last_word(phrase).partition("-")[0]
        wanted = place_of(name, words.weekdays.split())
        if _DAY_AFTER.match(self._text, phrase.end):
            return ""
        days = wanted - self._today.weekday()
        coming, latest = days % 7 or 7, days % 7 - 7
        if kind == "bare":
            tense = self._context.tense(phrase) if days else ""
            distance = {"coming": coming, "past": latest}.get(tense)
        else:
            distance = {
                "weekday": days + 7 * phrase.rule.offset,
                "last": latest,
                "next": days + 7,
                "coming": coming,
                # Two readings in use: the coming one and that of next week.
                "agree": coming if coming == days + 7 else None,
                "this": days if days >= 0 else None,
                # On that weekday itself: today, or a week ago.
                "since_day": latest if days else None,
                "from": coming + 7 * number_of(phrase.groups.get("n", ""), words.numbers) if days else None,
            }[kind]
        return "" if distance is None else (self._today + timedelta(distance)).isoformat()

    def _last_word(self, phrase: DatePhrase) -> str:
        return self._text[phrase.start : phrase.end].split()[-1].lower()

    def _day_and_month(self, phrase: DatePhrase) -> str:
        kind, words, today = phrase.rule.kind, LANGUAGES[phrase.rule.code], self._today
        if _YEAR_AFTER.match(self._text, phrase.end):
            return ""
        months = words.months.split()
        month = place_of(phrase.groups["month"] if "month" in phrase.groups else self._last_word(phrase), months)
        if month < 0:
            return ""
        month += 1
        tense = "past" if kind == "since" else self._context.tense(phrase)
        if kind == "since" and self._context.has_other_frame(phrase):
            return ""
        if kind != "date":
            past = today.year - (month > today.month)
            year = {"past": past, "coming": today.year + (month < today.month)}.get(tense)
            recent = tense == "coming" and 0 < (today.month - month) % 12 <= 1 and not self._context.is_future(phrase)
            return "" if year is None or recent else f"{year:04}-{month:02}"
        day = day_number(phrase.groups["day"], words.ordinals)
        this = [
            date(year, month, day) for year in (today.year - 1, today.year, today.year + 1) if _fits(year, month, day)
        ]
        past_day = max((d for d in this if d <= today), default=None)
        next_day = min((d for d in this if d >= today), default=None)
        return self._chosen(phrase, tense, past_day, next_day)

    def _chosen(self, phrase: DatePhrase, tense: str, past: date | None, coming: date | None) -> str:
        before = self._text[max(0, phrase.start - 24) : phrase.start].lower()
        names = LANGUAGES[phrase.rule.code].weekdays.split()
        named = {place_of(word, names) for word in regex.findall(r"[\w-]+", before)} - {-1}
        if named and tense:
            fitting = {day for day in (past, coming) if day and day.weekday() in named}
            return fitting.pop().isoformat() if len(fitting) == 1 else ""
        was_recent = past is not None and 0 < (self._today - past).days <= _RECENT_DAYS
        if tense == "coming" and was_recent and not self._context.is_future(phrase):
            return ""
        day = {"past": past, "coming": coming}.get(tense)
        return day.isoformat() if day else ""


def _fits(year: int, month: int, day: int) -> bool:
    return 1 <= year <= 9999 and day <= monthrange(year, month)[1]


def _moved(day: date, unit: str, count: int) -> str:
    """A day moved by days, weeks or months, the last of a month at most; a year where years are counted."""
    if unit in ("days", "weeks"):
        return (day + timedelta(count * (7 if unit == "weeks" else 1))).isoformat()
    if unit == "years":
        return f"{day.replace(year=day.year + count, day=1).year:04}"
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1])).isoformat()
