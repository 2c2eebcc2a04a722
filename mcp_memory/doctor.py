"""Health of an installation: each part looked at once, with `ok` or what to do about it."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from .backlog import count_jobs
from .errors import FolderInUseError, McpMemoryError
from .families import Prompts
from .language_model import LanguageModel
from .memory import LocalMemory
from .place import NETWORK_ADVICE, network_warning
from .processor import AVX2_ADVICE, try_lancedb
from .reconcile import catch_up
from .settings import Settings, load_settings, sources, unknown_names

_LOW_DISK_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `advice` is '' where all is well; all else works without what is optional."""

    name: str
    found: str
    advice: str = ""
    is_optional: bool = False

    @property
    def is_ok(self) -> bool:
        """Whether nothing has to be done."""
        return self.is_optional or not self.advice


def examine() -> Iterator[Check]:
    """The checks in order, as they are done; later ones are left out where an earlier failure makes them void."""
    try:
        settings = load_settings()
    except McpMemoryError as exc:
        yield Check("settings", exc.message, exc.hint)
        return
    yield _settings(settings)
    yield _disk(settings)
    yield _place(settings)
    processor = _processor()
    yield processor
    if not processor.is_ok:
        return
    # Before the folder is opened: while a host holds it, this can be told all the same.
    language_model = _language_model(settings)
    yield language_model
    if not language_model.is_ok:
        return
    if settings.rewrite_queries and settings.rewrite_model:
        yield _language_model(settings, settings.rewrite_model, "query rewriting")
    try:
        memory = LocalMemory.open()
    except FolderInUseError as exc:
        yield Check("data folder", exc.message, f"{exc.hint}; the checks of its stores were left out")
        return
    except McpMemoryError as exc:
        yield Check("data folder", exc.message, exc.hint)
        return
    with memory:
        yield Check("data folder", f"{memory.settings.home}, memory of user {memory.user_id!r}")
        for name, look in _LOOKS.items():
            yield _guarded(name, look, memory)


def settings_table(settings: Settings) -> list[tuple[str, str, str]]:
    """(name, value, source) of each setting in force."""
    where = sources(settings)
    return [(name, str(getattr(settings, name)), where[name]) for name in type(settings).model_fields]


def _guarded(name: str, look: Callable[[LocalMemory], tuple[str, str]], memory: LocalMemory) -> Check:
    try:
        return Check(name, *look(memory))
    except McpMemoryError as exc:
        return Check(name, exc.message, exc.hint)


def _settings(settings: Settings) -> Check:
    changed = [f"{name} from {source}" for name, source in sources(settings).items() if source != "default"]
    unknown = ", ".join(unknown_names(settings))
    advice = f"correct or remove {unknown}: there is no such setting" if unknown else ""
    return Check("settings", ", ".join(changed) or "all at their defaults", advice)


def _disk(settings: Settings) -> Check:
    existing = settings.home
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    with suppress(OSError):
        free = shutil.disk_usage(existing).free
        advice = "free some space: writes will fail when it is used up" if free < _LOW_DISK_BYTES else ""
        return Check("disk", f"{free / 1e9:.1f} GB free", advice)
    return Check("disk", f"{existing} cannot be examined", "check that the folder exists and is yours")


def _processor() -> Check:
    tried = try_lancedb()
    if tried.signal:
        return Check("processor", f"LanceDB dies here with {tried.signal}", AVX2_ADVICE)
    if tried.trouble:
        return Check("processor", tried.trouble, "free memory and disk space and try again, or reinstall mcp-memory")
    return Check("processor", "LanceDB runs here")


def _place(settings: Settings) -> Check:
    warning = network_warning(settings.home)
    # It may work for years: so it is no failure.
    return Check("file system", warning or "a local disk", NETWORK_ADVICE if warning else "", is_optional=True)


def _language_model(settings: Settings, name: str = "", what_for: str = "language model") -> Check:
    try:
        presence = LanguageModel(settings, name).look()
    except McpMemoryError as exc:
        return Check(what_for, exc.message, exc.hint)
    return Check(what_for, presence.found, presence.advice, is_optional=True)


def _log(memory: LocalMemory) -> tuple[str, str]:
    found = memory.stores.log.check()
    counts = memory.stats()
    if found != "ok":
        return found, "run: mcp-memory restore, with the last backup"
    queue = count_jobs(memory.stores.log)
    waiting = f", {queue.n_waiting} texts waiting for extraction" if queue.n_waiting else ""
    if queue.last_error:
        waiting += f" (last trouble: {queue.last_error})"
    return f"{counts.get('active', 0) + counts.get('raw', 0)} memories{waiting}", ""


def _model(memory: LocalMemory) -> tuple[str, str]:
    embedder = memory.stores.embedder
    found = f"{embedder.name}, {embedder.dimension} dimensions, in {embedder.load().runtime}"
    if (prompts := embedder.prompts) != Prompts():
        found += f", queries after {prompts.query!r}, memories after {prompts.document!r}"
    return found, ""


def _tables(memory: LocalMemory) -> tuple[str, str]:
    tables = memory.stores.tables()
    return f"{len(tables.memory_ids())} memories, {tables.count_unindexed()} rows not yet in the scalar indices", ""


def _coverage(memory: LocalMemory) -> tuple[str, str]:
    stores = memory.stores
    n_mended = catch_up(stores)
    n_wanted, n_held = len(stores.log.searchable_ids()), len(stores.tables().memory_ids())
    if n_wanted != n_held:
        return f"{n_held} of {n_wanted} memories are in the tables", f"remove {stores.tables_path}, then run this again"
    mended = f", {n_mended} rows mended just now" if n_mended else ""
    return f"all {n_wanted} memories are in the tables{mended}", ""


_LOOKS: dict[str, Callable[[LocalMemory], tuple[str, str]]] = {
    "log": _log,
    "embedding model": _model,
    "tables": _tables,
    "index coverage": _coverage,
}
