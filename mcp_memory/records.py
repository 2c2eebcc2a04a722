"""The nouns that layers exchange. No behaviour beyond construction; times are aware UTC.

Two clocks: *world* (`observed_at`, `valid_from`, `invalid_at`) and *record* (`created_at`, `updated_at`,
`closed_at`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

About = Literal["user", "agent"]
Kind = Literal["fact", "preference", "event", "plan", "procedure", "message", "note"]
State = Literal["active", "raw", "distilled", "merged", "invalid", "deleted"]
Role = Literal["user", "assistant", "system", "tool"]
Scope = Literal["all", "user", "agent", "run"]
Status = Literal["added", "duplicate", "merged", "replaced", "queued", "ignored"]
Ranking = Literal["fused", "gated"]
# What the score of a hit is made for: see `fuse.PROFILES`.
Weighting = Literal["chat", "compliance", "retrieval"]
EntityType = Literal["person", "place", "organisation", "project", "product", "event", "other"]
Operation = Literal["add", "distil", "delete", "update", "undo", "import"]
# Who says so: a person by hand, a pattern that leaves no doubt, a language model.
FactSource = Literal["hand", "text", "model"]
JobTask = Literal["extract", "procedure"]
# From when to when something held, None where that is open; (world time, aware UTC).
Validity = tuple[datetime | None, datetime | None]
# Hears how much of how much is done.
OnProgress = Callable[[int, int], None]

FactType = Literal[
    "name", "age", "birthday", "home", "origin", "job", "employer", "school", "partner", "family", "friend", "pet",
    "health", "diet", "contact", "likes", "dislikes", "favourite", "habit", "skill", "owns", "uses", "amount", "time",
    "place", "other",
]  # fmt: skip

FACT_TYPES: tuple[FactType, ...] = get_args(FactType)
ABOUTS: tuple[About, ...] = ("user", "agent")
KINDS: tuple[Kind, ...] = ("fact", "preference", "event", "plan", "procedure", "message", "note")
# States in which a memory can be found; the index and LanceDB hold these.
SEARCHABLE: tuple[State, ...] = ("active", "raw", "invalid")
STATES: tuple[State, ...] = ("active", "raw", "distilled", "merged", "invalid", "deleted")
ROLES: tuple[Role, ...] = ("user", "assistant", "system", "tool")
# Events that tell of a statement met again, and that it was not after all; they are part of what is known.
SIGHTINGS = ("sight", "unsight")
# The operation of events that say that something was purged, and no more.
PURGED = "purge"
# The prompt of a memory whose text a person has corrected, or has kept from being read by a language model.
BY_HAND = "hand"
# What ended a fact that no other fact ended.
ENDED_WITH_MEMORY = "memory"
# The embedding model that comes with the program.
PACKAGED_MODEL = "all-MiniLM-L6-v2"
SCOPES: tuple[Scope, ...] = ("all", "user", "agent", "run")


@dataclass(frozen=True, slots=True)
class Owner:
    """Who is speaking to the memory: whose it is, and through which client."""

    user_id: str
    agent_id: str


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation; `speaker` is '' where the host gave no name."""

    role: Role
    content: str
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Memory:
    """One self-contained statement. The fields are those of the log's `memories` table."""

    id: str
    user_id: str
    agent_id: str
    run_id: str
    position: int
    speaker: str
    role: Role
    about: About
    kind: Kind
    text: str
    lemmas: str
    hash: str
    language: str
    importance: float
    observed_at: datetime
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    valid_from: datetime | None
    invalid_at: datetime | None
    closed_at: datetime | None
    superseded_by: str
    state: State
    episode_id: str
    metadata: Mapping[str, Any]
    model: str
    prompt: str
    revision: str


@dataclass(frozen=True, slots=True)
class Episode:
    """Raw input, as one call brought it, with the defaults filled in."""

    id: str
    owner: Owner
    messages: tuple[Message, ...]
    infer: bool
    about: About
    kind: Kind
    run_id: str
    observed_at: datetime
    created_at: datetime
    expires_at: datetime | None
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Mention:
    """A name as it is written in a text; `key` is its normalised form, `other_keys` its forms in other cases."""

    name: str
    key: str
    type: EntityType = "other"
    other_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnDetails:
    """When one message of an episode was said, and its metadata, where many are taken in at once."""

    observed_at: datetime
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Draft:
    """A statement that may become a memory: extracted, not yet compared with what is known."""

    sources: tuple[int, ...]  # 0-based positions of the messages of the episode that it comes from
    message: Message  # the first of them
    text: str
    lemmas: str
    hash: str
    language: str
    kind: Kind
    state: State
    mentions: tuple[Mention, ...]
    about: About = "user"
    model: str = ""  # the language model and the prompt's fingerprint, where one extracted it
    prompt: str = ""
    ignored_because: str = ""
    importance: float = 0.5  # in [0, 1]
    own: OwnDetails | None = None  # where they are not those of the episode

    def observed_at(self, episode: Episode) -> datetime:
        """When it was said: with its episode, where it has no time of its own."""
        return self.own.observed_at if self.own else episode.observed_at


