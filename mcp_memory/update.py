"""The correcting pipeline: a person says how a memory is right, and it is so, in place; the history keeps what it was.

A correction outranks a language model: what a model reads out of words that were said before it, or at the same time,
neither ends the memory nor takes its place (`relate.outranks`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .admit import Admitted
from .claims import CONFIDENCE, began_before, claims_of_memory, with_claimed
from .embedding import Embedded, comparable, embed
from .errors import InvalidInputError, NotFoundError
from .extract import Words, words_of
from .index import UserIndex
from .knowledge import facts_of_memories
from .lookup import find_kept
from .receipts import in_words
from .records import BY_HAND, ENDED_WITH_MEMORY, Change, Claim, Entity, Fact, Memory, Mention, Owner, Receipt
from .reports import FieldChange, Updated
from .resolve import Resolution, link_mentions
from .schema import as_json
from .settle import settle
from .store import commit, kept_vectors
from .stores import Stores
from .trail import TOLD_FIELDS, links_of

NOTHING_DIFFERS = "that is what it says already; nothing was changed"
KEPT_FROM_READING = "it waited for a language model and is kept as it is now"
# Whether what is told of another memory holds now.
_ENDS = {False: "no longer so", True: "so again"}
# So much is told of what a correction does to others.
_MAX_TOLD, _N_CHARS = 5, 100


def update(memory_id: str, given: Mapping[str, Any], owner: Owner, stores: Stores) -> Updated:
    """Put the `given` fields in place of those that a memory has: text, kind, importance, expires_at, metadata.

    A new text is kept word for word, as a verbatim add keeps its words. The facts that were read out of the old text
    are withdrawn, those of the new one count as given by hand, and what both end is settled anew. Words that waited for
    the language model are not read by it any more. Another expiry may let what they say end other facts, or no more.

    Raises:
        NotFoundError: there is no such memory, or it has given way to others.
        InvalidInputError: another memory says so already.
        StorageError: the log could not write; nothing has changed.
    """
    memory = _find(memory_id, owner, stores)
    index = stores.index_of(owner.user_id)
    words = words_of(given["text"], index.languages, index.names) if "text" in given else None
    claims = _claims(replace(memory, text=given["text"], language=words.language)) if words else ()
    mentions = with_claimed(words.mentions, claims) if words else ()
    embedded, reworded, unknown = Embedded({}, {}), list[Memory](), list[str]()
    if words and given["text"] != memory.text:
        unknown = [mention.name for mention in mentions if mention.key not in index.names]
        reworded = [replace(memory, text=given["text"])]
        embedded = embed(reworded, unknown, stores)
    with stores.writing:
        if embedded.embedder:
            embedded = comparable(embedded, reworded, unknown, stores)
        memory = _find(memory_id, owner, stores)
        now = stores.clock()
        new = _corrected(memory, given, words)
        if new == memory:
            return Updated(memory.id, memory.text, reason=NOTHING_DIFFERS)
        is_reworded = new.text != memory.text
        if is_reworded:
            _refuse_repetition(new, stores)
        change_id = stores.ids.next(now)
        new = replace(new, updated_at=now, revision=change_id)
        names = Resolution()
        linked, wanted = links_of(stores.log, [memory.id]).get(memory.id, []), tuple[str, ...]()
        if is_reworded and words:
            wanted = _named(mentions, index, embedded, names, owner, stores)
        # The same words in other letters claim the same.
        is_restated = new.hash != memory.hash
        known_facts = facts_of_memories(stores.log, [memory.id]).get(memory.id, ())
        withdrawn = _withdrawn(known_facts, change_id, stores) if is_restated else ()
        if withdrawn and any(fact.ended_by not in ("", ENDED_WITH_MEMORY) for fact in known_facts):
            # What had ended it may not end what it says now.
            new = replace(new, state="active", invalid_at=None, closed_at=None, superseded_by="")
        known: tuple[Memory, ...] = ()
        facts = withdrawn
        if is_restated:
            said = Admitted({0: new}, {}, (Receipt("added", new.id, new.text),))
            settled = settle({0: claims}, said, names, stores, change_id, withdrawn=withdrawn)
            new, known, facts = settled.admitted.memories[0], settled.known, (*withdrawn, *settled.facts)
        elif new.expires_at != memory.expires_at:
            settled = settle({}, Admitted({}, {}, ()), names, stores, change_id, reconsidered=known_facts, known=(new,))
            [new] = (row for row in settled.known if row.id == new.id)
            known = tuple(row for row in settled.known if row.id != new.id)
            facts = settled.facts
        change = Change(
            id=change_id,
            at=now,
            owner=owner,
            operation="update",
            memories=(new, *known),
            entities=tuple(replace(entity, revision=change_id) for entity in names.new_entities),
            links=tuple((new.id, each) for each in wanted if each not in linked),
            unlinks=tuple((new.id, each) for each in linked if each not in wanted) if is_reworded else (),
            aliases=tuple(names.aliases),
            facts=facts,
        )
        also = _also(known, facts, memory.id, stores)
        vectors = kept_vectors(known if is_reworded else (memory, *known), stores)
        vectors |= embedded.memories if is_reworded else {}
        of_names = {e.id: embedded.names[e.name] for e in change.entities if e.name in embedded.names}
        commit(change, stores, vectors, of_names)
    notes = [KEPT_FROM_READING] if memory.state == "raw" else []
    notes += [f"not yet findable by meaning: {embedded.lag}"] if embedded.lag else []
    return Updated(new.id, new.text, change_id, differences(memory, new), len(withdrawn), "; ".join(notes), also)


def differences(before: Memory, after: Memory) -> tuple[FieldChange, ...]:
    """The fields that a person may look at and that differ."""
    rows = [as_json({name: getattr(memory, name) for name in TOLD_FIELDS}) for memory in (before, after)]
    return tuple(
        FieldChange(name, rows[0][name], rows[1][name]) for name in TOLD_FIELDS if rows[0][name] != rows[1][name]
    )


def _also(known: Sequence[Memory], facts: Sequence[Fact], corrected_id: str, stores: Stores) -> tuple[str, ...]:
    """What a correction ends of other memories, or brings back; call it before that is written."""
    before = stores.log.get_memories([memory.id for memory in known])
    told, whole = [], set()
    for memory in known:
        if (memory.state == "invalid") != (before[memory.id].state == "invalid"):
            whole.add(memory.id)
            told.append(f"{_ENDS[memory.state != 'invalid']}: [{memory.id}] {_clipped(memory.text)}")
    others = {fact.memory_id for fact in facts} - whole - {corrected_id}
    was = {fact.id: fact for of_one in facts_of_memories(stores.log, sorted(others)).values() for fact in of_one}
    for fact in facts:
        former = was.get(fact.id)
        if former and fact.holds and (former.invalid_at is None) != (fact.invalid_at is None):
            told.append(f"{_ENDS[fact.invalid_at is None]} in [{fact.memory_id}], which stays: {in_words(fact)}")
    return tuple(told if len(told) <= _MAX_TOLD else [*told[:_MAX_TOLD], f"and {len(told) - _MAX_TOLD} more"])


def _clipped(text: str) -> str:
    return text if len(text) <= _N_CHARS else f"{text[:_N_CHARS]} …"


def _find(memory_id: str, owner: Owner, stores: Stores) -> Memory:
    memory = find_kept(memory_id, owner.user_id, stores.log, to="correct")
    if memory.state == "distilled":
        raise NotFoundError(
            f"memory {memory.id!r} is out of search: there was nothing in it to keep",
            hint="add what is to be remembered as a new memory",
        )
    return memory


def _corrected(memory: Memory, given: Mapping[str, Any], words: Words | None) -> Memory:
    new = replace(memory, **given)
    if new == memory:
        return memory
    if words and new.text != memory.text:
        new = replace(new, lemmas=words.lemmas, hash=words.hash, language=words.language, model="", prompt=BY_HAND)
        if memory.valid_from == began_before(claims_of_memory(memory).claims, memory.observed_at):
            # It was the former words that told of that time.
            new = replace(new, valid_from=None)
    # What waits to be read gives way to what is read out of it, and the correction would be lost.
    return replace(new, state="active", prompt=BY_HAND) if memory.state == "raw" else new


def _refuse_repetition(new: Memory, stores: Stores) -> None:
    """Two memories that say the same would be found twice and corrected by halves."""
    if new.state == "invalid":
        return
    for other in stores.log.same_text(new.user_id, [new.hash], ("active", "raw")):
        if other.id != new.id and (other.about, other.speaker) == (new.about, new.speaker):
            raise InvalidInputError(
                f"memory {other.id!r} says so already; nothing was changed",
                hint=f"delete {new.id} if it says nothing more, or give it other words",
            )


def _claims(memory: Memory) -> tuple[Claim, ...]:
    """What the corrected words claim; a person says so by hand."""
    return tuple(
        replace(claim, source="hand", confidence=CONFIDENCE["hand"]) for claim in claims_of_memory(memory).claims
    )


def _named(
    mentions: Sequence[Mention], index: UserIndex, embedded: Embedded, names: Resolution, owner: Owner, stores: Stores
) -> tuple[str, ...]:
    """The entities that mentions in the new words mean; new ones are noted in `names`."""

    def new_entity(mention: Mention) -> Entity:
        identifier = stores.ids.next(stores.clock())
        return Entity(identifier, owner.user_id, mention.name, mention.key, mention.type, 0, "")

    vectors = {m.key: embedded.names[m.name] for m in mentions if m.name in embedded.names}
    with index.lock:
        return link_mentions(mentions, index.names, vectors, names, new_entity)


def _withdrawn(known: Sequence[Fact], change_id: str, stores: Stores) -> tuple[Fact, ...]:
    """The facts of the old words, closed without an end: nobody says them any more."""
    now = stores.clock()
    return tuple(
        replace(fact, invalid_at=None, closed_at=now, ended_by=ENDED_WITH_MEMORY, revision=change_id)
        for fact in known
        if fact.closed_at is None or fact.invalid_at is not None
    )
