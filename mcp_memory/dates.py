"""Relative dates in a text, resolved against the day on which it was said.

Whatever can be read in two ways stays as it is: a missing date costs less than a wrong one.
"""

from bisect import bisect_right
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache

import regex

from .date_words import CAPITALISED_ONLY, LANGUAGES, Language
from .text import detect_language


@dataclass(frozen=True)
class DateMention:
    """A relative date at text[start:end] and what it stands for: a day, week, month or year in ISO form."""

    start: int
    end: int
    iso: str


@dataclass(frozen=True)
class _Rule:
    kind: str
    offset: int
    # The languages that the sentence may be in; any where there are none.
    spoken: tuple[str, ...]
    code: str
    template: str


@dataclass(frozen=True)
class _Found:
    start: int
    end: int
    rule: _Rule
    groups: dict[str, str]


_ISO = r"\d{4}(?:-\d\d(?:-\d\d)?)?"
_ISO_DATE = regex.compile(r"(?<![\d-])\d{4}-\d\d(?:-\d\d)?(?![\d]|-\d)")
_IN_CALENDAR = regex.compile(rf"(?!0000)(?:{_ISO} to )?{_ISO}")
_ANNOTATION = regex.compile(rf" ?[(（]{_ISO}(?: to {_ISO})?[)）]")
_OPAQUE = regex.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*+`|\b(?:https?|ftp|file)://\S++|\bwww\.\S++|(?<![\w.+-])[\w.+-]{1,64}+@[\w.-]++",
    regex.DOTALL,
)
_TOKEN = regex.compile(r"(?V1)\p{Nd}++|[\p{Han}\p{Hiragana}\p{Katakana}々]|[\w--\p{Nd}--\p{Han}--\p{Hiragana}]++")
_FIRST_WORD = regex.compile(r"(?V1)\p{Nd}+|[\p{Han}\p{Hiragana}\p{Katakana}々]|[\w--\p{Nd}]+")
_DIGITS = "0"
_SENTENCE_END = regex.compile(r"(?<!\d)[.!?…]+\s|[。！？\n]")
_KANA = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
_OPENS_SENTENCE = regex.compile(r"(?:^|[.!?…:\n]\W*|[•*–>\"“«»¿¡(—-]\s*)$")
_TOUCHING = frozenset("-/@#$_.=\\\x00")
_TOUCHED = regex.compile(r"[-–/@_=\\\x00]|[.]\w")
_LETTERS = regex.compile(r"\p{L}[\p{L}\p{M}]*+")
_YEAR = regex.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_YEAR_AFTER = regex.compile(r"[\s,.]{0,3}(?:(?:of|de|del|des|do|di)\s+)?['’]?\d{2,4}(?!\d)|\s*[-–/]\s*\d|\s*年")
_DAY_AFTER = regex.compile(r"[\s,(（]{0,3}(?:(?:the|den|dem|der|le|el|il|dia)\s+)?\d")
_NAME_AFTER = regex.compile(r"\s+(?!I\b)\p{Lu}|['’]s\b")
_COUNTED_ON = regex.compile(
    r"(?:\b(?:or|to|hundred|thousand|and|half|point|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|o|y|e|ou|ed"
    r"|treinta|cuarenta|cincuenta|vinte|trinta|или|и|двадцать|тридцать|сорок|пятьдесят|сто)\s+|[\w.,:/$€£#+–—-])$",
    regex.IGNORECASE,
)
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?!\d)"
_ORDINAL = r"(?:st|nd|rd|th|er|º|ª|\.)?"
_UNITS = ("days", "weeks", "months", "years")
_BARE = frozenset({"bare", "date", "in", "since"})
_LONG = frozenset({"week", "weekend", "month", "year", "weeks", "months", "years", "last", "next", "agree", "weekday"})
# What stands further away than this says nothing about a date, and costs no time.
_MAX_SENTENCE = 300
# "On 3 March", said a week later without a sign of tense, is more likely past than a year ahead.
_RECENT_DAYS = 45


def annotate(text: str, said_at: datetime) -> str:
    """The text with the absolute date in round brackets after each relative one.

    >>> annotate("I see her this Friday", datetime(2026, 3, 11))
    'I see her this Friday (2026-03-13)'
    """
    pieces, last = [], 0
    for mention in resolve(text, said_at):
        pieces += [text[last : mention.end], f" ({mention.iso})"]
        last = mention.end
    return "".join([*pieces, text[last:]])


def resolve(text: str, said_at: datetime) -> tuple[DateMention, ...]:
    """The relative dates of a text in order, as far as they are certain and not annotated yet.

    >>> resolve("We met yesterday", datetime(2026, 3, 11))
    (DateMention(start=7, end=16, iso='2026-03-10'),)
    """
    # Annotations are taken out first, so that a text means the same before and after `annotate`.
    plain, cuts = _without_annotations(text)
    page = _Page(_OPAQUE.sub(lambda m: "\x00" * len(m.group()), plain), said_at.date())
    marks = [place for place, _ in cuts]
    mentions = []
    for found in page.found:
        low, high = bisect_right(marks, found.start), bisect_right(marks, found.end)
        if low == high and (iso := page.iso(found)):
            shift = cuts[low - 1][1] if low else 0
            mentions.append(DateMention(found.start + shift, found.end + shift, iso))
    return tuple(mentions)


def dates_in(text: str) -> frozenset[str]:
    """The absolute dates that a text names, as ISO: days, and months with their year.

    >>> sorted(dates_in("on 2026-03-13, not on March 14th, 2026"))
    ['2026-03-13', '2026-03-14']
    """
    found = {m.group() for m in _ISO_DATE.finditer(text)}
    numbers = _month_numbers()
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


def _without_annotations(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without annotations, and for each the place it stood at and the characters cut up to there."""
    pieces: list[str] = []
    cuts: list[tuple[int, int]] = []
    last = cut = 0
    for match in _ANNOTATION.finditer(text):
        pieces.append(text[last : match.start()])
        cuts.append((match.start() - cut, cut + len(match.group())))
        cut += len(match.group())
        last = match.end()
    return "".join([*pieces, text[last:]]), cuts


class _Page:
    """A text, the relative dates in it, and what the surroundings of each say about it."""

    def __init__(self, text: str, today: date) -> None:
        self.text = text
        self.today = today
        self._ends = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
        self._languages: dict[tuple[int, int], str] = {}
        self._tenses: dict[tuple[str, int, int], tuple[bool, bool, bool]] = {}
        matched = list(self._find())
        # "The last week of May" stands for no week, and still shows that a weekday near it may not be the coming one.
        self._long = {self.sentence(f.start) for f in matched if f.rule.kind in _LONG or _is_long_count(f)}
        self.found = [found for found in matched if self._stands_free(found)]

    def sentence(self, place: int) -> tuple[int, int]:
        at = bisect_right(self._ends, place) - 1
        start, end = self._ends[at], self._ends[min(at + 1, len(self._ends) - 1)]
        start += (place - start) // _MAX_SENTENCE * _MAX_SENTENCE
        return start, min(end, start + _MAX_SENTENCE)

    def _find(self) -> Iterator[_Found]:
        index, after_number = _index()
        tokens = [(m.start(), m.group().lower()) for m in _TOKEN.finditer(self.text)]
        last = 0
        for place, (start, word) in enumerate(tokens):
            key = _DIGITS if word[0].isdecimal() else word
            if start < last or key not in index:
                continue
            if key == _DIGITS and (place + 1 == len(tokens) or tokens[place + 1][1] not in after_number):
                continue
            matches = [found for rule in index[key] if (found := self._match(rule, start))]
            # The longest reading is the whole expression; a shorter one would be about a part of it.
            best = max(matches, key=lambda found: found.end, default=None)
            if best:
                last = best.end
                yield best

    def _match(self, rule: _Rule, start: int) -> _Found | None:
        match = _compiled(rule.code, rule.template).match(self.text, start)
        if not match or (rule.code in ("ja", "zh") and (self._language(start) == "ja") != (rule.code == "ja")):
            return None
        groups = {name: word.lower() for name, word in match.groupdict().items() if word}
        return _Found(start, match.end(), rule, groups)

    def _language(self, place: int) -> str:
        span = self.sentence(place)
        if span not in self._languages:
            sentence = self.text[slice(*span)]
            self._languages[span] = "ja" if _KANA.search(sentence) else detect_language(sentence)
        return self._languages[span]

    def _stands_free(self, found: _Found) -> bool:
        """Whether nothing around the words gives them another meaning."""
        words = LANGUAGES[found.rule.code]
        before, text = self.text[max(0, found.start - 24) : found.start], self.text[found.start : found.end]
        if _compile(words.not_before).search(before) or _compile(words.not_after).match(self.text, found.end):
            return False
        if words.spaced and before[-1:] in _TOUCHING:
            return False
        if _TOUCHED.match(self.text, found.end):
            return False
        if found.rule.template.startswith("{n}") and words.spaced and _COUNTED_ON.search(before):
            return False
        if found.rule.spoken and self._language(found.start) not in found.rule.spoken:
            return False
        return not self._is_title(found, before, text)

    def _is_title(self, found: _Found, before: str, text: str) -> bool:
        """Whether capitals make a name of the words: "Last Week Tonight", "April Jones"."""
        code, kind = found.rule.code, found.rule.kind
        if code in ("zh", "ja", "ar"):
            return False
        dated = _dated_words(code)
        spelt = _LETTERS.findall(text)
        capitals = [word[0].isupper() and word.lower() not in dated for word in spelt]
        if capitals and capitals[0] and not _OPENS_SENTENCE.search(before):
            return True
        if code == "de":
            return False
        if any(capitals[1:]) or (kind in ("date", "in", "since") and _NAME_AFTER.match(self.text, found.end)):
            return True
        # "may", "march": in lower case these are other words.
        return code == "en" and any(word in CAPITALISED_ONLY for word in spelt)

    # What the words stand for

    def iso(self, found: _Found) -> str:
        """The date that an expression stands for, or '' where that is not certain."""
        try:
            iso = self._iso(found)
        except (ValueError, OverflowError):
            # A day that the calendar has not: 30 February, or a year before the first.
            return ""
        return iso if _IN_CALENDAR.fullmatch(iso) else ""

    def _iso(self, found: _Found) -> str:
        kind, offset = found.rule.kind, found.rule.offset
        if kind == "open":
            return ""
        if kind == "n":
            return self._counted(found)
        if kind in _UNITS:
            if offset > 0 and self._tense(found) != "coming":
                return ""
            return _moved(self.today, kind, offset)
        if kind == "day":
            return (self.today + timedelta(offset)).isoformat()
        if kind in ("week", "weekend", "month", "year"):
            return self._period(kind, offset)
        if kind in ("bare", "last", "this", "next", "agree", "coming", "weekday", "since_day", "from"):
            return self._weekday(found)
        return self._day_and_month(found)

    def _counted(self, found: _Found) -> str:
        words, sign = LANGUAGES[found.rule.code], found.rule.offset
        count = _number(found.groups["n"], words.numbers)
        unit = _place(found.groups["unit"], words.units)
        if sign > 0:
            start, end = self._clause(found)
            if self._tense(found) != "coming" or _compile(words.duration).search(self.text[start:end]):
                return ""
        return _moved(self.today, _UNITS[unit], sign * count)

    def _period(self, kind: str, offset: int) -> str:
        if kind == "year":
            return f"{self.today.year + offset:04}"
        if kind == "month":
            return _moved(self.today.replace(day=1), "months", offset)[:7]
        monday = self.today + timedelta(7 * offset - self.today.weekday())
        first = monday + timedelta(5 if kind == "weekend" else 0)
        return f"{first.isoformat()} to {(monday + timedelta(6)).isoformat()}"

    def _weekday(self, found: _Found) -> str:
        kind, words = found.rule.kind, LANGUAGES[found.rule.code]
        name = found.groups["weekday"] if "weekday" in found.groups else self._last_word(found).partition("-")[0]
        wanted = _place(name, words.weekdays.split())
        if _DAY_AFTER.match(self.text, found.end):
            return ""
        days = wanted - self.today.weekday()
        coming, latest = days % 7 or 7, days % 7 - 7
        if kind == "bare":
            tense = self._tense(found) if days else ""
            distance = {"coming": coming, "past": latest}.get(tense)
        else:
            distance = {
                "weekday": days + 7 * found.rule.offset,
                "last": latest,
                "next": days + 7,
                "coming": coming,
                # Two readings in use: the coming one and that of next week.
                "agree": coming if coming == days + 7 else None,
                "this": days if days >= 0 else None,
                # On that weekday itself: today, or a week ago.
                "since_day": latest if days else None,
                "from": coming + 7 * _number(found.groups.get("n", ""), words.numbers) if days else None,
            }[kind]
        return "" if distance is None else (self.today + timedelta(distance)).isoformat()

    def _last_word(self, found: _Found) -> str:
        return self.text[found.start : found.end].split()[-1].lower()

    def _day_and_month(self, found: _Found) -> str:
        kind, words, today = found.rule.kind, LANGUAGES[found.rule.code], self.today
        if _YEAR_AFTER.match(self.text, found.end):
            return ""
        months = words.months.split()
        month = _place(found.groups["month"] if "month" in found.groups else self._last_word(found), months)
        if month < 0:
            return ""
        month += 1
        tense = "past" if kind == "since" else self._tense(found)
        if kind == "since" and self._has_other_frame(found):
            return ""
        if kind != "date":
            past = today.year - (month > today.month)
            year = {"past": past, "coming": today.year + (month < today.month)}.get(tense)
            recent = tense == "coming" and 0 < (today.month - month) % 12 <= 1 and not self._is_future(found)
            return "" if year is None or recent else f"{year:04}-{month:02}"
        day = _day_number(found.groups["day"], words.ordinals)
        this = [
            date(year, month, day) for year in (today.year - 1, today.year, today.year + 1) if _fits(year, month, day)
        ]
        past_day = max((d for d in this if d <= today), default=None)
        next_day = min((d for d in this if d >= today), default=None)
        return self._chosen(found, tense, past_day, next_day)

    def _chosen(self, found: _Found, tense: str, past: date | None, coming: date | None) -> str:
        before = self.text[max(0, found.start - 24) : found.start].lower()
        names = LANGUAGES[found.rule.code].weekdays.split()
        named = {_place(word, names) for word in regex.findall(r"[\w-]+", before)} - {-1}
        if named and tense:
            fitting = {day for day in (past, coming) if day and day.weekday() in named}
            return fitting.pop().isoformat() if len(fitting) == 1 else ""
        if tense == "coming" and past and 0 < (self.today - past).days <= _RECENT_DAYS and not self._is_future(found):
            return ""
        day = {"past": past, "coming": coming}.get(tense)
        return day.isoformat() if day else ""

    # Tense

    def _has_other_frame(self, found: _Found) -> bool:
        start, end = self.sentence(found.start)
        return (start, end) in self._long or _YEAR.search(self.text, start, end) is not None

    def _tense(self, found: _Found) -> str:
        """'past', 'coming', or '' where the sentence leaves it open."""
        if found.rule.kind in _BARE and self._has_other_frame(found):
            return ""
        words, sentence = LANGUAGES[found.rule.code], self.sentence(found.start)
        past, future, unclear = self._signs(found.rule.code, *self._clause(found))
        if unclear or (past and future):
            return ""
        if past or future:
            return "past" if past else "coming"
        beside = self.text[sentence[0] : found.start] + self.text[found.end : sentence[1]]
        if found.rule.kind in _BARE and not regex.search(r"\w", beside):
            # "On Sunday": an answer, and what was asked is not known.
            return ""
        wide_past, wide_future, wide_unclear = self._signs(found.rule.code, *sentence)
        if not wide_past and not wide_unclear:
            return "coming" if wide_future or not words.needs_future else ""
        start, end = self._clause(found)
        alone = not regex.search(r"\w", self.text[start : found.start] + self.text[found.end : end])
        return "past" if alone and not wide_future and not wide_unclear else ""

    def _is_future(self, found: _Found) -> bool:
        return self._signs(found.rule.code, *self._clause(found))[1]

    def _clause(self, found: _Found) -> tuple[int, int]:
        start, end = self.sentence(found.start)
        joints = _compile(rf"[,;:—–()，；、،؛]|{LANGUAGES[found.rule.code].joins}")
        for match in joints.finditer(self.text, start, end):
            if match.end() <= found.start:
                start = match.end()
            elif match.start() >= found.end:
                return start, match.start()
        return start, max(end, found.end)

    def _signs(self, code: str, start: int, end: int) -> tuple[bool, bool, bool]:
        key = (code, start, end)
        if key not in self._tenses:
            words, clause = LANGUAGES[code], self.text[start:end]
            past, future, unclear = (
                _compile(signs).search(clause) is not None for signs in (words.past, words.future, words.unclear)
            )
            self._tenses[key] = (past, future, unclear)
        return self._tenses[key]


def _is_long_count(found: _Found) -> bool:
    return found.rule.kind == "n" and _place(found.groups["unit"], LANGUAGES[found.rule.code].units) > 0


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


def _place(word: str, groups: tuple[str, ...] | list[str]) -> int:
    return next((place for place, group in enumerate(groups) if word in group.split("|")), -1)


def _number(word: str, numbers: str) -> int:
    return int(word) if word.isdecimal() else _place(word, numbers.split()) + 1


def _day_number(word: str, ordinals: str) -> int:
    digits = regex.match(r"\d+", word)
    return int(digits.group()) if digits else _number(word, ordinals)


# Tables to patterns


@cache
def _compile(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern, regex.IGNORECASE)


@cache
def _dated_words(code: str) -> frozenset[str]:
    words = LANGUAGES[code]
    return frozenset(f"{words.weekdays} {words.months}".replace("|", " ").split()) | {"i"}


def _choices(words: Language, name: str) -> list[str]:
    tables = {
        "weekday": words.weekdays,
        "month": words.months,
        "n": words.numbers,
        "day": words.ordinals,
        "unit": " ".join(words.units),
    }
    return tables.get(name, "").replace("|", " ").split()


def _rules(code: str) -> Iterator[_Rule]:
    for line in LANGUAGES[code].rules.strip().splitlines():
        head, _, templates = line.partition("=")
        *only, kind, offset = head.split()
        spoken = {"own": (code,), "likely": (code, "")}[only[0]] if only else ()
        for template in templates.split(";"):
            yield _Rule(kind, int(offset), spoken, code, template.strip())


@cache
def _index() -> tuple[dict[str, tuple[_Rule, ...]], frozenset[str]]:
    """The rules by the first word of what they match, and the words that may follow a number."""
    index: dict[str, list[_Rule]] = {}
    after_number = {"st", "nd", "rd", "th", "er", "º", "ª"}
    for code, words in LANGUAGES.items():
        after_number |= {_FIRST_WORD.match(name).group().lower() for name in _choices(words, "unit")}  # type: ignore[union-attr]
        after_number |= set(_choices(words, "month")) | set(words.of.split("|")) | {"月"}
        for rule in _rules(code):
            for first in _first_words(rule.template, words):
                rules = index.setdefault(first, [])
                if rule not in rules:
                    rules.append(rule)
    return {first: tuple(rules) for first, rules in index.items()}, frozenset(after_number)


def _first_words(template: str, words: Language) -> Iterator[str]:
    for piece in template.split():
        bare = piece.removesuffix("?")
        options = _choices(words, bare[1:-1]) if bare[0] == "{" else bare.split("|")
        if bare in ("{n}", "{day}"):
            yield _DIGITS
        for option in options:
            first = _FIRST_WORD.match(option)
            if first:
                yield _DIGITS if first.group()[0].isdecimal() else first.group().lower()
        if bare == piece:
            return


@cache
def _compiled(code: str, template: str) -> regex.Pattern[str]:
    words = LANGUAGES[code]
    gap = r"[ \t\u00a0]{1,2}" if words.spaced else r" ?"
    pattern, started = "", False
    for piece in template.split():
        part = _piece(words, piece.removesuffix("?"))
        # A word that may be missing takes the gap next to it along.
        if piece.endswith("?"):
            pattern += f"(?:{gap}{part})?" if started else f"(?:{part}{gap})?"
        else:
            pattern += gap + part if started else part
            started = True
    possessive = "(?:['’]s)?" if code == "en" else ""
    edges = (r"(?<!\w)", r"(?!\w)") if words.spaced else (r"(?<!\d)", "")
    return _compile(edges[0] + pattern + possessive + edges[1])


def _piece(words: Language, piece: str) -> str:
    if piece == "{day}":
        return rf"(?:(?P<day>{'|'.join([_DAY, *words.ordinals.split()])}){_ORDINAL})"
    if piece[0] != "{":
        return f"(?:{piece})"
    name = piece[1:-1]
    # The longest name first: "十一" begins like "十".
    names = "|".join(sorted(_choices(words, name), key=len, reverse=True))
    return rf"(?P<{name}>{names}" + (r"|\d{1,3})" if name == "n" else ")")


@cache
def _month_numbers() -> dict[str, int]:
    return {
        name: place
        for words in LANGUAGES.values()
        for place, names in enumerate(words.months.split(), 1)
        for name in names.split("|")
    }


@cache
def _written() -> regex.Pattern[str]:
    """Dates with a month's name and a year, in any language's order."""
    names = "|".join(sorted(_month_numbers(), key=len, reverse=True))
    month, day, year = rf"(?P<month>{names})", rf"(?P<day>{_DAY}){_ORDINAL}", r"(?P<year>\d{4})(?!\d)"
    of = r"(?:(?:of|de|del|di)[ ])?"
    return _compile(
        rf"(?<![\w.])(?:{day}[ ]{of})?{month}\.?,?[ ]{of}{year}"
        rf"|(?<!\w){month}\.?[ ](?:the[ ])?{day},?[ ]{of}{year}"
        rf"|(?<!\d){year}年[ ]?{month}(?:[ ]?(?P<day>{_DAY})[日号號])?"
    )
