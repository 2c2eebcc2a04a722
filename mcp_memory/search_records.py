"""The nouns of a search: which memories it may see, and what it finds. No behaviour beyond construction."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from .records import SEARCHABLE, About, Kind, Memory, Owner, Scope, State


@dataclass(frozen=True, slots=True)
class Filters:
    """Restrictions that every candidate source obeys; '' and None mean no restriction.

    `since` and `until` bound `observed_at`, both inclusive. `metadata` asks for equality of each named key.
    """

    about: About | Literal[""] = ""
    kind: Kind | Literal[""] = ""
    agent: str = ""
    since: datetime | None = None
    until: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Where:
    """Which memories are meant: all restrictions hold of each. `contains` is a part of the text, in any case."""

    filters: Filters = field(default_factory=Filters)
    run_id: str = ""
    contains: str = ""
    states: tuple[State, ...] = SEARCHABLE


@dataclass(frozen=True, slots=True)
class Selection:
    """Which memories a search may see: scope, point in time, filters."""

    owner: Owner
    now: datetime
    scope: Scope = "all"
    run_id: str = ""
    as_of: datetime | None = None
    known_at: datetime | None = None
    filters: Filters = field(default_factory=Filters)
    # Both inclusive: what held at some time of it may be seen beside what holds now.
    during: tuple[datetime, datetime] | None = None


@dataclass(frozen=True, slots=True)
class Signals:
    """What each source says of one candidate, each in [0, 1] unless its formula in `score` says otherwise."""

    semantic: float = 0.0
    keyword: float = 0.0
    entity: float = 0.0
    neighbour: float = 0.0
    exact: float = 0.0
    speaker: float = 0.0
    fact: float = 0.0
    date: float = 0.0
    importance: float = 0.0
    recency: float = 0.0


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A fact as an answer tells it: whose, which, its value, since when, and the memory that says so.

    `who` is who said so, '' where that is not told.
    """

    subject: str
    relation: str
    label: str
    value: str
    since: datetime
    memory_id: str
    until: datetime | None = None
    who: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A returned memory. `relevance` and `score` are in [0, 1], higher is better.

    `raised_by` is the rewriting of the question that found it better than the question itself, '' for none. `outdated`
    is what of its facts had ended by the time asked about, although the memory says more and holds.
    """

    memory: Memory
    score: float
    relevance: float
    signals: Signals
    raised_by: str = ""
    outdated: tuple[KnownFact, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first. `closest_score` is set when nothing was relevant enough to return.

    `rewritten` holds the other words in which the question was searched for, `facts` what it asked for by key.
    """

    hits: tuple[Hit, ...]
    notice: str = ""
    closest_score: float | None = None
    degraded: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()
    facts: tuple[KnownFact, ...] = ()


@dataclass(frozen=True, slots=True)
class UserProfile:
    """Who the user is, as far as it is remembered; all of it holds now.

    `summary` is the language model's, '' where it has made none, and was made at `made_at`. `statements` are what was
    said about the user, the most important first, `facts` what is known beside them, who they are first and what they
    have last. No fact was read out of one of the statements.
    """

    summary: str = ""
    made_at: datetime | None = None
    facts: tuple[KnownFact, ...] = ()
    statements: tuple[Memory, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is remembered that it could tell."""
        return not (self.summary or self.facts or self.statements)
