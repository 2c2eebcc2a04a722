"""The relative dates in a text: where they stand, and which words are none because of what stands around them."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import regex

from .date_rules import DIGITS, Rule, dated_words, place_of, rules_by_first_word
from .date_words import CAPITALISED_ONLY, LANGUAGES
from .patterns import compiled
from .text import detect_language

_OPAQUE = regex.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*+`|\b(?:https?|ftp|file)://\S++|\bwww\.\S++|(?<![\w.+-])[\w.+-]{1,64}+@[\w.-]++",
    regex.DOTALL,
)
_TOKEN = regex.compile(r"(?V1)\p{Nd}++|[\p{Han}\p{Hiragana}\p{Katakana}々]|[\w--\p{Nd}--\p{Han}--\p{Hiragana}]++")
_SENTENCE_END = regex.compile(r"(?<!\d)[.!?…]+\s|[。！？\n]")
_KANA = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
_OPENS_SENTENCE = regex.compile(r"(?:^|[.!?…:\n]\W*|[•*–>\"“«»¿¡(—-]\s*)$")
_BLANK = "\x00"
_TOUCHING = frozenset("-/@#$_.=\\" + _BLANK)
_TOUCHED = regex.compile(rf"[-–/@_=\\{_BLANK}]|[.]\w")
_LETTERS = regex.compile(r"\p{L}[\p{L}\p{M}]*+")
_NAME_AFTER = regex.compile(r"\s+(?!I\b)\p{Lu}|['’]s\b")
_COUNTED_ON = regex.compile(
    r"(?:\b(?:or|to|hundred|thousand|and|half|point|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|o|y|e|ou|ed"
    r"|treinta|cuarenta|cincuenta|vinte|trinta|или|и|двадцать|тридцать|сорок|пятьдесят|сто)\s+|[\w.,:/$€£#+–—-])$",
    regex.IGNORECASE,
)
_LONG = frozenset({"week", "weekend", "month", "year", "weeks", "months", "years", "last", "next", "agree", "weekday"})
# What stands further away than this says nothing about a date, and costs no time.
_MAX_SENTENCE = 300


@dataclass(frozen=True)
class DatePhrase:
    """A relative date at text[start:end], the rule that matches it, and its words in the rule's groups, lower case."""

    start: int
    end: int
    rule: Rule
    groups: dict[str, str]


class Page:
    """A text without code and addresses, its sentences, and the relative dates in it.

    `text` is as long as what was given; `phrases` are in order; `long_sentences` holds the span of each sentence
    that speaks of a week or more.
    """

    def __init__(self, text: str) -> None:
        self.text = _OPAQUE.sub(lambda match: _BLANK * len(match.group()), text)
        self._ends = [0, *(match.end() for match in _SENTENCE_END.finditer(self.text)), len(self.text)]
        self._languages: dict[tuple[int, int], str] = {}
        matched = list(self._find())
        # "The last week of May" stands for no week, and still shows that a weekday near it may not be the coming one.
        self.long_sentences = {self.sentence(f.start) for f in matched if f.rule.kind in _LONG or _is_long_count(f)}
        self.phrases = [phrase for phrase in matched if self._stands_free(phrase)]

    def sentence(self, place: int) -> tuple[int, int]:
        """The span of the sentence around a place, of a long one the part of `_MAX_SENTENCE` characters."""
        at = bisect_right(self._ends, place) - 1
        start, end = self._ends[at], self._ends[min(at + 1, len(self._ends) - 1)]
        start += (place - start) // _MAX_SENTENCE * _MAX_SENTENCE
        return start, min(end, start + _MAX_SENTENCE)

    def _find(self) -> Iterator[DatePhrase]:
        index, after_number = rules_by_first_word()
        tokens = [(m.start(), m.group().lower()) for m in _TOKEN.finditer(self.text)]
        last = 0
        for place, (start, word) in enumerate(tokens):
            key = DIGITS if word[0].isdecimal() else word
            if start < last or key not in index:
                continue
            if key == DIGITS and (place + 1 == len(tokens) or tokens[place + 1][1] not in after_number):
                continue
            matches = [found for rule in index[key] if (found := self._match(rule, start))]
            # The longest reading is the whole expression; a shorter one would be about a part of it.
            best = max(matches, key=lambda found: found.end, default=None)
            if best:
                last = best.end
                yield best

    def _match(self, rule: Rule, start: int) -> DatePhrase | None:
        match = rule.pattern.match(self.text, start)
        if not match or (rule.code in ("ja", "zh") and (self._language(start) == "ja") != (rule.code == "ja")):
            return None
        groups = {name: word.lower() for name, word in match.groupdict().items() if word}
        return DatePhrase(start, match.end(), rule, groups)

    def _language(self, place: int) -> str:
        span = self.sentence(place)
        if span not in self._languages:
            sentence = self.text[slice(*span)]
            self._languages[span] = "ja" if _KANA.search(sentence) else detect_language(sentence)
        return self._languages[span]

    def _stands_free(self, found: DatePhrase) -> bool:
        """Whether nothing around the words gives them another meaning."""
        words = LANGUAGES[found.rule.code]
        before, text = self.text[max(0, found.start - 24) : found.start], self.text[found.start : found.end]
        if compiled(words.not_before).search(before) or compiled(words.not_after).match(self.text, found.end):
            return False
        if words.spaced and before[-1:] in _TOUCHING:
            return False
        if _TOUCHED.match(self.text, found.end):
            return False
        if found.rule.template.startswith("{n}") and words.spaced and _COUNTED_ON.search(before):
            return False
        if found.rule.spoken and self._language(found.start) not in found.rule.spoken:
            return False
        return not self._is_title(found, before, text)

    def _is_title(self, found: DatePhrase, before: str, text: str) -> bool:
        """Whether capitals make a name of the words: "Last Week Tonight", "April Jones"."""
        code, kind = found.rule.code, found.rule.kind
        if code in ("zh", "ja", "ar"):
            return False
        dated = dated_words(code)
        spelt = _LETTERS.findall(text)
        capitals = [word[0].isupper() and word.lower() not in dated for word in spelt]
        if capitals and capitals[0] and not _OPENS_SENTENCE.search(before):
            return True
        if code == "de":
            return False
        if any(capitals[1:]) or (kind in ("date", "in", "since") and _NAME_AFTER.match(self.text, found.end)):
            return True
        # "may", "march": in lower case these are other words.
        return code == "en" and any(word in CAPITALISED_ONLY for word in spelt)


def _is_long_count(found: DatePhrase) -> bool:
    return found.rule.kind == "n" and place_of(found.groups["unit"], LANGUAGES[found.rule.code].units) > 0
