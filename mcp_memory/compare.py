"""A new statement against what is known: does it say the same, or does it end something? One small call a pair."""

from collections.abc import Mapping
from typing import Any, get_args

from .asking import Ask
from .errors import ModelOutputError
from .prompts import load_prompt
from .redact import redact
from .relate import Comparison, Verdict
from .replies import read_object

_VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
MAX_OUTPUT_TOKENS = 160
_MAX_VALUE_CHARS = 80

# The values come before the verdict: a small model that has written both down decides better.
COMPARISON_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        **{name: {"type": "string", "maxLength": _MAX_VALUE_CHARS} for name in ("topic", "earlier", "later")},
        "verdict": {"type": "string", "enum": list(_VERDICTS)},
    },
    "required": ["topic", "earlier", "later", "verdict"],
    "additionalProperties": False,
}


def compare(earlier: str, later: str, ask: Ask) -> Comparison:
    """What the model says of two statements, the earlier first.

    Raises:
        ModelUnavailableError: the model is not there.
        ModelOutputError: what it says is no comparison.
    """
    prompt = load_prompt("compare")
    answer = ask(
        prompt.messages("", f"Earlier: {redact(earlier)}\nLater: {redact(later)}"), COMPARISON_SCHEMA, MAX_OUTPUT_TOKENS
    )
    value, was_cut = read_object(answer.text)
    verdict = value.get("verdict")
    if was_cut or verdict not in _VERDICTS:
        raise ModelOutputError("the answer is no comparison", hint="ask the model again, or set another one")
    return Comparison(verdict, str(value.get("earlier") or ""), str(value.get("later") or ""))
