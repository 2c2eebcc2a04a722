"""What a language model is shown around a message: who the user is, what is known, what was said before, the day.

Each part keeps to its share of the request, and secrets leave it first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from . import budget
from .prompts import sayer
from .records import Episode, Message
from .redact import redact

# Shares of one request.
EARLIER_TOKENS = 600
KNOWN_TOKENS = 300
PROFILE_TOKENS = 200
# More than a token holds in any language; beyond that a text need not be looked at.
_CHARS_PER_TOKEN = 8


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the model may know besides the message: who the user is, what is known, what was said before."""

    profile: str = ""
    known: tuple[str, ...] = ()
    earlier: tuple[Message, ...] = ()
    now: datetime | None = None


def known_blocks(around: Surroundings) -> list[str]:
    """Who the user is and what is known, each within its share."""
    blocks: list[str] = []
    if around.profile:
        blocks.append(f"<user>\n{_opening(around.profile, PROFILE_TOKENS)}\n</user>")
    # The most relevant come first, so the last ones are what is left out.
    known = budget.first_that_fit([redact(text) for text in around.known], KNOWN_TOKENS)
    if known:
        lines = "\n".join(f"{number}. {text}" for number, text in enumerate(known, 1))
        blocks.append(f"<known>\n{lines}\n</known>")
    return blocks


def earlier_blocks(turns: Sequence[str]) -> list[str]:
    """The newest turns that fit, oldest first, as one block; none where nothing was said."""
    kept = budget.newest_that_fit(turns, EARLIER_TOKENS)
    return ["<earlier>\n{}\n</earlier>".format("\n".join(kept))] if kept else []


def turn_line(message: Message) -> str:
    """What somebody said, with who said it."""
    # Of a long turn the beginning tells what it is about.
    return f"{sayer(message)}: {_opening(message.content, EARLIER_TOKENS // 3)}"


def _opening(text: str, max_tokens: int) -> str:
    # Redacted as a whole: half a secret is not recognised.
    return (budget.split_text(redact(text)[: max_tokens * _CHARS_PER_TOKEN], max_tokens) or [""])[0].strip()


def days_line(episode: Episode, around: Surroundings) -> str:
    """When it was said, and what day it is where that is another."""
    said = f"Said on {_day(episode.observed_at)}."
    if around.now is None or around.now.date() == episode.observed_at.date():
        return said
    return f"{said} Today is {_day(around.now)}."


def _day(moment: datetime) -> str:
    return f"{moment:%A} {moment.date().isoformat()}"
