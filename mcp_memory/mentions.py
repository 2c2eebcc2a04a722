"""Names in a text, found without a model: what is written like a name, and what is known already.

It reads capitals, quotation marks and the shape of codes and addresses. It does not judge whether two names
mean the same thing; `resolve` does.
"""

from collections.abc import Container, Iterator, Sequence

import regex

from .dictionaries import is_known, lemma
from .records import EntityType, Mention
from .stopwords import STOPWORDS
from .text import SPACED, UNSPACED, detect_language, fold, normalise, terms

MAX_MENTIONS = 24
MAX_NAME_CHARS = 80
_MAX_KNOWN_WORDS = 5
_MAX_KNOWN_CHARS = 8
# An inflected name keeps at least this many of its first letters.
_MIN_STEM = 3
# Reading more of a long document yields lists, not subjects.
_MAX_CHARS = 20_000

# All patterns are possessive or start at a word's edge: none may take the square of a text's length.
_URL = regex.compile(r"(?i)\b(?:https?://|www\.)[^\s<>\"'）)\]]++")
_EMAIL = regex.compile(r"(?<![\p{L}\p{N}_.+-])[\p{L}\p{N}_.+-]++@[\p{L}\p{N}-]++(?:\.[\p{L}\p{N}-]++)+")
_HANDLE = regex.compile(r"(?<![\p{L}\p{N}_.])@[\p{L}\p{N}_]++(?:[.-][\p{L}\p{N}_]++)*+")
# After a number the mark stands for inches: it opens nothing.
_QUOTED = regex.compile(r"(?:(?<!\p{N})\"|[“„«「『《])([^\"”“»」』》\n]{2,60}+)[\"”“»」』》]")
_TOKEN = regex.compile(rf"(?V1){SPACED}++(?:[-./:#]{SPACED}++)*+")
_MEASURE = regex.compile(
    r"(?i)\p{N}++(?:[.,:]\p{N}++)*+(?:st|nd|rd|th|am|pm|kms?|kgs?|cm|mm|mg|ml|gb|mb|kb|kwh|h|hrs?|min|ms|s|m|g|l|k|x)?"
)
_CODE_SHAPES = (
    regex.compile(r"(?=.*\p{N})(?=.*\p{L}).*"),  # AB-1234, v2.3.1, RTX4090, 3f9ac1
    regex.compile(r"_*\p{L}[\p{L}\p{N}]*(?:_[\p{L}\p{N}]+)+"),  # build_index
    regex.compile(r"\p{L}+(?:/[\p{L}\p{N}_-]+)*\.[\p{L}\p{N}_]+(?:\.[\p{L}\p{N}_]+)*"),  # src/app.py, numpy.linalg
    regex.compile(r"\p{Lu}\p{Ll}+(?:\p{Lu}\p{Ll}+)+"),  # MyClass
)
_CAPITALISED = r"\p{Lu}[\p{L}\p{M}\p{N}]*+(?:[’'\-&]\p{Lu}?[\p{L}\p{M}\p{N}]++)*+"
_PARTICLE = r"(?:of|the|de|del|della|da|di|do|dos|von|van|der|den|la|le|al|bin|ibn|du|af|av)"
_NAME = regex.compile(rf"(?<![\p{{L}}\p{{N}}_]){_CAPITALISED}(?:\s(?:{_PARTICLE}\s){{0,2}}+{_CAPITALISED})*+")
_SENTENCE_START = regex.compile(r"(?:^|[.!?…:\n]\s*[\"“„«(\-*•–—]*\s*)$")
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_@]++(?:[.@+'’-][\p{L}\p{M}\p{N}_]++)*+")
_ORGANISATION = regex.compile(
    r"\b(?:Inc|Ltd|LLC|GmbH|AG|Corp|Company|University|Universität|Universidad|Institute|Bank|College|School)\b"
)
# Languages whose names are declined: a name met first in another case is to be found in the nominative.
_DECLINING = ("ru", "uk", "pl", "cs", "el", "tr")
_TITLES = frozenset("mr mrs ms miss dr prof sir herr frau señor señora sr sra doña don madame monsieur mme".split())
_TITLE_BEFORE = regex.compile(rf"(?i)\b(?:{'|'.join(sorted(_TITLES))})\.?\s$")
# "Maria likes", "Google bought": what a name at a sentence's start does. Not "Dinner was".
_DOES = regex.compile(
    r"\s(?!is\b|was\b|has\b|this\b|does\b|always\b)(?:\p{Ll}{2,}(?:s|ed)|bought|came|made|met|said|told|took|went|wrote)\b"
)
# Where verbs need no "I", a statement begins with one: how their dictionary forms end.
_INFINITIVES = {"es": "[aei]r", "it": "[aei]r(?:e|si)", "fr": "(?:er|ir|re|oir)", "de": "e?n"}
# These follow a verb in more languages than English: "Abito a Roma", "Wohne in Berlin".
_SHARED_WORDS = ("a", "in")
_NEXT_WORD = regex.compile(r"\s([\p{L}\p{M}]++)")
# "J'ai", "I've": what an apostrophe joins to a small word.
_CONTRACTION = regex.compile(r"(\p{L}{1,5})['’]\p{Ll}++")
_GERMAN_NOUN_BEFORE = regex.compile(
    r"\b(?:der|die|das|des|de[mn]|beim|vom|zu[mr]|i[mn]s|im|am"
    r"|(?:(?:dies|jed|welch)e|(?:ein|kein|mein|dein|sein|ihr|unser|euer)e?)[mnrs]?|ein|kein|\p{Ll}{3,}(?:en|er|es|em))\s$"
)
_NOT_NAMES = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december i ok okay yes no hi hello hey thanks thank please oh wow yeah sure great good
    nice yesterday today tomorrow tonight later recently lately maybe perhaps sorry dear well still everyone everybody
    everything someone somebody something nobody nothing anyone anything
    gestern heute morgen ayer hoy mañana hier demain ieri oggi domani вчера сегодня завтра""".split()
)
_ARTICLES = frozenset("the a an der die das el la los las le les il".split())


def name_key(name: str) -> str:
    """What spellings of one name share: case, width, accents, quotation marks, a leading article and `'s` removed.

    >>> name_key("The Golden  Gate"), name_key("Ana’s"), name_key("Lucía")
    ('golden gate', 'ana', 'lucia')
    """
    key = " ".join(fold(normalise(name)).strip("\"'“”„«»「」『』《》.,;:!?()[] ").split())
    if key[-2:] in ("'s", "’s"):
        key = key[:-2]
    first, space, rest = key.partition(" ")
    return rest if space and first in _ARTICLES else key


def find_mentions(text: str, known: Container[str] = frozenset(), languages: Sequence[str] = ()) -> tuple[Mention, ...]:
    """The names in a text, in order of first appearance, each key once; at most `MAX_MENTIONS`.

    `known` holds the keys of the user's entities: those are found in any case, inside scripts without spaces,
    and by their lemmas in `languages` in inflected forms. `type` is a guess from the surroundings.
    """
    text = text[:_MAX_CHARS]
    found: dict[str, tuple[int, Mention]] = {}

    declined = [code for code in _DECLINING if code in languages and code == detect_language(text)]

    def keep(start: int, name: str, kind: EntityType = "other", key: str = "") -> None:
        key = key or name_key(name)
        if key and len(name) <= MAX_NAME_CHARS and (key not in found or start < found[key][0]):
            other_keys = tuple(inflections(name, key, declined)) if declined and name.isalpha() else ()
            found[key] = (start, Mention(name=name, key=key, type=kind, other_keys=other_keys))

    rest = text
    for pattern in (_URL, _EMAIL, _HANDLE, _QUOTED):
        for match in pattern.finditer(rest):
            keep(match.start(), match.group(match.re.groups).rstrip(".,;:!?"))
        rest = pattern.sub(lambda m: " " * len(m.group()), rest)
    for match in _TOKEN.finditer(rest):
        if len(match.group()) <= MAX_NAME_CHARS and is_code(match.group()):
            keep(match.start(), match.group())
    known_words = list(_known_names(text, known, languages))
    inflected = {start for start, name, key in known_words if key != name_key(name)}
    for start, name, kind in _names(rest, known):
        if start not in inflected or " " in name:
            keep(start, name, kind)
    for start, name, key in known_words:
        keep(start, name, key=key)
    ordered = sorted(found.values(), key=lambda pair: pair[0])
    return tuple(mention for _, mention in ordered[:MAX_MENTIONS])


def is_code(token: str) -> bool:
    """Whether a token has the shape of an identifier; measures and ordinals ("10km", "20th") have not."""
    return not _MEASURE.fullmatch(token) and any(shape.fullmatch(token) for shape in _CODE_SHAPES)


def _names(text: str, known: Container[str]) -> Iterator[tuple[int, str, EntityType]]:
    """Runs of capitalised words that neither a sentence's start nor German spelling explains."""
    language = detect_language(text)
    grammar = STOPWORDS["en"] | STOPWORDS.get(language, frozenset()) | _NOT_NAMES
    for match in _NAME.finditer(text):
        start, before = match.start(), text[max(0, match.start() - 24) : match.start()]
        has_title = _TITLE_BEFORE.search(before) is not None
        opens_sentence = _opens(text, match) and not has_title
        is_possessive = match.group()[-2:] in ("’s", "'s")
        words = regex.sub(r"[’']s$", "", match.group()).split()
        while words and words[0].lower() in _TITLES:
            start += len(words.pop(0)) + 1
            has_title, opens_sentence = True, False
        while words and _is_grammar(words[-1], grammar):
            words.pop()
        # The first word of a sentence is capitalised anyway: "When Ana", "The Hague".
        while words and opens_sentence and _is_grammar(words[0], grammar):
            start += len(words.pop(0)) + 1
            opens_sentence = False
        name = " ".join(words)
        if len(name) < 2:
            continue
        stands_alone = len(words) == 1 and opens_sentence and not is_possessive
        acts = stands_alone and _acts(text, match.end(), language)
        explained = (
            (stands_alone and not acts and is_known(name.lower(), "en"))
            or (stands_alone and not acts and _is_first_word(text, match, language) and not _stands_inside(text, name))
            or (language == "de" and not has_title and _is_german_noun(words, before))
        )
        if not explained or name_key(name) in known:
            yield start, name, _type_of(name, has_title)
            continue
        # "Garten von Anna": a noun, and then a name.
        owner = name.rpartition(" von ")[2]
        if owner != name and not _is_german_noun([owner], "von "):
            yield match.end() - len(owner), owner, _type_of(owner, has_title)


def _opens(text: str, match: regex.Match[str]) -> bool:
    return _SENTENCE_START.search(text[max(0, match.start() - 24) : match.start()]) is not None


def _stands_inside(text: str, word: str) -> bool:
    """Whether a word is written with a capital also where no sentence begins."""
    return any(not _opens(text, match) for match in regex.finditer(rf"\b{regex.escape(word)}\b", text))


def _is_grammar(word: str, grammar: Container[str]) -> bool:
    joined = _CONTRACTION.fullmatch(word)
    return word.lower() in grammar or (joined is not None and joined.group(1).lower() in grammar)


def _acts(text: str, end: int, language: str) -> bool:
    """Whether a verb of somebody else follows: "Maria likes", "Inés lavora"."""
    if language not in _INFINITIVES:
        return _DOES.match(text, end) is not None
    follows = _NEXT_WORD.match(text, end)
    following = follows.group(1).lower() if follows else ""
    return following not in STOPWORDS[language] and _is_verb(following, language)


def _is_first_word(text: str, match: regex.Match[str], language: str) -> bool:
    """Whether what opens a sentence is a word of another language than English: "Abito a Roma".

    A text of few words shows no language; then only a verb is taken for one, before a small word of its language.
    """
    word = match.group().lower()
    if language in _INFINITIVES:
        return _is_verb(word, language) or (language != "de" and _is_common(word, language))
    follows = _NEXT_WORD.match(text, match.end())
    following = follows.group(1).lower() if follows else ""
    if language or (following in STOPWORDS["en"] and following not in _SHARED_WORDS):
        return False
    return any(following in STOPWORDS[code] and _is_verb(word, code) for code in _INFINITIVES)


def _is_common(word: str, language: str) -> bool:
    return is_known(word, language) and lemma(word, language).islower()


def _is_verb(word: str, language: str) -> bool:
    """Whether a word is a form of a verb, by how its lemma ends."""
    base = lemma(word, language)
    return base != word and base.islower() and regex.search(rf"{_INFINITIVES[language]}$", base) is not None


def _is_german_noun(words: list[str], before: str) -> bool:
    """Whether a capitalised German word is read as a common noun: known, and after article or adjective."""
    if not all(is_known(part.lower(), "de") for word in words for part in word.split("-")):
        return False
    return _GERMAN_NOUN_BEFORE.search(before) is not None or _SENTENCE_START.search(before) is not None


def _type_of(name: str, has_title: bool) -> EntityType:
    if _ORGANISATION.search(name):
        return "organisation"
    return "person" if has_title else "other"


def _known_names(text: str, known: Container[str], languages: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Every run of up to five words whose key the user's entities have, or whose lemma as a key."""
    words = [(match.start(), match.group()) for match in _WORD.finditer(text)]
    for first in range(len(words)):
        for last in range(min(first + _MAX_KNOWN_WORDS, len(words)), first, -1):
            start, end = words[first][0], words[last - 1][0] + len(words[last - 1][1])
            name = text[start:end]
            keys = [name_key(name)]
            if languages and last - first == 1 and name[:1].isalpha():
                keys += inflections(name, keys[0], languages)
            if key := next((key for key in keys if key in known), ""):
                yield start, name, key
                break
    for run in UNSPACED.finditer(text):
        for start in range(run.start(), run.end()):
            for end in range(min(run.end(), start + _MAX_KNOWN_CHARS), start + 1, -1):
                if text[start:end] in known:
                    yield start, text[start:end], text[start:end]
                    break


def inflections(name: str, key: str, languages: Sequence[str]) -> list[str]:
    """Other keys of one word by its lemmas, as far as they keep its first letters."""
    return [
        form
        for term in terms(name, languages)[:1]
        for form in term
        if form != key and form[:_MIN_STEM] == key[:_MIN_STEM] and len(form) >= _MIN_STEM
    ]
