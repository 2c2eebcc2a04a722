"""The tables brought in line with the log: what is pending, what is missing, what should not be there, what is torn."""

from collections.abc import Sequence

from .apply import BATCH, apply_waiting, write_entities, write_memories, write_pending
from .audit import compare_fields, compare_keys, read_batch, wanted_ids
from .log import Pending
from .records import OnProgress
from .reports import TableName
from .stores import Stores
from .tables import Tables, TablesDamagedError


def catch_up(stores: Stores, on_progress: OnProgress = lambda _done, _total: None) -> int:
    """Write to the tables what the log has and they have not; returns the number of rows.

    First what the events say is pending, then whatever differs by id, so that tables which were lost are made
    whole again; where the last process did not close them, whatever differs in a field. Tables that cannot be made
    sense of are set aside and made anew. Repeating it is safe: every write is by id, from the log's present state.
    `on_progress` hears (done, total) after each batch.

    Raises:
        ModelUnavailableError, ConflictError, StorageError: nothing is lost, the rest stays as it is.
    """
    with stores.applying:
        if stores.damage:
            stores.set_tables_aside(stores.damage)
        try:
            return _bring_in_line(stores, on_progress)
        except TablesDamagedError as exc:
            stores.set_tables_aside(exc.message)
            return _bring_in_line(stores, on_progress)


def _bring_in_line(stores: Stores, on_progress: OnProgress) -> int:
    tables = stores.tables()
    apply_waiting(stores)
    with stores.writing:
        # From here on changes leave the tables to this function, or its later batches would undo them.
        stores.is_behind = True
        stores.waiting.drop()
        pending = stores.log.pending()
    memory_ids, entity_ids = differing(stores, tables, pending, in_fields=not stores.are_tables_checked)
    done, total = 0, len(memory_ids) + len(entity_ids)
    for ids, write in ((memory_ids, write_memories), (entity_ids, write_entities)):
        for start in range(0, len(ids), BATCH):
            stores.check_open()
            with stores.writing:
                write(stores, tables, ids[start : start + BATCH])
            done += len(ids[start : start + BATCH])
            on_progress(done, total)
    with stores.writing:
        # What was pending at the beginning has been written by now.
        stores.log.mark_applied(pending.through)
        write_pending(stores)
        stores.rely_on_tables()
    return total


def differing(stores: Stores, tables: Tables, pending: Pending, *, in_fields: bool) -> tuple[list[str], list[str]]:
    """Ids of memories and of entities that tables hold otherwise than the log: pending ones, and what is compared."""
    return (
        _differing(stores, tables, "memories", pending.memory_ids, in_fields),
        _differing(stores, tables, "entities", pending.entity_ids, in_fields),
    )


def _differing(stores: Stores, tables: Tables, name: TableName, pending: Sequence[str], in_fields: bool) -> list[str]:
    wrong = {difference.id for difference in compare_keys(stores.log, tables, name)} | set(pending)
    if in_fields:
        rest = sorted(wanted_ids(stores.log, name) - wrong)
        for start in range(0, len(rest), BATCH):
            stores.check_open()
            batch = read_batch(stores.log, tables, name, rest[start : start + BATCH])
            wrong |= {difference.id for difference in compare_fields(batch)}
    return sorted(wrong)
