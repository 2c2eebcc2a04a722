"""How the hosts on this machine are set up: found, set up, reachable; and what is broken there set right."""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import config_file, host_record, install
from .errors import HostError, McpMemoryError
from .host_check import Answered, start_and_ask
from .host_parts import Extension, Notes, Server, server_command
from .hosts import HOSTS, Host
from .install import Plan, Planned, Surroundings, parts_of
from .reports import Check
from .version import __version__


@dataclass(frozen=True, slots=True)
class Condition:
    """A host as it is found: whether it is here, by which command it starts the memory (() for not set up), with which
    variables, whether all else is as an installation would leave it, whether there has been an installation, and what
    stands in the way of telling.
    """

    host: Host
    is_here: bool
    command: tuple[str, ...] = ()
    env: Mapping[str, str] | None = None
    is_complete: bool = True
    was_set_up: bool = False
    trouble: str = ""
    hint: str = ""

    @property
    def is_set_up(self) -> bool:
        """Whether it starts the memory."""
        return bool(self.command)


def here() -> Surroundings:
    """This machine, as this process sees it."""
    return Surroundings(os.environ, Path.home())


def conditions(around: Surroundings) -> list[Condition]:
    """Each host, in the order in which they are listed; nothing is started."""
    return [_condition(host, around) for host in HOSTS.values()]


def examine_hosts(around: Surroundings | None = None) -> Iterator[Check]:
    """A check for each host that is here: not set up (a note), reachable, broken, incomplete (a note)."""
    answers: dict[tuple[object, ...], Answered | HostError] = {}
    for found in conditions(around or here()):
        if found.is_here or found.is_set_up or found.trouble:
            yield _check(found, answers)


def fix_hosts(around: Surroundings | None = None) -> list[str]:
    """Install again where a host is set up and something of it is broken or missing; what was done, one line each."""
    around = around or here()
    done: list[str] = []
    answers: dict[tuple[object, ...], Answered | HostError] = {}
    for found in conditions(around):
        if not found.is_set_up or not _check(found, answers).advice:
            continue
        try:
            plan = install.plan_install(found.host, around)
            if plan.changes:
                start_and_ask(*wanted(plan))
                install.apply_install(plan, around)
                done.append(f"{found.host.label}: installed again")
        except McpMemoryError as exc:
            done.append(f"{found.host.label}: {exc.message}; {exc.hint}")
    return done


def wanted(plan: Plan) -> tuple[Sequence[str], Mapping[str, str]]:
    """The command and the variables by which a host will start the server, as its files will have them."""
    for one in plan.files:
        text = config_file.text_of(one.change.path, one.change.after)
        if found := _started_by(one, text):
            return found
    raise AssertionError(plan.host.name)


def _condition(host: Host, around: Surroundings) -> Condition:
    where = around.places(host)
    is_here = where.folder.exists() or any(path.exists() for path in where.servers)
    path = around.environment.get("PATH", "")
    is_here = is_here or any(shutil.which(program, path=path) for program in host.programs)
    try:
        plan = install.plan_install(host, around)
        command, env = _written(plan)
    except McpMemoryError as exc:
        was_set_up = host_record.load(around.data, host.name) is not None
        return Condition(host, is_here, was_set_up=was_set_up, trouble=exc.message, hint=exc.hint)
    is_complete = all(_is_as_it_should_be(one) for one in plan.files)
    return Condition(host, is_here, command, env, is_complete)


def _is_as_it_should_be(one: Planned) -> bool:
    """Whether what a file has of ours beside the entry is as an installation would leave it."""
    text = config_file.text_of(one.change.path, one.change.before)
    beside = [part for part in parts_of(one.part) if not isinstance(part, Server)]
    return all(part.put(text, Notes())[0] == text for part in beside)


def _written(plan: Plan) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """By what the host starts the memory now, () where it does not."""
    for one in plan.files:
        text = config_file.text_of(one.change.path, one.change.before)
        if found := _started_by(one, text):
            return found
    return (), {}


def _started_by(one: Planned, text: str) -> tuple[tuple[str, ...], Mapping[str, str]] | None:
    """The command and variables by which a file with this text has the server started."""
    for part in parts_of(one.part):
        if isinstance(part, Server) and (command := server_command(entry := part.entry_in(text))):
            env = entry.get("env")
            return command, env if isinstance(env, dict) else {}
        if isinstance(part, Extension) and isinstance(command := part.told_in(text).get("command"), list):
            return (*map(str, command), "serve"), part.env_in(text)
    return None


def _check(found: Condition, answers: dict[tuple[object, ...], Answered | HostError]) -> Check:
    name, again = found.host.label, f"run: mcp-memory install {found.host.name}"
    if found.trouble:
        # What stands in the way of setting it up is nobody's failure.
        return Check(name, found.trouble, found.hint, is_optional=not found.was_set_up)
    if not found.is_set_up:
        return Check(name, "found here, not set up", f"to set it up, {again}", is_optional=True)
    env = found.env or {}
    key = (found.command, tuple(sorted(env.items())))
    if key not in answers:
        answers[key] = _asked(found.command, env)
    answered = answers[key]
    if isinstance(answered, HostError):
        return Check(name, answered.message, again)
    if answered.version != __version__:
        return Check(name, f"starts version {answered.version} of mcp-memory, this is {__version__}", again)
    if not found.is_complete:
        told = "set up and reachable, but what runs by itself there is missing or of another installation"
        return Check(name, told, again, is_optional=True)
    return Check(name, f"set up and reachable, {len(answered.tools)} tools")


def _asked(command: Sequence[str], env: Mapping[str, str]) -> Answered | HostError:
    try:
        return start_and_ask(command, env)
    except HostError as exc:
        return exc
