"""What was stored of a conversation against what it says: pure counting, no model and no files.

A memory is right when it holds the key words of an expected fact, or of one that is acceptable; a fact is found when
one right memory holds it. Key words are compared folded: lower case, compatibility forms, no accents.
"""

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp_memory.text import detect_language
from mcp_memory.written_dates import dates_in

Stored = Mapping[str, Any]  # text, about


@dataclass(slots=True)
class Tally:
    """Counts over conversations; `Tally` objects add up."""

    counts: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.counts + other.counts)

    def share(self, part: str, whole: str) -> float:
        """One count as a share of another, 1 where there was nothing to count."""
        return self.counts[part] / self.counts[whole] if self.counts[whole] else 1.0

    @property
    def precision(self) -> float:
        """Share of stored memories that are right."""
        return self.share("right", "stored")

    @property
    def recall(self) -> float:
        """Share of required facts that were found."""
        return self.share("found", "required")


def fold(text: str) -> str:
    """What two spellings share."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(c))


def score(conversation: Mapping[str, Any], stored: Sequence[Stored]) -> tuple[Tally, list[str]]:
    """The counts for one conversation, and in words what was missed, wrong or at fault."""
    counts: Counter[str] = Counter(conversations=1)
    notes: list[str] = []
    facts = conversation["facts"]
    verdicts = {id(memory): _verdict(memory, facts, conversation["fine"]) for memory in stored}
    for memory in stored:
        counts["stored"] += 1
        verdict = verdicts[id(memory)]
        counts["right"] += verdict == ""
        if verdict:
            counts[verdict] += 1
            notes.append(f"{verdict}: {memory['text']}")
        language = detect_language(memory["text"])
        if language and language != conversation["language"]:
            counts["other language"] += 1
        for secret in conversation["forbidden"]:
            if secret.lower() in memory["text"].lower():
                counts["forbidden stored"] += 1
                notes.append(f"forbidden {secret!r}: {memory['text']}")
    for fact in facts:
        if fact["superseded"]:
            continue
        counts["required"] += 1
        found = any(not _fault(memory, fact) for memory in stored)
        counts["found"] += found
        if not found:
            notes.append(f"missed: {fact['text']}")
    if not facts:
        counts["empty"] += 1
        counts["empty kept empty"] += not stored
    return Tally(counts), notes


def _verdict(memory: Stored, facts: Sequence[Mapping[str, Any]], fine: Sequence[Any]) -> str:
    """'' where the memory is right, else what is wrong with it."""
    faults = [_fault(memory, fact) for fact in facts]
    if "" in faults:
        return ""
    for fault in ("negation flip", "wrong date", "wrong subject"):
        if fault in faults:
            return fault
    return "" if any(_holds(memory["text"], keys) for keys in fine) else "not asked for"


def _fault(memory: Stored, fact: Mapping[str, Any]) -> str:
    """'' where a memory says a fact, 'other' where it is about something else, or how it falsifies it."""
    text = memory["text"]
    if not _holds(text, fact["keys"]):
        return "other"
    if memory["about"] != fact["about"]:
        return "wrong subject"
    if fact["negated"] and not _has_any(text, fact.get("negation_words", [])):
        return "negation flip"
    if fact["dates"] and not _has_dates(text, fact["dates"]) and dates_in(text):
        return "wrong date"
    return "other" if fact["dates"] and not _has_dates(text, fact["dates"]) and not _has_day(text, fact) else ""


def _holds(text: str, keys: Sequence[Sequence[str]]) -> bool:
    folded = fold(text)
    return all(any(fold(key) in folded for key in group) for group in keys)


def _has_any(text: str, words: Sequence[str]) -> bool:
    folded = f" {fold(text)} "
    return any(fold(word) in folded for word in words)


def _has_dates(text: str, dates: Sequence[str]) -> bool:
    written = dates_in(text)
    return all(date in written or date in text for date in dates)


def _has_day(text: str, fact: Mapping[str, Any]) -> bool:
    """Whether the day of the month stands in the text: where the message named it, no year is needed."""
    return all(str(int(date[-2:])) in text for date in fact["dates"])
