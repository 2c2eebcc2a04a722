"""simplemma's dictionaries: which words a language has, their lemmas, and the parts of its compounds.

A dictionary is read from disk when the first word of its language is looked up, which takes up to a second; the latest
eight stay in memory.
"""

import threading
from functools import lru_cache

# Languages in Latin script that have a dictionary, then all that have one.
LATIN = ("en", "de", "es", "fr", "it", "pt", "nl", "sv", "da", "nb", "pl", "cs", "tr", "id")
LANGUAGES = frozenset(LATIN) | {"ru", "uk", "ar", "fa", "el", "he", "hy", "ka", "hi"}
# Languages that write compounds as one word.
COMPOUNDING = ("de", "nl", "sv", "da", "nb")
_LINKING = ("", "s", "es", "n", "en", "e", "er")
_MIN_HEAD = 4
_MIN_TAIL = 3
# No dictionary has longer words, and looking for their parts takes time that grows with the square.
_MAX_WORD = 48
_reading = {language: threading.Lock() for language in LANGUAGES}


def lemma(word: str, language: str) -> str:
    """The lemma of a word in a language of `LANGUAGES`; the word itself where none is known."""
    if not 0 < len(word) <= _MAX_WORD:
        return word
    import simplemma

    _read(language)
    return str(simplemma.lemmatize(word, lang=language))


def is_known(word: str, language: str) -> bool:
    """Whether a word, in any case, stands in the dictionary of a language (False where there is none)."""
    if language not in LANGUAGES or not 0 < len(word) <= _MAX_WORD:
        return False
    import simplemma

    _read(language)
    return bool(simplemma.is_known(word, lang=language))


@lru_cache(maxsize=65_536)
def split_compound(word: str, language: str) -> tuple[str, ...]:
    """The parts of a compound, as lemmas, or () where it is none; the split with the longest last word.

    Each part is in the language's dictionary; linking elements are dropped.

    >>> split_compound("krankenversicherung", "de")
    ('krank', 'versicherung')
    """
    if not _MIN_HEAD + _MIN_TAIL <= len(word) <= _MAX_WORD or not word.isalpha():
        return ()
    cuts = [(word[:cut], word[cut:]) for cut in range(_MIN_HEAD, len(word) - _MIN_TAIL + 1)]
    for head, tail in cuts:
        if _is_last_part(tail, language) and (first := _head(head, language)):
            return (first, lemma(tail, language).casefold())
    for head, tail in cuts:
        if (first := _head(head, language)) and (rest := split_compound(tail, language)):
            return (first, *rest)
    return ()


def _is_last_part(tail: str, language: str) -> bool:
    """Whether a word may end a compound: known, and in German, where it is short, a noun."""
    if not is_known(tail, language):
        return False
    return len(tail) > _MIN_TAIL or language != "de" or lemma(tail.capitalize(), "de")[0].isupper()


def _head(part: str, language: str) -> str:
    """The lemma of a compound's first part, with or without a linking element, or ''."""
    for link in _LINKING:
        bare = part.removesuffix(link) if link else part
        if len(bare) >= _MIN_HEAD - 1 and (not link or bare != part) and is_known(bare, language):
            return lemma(bare, language).casefold()
    return ""


def _read(language: str) -> None:
    """Have a dictionary in memory; whoever needs it while it is being read waits for that one reading."""
    from simplemma.strategies import DEFAULT_DICTIONARY_FACTORY

    with _reading[language]:
        DEFAULT_DICTIONARY_FACTORY.get_dictionary(language)
