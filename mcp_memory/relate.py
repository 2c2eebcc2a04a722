"""Two statements about one person: may they mean the same, and may the later one end the earlier one?

A language model proposes; these rules dispose. They err on the side of keeping both: a memory too many is a
nuisance, a look-alike that swallows another is a loss.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from .dates import dates_in
from .guards import (
    content_terms,
    is_named_in,
    is_negated,
    is_user,
    names_in,
    numbers_in,
)
from .records import FactType, Kind
from .tense import speaks_of_change, speaks_of_past, speaks_of_plans
from .text import fold, normalise

Verdict = Literal["same", "changed", "other"]
# Cosine of two texts below which they are not taken for the same, whatever a model says of them.
MIN_SAME_SIMILARITY = 0.6
# Of these a subject has one at a time; of the second kind one for each relation ("rent", "phone number").
SINGLE_VALUED: frozenset[FactType] = frozenset(("age", "birthday", "home", "job", "employer", "school", "partner"))
SINGLE_BY_RELATION: frozenset[FactType] = frozenset(("favourite", "contact", "amount", "uses", "time"))


@dataclass(frozen=True, slots=True)
class Told:
    """A statement with what is known of it; subject, type and relation are '' where nobody has described it."""

    text: str
    language: str
    observed_at: datetime
    kind: Kind = "fact"
    subject: str = ""
    fact_type: FactType | Literal[""] = ""
    relation: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a model says of an earlier and a later statement: their values for one topic, and how they relate."""

    verdict: Verdict
    earlier: str
    later: str


def is_worth_asking(earlier: Told, later: Told, similarity: float) -> bool:
    """Whether any verdict but "other" could stand; `similarity` is the cosine of both texts in [-1, 1]."""
    return _may_be_same(earlier, later, similarity) or _may_end(earlier, later)


def disposed(said: Comparison, earlier: Told, later: Told, similarity: float) -> Verdict:
    """The verdict that stands; `similarity` is the cosine of both texts in [-1, 1]."""
    may_be_same = _may_be_same(earlier, later, similarity)
    if said.verdict == "same":
        return "same" if may_be_same else "other"
    if said.verdict == "other":
        return "other"
    if may_be_same and _is_one_value(said, later.language):
        return "same"
    # The values that the model compared must stand in the statements that it was given.
    is_read = _stands_in(said.earlier, earlier) and _stands_in(said.later, later)
    return "changed" if is_read and _may_end(earlier, later) else "other"


def _may_be_same(one: Told, other: Told, similarity: float) -> bool:
    """Whether two statements are close, and nothing that code can tell sets them apart.

    "The user's dentist is Osei" and "Osei is the user's dentist" have different subjects, but each names the other's.
    """
    return (
        similarity >= MIN_SAME_SIMILARITY
        and is_alike(one, other)
        and _subject_stands_in(one, other)
        and _subject_stands_in(other, one)
    )


def is_alike(one: Told, other: Told) -> bool:
    """Whether two statements have the same numbers, dates and names, and are both negated or both not.

    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 3, 9, tzinfo=UTC)
    >>> is_alike(Told("Ana runs 5 km.", "en", at), Told("Ana runs 10 km.", "en", at))
    False
    """
    return (
        _numbers(one) == _numbers(other)
        and set(dates_in(one.text)) == set(dates_in(other.text))
        and _names_stand_in(one, other)
        and _names_stand_in(other, one)
        and is_negated(one.text, one.language) == is_negated(other.text, other.language)
    )


def _numbers(told: Told) -> set[str]:
    """The numbers that are no part of a date; an article is a one in many languages, and tells nothing."""
    of_dates = {part.lstrip("0") for date in dates_in(told.text) for part in date.split("-")}
    return numbers_in(told.text, told.language) - of_dates - {"1"}


def _may_end(earlier: Told, later: Told) -> bool:
    """Whether the later statement may end the earlier one.

    Either both give a value to what a subject has one of, or the later one speaks of a change. A plan ends nothing,
    nor does what is over, and what is over cannot end.
    """
    if later.kind == "plan" or speaks_of_plans(later.text, later.language):
        return False
    if speaks_of_past(earlier.text, earlier.language) or not _same_subject(earlier, later):
        return False
    if speaks_of_change(later.text, later.language):
        return True
    return _is_same_key(earlier, later) and not speaks_of_past(later.text, later.language)


def _is_same_key(one: Told, other: Told) -> bool:
    if one.fact_type != other.fact_type or not one.subject or not other.subject:
        return False
    if one.fact_type in SINGLE_VALUED:
        return True
    return one.fact_type in SINGLE_BY_RELATION and bool(
        content_terms(one.relation, one.language) & content_terms(other.relation, other.language)
    )


def _same_subject(one: Told, other: Told) -> bool:
    if not one.subject or not other.subject:
        return True
    these, those = _subject_terms(one), _subject_terms(other)
    if numbers_in(one.subject, one.language) != numbers_in(other.subject, other.language):
        return False
    return bool(these & those) or these == those


def _subject_terms(told: Told) -> frozenset[str]:
    """What names the subject; nothing for the user, and where nobody has described it."""
    return frozenset() if is_user(told.subject) else content_terms(told.subject, told.language)


def _stands_in(value: str, told: Told) -> bool:
    return bool(content_terms(value, told.language) & content_terms(told.text, told.language))


def _is_one_value(said: Comparison, language: str) -> bool:
    """Whether one of the two values that a model found says no more than the other."""
    one, other = content_terms(said.earlier, language), content_terms(said.later, language)
    return bool(one and other) and (one <= other or other <= one)


def _names_stand_in(one: Told, other: Told) -> bool:
    """Whether the other text names everybody that this one names; a name that begins a text is not seen as one."""
    text = fold(normalise(other.text))
    return all(is_named_in(name, text, other.language) for name in names_in(one.text, one.language))


def _subject_stands_in(one: Told, other: Told) -> bool:
    # In the other's language: of two short texts one may be taken for another language.
    wanted = frozenset() if is_user(one.subject) else content_terms(one.subject, other.language)
    return wanted <= content_terms(other.text, other.language)
