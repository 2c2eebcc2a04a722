"""What of that which bears on a prompt is news to a conversation: not given, not said in it, not overtaken."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from .conversations import Conversation
from .knowledge import facts_of_memories
from .records import Memory
from .search_records import Selection
from .sift import is_question, sentences
from .stores import Stores

# Of two memories this alike the older tells what the newer has overtaken; measured with the packaged model, to which
# texts in languages other than its own look alike whatever they say.
_SAME_MATTER, _SAME_MATTER_ELSEWHERE = 0.65, 0.85
_OWN_LANGUAGE = "en"
# More that are alike are not about one matter.
_MOST_ALIKE = 4
# More than a block of some hundred tokens holds.
MOST = 24


def news(
    memories: Sequence[Memory],
    given: Collection[str],
    conversation: Conversation,
    selection: Selection,
    stores: Stores,
) -> list[Memory]:
    """The memories, in order, that a conversation's context does not hold, each once, at most `MOST`.

    One that a newer memory about the same matter has overtaken gives its place to that: what is told last is taken for
    what holds. The newer one must hold as many of the words `asked` for, in the forms of `Memory.lemmas`. Searches
    still find the older.
    """

    def is_news(memory: Memory) -> bool:
        return memory.id not in given and not _is_known(memory, conversation)

    fresh = list({memory.id: memory for memory in memories if is_news(memory)}.values())[:MOST]
    alike = _alike(fresh, selection, stores)
    ids = {other.id for _, others in alike for other, _ in others} | {memory.id for memory in fresh}
    facts = facts_of_memories(stores.log, sorted(ids))
    subjects = {identifier: {fact.subject_id for fact in found} for identifier, found in facts.items()}
    latest = [_latest(memory, others, subjects) for memory, others in alike]
    return list({memory.id: memory for memory in latest if is_news(memory)}.values())


def _is_known(memory: Memory, conversation: Conversation) -> bool:
    """Whether a memory came of what this conversation holds still; or is an answer or a question, and tells nothing."""
    if memory.state == "raw" and (memory.role != "user" or all(map(is_question, sentences(memory.text)))):
        return True
    return memory.run_id == conversation.id and (
        conversation.begun_at is None or memory.created_at >= conversation.begun_at
    )


def _alike(
    memories: Sequence[Memory], selection: Selection, stores: Stores
) -> list[tuple[Memory, list[tuple[Memory, float]]]]:
    """Each memory with the visible ones that are alike, and how much.

    Where there are many, they are of a kind ("left the boat at …") and not about one matter: none is given.
    """
    index = stores.index_of(selection.owner.user_id)
    vectors = {memory.id: own[0] for memory in memories if (own := index.vectors_of(memory.id)) is not None}
    found: dict[str, dict[str, float]] = {}
    if vectors:
        with index.lock:
            visible = index.select(selection)
            cosines = index.cosines(np.stack(list(vectors.values()), axis=1)).T
            for identifier, own in zip(vectors, cosines, strict=True):
                rows = np.flatnonzero(visible & (own >= _SAME_MATTER)).tolist()
                if len(rows) <= _MOST_ALIKE:
                    found[identifier] = {index.ids[row]: float(own[row]) for row in rows}
    others = stores.log.get_memories(sorted({other for alike in found.values() for other in alike}))
    return [
        (memory, [(others[other], likeness) for other, likeness in found.get(memory.id, {}).items() if other in others])
        for memory in memories
    ]


def _latest(
    memory: Memory,
    alike: Sequence[tuple[Memory, float]],
    subjects: Mapping[str, Collection[str]],
) -> Memory:
    """The newest of those alike that tells of the same matter, which may be the memory itself."""
    own = subjects.get(memory.id, ())
    newer = [
        other
        for other, likeness in alike
        if _is_later(other, memory, likeness)
        and not (own and (theirs := subjects.get(other.id)) and {*own}.isdisjoint(theirs))
    ]
    return max(newer, key=lambda other: other.observed_at, default=memory)


def _is_later(other: Memory, memory: Memory, likeness: float) -> bool:
    is_english = memory.language == other.language == _OWN_LANGUAGE
    return (
        # What was said in a conversation may hold more than one thing.
        "message" not in (other.kind, memory.kind)
        and other.observed_at > memory.observed_at
        and likeness >= (_SAME_MATTER if is_english else _SAME_MATTER_ELSEWHERE)
        and (other.role, other.about, other.speaker) == (memory.role, memory.about, memory.speaker)
    )
