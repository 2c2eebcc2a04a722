"""What a model claims to have read, against what was said: invented, turned round and borrowed statements are caught.

A statement that fails where its source can be told is replaced by the person's own words: those, with speaker and
date, are never wrong.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import regex

from .date_words import LANGUAGES as DATE_WORDS
from .languages import LANGUAGES
from .mentions import find_mentions
from .redact import PLACEHOLDER, holds_secret
from .sift import WORD, has_word, is_question, language_of, sentences
from .text import detect_language, fold, normalise, terms
from .written_dates import without_dates

MAX_STATEMENT_CHARS = 500
# A clause shorter than this says nothing by itself.
_MIN_CLAUSE_CHARS = 8
_MIN_STEM = 4
_MIN_OWN_WORDS = 3
# What an assistant says of itself must bring this much that the user had not said, or it only confirms.
_MIN_NEW_TERMS = 2
_MIN_TERMS = 3
# In these whoever speaks of themselves says so by a pronoun.
_NAMES_ITS_SUBJECT = frozenset({"en", "de", "fr"})
_CLAUSE_MARK = regex.compile(r"[;，、；：،—–]|[,:](?!\d)|\s-\s")
_ANNOTATION = regex.compile(r"\((\d{4}-\d\d(?:-\d\d)?)\)")
# What makes the name before it an owner.
_POSSESSIVES = ("'s", "’s", "s'", "s’", "的", "の")
_I = regex.compile(r"(?:i|i['’]\w+|im|ive|ich|yo|je|j['’]\w+|io|eu|я|أنا)\b|我(?!的)|私[はが]")
_NUMBER = regex.compile(r"\p{Nd}+")
WHOLE_NUMBER = regex.compile(r"\p{Nd}+(?:[.,:]\p{Nd}+)*")
# 1,500 and 1.500 are 1500; 1,5 is not 15, and 0.500 no group of three.
_GROUPED = regex.compile(r"([1-9]\d{0,2})((?:,\d{3})+|(?:\.\d{3})+)([.,]\d+)?")
# What models say about the message instead of about the person.
_META = regex.compile(
    r"\bthe (?:message|conversation|text)\b|\bno (?:facts|information)\b"
    r"|\b(?:the )?user (?:asks?|asked|says?|said|is asking|is greeting|greets?|greeted|thanks|thanked|wants to know"
    r"|is in a (?:good|bad) mood|requests?|requested|is talking about)\b"
    r"|\b(?:der )?nutzer (?:fragt|fragte|sagt|sagte|grüßt|bedankt|bittet|möchte wissen)\b"
    r"|\busuario (?:pregunta|preguntó|dice|dijo|saluda|saludó|pide|quiere saber|habla de|está hablando)\b"
    r"|\busuário (?:pergunta|perguntou|diz|disse|pede|quer saber|está falando)\b"
    r"|\butilisateur (?:demande|dit|salue|remercie|veut savoir)\b|\butente (?:chiede|dice|saluta|ringrazia)\b"
    r"|\bпользователь (?:спрашивает|спросил|говорит|сказал|здоровается|благодарит)\b"
    r"|ユーザーは.*(?:てください|教えて|質問|尋ね)"
    r"|用户(?:问|询问|说|想知道|打招呼|感谢)",
    regex.IGNORECASE,
)

Flaw = Literal[
    "", "secret", "meta", "leak", "long", "number", "name", "negation", "language", "subject", "support", "asked"
]
# The person said something of the kind; only the wording is at fault.
_MENDABLE: frozenset[Flaw] = frozenset({"leak", "number", "name", "negation", "language", "subject", "long"})


@dataclass(frozen=True, slots=True)
class Source:
    """What a model was given to read: the message, redacted and with its dates annotated, and what stood around."""

    message: str
    context: str
    language: str
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """What is to be stored in place of a statement, '' for nothing; and what was wrong with it."""

    text: str
    flaw: Flaw = ""


def check(statement: str, source: Source) -> Checked:
    """The statement where it holds, the source's own sentence where that is safer, or nothing."""
    statement = " ".join(statement.split())
    if PLACEHOLDER in statement or holds_secret(statement):
        statement = _without_secret(statement)
        if not statement:
            return Checked("", "secret")
    flaw = find_flaw(statement, source)
    if flaw in _MENDABLE:
        words = own_words(statement, source)
        return Checked("", "asked") if is_question(words) or _is_scrap(words, source) else Checked(words, flaw)
    return Checked("" if flaw else statement, flaw)


