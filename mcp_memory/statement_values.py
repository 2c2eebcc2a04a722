"""The values of statements: which words are a name, a place, a firm, a language or a number, and which are none."""

from collections.abc import Sequence
from dataclasses import dataclass

import regex

from .countries import area_of, is_language
from .mentions import name_key
from .name_words import CITIES, DEGREES, FIRM_SIGNS, FIRMS, MAKES
from .phrases import Step
from .statement_grammar import (
    IS_GERMAN_NOUN,
    IS_OF_A_PEOPLE,
    IS_TITLE,
    PARTS_OF_FIRMS,
    RANK_WORDS,
    Row,
    StatementGrammar,
)
from .statement_rest import is_idle
from .text import fold
from .vocabulary import RELATIONS, relation_of

MAX_LISTED = 100
_MAX_AGE = 120
# More capitals are shouted.
_MAX_INITIALS = 4
_DEGREES = frozenset(map(fold, DEGREES.split()))
_FIRM_SIGN = regex.compile(FIRM_SIGNS)
_FIRMS, _CITIES, _MAKES = (frozenset(name_key(name) for name in names.split("/")) for names in (FIRMS, CITIES, MAKES))


@dataclass(frozen=True, slots=True)
class Value:
    """What was read, and where it ends; '' is nothing."""

    text: str
    end: int


_NOTHING = Value("", 0)


def is_age(words: str) -> bool:
    """Whether somebody can be that old, in years."""
    return not words.isdigit() or int(words) <= _MAX_AGE


def value_of(step: Step, clause: str, start: int, grammar: StatementGrammar) -> Value:
    """What stands after "is", where it is of the kind that the relation wants."""
    article = grammar.article.match(clause, start)
    if article:
        start = article.end()
    wanted = {"phone": grammar.phone, "email": grammar.email, "age": grammar.number, "birthday": grammar.date}
    if pattern := wanted.get(step.relation):
        value = _matched(pattern, clause, start)
        return value if step.relation != "age" or is_age(value.text) else _NOTHING
    if step.relation == "address":
        value = _matched(grammar.address, clause, start)
        return value if regex.search(r"\d", value.text) else _NOTHING
    if step.relation == "job":
        # "My job is boring" tells of no trade.
        value = _matched(grammar.plain, clause, start) if article or clause[start : start + 1].isupper() else _NOTHING
        return _NOTHING if is_no_object(value.text, grammar) else Value(trimmed(value.text, grammar), value.end)
    if RELATIONS[step.relation].names_thing:
        # "My dog is a Labrador", "my boss is the Director": what they are, and not who.
        is_kind = article and (
            grammar.indefinite.fullmatch(article.group())
            or (RELATIONS[step.relation].is_role and grammar.language == "en")
        )
        return _NOTHING if is_kind else name_at(clause, start, grammar)
    if step.relation == "speaks":
        value = _matched(grammar.plain, clause, start)
        return value if is_language(name_key(value.text)) else _NOTHING
    value = _matched(grammar.any_value, clause, start)
    return Value(value.text.strip(' .,"“”„«»'), value.end)


def _matched(pattern: regex.Pattern[str], clause: str, start: int) -> Value:
    match = pattern.match(clause, start)
    return Value(match.group(1).strip(), match.end(1)) if match else _NOTHING


def name_at(clause: str, start: int, grammar: StatementGrammar) -> Value:
    """A name at a place, nothing where a word is none: "my boss is German", "my sister is Eva's friend"."""
    match = grammar.name.match(clause, start)
    if match is None or not is_name(match.group(1), grammar):
        return _NOTHING
    return Value(trimmed(match.group(1), grammar), match.end(1))


def is_name(words: str, grammar: StatementGrammar) -> bool:
    """Whether words with capital letters are what somebody is called, and not what they are."""
    return (
        not (words.isupper() and len(words) > _MAX_INITIALS)
        and fold(words.partition(" ")[0]) not in grammar.not_names
        and not IS_OF_A_PEOPLE.search(fold(words))
        and not _is_title(words, grammar)
    )


def is_person(words: str, grammar: StatementGrammar) -> bool:
    """Whether a name may be somebody's: where nouns have capitals, "Arzt" looks like one; a Peter is left alone."""
    return grammar.language != "de" or not IS_GERMAN_NOUN.search(words)


def _is_title(name: str, grammar: StatementGrammar) -> bool:
    """Whether a name is what somebody is: "CEO of Acme", "Médecin"; but not "Doctor Smith"."""
    first, _, rest = name.partition(" ")
    if rest[:1].isupper():
        return fold(first) in RANK_WORDS
    relation = relation_of(first, grammar.language)
    is_trade = relation is not None and relation.fact_type in ("job", "health", "partner")
    return is_trade or fold(first) in RANK_WORDS or IS_TITLE.match(fold(first)) is not None


