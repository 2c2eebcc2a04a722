"""Drafts become memories: embedded, resolved against what is known, written as one change.

What both ways in share: words kept as they are, and statements that a language model made of them.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from .embedder import Embedder
from .embedding import made_of
from .knowledge import facts_of_memories
from .receipts import noted
from .records import Change, Draft, Entity, Episode, Memory, Mention, Receipt, Sighting, State
from .resolve import Resolution, Resolved, find_duplicate, link_mentions
from .score import Floats
from .store import commit
from .stores import Stores
from .text import heading

KNOWN = "already known, word for word; what is known keeps its kind, run, metadata and expiry"
QUEUED = "waits for extraction by a language model, searchable word for word until then"
REPEATED = "repeated within the call"


@dataclass(frozen=True, slots=True)
class Vectors:
    """Vectors by source of draft and by name key, the model that made them, and '' or why there are none."""

    texts: Mapping[int, Floats]
    names: Mapping[str, Floats]
    embedder: Embedder
    lag: str = ""


def embed(drafts: Sequence[Draft], episode: Episode, stores: Stores) -> Vectors:
    """The vectors of drafts and of the names in them that are new; call it without the write lock."""
    kept = [(place, draft) for place, draft in enumerate(drafts) if not draft.ignored_because]
    index, embedder = stores.index_and_model_of(episode.owner.user_id)
    unknown = {m.key: m.name for _, draft in kept for m in draft.mentions if m.key not in index.names}
    forms = [(heading(draft.observed_at(episode), draft.message.speaker), draft.text) for _, draft in kept]
    texts, names, lag = made_of(forms, list(unknown.values()), embedder, stores)
    by_place = {place: vectors for (place, _), vectors in zip(kept, texts, strict=not lag)}
    return Vectors(by_place, dict(zip(unknown, names, strict=not lag)), embedder, lag)


def comparable(vectors: Vectors, drafts: Sequence[Draft], episode: Episode, stores: Stores) -> Vectors:
    """The vectors, made again where the model was replaced since. Call it with `stores.writing` held."""
    return vectors if vectors.embedder is stores.embedder else embed(drafts, episode, stores)


def same_text(drafts: Sequence[Draft], episode: Episode, stores: Stores, states: Collection[State]) -> list[Memory]:
    """The memories of the user, in one of some states, that have the text of one of the drafts.

    One of which something has ended meanwhile is left out: to say it again is news.
    """
    known = stores.log.same_text(episode.owner.user_id, [draft.hash for draft in drafts if draft.hash], states)
    facts = facts_of_memories(stores.log, [memory.id for memory in known])
    return [memory for memory in known if not any(fact.invalid_at for fact in facts.get(memory.id, ()))]


def resolve(
    drafts: Sequence[Draft], known: Sequence[Memory], episode: Episode, stores: Stores, vectors: Vectors
) -> Resolution:
    """Which drafts repeat a known memory, and what the names in the others mean. Call with `stores.writing` held."""
    index = stores.index_of(episode.owner.user_id)
    user_id = episode.owner.user_id
    resolution = Resolution()
    first_of: dict[tuple[str, str], int] = {}

    def new_entity(mention: Mention) -> Entity:
        identifier = stores.ids.next(stores.clock())
        return Entity(identifier, user_id, mention.name, mention.key, mention.type, 0, "")

    for place, draft in enumerate(drafts):
        if draft.ignored_because:
            resolution.drafts.append(Resolved(draft))
            continue
        duplicate = find_duplicate(draft, episode, known)
        repeats = None if duplicate else first_of.get((draft.hash, draft.message.speaker))
        first_of.setdefault((draft.hash, draft.message.speaker), place)
        entity_ids: tuple[str, ...] = ()
        if not duplicate and repeats is None:
            with index.lock:
                entity_ids = link_mentions(draft.mentions, index.names, vectors.names, resolution, new_entity)
        resolution.drafts.append(Resolved(draft, duplicate, repeats, entity_ids))
    return resolution


@dataclass(frozen=True, slots=True)
class Admitted:
    """The memories that drafts became, by place, and the known ones that some repeat, by id."""

    memories: Mapping[int, Memory]
    known: Mapping[str, Memory]
    receipts: tuple[Receipt, ...]


def admit(
    resolution: Resolution, episode: Episode, stores: Stores, change_id: str, positions: Sequence[int]
) -> Admitted:
    """The rows and receipts of resolved drafts; `positions` gives each draft's place in the run."""
    memories = {
        place: _memory(item.draft, episode, stores.ids.next(stores.clock()), positions[place], change_id, stores)
        for place, item in enumerate(resolution.drafts)
        if item.is_new
    }
    receipts = tuple(_receipt(item, memories.get(place), memories) for place, item in enumerate(resolution.drafts))
    known = stores.log.get_memories([receipt.id for receipt in receipts if receipt.status == "duplicate"])
    return Admitted(memories, known, receipts)