def find_flaw(statement: str, source: Source) -> Flaw:
    """The first thing that is wrong with a statement, '' where nothing is seen to be."""
    folded, everything = fold(normalise(statement)), fold(normalise(f"{source.message}\n{source.context}"))
    if _META.search(statement) and not _META.search(source.message):
        return "meta"
    language = detect_language(statement)
    if language and source.language and language != source.language:
        # Words cannot be compared across languages; only the person's own are safe.
        return "language"
    overlaps = _clauses_by_overlap(statement, source)
    if not overlaps:
        return "support"
    if any(fold(mark.casefold()) in folded and fold(mark.casefold()) not in everything for mark in source.marks):
        return "leak"
    # "A" and "one" are words that any sentence may bring.
    said = numbers_in(f"{source.message}\n{source.context}", source.language)
    if numbers_in(statement, source.language) - said - {"1"}:
        return "number"
    # `language` is the statement's: a short message does not show its own.
    if weekdays_in(statement, language) - weekdays_in(source.message, language):
        return "number"
    if any(not is_named_in(name, everything, source.language) for name in names_in(statement, source.language)):
        return "name"
    if is_negated(statement, source.language) not in {is_negated(clause, source.language) for clause in overlaps}:
        return "negation"
    if len(statement) > MAX_STATEMENT_CHARS:
        return "long"
    return "subject" if all(_speaks_of_another(clause, statement, source.language) for clause in overlaps) else ""


def only_confirms(statement: str, own: str, said_by_user: str, language: str) -> bool:
    """Whether an assistant's statement about itself takes little from its own message that the user had not just said.

    >>> only_confirms("The assistant noted shoe size 43.", "Noted, size 43.", "my shoe size is 43", "en")
    True
    """
    taken = content_terms(statement, language) & content_terms(own, language)
    return len(taken) < _MIN_TERMS or len(taken - content_terms(said_by_user, language)) < _MIN_NEW_TERMS


def only_repeats_a_request(statement: str, source: Source) -> bool:
    """Whether a statement says that the user wants what the message asks for, or what nobody in it says of themselves.

    >>> only_repeats_a_request("The user is looking for a cafe.", Source("I'm new. Where can I sit?", "", "en"))
    False
    >>> only_repeats_a_request("The user wants to sit down.", Source("I'm new. Where can I sit?", "", "en"))
    True
    """
    # A short message does not show its language; what the model made of it does.
    language = source.language or detect_language(statement)
    known = language_of(language)
    if not has_word(statement, known.wants) or has_word(source.message, known.wants):
        return False
    says_nothing = language in _NAMES_ITS_SUBJECT and not has_word(source.message, known.first_person)
    return says_nothing or is_question(own_words(statement, source))


def names_the_user(statement: str, language: str) -> bool:
    """Whether a statement is about the user or what is the user's."""
    return any(user in statement.casefold() for user in _users(language))


def dates_beside(statement: str, source: Source) -> frozenset[str]:
    """The annotated dates of the one clause that most of a statement comes from."""
    clauses = _clauses_by_overlap(statement, source)
    wanted = content_terms(statement, source.language)
    if len(clauses) != 1 or 2 * len(wanted & content_terms(clauses[0], source.language)) < len(wanted):
        return frozenset()
    return frozenset(_ANNOTATION.findall(clauses[0]))


def own_words(statement: str, source: Source) -> str:
    """The sentence of the message that a statement comes from, '' where none can be told or it held a secret."""
    said = sentences(source.message)
    best = said[0] if len(said) == 1 else next(iter(_sharing_most(said, statement, source.language)), "")
    return "" if PLACEHOLDER in best or len(best) > 2 * MAX_STATEMENT_CHARS else best


