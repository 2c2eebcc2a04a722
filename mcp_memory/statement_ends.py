"""Statements that somebody is no longer what they were: "Eva is not my boss any more", "I no longer have a dog".

What somebody no longer does ("I no longer work at Acme") is among the rows of `statement_words`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

import regex

from .patterns import compiled
from .phrases import Phrase, Step, read_phrase
from .stated import Stated
from .statement_grammar import StatementGrammar
from .text import fold
from .vocabulary import KNOWN_AS, RELATIONS, label_key, noun_pattern, relation_of


@dataclass(frozen=True, slots=True)
class _EndWords:
    """How one language says it: expressions, matched in any case; {noun} stands for what somebody had."""

    # Between somebody and what they are no longer.
    is_not: str
    # After the speaker, and after somebody else.
    has_not: str
    other_has_not: str
    died: str
    # What may close the clause, and is needed after what alone would only deny ("is not my boss").
    tail: str = r"(?!)"
    needs_tail: str = r"(?!)"


_WORDS: Mapping[str, _EndWords] = {
    "en": _EndWords(
        is_not=r"(?: is|'s) no longer| is not| isn't|'s not",
        has_not=r"(?:i|we) (?:no longer have|don't have|do not have) (?:an?|any|the|my|our) {noun}s?",
        other_has_not=r" (?:no longer has|doesn't have|does not have) (?:an?|any|the|his|her) {noun}s?",
        died=r"(?: has| have|'s)?(?: just| recently| sadly)* (?:died|passed away)| is dead",
        tail=r"\s(?:any ?more|any longer)\b",
        needs_tail=r"(?:\bnot\b|n't)",
    ),
    "de": _EndWords(
        is_not=r" ist (?:nicht mehr|nicht länger|nun nicht mehr|jetzt nicht mehr)",
        has_not=r"(?:ich hab(?:e)?|wir haben) keine?n? {noun} mehr",
        other_has_not=r" hat keine?n? {noun} mehr",
        died=r" ist (?:[^\s.,;]+ ){0,3}(?:gestorben|verstorben|tot)",
    ),
    "es": _EndWords(
        is_not=r" ya no es",
        has_not=r"ya no (?:tengo|tenemos) (?:una? |ningún |ninguna |al |la |el )?{noun}",
        other_has_not=r" ya no tiene (?:una? |ningún |ninguna )?{noun}",
        died=r"(?: se)?(?: ha)? (?:muri[óo]|muerto|falleció|fallecido)| está muert[oa]",
    ),
    "fr": _EndWords(
        is_not=r"(?:,? ce)? n'est plus",
        has_not=r"(?:je n'ai|nous n'avons|on n'a) plus (?:de |d'|mon |ma |notre |le |la ){noun}",
        other_has_not=r" n'a plus (?:de |d'){noun}",
        died=r" (?:est|vient d'être) (?:morte?|décédée?)| vient de mourir",
    ),
    "it": _EndWords(
        is_not=r" non è più",
        has_not=r"non (?:ho|abbiamo) più (?:il |la |lo |l'|un |una |un'|nessun )?{noun}",
        other_has_not=r" non ha più (?:il |la |lo |l'|un |una |un'|nessun )?{noun}",
        died=r" è (?:mort[oa]|decedut[oa]|mancat[oa])",
    ),
}


@dataclass(frozen=True, slots=True)
class _Grammar:
    is_not: regex.Pattern[str]
    has_not: regex.Pattern[str]
    other_has_not: regex.Pattern[str]
    died: regex.Pattern[str]
    tail: regex.Pattern[str]
    needs_tail: regex.Pattern[str]


_OF = regex.compile(r"\s(?:of|from|an|de|d'|di)\b")


@cache
def _grammar_of(language: str) -> _Grammar:
    words = _WORDS[language]
    noun = rf"(?P<noun>{noun_pattern(language)})\b"
    return _Grammar(
        is_not=compiled(rf"(?:{words.is_not})\s"),
        has_not=compiled(words.has_not.replace("{noun}", noun)),
        other_has_not=compiled(words.other_has_not.replace("{noun}", noun)),
        died=compiled(rf",?(?:{words.died})\b"),
        tail=compiled(words.tail),
        needs_tail=compiled(words.needs_tail),
    )


def ends_in(clause: str, start: int, grammar: StatementGrammar) -> Iterator[Stated]:
    """What the clause that begins at a place says that somebody is not, or has not, any longer."""
    own = _grammar_of(grammar.language)
    told = own.tail.sub("", clause)
    has_tail = told != clause
    phrase = read_phrase(told, start, grammar.language)
    if match := own.has_not.match(told, start):
        whose = Phrase()
    elif phrase and (match := own.other_has_not.match(told, phrase.end) or own.is_not.match(told, phrase.end)):
        whose = phrase
    else:
        return
    if whose.is_former or (own.needs_tail.search(match.group()) and not has_tail):
        return
    if "noun" in match.groupdict():
        found, end = _nothing_of(match, whose, grammar)
    elif whose.steps:
        found, end = _not_called(whose, told, match.end(), grammar)
    else:
        found, end = _not_whose(whose, clause, match.end(), grammar)
    if found and grammar.ended.match(told, end):
        yield replace(found, words=clause[start:], read=((start, end),))


def deaths_in(sentence: str, grammar: StatementGrammar) -> Iterator[Stated]:
    """Whom a sentence tells to have died, where that ends what they were: a dog, a boss, and not a sister."""
    for start in grammar.starts(sentence):
        phrase = read_phrase(sentence, start, grammar.language)
        if phrase is None or not phrase.called or not phrase.steps or phrase.is_former:
            continue
        last = phrase.steps[-1]
        died = _grammar_of(grammar.language).died.match(sentence, phrase.end)
        # "Died of old age" did so, "died laughing" did not.
        if died and _may_end(last) and (grammar.ended.match(sentence, died.end()) or _OF.match(sentence, died.end())):
            words, read = sentence[start:], ((start, died.end()),)
            yield Stated(phrase.without_last(), (last.relation,), last.label, phrase.called, "ends", words, read)


def _nothing_of(match: regex.Match[str], whose: Phrase, grammar: StatementGrammar) -> tuple[Stated | None, int]:
    """That somebody has none of a kind any longer: an end of whichever there was."""
    relation = relation_of(match.group("noun"), grammar.language)
    if relation is None or not _may_end(Step(relation.name)) or (whose.steps and not whose.steps[-1].is_role):
        return None, match.end()
    if not grammar.clause_end.match(match.string, match.end()):
        # "In the office" there is none any longer.
        return None, match.end()
    return Stated(whose, (relation.name,), "", "", "ends", ""), match.end()


def _not_called(whose: Phrase, told: str, start: int, grammar: StatementGrammar) -> tuple[Stated | None, int]:
    """That what somebody has is not this one any longer: "my boss is no longer Eva"."""
    last = whose.steps[-1]
    match = grammar.name.match(told, start)
    if match is None or whose.called or not _may_end(last):
        return None, start
    name = match.group(1)
    return Stated(whose.without_last(), (last.relation,), last.label, name, "ends", ""), match.end()


def _not_whose(whose: Phrase, clause: str, start: int, grammar: StatementGrammar) -> tuple[Stated | None, int]:
    """That somebody is not what somebody has any longer: "Eva is no longer my boss"."""
    if not whose.name or fold(whose.name.partition(" ")[0]) in grammar.stops:
        return None, start
    other = read_phrase(clause, start, grammar.language)
    if other and other.steps and not other.is_former and not other.called and _may_end(other.steps[-1]):
        last = other.steps[-1]
        return Stated(other.without_last(), (last.relation,), last.label, whose.name, "ends", ""), other.end
    if other is None and (role := grammar.own_role.match(clause, start)):
        return Stated(
            Phrase(), (KNOWN_AS,), label_key(role.group("label"), grammar.language), whose.name, "ends", ""
        ), role.end("label")
    return None, start


def _may_end(step: Step) -> bool:
    """Whether it is somebody's for a time: a boss, a dog, a friend; a sister remains one."""
    return step.is_role and RELATIONS[step.relation].fact_type != "family"
