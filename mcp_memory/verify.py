"""Every field and every vector of the tables compared with the log."""

from collections.abc import Callable, Sequence

from .apply import BATCH, apply_waiting, embedded_form, write_pending
from .audit import TABLES, compare_fields, compare_keys, compare_vectors, read_batch, wanted_ids
from .embedder import Embedder
from .records import Entity, Memory, OnProgress
from .reports import Difference, TableName, Verification
from .score import Floats
from .stores import Stores
from .tables import Tables, TablesDamagedError


def verify(stores: Stores, on_progress: OnProgress = lambda _done, _total: None) -> Verification:
    """What differs between the tables and the log, row by row; each text is embedded once more and compared.

    What waits to be written is written first; nothing else is mended. Changes go on meanwhile.

    Raises:
        ModelUnavailableError, ConflictError, StorageError: it cannot be told.
    """
    try:
        with stores.applying:
            stores.tables()
            apply_waiting(stores)
            if stores.is_behind:
                with stores.writing:
                    write_pending(stores)
    except TablesDamagedError as exc:
        n_memories, n_entities = (len(wanted_ids(stores.log, name)) for name in TABLES)
        return Verification(n_memories, n_entities, (Difference("memories", "unreadable", detail=exc.message),))
    ids = {name: sorted(wanted_ids(stores.log, name)) for name in TABLES}
    n_total = sum(map(len, ids.values()))
    found: list[Difference] = []
    done = 0
    for name in TABLES:

        def advance(n: int, before: int = done) -> None:
            on_progress(before + n, n_total)

        try:
            found += _of_table(stores, name, ids[name], advance)
        except TablesDamagedError as exc:
            found.append(Difference(name, "unreadable", detail=exc.message))
        done += len(ids[name])
    on_progress(n_total, n_total)
    return Verification(len(ids["memories"]), len(ids["entities"]), tuple(found))


def _of_table(stores: Stores, name: TableName, ids: Sequence[str], advance: Callable[[int], None]) -> list[Difference]:
    with stores.applying, stores.writing:
        apply_waiting(stores)
        # Asked for anew each time: a rebuild may have exchanged them meanwhile.
        tables = stores.tables()
        found = compare_keys(stores.log, tables, name) + _by_user(stores, tables, name)
    missing = {difference.id for difference in found if difference.flaw == "missing"}
    held = [identifier for identifier in ids if identifier not in missing]
    for start in range(0, len(held), BATCH):
        stores.check_open()
        with stores.applying, stores.writing:
            # A row that waits would look like one that is missing.
            apply_waiting(stores)
            batch = read_batch(stores.log, stores.tables(), name, held[start : start + BATCH])
            # The model of these rows, whatever takes its place by the time that they are compared.
            embedder = stores.embedder
        found += compare_fields(batch)
        known = {(difference.id, difference.flaw) for difference in found}
        again = compare_vectors(batch, _embedded(embedder, list(batch.wanted.values())))
        found += [difference for difference in again if (difference.id, difference.flaw) not in known]
        advance(start + len(batch.wanted))
    return found


def _embedded(embed: Embedder, records: Sequence[Memory | Entity]) -> dict[str, Floats]:
    memories = [record for record in records if isinstance(record, Memory)]
    entities = [record for record in records if isinstance(record, Entity)]
    texts: Sequence[Floats] = embed.embed_texts([embedded_form(memory) for memory in memories]) if memories else []
    names: Sequence[Floats] = list(embed.embed_names([entity.name for entity in entities])) if entities else []
    return {memory.id: vectors for memory, vectors in zip(memories, texts, strict=True)} | {
        entity.id: vector[None] for entity, vector in zip(entities, names, strict=True)
    }


def _by_user(stores: Stores, tables: Tables, name: TableName) -> list[Difference]:
    """Rows that the index of users does not find under the user whose they are."""
    wanted = wanted_ids(stores.log, name)
    held = {identifier for identifier, _ in tables.keys(name)}
    found: set[str] = set()
    for user_id in stores.log.user_ids():
        found |= tables.ids_of(name, user_id)
    return [
        Difference(name, "index", identifier, "the index of user_id does not find it")
        for identifier in sorted((wanted & held) - found)
    ]
