"""How memories are forgotten: one, or all that something holds of; out of search, or purged from every file."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from . import forget, inputs
from . import purge as purging
from .errors import ConflictError
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

    def matching(self, where: Mapping[str, Any], *, purge: bool = False) -> Matching:
        """Which memories `forget` would take away: how many, the newest few of them, and a mark for all.

        Raises:
            InvalidInputError: as `forget` does.
        """
        log = self._parts.stores.log
        ids = log.ids_where(self._owner.user_id, inputs.where_of(where, purge=purge))
        shown = log.get_memories(ids[:_N_SHOWN])
        return Matching(len(ids), tuple(shown[each] for each in ids[:_N_SHOWN] if each in shown), _mark(ids))

    def forget(self, where: Mapping[str, Any], *, expected: str, purge: bool = False) -> Forgotten:
        """Delete all memories that something holds of, in one change; with `purge` for good, as `delete` does.

        `where` has any of about, kind, agent, since, until, metadata, as filters of a search do; run_id; contains, a
        part of the text in any case and accents; state. Without a state what can be found is meant (active, raw,
        invalid), for a purge whatever there is. `expected` is the `mark` of what `matching` has shown.

        Raises:
            InvalidInputError: there is no restriction, or one is wrong.
            ConflictError: by now it would be others; nothing was changed.
            StorageError: as `delete` does.
        """
        chosen = inputs.where_of(where, purge=purge)
        stores = self._parts.stores
        with self._turn.served():
            if purge:
                purged = purging.purge_all(lambda: self._chosen(chosen, expected), self._owner, stores)
                forgotten = Forgotten(len(purged.meant), n_purged=purged.n_purged, copies=purged.copies)
            else:
                with stores.writing:
                    found = self._chosen(chosen, expected)
                    change_id = forget.delete_all(found, self._owner, stores).change_id if found else ""
                    forgotten = Forgotten(len(found), change_id=change_id)
        self._after_erasing()
        if purge:
            self._parts.notes.refresh(self._owner.user_id)
        return forgotten

    def _chosen(self, where: Where, expected: str) -> list[Memory]:
        log = self._parts.stores.log
        ids = log.ids_where(self._owner.user_id, where)
        if _mark(ids) != expected:
            raise ConflictError(
                f"it would be other memories by now, {len(ids)} of them; nothing was changed",
                hint="look at them again first",
            )
        return list(log.get_memories(ids).values())

    def _after_erasing(self) -> None:
        self._parts.after_change()
        # A job may have been cancelled.
        self._parts.queue.look_again()


def _mark(ids: Sequence[str]) -> str:
    """What tells one choice of memories from another."""
    return hashlib.sha256(" ".join(sorted(ids)).encode()).hexdigest()[:16]
