"""Two statements about one person: may they mean the same, and may the later one end the earlier one?

A language model proposes; these rules dispose. They err on the side of keeping both: a memory too many is a
nuisance, a look-alike that swallows another is a loss.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import regex

from .guards import (
    content_terms,
    counts_in,
    is_named_in,
    is_negated,
    is_user,
    names_in,
    opens_with_user,
)
from .records import FactType, Kind
from .sift import language_of
from .tense import speaks_of_change, speaks_of_past, speaks_of_plans
from .text import fold, normalise
from .written_dates import dates_in

Verdict = Literal["same", "changed", "other"]
# Cosine of two texts below which they are not taken for the same, whatever a model says of them.
MIN_SAME_SIMILARITY = 0.6
# Of these a subject has one at a time; of the second kind one for each relation ("rent", "phone number").
SINGLE_VALUED: frozenset[FactType] = frozenset(("age", "birthday", "home", "job", "employer", "school", "partner"))
SINGLE_BY_RELATION: frozenset[FactType] = frozenset(("favourite", "contact", "amount", "uses", "time"))


# Of a text that nobody has described: where its subject stands, and what two such texts must share.
_N_OPENING, _N_FIRST = 6, 3
_GENITIVE = regex.compile(r"\b(?:of|von|vom|des?|du|d[ao]s?|di|del|dell[ao]|al)\s+(?:\w+\s+)?$", regex.IGNORECASE)


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
        counts_in(one.text, one.language) == counts_in(other.text, other.language)
        and set(dates_in(one.text)) == set(dates_in(other.text))
        and _names_stand_in(one, other)
        and _names_stand_in(other, one)
        and is_negated(one.text, one.language) == is_negated(other.text, other.language)
    )


def _may_end(earlier: Told, later: Told) -> bool:
    """Whether the later statement may end the earlier one.

    Either both give a value to what a subject has one of, or the later one speaks of a change, or it denies the
    earlier one. A plan ends nothing, nor does what is over, and what is over cannot end.
    """
    if later.kind == "plan" or speaks_of_plans(later.text, later.language):
        return False
    if speaks_of_past(earlier.text, earlier.language):
        return False
    if speaks_of_change(later.text, later.language):
        return is_same_subject(earlier, later) or _tells_of_subject(later, earlier)
    if speaks_of_past(later.text, later.language) or not is_same_subject(earlier, later):
        return False
    if is_negated(later.text, later.language):
        return _denies(later, earlier)
    return _is_same_key(earlier, later) and not is_negated(earlier.text, earlier.language)


def _denies(later: Told, earlier: Told) -> bool:
    """Whether a negated statement says no more than that another one is not so.

    "The user eats no meat" ends "The user eats meat", and "The user does not work at Bosch" ends no other job.
    """
    denied = content_terms(later.text, later.language) - language_of(later.language).negations
    return not is_negated(earlier.text, earlier.language) and denied <= content_terms(earlier.text, earlier.language)


def _is_same_key(one: Told, other: Told) -> bool:
    if one.fact_type != other.fact_type or not one.subject or not other.subject:
        return False
    if one.fact_type in SINGLE_VALUED:
        return True
    # A rent and a rent deposit share a word.
    these, those = (content_terms(told.relation, told.language) for told in (one, other))
    return one.fact_type in SINGLE_BY_RELATION and bool(these) and these == those


def is_same_subject(one: Told, other: Told) -> bool:
    """Whether two statements are about the same: by their subjects, or by how a text that nobody described begins.

    A name alone means whoever bears it as a title: "Tom" is "the user's brother Tom", but not "Tom's dentist".
    """
    if one.subject and other.subject:
        if is_user(one.subject) or is_user(other.subject):
            return is_user(one.subject) and is_user(other.subject)
        these, those = (content_terms(told.subject, told.language) for told in (one, other))
        is_named = _is_titled(one.subject, other.subject) or _is_titled(other.subject, one.subject)
        return is_named or (bool(these) and these == those)
    told, untold = (one, other) if one.subject else (other, one)
    is_by_user = opens_with_user(untold.text, untold.language)
    if is_user(told.subject) or (not told.subject and opens_with_user(told.text, told.language)):
        return is_by_user
    n_words, wanted = (_N_OPENING, told.subject) if told.subject else (_N_FIRST, _opening(told.text, _N_FIRST))
    begun, named = (content_terms(text, told.language) for text in (_opening(untold.text, n_words), wanted))
    return not is_by_user and bool(named) and (named <= begun if told.subject else named == begun)


def _tells_of_subject(one: Told, other: Told) -> bool:
    """Whether a statement about the user names what the other one is about: "The user changed the wifi password"."""
    if not opens_with_user(one.text, one.language) or is_user(other.subject):
        return False
    wanted = content_terms(other.subject or _opening(other.text, _N_FIRST), other.language)
    return bool(wanted) and wanted <= content_terms(one.text, one.language)


def _is_titled(titled: str, name: str) -> bool:
    """Whether one subject ends with the other, a name in apposition.

    >>> _is_titled("the user's brother Tom", "Tom"), _is_titled("le dentiste de Tom", "Tom")
    (True, False)
    """
    before, found, rest = titled.rpartition(name)
    is_apposed = bool(found) and not rest and name[:1].isupper() and before.endswith(" ")
    return is_apposed and _GENITIVE.search(before) is None


def _opening(text: str, n_words: int) -> str:
    return " ".join(text.split()[:n_words])


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
    if is_user(one.subject) or (not one.subject and opens_with_user(one.text, one.language)):
        return True
    # In the other's language: of two short texts one may be taken for another language.
    wanted = content_terms(one.subject or _opening(one.text, _N_FIRST), other.language)
    return wanted <= content_terms(other.text, other.language)
