"""Setting up a host and undoing it: which files change and how, worked out first and then done as one.

A file that the host or its user has changed since is not put back as it was: then our parts alone are taken out.
"""

import difflib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from . import config_file, host_record
from .config_file import Change
from .errors import HostError, InvalidInputError
from .host_parts import Extension, Hooks, Notes, Part, Server, Several, hook_commands, is_ours
from .host_record import FileRecord, Record
from .hosts import HOSTS, SERVER, Host, Places, places
from .paths import HOME_VARIABLE, data_folder
from .pi_packages import has_adapter, has_own_mcp

_PREFIX = "MCP_MEMORY_"
_CONTEXT = 3


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where hosts are looked for: the environment, the home folder and the platform."""

    environment: Mapping[str, str]
    home: Path
    platform: str = sys.platform

    @property
    def data(self) -> Path:
        """The data folder."""
        return data_folder(self.environment, self.platform)

    def places(self, host: Host) -> Places:
        """Where a host has its files."""
        return places(host.name, self.environment, self.home, self.platform)


@dataclass(frozen=True, slots=True)
class Planned:
    """A file's change, and what is to be recorded of it (None: nothing more)."""

    change: Change
    record: FileRecord | None = None
    baseline: bytes | None = None
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What installing or uninstalling comes to; `server` is the entry that is started by the host."""

    host: Host
    name: str
    files: tuple[Planned, ...] = ()
    server: Server | None = None
    folders: tuple[Path, ...] = field(default=())

    @property
    def changes(self) -> list[Change]:
        """Those of files that do change."""
        return [one.change for one in self.files if one.change.before != one.change.after]


def parts_of(part: Part | None) -> tuple[Part, ...]:
    """The parts that a file of a host has, one by one."""
    return part.parts if isinstance(part, Several) else (part,) if part else ()


def host_named(name: str) -> Host:
    """A host by its name.

    Raises:
        InvalidInputError: there is none; all are named.
    """
    if name not in HOSTS:
        raise InvalidInputError(f"there is no host {name!r}", hint=f"choose one of {', '.join(HOSTS)}")
    return HOSTS[name]


def own_program() -> tuple[str, ...]:
    """The command of this installation, by absolute paths: its script, else Python with the package."""
    folder = Path(sys.executable).parent
    for script in (folder / "mcp-memory", folder / "mcp-memory.exe"):
        if script.is_file():
            return (str(script),)
    # -P: what lies in the working folder of a host must not be taken for a module of Python's.
    return (sys.executable, "-P", "-m", "mcp_memory")


def settings_for_hosts(environment: Mapping[str, str]) -> dict[str, str]:
    """The settings of the environment that an entry has to carry, as hosts do not have a shell's environment."""
    given = {name: value for name, value in environment.items() if name.startswith(_PREFIX) and value.strip()}
    if HOME_VARIABLE in given:
        given[HOME_VARIABLE] = str(data_folder(given))
    return dict(sorted(given.items()))


def plan_install(host: Host, around: Surroundings, *, name: str = "", program: Sequence[str] = ()) -> Plan:
    """What has to be changed for a host to have the memory, and nothing where it has it as it should.

    Raises:
        HostError: a file cannot be read, or something of somebody else is in the way; the file is named.
    """
    recorded = host_record.load(around.data, host.name)
    if recorded and name and recorded.name != name and recorded.files:
        raise HostError(
            f"{host.label} has it already, as {recorded.name!r}", hint=f"run first: mcp-memory uninstall {host.name}"
        )
    name = name or (recorded.name if recorded else SERVER)
    parts = _parts(host, around, name, tuple(program) or own_program())
    planned = [_planned(host, around, path, role, part, recorded) for path, role, part in parts]
    server = next((part for _, _, whole in parts for part in parts_of(whole) if isinstance(part, Server)), None)
    return Plan(host, name, tuple(planned), server)


