"""What a question asks for by key: whose, and which fact. "Who is my sister's boss?" is user, sister, boss.

A question that names neither is none for the facts: they stay silent, and the other signals answer.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import regex

from .mentions import name_key
from .patterns import compiled
from .phrases import LANGUAGES, USER_KEY, Phrase, prepare_phrases, read_phrase
from .question_words import (
    BEFORE,
    EVER,
    FIRST_PERSON,
    FORMERLY,
    IS,
    LASTS,
    MEANS_ME,
    SHARED,
    SIGNS,
    VERBS,
    WAS,
    WAS_ME,
    WHICH,
    WHILE,
)
from .relation_words import FORMER, NEW, POSSESSIVES
from .text import detect_language, fold, normalise, terms
from .vocabulary import label_key, noun_pattern, relation_of

# A question is short: what is longer is a text.
_MAX_CHARS = 300


@dataclass(frozen=True, slots=True)
class Before:
    """The time before something: the words that name it, folded; none where the question means before now.

    `is_named` says that it has a name or a number, so that nothing else can be meant.
    """

    words: frozenset[str] = frozenset()
    is_named: bool = False


@dataclass(frozen=True, slots=True)
class While:
    """The time for which something was so: the words that name it, folded, of whom it was so, and as what if known."""

    words: frozenset[str]
    paths: tuple[Phrase, ...]
    relation: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks for by key.

    `of` holds whom and which relation of theirs; `paths` whom it names, of whom a label may be asked that only the
    known facts have; `words` are the question's, folded, among which it would stand, and `own` what follows "my",
    where it would begin if it is the user's. `is_shared` says that it asks for others who have the same, `before` that
    it asks for what was so earlier, `meanwhile` for what was so while something else was, `is_ever` for all that ever
    was. `qualified` holds the keys of those whose relation it asks for under a label of its own: "my locker number" is
    no phone number.
    """

    of: tuple[tuple[Phrase, str], ...] = ()
    paths: tuple[Phrase, ...] = ()
    words: frozenset[str] = frozenset()
    own: tuple[str, ...] = ()
    is_shared: bool = False
    before: Before | None = None
    meanwhile: While | None = None
    is_ever: bool = False
    qualified: frozenset[tuple[str, str]] = frozenset()

    def names(self, label: str, path: Phrase) -> bool:
        """Whether a label of what somebody has stands in the question."""
        if path.name or path.steps:
            return set(label.split()) <= self.words
        return any(f"{run} ".startswith(f"{label} ") for run in self.own)


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
    # What is asked for in so few words may be the label itself: "wifi password".
    own = [_run(plain)] if len(plain.split()) <= _N_TERSE else []
    is_shared = is_ever = False
    qualified: set[tuple[str, str]] = set()
    before: Before | None = None
    meanwhile: While | None = None
    for language in _languages_of(plain):
        asked, then = _without_while(plain, language, keys)
        meanwhile = meanwhile or then
        asked, earlier = _without_before(asked, language)
        found = _read(asked, language, keys)
        is_ever = is_ever or found.is_ever
        for whom, relation in found.of:
            of.setdefault((whom.key, relation), (whom, relation))
        paths |= {path.key: path for path in found.paths if path.key not in paths}
        own += found.own
        is_shared = is_shared or found.is_shared
        qualified |= found.qualified
        before = before or earlier
    if own:
        paths.setdefault(USER_KEY, Phrase())
    # Labels of English words are known in one spelling; of which language a label is, is not known.
    words = _words(plain) | _words(label_key(plain))
    own = [spelled for run in own for spelled in (run, label_key(run))]
    return Asked(
        tuple(of.values()),
        tuple(paths.values()),
        words,
        tuple(dict.fromkeys(own)),
        is_shared,
        before,
        meanwhile,
        is_ever,
        frozenset(qualified),
    )


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


def _words(text: str) -> frozenset[str]:
    """The words of a text, folded; what a hyphen joins as a whole and by its parts."""
    joined = regex.findall(r"[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*", fold(normalise(text)))
    return frozenset(joined) | {part for word in joined for part in word.split("-")}


def _run(text: str) -> str:
    """What a text says up to its first mark, in the form that labels have; "my bank's" names no bank."""
    return fold(normalise(_MARK.split(text, maxsplit=1)[0]))


