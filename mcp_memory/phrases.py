"""Whom and what a phrase is about: "my sister's phone number" is the user, their sister, and a phone number.

A phrase is read at a place in a text; what it means to the memory (which entity) is for `settle` and `recall`.
"""

from dataclasses import dataclass, replace
from functools import cache

import regex

from .mentions import name_key
from .relation_words import FORMER, NEW, NOUNS, PARENTS, PLAIN, POSSESSIVES
from .statement_words import STATEMENT_WORDS
from .text import fold
from .vocabulary import KNOWN_AS, OTHER, RELATIONS, nouns, relation_of

LANGUAGES = tuple(STATEMENT_WORDS)
# The key of the user's own entity; no name is written like this.
USER_KEY = "=user"
USER_NAME = "the user"

_PRONOUNS = frozenset(
    "i i'm i've i'll i'd we we're we've ich wir er sie es yo je j'ai on nous io he she they it".split()
)
_PARTICLES = r"(?:of|the|de|del|della|da|di|do|dos|von|van|der|den|la|le|al|bin|du|zu|am|&|and der)"
_CAPITALISED = r"(?:\p{Lu}|\p{N}*\p{Ll}?\p{Lu})[\p{L}\p{M}\p{N}]*+(?:[’'&.+-](?!s\b)[\p{L}\p{M}\p{N}]++)*+"
NAME = (
    rf"{_CAPITALISED}(?:\s(?:{_PARTICLES}\s){{0,2}}+{_CAPITALISED})*+"
    # "Model 3", but not "Lisbon 2 weeks ago".
    r"(?:\s\p{N}{1,4}(?=\s*(?:$|[.,;!?])|\snow\b))?"
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
    _grammar(language)


def read_phrase(text: str, start: int, language: str) -> Phrase | None:
    """The phrase that begins at a place: one that ends in a noun of the vocabulary, or a name.

    >>> phrase = read_phrase("my sister's phone number is 123", 0, "en")
    >>> phrase.words, phrase.key
    ("the user's sister's phone", '=user/sister/phone')
    """
    if (owned := _owned(text, start, language)) is not None:
        return owned
    grammar = _grammar(language)
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
    grammar = _grammar(language)
    match = grammar.labelled.match(text, start)
    if not match:
        return None
    label, adjectives = match.group("label"), match.group("adjectives")
    owner = _owner(match, grammar)
    if owner is None or relation_of(label, language):
        return None
    return _with_adjectives(
        replace(owner, steps=(*owner.steps, Step(OTHER, fold(label))), end=match.end()), adjectives, label, grammar
    )


def _owned(text: str, start: int, language: str) -> Phrase | None:
    grammar = _grammar(language)
    match = grammar.owned.match(text, start)
    if not match:
        return None
    owner = _owner(match, grammar)
    if owner is None:
        return None
    return _further(_stepped(owner, match, grammar), text, grammar)


def _first_step(match: regex.Match[str], grammar: "_Grammar") -> Phrase:
    """The user's mother by "Mum", or somebody by a role that the vocabulary has not."""
    if label := match.groupdict().get("label"):
        return Phrase(steps=(Step(KNOWN_AS, fold(label)),), end=match.end())
    parent = _parent(match.group("noun"), grammar.language)
    assert parent is not None
    return replace(parent, end=match.end())


def _parent(name: str, language: str) -> Phrase | None:
    """The user's mother or father where people call them by no other name."""
    found = [relation for relation, words in PARENTS[language].items() if name in words.split()]
    return Phrase(steps=(Step(found[0]),)) if found else None


def _further(phrase: Phrase, text: str, grammar: "_Grammar") -> Phrase:
    # "Tom's" before another noun, "meine Schwester" and then "Anna": further steps and names.
    while match := grammar.further.match(text, phrase.end):
        phrase = _stepped(phrase, match, grammar)
    if phrase.steps[-1].is_role and (named := grammar.called_name.match(text, phrase.end)):
        phrase = replace(phrase, called=named.group("name"), end=named.end())
        while match := grammar.further.match(text, phrase.end):
            phrase = _stepped(Phrase(name=phrase.called), match, grammar)
    return phrase


def _owner(match: regex.Match[str], grammar: "_Grammar") -> Phrase | None:
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


def _stepped(owner: Phrase, match: regex.Match[str], grammar: "_Grammar") -> Phrase:
    noun = match.group("noun")
    relation = relation_of(noun, grammar.language)
    assert relation is not None
    phrase = replace(owner, steps=(*owner.steps, Step(relation.name)), called="", end=match.end())
    adjectives = match.group("adjectives") or match.groupdict().get("after") or ""
    return _with_adjectives(phrase, adjectives, noun, grammar)


def _with_adjectives(phrase: Phrase, adjectives: str, noun: str, grammar: "_Grammar") -> Phrase:
    """What adjectives say: that it is new, no longer so, or which one of several it is."""
    words = fold(adjectives).split()
    last = phrase.steps[-1]
    kept = [word for word in words if word not in grammar.new and word not in grammar.former]
    kept = [word for word in kept if word not in grammar.plain]
    if kept and last.is_role:
        # A climbing partner is no partner.
        label = " ".join([*kept, fold(noun)]).strip()
        phrase = replace(phrase, steps=(*phrase.steps[:-1], Step(KNOWN_AS, label)))
    elif kept and RELATIONS[last.relation].is_labelled:
        label = " ".join([*kept, last.label]).strip()
        phrase = replace(phrase, steps=(*phrase.steps[:-1], replace(last, label=label)))
    return replace(
        phrase,
        is_new=any(word in grammar.new for word in words),
        is_former=any(word in grammar.former for word in words),
    )


@dataclass(frozen=True, slots=True)
class _Grammar:
    language: str
    user: regex.Pattern[str]
    name: regex.Pattern[str]
    owned: regex.Pattern[str]
    labelled: regex.Pattern[str]
    further: regex.Pattern[str]
    called_name: regex.Pattern[str]
    parent: regex.Pattern[str]
    unknown_role: regex.Pattern[str]
    new: frozenset[str]
    former: frozenset[str]
    plain: frozenset[str]


def words_of(alternatives: str) -> str:
    """Words of the data as a regular expression, the longest first, "_" for a space."""
    return "|".join(
        sorted((regex.escape(word.replace("_", " ")) for word in alternatives.split()), key=len, reverse=True)
    )


@cache
def _grammar(language: str) -> _Grammar:
    words = STATEMENT_WORDS[language]
    raw = {noun.replace("_", " ") for row in NOUNS[language].values() for noun in row.split()}
    noun = "|".join(map(regex.escape, sorted(raw | set(nouns(language)), key=len, reverse=True)))
    noun = rf"(?P<noun>{noun})\b(?![-’'](?!s\b))"
    known = words_of(f"{NEW[language]} {FORMER[language]}")
    adjectives = rf"(?P<adjectives>(?:(?:{known}|\p{{Ll}}{{3,}}) ){{0,2}}?)"
    mine = rf"(?:{words_of(POSSESSIVES[language])})"
    name = rf"(?P<name>(?-i:{NAME}))"
    user = words.user
    if language == "en":
        owner = rf"(?:(?:{mine}|(?:{user})['’]s) |{name}['’]s )"
        owned = rf"{owner}{adjectives}{noun}"
        labelled = rf"{owner}(?P<adjectives>(?:(?:{known}) )*)(?P<label>\p{{L}}[\p{{L}}\p{{N}}-]*(?: [\p{{L}}\p{{N}}-]+){{0,2}}?)(?=(?: (?:is|are|has|was|got|changed)\b|:))"
        further = rf"['’]s {adjectives}{noun}"
    elif language == "de":
        owner = rf"(?:{mine} |(?P<name>(?-i:{_CAPITALISED}))(?:(?<=s)|['’]) (?=\p{{L}}))"
        of = rf"(?:von )?(?P<of>{mine} [^,.;:]{{3,40}}?|des nutzers|(?<=von )(?-i:{NAME}))(?= (?:ist|lautet|heißt|hat)\b|[?.,!]|$)"
        owned = rf"(?:{owner}{adjectives}{noun}|(?:der|die|das|den|dem) (?P<adjectives>(?:(?:{known}|\p{{Ll}}{{3,}}) ){{0,2}}?){noun} {of})"
        labelled = rf"{owner}(?P<adjectives>(?:(?:{known}) )*)(?P<label>\p{{L}}[\p{{L}}\p{{N}}-]*)(?= (?:ist|sind|lautet|heißt|hat)\b)"
        further = rf"(?!){adjectives}{noun}"
    else:
        articles = rf"(?:(?:{words.articles})(?<=['’])|(?:{words.articles}) )"
        de = r"(?:de |d['’]|del |di |della |dell['’]|du )"
        of = rf"{de}(?P<of>(?:(?:{words.articles})(?:\s|(?<=['’])))?{mine} [^,.;:?]{{3,40}}?|(?:{user})|(?-i:{NAME}))(?= (?:es|est|è|se|si|s['’]|ha|a|c['’]est|vive|habite|vit|abita|trabaja|travaille|lavora)\b|\s?[?.,!]|$)"
        after = rf"(?: (?P<after>{known})\b)?"
        owned = rf"(?:(?:{articles})?{mine} {adjectives}{noun}{after}|{articles}(?P<adjectives>(?:(?:{known}) ){{0,2}}){noun}(?: (?P<after>{known})\b)? {of})"
        labelled = rf"(?:(?:{articles})?{mine} |{articles}(?=\p{{L}}+(?: \p{{L}}+)? {de}))(?P<adjectives>(?:(?:{known}) )*)(?P<label>\p{{L}}[\p{{L}}\p{{N}}-]*(?: (?!(?:es|est|è)\b)[\p{{L}}-]+)?)(?: {of})?(?= (?:es|est|è|ha|a)\b)"
        further = rf"(?!){adjectives}{noun}"
    called = words.called
    return _Grammar(
        language,
        user=_compiled(rf"(?:{user})\b"),
        name=_compiled(rf"(?-i:{NAME})"),
        owned=_compiled(owned),
        labelled=_compiled(labelled),
        further=_compiled(further),
        called_name=_compiled(rf",? (?:(?:{called.strip()}) )?(?P<name>(?-i:{NAME}))(?=['’]s\b|[,.;!?]|\s|$)"),
        parent=_compiled(rf"(?-i:(?P<noun>{words_of(' '.join(PARENTS[language].values()))}))(?![\p{{L}}-])"),
        unknown_role=_compiled(
            rf"{mine} (?P<label>(?:\p{{Ll}}{{3,}} )?\p{{Ll}}{{3,}})(?=['’]s )" if language == "en" else r"(?!)"
        ),
        plain=frozenset(map(fold, PLAIN[language].split())),
        new=frozenset(fold(word.replace("_", " ")) for word in NEW[language].split()),
        former=frozenset(fold(word.replace("_", " ")) for word in FORMER[language].split()),
    )


def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern, regex.IGNORECASE)