def _is_scrap(words: str, source: Source) -> bool:
    # "Greta now." and "yellow!" mean nothing outside their conversation.
    language = language_of(source.language)
    is_short = len(words) < _MIN_CLAUSE_CHARS or len(words.split()) < _MIN_OWN_WORDS
    return is_short and source.language not in ("zh", "ja") and not has_word(words, language.first_person)


def _without_secret(statement: str) -> str:
    """The clauses that do not touch a secret, as one statement, '' where too little is left."""
    clauses = [clause.strip() for clause in regex.split(r"[,;，；、]|\s(?:and|und|y|et|e|и)\s", statement)]
    kept = [clause for clause in clauses if PLACEHOLDER not in clause and not holds_secret(clause)]
    rest = ", ".join(clause for clause in kept if clause)
    is_head_kept = bool(kept) and bool(clauses) and kept[0] == clauses[0]
    return rest if is_head_kept and len(rest) >= 2 * _MIN_CLAUSE_CHARS else ""


def _clauses_by_overlap(statement: str, source: Source) -> list[str]:
    """The clauses of the message that share most terms with a statement; none where no term is shared."""
    return _sharing_most(list(_clauses(source.message, source.language)), statement, source.language)


def _sharing_most(pieces: Sequence[str], statement: str, language: str) -> list[str]:
    wanted = content_terms(statement, language)
    shared = [len(wanted & content_terms(piece, language)) for piece in pieces]
    most = max(shared, default=0)
    return [piece for piece, n in zip(pieces, shared, strict=True) if n == most] if most else []


def _clauses(text: str, language: str) -> Iterator[str]:
    conjunctions = language_of(language).conjunctions
    for sentence in sentences(text):
        for part in _CLAUSE_MARK.split(sentence):
            words = part.split(" ")
            start = 0
            for place, word in enumerate(words):
                if place - start >= 2 and word.casefold() in conjunctions:
                    yield " ".join(words[start:place])
                    start = place
            yield " ".join(words[start:])


@lru_cache(maxsize=1024)
def content_terms(text: str, language: str) -> frozenset[str]:
    """Content terms; the words for the user are left out, since a message says "I"."""
    lowered = without_user(text.casefold(), language)
    words = {form for term in terms(lowered, [language or "en"]) for form in term if not form.isdigit()}
    return frozenset(words.union(_NUMBER.findall(lowered)))


def without_user(lowered: str, language: str) -> str:
    """A text in lower case without the words for the user; of "the user's sister" the sister is left."""
    for name in _users(language):
        for phrase in (f"{name}'s", f"{name}’s", name):
            lowered = lowered.replace(phrase, " ")
    return lowered


def numbers_in(text: str, language: str) -> set[str]:
    """The numbers in a text, in digits; small ones also where they are written as words."""
    found = {number.lstrip("0") or "0" for number in _NUMBER.findall(text)}
    words = language_of(language).numbers
    if language in ("zh", "ja"):
        return found | {str(value) for word, value in words.items() if word in text}
    spoken = {match.group().casefold() for match in WORD.finditer(text)}
    return found | {str(value) for word, value in words.items() if word in spoken}


def counts_in(text: str, language: str) -> tuple[str, ...]:
    """The numbers that are no part of a date, in order; an article is a one in many languages, and counts nothing.

    >>> counts_in("two flats with 3 rooms from 2026-03-12", "en"), counts_in("a rent of 1,500", "en")
    (('2', '3'), ('1500',))
    """
    rest = without_dates(text)
    words = language_of(language).numbers
    if language in ("zh", "ja"):
        spoken = "|".join(regex.escape(word) for word in sorted(words, key=len, reverse=True))
    else:
        spoken = WORD.pattern
    found = regex.findall(rf"{WHOLE_NUMBER.pattern}|{spoken}", rest.casefold())
    return tuple(
        _in_one_spelling(token) if token[0].isdecimal() else str(words[token])
        for token in found
        if token[0].isdecimal() or words.get(token, 1) != 1
    )


