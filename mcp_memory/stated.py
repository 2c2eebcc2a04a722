"""What statements come to: facts in the words of a text, before anybody is known by them."""

from dataclasses import dataclass

from .phrases import Phrase
from .statement_grammar import How


@dataclass(frozen=True, slots=True)
class Stated:
    """One fact of a statement: whose (`subject` ends in nobody's attribute), which, and what.

    `relations` holds one name of the vocabulary, or several of which the log tells which is meant ("left Siemens").
    `object` is '' where an end is told of whatever there was.
    """

    subject: Phrase
    relations: tuple[str, ...]
    label: str
    object: str
    how: How
    # The words that say so, with those that may tell since when.
    words: str
    # Where in the sentence that stands which says so.
    read: tuple[tuple[int, int], ...] = ()

    @property
    def holds(self) -> bool:
        """Whether it is so from now on, rather than no longer."""
        return self.how != "ends"


@dataclass(frozen=True, slots=True)
class Reading:
    """The facts of a text, and whether it says nothing else: then it is over when they are."""

    stated: tuple[Stated, ...] = ()
    is_all: bool = False
