"""Both tables and the keyword index made anew from the log alone, beside those in use, and exchanged at the end."""

import logging
import shutil

from .apply import BATCH, write_entities, write_memories
from .audit import wanted_ids
from .errors import StorageError
from .log import Pending
from .reconcile import differing
from .records import OnProgress
from .reports import Rebuilt
from .stores import Stores
from .tables import Tables, TablesDamagedError

logger = logging.getLogger(__name__)

_NOTHING = Pending((), (), 0)


def rebuild(stores: Stores, on_progress: OnProgress = lambda _done, _total: None) -> Rebuilt:
    """Make everything that is derived from the log anew; returns how many rows it was.

    Changes and searches go on meanwhile, with the tables as they were. A run that was cut short leaves those in use,
    and what it made: the next run compares that with the log and goes on. `on_progress` hears (done, total).

    Raises:
        ModelUnavailableError, ConflictError, StorageError: the tables in use are as they were.
    """
    if not stores.rebuilding.acquire(blocking=False):
        raise StorageError("the tables are being rebuilt already", hint="wait for it to end")
    try:
        try:
            return _rebuild(stores, on_progress)
        except TablesDamagedError as exc:
            # Of a run that a power cut ended.
            logger.warning("what an earlier rebuild left cannot be used: %s", exc)
            shutil.rmtree(stores.folder.fresh, ignore_errors=True)
            return _rebuild(stores, on_progress)
    finally:
        stores.rebuilding.release()


def _rebuild(stores: Stores, on_progress: OnProgress) -> Rebuilt:
    seen = stores.log.last_event()
    fresh = Tables(stores.folder.fresh, stores.recorded_dimension())
    memory_ids, entity_ids = differing(stores, fresh, _NOTHING, in_fields=True)
    n_memories, n_entities = len(wanted_ids(stores.log, "memories")), len(wanted_ids(stores.log, "entities"))
    total = max(n_memories + n_entities, len(memory_ids) + len(entity_ids))
    n_resumed = done = total - len(memory_ids) - len(entity_ids)
    on_progress(done, total)
    for ids, write in ((memory_ids, write_memories), (entity_ids, write_entities)):
        for start in range(0, len(ids), BATCH):
            stores.check_open()
            write(stores, fresh, ids[start : start + BATCH])
            done += len(ids[start : start + BATCH])
            on_progress(done, total)
    while True:
        changed = stores.log.changed_since(seen)
        if len(changed.memory_ids) + len(changed.entity_ids) <= BATCH:
            break
        _write(stores, fresh, changed)
        seen = changed.through
    fresh.optimize()
    fresh.sync()
    with stores.applying, stores.writing:
        _write(stores, fresh, stores.log.changed_since(seen))
        fresh.sync()
        stores.exchange_tables()
    return Rebuilt(n_memories, n_entities, n_resumed)


def _write(stores: Stores, tables: Tables, changed: Pending) -> None:
    write_memories(stores, tables, changed.memory_ids)
    write_entities(stores, tables, changed.entity_ids)
