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
from .statement_grammar import (
    IS_GERMAN_NOUN,
    IS_NOT_MEANT,
    IS_OF_A_PEOPLE,
    IS_TITLE,
    PARTS_OF_FIRMS,
    RANK_WORDS,
    SIGN_OF,
    How,
    Row,
    StatementGrammar,
    grammar_of,
)
from .tense import speaks_of_plans
from .text import detect_language, fold
from .vocabulary import KNOWN_AS, RELATIONS, label_key, relation_of

MAX_STATED = 100
# A longer text is prose: what stands in it is for the language model.
_MAX_CHARS = 600
_MAX_OBJECT_CHARS = 80
_MAX_AGE = 120
# More capitals are shouted.
_MAX_INITIALS = 4

# The point after a title ends no sentence.
_TITLED = regex.compile(r"\b(Dr|Mr|Mrs|Ms|Prof|St|Sra|Sr|Dott|Mme)\.\s")
# "Ich wohne in Graz nicht".
_NOT = regex.compile(r"\s(?:nicht|not|pas|non)\b")
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
    parts = sentences(plain)
    for part in parts:
        stated, is_whole = _read_sentence(part, spoken)
        is_all = is_all and is_whole
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


def _read_sentence(sentence: str, spoken: str) -> tuple[list[Stated], bool]:
    """The facts of one sentence, in the first language that reads any, and whether there is nothing beside them."""
    if is_question(sentence) or (sentence.isupper() and len(sentence.split()) > 2):
        return [], False
    # Names and numbers show no language; short texts are taken for others.
    for language in _languages_of(sentence, spoken):
        grammar = grammar_of(language)
        if grammar.unsure.search(sentence) or speaks_of_plans(sentence, language):
            if language == spoken:
                return [], False
            continue
        if grammar.over.search(sentence):
            if (dead := list(deaths_in(sentence, grammar))) or language == spoken:
                return dead, len(dead) == len(grammar.starts(sentence))
            continue
        read: list[Stated] = []
        n_clauses = n_read = 0
        last: Phrase | None = None
        for start, lead_in in grammar.starts(sentence).items():
            n_clauses += 1
            here = [_led_in(each, lead_in) for each in _read_clause(sentence, start, grammar, last)]
            last = _subject_at(sentence, start, grammar) or last
            n_read += bool(here) and not any(each.goes_on for each in here)
            read += here
        if read:
            return read, n_read == n_clauses
    return [], False


def _led_in(stated: Stated, lead_in: str) -> Stated:
    """A fact with the words that lead in to its clause, which may tell since when it is so."""
    is_told = not stated.words or lead_in in stated.words
    return stated if is_told else replace(stated, words=f"{lead_in}{stated.words}")


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
            yield from _of_match(Phrase(), row, match, clause, grammar)
    if last is not None and (pronoun := grammar.pronoun.match(clause, start)):
        yield from _of_third(replace(last, is_former=False), clause, pronoun.end(), grammar)
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
    yield from _called(phrase)
    place = phrase.end
    if (beside := grammar.comma.match(clause, place)) and not phrase.steps and phrase.name:
        # "Javier, Inés's brother, lives in Madrid".
        aside = read_phrase(clause, beside.end(), grammar.language)
        if aside and aside.steps and aside.steps[-1].is_role and (after := grammar.comma.match(clause, aside.end)):
            last = aside.steps[-1]
            yield Stated(aside.without_last(), (last.relation,), last.label, phrase.name, "is", "")
            place = after.end()
    if not phrase.steps or phrase.steps[-1].is_role:
        yield from _of_third(phrase, clause, place, grammar)
    yield from _equals(phrase, clause, start, grammar)
    yield from _reversed(phrase, clause, start, grammar)


def _of_third(subject: Phrase, clause: str, place: int, grammar: StatementGrammar) -> Iterator[Stated]:
    """What the words at a place say of somebody other than the speaker."""
    for row in grammar.rows:
        if match := row.third.match(clause, place):
            yield from _of_match(subject, row, match, clause, grammar)


