"""Names in a text, found without a model: what is written like a name, and what is known already.

It reads capitals, quotation marks and the shape of codes and addresses. It does not judge whether two names
mean the same thing; `resolve` does.
"""

from collections.abc import Container, Iterator, Sequence

import regex

from .records import EntityType, Mention
from .stopwords import STOPWORDS
from .text import detect_language, is_known, lemmas, normalise

MAX_MENTIONS = 24
MAX_NAME_CHARS = 80
_MAX_KNOWN_WORDS = 5
# Reading more of a long document yields lists, not subjects.
_MAX_CHARS = 20_000

_URL = regex.compile(r"\b(?:https?://|www\.)[^\s<>\"'）)\]]+")
_EMAIL = regex.compile(r"[\p{L}\p{N}_.+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+")
_HANDLE = regex.compile(r"(?<![\p{L}\p{N}_.])@[\p{L}\p{N}_](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}_])?")
_QUOTED = regex.compile(r"[\"“„«「『《]([^\"”“»」』》\n]{2,60})[\"”“»」』》]")
# AB-1234, v2.3.1, RTX4090, build_index, numpy.linalg, MyClass, src/app.py
_CODE = regex.compile(
    r"(?<![\p{L}\p{N}_])(?:"
    r"(?=[\p{L}\p{N}_./#:-]*\p{N})(?=[\p{L}\p{N}_./#:-]*\p{L})[\p{L}\p{N}_]+(?:[-./#:][\p{L}\p{N}_]+)*"
    r"|\p{L}[\p{L}\p{N}]*(?:_[\p{L}\p{N}]+)+"
    r"|\p{L}+(?:[./]\p{L}[\p{L}\p{N}_]+)+"
    r"|\p{Lu}\p{Ll}+(?:\p{Lu}\p{Ll}+)+"
    r")(?![\p{L}\p{N}_])"
)
_CAPITALISED = r"\p{Lu}[\p{L}\p{M}\p{N}]*(?:[’'\-&]\p{Lu}?[\p{L}\p{M}\p{N}]+)*"
_PARTICLE = r"(?:of|the|de|del|della|da|di|do|dos|von|van|der|den|la|le|al|bin|ibn|y|e|du|af|av|zu)"
_NAME = regex.compile(rf"{_CAPITALISED}(?:\s(?:{_PARTICLE}\s){{0,2}}{_CAPITALISED})*")
_SENTENCE_START = regex.compile(r"(?:^|[.!?…:\n]\s*[\"“„«(\-*•–—]*\s*)$")
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_@][\p{L}\p{M}\p{N}_.@+-]*[\p{L}\p{M}\p{N}_]|[\p{L}\p{M}\p{N}]")
_GERMAN_NOUN_BEFORE = regex.compile(
    r"\b(?:der|die|das|des|de[mn]|beim|vom|zu[mr]|i[mn]s|im|am|\p{Ll}+(?:e|en|er|es|em))\s$"
)
_ORGANISATION = regex.compile(
    r"\b(?:Inc|Ltd|LLC|GmbH|AG|Corp|Company|University|Universität|Universidad|Institute|Bank|College|School)\b"
)
_PERSON_BEFORE = regex.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|Herr|Frau|Señora?|Doña|Don|Madame|Monsieur)\.?\s$")
_NOT_NAMES = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december i ok okay yes no hi hello hey thanks thank please oh wow yeah sure great good
    nice yesterday today tomorrow tonight later recently lately maybe perhaps sorry dear well still
    gestern heute morgen ayer hoy mañana hier demain ieri oggi domani вчера сегодня завтра""".split()
)
_ARTICLES = frozenset("the a an der die das el la los las le les il".split())
_ALL_STOPWORDS = frozenset().union(*STOPWORDS.values())


def name_key(name: str) -> str:
    """What spellings of one name share: case, width, quotation marks, a leading article and `'s` removed.

    >>> name_key("The Golden  Gate"), name_key("Ana’s")
    ('golden gate', 'ana')
    """
    key = normalise(name).strip("\"'“”„«»「」『』《》.,;:!?()[]")
    if key[-2:] in ("'s", "’s"):
        key = key[:-2]
    first, space, rest = key.partition(" ")
    return rest if space and first in _ARTICLES else key


def find_mentions(text: str, known: Container[str] = frozenset(), languages: Sequence[str] = ()) -> tuple[Mention, ...]:
    """The names in a text, in order of first appearance, each key once; at most `MAX_MENTIONS`.

    `known` holds the keys of the user's entities: those are found in any case and, by their lemmas in
    `languages`, in inflected forms too. `type` is a guess from the surroundings, 'other' without a clue.
    """
    text = text[:_MAX_CHARS]
    found: dict[str, tuple[int, Mention]] = {}

    def keep(start: int, name: str, kind: EntityType = "other", key: str = "") -> None:
        key = key or name_key(name)
        if key and len(name) <= MAX_NAME_CHARS and (key not in found or start < found[key][0]):
            found[key] = (start, Mention(name=name, key=key, type=kind))

    rest = text
    for pattern in (_URL, _EMAIL, _HANDLE, _QUOTED):
        for match in pattern.finditer(rest):
            name = match.group(match.re.groups).rstrip(".,;:!?")
            keep(match.start(), name)
        rest = pattern.sub(lambda m: " " * len(m.group()), rest)
    for match in _CODE.finditer(rest):
        if not match.group().isnumeric():
            keep(match.start(), match.group())
    for start, name, kind in _names(rest, known):
        keep(start, name, kind)
    for start, name, key in _known_names(text, known, languages):
        keep(start, name, key=key)
    ordered = sorted(found.values(), key=lambda pair: pair[0])
    return tuple(mention for _, mention in ordered[:MAX_MENTIONS])


def _names(text: str, known: Container[str]) -> Iterator[tuple[int, str, EntityType]]:
    """Runs of capitalised words that neither a sentence's start nor German spelling explains."""
    is_german = detect_language(text) == "de"
    for match in _NAME.finditer(text):
        start, before = match.start(), text[max(0, match.start() - 24) : match.start()]
        words = regex.sub(r"[’']s$", "", match.group()).split()
        is_possessive = match.group()[-2:] in ("’s", "'s")
        opens_sentence = _SENTENCE_START.search(before) is not None
        while words and _is_plain(words[-1]):
            words.pop()
        # The first word of a sentence is capitalised anyway: "When Ana", "The Hague".
        while words and opens_sentence and _is_plain(words[0]):
            start += len(words.pop(0)) + 1
            opens_sentence = False
        name = " ".join(words)
        if len(name) < 2:
            continue
        explained = (opens_sentence and len(words) == 1 and not is_possessive and is_known(name.lower(), "en")) or (
            is_german and _is_german_noun(words, before)
        )
        if not explained or name_key(name) in known:
            yield start, name, _type_of(name, before)


