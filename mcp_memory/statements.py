"""Facts that a statement leaves no doubt about: "I moved to Lisbon", "my sister's phone number is …".

Narrow on purpose. What is planned, wished for, reported, negated, past or there beside something else gives no fact;
what these patterns do not know stays a memory like any other.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace

import regex

from .guards import is_negated
from .phrases import LANGUAGES, Phrase, Step, read_owned_label, read_phrase
from .sift import is_question, sentences
from .stated import Reading, Stated
from .statement_ends import deaths_in, ends_in
from .statement_grammar import IS_NOT_MEANT, SIGN_OF, How, Row, StatementGrammar, grammar_of
from .statement_rest import (
    corrects,
    has_second_value,
    is_compared,
    is_corrected,
    is_denied,
    is_idle,
    leaves_nothing,
    rest_grammar_of,
    told_until,
)
from .statement_subjects import with_subjects
from .statement_values import (
    Value,
    is_age,
    is_name,
    is_no_object,
    is_no_thing_of,
    is_person,
    listed,
    may_be_firm,
    name_at,
    trimmed,
    value_of,
)
from .tense import speaks_of_plans
from .text import detect_language, fold
from .vocabulary import HAS, KNOWN_AS, OTHER, RELATIONS, is_attribute, label_key, relation_of

MAX_STATED = 100
# A longer text is prose: what stands in it is for the language model.
_MAX_CHARS = 600
_MAX_OBJECT_CHARS = 80

# The point after a title ends no sentence.
_TITLED = regex.compile(r"\b(Dr|Mr|Mrs|Ms|Prof|St|Sra|Sr|Dott|Mme)\.\s")
# Control characters, and such as have no width.
_UNSEEN = regex.compile(r"[\p{Cc}\p{Cf}]")
# A shorter text may be taken for another language.
_MAX_UNSURE_CHARS = 80


def read_statements(text: str, language: str = "") -> Reading:
    """The facts that a text states without doubt, at most `MAX_STATED`.

    >>> [(s.subject.words, s.relations[0], s.object, s.how) for s in read_statements("I've moved to Lisbon!").stated]
    [('the user', 'lives_in', 'Lisbon', 'begins')]
    """
    if len(text) > _MAX_CHARS or IS_NOT_MEANT.search(text):
        return Reading()
    plain = _TITLED.sub(r"\1 ", _UNSEEN.sub("", " ".join(text.replace("’", "'").split())))
    spoken = language or detect_language(plain)
    found: dict[tuple[object, ...], Stated] = {}
    is_all = True
    of_parts: list[list[Stated]] = []
    for part in sentences(plain):
        stated, is_whole = _read_sentence(part, spoken)
        if of_parts and not stated and any(corrects(part, code) for code in _languages_of(part, spoken)):
            # "My boss is Eva. Sorry, Tom."
            of_parts[-1] = []
        of_parts.append(stated)
        is_all = is_all and is_whole
    for stated in of_parts:
        for each in stated:
            if len(each.object) > _MAX_OBJECT_CHARS:
                continue
            found.setdefault((each.subject.key, each.relations, each.label, fold(each.object)), each)
    return Reading(tuple(found.values())[:MAX_STATED], is_all=is_all and 0 < len(found) <= MAX_STATED)


def prepare(languages: Collection[str]) -> None:
    """Compile the patterns of some languages, half a second each, so that the first text need not wait for them."""
    for language in languages:
        if language in LANGUAGES:
            grammar_of(language)
            rest_grammar_of(language)


def _read_sentence(said: str, spoken: str) -> tuple[list[Stated], bool]:
    """The facts of one sentence, in the first language that reads any, and whether there is nothing beside them."""
    if is_question(said) or (said.isupper() and len(said.split()) > 2):
        return [], False
    # Names and numbers show no language; short texts are taken for others.
    for language in _languages_of(said, spoken):
        grammar = grammar_of(language)
        if grammar.unsure.search(said) or speaks_of_plans(said, language):
            if language == spoken:
                return [], False
            continue
        sentence = with_subjects(said, grammar)
        starts = grammar.starts(sentence)
        if grammar.over.search(sentence):
            if (dead := list(deaths_in(sentence, grammar))) or language == spoken:
                is_alone = len(dead) == len(starts) == 1
                return dead, is_alone and is_idle(sentence[dead[0].read[0][1] :], language)
            continue
        if is_corrected(sentence, next(iter(starts)) + 1, language):
            return [], False
        read: list[Stated] = []
        is_whole = True
        last: Phrase | None = None
        for start, lead_in in starts.items():
            here = [
                replace(each, words=f"{lead_in}{each.words}") for each in _read_clause(sentence, start, grammar, last)
            ]
            last = _subject_at(sentence, start, grammar) or last
            whole = (start - len(lead_in), grammar.next_clause(sentence, start))
            spans = [span for each in here for span in each.read]
            is_whole = is_whole and bool(here) and leaves_nothing(sentence, whole, spans, language)
            read += here
        if read:
            return read, is_whole
    return [], False


def _languages_of(sentence: str, spoken: str) -> Iterator[str]:
    """The language that a text was taken for, and others where a word says that it may be one of those."""
    if spoken in LANGUAGES:
        yield spoken
    if len(sentence) <= _MAX_UNSURE_CHARS:
        yield from (code for code in LANGUAGES if code != spoken and SIGN_OF[code].search(sentence))


def _subject_at(sentence: str, start: int, grammar: StatementGrammar) -> Phrase | None:
    """Whom a clause is about, where it names somebody: a pronoun in a later one means them."""
    phrase = read_phrase(sentence, start, grammar.language)
    return phrase if phrase and (not phrase.steps or phrase.steps[-1].is_role) else None


def _read_clause(sentence: str, start: int, grammar: StatementGrammar, last: Phrase | None) -> Iterator[Stated]:
    """The facts of the clause that begins at a place; `last` is whom the one before was about."""
    clause_end = grammar.next_clause(sentence, start)
    clause = sentence[:clause_end]
    if grammar.alternative.search(clause, start):
        return
    if ended := list(ends_in(clause, start, grammar)):
        yield from ended
        return
    for row in grammar.rows:
        if match := row.first.match(clause, start):
            yield from _of_match(Phrase(), row, match, clause, start, grammar)
    if last is not None and (pronoun := grammar.pronoun.match(clause, start)):
        yield from _of_third(replace(last, is_former=False), clause, start, pronoun.end(), grammar)
    phrase = read_phrase(clause, start, grammar.language)
    is_read = False
    if phrase is not None:
        for stated in _of_phrase(phrase, clause, start, grammar):
            is_read = True
            yield stated
    elif match := grammar.verb_first.match(clause, start):
        yield from _is_what_is_had(match.group("name"), clause, start, match.end(), grammar)
    favourites = list(_favourite(clause, start, grammar))
    if not is_read and not favourites and (labelled := read_owned_label(clause, start, grammar.language)):
        yield from _equals(labelled, clause, start, grammar)
    yield from _has_new(sentence, start, grammar)
    yield from favourites


def _of_phrase(phrase: Phrase, clause: str, start: int, grammar: StatementGrammar) -> Iterator[Stated]:
    """What a clause says of the phrase that it begins with."""
    yield from _called(phrase, clause, start)
    place = phrase.end
    if (beside := grammar.comma.match(clause, place)) and not phrase.steps and phrase.name:
        # "Javier, Inés's brother, lives in Madrid".
        aside = read_phrase(clause, beside.end(), grammar.language)
        if aside and aside.steps and aside.steps[-1].is_role and (after := grammar.comma.match(clause, aside.end)):
            last = aside.steps[-1]
            place = after.end()
            yield Stated(aside.without_last(), (last.relation,), last.label, phrase.name, "is", "", ((start, place),))
    if not phrase.steps or phrase.steps[-1].is_role:
        yield from _of_third(phrase, clause, start, place, grammar)
    yield from _equals(phrase, clause, start, grammar)
    yield from _reversed(phrase, clause, start, grammar)


def _of_third(subject: Phrase, clause: str, start: int, place: int, grammar: StatementGrammar) -> Iterator[Stated]:
    """What the words at a place say of somebody other than the speaker."""
    for row in grammar.rows:
        if match := row.third.match(clause, place):
            yield from _of_match(subject, row, match, clause, start, grammar)


def _called(phrase: Phrase, clause: str, start: int) -> Iterator[Stated]:
    """That "my sister Eva" is Eva."""
    if phrase.called and phrase.steps and not phrase.is_former:
        read = ((start, phrase.end),)
        words = clause[start : phrase.end]
        yield Stated(phrase.without_last(), (phrase.steps[-1].relation,), "", phrase.called, "is", words, read)


def _of_match(
    subject: Phrase, row: Row, match: regex.Match[str], clause: str, start: int, grammar: StatementGrammar
) -> Iterator[Stated]:
    if subject.is_former:
        return
    groups = match.groupdict()
    group = next(name for name in ("o", "v", "list", "date", "n", "phone", "any") if groups.get(name) is not None)
    value, end = match.group(group).strip(), match.end()
    if group in ("o", "v"):
        value = trimmed(value, grammar)
    values = [value]
    if group == "list":
        values, n_read = listed(row.relations, value, grammar)
        end = end if n_read == len(value) else match.start(group) + n_read
    before, rest = clause[match.start() : match.start(group)], clause[end:]
    if not _is_meant(row, group, value, match, clause, grammar):
        return
    if groups.get("unsure") is not None and row.how != "ends" and not may_be_firm(value, is_change=row.how == "begins"):
        return
    if row.how != "ends" and (
        is_denied(rest, grammar.language) or is_negated(clause[match.start() : end], grammar.language)
    ):
        return
    if row.is_single and has_second_value(before, rest, grammar.language, is_change=row.how == "begins"):
        return
    read = _without_gap((start, end), match)
    words = clause[start : told_until(clause, end, grammar.language)]
    for each in values:
        yield Stated(subject, row.relations, "", each, row.how, words, read)


def _is_meant(
    row: Row, group: str, value: str, match: regex.Match[str], clause: str, grammar: StatementGrammar
) -> bool:
    """Whether what stands at the place of a value is one, and the only one where there can be but one."""
    before, after = clause[match.start() : match.start(group)], clause[match.end(group) :]
    if group in ("o", "v") and (not value or is_no_object(value, grammar)):
        return False
    if group == "o" and is_no_thing_of(row, value, before, after, grammar):
        return False
    if "age" in row.relations and not (is_age(value) and _is_age_alone(clause[match.end() :], grammar)):
        return False
    if not row.is_single:
        return True
    # "Live in Berlin during the week" and "also work at" tell of one of several.
    if grammar.beside.search(before) or grammar.beside.search(after):
        return False
    return row.how != "is" or not grammar.passing.search(clause)


def _is_age_alone(rest: str, grammar: StatementGrammar) -> bool:
    """Whether nothing makes an age another number of years: "three years of experience", "20, in dog years"."""
    joint = grammar.joint.search(rest)
    return is_idle(rest[: joint.start()] if joint else rest, grammar.language)


def _without_gap(span: tuple[int, int], match: regex.Match[str]) -> tuple[tuple[int, int], ...]:
    """What a match has read, without what it only passed over."""
    if match.groupdict().get("gap") is None:
        return (span,)
    first, last = match.span("gap")
    return (span[0], first), (last, span[1])


def _equals(phrase: Phrase, clause: str, start: int, grammar: StatementGrammar) -> Iterator[Stated]:
    """That what somebody has is this: "my phone number is …", "my boss is called Tom", "Acme's billing unit is B7"."""
    if not phrase.steps or phrase.is_former or phrase.called:
        return
    last = phrase.steps[-1]
    match = grammar.copula.match(clause, phrase.end)
    if match is None or grammar.beside.search(clause, match.end()) or is_negated(clause[start:], grammar.language):
        return
    if not phrase.is_new and grammar.passing.search(clause):
        return
    value = value_of(last, clause, match.end(), grammar)
    if last.is_role and not is_person(value.text, grammar):
        value = Value("", 0)
    if not value.text and last.is_role and (called := grammar.called.match(clause, phrase.end)):
        value = name_at(clause, called.end(), grammar)
    owner = phrase.without_last()
    if last.relation == "name" and owner.steps and owner.steps[-1].is_role:
        # "My wife's name is Ana" tells who she is.
        last, owner = owner.steps[-1], owner.without_last()
    if last.relation == OTHER and not is_attribute(last.label, grammar.language):
        # Of flights and nephews there may be many.
        several = _of_several(last.label, value.text, grammar)
        if several is None:
            return
        last = several
    if not value.text or _is_spoilt(last, value, clause, grammar):
        return
    how: How = "begins" if phrase.is_new else "is"
    yield _said(owner, last, value.text, how, clause, (start, value.end), grammar)


def _of_several(label: str, words: str, grammar: StatementGrammar) -> Step | None:
    """The relation to somebody or something that the vocabulary has no word for; None to what is neither: "Lehrer"."""
    if not words.replace(" ", "").isalpha():
        return Step(HAS, label)
    return Step(KNOWN_AS, label) if is_name(words, grammar) and is_person(words, grammar) else None


def _is_spoilt(step: Step, value: Value, clause: str, grammar: StatementGrammar) -> bool:
    """Whether the words after a value take it back, or give a second one of what there is one of."""
    rest = clause[value.end :]
    if is_denied(rest, grammar.language):
        return True
    if step.relation == "age":
        return not _is_age_alone(grammar.years.sub("", rest), grammar)
    return RELATIONS[step.relation].is_single and has_second_value("", rest, grammar.language, is_change=False)


def _said(
    owner: Phrase, step: Step, value: str, how: How, clause: str, read: tuple[int, int], grammar: StatementGrammar
) -> Stated:
    words = clause[read[0] : told_until(clause, read[1], grammar.language)]
    return Stated(owner, (step.relation,), step.label, value, how, words, (read,))


def _reversed(phrase: Phrase, clause: str, start: int, grammar: StatementGrammar) -> Iterator[Stated]:
    """That somebody is what somebody has: "Eva is my new boss"."""
    if phrase.steps or not phrase.name or fold(phrase.name.partition(" ")[0]) in grammar.stops:
        return
    if match := grammar.copula.match(clause, phrase.end):
        yield from _is_what_is_had(phrase.name, clause, start, match.end(), grammar)


def _is_what_is_had(name: str, clause: str, start: int, place: int, grammar: StatementGrammar) -> Iterator[Stated]:
    """That the name of a clause is what somebody has, by the words at a place."""
    if is_negated(clause[start:], grammar.language):
        return
    other = read_phrase(clause, place, grammar.language)
    if other is None and (role := grammar.own_role.match(clause, place)):
        label = label_key(role.group("label"), grammar.language)
        yield _said(Phrase(), Step(KNOWN_AS, label), name, "is", clause, (start, role.end("label")), grammar)
    if other is None or not other.steps or not other.steps[-1].is_role or other.is_former or other.called:
        return
    if not grammar.clause_end.match(clause, other.end):
        return
    how: How = "begins" if other.is_new else "is"
    yield _said(other.without_last(), other.steps[-1], name, how, clause, (start, other.end), grammar)


def _has_new(clause: str, start: int, grammar: StatementGrammar) -> Iterator[Stated]:
    """That there is a new one: "I have a new phone number: …"."""
    owner = Phrase()
    match = grammar.has_new.match(clause, start)
    if match is None:
        owner = read_phrase(clause, start, grammar.language) or owner
        match = grammar.other_has_new.match(clause, owner.end) if owner.end else None
    if match is None:
        return
    relation = relation_of(match.group("noun"), grammar.language)
    if relation is None:
        return
    step = Step(relation.name)
    value = value_of(step, clause, match.end(), grammar)
    if value.text and not _is_spoilt(step, value, clause, grammar):
        yield _said(owner, step, value.text, "begins", clause, (start, value.end), grammar)


def _favourite(clause: str, start: int, grammar: StatementGrammar) -> Iterator[Stated]:
    match = grammar.favourite.match(clause, start)
    if match is None or is_negated(clause[start:], grammar.language) or grammar.beside.search(clause, start):
        return
    value = Value(trimmed(match.group("v").strip(), grammar), match.end("v"))
    step = Step("favourite", label_key(match.group("label"), grammar.language))
    rest = clause[value.end :]
    is_value = value.text and grammar.no_values.isdisjoint(map(fold, value.text.split()))
    if not is_value or is_compared(rest, grammar.language) or _is_spoilt(step, value, clause, grammar):
        return
    # "Paris in spring" is Paris; "hard to say" is nothing.
    is_named = value.text[:1].isupper() and grammar.language != "de"
    if is_named or is_idle(rest, grammar.language) or rest[:1] in ",;(":
        yield _said(Phrase(), step, value.text, "is", clause, (start, value.end), grammar)