@dataclass(frozen=True, slots=True)
class Entity:
    """A named thing of one user; `n_linked` counts the memories linked to it."""

    id: str
    user_id: str
    name: str
    name_key: str
    type: EntityType
    n_linked: int
    revision: str


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of work that outlives the process: an episode waiting for the language model."""

    id: str
    user_id: str
    episode_id: str
    run_id: str
    task: JobTask
    next_at: datetime
    attempts: int = 0
    last_error: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """(subject, relation, label) → object, read out of a memory, with validity.

    `subject` and `object` are as written. `subject_id` names an entity: a named thing, somebody's role ("the user's
    sister"), or the user; `object_id` is '' where the object is a value. `relation` is a name of the `vocabulary`,
    which gives the `fact_type`; `label` says which one where the relation has many ("rent", "colour").
    `holds` is False where from `valid_from` on it is *not* so. `confidence` is in [0, 1]. `ended_by` is the fact that
    ended this one, '' for none, or `ENDED_WITH_MEMORY`. A fact that is closed without a time when it became invalid
    was withdrawn: its memory is gone, or was read otherwise.
    """

    id: str
    user_id: str
    subject_id: str
    subject: str
    fact_type: FactType
    relation: str
    label: str
    object: str
    object_key: str
    object_id: str
    holds: bool
    memory_id: str
    confidence: float
    source: FactSource
    valid_from: datetime
    invalid_at: datetime | None
    created_at: datetime
    closed_at: datetime | None
    ended_by: str = ""
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """One fact as a text claims it, before the memory knows whom its phrases mean.

    `subject_key` and `object_key` are those of entities: of a name, of the user, or a path ("=user/sister").
    `relations` holds one name of the vocabulary, or several of which the known facts tell which is meant. `object` is
    '' where an end is told of whatever there was. `begins_at` is when it began to hold, or to hold no longer.
    """

    subject: str
    subject_key: str
    relations: tuple[str, ...]
    label: str
    object: str
    object_key: str
    holds: bool
    begins_at: datetime
    source: FactSource
    confidence: float


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a text, and whether it says nothing else: then it is over when they are."""

    claims: tuple[Claim, ...] = ()
    is_all: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """A summary of a user, made by a language model from the memories with these ids."""

    user_id: str
    text: str
    memory_ids: tuple[str, ...]
    made_at: datetime
    model: str
    prompt: str


@dataclass(frozen=True, slots=True)
class Sighting:
    """A known statement met again."""

    memory_id: str
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class Taken:
    """How many records of a source that is being taken in have been taken with a change."""

    source: str
    done: int


@dataclass(frozen=True, slots=True)
class Change:
    """Everything that one transaction writes. Rows are complete; the log derives the events."""

    id: str
    at: datetime
    owner: Owner
    operation: Operation
    reason: str = ""
    episode: Episode | None = None
    job: Job | None = None
    finished_job: str = ""  # id of the job whose work this is
    memories: tuple[Memory, ...] = ()
    entities: tuple[Entity, ...] = ()  # new ones; counts are recomputed from the links
    links: tuple[tuple[str, str], ...] = ()  # (memory_id, entity_id) to add
    unlinks: tuple[tuple[str, str], ...] = ()  # (memory_id, entity_id) to take
    aliases: tuple[tuple[str, str, str], ...] = ()  # (entity_id, name, name_key)
    sightings: tuple[Sighting, ...] = ()
    unsightings: tuple[Sighting, ...] = ()  # that an undone change had brought
    facts: tuple[Fact, ...] = ()  # new or changed; others of memories that end are closed by the log
    gone_facts: tuple[str, ...] = ()  # ids of facts that an undone change had brought
    gone_aliases: tuple[tuple[str, str], ...] = ()  # (entity_id, name_key) that an undone change had brought
    taken: Taken | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of one input."""

    status: Status
    id: str = ""
    text: str = ""
    replaced_id: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AddResult:
    """One receipt per input, in order, and the episode that keeps them together."""

    results: tuple[Receipt, ...]
    episode_id: str


@dataclass(frozen=True, slots=True)
class DeleteResult:
    """The memory that is gone, with the text it had.

    Where it was purged, `n_purged` memories were, those included that led to it, and `copies` are the files of earlier
    times that still have it. `same_words` are the ids of memories that stay, and say the same word for word.
    """

    id: str
    text: str
    removed_entities: tuple[str, ...] = ()
    n_purged: int = 0
    copies: tuple[str, ...] = ()
    same_words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Matching:
    """How many memories some restrictions hold of, and the newest few of them; `mark` stands for all of them."""

    n: int
    newest: tuple[Memory, ...] = ()
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a restriction took away: `n` memories, by the change `change_id`, which undo takes back.

    Where it was a purge there is no way back: `n_purged` counts those too that led to them, and `copies` are files of
    earlier times that still have them.
    """

    n: int
    change_id: str = ""
    n_purged: int = 0
    copies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rating:
    """What a user's ratings of one memory come to: `value` as it was at `rated_at`, and when it was last useful."""

    memory_id: str
    user_id: str
    value: float
    rated_at: datetime
    useful_at: datetime | None


@dataclass(frozen=True, slots=True)
class RateResult:
    """The memory that was rated, and its importance in [0, 1] before and since."""

    id: str
    text: str
    is_useful: bool
    importance_before: float
    importance: float


@dataclass(frozen=True, slots=True)
class Secret:
    """One span of a text, `text[start:end]`; `kind` is key, token, password, url password, private key, card or pin."""

    start: int
    end: int
    kind: str
