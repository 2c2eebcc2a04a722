"""What of that which bears on a prompt is news to a conversation: not given, not said in it, not overtaken."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from .conversations import Conversation
from .index import UserIndex
from .records import Memory
from .schema import to_micros
from .search_records import Selection
from .stores import Stores

# Of two memories this alike the older tells what the newer has overtaken; measured with the packaged model, to which
# texts in languages other than its own look alike whatever they say.
_SAME_MATTER, _SAME_MATTER_ELSEWHERE = 0.65, 0.85
_OWN_LANGUAGE = "en"


def news(
    memories: Sequence[Memory], given: Collection[str], conversation: Conversation, selection: Selection, stores: Stores
) -> list[Memory]:
    """The memories, in order, that a conversation's context does not hold, each once.

    One that a newer memory about the same matter has overtaken gives its place to that: what is told last is taken for
    what holds. Searches still find it.
    """
    index = stores.index_of(selection.owner.user_id)
    latest = [_latest_of(memory, index, selection, stores) for memory in memories]
    by_id = {memory.id: memory for memory in reversed(latest)}
    fresh = (by_id.pop(memory.id, None) for memory in latest)
    return [memory for memory in fresh if memory and memory.id not in given and not _is_known(memory, conversation)]


def _is_known(memory: Memory, conversation: Conversation) -> bool:
    """Whether a memory came of what this conversation holds still; or is an answer that nobody has read anything of."""
    if memory.state == "raw" and memory.role != "user":
        return True
    return memory.run_id == conversation.id and (
        conversation.begun_at is None or memory.created_at >= conversation.begun_at
    )


def _latest_of(memory: Memory, index: UserIndex, selection: Selection, stores: Stores) -> Memory:
    """The newest visible memory about the same matter, which may be this one."""
    own = index.vectors_of(memory.id)
    if own is None:
        return memory
    with index.lock:
        alike = np.max([index.cosines(vector) for vector in own], axis=0)
        newer = index.select(replace(selection, scope="user")) & (
            index.column("observed_at") > to_micros(memory.observed_at)
        )
        rows = np.flatnonzero(newer & (alike >= _SAME_MATTER))
        ids = {index.ids[row]: float(alike[row]) for row in rows.tolist()}
    others = stores.log.get_memories(list(ids)).values()
    matching = [
        other for other in others if ids[other.id] >= _least_likeness(memory, other) and _can_overtake(other, memory)
    ]
    return max(matching, key=lambda other: other.observed_at, default=memory)


def _least_likeness(one: Memory, other: Memory) -> float:
    return _SAME_MATTER if one.language == other.language == _OWN_LANGUAGE else _SAME_MATTER_ELSEWHERE


def _can_overtake(other: Memory, memory: Memory) -> bool:
    return other.role == memory.role and other.about == memory.about and other.speaker == memory.speaker