def plan_uninstall(host: Host, around: Surroundings, *, name: str = "") -> Plan:
    """What has to be changed for a host to be as it was without the memory.

    Raises:
        HostError: a file cannot be read; it is named.
    """
    recorded = host_record.load(around.data, host.name)
    name = name or (recorded.name if recorded else SERVER)
    found = _parts(host, around, name, own_program(), also_unused=True)
    parts = {path: (role, part) for path, role, part in found}
    by_role = dict(parts.values())
    for recorded_path, one in (recorded.files if recorded else {}).items():
        if one.role in by_role:
            parts.setdefault(Path(recorded_path), (one.role, by_role[one.role]))
    planned: list[Planned] = []
    folders: list[Path] = []
    for path, (_, part) in parts.items():
        known = recorded.files.get(str(path)) if recorded else None
        with _naming(path):
            before = config_file.read(path)
            kept = host_record.copy_path(around.data, host.name, path)
            after = None if before is None else _without(path, before, part, known, kept)
        planned.append(Planned(Change(path, before, after)))
        folders += [Path(folder) for folder in known.folders] if known else []
    return Plan(host, name, tuple(planned), folders=tuple(folders))


def apply_install(plan: Plan, around: Surroundings) -> list[Path]:
    """Make the changes of an installation; the copies that were kept of changed files.

    Raises:
        HostError: something cannot be written; nothing is changed then.
    """
    if not plan.changes:
        return []
    recorded = host_record.load(around.data, plan.host.name)
    copies = _keep_copies(plan, around)
    files = dict(recorded.files) if recorded else {}
    for one in plan.files:
        if one.record:
            files[str(one.change.path)] = one.record
            before = host_record.copy_path(around.data, plan.host.name, one.change.path)
            if one.baseline is not None:
                host_record.write(before, one.baseline)
    # Before the files: of those that are not as recorded then, our parts alone are ever taken out.
    host_record.save(around.data, plan.host.name, Record(plan.name, files))
    try:
        config_file.change(plan.changes)
    except HostError:
        _record_again(around, plan.host, recorded)
        raise
    return copies


def apply_uninstall(plan: Plan, around: Surroundings) -> list[Path]:
    """Make the changes of undoing it; the copies that were kept of changed files.

    Raises:
        HostError: something cannot be written; nothing is changed then.
    """
    copies = _keep_copies(plan, around) if plan.changes else []
    config_file.change(plan.changes)
    config_file.remove_empty(plan.folders)
    host_record.forget(around.data, plan.host.name)
    return copies


def diff(change: Change) -> Iterator[str]:
    """The lines of a unified diff of a change, also of a large file in no time."""
    before, after = ((content or b"").decode("utf-8").splitlines() for content in (change.before, change.after))
    head = _n_common(before, after)
    tail = _n_common(before[head:][::-1], after[head:][::-1])
    skip = max(head - _CONTEXT, 0)
    keep = max(tail - _CONTEXT, 0)
    shown = difflib.unified_diff(
        before[skip : len(before) - keep],
        after[skip : len(after) - keep],
        str(change.path) if change.before is not None else "/dev/null",
        str(change.path) if change.after is not None else "/dev/null",
        lineterm="",
        n=_CONTEXT,
    )
    for line in shown:
        yield re.sub(r"(?<=[-+])\d+", lambda found: str(int(found[0]) + skip), line) if line.startswith("@@") else line


