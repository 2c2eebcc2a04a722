"""The adding pipeline: extract, resolve, store. Order only; what each step decides is the step's."""

from collections.abc import Mapping
from dataclasses import replace

from .errors import McpMemoryError
from .extract import verbatim
from .records import AddResult, Change, Draft, Entity, Episode, Job, Memory, Mention, Receipt, Sighting
from .resolve import Resolution, Resolved, find_duplicate, link_mentions
from .score import Floats
from .store import commit
from .stores import Stores
from .text import heading

KNOWN = "already known, word for word; what is known keeps its kind, run and metadata"
QUEUED = "waits for extraction by a language model, searchable word for word until then"


def add(episode: Episode, stores: Stores) -> AddResult:
    """Remember an episode; when this returns, it is durable and the next search finds it.

    Raises:
        StorageError: the log could not write; nothing was remembered.
    """
    index = stores.index_of(episode.owner.user_id)
    drafts = verbatim(episode, languages=index.languages, known_names=index.names)
    texts, names, lag = _embed(drafts, episode, stores)
    with stores.writing:
        resolution = _resolve(drafts, episode, stores, names)
        change, receipts = _change(resolution, episode, stores)
        if change:
            by_source = {item.draft.source: item for item in resolution.drafts if _is_new(item)}
            added = dict(zip(by_source, change.memories, strict=False))
            outcome = commit(
                change,
                stores,
                {memory.id: texts[source] for source, memory in added.items() if source in texts},
                {entity.id: names[entity.name_key] for entity in change.entities if entity.name_key in names},
            )
            lag = outcome.lag or lag
    if lag:
        receipts = [_with_lag(receipt, lag) for receipt in receipts]
    return AddResult(tuple(receipts), episode.id if change else "")


def _embed(
    drafts: list[Draft], episode: Episode, stores: Stores
) -> tuple[Mapping[int, Floats], Mapping[str, Floats], str]:
    """Vectors by source and by name key, before the write lock is taken; and why there are none."""
    kept = [draft for draft in drafts if not draft.ignored_because]
    index = stores.index_of(episode.owner.user_id)
    unknown = {m.key: m.name for draft in kept for m in draft.mentions if m.key not in index.names}
    forms = [(heading(episode.observed_at, draft.message.speaker), draft.text) for draft in kept]
    try:
        texts = stores.embedder.embed_texts(forms)
        names = stores.embedder.embed_names(list(unknown.values())) if unknown else ()
        stores.tables()
    except McpMemoryError as exc:
        # The log takes it all the same: what was said must not depend on a model.
        return {}, {}, exc.message
    by_source = {draft.source: vectors for draft, vectors in zip(kept, texts, strict=True)}
    return by_source, dict(zip(unknown, names, strict=True)), ""


def _resolve(drafts: list[Draft], episode: Episode, stores: Stores, names: Mapping[str, Floats]) -> Resolution:
    index = stores.index_of(episode.owner.user_id)
    user_id = episode.owner.user_id
    known = stores.log.same_text(user_id, [draft.hash for draft in drafts if draft.hash])
    resolution = Resolution()
    first_of: dict[tuple[str, str], int] = {}

    def new_entity(mention: Mention) -> Entity:
        identifier = stores.ids.next(episode.created_at)
        return Entity(identifier, user_id, mention.name, mention.key, mention.type, 0, "")

    for draft in drafts:
        if draft.ignored_because:
            resolution.drafts.append(Resolved(draft))
            continue
        duplicate = find_duplicate(draft, episode, known)
        repeats = None if duplicate else first_of.get((draft.hash, draft.message.speaker))
        first_of.setdefault((draft.hash, draft.message.speaker), draft.source)
        entity_ids: tuple[str, ...] = ()
        if not duplicate and repeats is None:
            with index.lock:
                entity_ids = link_mentions(draft.mentions, index.names, names, resolution, new_entity)
        resolution.drafts.append(Resolved(draft, duplicate, repeats, entity_ids))
    return resolution


def _is_new(item: Resolved) -> bool:
    return not item.duplicate_of and item.repeats is None and not item.draft.ignored_because


