"""Predicates that share a subject: "I left Acme and started at Fenwick", "Nora lives in Graz and works at Corvane"."""

from collections.abc import Mapping
from functools import cache

import regex

from .patterns import compiled
from .phrases import read_phrase
from .statement_grammar import StatementGrammar
from .statement_words import STATEMENT_WORDS

# By language: who speaks, where a clause names them; then the pronouns to set for them, and for somebody else. In
# Spanish and Italian the verb alone says who it is.
_SPEAKER: Mapping[str, str] = {
    "en": r"(?:i|we)\b",
    "de": r"(?:ich|wir)\b",
    "es": "",
    "fr": r"(?:je|j'|nous|on)",
    "it": "",
}
_FIRST: Mapping[str, tuple[str, ...]] = {
    "en": ("I ",),
    "de": ("ich ",),
    "es": ("yo ", ""),
    "fr": ("je ", "j'"),
    "it": ("io ", ""),
}
_THIRD: Mapping[str, str] = {"en": "he ", "de": "er ", "es": "él ", "fr": "il ", "it": "lui "}


def with_subjects(sentence: str, grammar: StatementGrammar) -> str:
    """A sentence in which each predicate that can be read alone has a subject, a pronoun where it had none.

    >>> from .statement_grammar import grammar_of
    >>> with_subjects("I left Acme and started at Fenwick", grammar_of("en"))
    'I left Acme and I started at Fenwick'
    """
    speaker, joint = _patterns(grammar.language)
    for match in reversed(list(joint.finditer(sentence))):
        before, after = sentence[: match.end()], sentence[match.end() :]
        if pronoun := _pronoun(before, after, speaker, grammar):
            sentence = f"{before}{pronoun}{after}"
    return sentence


def _pronoun(before: str, after: str, speaker: regex.Pattern[str] | None, grammar: StatementGrammar) -> str:
    if speaker is None or speaker.search(before):
        for pronoun in _FIRST[grammar.language]:
            if any(row.first.match(f"{pronoun}{after}") for row in grammar.rows):
                return pronoun
        if speaker is not None:
            return ""
    has_subject = any(read_phrase(before, start, grammar.language) for start in grammar.starts(before))
    is_third = has_subject and any(row.third.match(f" {after}") for row in grammar.rows)
    return _THIRD[grammar.language] if is_third else ""


@cache
def _patterns(language: str) -> tuple[regex.Pattern[str] | None, regex.Pattern[str]]:
    speaker = _SPEAKER[language]
    return (
        compiled(rf"(?<![\p{{L}}']){speaker}") if speaker else None,
        compiled(rf"(?:,\s|\s){STATEMENT_WORDS[language].joins}\s(?=(?-i:\p{{Ll}}))"),
    )
