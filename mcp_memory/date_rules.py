"""The tables of `date_words`, compiled: rules by the first word of what they match, and what a word stands for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import regex

from .date_words import LANGUAGES, Language
from .patterns import compiled

# Stands for every number among the first words.
DIGITS = "0"
# A day of the month in digits, and what makes an ordinal of it.
DAY = r"(?:3[01]|[12]\d|0?[1-9])(?!\d)"
ORDINAL = r"(?:st|nd|rd|th|er|º|ª|\.)?"
_FIRST_WORD = regex.compile(r"(?V1)\p{Nd}+|[\p{Han}\p{Hiragana}\p{Katakana}々]|[\w--\p{Nd}]+")


@dataclass(frozen=True)
class Rule:
    """One template of a language, the kind of date that it names, and how far off that is."""

    kind: str
    offset: int
    # The languages that the sentence may be in; any where there are none.
    spoken: tuple[str, ...]
    code: str
    template: str

    @property
    def pattern(self) -> regex.Pattern[str]:
        """What the template matches; its tables' words are groups `weekday`, `month`, `n`, `day` and `unit`."""
        return _pattern(self.code, self.template)


@cache
def rules_by_first_word() -> tuple[dict[str, tuple[Rule, ...]], frozenset[str]]:
    """The rules by the first word of what they match, and the words that may follow a number."""
    index: dict[str, list[Rule]] = {}
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
            yield DIGITS
        for option in options:
            first = _FIRST_WORD.match(option)
            if first:
                yield DIGITS if first.group()[0].isdecimal() else first.group().lower()
        if bare == piece:
            return


@cache
def _pattern(code: str, template: str) -> regex.Pattern[str]:
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
    return compiled(edges[0] + pattern + possessive + edges[1])


def _piece(words: Language, piece: str) -> str:
    if piece == "{day}":
        return rf"(?:(?P<day>{'|'.join([DAY, *words.ordinals.split()])}){ORDINAL})"
    if piece[0] != "{":
        return f"(?:{piece})"
    name = piece[1:-1]
    # The longest name first: "十一" begins like "十".
    names = "|".join(sorted(_choices(words, name), key=len, reverse=True))
    return rf"(?P<{name}>{names}" + (r"|\d{1,3})" if name == "n" else ")")


@cache
def dated_words(code: str) -> frozenset[str]:
    """The weekdays and months of a language, which may have capitals without being a name; and "I"."""
    words = LANGUAGES[code]
    return frozenset(f"{words.weekdays} {words.months}".replace("|", " ").split()) | {"i"}


def place_of(word: str, groups: Sequence[str]) -> int:
    """The place of the group "a|b" that holds a word, from 0 on; -1 where none does."""
    return next((place for place, group in enumerate(groups) if word in group.split("|")), -1)


def number_of(word: str, numbers: str) -> int:
    """The number that digits or a number word stand for, 0 for another word."""
    return int(word) if word.isdecimal() else place_of(word, numbers.split()) + 1


def day_number(word: str, ordinals: str) -> int:
    """The day of the month that digits, as in "3rd", or an ordinal stand for, 0 for another word."""
    digits = regex.match(r"\d+", word)
    return int(digits.group()) if digits else number_of(word, ordinals)


def _choices(words: Language, name: str) -> list[str]:
    tables = {
        "weekday": words.weekdays,
        "month": words.months,
        "n": words.numbers,
        "day": words.ordinals,
        "unit": " ".join(words.units),
    }
    return tables.get(name, "").replace("|", " ").split()


def _rules(code: str) -> Iterator[Rule]:
    for line in LANGUAGES[code].rules.strip().splitlines():
        head, _, templates = line.partition("=")
        *only, kind, offset = head.split()
        spoken = {"own": (code,), "likely": (code, "")}[only[0]] if only else ()
        for template in templates.split(";"):
            yield Rule(kind, int(offset), spoken, code, template.strip())
