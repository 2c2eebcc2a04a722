"""The health of an open data folder: log, model, tables, and whether everything can be found."""

from collections.abc import Callable

from .backlog import count_jobs
from .errors import McpMemoryError
from .families import Prompts
from .reconcile import catch_up
from .reports import Check
from .stores import Stores


def examine(stores: Stores) -> list[Check]:
    """What is found of each part; trouble of one leaves the others to be looked at."""
    return [_guarded(name, look, stores) for name, look in _LOOKS.items()]


def _guarded(name: str, look: "Look", stores: Stores) -> Check:
    try:
        return Check(name, *look(stores))
    except McpMemoryError as exc:
        return Check(name, exc.message, exc.hint)


def _log(stores: Stores) -> tuple[str, str]:
    found = stores.log.check()
    counts = stores.log.counts()
    if found != "ok":
        return found, "run: mcp-memory restore, with the last backup"
    queue = count_jobs(stores.log)
    waiting = f", {queue.n_waiting} texts waiting for extraction" if queue.n_waiting else ""
    if queue.last_error:
        waiting += f" (last trouble: {queue.last_error})"
    return f"{counts.get('active', 0) + counts.get('raw', 0)} memories{waiting}", ""


def _model(stores: Stores) -> tuple[str, str]:
    embedder = stores.embedder
    found = f"{embedder.name}, {embedder.dimension} dimensions, in {embedder.load().runtime}"
    if (prompts := embedder.prompts) != Prompts():
        found += f", queries after {prompts.query!r}, memories after {prompts.document!r}"
    if stores.have_weights_changed():
        return f"{found}; its weights are not those that made the vectors", "run: mcp-memory reembed"
    return found, ""


def _tables(stores: Stores) -> tuple[str, str]:
    tables = stores.tables()
    begun = stores.folder.made_by_fresh()
    rest = f"; half-made tables of {begun.model!r} lie in {stores.folder.fresh}" if begun else ""
    return (
        f"{len(tables.memory_ids())} memories, {tables.count_unindexed()} rows not yet in the scalar indices{rest}",
        "",
    )


def _coverage(stores: Stores) -> tuple[str, str]:
    n_mended = catch_up(stores)
    n_wanted, n_held = len(stores.log.searchable_ids()), len(stores.tables().memory_ids())
    if n_wanted != n_held:
        return f"{n_held} of {n_wanted} memories are in the tables", "run: mcp-memory rebuild"
    mended = f", {n_mended} rows mended just now" if n_mended else ""
    return f"all {n_wanted} memories are in the tables{mended}", ""


Look = Callable[[Stores], tuple[str, str]]
_LOOKS: dict[str, Look] = {
    "log": _log,
    "embedding model": _model,
    "tables": _tables,
    "index coverage": _coverage,
}
