"""What is told of a data folder: of a backup, of the tables compared with the log, of each part, of who may come."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

TableName = Literal["memories", "entities"]
TokenState = Literal["active", "expired", "revoked"]
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


@dataclass(frozen=True, slots=True)
class Exported:
    """An export that was written: where, how large, how many records of each type are in it."""

    path: str
    n_bytes: int
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a line of a source, or with a whole file where `line` is 0."""

    file: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import took, or in a dry run would take.

    `counts` are the source's records by type, `outcome` says what became of them; `n_resumed` of them an earlier run
    had taken. `problems` are lines that were left out. `notices` are for people; `lag` is '' or why what came is not
    yet findable by meaning.
    """

    source: str
    format: str
    n_records: int
    counts: dict[str, int]
    outcome: dict[str, int]
    n_resumed: int = 0
    is_dry_run: bool = False
    problems: tuple[Problem, ...] = ()
    notices: tuple[str, ...] = ()
    lag: str = ""


NotesOutcome = Literal["written", "unchanged", "stale", "busy", "gone", "trouble"]


@dataclass(frozen=True, slots=True)
class NotesFile:
    """A notes file that is kept up to date: most tokens of memories in it, what became of it, and what is wrong.

    `stale` is out of date, `busy` was being edited, `gone` is not there any more. `trouble` and `advice` are '' where
    all is well.
    """

    path: str
    max_tokens: int
    outcome: NotesOutcome
    trouble: str = ""
    advice: str = ""


@dataclass(frozen=True, slots=True)
class UndoneRow:
    """A memory that an undo touched: its text and state now, and the text and state that it had before the undo."""

    id: str
    text: str
    state: str
    former_text: str
    former_state: str


@dataclass(frozen=True, slots=True)
class Undone:
    """An undo: its own change id, by which it can be undone, what it undid, and what became of each memory."""

    change_id: str
    undone_id: str
    operation: str
    at: datetime  # when the undone change was made
    rows: tuple[UndoneRow, ...]
    notice: str = ""


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of a memory, before and after, as JSON has it; None before where the memory was not there."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Updated:
    """A correction: the memory with the text that it has now, what has changed, and under which change id.

    `also` tells what it ended of other memories, or brought back, one line each; `reason` says why nothing has changed,
    or what else there is to know.
    """

    id: str
    text: str
    change_id: str = ""
    changes: tuple[FieldChange, ...] = ()
    n_facts_withdrawn: int = 0
    reason: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """What one change did to a memory. `undone_by` is the change that undid it and stands, '' for none.

    `facts` tells of the facts that were read out of the memory, one line each. An operation `sight` is that the
    statement was met again.
    """

    change_id: str
    at: datetime
    client: str
    operation: str
    changes: tuple[FieldChange, ...] = ()
    facts: tuple[str, ...] = ()
    undone_by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FactHistory:
    """A fact that was read out of a memory: from when until when it held in the world, and what has become of it."""

    id: str
    told: str
    state: Literal["holds", "ended", "withdrawn", "undone"]
    source: str
    valid_from: datetime
    invalid_at: datetime | None


@dataclass(frozen=True, slots=True)
class Related:
    """A memory among those that took each other's place; `since` and `until` are when it held in the world."""

    id: str
    text: str
    state: str
    since: datetime
    until: datetime | None
    leads_to: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class History:
    """The life of one memory, oldest first, and the memories that it is tied to, in order of world time.

    `chain` holds what it replaced and what replaced it, itself included; `merged` what said the same, `words` what it
    was read out of. `notice` says where the history begins when older events have been dropped.
    """

    id: str
    text: str
    state: str
    entries: tuple[HistoryEntry, ...]
    facts: tuple[FactHistory, ...] = ()
    chain: tuple[Related, ...] = ()
    merged: tuple[Related, ...] = ()
    words: tuple[Related, ...] = ()
    notice: str = ""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A memory as a search has ranked it: its place, 1 for the best, 0 for none, and what each signal says of it."""

    id: str
    text: str
    rank: int
    score: float
    relevance: float
    signals: dict[str, float]


Missed = Literal[
    "returned", "not_visible", "no_evidence", "below_threshold", "below_floor", "outside_pool", "outranked"
]


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why a memory was among the hits of a search or not.

    `reasons` says it in sentences. `ranked` is the memory among all that were visible, where it has a place; `last` is
    the last hit that was returned.
    """

    id: str
    text: str
    verdict: Missed
    reasons: tuple[str, ...]
    ranked: Ranked | None = None
    last: Ranked | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Counted:
    """How many facts have a name."""

    name: str
    n: int


@dataclass(frozen=True, slots=True)
class FactAudit:
    """Facts in force by relation, by source and, where no relation of the vocabulary fits, by label; most first."""

    relations: tuple[Counted, ...]
    sources: tuple[Counted, ...]
    other_labels: tuple[Counted, ...]
    n_ended: int


@dataclass(frozen=True, slots=True)
class Token:
    """A token by which a user comes over HTTP, without what they show: that is told once, when it is made."""

    id: str
    user_id: str
    label: str
    created_at: datetime
    expires_at: datetime | None
    state: TokenState


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that was made, and the text to show."""

    text: str
    token: Token
