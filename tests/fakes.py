"""Stand-ins behind the two ports; here the language model."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests import request_budget


@dataclass(frozen=True)
class Answered:
    """An answer of a model."""

    text: str
    is_complete: bool = True


def facts(*statements: str, kind: str = "about_user") -> Answered:
    """An answer with statements."""
    return Answered(json.dumps({"kind": kind, "facts": list(statements)}))


NOTHING = facts(kind="other")


class ScriptedModel:
    """Gives the next answer of its script, the last one for ever, and keeps every request."""

    def __init__(self, *answers: Answered | Exception) -> None:
        self._answers = list(answers) or [NOTHING]
        self.requests: list[list[Mapping[str, str]]] = []

    def __call__(
        self, messages: Sequence[Mapping[str, str]], _schema: Mapping[str, Any], max_output_tokens: int
    ) -> Answered:
        self.requests.append(list(messages))
        request_budget.received.append(request_budget.size_of(messages, max_output_tokens))
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def questions(self) -> list[str]:
        """What was asked in the end of each request."""
        return [request[-1]["content"] for request in self.requests]
