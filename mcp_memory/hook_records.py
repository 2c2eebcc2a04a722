"""The nouns of automatic recall and capture. No behaviour beyond construction."""

from dataclasses import dataclass, field
from typing import Literal

from .records import Receipt, Role

# What a host's prompt, or the beginning of a conversation, asks for.
Moment = Literal["prompt", "startup", "resume", "clear", "compact"]
CaptureWhen = Literal["turn", "conversation", "off"]


@dataclass(frozen=True, slots=True)
class Reminder:
    """What automatic recall adds to a conversation: a block of text, '' for nothing, and the memories in it.

    `reason` says why there is nothing, or less than there could be.
    """

    text: str = ""
    memory_ids: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CapturePoint:
    """When a conversation is to be captured, and the offset in its transcript from which on, in bytes."""

    when: CaptureWhen
    offset: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a conversation: `at` is ISO 8601 or ''."""

    role: Role
    content: str
    at: str = ""


@dataclass(frozen=True, slots=True)
class Captured:
    """What became of the messages of a conversation: a receipt each; or they were not taken, for the `reason`."""

    receipts: tuple[Receipt, ...] = field(default_factory=tuple)
    is_taken: bool = True
    reason: str = ""
