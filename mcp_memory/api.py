"""The facade's methods over lines of JSON: what the command line and Python programs ask a running engine.

A line is `{"id", "method", "arguments"}`; its answer `{"id", "result"}` or `{"id", "error": {code, message, hint}}`.
Before the answer of a long call lines `{"id", "progress": [done, total]}` may come.
"""

import inspect
import json
import logging
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import anyio
import anyio.from_thread
import anyio.to_thread
from pydantic import TypeAdapter, ValidationError

from . import errors
from .errors import InvalidInputError, McpMemoryError, StorageError
from .hook_records import Captured, CapturePoint, Reminder
from .records import AddResult, DeleteResult, Fact, Forgotten, Matching, OnProgress, RateResult
from .records import Memory as Record
from .reports import (
    BackupResult,
    Check,
    Exported,
    FactAudit,
    History,
    Imported,
    NewToken,
    NotesFile,
    Rebuilt,
    Reembedded,
    Token,
    Undone,
    Updated,
    Verification,
    WhyNot,
)
from .search_records import SearchResult, UserProfile
from .settings import as_table
from .turns import Turn

if TYPE_CHECKING:
    from .engine import Engine
    from .memory import LocalMemory
    from .settings import Settings
    from .wire import ReadLine, WriteLine

logger = logging.getLogger(__name__)

# The methods that may be called, with the types of their answers.
ANSWERS: Mapping[str, TypeAdapter[Any]] = {
    "add": TypeAdapter(AddResult),
    "search": TypeAdapter(SearchResult),
    "list": TypeAdapter(list[Record]),
    "delete": TypeAdapter(DeleteResult),
    "matching": TypeAdapter(Matching),
    "forget": TypeAdapter(Forgotten),
    "get": TypeAdapter(Record),
    "facts": TypeAdapter(list[Fact]),
    "audit_facts": TypeAdapter(FactAudit),
    "profile": TypeAdapter(UserProfile),
    "add_fact": TypeAdapter(AddResult),
    "update": TypeAdapter(Updated),
    "history": TypeAdapter(History),
    "undo": TypeAdapter(Undone),
    "why_not": TypeAdapter(WhyNot),
    "rate": TypeAdapter(RateResult),
    "stats": TypeAdapter(dict[str, int]),
    "settings": TypeAdapter(list[tuple[str, str, str]]),
    "examine": TypeAdapter(list[Check]),
    "backup": TypeAdapter(BackupResult),
    "whose": TypeAdapter(dict[str, str]),
    "remind": TypeAdapter(Reminder),
    "capture_point": TypeAdapter(CapturePoint),
    "capture": TypeAdapter(Captured),
    "note_given": TypeAdapter(type(None)),
    "pass_over": TypeAdapter(type(None)),
    "pause": TypeAdapter(type(None)),
    "refuse_if_paused": TypeAdapter(type(None)),
    "resume": TypeAdapter(bool),
    "paused": TypeAdapter(dict[str, datetime]),
    "keep_notes": TypeAdapter(type(None)),
    "forget_notes": TypeAdapter(bool),
    "refresh_notes": TypeAdapter(list[NotesFile]),
    "add_token": TypeAdapter(NewToken),
    "tokens": TypeAdapter(list[Token]),
    "revoke_token": TypeAdapter(list[Token]),
    "export_to": TypeAdapter(Exported),
    "import_from": TypeAdapter(Imported),
    "verify": TypeAdapter(Verification),
    "rebuild": TypeAdapter(Rebuilt),
    "reembed": TypeAdapter(Reembedded),
}
# Of all clients together, each of whom asks one thing at a time.
_THREADS = anyio.CapacityLimiter(256)
_CHANGES = frozenset({"add", "add_fact", "delete", "forget", "update", "undo", "rate", "capture"})
# Those that do not wait for what is being loaded, and come before anything that does.
_FORERUNNERS = frozenset({"remind", "capture_point"})
# Those that say how far they are.
_LONG = frozenset({"verify", "rebuild", "reembed", "export_to", "import_from"})
# What would change the answers of all clients is not done for one who has left, nor what goes on where it stopped.
_ENDS_WITH_CLIENT = frozenset({"reembed", "export_to", "import_from"})
# With which settings the memory is opened for a method where it is not open yet: with its own model, if it is to have
# another one.
_OPENED_WITH: Mapping[str, Mapping[str, Any]] = {"reembed": {"embedding_model": ""}}
_TELL_EVERY_S = 0.1
_LOOK_AT_ARGUMENTS = "look at the method's arguments"
_ANYTHING: TypeAdapter[Any] = TypeAdapter(Any)
_ERRORS = {
    kind.code: kind for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, McpMemoryError)
}


