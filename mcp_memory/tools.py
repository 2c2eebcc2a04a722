"""The tools: their arguments, their schemas, and what each does with a memory and answers to a model.

Three are offered to every client, the others to those that ask for the full set.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from . import pack, pack_changes
from .records import About, Kind, Role, Scope

if TYPE_CHECKING:
    from .memory import LocalMemory
    from .remote import RemoteMemory

# Done in a worker thread with the memory of the calling client.
Work = Callable[["LocalMemory | RemoteMemory", Any], CallToolResult]


def _parsed_json(value: Any) -> Any:
    """Objects and lists that a model wrote as JSON text."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


class Arguments(BaseModel):
    """Tool arguments: unknown keys are ignored, null counts as left out, numbers may come as text."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True, json_schema_extra={"type": "object"})

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, value: Any) -> Any:
        return {k: v for k, v in value.items() if v is not None} if isinstance(value, dict) else value


def _without_default(schema: dict[str, Any]) -> None:
    """What is left out means something that is no value of the field: as it is, or as is set."""
    schema.pop("default", None)


class SearchArguments(Arguments):
    """Arguments of search_memory."""

    query: str = Field(description="What to find, in plain words")
    top_k: int = Field(10, ge=1, le=100, description="Most hits to return")
    scope: Scope = Field("all", description="user: about the user. agent: about you. run: one conversation")
    run_id: str = Field("", description="Conversation id, for scope run")
    as_of: str = Field("", description="ISO date: leave out what came later")
    threshold: float = Field(0.0, ge=0, le=1, description="Least relevance of a hit")
    explain: bool = Field(False, description="Show every signal")


class MessageArguments(Arguments):
    """One message of add_memory."""

    role: Role = "user"
    content: Any = Field("", json_schema_extra={"type": "string"})
    name: str = Field("", description="Speaker")


class AddArguments(Arguments):
    """Arguments of add_memory."""

    text: str = Field("", description="One statement that stands alone, or")
    messages: Annotated[list[MessageArguments], BeforeValidator(_parsed_json)] = Field(
        default_factory=list, description="a conversation"
    )
    infer: bool = Field(
        True, description="false: keep the words exactly. true: distil facts (kept verbatim until then)"
    )
    about: About = Field("user", description="agent: about yourself")
    kind: Kind | Literal[""] = Field("", json_schema_extra={"default": ""})
    run_id: str = Field("", description="Conversation id")
    observed_at: str = Field("", description="ISO time it was said, default now")
    expires_at: str = Field("", description="ISO time to forget it")
    metadata: Annotated[dict[str, Any], BeforeValidator(_parsed_json)] = Field(default_factory=dict)


class DeleteArguments(Arguments):
    """Arguments of delete_memory."""

    memory_id: str = Field(description="id of a hit")
    purge: bool = Field(False, description="Also from history and files, for good")


class ListArguments(Arguments):
    """Arguments of list_memories."""

    about: About | Literal[""] = Field("", json_schema_extra=_without_default)
    kind: Kind | Literal[""] = Field("", json_schema_extra=_without_default)
    since: str = Field("", description="ISO date")
    until: str = Field("", description="ISO date")
    run_id: str = Field("", description="Conversation id")
    limit: int = Field(20, ge=1, le=100)
    offset: int = Field(0, ge=0)


class MemoryArguments(Arguments):
    """Arguments of the tools that look at one memory."""

    memory_id: str


class UpdateArguments(Arguments):
    """Arguments of update_memory."""

    memory_id: str
    text: str = Field("", description="The whole corrected statement")
    kind: Kind | Literal[""] = Field("", json_schema_extra=_without_default)
    importance: float = Field(0.5, ge=0, le=1, json_schema_extra=_without_default)
    expires_at: str = Field("", description="ISO time to forget it, or never")
    metadata: Annotated[dict[str, Any], BeforeValidator(_parsed_json)] = Field(
        default_factory=dict, description="In place of all there is"
    )


class UndoArguments(Arguments):
    """Arguments of undo."""

    change_id: str = Field(description="From memory_history")


class RateArguments(Arguments):
    """Arguments of rate_memory."""

    memory_id: str = Field(description="id of a hit")
    useful: bool = Field(description="Whether it helped")


class WhyNotArguments(Arguments):
    """Arguments of why_not."""

    memory_id: str = Field(description="The memory that was missed")
    query: str = Field(description="What was searched for")
    top_k: int = Field(10, ge=1, le=100)
    scope: Scope = Field("all", json_schema_extra=_without_default)
    run_id: str = ""
    as_of: str = ""
    threshold: float = Field(0.0, ge=0, le=1)


def _search(memory: "LocalMemory | RemoteMemory", given: SearchArguments) -> CallToolResult:
    result = memory.search(
        given.query,
        top_k=given.top_k,
        threshold=given.threshold,
        scope=given.scope if "scope" in given.model_fields_set else "",
        run_id=given.run_id,
        as_of=given.as_of,
    )
    return _answer(pack.search_payload(result, explain=given.explain), pack.search_lines(result, explain=given.explain))


def _add(memory: "LocalMemory | RemoteMemory", given: AddArguments) -> CallToolResult:
    result = memory.add(
        given.text,
        messages=[message.model_dump() for message in given.messages] or None,
        infer=given.infer,
        about=given.about,
        kind=given.kind,
        run_id=given.run_id,
        observed_at=given.observed_at,
        expires_at=given.expires_at,
        metadata=given.metadata,
    )
    return _answer(pack.add_payload(result), pack.add_lines(result))


def _delete(memory: "LocalMemory | RemoteMemory", given: DeleteArguments) -> CallToolResult:
    result = memory.delete(given.memory_id, purge=given.purge)
    return _answer(pack.delete_payload(result), pack.delete_lines(result))


def _list(memory: "LocalMemory | RemoteMemory", given: ListArguments) -> CallToolResult:
    filters = {"about": given.about, "kind": given.kind, "since": given.since, "until": given.until}
    # One more than is shown tells whether there are more.
    found = memory.list(filters=filters, run_id=given.run_id, limit=given.limit + 1, offset=given.offset)
    shown = found[: given.limit]
    notice = f"There are more: offset {given.offset + given.limit}." if len(found) > len(shown) else ""
    notice = notice or ("" if found else "Nothing is remembered that this list may show.")
    return _answer(pack_changes.list_payload(shown, notice), pack_changes.list_lines(shown, notice))


def _get(memory: "LocalMemory | RemoteMemory", given: MemoryArguments) -> CallToolResult:
    found = memory.get(given.memory_id)
    return _answer(pack_changes.get_payload(found), pack_changes.get_line(found))


def _history(memory: "LocalMemory | RemoteMemory", given: MemoryArguments) -> CallToolResult:
    result = memory.history(given.memory_id)
    return _answer(pack_changes.history_payload(result), pack_changes.history_lines(result))


def _update(memory: "LocalMemory | RemoteMemory", given: UpdateArguments) -> CallToolResult:
    result = memory.update(
        given.memory_id,
        text=given.text,
        kind=given.kind,
        importance=given.importance if "importance" in given.model_fields_set else None,
        expires_at=given.expires_at,
        metadata=given.metadata if "metadata" in given.model_fields_set else None,
    )
    return _answer(pack_changes.update_payload(result), pack_changes.update_lines(result))


def _undo(memory: "LocalMemory | RemoteMemory", given: UndoArguments) -> CallToolResult:
    result = memory.undo(given.change_id)
    return _answer(pack_changes.undo_payload(result), pack_changes.undo_lines(result))


def _rate(memory: "LocalMemory | RemoteMemory", given: RateArguments) -> CallToolResult:
    result = memory.rate(given.memory_id, useful=given.useful)
    told = f"rated [{result.id}] {'useful' if result.is_useful else 'useless'}: {pack.quote(result.text)}"
    return _answer(pack.rate_payload(result), told)


def _why_not(memory: "LocalMemory | RemoteMemory", given: WhyNotArguments) -> CallToolResult:
    result = memory.why_not(
        given.memory_id,
        given.query,
        top_k=given.top_k,
        threshold=given.threshold,
        scope=given.scope if "scope" in given.model_fields_set else "",
        run_id=given.run_id,
        as_of=given.as_of,
    )
    return _answer(pack_changes.why_not_payload(result), pack_changes.why_not_lines(result))


def _answer(payload: dict[str, Any], text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=payload)


def _schema(arguments: type[Arguments]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments, flat, without the titles that cost tokens."""

    def bare(node: Any) -> Any:
        if isinstance(node, list):
            return [bare(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return bare(definitions[node["$ref"].rsplit("/", 1)[1]])
        if "anyOf" in node:
            # Kind or '': hosts read an enum better than a union.
            values = [value for option in node["anyOf"] for value in option.get("enum", [option.get("const")])]
            return {"type": "string", "enum": [value for value in values if value]}
        dropped = {"title", "description"} if "properties" in node else {"title"}
        kept = {key: bare(value) for key, value in node.items() if key not in dropped}
        if kept.get("additionalProperties") is True:
            del kept["additionalProperties"]
        return kept

    full = arguments.model_json_schema()
    definitions = full.pop("$defs", {})
    # A property may be named "title"; the fields of these models are not.
    return dict(bare(full))


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool with what its arguments are read by and what it does."""

    arguments: type[Arguments]
    work: Work
    tool: Tool

    @property
    def is_read(self) -> bool:
        """Whether it changes nothing."""
        return bool(self.tool.annotations and self.tool.annotations.read_only_hint)


def _offer(name: str, arguments: type[Arguments], work: Work, description: str, **hints: bool) -> tuple[str, Offer]:
    tool = Tool(
        name=name,
        description=description,
        input_schema=_schema(arguments),
        annotations=ToolAnnotations(open_world_hint=False, **hints),
    )
    return name, Offer(arguments, work, tool)


DEFAULT: Mapping[str, Offer] = dict(
    (
        _offer(
            "search_memory",
            SearchArguments,
            _search,
            "Search the user's long-term memory. Returns quoted past statements, best first, with id, who and when.",
            read_only_hint=True,
        ),
        _offer(
            "add_memory",
            AddArguments,
            _add,
            "Remember a text or messages; durable and searchable at once. Returns what became of each.",
            read_only_hint=False,
            destructive_hint=False,
            idempotent_hint=True,
        ),
        _offer(
            "delete_memory",
            DeleteArguments,
            _delete,
            "Delete one memory by id.",
            read_only_hint=False,
            destructive_hint=True,
            idempotent_hint=True,
        ),
    )
)
_FURTHER: Mapping[str, Offer] = dict(
    (
        _offer(
            "list_memories", ListArguments, _list, "List memories, newest first, without a query.", read_only_hint=True
        ),
        _offer("get_memory", MemoryArguments, _get, "One memory by id, with all its fields.", read_only_hint=True),
        _offer(
            "update_memory",
            UpdateArguments,
            _update,
            "Correct one memory as the user says, in place. What is left out stays; its history keeps what was.",
            read_only_hint=False,
            destructive_hint=False,
            idempotent_hint=True,
        ),
        _offer(
            "memory_history",
            MemoryArguments,
            _history,
            "What happened to a memory, deleted ones too: each change with its change_id, facts, what replaced what.",
            read_only_hint=True,
        ),
        _offer(
            "undo",
            UndoArguments,
            _undo,
            "Undo one change; also an undo. Where later changes stand in the way it names them and changes nothing.",
            read_only_hint=False,
            destructive_hint=True,
            idempotent_hint=True,
        ),
        _offer(
            "rate_memory",
            RateArguments,
            _rate,
            "Say whether a memory that you used was of use: it counts a little more, or less, from then on.",
            read_only_hint=False,
            destructive_hint=False,
            idempotent_hint=False,
        ),
        _offer(
            "why_not",
            WhyNotArguments,
            _why_not,
            "Why a search did not return a memory: hidden by what, or ranked where and by which signals.",
            read_only_hint=True,
        ),
    )
)


FULL: Mapping[str, Offer] = {**DEFAULT, **_FURTHER}


def offered(tool_set: str) -> Mapping[str, Offer]:
    """The tools of a set: `default`, or `full` for all."""
    return FULL if tool_set == "full" else DEFAULT
