"""The closed vocabulary of facts: which relations there are, what each is of, and whether there is one at a time.

What no relation fits has a label in the speaker's words: it is `other` where there is one at a time ("shoe size"), and
the audit counts those; `known_as` where it is somebody, else `has`. Words of people that name a relation are in
`relation_words`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import regex

from .records import FactType
from .relation_words import ATTRIBUTES, NOUNS
from .text import fold, normalise

OTHER = "other"
# What no relation fits and of which there may be several: flights, appointments.
HAS = "has"
# Somebody of whom only a role outside the vocabulary is known: "my climbing partner".
KNOWN_AS = "known_as"


@dataclass(frozen=True, slots=True)
class Relation:
    """One relation.

    `is_single`: a subject has one object at a time, and a later one takes the place of the earlier. `is_mostly_single`:
    as a rule it has, but only a comparison of what is said can tell. `is_role`: the object is somebody or something
    that "my sister" can mean. `is_labelled`: there are many, told apart by a label ("favourite" what?). `names_thing`:
    the object is a thing with a name, and not a value.
    """

    name: str
    fact_type: FactType
    is_single: bool = False
    is_mostly_single: bool = False
    is_role: bool = False
    is_labelled: bool = False
    names_thing: bool = False


def _role(name: str, fact_type: FactType, *, is_single: bool = False) -> Relation:
    return Relation(name, fact_type, is_single=is_single, is_role=True, names_thing=True)


RELATIONS: Mapping[str, Relation] = {
    relation.name: relation
    for relation in (
        Relation("name", "name", is_single=True),
        Relation("age", "age", is_single=True),
        Relation("birthday", "birthday", is_single=True),
        Relation("lives_in", "home", is_single=True, names_thing=True),
        Relation("born_in", "origin", is_single=True, names_thing=True),
        Relation("job", "job", is_single=True),
        Relation("works_at", "employer", is_single=True, names_thing=True),
        Relation("studies_at", "school", is_single=True, names_thing=True),
        _role("partner", "partner", is_single=True),
        _role("mother", "family", is_single=True),
        _role("father", "family", is_single=True),
        _role("sister", "family"),
        _role("brother", "family"),
        _role("daughter", "family"),
        _role("son", "family"),
        _role("child", "family"),
        _role("grandmother", "family"),
        _role("grandfather", "family"),
        _role("aunt", "family"),
        _role("uncle", "family"),
        _role("cousin", "family"),
        _role("friend", "friend"),
        _role("colleague", "friend"),
        _role("neighbour", "friend"),
        _role("flatmate", "friend"),
        _role("boss", "job", is_single=True),
        _role("landlord", "contact", is_single=True),
        _role("doctor", "health", is_single=True),
        _role("dentist", "health", is_single=True),
        _role("therapist", "health", is_single=True),
        _role("customer", "job"),
        Relation(KNOWN_AS, "friend", is_role=True, is_labelled=True, names_thing=True),
        _role("dog", "pet"),
        _role("cat", "pet"),
        Relation("phone", "contact", is_single=True, is_labelled=True),
        Relation("email", "contact", is_single=True, is_labelled=True),
        Relation("address", "contact", is_single=True, is_labelled=True),
        Relation("drives", "owns", is_single=True, names_thing=True),
        Relation("speaks", "skill"),
        Relation("allergic_to", "health"),
        Relation("takes", "health"),
        Relation("favourite", "favourite", is_single=True, is_labelled=True),
        Relation("likes", "likes", is_labelled=True),
        Relation("dislikes", "dislikes", is_labelled=True),
        Relation("eats", "diet", is_labelled=True),
        Relation("habit", "habit", is_labelled=True),
        Relation("skill", "skill", is_labelled=True),
        Relation("health", "health", is_labelled=True),
        Relation("owns", "owns", is_labelled=True),
        Relation("uses", "uses", is_mostly_single=True, is_labelled=True),
        Relation("amount", "amount", is_mostly_single=True, is_labelled=True),
        Relation("happens_at", "time", is_mostly_single=True, is_labelled=True),
        Relation("located_in", "place", is_labelled=True, names_thing=True),
        Relation(HAS, "other", is_labelled=True),
        Relation(OTHER, "other", is_single=True, is_labelled=True),
    )
}

# What a small model calls the type of a fact, where the type alone says which relation it is.
BY_TYPE: Mapping[FactType, str] = {
    "name": "name", "age": "age", "birthday": "birthday", "home": "lives_in", "origin": "born_in", "job": "job",
    "employer": "works_at", "school": "studies_at", "partner": "partner", "favourite": "favourite", "likes": "likes",
    "dislikes": "dislikes", "diet": "eats", "habit": "habit", "skill": "skill", "owns": "owns", "uses": "uses",
    "amount": "amount", "time": "happens_at", "place": "located_in", "health": "health",
}  # fmt: skip
# Of these types a subject has one value at a time, of the second kind one for each label ("rent", "phone number").
SINGLE_TYPES: frozenset[FactType] = frozenset(
    fact_type for fact_type, name in BY_TYPE.items() if RELATIONS[name].is_single and not RELATIONS[name].is_labelled
)
SINGLE_BY_LABEL: frozenset[FactType] = frozenset(
    relation.fact_type
    for relation in RELATIONS.values()
    if relation.is_labelled and (relation.is_single or relation.is_mostly_single) and relation.name != OTHER
)


def relation_of(word: str, language: str = "") -> Relation | None:
    """The relation that a noun names, in one language or in any.

    >>> relation_of("Handynummer", "de").name, relation_of("jefa", "es").name, relation_of("billing unit")
    ('phone', 'boss', None)
    """
    key = fold(normalise(word))
    for code in [language] if language else NOUNS:
        if name := _by_noun(code).get(key):
            return RELATIONS[name]
    return None


def is_attribute(label: str, language: str) -> bool:
    """Whether a label names what somebody has one of at a time: "shoe size", and not "nephew" or "flight".

    >>> is_attribute("shoe size", "en"), is_attribute("Schuhgröße", "de"), is_attribute("flight", "en")
    (True, True, False)
    """
    heads = [label_key(word, language) for word in ATTRIBUTES.get(language, "").split()]
    words = label_key(label, language).split()
    if not words:
        return False
    if language == "de":
        return words[-1].endswith(tuple(heads))
    return words[-1 if language == "en" else 0] in heads


# American spellings and the British ones that stand for both; "meter" and "check" are other words too.
_SPELLINGS = tuple(
    (regex.compile(rf"\b{american}"), british)
    for american, british in (
        (r"(arm|behavi|col|fav|flav|harb|hon|hum|lab|neighb|rum|sav)or(?=s?\b|ed|ing|hood|ful|able|ite)", r"\1our"),
        (r"(cent|fib|theat)er(?=s?\b)", r"\1re"),
        (r"(def|lic|off)ense(?=s?\b)", r"\1ence"),
        (r"(\p{L}{3,}(?<!pr|si|caps|overs))iz(?=es?\b|ed\b|ing\b|ations?\b)", r"\1is"),
        (r"(catal|dial)og(?=s?\b)", r"\1ogue"),
        (r"gray(?=s?\b)", "grey"),
        (r"jewelry\b", "jewellery"),
        (r"mom(?=s?\b)", "mum"),
        (r"pajamas\b", "pyjamas"),
        (r"program(?=s?\b)", "programme"),
        (r"tire(?=s?\b)", "tyre"),
    )
)


def label_key(words: str, language: str = "en") -> str:
    """A label in the one form of all its spellings, accents and cases; "color" is another word in Spanish.

    >>> label_key("favorite Color"), label_key("License plate"), label_key("prize size"), label_key("Été")
    ('favourite colour', 'licence plate', 'prize size', 'ete')
    >>> label_key("color", "es")
    'color'
    """
    key = " ".join(fold(normalise(words)).split())
    for pattern, spelling in _SPELLINGS if language == "en" else ():
        key = pattern.sub(spelling, key)
    return key


@cache
def noun_pattern(language: str) -> str:
    """The nouns of a language that name relations, as one expression: as written and without accents, longest first."""
    raw = {noun.replace("_", " ") for row in NOUNS[language].values() for noun in row.split()}
    return "|".join(map(regex.escape, sorted(raw | set(_by_noun(language)), key=len, reverse=True)))


@cache
def _by_noun(language: str) -> Mapping[str, str]:
    return {
        fold(noun.replace("_", " ")): relation
        for relation, words in NOUNS.get(language, {}).items()
        for noun in words.split()
    }
