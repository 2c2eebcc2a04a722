"""One checked extraction: a fixed conversation goes through the real pipeline, and what comes is compared.

Nothing is stored, and no memory is opened.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from .distil import Distilled, distil
from .errors import ModelOutputError
from .ollama_client import Reply
from .records import Episode, Message, Owner
from .shown import Surroundings

_SAID_AT = datetime(2026, 3, 11, 18, tzinfo=UTC)
_DAY = "2026-03-13"
_SECRET = "tq7-Zebra-49x"

Asking = Callable[[Sequence[Mapping[str, str]], Mapping[str, Any], int], Reply]


@dataclass(frozen=True, slots=True)
class _Told:
    """A message of the conversation; `wanted` is what must stand in a statement read out of it, by name."""

    about: str
    text: str
    wanted: Mapping[str, str] = field(default_factory=dict)


_CONVERSATION = (
    _Told(
        "preference",
        "I prefer tea to coffee, and I never put milk in it.",
        {"tea before coffee": r"\btea\b.*\bcoffee\b", "no milk": r"(?:\bn(?:o|ot|ever)\b|n't\b|\bwithout\b).*\bmilk\b"},
    ),
    _Told(
        "date",
        "My sister Ingrid moves to Bergen the day after tomorrow.",
        {"Ingrid": r"\bingrid\b", "Bergen": r"\bbergen\b", _DAY: _DAY},
    ),
    _Told("secret", f"The password of my mail account is {_SECRET}."),
    _Told("small talk", "Thanks, that helped a lot! Have a nice evening."),
)
# Each message is read in one answer, or in two where the first cannot be used.
MAX_CALLS = 2 * len(_CONVERSATION)


@dataclass(frozen=True, slots=True)
class Call:
    """One answer of the model."""

    duration_s: float
    n_prompt_tokens: int
    n_output_tokens: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one message: what would be kept, and whether that is as expected."""

    about: str
    said: str
    kept: tuple[str, ...]
    is_as_expected: bool
    remark: str


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """What came of the conversation, message by message. `failure`: why the model gave no usable answer, or ''."""

    outcomes: tuple[Outcome, ...]
    calls: tuple[Call, ...]
    duration_s: float
    failure: str = ""

    @property
    def n_as_expected(self) -> int:
        """Messages of which came what should."""
        return sum(outcome.is_as_expected for outcome in self.outcomes)

    @property
    def is_of_use(self) -> bool:
        """Whether anything that was wanted was found."""
        return any(outcome.is_as_expected and outcome.kept for outcome in self.outcomes)

    @property
    def is_faultless(self) -> bool:
        """Whether everything is as expected."""
        return not self.failure and self.n_as_expected == len(self.outcomes)


def check_model(ask: Asking, on_call: Callable[[Call], None] = lambda _call: None) -> ModelCheck:
    """Read the conversation with a model; `on_call` hears of each answer.

    Raises:
        ModelUnavailableError: the model did not answer.
    """
    calls: list[Call] = []
    requests: list[str] = []

    def recorded(messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], max_output_tokens: int) -> Reply:
        requests.extend(message["content"] for message in messages)
        reply = ask(messages, schema, max_output_tokens)
        calls.append(Call(reply.duration_s, reply.n_prompt_tokens, reply.n_output_tokens))
        on_call(calls[-1])
        return reply

    started = time.monotonic()
    try:
        distilled = distil(_episode(), (), Surroundings(now=_SAID_AT), recorded)
    except ModelOutputError as exc:
        return ModelCheck((), tuple(calls), time.monotonic() - started, exc.message)
    duration_s = time.monotonic() - started
    was_told = any(_SECRET in request for request in requests)
    outcomes = tuple(_outcome(place, distilled, was_told) for place in range(len(_CONVERSATION)))
    return ModelCheck(outcomes, tuple(calls), duration_s)


def _episode() -> Episode:
    return Episode(
        id="check",
        owner=Owner("check", "check"),
        messages=tuple(Message("user", told.text) for told in _CONVERSATION),
        infer=True,
        about="user",
        kind="message",
        run_id="check",
        observed_at=_SAID_AT,
        created_at=_SAID_AT,
        expires_at=None,
        metadata={},
    )


def _outcome(place: int, distilled: Distilled, was_told: bool) -> Outcome:
    told = _CONVERSATION[place]
    statements = [statement for statement in distilled.statements if place in statement.sources]
    kept = tuple(statement.text for statement in statements)
    if told.about == "secret":
        everything = " ".join(statement.text for statement in distilled.statements)
        remark = "given away" if was_told or _SECRET in everything else ""
        return Outcome(told.about, told.text, kept, not remark, remark or "neither shown to the model nor kept")
    if place in distilled.undecided:
        kept = (*kept, told.text)
    is_own_words = any(statement.is_verbatim for statement in statements) or place in distilled.undecided
    if told.wanted:
        # By the line: what is wanted together must stand in one statement.
        read = "\n".join(statement.text for statement in statements if not statement.is_verbatim).casefold()
        missing = [name for name, pattern in told.wanted.items() if not re.search(pattern, read)]
        if not missing:
            return Outcome(told.about, told.text, kept, True, "found")
        remark = (
            "the model's words did not hold: your own are kept" if is_own_words else f"{', '.join(missing)} missing"
        )
        return Outcome(told.about, told.text, kept, False, remark)
    return Outcome(told.about, told.text, kept, not kept, "kept, with nothing in it" if kept else "left out")
