"""Accepted statements, described: kind, importance, and the fact that each holds. One small call for some of them.

What cannot be read stays undescribed: a description makes a memory better, and its want costs none.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .asking import Ask
from .errors import ModelOutputError
from .guards import content_terms, is_negated, is_user
from .prompts import load_prompt
from .records import FACT_TYPES, FactType, Kind
from .replies import read_object
from .tense import speaks_of_plans

# Together they take about as many tokens as one message.
BATCH_SIZE = 6
MAX_OUTPUT_TOKENS = 80 * BATCH_SIZE
_MAX_VALUE_CHARS = 120
# The subject of most statements, whatever the language calls it.
USER = "the user"
_KINDS: tuple[Kind, ...] = ("fact", "preference", "event", "plan")
_LASTING = frozenset("name birthday home job employer partner family health diet origin".split())
_PASSING = frozenset("time place other".split())

DESCRIPTION_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "items": {
            "type": "array",
            "maxItems": BATCH_SIZE,
            "items": {
                "type": "object",
                "properties": {
                    "n": {"type": "integer"},
                    "kind": {"type": "string", "enum": list(_KINDS)},
                    "subject": {"type": "string", "maxLength": _MAX_VALUE_CHARS},
                    "type": {"type": "string", "enum": list(FACT_TYPES)},
                    "relation": {"type": "string", "maxLength": _MAX_VALUE_CHARS},
                    "object": {"type": "string", "maxLength": _MAX_VALUE_CHARS},
                },
                "required": ["n", "kind", "subject", "type", "relation", "object"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["items"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Description:
    """What a statement is and holds. `importance` is in [0, 1]."""

    kind: Kind
    importance: float
    subject: str
    fact_type: FactType
    relation: str
    object: str


def describe(statements: Sequence[str], languages: Sequence[str], ask: Ask) -> dict[int, Description]:
    """Descriptions by place of the statement; those that the model leaves out or gets wrong are missing.

    Raises:
        ModelUnavailableError: the model is not there.
    """
    found: dict[int, Description] = {}
    for start in range(0, len(statements), BATCH_SIZE):
        batch = statements[start : start + BATCH_SIZE]
        question = "\n".join(f"{number}. {text}" for number, text in enumerate(batch, 1))
        request = load_prompt("describe").messages("", question)
        try:
            value, _ = read_object(ask(request, DESCRIPTION_SCHEMA, MAX_OUTPUT_TOKENS).text)
        except ModelOutputError:
            continue
        for place, item in _items(value, len(batch)):
            if described := _description(item, batch[place], languages[start + place]):
                found.setdefault(start + place, described)
    return found


def importance_of(kind: Kind, fact_type: FactType) -> float:
    """How much a memory matters by itself, in [0, 1]: what lasts more than what passes.

    >>> importance_of("fact", "health") > importance_of("preference", "likes") > importance_of("event", "other")
    True
    """
    if fact_type in _LASTING and kind in ("fact", "preference"):
        return 0.8
    if kind == "event" or fact_type in _PASSING:
        return 0.4
    return 0.6


def _items(value: Mapping[str, Any], n_statements: int) -> Iterator[tuple[int, Mapping[str, Any]]]:
    items = value.get("items")
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and isinstance(number := item.get("n"), int) and 1 <= number <= n_statements:
            yield number - 1, item


def _description(item: Mapping[str, Any], statement: str, language: str) -> Description | None:
    kind: Kind | None = next((kind for kind in _KINDS if kind == item.get("kind")), None)
    fact_type = item.get("type")
    subject, relation, object_ = (_line(item.get(name)) for name in ("subject", "relation", "object"))
    if kind is None or fact_type not in FACT_TYPES or not subject or not object_:
        return None
    said = content_terms(statement, language)
    if is_user(subject):
        subject = USER
    is_copied = content_terms(f"{'' if subject == USER else subject} {object_}", language) <= said
    if not is_copied or (is_negated(object_, language) and not is_negated(statement, language)):
        return None
    if kind == "plan" and not speaks_of_plans(statement, language):
        kind = "fact"
    return Description(kind, importance_of(kind, fact_type), subject, fact_type, relation, object_)


def _line(value: Any) -> str:
    return " ".join(str(value or "").split())
