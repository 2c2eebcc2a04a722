"""Whom and what a phrase is about: "my sister's phone number" is the user, their sister, and a phone number.

A phrase is read at a place in a text; what it means to the memory (which entity) is for `settle` and `recall`.
"""

from dataclasses import dataclass, replace

import regex

from .mentions import name_key
from .phrase_grammar import PhraseGrammar, grammar_of
from .relation_words import PARENTS
from .statement_words import STATEMENT_WORDS
from .text import fold
from .vocabulary import KNOWN_AS, OTHER, RELATIONS, label_key, relation_of

LANGUAGES = tuple(STATEMENT_WORDS)
# The key of the user's own entity; no name is written like this.
USER_KEY = "=user"
USER_NAME = "the user"

_PRONOUNS = frozenset(
    "i i'm i've i'll i'd we we're we've ich wir er sie es yo je j'ai on nous io he she they it".split()
)


@dataclass(frozen=True, slots=True)
class Step:
    """From somebody to what they have: a relation, and its label where it has one."""

    relation: str
    label: str = ""

    @property
    def is_role(self) -> bool:
        """Whether it leads to somebody of whom more can be said."""
        return RELATIONS[self.relation].is_role


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase: the user (`name` '') or somebody by name, and the steps that lead on from there.

    `called` is a name in apposition: "my sister Eva". `is_new` and `is_former` are said of the last step.
    """

    name: str = ""
    steps: tuple[Step, ...] = ()
    called: str = ""
    is_new: bool = False
    is_former: bool = False
    end: int = 0

    @property
    def key(self) -> str:
        """What finds its entity: a name's key, the user's, or a path such as "=user/sister"."""
        if self.called:
            return name_key(self.called)
        base = name_key(self.name) if self.name else USER_KEY
        if not self.steps:
            return base
        roles = (step.label if step.relation == KNOWN_AS else step.relation for step in self.steps)
        return "/".join([f"={base.removeprefix('=')}", *roles])

    @property
    def words(self) -> str:
        """How people are told of it: a name, "the user", "the user's sister"."""
        base = self.called or self.name or USER_NAME
        if self.called or not self.steps:
            return base
        return "'s ".join([base, *(step.label or step.relation.replace("_", " ") for step in self.steps)])

    def without_last(self) -> "Phrase":
        """Whose it is."""
        return replace(self, steps=self.steps[:-1], called="", is_new=False, is_former=False)


def prepare_phrases(language: str) -> None:
    """Compile the patterns of a language now: the first phrase would wait for that."""
    grammar_of(language)


def read_phrase(text: str, start: int, language: str) -> Phrase | None:
    """The phrase that begins at a place: one that ends in a noun of the vocabulary, or a name.

    >>> phrase = read_phrase("my sister's phone number is 123", 0, "en")
    >>> phrase.words, phrase.key
    ("the user's sister's phone", '=user/sister/phone')
    """
    if (owned := _owned(text, start, language)) is not None:
        return owned
    grammar = grammar_of(language)
    for pattern in (grammar.parent, grammar.unknown_role):
        if match := pattern.match(text, start):
            return _further(_first_step(match, grammar), text, grammar)
    if match := grammar.user.match(text, start):
        return Phrase(end=match.end())
    if (match := grammar.name.match(text, start)) and fold(match.group()) not in _PRONOUNS:
        return Phrase(name=match.group(), end=match.end())
    return None


def read_owned_label(text: str, start: int, language: str) -> Phrase | None:
    """A phrase that ends in a noun which no relation of the vocabulary has: "my shoe size", "Acme's billing unit"."""
    grammar = grammar_of(language)
    match = grammar.labelled.match(text, start)
    if not match:
        return None
    label, adjectives = match.group("label"), match.group("adjectives")
    owner = _owner(match, grammar)
    if owner is None or relation_of(label, language):
        return None
    return _with_adjectives(
        replace(owner, steps=(*owner.steps, Step(OTHER, label_key(label, grammar.language))), end=match.end()),
        adjectives,
        label,
        grammar,
    )


def _owned(text: str, start: int, language: str) -> Phrase | None:
    grammar = grammar_of(language)
    match = grammar.owned.match(text, start)
    if not match:
        return None
    owner = _owner(match, grammar)
    if owner is None:
        return None
    return _further(_stepped(owner, match, grammar), text, grammar)


def _first_step(match: regex.Match[str], grammar: PhraseGrammar) -> Phrase:
    """The user's mother by "Mum", or somebody by a role that the vocabulary has not."""
    if label := match.groupdict().get("label"):
        return Phrase(steps=(Step(KNOWN_AS, label_key(label, grammar.language)),), end=match.end())
    parent = _parent(match.group("noun"), grammar.language)
    assert parent is not None
    return replace(parent, end=match.end())


