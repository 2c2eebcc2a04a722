"""The language model in use: which one, how it is asked, and what it has cost."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import McpMemoryError
from .ollama_client import OllamaClient, Reply
from .settings import Settings


@dataclass(slots=True)
class ModelUse:
    """Calls and tokens so far."""

    n_calls: int = 0
    n_prompt_tokens: int = 0
    n_output_tokens: int = 0


class LanguageModel:
    """The model that the settings name. Safe to use from several threads; one request goes out at a time."""

    def __init__(self, settings: Settings) -> None:
        """Name it; nothing is connected yet.

        Raises:
            InvalidInputError: the host is no address.
        """
        self.name = settings.llm_model
        self.use = ModelUse()
        self._timeout_s = settings.llm_timeout_s
        self._client = OllamaClient(
            settings.ollama_host or os.environ.get("OLLAMA_HOST", ""),
            context_tokens=settings.llm_context_tokens,
            think=settings.llm_think,
        )

    def ask(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], max_output_tokens: int) -> Reply:
        """The model's answer to a request.

        Raises:
            ModelUnavailableError: server or model are not there, or took too long.
            ModelOutputError: what came is no answer.
        """
        reply = self._client.ask(
            self.name, messages, schema=schema, max_output_tokens=max_output_tokens, timeout_s=self._timeout_s
        )
        self.use.n_calls += 1
        self.use.n_prompt_tokens += reply.n_prompt_tokens
        self.use.n_output_tokens += reply.n_output_tokens
        return reply

    def describe(self) -> str:
        """Whether it can be asked, and else what to type."""
        try:
            installed = [model.name for model in self._client.installed()]
        except McpMemoryError as exc:
            return f"{exc.message}; texts wait word for word until it is there ({exc.hint})"
        if self.name in installed or f"{self.name}:latest" in installed:
            return f"{self.name} at {self._client.host}"
        return f"Ollama at {self._client.host} has no {self.name}; run: ollama pull {self.name}"

    def close(self) -> None:
        """End the request under way, so that the server stops generating, and refuse later ones."""
        self._client.close()
