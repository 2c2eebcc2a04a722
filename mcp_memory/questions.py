"""What a question asks for by key: whose, and which fact. "Who is my sister's boss?" is user, sister, boss.

A question that names neither is none for the facts: they stay silent, and the other signals answer.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import regex

from .date_rules import compiled
from .mentions import name_key
from .phrases import LANGUAGES, Phrase, prepare_phrases, read_phrase
from .question_words import FIRST_PERSON, SHARED, SIGNS, VERBS
from .relation_words import POSSESSIVES
from .text import detect_language
from .vocabulary import label_key, noun_pattern, relation_of

# A question is short: what is longer is a text.
_MAX_CHARS = 300


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks for by key.

    `of` holds whom and which relation of theirs; `paths` whom it names, of whom a label may be asked that only the
    known facts have; `words` are the question's, folded, among which it would stand. `is_shared` says that it asks for
    others who have the same.
    """

    of: tuple[tuple[Phrase, str], ...] = ()
    paths: tuple[Phrase, ...] = ()
    words: frozenset[str] = frozenset()
    is_shared: bool = False


def read_question(text: str, names: Sequence[tuple[str, str]] = ()) -> Asked:
    """What a question asks for; `names` holds (key, as written) of the known names in it.

    >>> asked = read_question("who is my sister's boss?")
    >>> [(whom.key, relation) for whom, relation in asked.of]
    [('=user/sister', 'boss')]
    """
    if len(text) > _MAX_CHARS:
        return Asked()
    # "Abito a Graz" has made a name of its verb.
    names = [name for name in names if not any(_grammar(code).first_person.fullmatch(name[1]) for code in LANGUAGES)]
    plain = _with_capitals(" ".join(text.replace("’", "'").split()), [name for _, name in names])
    keys = {key for key, _ in names}
    of: dict[tuple[str, str], tuple[Phrase, str]] = {}
    paths: dict[str, Phrase] = {}
    is_shared = False
    for language in _languages_of(plain):
        found = _read(plain, language, keys)
        for whom, relation in found.of:
            of.setdefault((whom.key, relation), (whom, relation))
        paths |= {path.key: path for path in found.paths if path.key not in paths}
        is_shared = is_shared or found.is_shared
    words = frozenset(regex.findall(r"[\p{L}\p{N}]+", f"{label_key(plain)} {label_key(plain, '')}"))
    return Asked(tuple(of.values()), tuple(paths.values()), words, is_shared)


def prepare(languages: Collection[str]) -> None:
    """Compile the patterns of some languages now: the first question would wait for that."""
    for language in LANGUAGES:
        if language in languages:
            _grammar(language)
            prepare_phrases(language)


def _languages_of(text: str) -> Iterator[str]:
    spoken = detect_language(text)
    if spoken in LANGUAGES:
        yield spoken
    # A short question may be taken for another language.
    yield from (code for code in LANGUAGES if code != spoken and _grammar(code).sign.search(text))


def _read(text: str, language: str, known: Collection[str]) -> Asked:
    grammar = _grammar(language)
    phrases: list[Phrase] = []
    spans: list[tuple[int, int]] = []
    for match in grammar.starts.finditer(text):
        if spans and match.start() < spans[-1][1]:
            continue
        phrase = read_phrase(text, match.start(), language)
        if phrase and (not phrase.name or name_key(phrase.name) in known):
            phrases.append(phrase)
            spans.append((match.start(), phrase.end))
    whom = [phrase if not phrase.steps or phrase.steps[-1].is_role else phrase.without_last() for phrase in phrases]
    asked = [relation for relation, pattern in grammar.verbs if pattern.search(text)]
    asked += [
        relation.name
        for match in grammar.noun.finditer(text)
        if not any(start <= match.start() < end for start, end in spans) and grammar.asks_for(text, match)
        if (relation := relation_of(match.group(), language)) is not None
    ]
    is_mine = grammar.first_person.search(text) or ("favourite" in asked and grammar.mine.search(text))
    if asked and not whom and is_mine:
        whom = [Phrase()]
    of = [(one, relation) for one in whom for relation in dict.fromkeys(asked)]
    for phrase in phrases:
        # "my sister's phone" asks by itself; "my boss" does where nothing else is asked of whom it means.
        if phrase.steps and not phrase.called and (not phrase.steps[-1].is_role or not asked):
            of.append((phrase.without_last(), phrase.steps[-1].relation))
    return Asked(tuple(of), tuple(whom), is_shared=grammar.shared.search(text) is not None)


def _with_capitals(text: str, known: Collection[str]) -> str:
    """The question with the names that are known written as names."""
    for name in sorted(known, key=len, reverse=True):
        if name.islower() and len(name) > 1:
            text = regex.sub(rf"\b{regex.escape(name)}\b", name.title(), text)
    return text


@dataclass(frozen=True, slots=True)
class _Grammar:
    sign: regex.Pattern[str]
    starts: regex.Pattern[str]
    verbs: tuple[tuple[str, regex.Pattern[str]], ...]
    noun: regex.Pattern[str]
    first_person: regex.Pattern[str]
    mine: regex.Pattern[str]
    shared: regex.Pattern[str]

    def asks_for(self, text: str, noun: regex.Match[str]) -> bool:
        """Whether a noun without anybody's name before it is what a question asks for: "phone number of Ana"."""
        is_terse = len(text.split()) <= _N_TERSE
        return is_terse or bool(_OF.match(text, noun.end()) or _ASKED.search(text[: noun.start()]))


# In so few words a noun is the question.
_N_TERSE = 4
_OF = regex.compile(r"\s(?:of|for|von|de|del|di|du|da|della)\s|\s?d['’]", regex.IGNORECASE)
_ASKED = regex.compile(
    r"(?:what's|what is|what was|which is|who is|who's|who was|was ist|wie ist|wie lautet|wer ist|cuál es|cual es"
    r"|quién es|quel est|quelle est|qui est|qual è|chi è)\s(?:(?:the|die|der|das|el|la|le|il|lo)\s|l['’])?$",
    regex.IGNORECASE,
)


@cache
def _grammar(language: str) -> _Grammar:
    mine = "|".join(POSSESSIVES[language].split())
    return _Grammar(
        sign=compiled(rf"(?<![\p{{L}}'])(?:{mine}|{SIGNS[language]})(?!\p{{L}})"),
        starts=compiled(rf"(?<![\p{{L}}'])(?:(?:{mine}|der|die|das|el|la|le|l'|il|lo|the)(?=\W)|(?-i:\p{{Lu}}))"),
        verbs=tuple((relation, compiled(pattern)) for relation, pattern in VERBS[language].items()),
        noun=compiled(rf"(?<!\p{{L}})(?:{noun_pattern(language)})(?!\p{{L}})"),
        mine=compiled(rf"(?<![\p{{L}}'])(?:{mine})(?=\W)"),
        first_person=compiled(FIRST_PERSON[language]),
        shared=compiled(SHARED[language]),
    )
