"""Facts that a statement leaves no doubt about: "I moved to Lisbon", "my sister's phone number is …".

Narrow on purpose. What is planned, wished for, reported, negated, past or there beside something else gives no fact;
what these patterns do not know stays a memory like any other.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import regex

from .date_words import LANGUAGES as LANGUAGE_DATES
from .guards import is_negated
from .phrases import LANGUAGES, NAME, Phrase, Step, read_owned_label, read_phrase
from .relation_words import NOUNS, POSSESSIVES
from .sift import is_question, sentences
from .statement_words import STATEMENT_WORDS
from .tense import speaks_of_plans
from .text import detect_language, fold, normalise
from .vocabulary import KNOWN_AS, RELATIONS, nouns, relation_of

How = Literal["is", "begins", "ends"]
MAX_STATED = 8
# A longer text is prose: what stands in it is for the language model.
_MAX_CHARS = 600
_MAX_OBJECT_CHARS = 80

_PHONE = r"\+?\(?\d[\d\s()/.-]{4,}\d"
_EMAIL = r"[\p{L}\p{N}_.+-]++@[\p{L}\p{N}-]++(?:\.[\p{L}\p{N}-]++)+"
_CODE = r"(?=[\p{L}\p{N}._/-]*\p{N})[\p{L}\p{N}][\p{L}\p{N}._/-]*"
_AMOUNT = r"[€$£]?\d[\d.,]*(?: ?(?:%|€|\$|£|euros?|dollars?|pounds?|cm|kg|km|m|years?))?"
_DATE = r"(?:\d{1,4}[./-]\d{1,2}(?:[./-]\d{1,4})?|(?:the )?\d{1,2}(?:st|nd|rd|th|\.|º|er)? (?:of |de |di )?\p{L}{3,}(?: (?:de |del )?\d{4})?|\p{L}{3,} \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?)"
_QUOTED = r"[\"“„«][^\"”“»\n]{2,60}[\"”“»]"
_TITLE = r"(?:Dr|Mr|Mrs|Ms|Prof|Frau|Herr|Sra?|Dott(?:\.ssa)?|Mme|M|dottor(?:essa)?|doctora?|docteur|señora?|madame|monsieur|signora?)\.?"
# The point after a title ends no sentence.
_TITLED = regex.compile(r"\b(Dr|Mr|Mrs|Ms|Prof|St|Sra|Sr|Dott|Mme)\.\s")
# A shorter text may be taken for another language.
_MAX_UNSURE_CHARS = 80
_SIGN_OF = {
    code: regex.compile(rf"(?<![\p{{L}}'])(?:{words})(?![\p{{L}}])", regex.IGNORECASE)
    for code, words in {
        "en": "i|i'm|i've|my|our|the user|lives|works|moved|drives|is|was|a|the|has|started|switched|joined|left|quit"
        "|retired|resigned|turned|became|speaks|studies|reports",
        "de": r"ich|mein\w*|unser\w*|wohnt|arbeitet|der nutzer|hat|spricht|studiert|fährt",
        "es": "mi|mis|yo|vivo|vive|trabajo|trabaja|me|hablo|nací|soy|es|dejó|habla|estudia|nació|se|empecé|dejé|estudio"
        "|nuestr[oa]",
        "fr": "je|mon|ma|mes|notre|tu peux|habite|travaille|j'(?:ai|habite)|a (?:quitté|déménagé|commencé)|s'est|parle",
        "it": "mio|mia|abito|abita|vivo|vive|lavoro|lavora|sono|parlo|ho|ha|si|parla|studia|guida|puoi|potete",
    }.items()
}
_OBJECT_END = r"(?=\s*(?:$|[.,;:!?()–—]|\s(?:-|\p{Ll})))"


@dataclass(frozen=True, slots=True)
class Stated:
    """One fact of a statement: whose (`subject` ends in nobody's attribute), which, and what.

    `relations` holds one name of the vocabulary, or several of which the log tells which is meant ("left Siemens").
    `object` is '' where an end is told of whatever there was.
    """

    subject: Phrase
    relations: tuple[str, ...]
    label: str
    object: str
    how: How
    # Whether the clause goes on to say something else of the subject.
    goes_on: bool = False

    @property
    def holds(self) -> bool:
        """Whether it is so from now on, rather than no longer."""
        return self.how != "ends"


@dataclass(frozen=True, slots=True)
class Reading:
    """The facts of a text, and whether it says nothing else: then it is over when they are."""

    stated: tuple[Stated, ...] = ()
    is_all: bool = False


def read_statements(text: str, language: str = "") -> Reading:
    """The facts that a text states without doubt, at most `MAX_STATED`.

    >>> [(s.subject.words, s.relations[0], s.object, s.how) for s in read_statements("I've moved to Lisbon!").stated]
    [('the user', 'lives_in', 'Lisbon', 'begins')]
    """
    if len(text) > _MAX_CHARS:
        return Reading()
    plain = _TITLED.sub(r"\1 ", " ".join(text.replace("’", "'").split()))
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
    return Reading(tuple(found.values())[:MAX_STATED], is_all=is_all and bool(found))


def _read_sentence(sentence: str, spoken: str) -> tuple[list[Stated], bool]:
    """The facts of one sentence, in the first language that reads any, and whether there is nothing beside them."""
    if is_question(sentence):
        return [], False
    # Names and numbers show no language; short texts are taken for others.
    for language in _languages_of(sentence, spoken):
        grammar = _grammar(language)
        if grammar.unsure.search(sentence) or speaks_of_plans(sentence, language):
            if language == spoken:
                return [], False
            continue
        read: list[Stated] = []
        n_clauses = n_read = 0
        last: Phrase | None = None
        for start in grammar.starts(sentence):
            n_clauses += 1
            here = list(_read_clause(sentence, start, grammar, last))
            last = _subject_at(sentence, start, grammar) or last
            n_read += bool(here) and not any(each.goes_on for each in here)
            read += here
        if read:
            return read, n_read == n_clauses
    return [], False


def _languages_of(sentence: str, spoken: str) -> Iterator[str]:
    """The language that a text was taken for, and others where a word says that it may be one of those."""
    if spoken in LANGUAGES:
        yield spoken
    if len(sentence) <= _MAX_UNSURE_CHARS:
        yield from (code for code in LANGUAGES if code != spoken and _SIGN_OF[code].search(sentence))


def _subject_at(sentence: str, start: int, grammar: "_Grammar") -> Phrase | None:
    """Whom a clause is about, where it names somebody: a pronoun in a later one means them."""
    phrase = read_phrase(sentence, start, grammar.language)
    return phrase if phrase and (not phrase.steps or phrase.steps[-1].is_role) else None


def _read_clause(sentence: str, start: int, grammar: "_Grammar", last: Phrase | None) -> Iterator[Stated]:
    """The facts of the clause that begins at a place; `last` is whom the one before was about."""
    clause_end = grammar.next_clause(sentence, start)
    clause = sentence[:clause_end]
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
    if not is_read and (labelled := read_owned_label(clause, start, grammar.language)):
        yield from _equals(labelled, clause, start, grammar)
    yield from _has_new(sentence, start, grammar)
    yield from _favourite(clause, start, grammar)


def _of_phrase(phrase: Phrase, clause: str, start: int, grammar: "_Grammar") -> Iterator[Stated]:
    """What a clause says of the phrase that it begins with."""
    yield from _called(phrase)
    place = phrase.end
    if (beside := grammar.comma.match(clause, place)) and not phrase.steps and phrase.name:
        # "Javier, Inés's brother, lives in Madrid".
        aside = read_phrase(clause, beside.end(), grammar.language)
        if aside and aside.steps and aside.steps[-1].is_role and (after := grammar.comma.match(clause, aside.end)):
            last = aside.steps[-1]
            yield Stated(aside.without_last(), (last.relation,), last.label, phrase.name, "is")
            place = after.end()
    if not phrase.steps or phrase.steps[-1].is_role:
        yield from _of_third(phrase, clause, place, grammar)
    yield from _equals(phrase, clause, start, grammar)
    yield from _reversed(phrase, clause, start, grammar)


def _of_third(subject: Phrase, clause: str, place: int, grammar: "_Grammar") -> Iterator[Stated]:
    """What the words at a place say of somebody other than the speaker."""
    for row in grammar.rows:
        if match := row.third.match(clause, place):
            yield from _of_match(subject, row, match, clause, grammar)


def _called(phrase: Phrase) -> Iterator[Stated]:
    """That "my sister Eva" is Eva."""
    if phrase.called and phrase.steps and not phrase.is_former:
        yield Stated(phrase.without_last(), (phrase.steps[-1].relation,), "", phrase.called, "is")


def _of_match(
    subject: Phrase, row: "_Row", match: regex.Match[str], clause: str, grammar: "_Grammar"
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
    if (not value and group != "any") or (
        is_single and (grammar.beside.search(before) or grammar.beside.search(after))
    ):
        return
    if row.how != "ends" and is_negated(clause[match.start() : match.end()], grammar.language):
        return
    values = _listed(value, grammar) if group == "list" else [value]
    for each in values:
        yield Stated(subject, row.relations, "", each, row.how, bool(grammar.goes_on.match(after)))


def _equals(phrase: Phrase, clause: str, start: int, grammar: "_Grammar") -> Iterator[Stated]:
    """That what somebody has is this: "my phone number is …", "my boss is called Tom", "Acme's billing unit is B7"."""
    if not phrase.steps or phrase.is_former or phrase.called:
        return
    last = phrase.steps[-1]
    match = grammar.copula.match(clause, phrase.end)
    if match is None or grammar.beside.search(clause, match.end()) or is_negated(clause[start:], grammar.language):
        return
    value = _value_of(last, clause, match.end(), grammar)
    if not value and last.is_role and (called := grammar.called.match(clause, phrase.end)):
        value = _name_at(clause, called.end(), grammar)
    owner = phrase.without_last()
    if last.relation == "name" and owner.steps and owner.steps[-1].is_role:
        # "My wife's name is Ana" tells who she is.
        last, owner = owner.steps[-1], owner.without_last()
    if value:
        yield Stated(owner, (last.relation,), last.label, value, "begins" if phrase.is_new else "is")


def _value_of(step: Step, clause: str, start: int, grammar: "_Grammar") -> str:
    """What stands after "is", where it is of the kind that the relation wants."""
    if match := grammar.article.match(clause, start):
        start = match.end()
    wanted = {"phone": grammar.phone, "email": grammar.email, "age": grammar.number, "birthday": grammar.date}
    if pattern := wanted.get(step.relation):
        match = pattern.match(clause, start)
        return match.group(1).strip() if match else ""
    if step.relation == "job":
        match = grammar.plain.match(clause, start)
        return _trimmed(match.group(1), grammar) if match and not _is_no_object(match.group(1), grammar) else ""
    if RELATIONS[step.relation].names_thing:
        return _name_at(clause, start, grammar)
    if step.relation == "speaks":
        match = grammar.plain.match(clause, start)
        return match.group(1) if match else ""
    match = grammar.any_value.match(clause, start)
    return match.group(1).strip(' .,"“”„«»') if match else ""


def _name_at(clause: str, start: int, grammar: "_Grammar") -> str:
    """A name at a place, "" where a word is none: "my boss is German", "my sister is Eva's friend"."""
    match = grammar.name.match(clause, start)
    if match is None or fold(match.group(1)) in grammar.not_names or _OF_A_PEOPLE.search(fold(match.group(1))):
        return ""
    return _trimmed(match.group(1), grammar)


# "German", "Portuguese", "Danish" are no names of people; "Ian" and "Christian" are, and are left to the model.
_OF_A_PEOPLE = regex.compile(
    r"^(?:\p{L}+(?:ese|ish)|german|italian|american|russian|french|dutch|greek|swiss|czech|thai"
    r"|indian|mexican|brazilian|canadian|australian|austrian|belgian|norwegian|ukrainian|korean|deutsche?r?|italiener\w*)$"
)


def _reversed(phrase: Phrase, clause: str, start: int, grammar: "_Grammar") -> Iterator[Stated]:
    """That somebody is what somebody has: "Eva is my new boss"."""
    if phrase.steps or not phrase.name:
        return
    match = grammar.copula.match(clause, phrase.end)
    if match is None or is_negated(clause[start:], grammar.language):
        return
    other = read_phrase(clause, match.end(), grammar.language)
    if other is None and (role := grammar.own_role.match(clause, match.end())):
        yield Stated(Phrase(), (KNOWN_AS,), fold(role.group("label")), phrase.name, "is")
    if other is None or not other.steps or not other.steps[-1].is_role or other.is_former or other.called:
        return
    if not grammar.clause_end.match(clause, other.end):
        return
    last = other.steps[-1]
    yield Stated(other.without_last(), (last.relation,), last.label, phrase.name, "begins" if other.is_new else "is")


def _has_new(clause: str, start: int, grammar: "_Grammar") -> Iterator[Stated]:
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
        yield Stated(owner, (relation.name,), "", value, "begins")


def _favourite(clause: str, start: int, grammar: "_Grammar") -> Iterator[Stated]:
    match = grammar.favourite.match(clause, start)
    if match is None or is_negated(clause[start:], grammar.language):
        return
    value = _trimmed(match.group("v").strip(), grammar)
    if value:
        label = " ".join(fold(normalise(match.group("label"))).split())
        yield Stated(Phrase(), ("favourite",), label, value, "is")


def _trimmed(value: str, grammar: "_Grammar") -> str:
    """A value without the words that lead on from it."""
    words = value.split()
    while words and fold(words[-1]) in grammar.stops:
        words.pop()
    return " ".join(words).strip(" ,.;:!\"'")


def _listed(value: str, grammar: "_Grammar") -> list[str]:
    cut = grammar.list_end.split(value)[0]
    parts = (_trimmed(part.strip(), grammar) for part in grammar.list_joint.split(cut))
    kept = [part for part in parts if part and len(part.split()) <= 3]
    return [part for part in kept if not _is_no_object(part.split()[0], grammar)][:MAX_STATED]


def _is_no_object(value: str, grammar: "_Grammar") -> bool:
    """Whether words are no place, firm or trade: "fear", "un fou", "from experience"."""
    if article := grammar.article.match(value):
        value = value[article.end() :]
    first, *_ = [*value.split(), ""]
    return fold(value) in grammar.no_objects or fold(first) in grammar.stops


@dataclass(frozen=True, slots=True)
class _Row:
    relations: tuple[str, ...]
    how: How
    first: regex.Pattern[str]
    third: regex.Pattern[str]


@dataclass(frozen=True, slots=True)
class _Grammar:
    language: str
    rows: tuple[_Row, ...]
    lead_in: regex.Pattern[str]
    clause_start: regex.Pattern[str]
    clause_end: regex.Pattern[str]
    own_role: regex.Pattern[str]
    comma: regex.Pattern[str]
    pronoun: regex.Pattern[str]
    goes_on: regex.Pattern[str]
    copula: regex.Pattern[str]
    called: regex.Pattern[str]
    has_new: regex.Pattern[str]
    other_has_new: regex.Pattern[str]
    favourite: regex.Pattern[str]
    article: regex.Pattern[str]
    beside: regex.Pattern[str]
    unsure: regex.Pattern[str]
    name: regex.Pattern[str]
    plain: regex.Pattern[str]
    phone: regex.Pattern[str]
    email: regex.Pattern[str]
    number: regex.Pattern[str]
    date: regex.Pattern[str]
    any_value: regex.Pattern[str]
    list_end: regex.Pattern[str]
    list_joint: regex.Pattern[str]
    stops: frozenset[str]
    no_objects: frozenset[str]
    not_names: frozenset[str]

    def starts(self, sentence: str) -> list[int]:
        """Where clauses with a subject of their own begin, after what leads in."""
        places = [0, *(match.end() for match in self.clause_start.finditer(sentence))]
        return list(dict.fromkeys(self._after_lead_in(sentence, place) for place in places))

    def next_clause(self, sentence: str, start: int) -> int:
        """Where the next clause begins, or the end."""
        match = self.clause_start.search(sentence, start + 1)
        return match.start() if match else len(sentence)

    def _after_lead_in(self, sentence: str, place: int) -> int:
        while (match := self.lead_in.match(sentence, place)) and match.end() > place:
            place = match.end()
        return place


@cache
def _grammar(language: str) -> _Grammar:
    words = STATEMENT_WORDS[language]
    stops = frozenset(map(fold, words.stops.split()))
    mine = "|".join(POSSESSIVES[language].split())
    articles = rf"(?:(?:{words.articles})(?:\s|(?<=')))"
    stop = "|".join(map(regex.escape, sorted(words.stops.split(), key=len, reverse=True)))
    # In a text without capitals a word that is no word of grammar may be a name.
    lower = rf"(?<=^[^\p{{Lu}}]*)(?!(?:{stop})\b)(?=[^\p{{Lu}}]*$)\p{{Ll}}[\p{{L}}\p{{N}}'-]+"
    titled = rf"(?-i:(?:{_TITLE} )?{NAME})"
    name = rf"(?:{titled}(?:, (?-i:{NAME}))?)"
    plain = r"\p{L}[\p{L}\p{N}'/-]*(?: [\p{L}\p{N}&'/-]+){0,5}?"
    plain_end = rf"(?=\s*(?:$|[.,;:!?()])|\s(?:{stop})\b)"
    macros = {
        "a": rf"(?:(?:{words.adverbs}) )*",
        "from": rf"(?:{words.origin.replace('{x}', '[^,.;:]{2,30}?')})?",
        "o": rf"(?:{articles}?(?P<o>{name})|(?P<o>(?-i:{lower})))",
        "v": rf"(?P<v>{plain}){plain_end}",
        "list": r"(?P<list>\p{L}[^.;:!?()]{1,80})",
        "date": rf"(?P<date>{_DATE})",
        "n": rf"(?P<n>\d{{1,3}}(?!\d|[.,]\d)|(?:{LANGUAGE_DATES[language].numbers.replace(' ', '|')})\b)",
        "phone": rf"(?P<phone>{_PHONE})",
        "any": r"(?P<any>)",
    }
    rows = tuple(_rows(words.rows, macros))
    # What has a subject of its own, or could have one.
    subject = rf"(?:i|i'm|i've|we|we're|we've|my|our|ich|wir|mein\w*|unser\w*|mi|mis|yo|me|je|j'|mon|ma|mes|nous|on|io|{mine}|{articles}(?:{mine}))"
    another = rf"(?:{articles})?(?-i:\p{{Lu}}\p{{L}}+)"
    joint = rf"\s*(?:[,;:–—]|\s-\s|\.\.\.|…)\s*(?:{words.joins}\s)?|\s{words.joins}\s"
    alternatives = "|".join(map(regex.escape, sorted(nouns(language), key=len, reverse=True)))
    raw_nouns = _raw_nouns(language)
    # The noun of what is new, and what leads on from it to what it is.
    new_noun = (
        rf"(?P<noun>{raw_nouns}|{alternatives})s?\b\s*(?:as well|too|now|jetzt|ahora|adesso|maintenant)?\s*[,:–—-]?\s*"
        rf"(?:(?:it's|it is|now it's|i see|i go to|ahora es|jetzt ist (?:es|sie)|maintenant c'est|adesso è|ora è|adesso vado da\w*"
        rf"|vado da\w*|ahora voy (?:al?|con)|je vais (?:maintenant )?chez|ich gehe (?:jetzt )?zu(?:[mr])?|he's|she's|his name is|her name is|called|named|sie heißt|er heißt|es ist|se llama|es|il s'appelle"
        rf"|elle s'appelle|c'est|si chiama|è|namens)\s)?"
    )
    end = r"\s*(?:$|[.,;:!?()–—]|(?:now|again|ab sofort|jetzt|wieder|ahora|de nuevo|maintenant|de nouveau|ora|adesso|di nuovo)\b)"
    return _Grammar(
        language=language,
        rows=rows,
        lead_in=_compiled(
            rf"(?:(?:{words.lead_in})(?:[,:!.…–—]+ ?| (?=(?:{subject}\b|\p{{L}}+ (?:ich|wir)\b)))|(?:since|as of|starting|from|seit|ab"
            rf"|desde|a partir de|depuis|à partir de|dal?|da|in|im|en|last|letzten?|el|le|two|after|nach|después de|après|dopo)"
            rf" [^,.;:]{{2,30}}, |(?:at|bei|en|chez|da|in) (?-i:{NAME}) (?=(?:{subject})\b)|(?:since|seit|desde|depuis|da|dal|letzten?|last) (?:[^\s,.;:]+ ){{1,3}}?(?=(?:{subject})\b|\p{{L}}+ (?:ich|wir)\b))"
        ),
        clause_start=_compiled(
            rf"(?:{joint})(?={subject}\b)|\s{words.joins}\s(?={another} \p{{Ll}})"
            rf"|;\s(?={another})|,\s(?={another}(?:'s|\s(?:is|ist|es|est|è)) )"
            rf"|[,;]\s(?:{words.joins}\s)?(?=(?:{_PRONOUNS[language]})(?:\s|'))|\s{words.joins}\s(?=(?:{_PRONOUNS[language]})(?:\s|'))"
            rf"|[,;]\s(?=(?:{words.adverbs}) )"
        ),
        clause_end=_compiled(end),
        comma=_compiled(r",\s"),
        own_role=_compiled(rf"(?:{mine}) (?P<label>(?:\p{{Ll}}{{3,}} )?\p{{L}}{{3,}}){end}"),
        # Where languages leave the pronoun out, an adverb may open the clause.
        pronoun=_compiled(
            rf"(?:{_PRONOUNS[language]})(?=\s|')|(?:{words.adverbs})(?=\s)"
            if language in ("es", "it")
            else rf"(?:{_PRONOUNS[language]})(?=\s|')"
        ),
        goes_on=_compiled(rf"[^.;:!?]*?\s{words.joins}\s(?!{another})"),
        copula=_compiled(rf"(?:{words.copula})(?=\s|:)[:\s]"),
        called=_compiled(rf"(?:{words.called})\s"),
        has_new=_compiled(rf"(?:{words.has_new}) {new_noun}"),
        other_has_new=_compiled(rf"(?:{words.other_has_new}) {new_noun}"),
        favourite=_compiled(_FAVOURITE[language].replace("{v}", macros["v"]).replace("{art}", articles)),
        article=_compiled(articles),
        beside=_compiled(words.beside),
        unsure=_compiled(words.unsure),
        name=_compiled(rf"({name}){_OBJECT_END}"),
        plain=_compiled(rf"({plain}){plain_end}"),
        phone=_compiled(rf"({_PHONE})"),
        email=_compiled(rf"({_EMAIL})"),
        number=_compiled(r"(\d{1,3})(?![\d.,]\d)"),
        date=_compiled(rf"({_DATE})"),
        any_value=_compiled(rf"({_QUOTED}|{_EMAIL}|{_PHONE}|{_DATE}|{_AMOUNT}|{_CODE}|(?-i:{NAME})){_OBJECT_END}"),
        list_end=_compiled(
            r"\s(?:but|aber|pero|mais|ma|since|because|weil|porque|car|perché|fluently|fließend)\b|[;:]"
        ),
        list_joint=_compiled(r",\s*(?:and|und|y|et|e)?\s*|\s(?:and|und|y|et|e|as well as|sowie)\s"),
        stops=stops,
        no_objects=frozenset(map(fold, words.no_objects.split())),
        not_names=stops | frozenset(("here", "there", "home", "hier", "dort", "aquí", "ici", "qui")),
    )


_PRONOUNS = {
    "en": "he|she|they",
    "de": "er|sie",
    "es": "él|ella",
    "fr": "il|elle",
    "it": "lui|lei",
}
_FAVOURITE = {
    "en": r"my (?:new )?favou?rite (?P<label>\p{L}+(?: \p{L}+)?)(?: is|'s) (?:now )?{art}?{v}",
    "de": r"meine?r? lieblings-?(?P<label>\p{L}+) ist (?:jetzt )?{art}?{v}",
    "es": r"mi (?P<label>\p{L}+) (?:favorit[oa]|preferid[oa]) (?:ahora )?es (?:ahora )?{art}?{v}",
    "fr": r"m(?:on|a) (?P<label>\p{L}+) préférée? (?:est|c'est)(?: maintenant| désormais)? {art}?{v}",
    "it": r"(?:il mio|la mia) (?P<label>\p{L}+) preferit[oa] (?:ora )?è (?:ora )?{art}?{v}",
}


_HOWS: dict[str, How] = {"is": "is", "begins": "begins", "ends": "ends"}


def _rows(text: str, macros: dict[str, str]) -> Iterator[_Row]:
    for line in text.strip().splitlines():
        head, _, both = line.strip().partition(" = ")
        relations, kind = head.split()
        first, _, third = both.partition(" ;; ")
        for name, expression in macros.items():
            first, third = (each.replace(f"{{{name}}}", expression) for each in (first, third))
        yield _Row(
            tuple(relations.split("|")),
            _HOWS[kind],
            _compiled(f"(?:{first})"),
            _compiled(rf"\s?(?:{third})" if third else r"(?!)"),
        )


def _raw_nouns(language: str) -> str:
    raw = {noun.replace("_", " ") for row in NOUNS[language].values() for noun in row.split()}
    return "|".join(map(regex.escape, sorted(raw, key=len, reverse=True)))


def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern, regex.IGNORECASE)
