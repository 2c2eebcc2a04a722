"""The patterns of `phrases` for one language, compiled from the words of its data when they are first needed.

Each noun phrase is tried as one with a noun of the vocabulary (`owned`), and as one with another noun (`labelled`).
"""

from dataclasses import dataclass
from functools import cache

import regex

from .patterns import compiled
from .relation_words import FORMER, NEW, PARENTS, PLAIN, POSSESSIVES
from .statement_words import STATEMENT_WORDS
from .text import fold
from .vocabulary import noun_pattern

_PARTICLES = r"(?:of|the|de|del|della|da|di|do|dos|von|van|der|den|la|le|al|bin|du|zu|am|&|and der)"
CAPITALISED = r"(?:\p{Lu}|\p{N}*\p{Ll}?\p{Lu})[\p{L}\p{M}\p{N}]*+(?:[’'&.+-](?!s\b)[\p{L}\p{M}\p{N}]++)*+"
NAME = (
    rf"{CAPITALISED}(?:\s(?:{_PARTICLES}\s){{0,2}}+{CAPITALISED})*+"
    # "Model 3", but not "Lisbon 2 weeks ago".
    r"(?:\s\p{N}{1,4}(?=\s*(?:$|[.,;!?])|\snow\b))?"
)


@dataclass(frozen=True, slots=True)
class PhraseGrammar:
    """What phrases of one language are matched with."""

    language: str
    user: regex.Pattern[str]
    name: regex.Pattern[str]
    owned: regex.Pattern[str]
    labelled: regex.Pattern[str]
    further: regex.Pattern[str]
    called_name: regex.Pattern[str]
    parent: regex.Pattern[str]
    unknown_role: regex.Pattern[str]
    new: frozenset[str]
    former: frozenset[str]
    plain: frozenset[str]


def words_of(alternatives: str) -> str:
    """Words of the data as a regular expression, the longest first, "_" for a space."""
    return "|".join(
        sorted((regex.escape(word.replace("_", " ")) for word in alternatives.split()), key=len, reverse=True)
    )


@cache
def grammar_of(language: str) -> PhraseGrammar:
    """The patterns of a language of `STATEMENT_WORDS`."""
    words = STATEMENT_WORDS[language]
    noun = rf"(?P<noun>{noun_pattern(language)})\b(?![-’'](?!s\b))"
    known = words_of(f"{NEW[language]} {FORMER[language]}")
    adjectives = rf"(?P<adjectives>(?:(?:{known}|\p{{Ll}}{{3,}}) ){{0,2}}?)"
    mine = rf"(?:{words_of(POSSESSIVES[language])})"
    user = words.user
    known_only = rf"(?P<adjectives>(?:(?:{known}) )*)"
    if language == "en":
        owned, labelled, further = _english(mine, user, adjectives, known_only, noun)
    elif language == "de":
        owned, labelled, further = _german(mine, adjectives, known_only, noun)
    else:
        owned, labelled, further = _romance(mine, user, words.articles, adjectives, known_only, known, noun)
    called = words.called
    return PhraseGrammar(
        language,
        user=compiled(rf"(?:{user})\b"),
        name=compiled(rf"(?-i:{NAME})"),
        owned=compiled(owned),
        labelled=compiled(labelled),
        further=compiled(further),
        called_name=compiled(rf",? (?:(?:{called.strip()}) )?(?P<name>(?-i:{NAME}))(?=['’]s\b|[,.;!?]|\s|$)"),
        parent=compiled(rf"(?-i:(?P<noun>{words_of(' '.join(PARENTS[language].values()))}))(?![\p{{L}}-])"),
        unknown_role=compiled(
            rf"{mine} (?P<label>(?:\p{{Ll}}{{3,}} )?\p{{Ll}}{{3,}})(?=['’]s )" if language == "en" else r"(?!)"
        ),
        plain=frozenset(map(fold, PLAIN[language].split())),
        new=frozenset(fold(word.replace("_", " ")) for word in NEW[language].split()),
        former=frozenset(fold(word.replace("_", " ")) for word in FORMER[language].split()),
    )


def _english(mine: str, user: str, adjectives: str, known_only: str, noun: str) -> tuple[str, str, str]:
    owner = rf"(?:(?:{mine}|(?:{user})['’]s) |(?P<name>(?-i:{NAME}))['’]s )"
    label = r"(?P<label>\p{L}[\p{L}\p{N}-]*(?: [\p{L}\p{N}-]+){0,2}?)"
    return (
        rf"{owner}{adjectives}{noun}",
        rf"{owner}{known_only}{label}(?=(?: (?:is|are|has|was|got|changed)\b|:))",
        rf"['’]s {adjectives}{noun}",
    )


def _german(mine: str, adjectives: str, known_only: str, noun: str) -> tuple[str, str, str]:
    owner = rf"(?:{mine} |(?P<name>(?-i:{CAPITALISED}))(?:(?<=s)|['’]) (?=\p{{L}}))"
    whose = rf"{mine} [^,.;:]{{3,40}}?|des nutzers|(?<=von )(?-i:{NAME})"
    of = rf"(?:von )?(?P<of>{whose})(?= (?:ist|lautet|heißt|hat)\b|[?.,!]|$)"
    label = r"(?P<label>\p{L}[\p{L}\p{N}-]*)"
    return (
        rf"(?:{owner}{adjectives}{noun}|(?:der|die|das|den|dem) {adjectives}{noun} {of})",
        rf"{owner}{known_only}{label}(?=(?: (?:ist|sind|lautet|heißt|hat)\b|:))",
        rf"(?!){adjectives}{noun}",
    )


def _romance(
    mine: str, user: str, article_words: str, adjectives: str, known_only: str, known: str, noun: str
) -> tuple[str, str, str]:
    articles = rf"(?:(?:{article_words})(?<=['’])|(?:{article_words}) )"
    de = r"(?:de |d['’]|del |di |della |dell['’]|du )"
    whose = rf"(?:(?:{article_words})(?:\s|(?<=['’])))?{mine} [^,.;:?]{{3,40}}?|(?:{user})|(?-i:{NAME})"
    verbs = r"es|est|è|se|si|s['’]|ha|a|c['’]est|vive|habite|vit|abita|trabaja|travaille|lavora"
    of = rf"{de}(?P<of>{whose})(?= (?:{verbs})\b|\s?[?.,!]|$)"
    after = rf"(?: (?P<after>{known})\b)?"
    label = r"(?P<label>\p{L}[\p{L}\p{N}-]*(?: (?!(?:es|est|è)\b)[\p{L}-]+)?)"
    begins = rf"(?:(?:{articles})?{mine} |{articles}(?=\p{{L}}+(?: \p{{L}}+)? {de}))"
    return (
        rf"(?:(?:{articles})?{mine} {adjectives}{noun}{after}|{articles}{known_only}{noun}{after} {of})",
        rf"{begins}{known_only}{label}(?: {of})?(?= (?:es|est|è|ha|a)\b)",
        rf"(?!){adjectives}{noun}",
    )
