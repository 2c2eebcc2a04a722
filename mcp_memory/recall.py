"""What the facts say to a question: values by key, and memories that the graph leads to.

The way goes from whom the question names, along the relations that it names, to the facts that hold at the time it
asks about. What it does not name is reached by a walk of two steps, and counts little.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import regex

from . import score
from .fact_keys import facts_about, facts_of_key, facts_of_labels, labels_of
from .gazetteer import Gazetteer
from .knowledge import walk
from .mentions import name_key
from .periods import Period, period_in, speaks_of_then
from .phrases import USER_KEY, Phrase
from .questions import Asked, While, read_question
from .records import Fact, Validity
from .search_records import KnownFact, Selection
from .stores import Stores
from .text import fold
from .timeline import same_value
from .vocabulary import KNOWN_AS, OTHER, RELATIONS
from .whose import Referents

# So many values are told beside the memories, and so many where all that ever were are asked for.
MAX_VALUES, MAX_EVER = 5, 10
WALK_DEPTH = 2
# Nodes that a walk visits at most: what is linked to more says little.
WALK_LIMIT = 300
# A walk begins at so many at most: who asks of more of them means them all, and nobody.
_MAX_STARTS = 20
# Of those who have the same as somebody so many are found, the newest: a search shows fewer.
_MAX_OTHERS = 100
_SHARED_DEPTH = 1
# What was so at a time that a question tells by it: where one lived and worked, and with whom.
_TIMES = tuple(name for name, relation in RELATIONS.items() if relation.is_single or relation.is_role)
_MOMENT = timedelta(microseconds=1)
_NAMES = regex.compile(r"[\p{Lu}\p{N}]\w*")
_LABELLED = tuple(name for name, relation in RELATIONS.items() if relation.is_labelled)


@dataclass(frozen=True, slots=True)
class Recalled:
    """What facts add to a search.

    `strengths` gives the signal in [0, 1] by memory id; `values` what was asked for by key, best first; `period` the
    past time that the question names, or in which what it asks for was so; `later` the memories of facts that were
    asked for and began only after it.
    """

    strengths: Mapping[str, float] = field(default_factory=dict)
    values: tuple[KnownFact, ...] = ()
    period: Period | None = None
    later: frozenset[str] = frozenset()


def recall(
    question: str,
    names: Sequence[tuple[str, str]],
    selection: Selection,
    former: Mapping[str, Validity],
    stores: Stores,
) -> Recalled:
    """The facts that answer a question, as they were at the time that it or the selection asks about.

    `former` gives the validity by id that rows had at `known_at` where it has changed since.
    """
    period = _past(question, selection)
    asked = read_question(question, names)
    if not asked.paths and not asked.of:
        return Recalled(period=period)
    return _Recall(asked, selection, period, former, stores).run()


def _past(question: str, selection: Selection) -> Period | None:
    period = period_in(question, selection.now)
    is_past = period is not None and period.end < selection.now and (period.is_sure or speaks_of_then(question))
    return period if is_past and not selection.as_of else None


class _Recall:
    """One question being answered from the facts of one user."""

    def __init__(
        self,
        asked: Asked,
        selection: Selection,
        period: Period | None,
        former: Mapping[str, Validity],
        stores: Stores,
    ) -> None:
        self._asked = asked
        self._log = stores.log
        self._user_id = selection.owner.user_id
        self._names: Gazetteer = stores.index_of(self._user_id).names
        self._referents = Referents(self._log, self._user_id, self._names)
        self._period = period
        moment = selection.as_of or selection.now
        self._during = period or Period(moment, moment)
        self._known_at = selection.known_at
        self._known_validity = former
        self._meant: dict[Phrase, list[str]] = {}
        self._strengths: dict[str, float] = defaultdict(float)
        self._values: dict[str, Fact] = {}
        self._later: set[str] = set()
        # A time that is named is the time asked about, whatever stands before it.
        self._asks_of_before = asked.before is not None and period is None
        self._asks_of_all = asked.is_ever and period is None and asked.before is None and asked.meanwhile is None
        self._found_in = period

    def run(self) -> Recalled:
        """Everything that the question asks for by key, then what the walk reaches."""
        if self._asked.meanwhile and not self._period:
            self._period = self._found_in = self._while(self._asked.meanwhile)
            if self._period is None:
                # When that was is not known, and what is so now is no answer.
                return Recalled()
            self._during = self._period
        for whom, relation in self._asked.of:
            self._by_key(whom, relation)
        for path in self._asked.paths:
            self._by_label(path)
        if not self._values:
            # What was asked for by key is not known: perhaps what lies near says it.
            self._walk([entity for path in self._asked.paths if path.name or path.steps for entity in self._whom(path)])
        most = MAX_EVER if self._asks_of_all else MAX_VALUES
        return Recalled(
            {memory_id: strength for memory_id, strength in self._strengths.items() if strength > 0},
            tuple(told_as(fact, self._known_validity) for fact in self._once()[:most]),
            self._found_in,
            frozenset(self._later),
        )

    def _once(self) -> list[Fact]:
        """The values, each told once for a time, in its most exact words: several memories may say it."""
        kept: list[Fact] = []
        for fact in self._values.values():
            place = next((place for place, other in enumerate(kept) if self._is_same(fact, other)), None)
            if place is None:
                kept.append(fact)
            elif len(fact.object) > len(kept[place].object):
                kept[place] = fact
        return kept

    def _is_same(self, one: Fact, other: Fact) -> bool:
        keys = {(fact.subject_id, fact.relation, fact.label) for fact in (one, other)}
        if len(keys) > 1 or not same_value(one.object_key, other.object_key):
            return False
        first, second = sorted((one, other), key=lambda fact: fact.valid_from)
        end = self._validity(first)[1]
        return end is None or second.valid_from < end

    # Whom a phrase means

    def _whom(self, phrase: Phrase) -> list[str]:
        """The entities that a phrase means at the time asked about, with the facts on the way as support."""
        if phrase not in self._meant:
            self._meant[phrase] = self._led_to(phrase)
        return self._meant[phrase]

    def _led_to(self, phrase: Phrase) -> list[str]:
        key = name_key(phrase.called or phrase.name) if phrase.called or phrase.name else USER_KEY
        base = self._names.by_key(key) or self._names.full_name(key)
        found = [base.id] if base else []
        if phrase.called:
            return self._same(found)
        path = f"={key.removeprefix('=')}"
        for step in phrase.steps:
            path = f"{path}/{step.label if step.relation == KNOWN_AS else step.relation}"
            facts = self._facts_of(
                self._same(found), (KNOWN_AS, OTHER) if step.relation == KNOWN_AS else (step.relation,)
            )
            facts = [fact for fact in facts if fact.object_id and fact.label == step.label]
            found = [fact.object_id for fact in facts]
            self._support(facts)
            # Somebody who is known by the role alone.
            unnamed = self._names.by_key(path)
            if unnamed and (not found or not RELATIONS[step.relation].is_single):
                found.append(unnamed.id)
        return self._same(found)

    def _same(self, entity_ids: Iterable[str]) -> list[str]:
        """Entities, with their spellings and the roles by which they were known before their names were."""
        return list(dict.fromkeys(same for entity in entity_ids for same in sorted(self._referents.same_as(entity))))

    # What they have

    def _by_key(self, whom: Phrase, relation: str) -> None:
        nodes = self._whom(whom)
        known = facts_of_key(self._log, self._user_id, nodes, (relation,)) if nodes else []
        is_qualified = (whom.key, relation) in self._asked.qualified
        if self._asks_of_before and (RELATIONS[relation].is_single or RELATIONS[relation].is_role):
            self._answer_former(self._meant_by_words(known, is_qualified=is_qualified))
            return
        if self._asks_of_all:
            self._answer_all(self._meant_by_words(known, is_qualified=is_qualified))
            return
        facts = self._holding_then(known)
        if not facts and whom.name and not whom.steps:
            facts = self._holding(facts_about(self._log, nodes, (relation,), _MAX_OTHERS))
        meant = self._meant_by_words(facts, is_qualified=is_qualified)
        self._answer([(fact, score.of_label(is_meant=fact in meant)) for fact in facts], nodes)

    def _by_label(self, path: Phrase) -> None:
        """Facts whose label stands in the question: "billing unit", "shoe size"."""
        nodes = self._whom(path)
        labels = {
            label
            for label in labels_of(self._log, nodes, self._asked.words)
            if label and self._asked.names(label, path)
        }
        if not labels:
            return
        known = facts_of_labels(self._log, self._user_id, nodes, _LABELLED, labels)
        if self._asks_of_before:
            self._answer_former(known)
        elif self._asks_of_all:
            self._answer_all(known)
        else:
            self._answer([(fact, score.of_label(is_meant=True)) for fact in self._holding_then(known)], nodes)

    def _meant_by_words(self, facts: Sequence[Fact], *, is_qualified: bool) -> Sequence[Fact]:
        """Of several facts of one relation those whose label the question has; where it has none, those without one."""
        named = [fact for fact in facts if fact.label and set(fact.label.split()) <= self._asked.words]
        if is_qualified:
            return named
        return named or [fact for fact in facts if not fact.label] or facts

    def _answer(self, found: Sequence[tuple[Fact, float]], nodes: Sequence[str]) -> None:
        """Count facts that were asked for, and where others of the same are asked for, those."""
        others: list[Fact] = []
        # "Which of my customers share" asks within them, "who else works at" beside one.
        if self._asked.is_shared and len({fact.subject_id for fact, _ in found}) == 1:
            objects = {fact.object_id for fact, _ in found} - {""}
            about = facts_about(self._log, objects, {fact.relation for fact, _ in found}, _MAX_OTHERS)
            labels = {(fact.relation, fact.label) for fact, _ in found}
            others = [
                fact
                for fact in self._holding(about)
                if fact.subject_id not in nodes and (fact.relation, fact.label) in labels
            ]
        subjects: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        for fact, _ in found:
            subjects[(fact.relation, fact.label, fact.object_key)].add(fact.subject_id)
        for fact, weight in found:
            is_alone = len(subjects[(fact.relation, fact.label, fact.object_key)]) < 2
            hops = _SHARED_DEPTH if self._asked.is_shared and is_alone else 0
            self._count(fact, weight * score.fact(hops))
        for fact in others:
            self._count(fact, score.fact(0))

    def _answer_former(self, known: Sequence[Fact]) -> None:
        """Count what was so before, the latest first; what came after is no answer."""
        former = self._former(known)
        self._tell_in_turn(former)
        if former:
            self._later |= {fact.memory_id for fact in known if fact.valid_from > former[0].valid_from}
            self._later -= {fact.memory_id for fact in former}

    def _answer_all(self, known: Sequence[Fact]) -> None:
        """Count all that was ever so, the latest first."""
        self._tell_in_turn(_newest_first(fact for fact in self._told(known) if fact.valid_from <= self._during.end))

    def _tell_in_turn(self, facts: Sequence[Fact]) -> None:
        for place, fact in enumerate(facts):
            self._raise(fact.memory_id, score.fact(min(place, 1)))
            self._values.setdefault(fact.id, fact)
        if facts:
            # Their memories have ended with them, and are to be found.
            ends = [end for fact in facts if (end := self._validity(fact)[1])]
            start = min(fact.valid_from for fact in facts)
            self._found_in = Period(start, max(ends, default=self._during.end))

    def _while(self, meanwhile: While) -> Period | None:
        """The time for which what a question names was so, the latest where it was so several times."""
        nodes = [entity for path in meanwhile.paths for entity in self._whom(path)]
        relations = (meanwhile.relation,) if meanwhile.relation else _TIMES
        known = facts_of_key(self._log, self._user_id, nodes, relations) if nodes else []
        spans = sorted(
            (self._validity(fact) for fact in self._told(known) if _is_named(fact, meanwhile.words)),
            key=lambda span: span[0] or self._during.end,
        )
        if not spans:
            return None
        begin, end = spans.pop()
        while spans and (spans[-1][1] is None or (begin and spans[-1][1] >= begin)):
            begin = spans.pop()[0]
        return Period(begin or self._during.start, end - _MOMENT if end else self._during.end)

    def _former(self, known: Sequence[Fact]) -> list[Fact]:
        before = self._asked.before
        assert before is not None
        told = self._told(known)
        named = [fact for fact in told if fold(fact.object).partition(" ")[0] in before.words]
        if named:
            bound = max(fact.valid_from for fact in named)
            former = [fact for fact in told if fact.valid_from < bound and fact not in named]
        elif before.is_named:
            return []
        else:
            former = [fact for fact in told if (end := self._validity(fact)[1]) and end <= self._during.start]
        return _newest_first(former)

    def _support(self, facts: Sequence[Fact]) -> None:
        for fact in facts:
            self._raise(fact.memory_id, score.fact(1))

    def _count(self, fact: Fact, strength: float) -> None:
        self._raise(fact.memory_id, strength)
        if strength >= score.fact(0):
            self._values.setdefault(fact.id, fact)

    def _raise(self, memory_id: str, strength: float) -> None:
        self._strengths[memory_id] = max(self._strengths[memory_id], strength)

    def _walk(self, starts: Sequence[str]) -> None:
        user = self._names.by_key(USER_KEY)
        start = [entity for entity in starts if user is None or entity != user.id]
        if not start:
            return
        through = user.id if user else ""
        moments = (self._during.start, self._during.end)
        found = walk(self._log, self._user_id, start[:_MAX_STARTS], through, moments, WALK_DEPTH, WALK_LIMIT)
        for memory_id, hops in found:
            self._raise(memory_id, score.walked(hops))

    # Time

    def _facts_of(self, nodes: Sequence[str], relations: Sequence[str]) -> list[Fact]:
        return self._holding(facts_of_key(self._log, self._user_id, nodes, relations)) if nodes else []

    def _holding(self, facts: Iterable[Fact]) -> list[Fact]:
        """The facts that hold at some time of the period, newest first, by what was known then."""
        return _newest_first(fact for fact in self._told(facts) if self._during.overlaps(*self._validity(fact)))

    def _holding_then(self, known: Sequence[Fact]) -> list[Fact]:
        """Those that hold; where some held at the time that is named, what began only later is no answer."""
        facts = self._holding(known)
        if self._period and facts:
            self._later |= {fact.memory_id for fact in known if fact.valid_from > self._period.end}
        return facts

    def _told(self, facts: Iterable[Fact]) -> list[Fact]:
        """What is or was so, as far as it was known then."""
        return [fact for fact in facts if fact.holds and (self._known_at is None or fact.created_at <= self._known_at)]

    def _validity(self, fact: Fact) -> Validity:
        """(from, to) of a fact, by what was known then."""
        return self._known_validity.get(fact.id, (fact.valid_from, fact.invalid_at))


def _newest_first(facts: Iterable[Fact]) -> list[Fact]:
    return sorted(facts, key=lambda fact: (fact.valid_from, fact.id), reverse=True)


def _is_named(fact: Fact, words: Collection[str]) -> bool:
    """Whether a question names what a fact says: a place by all of its name, a person by one of theirs."""
    names = set(map(fold, _NAMES.findall(fact.object))) or set(fold(fact.object).split()[:1])
    return bool(names.intersection(words) if RELATIONS[fact.relation].is_role else names and names.issubset(words))


def told_as(fact: Fact, former: Mapping[str, Validity]) -> KnownFact:
    """A fact in the form that answers have, with the time in which it held by what was known then."""
    begin, end = former.get(fact.id, (fact.valid_from, fact.invalid_at))
    since = begin or fact.valid_from
    return KnownFact(fact.subject, fact.relation, fact.label, fact.object, since, fact.memory_id, end)