def _without_while(text: str, language: str, known: Collection[str]) -> tuple[str, While | None]:
    """What a question asks for, and while what was so: "who was my boss when I lived in Berlin?"."""
    grammar = _grammar(language)
    match = grammar.meanwhile.search(text)
    if match is None:
        return text, None
    asked, clause = text[: match.start()], text[match.end() :]
    if not asked.strip(" ¿"):
        clause, _, asked = clause.partition(",")
    if not asked.strip() or grammar.asks_of_now.search(asked) or not grammar.was.search(clause):
        return text, None
    words = _words(clause)
    if grammar.first_person.search(clause) or grammar.was_me.search(clause):
        return asked, While(words, (Phrase(),))
    paths = _read(clause, language, known).paths
    for path in paths:
        # "When Tom was my boss": whoever that was by then, it was so of me.
        if path.steps and path.steps[-1].is_role and not grammar.was.sub("", clause[path.end :]).strip(" ?!."):
            return asked, While(words, (path.without_last(),), path.steps[-1].relation)
    return asked, While(words, paths)


def _without_before(text: str, language: str) -> tuple[str, Before | None]:
    """What a question asks for, and before what: "where did I live before Lisbon?"."""
    grammar = _grammar(language)
    match = grammar.before.search(text)
    if match is None:
        return text, Before() if grammar.formerly.search(text) else None
    asked, named = text[: match.start()], text[match.end() :]
    if not asked.strip():
        named, _, asked = named.partition(",")
    # "Wo habe ich vor Lissabon gewohnt?": the verb comes last.
    if verb := regex.search(r"\s\p{Ll}+\W*$", named):
        asked += verb.group()
    return asked, Before(_words(named), regex.search(r"\p{N}|\b\p{Lu}\p{Ll}", named) is not None)


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
    is_ever = grammar.ever.search(text) is not None and not grammar.lasts.search(text)
    if is_ever and not asked:
        patterns = [grammar.which] if phrases else [grammar.which, grammar.own]
        runs = [match.group("run") for pattern in patterns for match in pattern.finditer(text)]
        asked = [name for run in runs if (name := _of_several(run, language))]
    takes_mine = is_ever or "favourite" in asked
    is_mine = grammar.first_person.search(text) or (takes_mine and grammar.mine.search(text))
    if asked and not whom and is_mine:
        whom = [Phrase()]
    of = [(one, relation) for one in whom for relation in dict.fromkeys(asked)]
    for phrase in phrases:
        # "my sister's phone" asks by itself; "my boss" does where nothing else is asked of whom it means.
        if phrase.steps and not phrase.called and (not phrase.steps[-1].is_role or not asked):
            of.append((phrase.without_last(), phrase.steps[-1].relation))
    # What somebody is called, says who they are.
    of += [(one.without_last(), one.steps[-1].relation) for one, relation in of if relation == "name" and one.steps]
    own = [_run(match.group("run")) for match in grammar.own.finditer(text)]
    # "The code of my locker" may be known as "my locker code".
    own += [_run(f"{match['of']} {match['what']}") for match in _OF_MINE.finditer(text)]
    own += [
        _run(match.group("run"))
        for match in grammar.which.finditer(text)
        if grammar.first_person.search(text) or grammar.means_me.match(match.group("run"))
    ]
    is_shared = grammar.shared.search(text) is not None
    qualified = frozenset(
        (phrase.without_last().key, phrase.steps[-1].relation)
        for phrase in phrases
        if phrase.steps and phrase.steps[-1].label and not phrase.steps[-1].is_role
    )
    return Asked(tuple(of), tuple(whom), own=tuple(own), is_shared=is_shared, is_ever=is_ever, qualified=qualified)


def _of_several(run: str, language: str) -> str:
    """The relation whose noun, in the plural, some words begin with: "phone numbers have I had"; '' for none.

    >>> _of_several("números de teléfono he tenido", "es")
    'phone'
    """
    words = regex.findall(r"[\p{L}\p{N}'-]+", run)[:_N_TERSE]
    forms = [(word, *(form for term in terms(word, (language,)) for form in term)) for word in words]
    for n_words in range(len(words), 0, -1):
        for spelled in product(*forms[:n_words]):
            if relation := relation_of(" ".join(spelled), language):
                return relation.name
    return ""


