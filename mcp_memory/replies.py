"""What a language model returned, read without trust: fences, prose around it, cut ends, wrong shapes.

Errors tell what is wrong and never what was said: they are logged and kept, and an answer holds a person's words.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import regex
from pydantic_core import from_json

from .errors import ModelOutputError

# What a message is about; "own_work" is said of an assistant's.
Gate = Literal["about_user", "about_others", "wish", "own_work", "other"]
_GATES: tuple[Gate, ...] = get_args(Gate)
# More than a part of a message holds; a loop ends here.
MAX_STATEMENTS = 12
_FENCE = regex.compile(r"```[a-zA-Z]*\s*(.*?)(?:```|\Z)", regex.DOTALL)
# What no store can hold, or no reader should be sent: halves of emoji, NUL, the commands of terminals. Where no
# word follows, the space before goes too.
_UNUSABLE = r"[[\p{Cs}\p{Cc}]--[\n\t\r]]"
_NOISE = regex.compile(rf"[^\S\n]*{_UNUSABLE}++(?=[\s.,;:!?…]|\Z)|{_UNUSABLE}++", regex.V1)
_AGAIN = "ask the model again, or set another one"


def _schema(*gates: Gate) -> Mapping[str, Any]:
    # Small: servers compile it to a grammar, and field order is generation order, so the gate comes first.
    return {
        "type": "object",
        "properties": {
            "kind": {"type": "string", "enum": list(gates)},
            "facts": {"type": "array", "items": {"type": "string"}, "maxItems": MAX_STATEMENTS},
        },
        "required": ["kind", "facts"],
        "additionalProperties": False,
    }


EXTRACTION_SCHEMA = _schema("about_user", "about_others", "wish", "other")
# For a message that says itself that it is to be kept.
KEEPING_SCHEMA = _schema("about_user", "about_others", "wish")
AGENT_SCHEMA = _schema("own_work", "other")


@dataclass(frozen=True, slots=True)
class Extraction:
    """The statements that a model read out of one message.

    `is_whole` is false when its answer was cut before it began to repeat itself.

    Those beside gate "other" are doubtful: small models list them and say that there is nothing to keep.
    """

    gate: Gate
    statements: tuple[str, ...]
    is_whole: bool = True


def read_extraction(text: str, *, is_complete: bool) -> Extraction:
    """The statements of an answer; of a cut one those that are complete.

    Raises:
        ModelOutputError: no JSON, no gate, or facts that are no list of texts.
    """
    value, was_cut = read_object(text)
    gate = value.get("kind")
    facts = value.get("facts", [] if gate == "other" else None)
    if gate not in _GATES:
        fault = "none of those asked for" if "kind" in value else "missing"
        raise ModelOutputError(f"the answer's kind is {fault} ({len(text)} characters)", hint=_AGAIN)
    if was_cut and facts is None:
        facts = []
    if not isinstance(facts, list) or not all(isinstance(fact, str) for fact in facts):
        raise ModelOutputError(f"the answer's facts are no list of texts ({len(text)} characters)", hint=_AGAIN)
    listed = [fact.strip() for fact in facts if fact.strip()]
    statements = tuple(dict.fromkeys(listed))
    # Whoever begins to repeat has said everything.
    is_loop = len(statements) < len(listed)
    return Extraction(gate, statements[:MAX_STATEMENTS], is_whole=is_loop or (is_complete and not was_cut))


def read_object(text: str) -> tuple[dict[str, Any], bool]:
    """The JSON object in an answer, and whether it was cut; of a cut one the complete members and items.

    Its texts are without lone surrogates and control characters, which JSON may spell out.

    >>> read_object('Sure! ```json\\n{"kind": "wish", "facts": ["a", "b')
    ({'kind': 'wish', 'facts': ['a']}, True)
    """
    fenced = _FENCE.search(text)
    body = fenced.group(1) if fenced and "{" in fenced.group(1) else text
    start = body.find("{")
    if start < 0:
        raise ModelOutputError(f"the answer is no JSON object ({len(text)} characters)", hint=_AGAIN)
    body = body[start:]
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(body)
        return _cleaned(value), False
    except (ValueError, RecursionError):
        return _salvaged(body), True


def _cleaned(value: Any) -> Any:
    """{'facts': ['bees \\ud83d.']} → {'facts': ['bees.']}"""
    if isinstance(value, str):
        return _NOISE.sub("", value)
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    return {name: _cleaned(item) for name, item in value.items()} if isinstance(value, dict) else value


def _salvaged(body: str) -> dict[str, Any]:
    try:
        # Drops an item that is not finished.
        value = _cleaned(from_json(body, allow_partial=True))
    except (ValueError, RecursionError) as exc:
        raise ModelOutputError(f"the answer is broken JSON ({len(body)} characters)", hint=_AGAIN) from exc
    if not isinstance(value, dict):
        raise ModelOutputError(f"the answer is no JSON object ({len(body)} characters)", hint=_AGAIN)
    return value