def _is_plain(word: str) -> bool:
    return word.lower() in _NOT_NAMES or word.lower() in _ALL_STOPWORDS


def _is_german_noun(words: list[str], before: str) -> bool:
    """Whether a capitalised German word is read as a common noun: known, and after article or adjective."""
    if not all(is_known(part.lower(), "de") for word in words for part in word.split("-")):
        return False
    return _GERMAN_NOUN_BEFORE.search(before) is not None or _SENTENCE_START.search(before) is not None


def _type_of(name: str, before: str) -> EntityType:
    if _ORGANISATION.search(name):
        return "organisation"
    return "person" if _PERSON_BEFORE.search(before) else "other"


def _known_names(text: str, known: Container[str], languages: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Every run of up to five words whose key, or lemmas as a key, the user's entities have."""
    words = [(match.start(), match.group()) for match in _WORD.finditer(text)]
    for first in range(len(words)):
        for last in range(min(first + _MAX_KNOWN_WORDS, len(words)), first, -1):
            start, end = words[first][0], words[last - 1][0] + len(words[last - 1][1])
            name = text[start:end]
            keys = [name_key(name)]
            if languages and last - first == 1:
                keys.append(lemmas(name, languages))
            if key := next((key for key in keys if key in known), ""):
                yield start, name, key
                break