def question(number: int, method: str, arguments: Mapping[str, Any]) -> bytes:
    """A call as a line. Times, records and dataclasses become JSON."""
    call = {"id": number, "method": method, "arguments": dict(arguments)}
    return _ANYTHING.dump_json(call) + b"\n"


def read_answer(method: str, line: bytes) -> Any:
    """The result in a line.

    Raises:
        McpMemoryError: what the engine raised.
    """
    value = json.loads(line)
    if error := value.get("error"):
        kind = _ERRORS.get(error["code"], McpMemoryError)
        raise kind(error["message"], hint=error["hint"])
    return ANSWERS[method].validate_python(value["result"])


def progress_in(line: bytes) -> tuple[int, int] | None:
    """(done, total) where a line is no answer yet."""
    told = json.loads(line).get("progress")
    return (int(told[0]), int(told[1])) if told else None


async def answer_calls(
    engine: "Engine", settings: "Settings", agent_id: str, read_line: "ReadLine", write_line: "WriteLine"
) -> None:
    """Answer the calls of one client, one after the other, until it goes."""
    while line := await read_line():
        try:
            call = json.loads(line)
            number, method, given = int(call["id"]), call["method"], dict(call["arguments"])
        except (ValueError, KeyError, TypeError):
            await write_line(b'{"id": null, "error": {"code": "invalid_input", "message": "no call", "hint": ""}}\n')
            continue

        if method in _FORERUNNERS:
            engine.warm()
        turn = engine.next_turn(settings) if method in _CHANGES else Turn()

        def work(number: int = number, method: str = method, given: dict[str, Any] = given, turn: Turn = turn) -> bytes:
            if method in _LONG:
                given = given | {"on_progress": _teller(number, method, write_line)}
            opened_with = _OPENED_WITH.get(method, {})
            return _answered(lambda: engine.memory_of(settings, agent_id, turn, **opened_with), method, given)

        try:
            answered = await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=_THREADS)
        finally:
            turn.leave()
        await write_line(b'{"id": %d, %b}\n' % (number, answered))


def _teller(number: int, method: str, write_line: "WriteLine") -> OnProgress:
    """Tells the client of a call how far it is, not too often; for the thread that does the work."""
    told_at = -_TELL_EVERY_S

    async def send(line: bytes) -> None:
        await write_line(line)

    def tell(done: int, total: int) -> None:
        nonlocal told_at
        if time.monotonic() - told_at < _TELL_EVERY_S:
            return
        told_at = time.monotonic()
        try:
            anyio.from_thread.run(send, b'{"id": %d, "progress": [%d, %d]}\n' % (number, done, total))
        except (OSError, RuntimeError) as exc:
            if method in _ENDS_WITH_CLIENT:
                raise StorageError("whoever asked for it has left", hint=f"ask for {method} again: it goes on") from exc

    return tell


def _answered(open_memory: "Callable[[], LocalMemory]", method: str, given: dict[str, Any]) -> bytes:
    try:
        return b'"result": ' + _done(open_memory, method, given)
    except McpMemoryError as exc:
        error = {"code": exc.code, "message": exc.message, "hint": exc.hint}
    except ValidationError as exc:
        error = {"code": "invalid_input", "message": f"{method}: {exc}", "hint": _LOOK_AT_ARGUMENTS}
    except Exception:  # the one place of this protocol that must not let anything through
        logger.exception("unexpected error in %r", method)
        error = {"code": "internal", "message": "unexpected error", "hint": "the engine's log has the details"}
    return b'"error": ' + json.dumps(error).encode()


def _done(open_memory: "Callable[[], LocalMemory]", method: str, given: dict[str, Any]) -> bytes:
    if method not in ANSWERS:
        raise InvalidInputError(f"the engine has no method {method!r}", hint="update mcp-memory, or stop the engine")
    memory = open_memory()
    if method == "settings":
        return ANSWERS[method].dump_json(as_table(memory.settings))
    if method == "whose":
        return ANSWERS[method].dump_json({"user": memory.user_id, "folder": str(memory.folder)})
    do = getattr(memory, method)
    try:
        # Here, so that a TypeError of the method itself is not blamed on whoever called it.
        inspect.signature(do).bind(**given)
    except TypeError as exc:
        raise InvalidInputError(f"{method}: {exc}", hint=_LOOK_AT_ARGUMENTS) from exc
    return ANSWERS[method].dump_json(do(**given))
