"""The facade's methods over lines of JSON: what the command line and Python programs ask a running engine.

A line is `{"id", "method", "arguments"}`; its answer `{"id", "result"}` or `{"id", "error": {code, message, hint}}`.
"""

import inspect
import json
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from pydantic import TypeAdapter, ValidationError

from . import errors
from .errors import InvalidInputError, McpMemoryError
from .records import AddResult, BackupResult, DeleteResult, SearchResult
from .records import Memory as Record

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
    "stats": TypeAdapter(dict[str, int]),
    "backup": TypeAdapter(BackupResult),
    "whose": TypeAdapter(dict[str, str]),
}
# Of all clients together, each of whom asks one thing at a time.
_THREADS = anyio.CapacityLimiter(256)
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


async def answer_calls(
    engine: "Engine", settings: "Settings", agent_id: str, read_line: "ReadLine", write_line: "WriteLine"
) -> None:
    """Answer the calls of one client, one after the other, until it goes."""
    while line := await read_line():
        try:
            call = json.loads(line)
            number, method, given = call["id"], call["method"], dict(call["arguments"])
        except (ValueError, KeyError, TypeError):
            await write_line(b'{"id": null, "error": {"code": "invalid_input", "message": "no call", "hint": ""}}\n')
            continue

        def work(method: str = method, given: dict[str, Any] = given) -> bytes:
            return _answered(lambda: engine.memory_of(settings, agent_id), method, given)

        answered = await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=_THREADS)
        await write_line(b'{"id": %d, %b}\n' % (int(number), answered))


def _answered(open_memory: "Callable[[], LocalMemory]", method: str, given: dict[str, Any]) -> bytes:
    try:
        return b'"result": ' + _done(open_memory, method, given)
    except McpMemoryError as exc:
        error = {"code": exc.code, "message": exc.message, "hint": exc.hint}
    except (TypeError, ValidationError) as exc:
        error = {"code": "invalid_input", "message": f"{method}: {exc}", "hint": "look at the method's arguments"}
    except Exception:  # the one place of this protocol that must not let anything through
        logger.exception("unexpected error")
        error = {"code": "internal", "message": "unexpected error", "hint": "the engine's log has the details"}
    return b'"error": ' + json.dumps(error).encode()


def _done(open_memory: "Callable[[], LocalMemory]", method: str, given: dict[str, Any]) -> bytes:
    if method not in ANSWERS:
        raise InvalidInputError(f"the engine has no method {method!r}", hint="update mcp-memory, or stop the engine")
    memory = open_memory()
    if method == "whose":
        return ANSWERS[method].dump_json({"user": memory.user_id, "folder": str(memory.folder)})
    return ANSWERS[method].dump_json(getattr(memory, method)(**given))
