"""Two statements about one person: may they mean the same, and may the later one end the earlier one?

A language model proposes; these rules dispose. They err on the side of keeping both: a memory too many is a
nuisance, a look-alike that swallows another is a loss.
"""

from dataclasses import dataclass, replace
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
    weekdays_in,
)
from .records import BY_HAND, FactType, Kind, Memory
from .relations import Terms, contrasts_in, has_possessor, holds, stated_terms, without
from .tense import changes_in, speaks_of_change, speaks_of_past, speaks_of_plans, without_change_words
from .text import fold, normalise
from .vocabulary import SINGLE_BY_LABEL, SINGLE_TYPES
from .written_dates import dates_in

Verdict = Literal["same", "changed", "other"]
# Cosine of two texts below which they are not taken for the same, whatever a model says of them. With the packaged
# model 20 repetitions in nine languages had 0.80 to 0.99, and 20 look-alikes 0.20 to 0.98: it parts the far ones only.
MIN_SAME_SIMILARITY = 0.6
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


def may_merge(new: Told, known: Told, similarity: float) -> bool:
    """Whether a new statement may be taken for a known one: it says nothing that the known one does not say.

    `similarity` is the cosine of both texts in [-1, 1].
    """
    new, known = _in_one_language(new, known)
    return (
        similarity >= MIN_SAME_SIMILARITY
        and is_alike(new, known)
        # "The user's dentist is Osei" and "Osei is the user's dentist" have different subjects; each names the other's.
        and _subject_stands_in(new, known)
        and _subject_stands_in(known, new)
        and holds(stated_terms(known.text, known.language), stated_terms(new.text, new.language))
    )


def may_end(earlier: Told, later: Told) -> bool:
    """Whether the later statement may end the earlier one, for some values that a model might read in them."""
    earlier, later = _in_one_language(earlier, later)
    if not _may_meet(earlier, later):
        return False
    shared = stated_terms(earlier.text, earlier.language) & stated_terms(later.text, later.language)
    may_replace = bool(changes_in(later.text, later.language)) and bool(shared)
    return may_replace or _ends_by_itself(earlier, later)


def disposed(said: Comparison, earlier: Told, later: Told, *, is_mergeable: bool) -> Verdict:
    """The verdict that stands; `is_mergeable` says whether `may_merge` holds for the new one of both."""
    earlier, later = _in_one_language(earlier, later)
    if said.verdict == "same":
        return "same" if is_mergeable else "other"
    if said.verdict == "other":
        return "other"
    if is_mergeable and _says_no_more(said, later):
        return "same"
    # The values that the model compared must stand in the statements that it was given.
    is_read = _stands_in(said.earlier, earlier) and _stands_in(said.later, later)
    return "changed" if is_read and _ends(said, earlier, later) else "other"


def is_alike(one: Told, other: Told) -> bool:
    """Whether no number, date, weekday, name, "not", "before" or tense sets two statements apart.

    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 3, 9, tzinfo=UTC)
    >>> is_alike(Told("Ana runs 5 km.", "en", at), Told("Ana runs 10 km.", "en", at))
    False
    """
    return (
        all(
            tell(one.text, one.language) == tell(other.text, other.language)
            for tell in (counts_in, weekdays_in, contrasts_in, is_negated, speaks_of_past, speaks_of_plans, _ends_any)
        )
        and dates_in(one.text) == dates_in(other.text)
        and _names_stand_in(one, other)
        and _names_stand_in(other, one)
    )


def outranks(known: Memory, said_at: datetime) -> bool:
    """Whether a known memory holds against what a language model reads out of words said at some time.

    It does where its text is a person's correction, made after those words or at the same time: then nothing that was
    read ends the memory or is taken for it.

    `updated_at` is when the correction was made, or a later change of the row: words from between count as earlier.
    """
    return known.prompt == BY_HAND and said_at <= known.updated_at


def _in_one_language(one: Told, other: Told) -> tuple[Told, Told]:
    """Both, where a text that is too short to show its language takes that of the other."""
    return (
        replace(one, language=one.language or other.language),
        replace(other, language=other.language or one.language),
    )


def _ends_any(text: str, language: str) -> bool:
    return not changes_in(text, language) <= {"begun"}


def _ends(said: Comparison, earlier: Told, later: Told) -> bool:
    return _may_meet(earlier, later) and (
        _ends_by_itself(earlier, later)
        or _names_what_it_replaces(said, earlier, later)
        or _sets(said, earlier, later)
        or _puts_off(earlier, later)
    )