def _called(phrase: Phrase) -> Iterator[Stated]:
    """That "my sister Eva" is Eva."""
    if phrase.called and phrase.steps and not phrase.is_former:
        yield Stated(phrase.without_last(), (phrase.steps[-1].relation,), "", phrase.called, "is", "")


def _of_match(
    subject: Phrase, row: Row, match: regex.Match[str], clause: str, grammar: StatementGrammar
) -> Iterator[Stated]:
    if subject.is_former:
        return
    group = next(
        name for name in ("o", "v", "list", "date", "n", "phone", "any") if match.groupdict().get(name) is not None
    )
    value = match.group(group).strip()
    if group in ("o", "v"):
        value = _trimmed(value, grammar)
    before, after = clause[match.start() : match.start(group)], clause[match.end(group) :]
    # "live in Berlin during the week" and "also work at" tell of one of several.
    is_single = all(RELATIONS[relation].is_single for relation in row.relations)
    if group in ("o", "v") and _is_no_object(value, grammar):
        return
    if group == "o" and _is_no_place_or_firm(row, value, before, after, grammar):
        return
    if (not value and group != "any") or (
        is_single and (grammar.beside.search(before) or grammar.beside.search(after))
    ):
        return
    if row.how == "is" and is_single and grammar.passing.search(clause):
        return
    if row.relations == ("age",) and value.isdigit() and int(value) > _MAX_AGE:
        return
    if row.how != "ends" and (_NOT.match(after) or is_negated(clause[match.start() : match.end()], grammar.language)):
        return
    values = _listed(value, grammar) if group == "list" else [value]
    for each in values:
        words = clause[max(0, match.start() - 60) :]
        yield Stated(subject, row.relations, "", each, row.how, words, bool(grammar.goes_on.match(after)))


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
    value = _value_of(last, clause, match.end(), grammar)
    if last.is_role and grammar.language == "de" and IS_GERMAN_NOUN.search(value):
        # Where nouns have capitals, "Mein Mann ist Arzt" looks like a name; and a Peter is left to the model.
        value = ""
    if not value and last.is_role and (called := grammar.called.match(clause, phrase.end)):
        value = _name_at(clause, called.end(), grammar)
    owner = phrase.without_last()
    if last.relation == "name" and owner.steps and owner.steps[-1].is_role:
        # "My wife's name is Ana" tells who she is.
        last, owner = owner.steps[-1], owner.without_last()
    if value:
        yield Stated(owner, (last.relation,), last.label, value, "begins" if phrase.is_new else "is", clause[start:])


def _value_of(step: Step, clause: str, start: int, grammar: StatementGrammar) -> str:
    """What stands after "is", where it is of the kind that the relation wants."""
    has_article = False
    if match := grammar.article.match(clause, start):
        start, has_article = match.end(), True
    wanted = {"phone": grammar.phone, "email": grammar.email, "age": grammar.number, "birthday": grammar.date}
    if pattern := wanted.get(step.relation):
        match = pattern.match(clause, start)
        value = match.group(1).strip() if match else ""
        return "" if step.relation == "age" and value and int(value) > _MAX_AGE else value
    if step.relation == "address":
        match = grammar.address.match(clause, start)
        return match.group(1).strip() if match and regex.search(r"\d", match.group(1)) else ""
    if step.relation == "job":
        # "My job is boring" tells of no trade.
        match = grammar.plain.match(clause, start) if has_article or clause[start : start + 1].isupper() else None
        return _trimmed(match.group(1), grammar) if match and not _is_no_object(match.group(1), grammar) else ""
    if RELATIONS[step.relation].names_thing:
        return _name_at(clause, start, grammar)
    if step.relation == "speaks":
        match = grammar.plain.match(clause, start)
        return match.group(1) if match else ""
    match = grammar.any_value.match(clause, start)
    return match.group(1).strip(' .,"“”„«»') if match else ""