def _parent(name: str, language: str) -> Phrase | None:
    """The user's mother or father where people call them by no other name."""
    found = [relation for relation, words in PARENTS[language].items() if name in words.split()]
    return Phrase(steps=(Step(found[0]),)) if found else None


def _further(phrase: Phrase, text: str, grammar: PhraseGrammar) -> Phrase:
    # "Tom's" before another noun, "meine Schwester" and then "Anna": further steps and names.
    while match := grammar.further.match(text, phrase.end):
        phrase = _stepped(phrase, match, grammar)
    if phrase.steps[-1].is_role and (named := grammar.called_name.match(text, phrase.end)):
        phrase = replace(phrase, called=named.group("name"), end=named.end())
        while match := grammar.further.match(text, phrase.end):
            phrase = _stepped(Phrase(name=phrase.called), match, grammar)
    return phrase


def _owner(match: regex.Match[str], grammar: PhraseGrammar) -> Phrase | None:
    found = match.groupdict()
    if (name := found.get("name")) and (parent := _parent(name, grammar.language)):
        return parent
    if name:
        is_genitive = grammar.language == "de" and match.string[match.end("name")] == " "
        return Phrase(name=name.removesuffix("s") if is_genitive else name)
    if found.get("of"):
        # "el jefe de mi hermana": the owner comes after.
        return read_phrase(found["of"], 0, grammar.language)
    return Phrase()


def _stepped(owner: Phrase, match: regex.Match[str], grammar: PhraseGrammar) -> Phrase:
    noun = match.group("noun")
    relation = relation_of(noun, grammar.language)
    assert relation is not None
    phrase = replace(owner, steps=(*owner.steps, Step(relation.name)), called="", end=match.end())
    adjectives = match.group("adjectives") or match.groupdict().get("after") or ""
    return _with_adjectives(phrase, adjectives, noun, grammar)


def _with_adjectives(phrase: Phrase, adjectives: str, noun: str, grammar: PhraseGrammar) -> Phrase:
    """What adjectives say: that it is new, no longer so, or which one of several it is."""
    words = fold(adjectives).split()
    last = phrase.steps[-1]
    kept = [word for word in words if word not in grammar.new and word not in grammar.former]
    kept = [word for word in kept if word not in grammar.plain]
    if kept and last.is_role:
        # A climbing partner is no partner.
        label = label_key(" ".join([*kept, noun]), grammar.language)
        phrase = replace(phrase, steps=(*phrase.steps[:-1], Step(KNOWN_AS, label)))
    elif kept and RELATIONS[last.relation].is_labelled:
        label = label_key(" ".join([*kept, last.label]), grammar.language)
        phrase = replace(phrase, steps=(*phrase.steps[:-1], replace(last, label=label)))
    elif kept:
        # A favourite city is no home.
        phrase = replace(
            phrase, steps=(*phrase.steps[:-1], Step(OTHER, label_key(" ".join([*kept, noun]), grammar.language)))
        )
    return replace(
        phrase,
        is_new=any(word in grammar.new for word in words),
        is_former=any(word in grammar.former for word in words),
    )
