"""Both tables and the keyword index made anew from the log alone, beside those in use, and exchanged at the end."""

import contextlib
import logging
import shutil
from collections.abc import Iterator, Sequence

from .apply import BATCH, apply_waiting, put_entities, put_memories
from .audit import wanted_ids
from .embedder import Embedder
from .errors import StorageError
from .log import Pending
from .made_by import MadeBy
from .reconcile import differing
from .records import OnProgress
from .reports import Rebuilt, TableName
from .stores import Stores
from .tables import Tables, TablesDamagedError

logger = logging.getLogger(__name__)

_NOTHING = Pending((), (), 0)
# So many rows that were changed meanwhile may be left to be embedded while nothing can be changed.
_FEW = 8
# How often that may fail to become less where changes come as fast as they are embedded.
_ROUNDS = 3


@contextlib.contextmanager
def alone(stores: Stores) -> Iterator[None]:
    """Keep others from making the tables anew meanwhile.

    Raises:
        StorageError: somebody does so already.
    """
    if not stores.rebuilding.acquire(blocking=False):
        raise StorageError("the tables are being rebuilt already", hint="wait for that rebuild or reembed to end")
    try:
        yield
    finally:
        stores.rebuilding.release()


def renew(stores: Stores, embedder: Embedder, on_progress: OnProgress) -> Rebuilt:
    """Make the tables anew with a model and go over to them and to it; returns how many rows it was.

    Changes and searches go on meanwhile, with the tables as they were. A run that was cut short leaves those in use,
    and what it made: the next run with the same model compares that with the log and goes on. Call it `alone`.

    Raises:
        ModelUnavailableError, ConflictError, StorageError: the tables in use are as they were.
    """
    made_by = embedder.made_by()
    try:
        return _renew(stores, embedder, made_by, on_progress)
    except TablesDamagedError as exc:
        # Of a run that a power cut ended.
        logger.warning("what an earlier rebuild left cannot be used: %s", exc)
        shutil.rmtree(stores.folder.fresh, ignore_errors=True)
        return _renew(stores, embedder, made_by, on_progress)


def rewrite(stores: Stores, on_progress: OnProgress = lambda _done, _total: None) -> None:
    """Write the tables anew from their own rows, those of them that the log still has; nothing is embedded twice.

    What deleted rows leave in LanceDB's files stays in the old ones, which are removed. Call it `alone`.

    Raises:
        ModelUnavailableError, ConflictError, StorageError: the tables in use are as they were.
    """
    made_by = stores.embedder.made_by()
    # What an earlier run left may hold what is gone.
    shutil.rmtree(stores.folder.fresh, ignore_errors=True)
    try:
        with stores.applying:
            apply_waiting(stores)
            seen = stores.log.last_event()
            pending = stores.log.pending()
            stores.folder.begin_fresh(made_by)
            fresh = Tables(stores.folder.fresh, made_by.dimension)
            # What is to be another is not copied first: no version may have it as it was.
            wanted: dict[TableName, set[str]] = {
                "memories": wanted_ids(stores.log, "memories") - set(pending.memory_ids),
                "entities": wanted_ids(stores.log, "entities") - set(pending.entity_ids),
            }
            done, total = 0, sum(map(len, wanted.values()))
            for n in stores.tables().copy_into(fresh, wanted):
                stores.check_open()
                done += n
                on_progress(min(done, total), total)
        in_fields = not stores.are_tables_checked
        _complete(stores, stores.embedder, made_by, fresh, (seen, pending), on_progress, in_fields=in_fields)
    except TablesDamagedError as exc:
        logger.warning("the tables are made anew: %s", exc)
        shutil.rmtree(stores.folder.fresh, ignore_errors=True)
        _renew(stores, stores.embedder, made_by, on_progress)


def _renew(stores: Stores, embedder: Embedder, made_by: MadeBy, on_progress: OnProgress) -> Rebuilt:
    seen = stores.log.last_event()
    stores.folder.begin_fresh(made_by)
    fresh = Tables(stores.folder.fresh, made_by.dimension)
    return _complete(stores, embedder, made_by, fresh, (seen, _NOTHING), on_progress, in_fields=True)


def _complete(
    stores: Stores,
    embedder: Embedder,
    made_by: MadeBy,
    fresh: Tables,
    since: tuple[int, Pending],
    on_progress: OnProgress,
    *,
    in_fields: bool,
) -> Rebuilt:
    """Bring fresh tables, which hold some of it, in line with the log, and exchange them.

    `since`: the event up to which they are known to differ, and what is pending of before.
    """
    seen, pending = since
    memory_ids, entity_ids = differing(stores, fresh, pending, in_fields=in_fields)
    n_memories, n_entities = len(wanted_ids(stores.log, "memories")), len(wanted_ids(stores.log, "entities"))
    total = max(n_memories + n_entities, len(memory_ids) + len(entity_ids))
    n_resumed = done = total - len(memory_ids) - len(entity_ids)
    on_progress(done, total)
    for n in _write(stores, embedder, fresh, memory_ids, entity_ids):
        done += n
        on_progress(done, total)
    seen = _catch_up(stores, embedder, fresh, seen)
    fresh.optimize()
    fresh.sync()
    with stores.applying, stores.writing:
        changed = stores.log.changed_since(seen)
        put_memories(stores.log, embedder, fresh, changed.memory_ids)
        put_entities(stores.log, embedder, fresh, changed.entity_ids)
        fresh.sync()
        stores.exchange_tables(fresh, embedder, made_by)
    return Rebuilt(n_memories, n_entities, n_resumed)


def _catch_up(stores: Stores, embedder: Embedder, fresh: Tables, seen: int) -> int:
    """Write what has been changed since an event, until little is left or it becomes no less; up to which event.

    While what is left is embedded nobody can change anything.
    """
    n_before, n_rounds = 0, 0
    while True:
        changed = stores.log.changed_since(seen)
        n_changed = len(changed.memory_ids) + len(changed.entity_ids)
        n_rounds += 0 < n_before <= n_changed
        if n_changed <= _FEW or n_rounds == _ROUNDS:
            return seen
        for _ in _write(stores, embedder, fresh, changed.memory_ids, changed.entity_ids):
            pass
        seen, n_before = changed.through, n_changed


def _write(
    stores: Stores, embedder: Embedder, fresh: Tables, memory_ids: Sequence[str], entity_ids: Sequence[str]
) -> Iterator[int]:
    """Write rows batch by batch; yields how many each had."""
    for ids, put in ((memory_ids, put_memories), (entity_ids, put_entities)):
        for start in range(0, len(ids), BATCH):
            stores.check_open()
            batch = ids[start : start + BATCH]
            put(stores.log, embedder, fresh, batch)
            yield len(batch)