def _parts(
    host: Host,
    around: Surroundings,
    name: str,
    program: tuple[str, ...],
    *,
    also_unused: bool = False,
) -> list[tuple[Path, str, Part]]:
    """(file, role, part) of everything of ours that a host is to have, or may have."""
    where = around.places(host)
    env = settings_for_hosts(around.environment)
    servers = next((path for path in where.servers if path.exists()), where.servers[-1])
    extra: dict[str, Any] = {"exposure": "direct"} if host.name == "pi" else {}
    if host.is_renamed:
        # So that what its tools and its hooks write, and a pause, are one client's.
        extra["env"] = {"MCP_MEMORY_AGENT_ID": host.name}
    server = Server(host.key, name, (*program, "serve"), env, host.transport, extra, is_toml=host.is_toml)
    with _naming(servers):
        is_there = server.is_in(config_file.text_of(servers, config_file.read(servers)))
    # Pi may not be on the path of whoever asks: an entry of ours tells that it reaches servers.
    speaks_mcp = (
        host.name != "pi" or is_there or has_adapter(where.packages, where.folder) or has_own_mcp(around.environment)
    )
    parts: list[tuple[Path, str, Part]] = [(servers, "servers", server)] if speaks_mcp or also_unused else []
    if where.hooks:
        # What the entry keeps from before holds for the hooks too: they are to reach the same memory.
        kept = _env_of(servers, server)
        commands = hook_commands(host.hooks, program, host.name, {**kept, **env}, around.platform)
        hooks = Hooks(commands, host.name)
        if where.hooks == servers:
            parts = [(servers, "servers", Several((server, hooks)))]
        else:
            parts.append((where.hooks, "hooks", hooks))
    if where.extension:
        template = resources.files("mcp_memory").joinpath("extensions", "pi.ts").read_text(encoding="utf-8")
        parts.append((where.extension, "extension", Extension(template, program, env, with_tools=not speaks_mcp)))
    return parts


def _env_of(path: Path, server: Server) -> dict[str, str]:
    with _naming(path):
        entry = server.entry_in(config_file.text_of(path, config_file.read(path)))
    env = entry.get("env") if is_ours(entry) else None
    return {key: value for key, value in env.items() if isinstance(value, str)} if isinstance(env, dict) else {}


def _planned(host: Host, around: Surroundings, path: Path, role: str, part: Part, recorded: Record | None) -> Planned:
    kept = host_record.copy_path(around.data, host.name, path)
    known = recorded.files.get(str(path)) if recorded else None
    with _naming(path):
        before = config_file.read(path)
        text = config_file.text_of(path, before)
        is_in = part.is_in(text)
        baseline = _without(path, before, part, known, kept) if is_in and before is not None else before
        notes = known.notes if known and is_in else Notes()
        changed, notes = part.put(text, notes)
    after = changed.encode("utf-8")
    missing = tuple(str(folder) for folder in config_file.missing_folders(path))
    record = FileRecord(
        role, baseline is not None, host_record.hash_of(after), known.folders if known and is_in else missing, notes
    )
    return Planned(Change(path, before, after), record, baseline, part)


def _without(path: Path, before: bytes, part: Part, known: FileRecord | None, kept: Path) -> bytes | None:
    """A file as it would be without us, None where it would not be there; `kept` is its copy from before us."""
    text = config_file.text_of(path, before)
    left = part.take(text, known.notes if known else Notes())
    with suppress(HostError):
        former = config_file.read(kept) if known and known.was_there else None
        has_former = known is not None and (former is not None) == known.was_there
        is_untouched = known is not None and host_record.hash_of(before) == known.written
        if has_former and (is_untouched or _stripped(left.encode("utf-8")) == _stripped(former or b"")):
            return former
    return None if isinstance(part, Extension) and not left.strip() else left.encode("utf-8")


def _stripped(content: bytes) -> bytes:
    return content.removeprefix(b"\xef\xbb\xbf").strip()


def _keep_copies(plan: Plan, around: Surroundings) -> list[Path]:
    """Keep each changed file as it is now."""
    copies = []
    for one in plan.changes:
        if one.before is not None:
            copies.append(host_record.copy_path(around.data, plan.host.name, one.path, is_last=True))
            host_record.write(copies[-1], one.before)
    return copies


def _record_again(around: Surroundings, host: Host, recorded: Record | None) -> None:
    with suppress(HostError):
        if recorded:
            host_record.save(around.data, host.name, recorded)
        else:
            host_record.forget(around.data, host.name)


def _n_common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines are the same at the beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (left, right) in pairs if left != right), min(len(one), len(other)))


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Say of which file a failure to read or change its text tells."""
    try:
        yield
    except InvalidInputError as exc:
        raise HostError(f"{path}, {exc.message}", hint=f"{exc.hint}; nothing was changed") from exc
    except HostError as exc:
        if str(path) in exc.message:
            raise
        raise HostError(f"{path}: {exc.message}", hint=exc.hint) from exc
