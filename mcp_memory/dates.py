"""Relative dates in a text, resolved against the day on which it was said.

Whatever can be read in two ways stays as it is: a missing date costs less than a wrong one. `date_words` holds each
language's words, `date_rules` compiles them, `date_phrases` finds what they match, `date_context` reads the sentence
around it, `date_resolver` turns it into a date. `written_dates` finds the dates that need no resolving.
"""

from dataclasses import dataclass
from datetime import datetime

from .date_phrases import Page
from .date_resolver import DateResolver
from .written_dates import Unannotated


@dataclass(frozen=True)
class DateMention:
    """A relative date at text[start:end] and what it stands for: a day, week, month or year in ISO form."""

    start: int
    end: int
    iso: str


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
    plain = Unannotated(text)
    page = Page(plain.text)
    resolver = DateResolver(page, said_at.date())
    mentions = []
    for phrase in page.phrases:
        start, end = plain.original(phrase.start), plain.original(phrase.end)
        is_annotated = end - start > phrase.end - phrase.start
        if not is_annotated and (iso := resolver.iso(phrase)):
            mentions.append(DateMention(start, end, iso))
    return tuple(mentions)
