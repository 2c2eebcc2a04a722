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

    def __add__(self, other: "ModelUse") -> "ModelUse":
        return ModelUse(
            self.n_calls + other.n_calls,
            self.n_prompt_tokens + other.n_prompt_tokens,
            self.n_output_tokens + other.n_output_tokens,
        )


@dataclass(frozen=True, slots=True)
class Presence:
    """Whether a model can be asked: what was found, and what to type where it cannot, '' where it can."""

    found: str
    advice: str = ""


class LanguageModel:
    """A model in the Ollama of the settings. Safe to use from several threads; one request goes out at a time."""

    def __init__(self, settings: Settings, name: str = "") -> None:
        """Name it, '' meaning the model of the settings; nothing is connected yet.

        Raises:
            InvalidInputError: the host is no address.
        """
        self.name = name or settings.llm_model
        self.use = ModelUse()
        self._timeout_s = settings.llm_timeout_s
        self._client = client_of(settings)

    @property
    def host(self) -> str:
        """The server's URL."""
        return self._client.host

    def ask(
        self,
        messages: Sequence[Mapping[str, str]],
        schema: Mapping[str, Any],
        max_output_tokens: int,
        timeout_s: float | None = None,
    ) -> Reply:
        """The model's answer to a request, within the time of the settings or a given one.

        Raises:
            ModelUnavailableError: server or model are not there.
            ModelFailedError: the same, where the server failed at the request or took too long.
            ModelOutputError: what came is no answer.
        """
        reply = self._client.ask(
            self.name,
            messages,
            schema=schema,
            max_output_tokens=max_output_tokens,
            timeout_s=self._timeout_s if timeout_s is None else timeout_s,
        )
        self.use.n_calls += 1
        self.use.n_prompt_tokens += reply.n_prompt_tokens
        self.use.n_output_tokens += reply.n_output_tokens
        return reply

    def is_loaded(self, within_s: float) -> bool:
        """Whether it is in the server's memory, so that an answer need not wait for it. Raises what `ask` does."""
        return full_name(self.name) in map(full_name, self._client.running(within_s))

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

    def cancel(self) -> None:
        """End the request under way, if any, so that the server stops generating."""
        self._client.cancel()

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
    """What the spellings of one model's name share: 'Qwen3' → 'qwen3:latest', 'library/qwen3:8b' → 'qwen3:8b'."""
    name = name.lower().removeprefix("registry.ollama.ai/").removeprefix("library/")
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def find_model(name: str, installed: Sequence[InstalledModel]) -> InstalledModel | None:
    """The installed model that a name means."""
    return next((model for model in installed if full_name(model.name) == full_name(name)), None)
