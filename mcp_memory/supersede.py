"""New statements against old truth: which say what is known already, and which end something that was true.

The language model is asked only about pairs that could be either; `relate` has the rules that dispose. What ended
stays in the log, with the time when it ended and what took its place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from .admit import Admitted
from .asking import Ask
from .compare import compare
from .describe import Description
from .errors import McpMemoryError, ModelOutputError
from .knowledge import facts_of_memories, facts_of_types, sightings_of
from .records import Draft, Episode, Memory, Receipt, Sighting
from .relate import (
    Told,
    Verdict,
    disposed,
    is_same_subject,
    may_end,
    may_merge,
    outranks,
)
from .resolve import Resolution
from .score import Floats
from .search import search
from .search_records import Selection
from .sift import sentences
from .stores import Stores
from .vocabulary import SINGLE_BY_LABEL, SINGLE_TYPES

_N_CANDIDATES = 6
# Of the pairs that could matter, so many are asked about for each statement.
_MAX_COMPARISONS = 3
# A longer memory holds more than one statement, and one of them must not end the others.
_MAX_CHARS = 300
# Of the statements of one call, so many are looked back at.
_N_EARLIER = 20


@dataclass(frozen=True, slots=True)
class Tie:
    """How a draft relates to a known memory, or to an earlier draft of the same call."""

    place: int
    verdict: Verdict
    memory_id: str = ""
    other_place: int = -1
    is_earlier: bool = False  # the draft tells of a time before the known memory
    later_at: datetime | None = None  # when the later one of both was last said, in world time


@dataclass(frozen=True, slots=True)
class _Side:
    told: Told
    memory_id: str = ""
    place: int = -1


def find_ties(
    drafts: Mapping[int, Draft],
    descriptions: Mapping[int, Description],
    episode: Episode,
    stores: Stores,
    ask: Ask,
) -> list[Tie]:
    """What drafts repeat and end; call it without the write lock.

    Raises:
        ModelUnavailableError: the model is not there.
    """
    ties: list[Tie] = []
    sides: list[_Side] = []
    cosine = _Cosine(stores)
    for place, draft in drafts.items():
        if not _is_one_statement(draft.text):
            continue
        new = _Side(_told(draft.text, draft.language, episode.observed_at, descriptions.get(place)), place=place)
        known = _candidates(draft, descriptions.get(place), episode, stores)
        for other, is_mergeable in _worth_asking(new, [*reversed(sides[-_N_EARLIER:]), *known], cosine):
            earlier, later = _in_order(new, other)
            try:
                said = compare(earlier.text, later.text, ask)
            except ModelOutputError:
                continue
            verdict = disposed(said, earlier, later, is_mergeable=is_mergeable)
            if verdict != "other":
                is_earlier = earlier is new.told
                ties.append(Tie(place, verdict, other.memory_id, other.place, is_earlier, later.observed_at))
            if verdict == "same":
                break
        sides.append(new)
    return ties


def _in_order(new: _Side, other: _Side) -> tuple[Told, Told]:
    """Both by when they were last said, the earlier first; of one time, what is known already."""
    is_late = other.told.observed_at > new.told.observed_at
    return (new.told, other.told) if is_late else (other.told, new.told)


def _worth_asking(new: _Side, others: Sequence[_Side], cosine: "_Cosine") -> list[tuple[_Side, bool]]:
    """The nearest of those of which the new one could be a repetition or a change, and whether it may be merged."""
    # Most pairs are out whatever their likeness: those need no vectors.
    possible = [other for other in others if may_merge(new.told, other.told, 1.0) or may_end(*_in_order(new, other))]
    similarities = cosine.of(new.told.text, [other.told.text for other in possible])
    nearest = sorted(zip(possible, similarities, strict=True), key=lambda pair: -pair[1])
    pairs = [(other, may_merge(new.told, other.told, similarity)) for other, similarity in nearest]
    return [(other, is_mergeable) for other, is_mergeable in pairs if is_mergeable or may_end(*_in_order(new, other))][
        :_MAX_COMPARISONS
    ]


class _Cosine:
    """How near texts are, each embedded once, bare: the stored vectors are of texts with speaker and date."""

    def __init__(self, stores: Stores) -> None:
        self._embedder = stores.embedder
        self._vectors: dict[str, Floats] = {}

    def of(self, text: str, others: Sequence[str]) -> list[float]:
        """Cosines in [-1, 1], 0 without a model."""
        if not others:
            return []
        unknown = [each for each in dict.fromkeys([text, *others]) if each not in self._vectors]
        try:
            found = self._embedder.embed_texts([("", each) for each in unknown]) if unknown else []
        except McpMemoryError:
            return [0.0] * len(others)
        self._vectors |= {each: vectors[0] for each, vectors in zip(unknown, found, strict=True)}
        return [float(np.dot(self._vectors[text], self._vectors[other])) for other in others]


def _candidates(draft: Draft, description: Description | None, episode: Episode, stores: Stores) -> list[_Side]:
    """Known statements that are near in meaning or in words, or give a value to the same thing."""
    selection = Selection(owner=episode.owner, now=stores.clock(), scope="user")
    found = {
        hit.memory.id: hit.memory
        for hit in search(draft.text, selection, stores, stores.settings, top_k=_N_CANDIDATES, threshold=0.0).hits
    }
    if description and description.fact_type in SINGLE_TYPES | SINGLE_BY_LABEL:
        told = _told(draft.text, draft.language, episode.observed_at, description)
        facts = facts_of_types(stores.log, episode.owner.user_id, [description.fact_type])
        of_subject = [fact.memory_id for fact in facts if is_same_subject(replace(told, subject=fact.subject), told)]
        found |= stores.log.get_memories(of_subject[:_N_CANDIDATES])
    known = [
        memory
        for memory in found.values()
        if memory.state == "active"
        and memory.about == draft.about
        and not outranks(memory, episode.observed_at)
        # What holds for a while only, neither ends what holds for good nor stands in for it.
        and memory.expires_at == episode.expires_at
        and memory.kind not in ("message", "procedure")
        and _is_one_statement(memory.text)
    ]
    sighted = sightings_of(stores.log, [memory.id for memory in known])
    facts_by_memory = facts_of_memories(stores.log, [memory.id for memory in known])
    sides: list[_Side] = []
    for memory in known:
        last_said = max((memory.observed_at, *sighted.get(memory.id, ())))
        told = Told(memory.text, memory.language, last_said, memory.kind)
        for fact in facts_by_memory.get(memory.id, ())[:1]:
            told = replace(told, subject=fact.subject, fact_type=fact.fact_type, relation=fact.label)
        sides.append(_Side(told, memory_id=memory.id))
    return sides


def _is_one_statement(text: str) -> bool:
    """Whether nothing else would end or be merged with it."""
    return len(text) <= _MAX_CHARS and len(sentences(text)) == 1


def _told(text: str, language: str, at: datetime, description: Description | None) -> Told:
    if description is None:
        return Told(text, language, at)
    return Told(text, language, at, description.kind, description.subject, description.fact_type, description.relation)


@dataclass(frozen=True, slots=True)
class Superseded:
    """What ties make of admitted drafts: their rows and receipts, known rows that change, and sightings."""

    admitted: Admitted
    known: tuple[Memory, ...]
    sightings: tuple[Sighting, ...]


def apply_ties(
    ties: Sequence[Tie], resolution: Resolution, admitted: Admitted, stores: Stores, change_id: str
) -> Superseded:
    """Merge and end rows as the ties say. Call it with `stores.writing` held; what has changed since is left alone."""
    rows, receipts = dict(admitted.memories), list(admitted.receipts)
    known = stores.log.get_memories([tie.memory_id for tie in ties if tie.memory_id])
    touched: set[str] = set()
    sightings: list[Sighting] = []
    now = stores.clock()
    for tie in ties:
        new, other = rows.get(tie.place), known.get(tie.memory_id) or rows.get(tie.other_place)
        if new is None or other is None or new.state != "active" or other.state != "active":
            continue
        first, second = (new, other) if tie.is_earlier else (other, new)
        if tie.verdict == "same":
            begun = min(first.valid_from or first.observed_at, second.valid_from or second.observed_at)
            known = {identifier: _led_on(memory, new.id, other.id) for identifier, memory in known.items()}
            rows = {place: _led_on(memory, new.id, other.id) for place, memory in rows.items()}
            new = replace(new, state="merged", superseded_by=other.id)
            if begun < (other.valid_from or other.observed_at):
                other = replace(other, valid_from=begun, updated_at=now, revision=change_id)
            sightings.append(Sighting(other.id, new.observed_at))
            resolution.drafts[tie.place] = replace(resolution.drafts[tie.place], entity_ids=())
        else:
            ended = replace(_ended(first, second, tie.later_at, now), updated_at=now, revision=change_id)
            new, other = (ended, other) if tie.is_earlier else (new, ended)
        receipts[tie.place] = _receipt(tie, receipts[tie.place], new, other)
        rows[tie.place] = new
        if tie.memory_id:
            known[tie.memory_id] = other
            touched.add(tie.memory_id)
        else:
            rows[tie.other_place] = other
    changed = tuple(known[identifier] for identifier in touched)
    return Superseded(replace(admitted, memories=rows, receipts=tuple(receipts)), changed, tuple(sightings))


def _led_on(memory: Memory, merged_id: str, kept_id: str) -> Memory:
    """A memory that a merged one had ended leads to what the merged one says the same as."""
    return replace(memory, superseded_by=kept_id) if memory.superseded_by == merged_id else memory


def _ended(memory: Memory, by: Memory, said_at: datetime | None, now: datetime) -> Memory:
    """A memory as it is from the time on when another one took its place, never before its own beginning."""
    began = memory.valid_from or memory.observed_at
    starts = [start for start in (by.valid_from, by.observed_at, said_at) if start is not None and start >= began]
    return replace(memory, state="invalid", invalid_at=min(starts, default=began), closed_at=now, superseded_by=by.id)


def _receipt(tie: Tie, before: Receipt, new: Memory, other: Memory) -> Receipt:
    if tie.verdict == "same":
        ended = f"; {before.reason}" if before.status == "replaced" else ""
        return Receipt("merged", other.id, new.text, before.replaced_id, f"known already as: {other.text}{ended}")
    if tie.is_earlier:
        until = (new.invalid_at or other.observed_at).date().isoformat()
        return replace(before, reason=f"held until {until}, when this took its place: {other.text}")
    if before.status == "replaced":
        return replace(before, reason=f"{before.reason}; and {other.id}: {other.text}")
    return replace(before, status="replaced", replaced_id=other.id, reason=f"no longer so: {other.text}")
