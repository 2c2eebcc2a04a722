"""The memory that a caller means by an id, and what to tell where there is none (any more)."""

from .errors import NotFoundError
from .ids import canonical
from .log import Log
from .records import Memory

_HOW_TO_FIND = "search for the text and use the id of the hit"


def find(memory_id: str, user_id: str, log: Log) -> Memory:
    """A user's memory, whatever has become of it.

    Raises:
        NotFoundError: there never was one. Another user's memory is as good as none.
    """
    wanted = canonical(memory_id)
    if wanted is None:
        raise NotFoundError(
            f"{memory_id!r} is no memory id: ids have 12 characters, as search_memory shows them", hint=_HOW_TO_FIND
        )
    memory = log.get_memories([wanted]).get(wanted)
    if memory is None or memory.user_id != user_id:
        raise NotFoundError(f"there is no memory {wanted!r}", hint=_HOW_TO_FIND)
    return memory


def find_kept(memory_id: str, user_id: str, log: Log, *, to: str) -> Memory:
    """A user's memory that has not been deleted and has not given way to others; `to` says what for, as a verb.

    Raises:
        NotFoundError: there is none; what became of it is told.
    """
    memory = find(memory_id, user_id, log)
    if memory.state == "deleted":
        raise NotFoundError(
            f"memory {memory.id!r} was deleted on {memory.updated_at.date().isoformat()}",
            hint="nothing is left to do" if to == "delete" else "undo the deletion to have it back: its history has it",
        )
    if memory.state == "distilled" and memory.superseded_by:
        raise NotFoundError(
            f"memory {memory.id!r} has given way to what was read out of it: {', '.join(memory.superseded_by.split())}",
            hint=f"{to} those" + ("; the words go with the last of them" if to == "delete" else ""),
        )
    if memory.state == "merged":
        raise NotFoundError(
            f"memory {memory.id!r} says the same as {memory.superseded_by} and was merged into it",
            hint=f"{to} that one",
        )
    return memory