def met_again(admitted: Admitted, resolution: Resolution, episode: Episode) -> tuple[Sighting, ...]:
    """The known memories that drafts say word for word, on another day; each day once."""
    times: dict[str, list[datetime]] = {}
    for item in resolution.drafts:
        times.setdefault(item.duplicate_of, []).append(item.draft.observed_at(episode))
    days: dict[tuple[str, date], datetime] = {}
    for identifier, memory in admitted.known.items():
        for at in times.get(identifier, [episode.observed_at]):
            if memory.observed_at.date() != at.date():
                days.setdefault((identifier, at.date()), at)
    return tuple(Sighting(identifier, at) for (identifier, _), at in days.items())


def write(
    change: Change, episode: Episode, resolution: Resolution, admitted: Admitted, stores: Stores, vectors: Vectors
) -> str:
    """Commit a change with the names, links and sightings of resolved drafts; '' or why the tables lag behind.

    Call with `stores.writing` held.

    Raises:
        StorageError: the log could not write; nothing has changed.
    """
    full = replace(
        change,
        memories=(*admitted.memories.values(), *change.memories),
        entities=tuple(replace(entity, revision=change.id) for entity in resolution.new_entities),
        links=tuple(
            (admitted.memories[place].id, entity_id)
            for place, item in enumerate(resolution.drafts)
            for entity_id in item.entity_ids
        ),
        aliases=tuple(resolution.aliases),
        sightings=change.sightings + met_again(admitted, resolution, episode),
    )
    # Known rows change in state and times, never in their words: their vectors hold.
    index = stores.index_of(episode.owner.user_id)
    kept = {memory.id: known for memory in change.memories if (known := index.vectors_of(memory.id)) is not None}
    commit(
        full,
        stores,
        kept
        | {memory.id: vectors.texts[place] for place, memory in admitted.memories.items() if place in vectors.texts},
        {entity.id: vectors.names[entity.name_key] for entity in full.entities if entity.name_key in vectors.names},
    )
    return vectors.lag


def with_lag(receipts: Sequence[Receipt], lag: str) -> tuple[Receipt, ...]:
    """The receipts, those of new memories with the note that they cannot be found by meaning yet."""
    if not lag:
        return tuple(receipts)
    note = f"stored, but not yet findable by meaning: {lag}"
    return tuple(noted(receipt, note) if receipt.status in ("added", "queued") else receipt for receipt in receipts)


def _memory(draft: Draft, episode: Episode, identifier: str, position: int, revision: str, stores: Stores) -> Memory:
    now = stores.clock()
    return Memory(
        id=identifier,
        user_id=episode.owner.user_id,
        agent_id=episode.owner.agent_id,
        run_id=episode.run_id,
        position=position,
        speaker=draft.message.speaker,
        role=draft.message.role,
        about=draft.about,
        kind=draft.kind,
        text=draft.text,
        lemmas=draft.lemmas,
        hash=draft.hash,
        language=draft.language,
        importance=draft.importance,
        observed_at=draft.observed_at(episode),
        created_at=now,
        updated_at=now,
        expires_at=episode.expires_at,
        valid_from=None,
        invalid_at=None,
        closed_at=None,
        superseded_by="",
        state=draft.state,
        episode_id=episode.id,
        metadata=draft.own.metadata if draft.own else episode.metadata,
        model=draft.model,
        prompt=draft.prompt,
        revision=revision,
    )


def _receipt(item: Resolved, memory: Memory | None, memories: Mapping[int, Memory]) -> Receipt:
    draft = item.draft
    if draft.ignored_because:
        return Receipt("ignored", text=draft.text, reason=draft.ignored_because)
    if item.duplicate_of:
        return Receipt("duplicate", item.duplicate_of, draft.text, reason=KNOWN)
    if memory is None:
        first = memories[item.repeats] if item.repeats is not None else None
        return Receipt("duplicate", first.id if first else "", draft.text, reason=REPEATED)
    if draft.state == "raw":
        return Receipt("queued", memory.id, draft.text, reason=QUEUED)
    return Receipt("added", memory.id, draft.text)