def _change(resolution: Resolution, episode: Episode, stores: Stores) -> tuple[Change | None, list[Receipt]]:
    """The transaction and the receipts that an episode leads to; no change where every input was empty."""
    if all(item.draft.ignored_because for item in resolution.drafts):
        return None, [_ignored(item.draft) for item in resolution.drafts]
    ids = stores.ids
    change_id = ids.next(episode.created_at)
    position = stores.log.next_position(episode.owner.user_id, episode.run_id)
    memories: dict[int, Memory] = {}
    for item in resolution.drafts:
        if _is_new(item):
            identifier = ids.next(episode.created_at)
            place = position + len(memories)
            memories[item.draft.source] = _memory(item.draft, episode, identifier, place, change_id)
    receipts = [_receipt(item, memories) for item in resolution.drafts]
    known = stores.log.get_memories([r.id for r in receipts if r.status == "duplicate"])
    sightings = tuple(
        Sighting(identifier, episode.observed_at)
        for identifier, memory in known.items()
        if memory.observed_at.date() != episode.observed_at.date()
    )
    # Words that waited for extraction and are now given to be kept as they are.
    kept = [
        replace(memory, state="active", updated_at=episode.created_at, revision=change_id)
        for memory in known.values()
        if memory.state == "raw" and not episode.infer
    ]
    waits = episode.infer and (bool(memories) or any(m.state != "raw" for m in known.values()))
    job = Job(
        id=ids.next(episode.created_at),
        user_id=episode.owner.user_id,
        episode_id=episode.id,
        run_id=episode.run_id,
        task="procedure" if episode.kind == "procedure" else "extract",
        next_at=episode.created_at,
    )
    change = Change(
        id=change_id,
        at=episode.created_at,
        owner=episode.owner,
        operation="add",
        episode=episode,
        job=job if waits else None,
        memories=(*memories.values(), *kept),
        entities=tuple(replace(entity, revision=change_id) for entity in resolution.new_entities),
        links=tuple(
            (memories[item.draft.source].id, entity_id) for item in resolution.drafts for entity_id in item.entity_ids
        ),
        aliases=tuple(resolution.aliases),
        sightings=sightings,
    )
    return change, receipts


def _memory(draft: Draft, episode: Episode, identifier: str, position: int, revision: str) -> Memory:
    return Memory(
        id=identifier,
        user_id=episode.owner.user_id,
        agent_id=episode.owner.agent_id,
        run_id=episode.run_id,
        position=position,
        speaker=draft.message.speaker,
        role=draft.message.role,
        about=episode.about,
        kind=draft.kind,
        text=draft.text,
        lemmas=draft.lemmas,
        hash=draft.hash,
        language=draft.language,
        importance=0.5,
        observed_at=episode.observed_at,
        created_at=episode.created_at,
        updated_at=episode.created_at,
        expires_at=episode.expires_at,
        valid_from=None,
        invalid_at=None,
        closed_at=None,
        superseded_by="",
        state=draft.state,
        episode_id=episode.id,
        metadata=episode.metadata,
        model="",
        prompt="",
        revision=revision,
    )


def _receipt(item: Resolved, memories: Mapping[int, Memory]) -> Receipt:
    draft = item.draft
    if draft.ignored_because:
        return _ignored(draft)
    if item.duplicate_of:
        return Receipt("duplicate", item.duplicate_of, draft.text, reason=KNOWN)
    if item.repeats is not None:
        return Receipt("duplicate", memories[item.repeats].id, draft.text, reason="repeated within the call")
    identifier = memories[draft.source].id
    if draft.state == "raw":
        return Receipt("queued", identifier, draft.text, reason=QUEUED)
    return Receipt("added", identifier, draft.text)


def _ignored(draft: Draft) -> Receipt:
    return Receipt("ignored", text=draft.text, reason=draft.ignored_because)


def _with_lag(receipt: Receipt, lag: str) -> Receipt:
    if receipt.status not in ("added", "queued"):
        return receipt
    note = f"stored, but not yet findable by meaning: {lag}"
    return replace(receipt, reason=f"{receipt.reason}; {note}" if receipt.reason else note)
