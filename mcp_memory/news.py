"""What of that which bears on a prompt is news to a conversation: not given, not said in it, not overtaken."""

from collections.abc import Collection, Sequence

import numpy as np

from .conversations import Conversation
from .index import UserIndex
from .pack_recall import Entry
from .records import Memory
from .stores import Stores

# Of two memories this alike the older tells what the newer has overtaken; measured with the packaged model, to which
# texts in languages other than its own look alike whatever they say.
_SAME_MATTER, _SAME_MATTER_ELSEWHERE = 0.65, 0.85
_OWN_LANGUAGE = "en"


def news(
    entries: Sequence[Entry], given: Collection[str], conversation: Conversation, user_id: str, stores: Stores
) -> list[Entry]:
    """The entries, in order, that a conversation's context does not hold, each memory once.

    An entry is left out where a newer memory about the same matter is among them or in the context: what is told
    last would be taken for what holds. Searches still find it.
    """
    by_id: dict[str, Entry] = {}
    for entry in entries:
        by_id.setdefault(entry.memory_id or entry.line, entry)
    ids = [entry.memory_id for entry in by_id.values() if entry.memory_id]
    memories = stores.log.get_memories([*ids, *given])
    index = stores.index_of(user_id)
    fresh = [
        entry
        for entry in by_id.values()
        if entry.memory_id not in given
        and not ((memory := memories.get(entry.memory_id)) and _is_in_context(memory, conversation))
    ]
    told = [memories[i] for i in (*given, *(entry.memory_id for entry in fresh)) if i in memories]
    return [
        entry
        for entry in fresh
        if not ((memory := memories.get(entry.memory_id)) and _is_overtaken(memory, told, index))
    ]


def _is_in_context(memory: Memory, conversation: Conversation) -> bool:
    """Whether a memory came of what this conversation holds still; or is an answer that nobody has read anything of."""
    if memory.state == "raw" and memory.role != "user":
        return True
    return memory.run_id == conversation.id and (
        conversation.begun_at is None or memory.created_at >= conversation.begun_at
    )


def _is_overtaken(memory: Memory, told: Sequence[Memory], index: UserIndex) -> bool:
    own = index.vectors_of(memory.id)
    if own is None:
        return False
    for other in told:
        if other.observed_at <= memory.observed_at or (theirs := index.vectors_of(other.id)) is None:
            continue
        is_english = memory.language == other.language == _OWN_LANGUAGE
        if float(np.max(own @ theirs.T)) >= (_SAME_MATTER if is_english else _SAME_MATTER_ELSEWHERE):
            return True
    return False
