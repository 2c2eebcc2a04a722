"""Health of an installation: each part looked at once, with `ok` or what to do about it."""

import shutil
from collections.abc import Iterator
from contextlib import suppress

from . import control
from .errors import FolderInUseError, McpMemoryError
from .host_health import examine_hosts
from .language_model import LanguageModel
from .memory import LocalMemory
from .place import NETWORK_ADVICE, network_warning
from .processor import AVX2_ADVICE, try_lancedb
from .remote import RemoteMemory
from .reports import Check
from .settings import OF_A_CLIENT, Settings, as_table, load_settings, sources, unknown_names

_LOW_DISK_BYTES = 1 << 30


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
    yield from _folder()
    yield from examine_hosts()


def _folder() -> Iterator[Check]:
    """The data folder as the running engine sees it, else as it is found when it is opened."""
    try:
        running = RemoteMemory.of_running("doctor")
        memory = running or LocalMemory.open()
    except FolderInUseError as exc:
        yield Check("data folder", exc.message, f"{exc.hint}; the checks of its stores were left out")
        return
    except McpMemoryError as exc:
        yield Check("data folder", exc.message, exc.hint)
        return
    with memory:
        by = f", served by engine {running.engine_pid}" if running else ""
        yield Check("data folder", f"{memory.folder}, memory of user {memory.user_id!r}{by}")
        if running and running.notice:
            yield Check("engine's settings", "differ from this terminal's", running.notice, is_optional=True)
        if running and (urls := (control.status_of(memory.folder) or {}).get("http")):
            yield Check("HTTP", f"served at {', '.join(urls)}")
        if paused := memory.paused():
            names = ", ".join(name or "every client" for name in paused)
            yield Check("pause", f"paused for {names}", "to end it, run: mcp-memory resume", is_optional=True)
        try:
            yield from memory.examine()
        except McpMemoryError as exc:
            yield Check("engine", exc.message, exc.hint)


def settings_in_force() -> list[tuple[str, str, str]]:
    """(name, value, source) of each setting: those of the running engine, and what each client has for itself."""
    own = as_table(load_settings())
    try:
        running = RemoteMemory.of_running("doctor")
    except McpMemoryError:
        running = None
    if running is None:
        return own
    with running:
        of_engine = {name: (name, value, source) for name, value, source in running.engine_settings()}
    return [row if row[0] in (*OF_A_CLIENT, "home") else of_engine.get(row[0], row) for row in own]


def _settings(settings: Settings) -> Check:
    changed = [f"{name} from {source}" for name, source in sources(settings).items() if source != "default"]
    unknown = ", ".join(unknown_names(settings))
    found = ", ".join(changed) or ("none in force" if unknown else "all at their defaults")
    advice = f"correct or remove {unknown}: there is no such setting" if unknown else ""
    return Check("settings", found, advice)


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
