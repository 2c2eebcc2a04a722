"""What the sentence around a relative date says about it: its tense, and whether it speaks of another time."""

import regex

from .date_phrases import DatePhrase, Page
from .date_words import LANGUAGES
from .patterns import compiled

_YEAR = regex.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_BARE = frozenset({"bare", "date", "in", "since"})


class DateContext:
    """The clauses of a text and the signs of tense in them."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._text = page.text
        self._tenses: dict[tuple[str, int, int], tuple[bool, bool, bool]] = {}

    def has_other_frame(self, phrase: DatePhrase) -> bool:
        """Whether the sentence names a year, or a week or more, in which the date may lie."""
        start, end = self._page.sentence(phrase.start)
        return (start, end) in self._page.long_sentences or _YEAR.search(self._text, start, end) is not None

    def tense(self, phrase: DatePhrase) -> str:
        """'past', 'coming', or '' where the sentence leaves it open."""
        if phrase.rule.kind in _BARE and self.has_other_frame(phrase):
            return ""
        words, sentence = LANGUAGES[phrase.rule.code], self._page.sentence(phrase.start)
        past, future, unclear = self._signs(phrase.rule.code, *self.clause(phrase))
        if unclear or (past and future):
            return ""
        if past or future:
            return "past" if past else "coming"
        beside = self._text[sentence[0] : phrase.start] + self._text[phrase.end : sentence[1]]
        if phrase.rule.kind in _BARE and not regex.search(r"\w", beside):
            # "On Sunday": an answer, and what was asked is not known.
            return ""
        wide_past, wide_future, wide_unclear = self._signs(phrase.rule.code, *sentence)
        if not wide_past and not wide_unclear:
            return "coming" if wide_future or not words.needs_future else ""
        start, end = self.clause(phrase)
        alone = not regex.search(r"\w", self._text[start : phrase.start] + self._text[phrase.end : end])
        return "past" if alone and not wide_future and not wide_unclear else ""

    def is_future(self, phrase: DatePhrase) -> bool:
        """Whether the clause has a sign of the future."""
        return self._signs(phrase.rule.code, *self.clause(phrase))[1]

    def clause(self, phrase: DatePhrase) -> tuple[int, int]:
        """The span of the part of the sentence in which a date stands."""
        start, end = self._page.sentence(phrase.start)
        joints = compiled(rf"[,;:—–()，；、،؛]|{LANGUAGES[phrase.rule.code].joins}")
        for match in joints.finditer(self._text, start, end):
            if match.end() <= phrase.start:
                start = match.end()
            elif match.start() >= phrase.end:
                return start, match.start()
        return start, max(end, phrase.end)

    def _signs(self, code: str, start: int, end: int) -> tuple[bool, bool, bool]:
        key = (code, start, end)
        if key not in self._tenses:
            words, clause = LANGUAGES[code], self._text[start:end]
            past, future, unclear = (
                compiled(signs).search(clause) is not None for signs in (words.past, words.future, words.unclear)
            )
            self._tenses[key] = (past, future, unclear)
        return self._tenses[key]
