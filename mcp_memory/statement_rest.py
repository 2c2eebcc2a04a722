"""What a clause says beside the value that was read in it: nothing, more, a second value, or that it is not so."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache

import regex

from .date_words import LANGUAGES as LANGUAGE_DATES
from .dates import resolve
from .patterns import compiled
from .phrase_grammar import NAME
from .rest_words import AND, COMPARISON, CORRECTIONS, NO_LONGER, PREPOSITIONS, SUBORDINATE
from .statement_words import BEFORE_TIMES, STATEMENT_WORDS

# Any day: only the places of dates count, and not which they are.
_SOME_DAY = datetime(2026, 1, 15)
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RestGrammar:
    """What the rest of a clause of one language is matched with."""

    idle: regex.Pattern[str]
    time: regex.Pattern[str]
    told: regex.Pattern[str]
    denied: regex.Pattern[str]
    compared: regex.Pattern[str]
    corrected: regex.Pattern[str]
    corrects: regex.Pattern[str]
    second: regex.Pattern[str]
    joint: str


@cache
def rest_grammar_of(language: str) -> RestGrammar:
    """The patterns of a language of `STATEMENT_WORDS`."""
    words = STATEMENT_WORDS[language]
    months = LANGUAGE_DATES[language].months.replace(" ", "|")
    days = LANGUAGE_DATES[language].weekdays.replace(" ", "|")
    year = r"(?:19|20)\d\d"
    of = r"(?:of |de |del |di |l')?"
    date = (
        rf"(?:\d{{1,2}}(?:st|nd|rd|th|\.|º|er)? {of}(?:{months})(?:,? {of}{year})?"
        rf"|(?:{months})(?: \d{{1,2}}(?!\d)(?:st|nd|rd|th)?)?(?:,? {of}{year})?"
        rf"|\d{{1,4}}[./-]\d{{1,2}}(?:[./-]\d{{1,4}})?|{year}|(?:{days}))(?!\p{{L}})"
    )
    time = rf"(?:(?:{BEFORE_TIMES}|on|am|since|the|dem|der|il|lo|les?|au|del) ){{0,2}}(?:early |late |mid-?)?{date}"
    filler = rf"{words.adverbs}|{words.lead_in}|{BEFORE_TIMES}|by|again|wieder|de nuevo|à nouveau|di nuovo|ago|the|too"
    article = rf"(?:(?:{words.articles})(?:\s|(?<=')))?"
    a_word = rf"(?>(?<![\p{{L}}'])(?:{AND[language]}|{words.joins})(?![\p{{L}}']))"
    # Possessive: a long row of joints must cost no more than its length.
    joint = rf"\s*+(?:[,;/&+–—]|{a_word})(?:\s*+[,;/&+]|\s++{a_word})*+"
    before, anything = CORRECTIONS[language]
    marks = r"\s*(?:[,;:(–—]|\s-\s|\.\.\.|…)\s*(?:ach |oh |ah |eh )?"
    return RestGrammar(
        idle=compiled(rf"(?:[\s,;:.!?…()\"'’“”–—-]|{time}|(?:{filler})(?![\p{{L}}]))*+"),
        time=compiled(time),
        told=compiled(rf"(?:(?!\s(?:{SUBORDINATE[language]}|{words.joins})(?!\p{{L}}))[^,;:–—(]|,(?=\s*{time}))*+"),
        denied=compiled(rf"(?:\s(?:{words.adverbs}))*\s(?:{NO_LONGER[language]})(?!\p{{L}})"),
        compared=compiled(rf"\s(?:{COMPARISON[language]})(?!\p{{L}})"),
        corrected=compiled(
            rf"(?<=\S){marks}(?:(?:{before})(?=\s*[,;:!.–—-]|\s+(?-i:\p{{Lu}})|\s+\p{{N}})|(?:{anything})(?!\p{{L}}))"
        ),
        corrects=compiled(
            rf"(?:ach |oh |ah )?(?:(?:{before})\s*[,;:!–—-]+|(?:{anything})[,:]?)(?:\s*[^\s,]+){{1,4}}[.!]?"
        ),
        # "Lisbon and Porto", "green and blue", but not "Lisbon and love it".
        second=compiled(
            rf"{joint}\s*{article}(?:(?-i:{NAME})|\p{{N}})"
            rf"|\s*,?\s*(?:[/&+]|{a_word})\s*{article}[\p{{L}}-]+\s*(?:$|[.,;!?])"
        ),
        joint=joint,
    )


def is_idle(text: str, language: str) -> bool:
    """Whether words say nothing but when, or that it is so now.

    >>> is_idle(", finally, two weeks ago!", "en"), is_idle(" with my wife", "en")
    (True, False)
    """
    plain = text
    for mention in reversed(resolve(text, _SOME_DAY)):
        plain = f"{plain[: mention.start]} {plain[mention.end :]}"
    return rest_grammar_of(language).idle.fullmatch(plain) is not None


def leaves_nothing(sentence: str, whole: Span, read: Iterable[Span], language: str) -> bool:
    """Whether what was read of a part of a sentence leaves nothing of it that says more."""
    start, end = whole
    for first, last in sorted(read):
        if first > start and not is_idle(sentence[start:first], language):
            return False
        start = max(start, last)
    return is_idle(sentence[start:end], language)


def told_until(sentence: str, end: int, language: str) -> int:
    """Where the words end that may tell since when something is so, which was read up to a place."""
    match = rest_grammar_of(language).told.match(sentence, end)
    return match.end() if match else end


def has_second_value(before: str, rest: str, language: str, *, is_change: bool) -> bool:
    """Whether a clause goes on with another value: "Lisbon and Porto", "to Berlin, then to Graz".

    A change is told of in many words ("and moved back to Graz"), so that the preposition alone shows another one.
    """
    grammar = rest_grammar_of(language)
    prepositions = _prepositions(before, language)
    if not prepositions:
        return bool(grammar.second.match(rest))
    words = STATEMENT_WORDS[language]
    between = r"[^.;!?]{0,60}?" if is_change else rf"\s*(?:(?:{words.adverbs}) )*"
    article = rf"(?:(?:{words.articles})(?:\s|(?<=')))?"
    another = rf"{grammar.joint}{between}(?<!\p{{L}})(?:{prepositions})\s{article}(?-i:{NAME})"
    # "In March" is no second home.
    plain = grammar.time.sub(" ", rest)
    return bool(grammar.second.match(plain) or compiled(another).search(plain))


def is_denied(rest: str, language: str) -> bool:
    """Whether what follows a value takes it back: "Berlin no longer", "Graz nicht"."""
    return rest_grammar_of(language).denied.match(rest) is not None


def is_compared(rest: str, language: str) -> bool:
    """Whether a value is only compared with one that is not named: "the same as yours", "hard to say"."""
    return rest_grammar_of(language).compared.match(rest) is not None


def is_corrected(sentence: str, start: int, language: str) -> bool:
    """Whether a sentence corrects what it has said: "Eva - sorry, Tom"."""
    return rest_grammar_of(language).corrected.search(sentence, start) is not None


def corrects(sentence: str, language: str) -> bool:
    """Whether a whole sentence does nothing but correct the one before: "Sorry, Tom."."""
    return rest_grammar_of(language).corrects.fullmatch(sentence) is not None


def _prepositions(before: str, language: str) -> str:
    """The group of prepositions by the last one before a value, '' for none."""
    for word in reversed(before.casefold().split()):
        for group in PREPOSITIONS[language]:
            if word in group.split("|"):
                return group
    return ""
