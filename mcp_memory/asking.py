"""How a language model is asked: by a function, and once more where its answer is of no use."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from .errors import ModelOutputError

T = TypeVar("T")
# How much of an answer that was none is shown to the model again.
_MAX_SHOWN_CHARS = 200
_REPAIR = "That is no answer in the form asked for. Give the JSON object only."


class Answer(Protocol):
    """What an answer of a model must tell."""

    @property
    def text(self) -> str:
        """The answer, without thoughts."""

    @property
    def is_complete(self) -> bool:
        """Whether the model came to its end by itself."""


# Asks the model: request, schema, most tokens of the answer.
Ask = Callable[[Sequence[Mapping[str, str]], Mapping[str, Any], int], Answer]


def ask_twice(
    ask: Ask,
    request: Sequence[Mapping[str, str]],
    schema: Mapping[str, Any],
    max_output_tokens: int,
    read: Callable[[Answer], T],
) -> T:
    """What `read` makes of the answer, or of a second one where it raises `ModelOutputError`.

    Raises:
        ModelUnavailableError: the model is not there.
        ModelOutputError: neither answer could be read.
    """
    answer = ask(request, schema, max_output_tokens)
    try:
        return read(answer)
    except ModelOutputError:
        return read(ask(repaired(request, answer, _REPAIR), schema, max_output_tokens))


def repaired(request: Sequence[Mapping[str, str]], answer: Answer, order: str) -> list[Mapping[str, str]]:
    """The request again, after an answer that was of no use and what is to be done instead."""
    shown = {"role": "assistant", "content": answer.text[:_MAX_SHOWN_CHARS] or "…"}
    return [*request, shown, {"role": "user", "content": order}]