def _in_one_spelling(number: str) -> str:
    """A number without leading zeros and without the marks between its thousands, its decimals after a point."""
    plain = "".join(str(int(sign)) if sign.isdecimal() else sign for sign in number)
    grouped = _GROUPED.fullmatch(plain)
    if grouped and grouped[2][:1] != (grouped[3] or "")[:1]:
        plain = grouped[1] + regex.sub(r"\D", "", grouped[2]) + (grouped[3] or "")
    return regex.sub(r"^0+(?=\d)", "", plain.replace(",", "."))


def opens_with_user(text: str, language: str) -> bool:
    """Whether a text begins with the user, or with "I", as whom it is about; "the user's sister" is somebody else.

    >>> opens_with_user("The user lives in Graz.", "en"), opens_with_user("The user's sister lives there.", "en")
    (True, False)
    """
    opening = _opening(text)
    return _I.match(opening) is not None or _names_user_first(opening, language)


def _opening(text: str) -> str:
    return text.casefold().lstrip("\"'“ ")


def _names_user_first(opening: str, language: str) -> bool:
    rests = [opening[len(user) :] for user in _users(language) if opening.startswith(user)]
    return any(not rest.startswith(_POSSESSIVES) for rest in rests)


def weekdays_in(text: str, language: str) -> set[int]:
    """The days of the week that a text names, 0 for Monday; "Mondays" and "montags" too.

    None where a language does not part its words.
    """
    if language not in DATE_WORDS or not DATE_WORDS[language].spaced:
        return set()
    spoken = {match.group().casefold() for match in WORD.finditer(text)}
    spoken |= {word.removesuffix("s") for word in spoken}
    names = DATE_WORDS[language].weekdays.split()
    return {place for place, spellings in enumerate(names) if not spoken.isdisjoint(spellings.split("|"))}


def names_in(statement: str, language: str) -> Iterator[str]:
    """The keys of the names in a statement, without the words for the user."""
    users = _users(language)
    for mention in find_mentions(statement, languages=[language] if language else []):
        if not any(user in mention.key or mention.key in user for user in users):
            yield mention.key


def is_named_in(key: str, everything: str, language: str) -> bool:
    """Whether every word of a name was said; cases and possessives change its end only."""
    if language in ("zh", "ja"):
        return key in everything
    return all(
        fold(word)[: max(_MIN_STEM, len(word) - 2)] in everything for word in WORD.findall(key) if len(word) >= 3
    )


def is_negated(text: str, language: str) -> bool:
    """Whether a text denies something, by the words that do so in its language."""
    return has_word(text, language_of(language).negations)


def _speaks_of_another(clause: str, statement: str, language: str) -> bool:
    """Whether a statement says of the user what its source says of "him" or of somebody named, and not of oneself."""
    lowered = _opening(statement)
    if not _names_user_first(lowered, language) or has_word(clause, language_of(language).first_person):
        return False
    opening = clause.strip()
    if has_word(opening.partition(" ")[0], language_of(language).others):
        return True
    first = next(iter(find_mentions(clause, languages=[language])), None)
    return first is not None and opening.startswith(first.name) and first.key not in fold(lowered)


def is_user(phrase: str) -> bool:
    """Whether a phrase means the user, in any language.

    >>> is_user("Der Nutzer"), is_user("the user's sister")
    (True, False)
    """
    return phrase.casefold().strip() in {name for language in LANGUAGES.values() for name in language.user}


def _users(code: str) -> tuple[str, ...]:
    return LANGUAGES[code].user if code in LANGUAGES else ()


def without_repetition(statements: Sequence[str]) -> list[str]:
    """Each statement once; a loop of one statement with small changes at its end counts as one."""
    kept: dict[str, str] = {}
    for statement in statements:
        kept.setdefault(" ".join(sorted(set(normalise(statement).rstrip(".!。").split()))), statement)
    return list(kept.values())
