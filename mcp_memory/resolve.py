"""Drafts against what is known: which are exact duplicates, and which entities their names mean."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import SequenceMatcher

import regex

from .gazetteer import Gazetteer
from .records import Draft, Entity, Episode, Memory, Mention
from .score import Floats

# Two spellings of one name ("PostgreSQL 16" / "Postgresql-16") are this close and share their digits; two
# people whose first names differ in a letter are not.
SAME_NAME_SIMILARITY = 0.95
MIN_SHARED_LETTERS = 0.7


@dataclass(frozen=True, slots=True)
class Resolved:
    """A draft with its verdict: the memory or the earlier draft it repeats, or the entities to link it to."""

    draft: Draft
    duplicate_of: str = ""
    repeats: int | None = None  # place of the equal draft of the same call
    entity_ids: tuple[str, ...] = ()

    @property
    def is_new(self) -> bool:
        """Whether it is to become a memory."""
        return not self.duplicate_of and self.repeats is None and not self.draft.ignored_because


@dataclass(slots=True)
class Resolution:
    """The verdicts on all drafts of an episode, and the entities and aliases that they bring."""

    drafts: list[Resolved] = field(default_factory=list)
    new_entities: list[Entity] = field(default_factory=list)
    aliases: list[tuple[str, str, str]] = field(default_factory=list)

    def positions(self, first: int) -> list[int]:
        """Places in the run for the drafts: new ones count up from `first`."""
        places: list[int] = []
        for item in self.drafts:
            places.append(first)
            first += item.is_new
        return places


def find_duplicate(draft: Draft, episode: Episode, known: Sequence[Memory]) -> str:
    """The id of the memory that a draft repeats exactly, or ''.

    Same text (normalised), user, about and speaker, for messages the same run, and for what an agent says of
    itself the same agent; the known one must be unexpired, kept as long as the new one is to be, and valid at the
    time of the new one: a statement that has ended since may be news again.
    """
    at = draft.observed_at(episode)
    for memory in known:
        if (
            memory.hash == draft.hash
            and memory.about == draft.about
            and memory.speaker == draft.message.speaker
            and (draft.about != "agent" or memory.agent_id == episode.owner.agent_id)
            and (draft.kind != "message" or memory.run_id == episode.run_id)
            and _holds_at(memory, at, episode.created_at)
            and _lasts(memory, episode)
        ):
            return memory.id
    return ""


def _lasts(memory: Memory, episode: Episode) -> bool:
    return memory.expires_at is None or (episode.expires_at is not None and episode.expires_at <= memory.expires_at)


def _holds_at(memory: Memory, at: datetime, now: datetime) -> bool:
    unexpired = memory.expires_at is None or memory.expires_at > now
    begun = memory.valid_from is None or memory.valid_from <= at
    unended = memory.invalid_at is None or memory.invalid_at > at
    return unexpired and begun and unended


def link_mentions(
    mentions: Sequence[Mention],
    names: Gazetteer,
    vectors: Mapping[str, Floats],
    resolution: Resolution,
    new_entity: Callable[[Mention], Entity],
) -> tuple[str, ...]:
    """The entity of each mention: by key, else by a nearly equal name, else a new one.

    `vectors` gives the embedding of each name that is not known by its key; a missing one means that only
    keys are compared. What is new is noted in `resolution`, where later mentions of the call find it.
    """
    brought = {entity.name_key: entity.id for entity in resolution.new_entities}
    brought |= {key: entity_id for entity_id, _, key in resolution.aliases}
    found: dict[str, None] = {}
    for mention in mentions:
        keys = (mention.key, *mention.other_keys)
        entity_id = next((brought[key] for key in keys if key in brought), "")
        if entity := next((entity for key in keys if (entity := names.by_key(key))), None):
            entity_id = entity.id
        # Paths ("=user/sister") look more alike than they are.
        if not entity_id and mention.key in vectors and not mention.key.startswith("="):
            similar, similarity = names.most_similar(vectors[mention.key])
            if similar and similarity >= SAME_NAME_SIMILARITY and _may_be_same(similar.name_key, mention.key):
                entity_id = similar.id
        if not entity_id:
            entity = new_entity(mention)
            entity_id = entity.id
            resolution.new_entities.append(entity)
            brought[mention.key] = entity_id
        for key in keys:
            if names.by_key(key) is None and key not in brought:
                resolution.aliases.append((entity_id, mention.name, key))
                brought[key] = entity_id
        found[entity_id] = None
    return tuple(found)


def _may_be_same(one: str, other: str) -> bool:
    """Whether two keys differ in order and spelling only: same digits, and the same words or most letters.

    A model reads characters it does not know as one unknown token, so that similarity alone proves little.
    """
    if regex.findall(r"\p{N}+", one) != regex.findall(r"\p{N}+", other):
        return False
    alike = SequenceMatcher(None, one, other, autojunk=False).ratio() >= MIN_SHARED_LETTERS
    return alike or sorted(one.split()) == sorted(other.split())
