"""What is told of a data folder: of a backup, of the tables compared with the log or made anew, of each part."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

TableName = Literal["memories", "entities"]
Flaw = Literal["missing", "extra", "doubled", "field", "vector", "index", "unreadable"]


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """What a backup says of itself: versions of its format, of the log's schema and of the program; when it
    was made; numbers of memories by state and of other rows; size and SHA-256 of the log; whether settings are in it.
    """

    format: int
    schema: int
    program: str
    made_at: datetime
    counts: dict[str, int]
    log_bytes: int
    log_sha256: str
    has_settings: bool

    @property
    def n_memories(self) -> int:
        """How many memories a list shows, of all users."""
        return sum(self.counts.get(state, 0) for state in ("active", "raw"))


@dataclass(frozen=True, slots=True)
class BackupResult:
    """A backup that was written: where, how large, what is in it."""

    path: str
    n_bytes: int
    manifest: BackupManifest


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that a table holds otherwise than the log has it; `id` is '' where it is about the whole table."""

    table: TableName
    flaw: Flaw
    id: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """What the log has for the tables to hold, and where they differ from it."""

    n_memories: int
    n_entities: int
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """How many rows the tables were made of, and how many of them had been made by an earlier run."""

    n_memories: int
    n_entities: int
    n_resumed: int = 0


@dataclass(frozen=True, slots=True)
class Reembedded:
    """With which model everything is embedded now, after which prompts, and with which it was before ('' for none).

    How many rows it was, how many of them an earlier run had made, and which settings still name another model.
    """

    model: str
    dimension: int
    query_prompt: str
    document_prompt: str
    model_before: str
    dimension_before: int
    n_memories: int
    n_entities: int
    n_resumed: int = 0
    still_named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `advice` is '' where all is well; all else works without what is optional."""

    name: str
    found: str
    advice: str = ""
    is_optional: bool = False

    @property
    def is_ok(self) -> bool:
        """Whether nothing has to be done."""
        return self.is_optional or not self.advice
