"""Settings: environment variables `MCP_MEMORY_*` over `settings.toml` in the data folder over defaults."""

import json
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import regex
from pydantic import BeforeValidator, Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from .errors import InvalidInputError
from .fuse import FUSED, GATED, PROFILES, SIGNAL_NAMES, ScopeWeights, ScoreWeights, SignalWeights
from .paths import HOME_VARIABLE, data_folder
from .records import Ranking, Weighting

PREFIX = "MCP_MEMORY_"
FILE_NAME = "settings.toml"
# What each client of an engine chooses for itself; everything else is the engine's and fixed at its start.
OF_A_CLIENT = (
    "user_id",
    "agent_id",
    "default_scope",
    "tools",
    "ranking",
    "floor",
    "profile",
    "weight_relevance",
    "weight_importance",
    "weight_recency",
    "half_life_days",
    "weight_user",
    "weight_agent",
    "weight_other_agents",
    "weight_run",
    "signal_weights",
    "add_wait_s",
    "recall_tokens",
    "recall_floor",
    "capture",
    "exclude_text",
    "exclude_folders",
)
_MAX_WEIGHT = 1e6


def _signal_weights(given: object) -> dict[str, float]:
    """A mapping of signals to weights, which an environment variable holds as JSON."""
    names = ", ".join(SIGNAL_NAMES)
    if isinstance(given, str):
        try:
            given = json.loads(given or "{}")
        except ValueError as exc:
            raise ValueError(f'it is no JSON; write {{"keyword": 0.5}} with any of {names}') from exc
    if not isinstance(given, Mapping):
        raise ValueError(f"it is no mapping of signals to weights; the signals are {names}")  # noqa: TRY004 - pydantic's
    for name, weight in given.items():
        if name not in SIGNAL_NAMES:
            raise ValueError(f"there is no signal {name!r}; the signals are {names}")
        is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not is_number or not 0 <= weight <= _MAX_WEIGHT:
            raise ValueError(f"{name} is {weight!r}, not a number from 0 to {_MAX_WEIGHT:g}; the signals are {names}")
    return {name: float(weight) for name, weight in given.items()}


def _listed(given: object) -> list[str]:
    """A list of texts, which an environment variable holds as JSON, or as one text."""
    if isinstance(given, str):
        try:
            given = json.loads(given) if given.lstrip().startswith("[") else [given] if given else []
        except ValueError as exc:
            raise ValueError('it is no JSON list; write ["first", "second"]') from exc
    if not isinstance(given, list | tuple) or not all(isinstance(item, str) for item in given):
        raise ValueError('it is no list of texts; write ["first", "second"]')
    return [item for item in given if item]


def _patterns(given: object) -> list[str]:
    """A list of regular expressions."""
    listed = _listed(given)
    for pattern in listed:
        try:
            regex.compile(pattern)
        except regex.error as exc:
            raise ValueError(f"{pattern!r} is no regular expression: {exc}") from exc
    return listed


# None: as the profile has it.
_Share = Annotated[float | None, Field(ge=0, le=_MAX_WEIGHT, allow_inf_nan=False)]
_Factor = Annotated[float, Field(ge=0, le=1)]


# Settings that a profile stands for where they are not given, with their names in it.
_OF_PROFILE = {
    "weight_relevance": "relevance",
    "weight_importance": "importance",
    "weight_recency": "recency",
    "half_life_days": "half_life_days",
}