def _may_meet(earlier: Told, later: Told) -> bool:
    """Whether both are about one subject, the later one is no plan, and neither tells of what is over already."""
    if later.kind == "plan" or speaks_of_plans(later.text, later.language):
        return False
    if speaks_of_past(earlier.text, earlier.language) or is_negated(earlier.text, earlier.language):
        return False
    if speaks_of_change(later.text, later.language):
        return is_same_subject(earlier, later) or _tells_of_subject(later, earlier)
    return not speaks_of_past(later.text, later.language) and is_same_subject(earlier, later)


def _ends_by_itself(earlier: Told, later: Told) -> bool:
    """Whether the later one denies no more than the earlier one says, or gives a value to what there is one of."""
    if not is_same_subject(earlier, later):
        return False
    changes, rest = changes_in(later.text, later.language), without_change_words(later.text, later.language)
    is_denial = is_negated(rest, later.language)
    # "The mother retired" says nothing of where she lives.
    denied = without(stated_terms(rest, later.language), stated_terms(earlier.subject, earlier.language))
    if (is_denial or "ended" in changes) and denied and holds(stated_terms(earlier.text, earlier.language), denied):
        return True
    is_end_of_another = changes == {"ended"} and bool(denied)
    return not is_denial and not is_end_of_another and _is_same_key(earlier, later)


def _names_what_it_replaces(said: Comparison, earlier: Told, later: Told) -> bool:
    """Whether the later one says what took the place of the value that the earlier one gives: "from Graz to Turin"."""
    changes = changes_in(later.text, later.language)
    is_home = "home" in (earlier.fact_type, later.fact_type)
    # An end alone may be another's: who "sold the boat to Bosch" may work there still.
    is_exchanged = "replaced" in changes or changes >= {"ended", "begun"}
    is_replaced = is_exchanged or ("moved" in changes and is_home)
    if not is_replaced and not (changes and _is_same_key(earlier, later)):
        return False
    old, new = stated_terms(said.earlier, earlier.language), stated_terms(said.later, later.language)
    before, after = (stated_terms(told.text, told.language) for told in (earlier, later))
    # Who sells a Škoda Octavia says "the Octavia".
    is_named = bool(old) and 2 * len(without(old, after)) <= len(old)
    return is_named and bool(without(new, old)) and is_same_subject(earlier, later) and holds(before, old)


def _puts_off(earlier: Told, later: Told) -> bool:
    """Whether the later one gives another date to what the earlier one gives a date: "has been pushed back to …"."""
    if "replaced" not in changes_in(later.text, later.language) or not is_same_subject(earlier, later):
        return False
    dates = dates_in(earlier.text), dates_in(later.text)
    frame = stated_terms(earlier.text, earlier.language)
    # All but its verb: "leaves" has become "has been pushed back".
    left = without(frame, stated_terms(later.text, later.language))
    return len(dates[0]) == len(dates[1]) == 1 and dates[0] != dates[1] and len(left) <= 1 < len(frame)


def _sets(said: Comparison, earlier: Told, later: Told) -> bool:
    """Whether the later one says no more than that what the earlier one gives a value to has another one.

    "The user changed the wifi password to fig" ends "The wifi password is plum": but for the values, each says no more
    than the other.
    """
    changes = changes_in(later.text, later.language)
    # "Now 920" takes the place of 850, but "now a mother" not of "a nurse".
    are_counts = bool(counts_in(said.earlier, earlier.language) and counts_in(said.later, later.language))
    if not ("replaced" in changes or ("begun" in changes and are_counts)):
        return False
    if opens_with_user(earlier.text, earlier.language) or has_possessor(earlier.text, earlier.language):
        return False
    before, after = stated_terms(earlier.text, earlier.language), _stated_of_change(later)
    old, new = stated_terms(said.earlier, earlier.language), stated_terms(said.later, later.language)
    frame, rest = without(before, old), without(after, without(new, before))
    return bool(frame) and holds(after, frame) and holds(before, rest)


def _stated_of_change(told: Told) -> Terms:
    return stated_terms(without_change_words(told.text, told.language), told.language)


def _is_same_key(one: Told, other: Told) -> bool:
    if one.fact_type != other.fact_type or not one.subject or not other.subject:
        return False
    if one.fact_type in SINGLE_TYPES:
        return True
    # A rent and a rent deposit share a word.
    these, those = (content_terms(told.relation, told.language) for told in (one, other))
    return one.fact_type in SINGLE_BY_LABEL and bool(these) and these == those


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


def _says_no_more(said: Comparison, later: Told) -> bool:
    """Whether the later one's value, by what a model read, is the earlier one's or a part of it."""
    old, new = (stated_terms(value, later.language) for value in (said.earlier, said.later))
    return bool(old and new) and holds(old, new) and not speaks_of_change(later.text, later.language)


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