def trimmed(value: str, grammar: StatementGrammar) -> str:
    """A value without the words that lead on from it."""
    words = value.split()
    while words and fold(words[-1]) in grammar.stops:
        words.pop()
    return " ".join(words).strip(" ,.;:!\"'")


def listed(relations: Sequence[str], words: str, grammar: StatementGrammar) -> tuple[list[str], int]:
    """The values of a list, and how many characters of it were read: all of it where each part is a value."""
    cut = grammar.list_end.split(words)[0]
    found: list[str] = []
    start = end = 0
    is_last = False
    for joint in (*grammar.list_joint.finditer(cut), None):
        stop = joint.start() if joint else len(cut)
        value = _item(relations, cut[start:stop], grammar, is_last=start > 0 and (is_last or joint is None))
        if not value or len(found) >= MAX_LISTED:
            break
        found.append(value)
        end = cut.index(value, start) + len(value)
        if not is_idle(cut[end:stop], grammar.language):
            break
        is_last = bool(joint and joint.group().strip(" ,"))
        start, end = (joint.end(), stop) if joint else (stop, stop)
    return found, end


def _item(relations: Sequence[str], words: str, grammar: StatementGrammar, *, is_last: bool) -> str:
    """One value of a list, '' for what is none; the last of several may begin another clause: "nuts and love opera"."""
    words = words.strip()
    if article := grammar.article.match(words):
        words = words[article.end() :]
    if "speaks" in relations:
        parts = words.split()
        while parts and fold(parts[0]) in _DEGREES:
            parts.pop(0)
        return next((name for n in (2, 1) if is_language(name_key(name := " ".join(parts[:n])))), "")
    value = trimmed(words, grammar)
    count = len(value.split())
    if not value or count > (1 if is_last else 3) or is_no_object(value.split()[0], grammar):
        return ""
    is_no_thing = fold(value) in grammar.not_names or grammar.adverb.fullmatch(value) or grammar.manner.search(value)
    return "" if is_no_thing else value


def is_no_thing_of(row: Row, value: str, before: str, after: str, grammar: StatementGrammar) -> bool:
    """Whether a name is an aim that is no home, a part of a firm, or only says which one: "the Berlin office"."""
    words = fold(value).split() or [""]
    if value[-1:].isdigit() and not {"lives_in", "born_in"}.isdisjoint(row.relations):
        return True
    if "lives_in" in row.relations and words[0] in grammar.not_places:
        return True
    noun = relation_of(value, grammar.language)
    if noun is not None and noun.is_role:
        # "I drive a Friend home".
        return True
    if "drives" in row.relations and grammar.language == "de" and not _is_make(value):
        # "Ich fahre einen Umweg".
        return True
    return not PARTS_OF_FIRMS.isdisjoint((words[0], words[-1])) or _is_before_noun(before, after, grammar)


def _is_make(value: str) -> bool:
    return name_key(value.partition(" ")[0]) in _MAKES or regex.search(r"\d", value) is not None


def may_be_firm(value: str, *, is_change: bool) -> bool:
    """Whether a name is a firm's where a place could stand as well: "trabajo en Siemens", "lavoro in Italia".

    Who begins to work somewhere begins at another firm, as a rule; there it is enough that it is no known place.
    """
    key = name_key(value)
    if key in _FIRMS or _FIRM_SIGN.search(value):
        return not area_of(key)
    return is_change and not area_of(key) and key not in _CITIES


def _is_before_noun(before: str, after: str, grammar: StatementGrammar) -> bool:
    if not after.startswith("'s ") and not (grammar.language == "en" and before.endswith("the ")):
        return False
    noun = regex.match(r"(?:'s(?: \p{Lu}\S*)?)? (\p{Ll}{3,})", after)
    if noun is None or fold(noun.group(1)) in grammar.stops:
        return False
    return noun.group(1) in ("house", "home") or not grammar.adverb.match(after, noun.start(1))


def is_no_object(value: str, grammar: StatementGrammar) -> bool:
    """Whether words are no place, firm or trade: "fear", "un fou", "from experience", "July 1980"."""
    if article := grammar.article.match(value):
        value = value[article.end() :]
    first, *_ = [*value.split(), ""]
    without_number = value.rstrip("0123456789 ,.")
    return (
        fold(value) in grammar.no_objects or fold(without_number) in grammar.no_objects or fold(first) in grammar.stops
    )
