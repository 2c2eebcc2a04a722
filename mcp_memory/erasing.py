"""How memories are forgotten: one, or all that something holds of; out of search, or purged from every file."""

from collections.abc import Mapping
from typing import Any

from . import forget, inputs
from . import purge as purging
from .errors import ConflictError, InvalidInputError
from .parts import Parts
from .records import DeleteResult, Forgotten, Matching, Memory, Owner
from .search_records import Where
from .turns import Turn

_N_SHOWN = 5


class Erasing:
    """The methods of `LocalMemory` that take memories away."""

    _parts: Parts
    _owner: Owner
    _turn: Turn

    def delete(self, memory_id: str, *, purge: bool = False) -> DeleteResult:
        """Delete one memory by its id: out of search at once, and undo brings it back.

        With `purge` it is taken out of every file of the data folder for good: its text, the messages that it came
        from, its history, facts, ratings, and names that nothing else has; siblings that were read out of the same
        words stay. One that was deleted before can be purged too. Backups are named, and left as they are. It takes as
        long as copying the tables does.

        Raises:
            NotFoundError: there is no such memory (any more), or it has given way to others, which are named.
            StorageError: nothing was changed; where the message says that it was taken out of the log, it cannot come
                back, and the rest is done when the folder is next opened.
        """
        if not purge:
            with self._turn.served():
                result = forget.delete(memory_id, self._owner, self._parts.stores)
            self._after_erasing()
            return result
        with self._turn.served():
            result = purging.purge(memory_id, self._owner, self._parts.stores)
        self._after_erasing()
        # What notes files had of it goes before this returns.
        self._parts.notes.refresh(self._owner.user_id)
        return result

    def matching(self, where: Mapping[str, Any]) -> Matching:
        """How many memories `forget` would take away, and the newest few of them.

        Raises:
            InvalidInputError: as `forget` does.
        """
        log = self._parts.stores.log
        ids = log.ids_where(self._owner.user_id, inputs.where_of(where))
        shown = log.get_memories(ids[:_N_SHOWN])
        return Matching(len(ids), tuple(shown[each] for each in ids[:_N_SHOWN] if each in shown))

    def forget(self, where: Mapping[str, Any], *, expected: int, purge: bool = False) -> Forgotten:
        """Delete all memories that something holds of, in one change; with `purge` for good, as `delete` does.

        `where` has any of about, kind, agent, since, until, metadata, as filters of a search do; run_id; contains, a
        part of the text; state (active, raw, invalid, or deleted, which can only be purged). `expected` is how many
        `matching` has counted.

        Raises:
            InvalidInputError: there is no restriction, or one is wrong.
            ConflictError: by now it would be another number; nothing was changed.
            StorageError: as `delete` does.
        """
        chosen = inputs.where_of(where)
        if "deleted" in chosen.states and not purge:
            raise InvalidInputError("what is deleted can only be purged", hint="give purge as well")
        stores = self._parts.stores
        with self._turn.served():
            if not purge:
                with stores.writing:
                    found = self._chosen(chosen, expected)
                    outcome = forget.delete_all(found, self._owner, stores) if found else None
                forgotten = Forgotten(expected, change_id=outcome.change_id if outcome else "")
            else:
                purged = purging.purge_all(lambda: self._chosen(chosen, expected), self._owner, stores)
                forgotten = Forgotten(expected, n_purged=purged.n_purged, copies=purged.copies)
        self._after_erasing()
        if purge:
            self._parts.notes.refresh(self._owner.user_id)
        return forgotten

    def _chosen(self, where: Where, expected: int) -> list[Memory]:
        log = self._parts.stores.log
        ids = log.ids_where(self._owner.user_id, where)
        if len(ids) != expected:
            raise ConflictError(
                f"{len(ids)} memories match now, not {expected}; nothing was changed", hint="count them again first"
            )
        return list(log.get_memories(ids).values())

    def _after_erasing(self) -> None:
        self._parts.after_change()
        # A job may have been cancelled.
        self._parts.queue.look_again()
