"""What a memory tells of its single memories and their changes, and how they are corrected and undone."""

from collections.abc import Mapping
from typing import Any

from . import history as telling
from . import inputs, why_not
from . import undo as undoing
from . import update as correcting
from .errors import NotFoundError
from .lookup import find
from .parts import Parts
from .records import Memory, Owner
from .reports import History, Undone, Updated, WhyNot
from .rewrite import Rewriting
from .search_records import Filters
from .settings import Settings
from .turns import Turn


class Revising:
    """The methods of `LocalMemory` about single memories by their ids, and about changes by theirs."""

    _parts: Parts
    _owner: Owner
    _settings: Settings
    _turn: Turn

    def get(self, memory_id: str) -> Memory:
        """One memory by its id, also one that has ended, was merged or has given way; `state` says so.

        Raises:
            NotFoundError: there is no such memory (any more).
        """
        memory = find(memory_id, self._owner.user_id, self._parts.stores.log)
        if memory.state == "deleted":
            raise NotFoundError(
                f"memory {memory.id!r} was deleted on {memory.updated_at.date().isoformat()}",
                hint="its history tells what it was, and undo brings it back",
            )
        return memory

    def update(
        self,
        memory_id: str,
        *,
        text: str = "",
        kind: str = "",
        importance: float | None = None,
        expires_at: inputs.Moment = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Updated:
        """Correct one memory in place, under its id; what is left out stays, and the history keeps what was.

        A new text is kept word for word, secrets included, as an add with `infer=False` keeps it. What a language
        model reads out of words said before the correction, or at the same time, does not end it. `importance` is in
        [0, 1]; `expires_at` may be "never"; `metadata` takes the place of all there is.

        Raises:
            NotFoundError: there is no such memory, or it has given way to others, which are named.
            InvalidInputError: a value is out of range, or another memory says so already; nothing was changed.
            StorageError: nothing was changed.
        """
        given = inputs.corrections_of(text, kind, importance, expires_at, metadata, self._parts.clock())
        with self._turn.served():
            result = correcting.update(memory_id, given, self._owner, self._parts.stores)
        self._after_change()
        return result

    def history(self, memory_id: str) -> History:
        """What has happened to a memory, oldest first, with the ids of the changes; deleted ones included.

        Raises:
            NotFoundError: there never was such a memory.
        """
        return telling.history(memory_id, self._owner, self._parts.stores)

    def undo(self, change_id: str) -> Undone:
        """Undo a change by its id, as `history` shows it: an add, a reading, a replacement, a correction, an undo.

        What it brought is deleted, what it changed or deleted is as it was before, under the same ids. Words that
        the language model had read stay word for word.

        Raises:
            NotFoundError: there is no such change of this user, or it is older than the history.
            ConflictError: it was undone already, or changes that are named have to be undone first.
            StorageError: nothing was changed.
        """
        with self._turn.served():
            result = undoing.undo(change_id, self._owner, self._parts.stores)
        self._after_change()
        return result

    def why_not(
        self,
        memory_id: str,
        query: str,
        *,
        top_k: int = 10,
        threshold: float = 0.0,
        scope: str = "",
        run_id: str = "",
        as_of: inputs.Moment = None,
        known_at: inputs.Moment = None,
        filters: Filters | Mapping[str, Any] | None = None,
    ) -> WhyNot:
        """Why a memory is not among the hits of a search, or as which of them it is; the search is done anew.

        Raises:
            NotFoundError: there never was such a memory.
            InvalidInputError: as `search` does.
        """
        query = inputs.query_of(query)
        top_k, threshold = inputs.bounds_of(top_k, threshold)
        selection = inputs.selection_of(
            self._owner,
            self._parts.clock(),
            scope=scope or self._settings.default_scope,
            run_id=run_id,
            as_of=as_of,
            known_at=known_at,
            filters=filters,
        )
        memory = find(memory_id, self._owner.user_id, self._parts.stores.log)
        rewriting = self._parts.rewriter.begin(query)() if self._parts.rewriter else Rewriting()
        self._parts.upkeep.catch_up_once()
        return why_not.why_not(
            memory,
            query,
            selection,
            self._parts.stores,
            self._settings,
            top_k=top_k,
            threshold=threshold,
            rewriting=rewriting,
        )

    def _after_change(self) -> None:
        self._parts.after_change()
        # A job may have been cancelled.
        self._parts.queue.look_again()