class Settings(BaseSettings):
    """Everything that can be set. Field names are the lower-case ends of the environment variables."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", frozen=True)

    home: Path = Field(default_factory=data_folder, description="folder that holds everything")
    user_id: str = Field("", max_length=200, description="whose memory this is; '' means the folder's own user")
    agent_id: str = Field("", max_length=200, description="what a client is called; '' means the name that it gives")
    default_scope: Literal["all", "user", "agent"] = Field(
        "all", description="where a search looks that names no scope: all, user or agent"
    )
    tools: Literal["default", "full"] = Field("default", description="which tools a host is offered: default or full")
    embedding_model: str = Field(
        "",
        max_length=1000,
        description="name or folder of a sentence-transformers model; '' means the folder's own, else the packaged one",
    )
    embedding_query_prompt: str | None = Field(
        None, max_length=1000, description="what is put before a query; unset: what the model was trained with"
    )
    embedding_document_prompt: str | None = Field(
        None, max_length=1000, description="what is put before a memory; unset: what the model was trained with"
    )
    ranking: Ranking = Field("fused", description="fused, or gated: the reference formula")
    floor: float = Field(0.05, ge=0, le=1, description="relevance below which a search answers that it knows nothing")
    profile: Weighting = Field("chat", description="what the score is made for: chat, compliance or retrieval")
    weight_relevance: _Share = Field(None, description="share of relevance in the score; unset: the profile's")
    weight_importance: _Share = Field(None, description="share of importance in the score; unset: the profile's")
    weight_recency: _Share = Field(None, description="share of recency in the score; unset: the profile's")
    half_life_days: float | None = Field(
        None, ge=0.001, le=1e6, allow_inf_nan=False, description="days that halve recency; unset: the profile's"
    )
    weight_user: _Factor = Field(1.0, description="what memories about the user count in scope all; 0 hides them")
    weight_agent: _Factor = Field(1.0, description="what the agent's own memories about itself count; 0 hides them")
    weight_other_agents: _Factor = Field(0.5, description="what those of other agents count; 0 hides them")
    weight_run: _Factor = Field(1.0, description="what memories of the run that a search names count; 0 hides them")
    signal_weights: Annotated[dict[str, float], NoDecode, BeforeValidator(_signal_weights)] = Field(
        {}, description="weights of single signals in relevance, in place of the ranking's; 0 switches one off"
    )
    ollama_host: str = Field("", description="where Ollama listens; '' means OLLAMA_HOST, else this machine")
    llm_model: str = Field("qwen3:8b", min_length=1, description="name of the language model in Ollama")
    llm_context_tokens: int = Field(8192, ge=4096, le=1_000_000, description="context that a request asks for")
    llm_timeout_s: float = Field(120.0, ge=1, le=3600, description="longest that one answer may take")
    llm_retry_s: float = Field(60.0, ge=0.05, le=86400, description="how often an absent Ollama is looked for")
    llm_think: bool = Field(False, description="let models that can think do so; slower")
    facts_per_memory: int = Field(
        8, ge=0, le=100, description="facts that a memory may hold and an add may bring; the surest are kept"
    )
    recall_tokens: int = Field(
        600, ge=0, le=20_000, description="most tokens that automatic recall adds at a time; 0 switches it off"
    )
    recall_floor: float = Field(
        0.2, ge=0, le=1, description="relevance below which automatic recall leaves a memory out"
    )
    capture: Literal["turn", "conversation", "off"] = Field(
        "turn", description="when automatic capture takes in what was said: after each turn, at the end, or never"
    )
    exclude_text: Annotated[list[str], NoDecode, BeforeValidator(_patterns)] = Field(
        [], description="regular expressions; what one is found in is never stored"
    )
    exclude_folders: Annotated[list[str], NoDecode, BeforeValidator(_listed)] = Field(
        [], description="folders in which nothing is recalled or captured by itself; * and ? match"
    )
    add_wait_s: float = Field(20.0, ge=0, le=50, description="how long an add waits for its extraction")
    rewrite_queries: bool = Field(False, description="have a language model put questions in other words as well")
    rewrite_model: str = Field("", description="the model that does; '' means llm_model, a smaller one is faster")
    rewrite_wait_s: float = Field(1.5, ge=0.05, le=30, description="longest that a search waits for it")
    engine_idle_s: float = Field(600.0, ge=0, le=1e6, description="how long the engine stays after its last client")
    keep_events_days: int = Field(
        1095, ge=0, le=36500, description="days for which the history of changes is kept; 0 means for good"
    )
    purge_expired_days: int = Field(
        7, ge=-1, le=36500, description="days after which a memory that has expired is purged; -1 means never"
    )
    optimize_every: int = Field(32, ge=1, description="writes after which LanceDB is compacted")

    @property
    def relevance_weights(self) -> SignalWeights:
        """The weights of the chosen ranking, single ones as they were set."""
        return replace(GATED if self.ranking == "gated" else FUSED, **self.signal_weights)

    @property
    def score_weights(self) -> ScoreWeights:
        """Shares of relevance, importance and recency: the profile's, single ones as they were set."""
        given = {part: getattr(self, name) for name, part in _OF_PROFILE.items()}
        return replace(PROFILES[self.profile], **{part: value for part, value in given.items() if value is not None})

    @property
    def scope_weights(self) -> ScopeWeights:
        """What memories count by whose they are."""
        return ScopeWeights(self.weight_user, self.weight_agent, self.weight_other_agents, self.weight_run)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the library's signature
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then environment, then the file in the data folder that those two name."""
        home = Path(init_settings().get("home") or data_folder())
        return (init_settings, env_settings, TomlConfigSettingsSource(settings_cls, home / FILE_NAME))


def load_settings(**given: Any) -> Settings:
    """The settings in force; `given` overrides environment and file.

    Raises:
        InvalidInputError: a value is out of range, or the file is no TOML; key and value are named.
    """
    try:
        # Asked for here and not by pydantic: an empty variable means the platform's folder, not this one.
        given["home"] = Path(given["home"]).expanduser().absolute() if given.get("home") else data_folder()
        settings = Settings(**given)
    except RuntimeError as exc:
        raise InvalidInputError(f"the data folder cannot be found: {exc}", hint=f"correct {HOME_VARIABLE}") from exc
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise InvalidInputError(f"{FILE_NAME} is not valid TOML: {exc}", hint="correct the file") from exc
    except ValidationError as exc:
        first = exc.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        raise InvalidInputError(
            f"setting {name} = {first.get('input')!r}: {first['msg'].removeprefix('Value error, ')}",
            hint=f"correct {PREFIX}{name.upper()} or {name} in {FILE_NAME}",
        ) from exc
    return settings


def variables_of_a_client() -> frozenset[str]:
    """The environment variables that concern a client and not the engine."""
    return frozenset(PREFIX + name.upper() for name in OF_A_CLIENT)


def for_client(engine: Settings, variables: Mapping[str, Any]) -> Settings:
    """The engine's settings with what a client's environment, else the file as it is now, says of its own.

    Raises:
        InvalidInputError: a value is out of range; it is named.
    """
    given = {name: variables[PREFIX + name.upper()] for name in OF_A_CLIENT if PREFIX + name.upper() in variables}
    chosen = load_settings(home=engine.home, **given)
    return engine.model_copy(update={name: getattr(chosen, name) for name in OF_A_CLIENT})


def naming_another_model(home: Path, model: str, full_name: Callable[[str], str]) -> list[str]:
    """Where environment and file name an embedding model other than the folder's, each as a user would look for it.

    `full_name` tells which model a name means.
    """
    key = "embedding_model"
    places = {
        f"{PREFIX}{key.upper()} in the environment": EnvSettingsSource(Settings)(),
        f"{key} in {home / FILE_NAME}": TomlConfigSettingsSource(Settings, home / FILE_NAME)(),
    }
    named = {place: str(values.get(key) or "") for place, values in places.items()}
    return [f"{place} = {name}" for place, name in named.items() if name and full_name(name) != model]


def unknown_names(settings: Settings) -> list[str]:
    """Variables and keys of the file that look like settings and are none: misspelt, most likely."""
    known = {PREFIX + name.upper() for name in Settings.model_fields}
    strange = sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)
    path = settings.home / FILE_NAME
    if path.is_file():
        keys = tomllib.loads(path.read_text(encoding="utf-8"))
        strange += [f"{key} in {FILE_NAME}" for key in keys if key not in Settings.model_fields]
    return strange


def as_table(settings: Settings) -> list[tuple[str, str, str]]:
    """(name, value, source) of each setting as it is in force, also where a profile or a ranking gives the value."""
    where = sources(settings)
    rows = {name: (name, str(getattr(settings, name)), where[name]) for name in type(settings).model_fields}
    for name, part in _OF_PROFILE.items():
        if getattr(settings, name) is None:
            rows[name] = name, f"{getattr(settings.score_weights, part):g}", f"profile {settings.profile}"
    weights = ", ".join(f"{name} {getattr(settings.relevance_weights, name):g}" for name in SIGNAL_NAMES)
    source = where["signal_weights"] if settings.signal_weights else f"ranking {settings.ranking}"
    rows["signal_weights"] = "signal_weights", weights, source
    return list(rows.values())


def sources(settings: Settings) -> dict[str, str]:
    """Where each setting came from: 'environment', 'file' or 'default'."""
    environment = EnvSettingsSource(Settings)()
    file = TomlConfigSettingsSource(Settings, settings.home / FILE_NAME)()
    by_source = {"environment": environment, "file": file}
    return {
        name: next((source for source, values in by_source.items() if name in values), "default")
        for name in Settings.model_fields
    }