def _with_capitals(text: str, known: Collection[str]) -> str:
    """The question with the names that are known written as names; a verb that asks is none, whoever is called so."""
    lowered = [name for name in known if name.islower() and len(name) > 1]
    if not lowered:
        return text
    patterns = [pattern for code in _languages_of(text) for _, pattern in _grammar(code).verbs]
    asking = [match.group().lower().split() for pattern in patterns if (match := pattern.search(text))]
    # Between the first word and the verb somebody may be named.
    verbs = {word for words in asking for word in (words[0], words[-1])}
    for name in sorted(lowered, key=len, reverse=True):
        if name not in verbs:
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
    own: regex.Pattern[str]
    which: regex.Pattern[str]
    means_me: regex.Pattern[str]
    before: regex.Pattern[str]
    formerly: regex.Pattern[str]
    meanwhile: regex.Pattern[str]
    was: regex.Pattern[str]
    was_me: regex.Pattern[str]
    asks_of_now: regex.Pattern[str]
    ever: regex.Pattern[str]
    lasts: regex.Pattern[str]

    def asks_for(self, text: str, noun: regex.Match[str]) -> bool:
        """Whether a noun without anybody's name before it is what a question asks for: "phone number of Ana"."""
        is_terse = len(text.split()) <= _N_TERSE
        return is_terse or bool(_OF.match(text, noun.end()) or _ASKED.search(text[: noun.start()]))


_MARK = regex.compile(r"\w(?=['’])|[^\p{L}\p{M}\p{N}\s-]")
# In so few words a noun is the question.
_N_TERSE = 4
_OF = regex.compile(r"\s(?:of|for|von|de|del|di|du|da|della)\s|\s?d['’]", regex.IGNORECASE)
_OF_MINE = regex.compile(r"\bthe\s(?P<what>\p{L}+)\s(?:of|for|to)\s(?:my|our)\s(?P<of>\p{L}+)", regex.IGNORECASE)
_ASKED = regex.compile(
    r"(?:what's|what is|what was|which is|who is|who's|who was|was ist|wie ist|wie lautet|wer ist|cuál es|cual es"
    r"|quién es|quel est|quelle est|qui est|qual è|chi è)\s(?:(?:the|die|der|das|el|la|le|il|lo)\s|l['’])?$",
    regex.IGNORECASE,
)


@cache
def _grammar(language: str) -> _Grammar:
    mine = "|".join(POSSESSIVES[language].split())
    # Of which one: "my old bank". The label is the same.
    passing = "|".join(f"{NEW[language]} {FORMER[language]}".replace("_", " ").split())
    return _Grammar(
        sign=compiled(rf"(?<![\p{{L}}'])(?:{mine}|{SIGNS[language]})(?!\p{{L}})"),
        starts=compiled(rf"(?<![\p{{L}}'])(?:(?:{mine}|der|die|das|el|la|le|l'|il|lo|the)(?=\W)|(?-i:\p{{Lu}}))"),
        verbs=tuple((relation, compiled(pattern)) for relation, pattern in VERBS[language].items()),
        noun=compiled(rf"(?<!\p{{L}})(?:{noun_pattern(language)})(?!\p{{L}})"),
        mine=compiled(rf"(?<![\p{{L}}'])(?:{mine})(?=\W)"),
        first_person=compiled(FIRST_PERSON[language]),
        shared=compiled(SHARED[language]),
        own=compiled(rf"(?<![\p{{L}}'])(?:{mine})\s(?:(?:{passing})\s)*(?P<run>.+)"),
        which=compiled(rf"(?<![\p{{L}}'])(?:{WHICH[language]})\s(?P<run>.+)"),
        means_me=compiled(rf"\p{{L}}+\s(?:{MEANS_ME.get(language, '(?!)')})(?!\p{{L}})"),
        before=compiled(BEFORE[language]),
        formerly=compiled(FORMERLY[language]),
        meanwhile=compiled(WHILE[language]),
        was=compiled(WAS[language]),
        was_me=compiled(WAS_ME.get(language, "(?!)")),
        asks_of_now=compiled(IS[language]),
        ever=compiled(EVER[language]),
        lasts=compiled(LASTS[language]),
    )
