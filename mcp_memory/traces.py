"""What only some texts say: the names and words by which they could be told of once they themselves are gone.

Texts are compared without case, width and accents.
"""

from collections.abc import Iterable

import regex

from .text import fold, normalise

# Shorter words stand everywhere.
_WORD = regex.compile(r"[\p{L}\p{N}\p{M}_]{4,}")


class Traces:
    """Names and words of texts that are to go, less those that a text that stays has as well."""

    def __init__(self, texts: Iterable[str], names: Iterable[str]) -> None:
        folded = [_folded(text) for text in texts]
        self._words = {word for text in folded for word in _WORD.findall(text)}
        forms = {name: _folded(name) for name in names}
        self._names = {name: form for name, form in forms.items() if form and any(form in text for text in folded)}

    def spare(self, text: str) -> None:
        """Take out what a text has that stays."""
        if not self._words and not self._names:
            return
        folded = _folded(text)
        self._words = {word for word in self._words if word not in folded}
        self._names = {name: form for name, form in self._names.items() if form not in folded}

    @property
    def names(self) -> frozenset[str]:
        """The names that are left, as they were given."""
        return frozenset(self._names)

    def are_in(self, text: str) -> bool:
        """Whether a text has one of the words that are left, or a name.

        >>> traces = Traces(["Ana hid the key at Quillby"], [])
        >>> traces.spare("Where is the key?")
        >>> traces.are_in("job 7: could not read 'quillby'"), traces.are_in("the key")
        (True, False)
        """
        folded = _folded(text)
        return any(word in folded for word in self._words) or any(form in folded for form in self._names.values())


def _folded(text: str) -> str:
    return fold(normalise(text))