def _name_at(clause: str, start: int, grammar: StatementGrammar) -> str:
    """A name at a place, "" where a word is none: "my boss is German", "my sister is Eva's friend"."""
    match = grammar.name.match(clause, start)
    if match and match.group(1).isupper() and len(match.group(1)) > _MAX_INITIALS:
        return ""
    if (
        match is None
        or fold(match.group(1).partition(" ")[0]) in grammar.not_names
        or IS_OF_A_PEOPLE.search(fold(match.group(1)))
        or _is_title(match.group(1), grammar)
    ):
        return ""
    return _trimmed(match.group(1), grammar)


def _is_title(name: str, grammar: StatementGrammar) -> bool:
    """Whether a name is what somebody is: "CEO of Acme", "Médecin"; but not "Doctor Smith"."""
    first, _, rest = name.partition(" ")
    if rest[:1].isupper():
        return fold(first) in RANK_WORDS
    relation = relation_of(first, grammar.language)
    is_trade = relation is not None and relation.fact_type in ("job", "health", "partner")
    return is_trade or fold(first) in RANK_WORDS or IS_TITLE.match(fold(first)) is not None


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
        yield Stated(
            Phrase(), (KNOWN_AS,), label_key(role.group("label"), grammar.language), name, "is", clause[start:]
        )
    if other is None or not other.steps or not other.steps[-1].is_role or other.is_former or other.called:
        return
    if not grammar.clause_end.match(clause, other.end):
        return
    last = other.steps[-1]
    how: How = "begins" if other.is_new else "is"
    yield Stated(other.without_last(), (last.relation,), last.label, name, how, clause[start:])


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
    value = _value_of(Step(relation.name), clause, match.end(), grammar)
    if value:
        yield Stated(owner, (relation.name,), "", value, "begins", clause[start:])


def _favourite(clause: str, start: int, grammar: StatementGrammar) -> Iterator[Stated]:
    match = grammar.favourite.match(clause, start)
    if match is None or is_negated(clause[start:], grammar.language) or grammar.beside.search(clause, start):
        return
    value = _trimmed(match.group("v").strip(), grammar)
    if value:
        label = label_key(match.group("label"), grammar.language)
        yield Stated(Phrase(), ("favourite",), label, value, "is", clause[start:])


def _trimmed(value: str, grammar: StatementGrammar) -> str:
    """A value without the words that lead on from it."""
    words = value.split()
    while words and fold(words[-1]) in grammar.stops:
        words.pop()
    return " ".join(words).strip(" ,.;:!\"'")


def _listed(value: str, grammar: StatementGrammar) -> list[str]:
    cut = grammar.list_end.split(value)[0]
    parts = (_trimmed(part.strip(), grammar) for part in grammar.list_joint.split(cut))
    kept = [part for part in parts if part and len(part.split()) <= 3]
    return [part for part in kept if not _is_no_object(part.split()[0], grammar)][:MAX_STATED]


def _is_no_place_or_firm(row: Row, value: str, before: str, after: str, grammar: StatementGrammar) -> bool:
    """Whether a name is an aim that is no home, a part of a firm, or only says which one: "the Berlin office"."""
    words = fold(value).split() or [""]
    if "lives_in" in row.relations and (words[0] in grammar.not_places or value[-1:].isdigit()):
        return True
    return not PARTS_OF_FIRMS.isdisjoint((words[0], words[-1])) or _is_before_noun(before, after, grammar)


def _is_before_noun(before: str, after: str, grammar: StatementGrammar) -> bool:
    if not after.startswith("'s ") and not (grammar.language == "en" and before.endswith("the ")):
        return False
    noun = regex.match(r"(?:'s(?: \p{Lu}\S*)?)? (\p{Ll}{3,})", after)
    if noun is None or fold(noun.group(1)) in grammar.stops:
        return False
    return noun.group(1) in ("house", "home") or not grammar.adverb.match(after, noun.start(1))


def _is_no_object(value: str, grammar: StatementGrammar) -> bool:
    """Whether words are no place, firm or trade: "fear", "un fou", "from experience"."""
    if article := grammar.article.match(value):
        value = value[article.end() :]
    first, *_ = [*value.split(), ""]
    return fold(value) in grammar.no_objects or fold(first) in grammar.stops
