"""What only some texts say: the names and words by which they could be told of once they themselves are gone.

Texts are compared without case, width and accents.
"""

from collections.abc import Callable, Iterable

import regex

from .stopwords import STOPWORDS
from .text import fold, normalise

# Shorter words stand everywhere.
_WORD = regex.compile(r"[\p{L}\p{N}\p{M}_]{4,}")
# Scripts that do not part words: there a name is a name wherever it stands.
_UNPARTED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_ESCAPED = regex.compile(r"\\u[0-9a-fA-F]{4}")
# By so many letters a word may be longer where it is inflected.
_ENDING = 2


class Traces:
    """Names and words of texts that are to go, less those that a text that stays has as well."""

    def __init__(self, texts: Iterable[str], names: Iterable[str]) -> None:
        folded = [_folded(text) for text in texts]
        words = {word for text in folded for word in _WORD.findall(text)} - _STOP_WORDS
        self._words = {word: _standing(word) for word in words}
        forms = {name: _folded(name) for name in names}
        self._names = {
            name: (form, _standing(form))
            for name, form in forms.items()
            if form and any(form in text for text in folded)
        }

    def spare(self, text: str) -> None:
        """Take out what a text has that stays."""
        if not self._words and not self._names:
            return
        folded = _folded(text)
        self._words = {word: stands for word, stands in self._words.items() if word not in folded or not stands(folded)}
        self._names = {
            name: (form, stands)
            for name, (form, stands) in self._names.items()
            if form not in folded or not stands(folded)
        }

    @property
    def names(self) -> frozenset[str]:
        """The names that are left, as they were given."""
        return frozenset(self._names)

    def are_in(self, text: str) -> bool:
        """Whether a text has one of the words that are left, or a name; also where it is written as JSON.

        >>> traces = Traces(["Ana hid the key at Quillby"], [])
        >>> traces.spare("Where is the key?")
        >>> traces.are_in("job 7: could not read 'quillby'"), traces.are_in("the key")
        (True, False)
        """
        plain = _ESCAPED.sub(lambda found: chr(int(found.group()[2:], 16)), text)
        folded = _folded(plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
        return any(word in folded for word in self._words) or any(form in folded for form, _ in self._names.values())


def _standing(form: str) -> Callable[[str], object]:
    """Whether a form stands in a folded text as a word of its own, with an ending perhaps."""
    if _UNPARTED.search(form):
        return lambda text: form in text
    return regex.compile(rf"(?<!\w){regex.escape(form)}\w{{0,{_ENDING}}}(?!\w)").search


def _folded(text: str) -> str:
    return fold(normalise(text))


_STOP_WORDS = frozenset(_folded(word) for words in STOPWORDS.values() for word in words)
