"""Facts of two memories that were joined: of what can be only once, the later in world time ends the earlier."""

from .admit import Admitted
from .fact_keys import open_rivals
from .records import Change, Owner
from .resolve import Resolution
from .settle import settle
from .store import commit, kept_vectors
from .stores import Stores


def resettle(owner: Owner, stores: Stores) -> int:
    """Settle anew every key of which more than one fact holds; returns how many facts changed.

    Where nothing has been joined nothing changes, and nothing is written.

    Raises:
        StorageError: nothing was changed.
    """
    with stores.writing:
        rivals = open_rivals(stores.log, owner.user_id)
        if not rivals:
            return 0
        now = stores.clock()
        change_id = stores.ids.next(now)
        settled = settle({}, Admitted({}, {}, ()), Resolution(), stores, change_id, reconsidered=rivals)
        if not settled.facts and not settled.known:
            return 0
        change = Change(
            id=change_id, at=now, owner=owner, operation="import", memories=settled.known, facts=settled.facts
        )
        commit(change, stores, kept_vectors(settled.known, stores))
        return len(settled.facts)
