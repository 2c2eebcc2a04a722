"""The language model in use: which one, how it is asked, and what it has cost."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import InvalidInputError, McpMemoryError
from .ollama_client import InstalledModel, OllamaClient, Reply
from .settings import Settings


@dataclass(slots=True)
class ModelUse:
    """Calls and tokens so far."""

    n_calls: int = 0
    n_prompt_tokens: int = 0
    n_output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Presence:
    """Whether a model can be asked: what was found, and what to type where it cannot, '' where it can."""

    found: str
    advice: str = ""


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
        self._client = client_of(settings)

    @property
    def host(self) -> str:
        """The server's URL."""
        return self._client.host

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

    def look(self) -> Presence:
        """Whether it can be asked. Takes five seconds at most, besides looking up the host's name; never raises."""
        try:
            installed = self._client.installed()
        except McpMemoryError as exc:
            return Presence(exc.message, f"{exc.hint}; then run: mcp-memory models")
        if find_model(self.name, installed):
            return Presence(f"{self.name} in Ollama at {self._client.host}")
        return Presence(
            f"Ollama at {self._client.host} has no {self.name}",
            f"run: mcp-memory models pull {self.name}, or see what else there is: mcp-memory models",
        )

    def close(self) -> None:
        """End the request under way, so that the server stops generating, and refuse later ones."""
        self._client.close()


def client_of(settings: Settings) -> OllamaClient:
    """A client for the Ollama that the settings, else `OLLAMA_HOST`, name.

    Raises:
        InvalidInputError: the host is no address; the variable is named.
    """
    try:
        return OllamaClient(
            settings.ollama_host or os.environ.get("OLLAMA_HOST", ""),
            context_tokens=settings.llm_context_tokens,
            think=settings.llm_think,
        )
    except InvalidInputError as exc:
        variable = "MCP_MEMORY_OLLAMA_HOST" if settings.ollama_host else "OLLAMA_HOST"
        raise InvalidInputError(f"{variable}: {exc.message}", hint=exc.hint) from exc


def full_name(name: str) -> str:
    """A model's name as Ollama reads it: 'qwen3' → 'qwen3:latest', 'qwen3:8b' → itself."""
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def find_model(name: str, installed: Sequence[InstalledModel]) -> InstalledModel | None:
    """The installed model that a name means."""
    return next((model for model in installed if full_name(model.name) == full_name(name)), None)
