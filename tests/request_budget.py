"""The budget of requests to a language model, measured wherever a test receives one.

A test that sent more than the budget allows fails, and the largest request of all is told in the end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from mcp_memory.budget import count_request
from mcp_memory.prompts import Task, load_prompt
from mcp_memory.settings import Settings

MAX_CONSTANT_TOKENS = 1200
DEFAULT_CONTEXT_TOKENS: int = Settings.model_fields["llm_context_tokens"].default

Messages = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Size:
    """Tokens of one request: its rules and examples, all that is read, the longest answer, and the context asked for.

    They are counted as the program counts them, which errs on the high side. `task` names the prompt; it is '' for
    what a test asks by itself.
    """

    task: str
    n_constant: int
    n_read: int
    n_output: int
    n_context: int

    @property
    def n_total(self) -> int:
        """What has to fit the context."""
        return self.n_read + self.n_output

    @property
    def flaw(self) -> str:
        """What is too large, '' where nothing is."""
        what = self.task or "a request"
        if self.n_constant > MAX_CONSTANT_TOKENS:
            return f"{what}: {self.n_constant} tokens of rules and examples, at most {MAX_CONSTANT_TOKENS} are allowed"
        if self.n_total > self.n_context:
            return f"{what}: {self.n_read} tokens to read and {self.n_output} to answer do not fit {self.n_context}"
        return ""


# Of the requests that the present test has sent.
received: list[Size] = []


def size_of(messages: Messages, n_output: int, n_context: int = DEFAULT_CONTEXT_TOKENS) -> Size:
    """The size of a request that allows so many tokens of an answer."""
    rules = messages[0]["content"]
    task = next((task for task in get_args(Task) if load_prompt(task).rules == rules), "")
    if task:
        constant = messages[: len(load_prompt(task).messages("", "")) - 1]
    else:
        constant = [message for message in messages if message["role"] == "system"]
    return Size(task, count_request(constant), count_request(messages), n_output, n_context)


def size_of_body(body: Mapping[str, Any]) -> Size:
    """The same for a request in Ollama's format, where an empty message is left out."""
    messages = [{"content": "", **message} for message in body["messages"]]
    return size_of(messages, body["options"]["num_predict"], body["options"]["num_ctx"])
