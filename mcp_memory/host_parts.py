"""What we put into a host's files, as text: put in, found, and taken out again with all else left as it is."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Protocol

from . import json_edit, toml_edit
from .errors import HostError
from .hosts import Hook
from .json_edit import Made

_HOME = "MCP_MEMORY_HOME"
_USER = "MCP_MEMORY_USER_ID"
# How a file of Pi begins that is ours: what is behind it is the command.
_EXTENSION_MARK = "// mcp-memory "
_MODULE = "mcp_memory"


@dataclass(frozen=True, slots=True)
class Notes:
    """What has to be known to take our parts out again without a trace: containers that were made or filled for them,
    and what sets a TOML table off from what is before it.
    """

    made: tuple[Made, ...] = ()
    glue: str = ""

    def and_made(self, made: Sequence[Made]) -> "Notes":
        """With these containers too, those within others behind them."""
        known = {one.path for one in self.made}
        return replace(self, made=(*self.made, *(one for one in made if one.path not in known)))


class Part(Protocol):
    """What one file of a host holds of ours."""

    def is_in(self, text: str) -> bool:
        """Whether something of ours is there."""
        ...

    def put(self, text: str, notes: Notes) -> tuple[str, Notes]:
        """The text with our part as it is to be, and what has to be known to take it out."""
        ...

    def take(self, text: str, notes: Notes) -> str:
        """The text without our part."""
        ...


def is_ours(entry: Any) -> bool:
    """Whether an entry of a table of servers starts an mcp-memory.

    Examples: {"command": "/x/mcp-memory", "args": ["serve"]} → True; {"command": "npx", "args": ["memory"]} → False.
    """
    return server_command(entry) is not None


def server_command(entry: Any) -> tuple[str, ...] | None:
    """The whole command of an entry that starts an mcp-memory, None where it starts something else."""
    if not isinstance(entry, dict) or not isinstance(entry.get("args", []), list):
        return None
    words = [entry.get("command"), *entry.get("args", [])]
    if not all(isinstance(word, str) for word in words):
        return None
    # Its own program, whatever follows: an argument may have been damaged by hand. Else the one before "serve".
    programs = [words[0], *(before for before, word in pairwise(words) if word == "serve" or before == _MODULE)]
    return tuple(words) if any(_is_program(program) for program in programs) else None


def _is_program(word: str) -> bool:
    return re.split(r"[/\\]", word)[-1].lower().removesuffix(".exe") in ("mcp-memory", _MODULE)


@dataclass(frozen=True, slots=True)
class Server:
    """An entry in a host's table of servers."""

    key: str
    name: str
    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    transport: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    is_toml: bool = False

    @property
    def _path(self) -> tuple[str, str]:
        return self.key, self.name

    def entry_in(self, text: str) -> Any:
        """The entry of this name, None where there is none.

        Raises:
            InvalidInputError: the text cannot be read.
        """
        found = toml_edit.get(text, self._path) if self.is_toml else json_edit.get(text, self._path)
        return None if found in (toml_edit.MISSING, json_edit.MISSING) else found

    def is_in(self, text: str) -> bool:
        """Whether there is an entry of this name that starts an mcp-memory."""
        return is_ours(self.entry_in(text))

    def put(self, text: str, notes: Notes) -> tuple[str, Notes]:
        """The text with the entry; keys and variables that somebody has added to it stay.

        Raises:
            HostError: there is an entry of this name that starts something else.
            InvalidInputError: the text cannot be read, or has no place for it.
        """
        found = self.entry_in(text)
        if found is not None and not is_ours(found):
            raise HostError(
                f"there is a server {self.name!r} already, which is not mcp-memory",
                hint="remove it, or choose another name for this one: --name NAME",
            )
        entry = self.entry(found or {})
        if entry == found:
            return text, notes
        if not self.is_toml:
            text, made = json_edit.put(text, self._path, entry)
            return text, notes.and_made(made)
        text, glue = toml_edit.put(text, self._path, entry)
        return text, replace(notes, glue=notes.glue or glue)

    def entry(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """The entry as it is to be where this one is there."""
        before = found.get("env")
        env = {**dict(self.extra.get("env", {})), **(before if isinstance(before, dict) else {}), **self.env}
        transport = {"type": self.transport} if self.transport else {}
        added = {key: value for key, value in self.extra.items() if key != "env" and key not in found}
        entry = {**transport, **found, **transport, "command": self.command[0], "args": list(self.command[1:]), **added}
        return {**entry, "env": env} if env else entry

    def take(self, text: str, notes: Notes) -> str:
        """The text without the entry, and without what had been made for it and is empty."""
        if self.is_in(text):
            text = (
                toml_edit.remove(text, self._path, notes.glue)
                if self.is_toml
                else json_edit.remove(text, self._path)
            )  # fmt: skip
        return text if self.is_toml else json_edit.unmake(text, notes.made)


@dataclass(frozen=True, slots=True)
class Hooks:
    """Commands that a host runs upon its events, in the form that Claude Code has and others have taken over."""

    commands: Mapping[str, tuple[str, int]]  # of each event, with its timeout
    client: str

    def is_ours(self, hook: Any) -> bool:
        """Whether a hook is one of these, of whichever installation."""
        command = hook.get("command") if isinstance(hook, dict) else None
        pattern = rf"mcp[-_]memory(?:\.exe)?[\"']?\s(?:.*\s)?hook\b.*\b{re.escape(self.client)}\b"
        return isinstance(command, str) and bool(re.search(pattern, command, re.DOTALL))

    def found(self, text: str) -> dict[str, list[str]]:
        """Our commands of each event.

        Raises:
            InvalidInputError: the text cannot be read.
        """
        places = self._places(text)
        return {event: [command for _, command, _ in of_event] for event, of_event in places.items() if of_event}

    def is_in(self, text: str) -> bool:
        """Whether there is a hook of ours."""
        return bool(self.found(text))

    def put(self, text: str, notes: Notes) -> tuple[str, Notes]:
        """The text with one hook of ours for each event, behind those of others.

        Raises:
            InvalidInputError: the text cannot be read, or has no place for them.
        """
        for event, of_event in self._places(text).items():
            keep = 1 if event in self.commands else 0
            for path, _, is_alone in reversed(of_event[keep:]):
                text = json_edit.remove(text, path[:-2] if is_alone else path)
        for event, (command, timeout) in self.commands.items():
            hook = {"type": "command", "command": command, "timeout": timeout}
            if there := self._places(text).get(event):
                path = there[0][0]
                merged = {**json_edit.get(text, path), "type": "command", "command": command}
                if merged != json_edit.get(text, path):
                    text = json_edit.replace(text, path, merged)
                continue
            text, made = json_edit.append(text, ("hooks", event), {"hooks": [hook]})
            notes = notes.and_made(made)
        return text, notes

    def take(self, text: str, notes: Notes) -> str:
        """The text without our hooks, and without what had been made for them and is empty."""
        for of_event in self._places(text).values():
            for path, _, is_alone in reversed(of_event):
                text = json_edit.remove(text, path[:-2] if is_alone else path)
        return json_edit.unmake(text, notes.made)

    def _places(self, text: str) -> dict[str, list[tuple[json_edit.Path, str, bool]]]:
        """(path, command, whether it is alone in its group) of our hooks in each event, in order."""
        events = json_edit.get(text, ("hooks",))
        found: dict[str, list[tuple[json_edit.Path, str, bool]]] = {}
        for event, groups in events.items() if isinstance(events, dict) else ():
            for n_group, group in enumerate(groups if isinstance(groups, list) else ()):
                hooks = group.get("hooks") if isinstance(group, dict) else None
                hooks = hooks if isinstance(hooks, list) else []
                ours = [n for n, hook in enumerate(hooks) if self.is_ours(hook)]
                for place, n_hook in enumerate(ours):
                    path = ("hooks", event, n_group, "hooks", n_hook)
                    # The last one that is removed takes the group with it.
                    is_alone = len(ours) == len(hooks) and place == 0
                    found.setdefault(event, []).append((path, hooks[n_hook]["command"], is_alone))
        return found


@dataclass(frozen=True, slots=True)
class Several:
    """Parts of one file."""

    parts: tuple[Part, ...]

    def is_in(self, text: str) -> bool:
        """Whether one of them is there."""
        return any(part.is_in(text) for part in self.parts)

    def put(self, text: str, notes: Notes) -> tuple[str, Notes]:
        """The text with all of them.

        Raises:
            McpMemoryError: one cannot be put in.
        """
        for part in self.parts:
            text, notes = part.put(text, notes)
        return text, notes

    def take(self, text: str, notes: Notes) -> str:
        """The text without them."""
        for part in reversed(self.parts):
            text = part.take(text, notes)
        return text


@dataclass(frozen=True, slots=True)
class Extension:
    """A whole file of ours, a module that Pi loads."""

    template: str
    command: tuple[str, ...]
    env: Mapping[str, str]
    with_tools: bool

    def is_in(self, text: str) -> bool:
        """Whether it is a file of ours."""
        return text.startswith(_EXTENSION_MARK)

    def put(self, text: str, notes: Notes) -> tuple[str, Notes]:
        """The module.

        Raises:
            HostError: there is another file of that name.
        """
        if text.strip() and not self.is_in(text):
            raise HostError("it is there already and is not mcp-memory's", hint="rename or remove it")
        command = json.dumps(list(self.command))
        filled = self.template.replace("__MCP_MEMORY_COMMAND__", command)
        filled = filled.replace("__MCP_MEMORY_WITH_TOOLS__", json.dumps(self.with_tools))
        env = {**self.env_in(text), **self.env}
        # What runs from here on is to have the same memory as at the installation.
        given = f"\nObject.assign(process.env, {json.dumps(env)});\n" if env else ""
        head = _EXTENSION_MARK + json.dumps({"command": list(self.command), "env": env})
        return f"{head}\n{filled}{given}", notes

    def take(self, text: str, notes: Notes) -> str:  # noqa: ARG002 - as of every part
        """Nothing, or the text where it is not ours."""
        return "" if self.is_in(text) else text

    @staticmethod
    def told_in(text: str) -> dict[str, Any]:
        """What the first line of such a file tells: command and env, {} where it tells nothing."""
        if not text.startswith(_EXTENSION_MARK):
            return {}
        try:
            told = json.loads(text.splitlines()[0].removeprefix(_EXTENSION_MARK))
        except ValueError:
            return {}
        return told if isinstance(told, dict) else {}

    def env_in(self, text: str) -> dict[str, str]:
        """The variables that such a file sets."""
        env = self.told_in(text).get("env", {})
        return {name: value for name, value in env.items() if isinstance(value, str)} if isinstance(env, dict) else {}


def hook_commands(
    hooks: Sequence[Hook], program: Sequence[str], client: str, env: Mapping[str, str], platform: str
) -> dict[str, tuple[str, int]]:
    """What a host's shell is to run upon each event; home and user go with it, as its environment may not have them."""
    given = [(option, env[name]) for name, option in ((_HOME, "--home"), (_USER, "--user")) if name in env]
    options = [word for pair in given for word in pair]
    return {
        hook.event: (_quoted([*program, "hook", hook.what, client, *options], platform), hook.timeout) for hook in hooks
    }


def _quoted(words: Sequence[str], platform: str) -> str:
    if platform != "win32":
        return shlex.join(words)
    # Whichever shell it is there, bash, cmd or PowerShell: it takes slashes, and double quotes.
    slashed = [word.replace("\\", "/") for word in words]
    return " ".join(f'"{word}"' if re.search(r"[^\w./:=-]", word) else word for word in slashed)
