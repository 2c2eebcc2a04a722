"""The demonstration: two MCP clients under different names, one memory between them, told in plain words."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import anyio
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters
from mcp_types import Implementation

from . import control
from .address import LOG_NAME, STDERR_NAME
from .dial import ENGINE_GONE
from .errors import McpMemoryError, StorageError
from .language_model import LanguageModel, Presence
from .settings import PREFIX, Settings, load_settings

TOLD = (
    ("user", "I moved to Lisbon in March and I work as a bicycle mechanic."),
    ("assistant", "Noted! How is the new workshop?"),
    ("user", "Good. My dentist there is called Doctor Amaral, invoice number INV-2041."),
    ("user", "Meine Schwester Greta ist allergisch gegen Haselnüsse."),
)
ASKED = "What does the user do for a living?"
ASKED_AGAIN = "Haselnuss Allergie"
FORGOTTEN = "INV-2041"
READ = "My brother Tomas starts at the post office tomorrow, and I am learning Finnish."
# As long as an add can wait: a model that is not in memory yet takes its time.
_WAIT_S = 50
_N_LAST_LINES = 30
# What the user's own settings file says of the model holds for the demo's servers too, whose folder is another.
_PASSED_ON = ("ollama_host", "llm_model", "llm_context_tokens", "llm_timeout_s", "llm_think")


E = TypeVar("E", bound=Exception)


def run_demo(say: Callable[[str], None]) -> None:
    """Add from one client, find from another, delete, look again; `say` gets each line.

    Raises:
        StorageError: a step did not do what it should.
        InvalidInputError: a setting of the user's cannot be used.
    """
    settings = load_settings()
    # Not in the event loop: the client has its own.
    model = LanguageModel(settings).look()
    with tempfile.TemporaryDirectory(prefix="mcp-memory-demo-") as home:
        try:
            anyio.run(_demo, _environment(settings, home), model, say)
        except BaseExceptionGroup as group:
            _tell_what_the_engine_wrote(Path(home), say)
            # The client's tasks wrap what is raised among them.
            if found := _first(McpMemoryError, group):
                raise found from group
            if lost := _first(MCPError, group):
                raise StorageError(f"the demonstration failed: {lost}", hint="run: mcp-memory doctor") from group
            raise
        finally:
            # Before its folder is removed.
            control.stop(Path(home))


def _first(kind: type[E], group: BaseExceptionGroup[BaseException]) -> E | None:
    for raised in group.exceptions:
        if isinstance(raised, kind):
            return raised
        if isinstance(raised, BaseExceptionGroup) and (found := _first(kind, raised)):
            return found
    return None


def _tell_what_the_engine_wrote(home: Path, say: Callable[[str], None]) -> None:
    """Before its files go with the folder."""
    for name in (LOG_NAME, STDERR_NAME):
        with contextlib.suppress(OSError):
            lines = (home / name).read_text(encoding="utf-8", errors="replace").splitlines()
            for line in lines[-_N_LAST_LINES:]:
                say(f"{name}: {line}")


def _environment(settings: Settings, home: str) -> dict[str, str]:
    passed_on = {f"{PREFIX}{name.upper()}": str(getattr(settings, name)) for name in _PASSED_ON}
    # Where the demo is ended in its middle, the engine goes soon after its client.
    demo = {"HOME": home, "USER_ID": "demo", "ADD_WAIT_S": str(_WAIT_S), "ENGINE_IDLE_S": "10"}
    return {**os.environ, **passed_on, **{PREFIX + name: value for name, value in demo.items()}}


async def _demo(environment: Mapping[str, str], model: Presence, say: Callable[[str], None]) -> None:
    say("Starting the server as a host would: `mcp-memory serve` over stdio, with an empty data folder.")
    async with _client("desk-agent", environment) as desk:
        tools = [tool.name for tool in (await desk.list_tools()).tools]
        say(f"The client desk-agent is connected and sees: {', '.join(tools)}.")
        say("It stores a short conversation, word for word (the first call loads the embedding model):")
        added = await _call(
            desk,
            "add_memory",
            {
                "messages": [{"role": role, "content": content} for role, content in TOLD],
                "infer": False,
                "run_id": "first-conversation",
            },
        )
        for receipt in added["results"]:
            say(f"  {receipt['status']} {receipt['id']}: {receipt['text']}")
    say("desk-agent has gone. Another client, code-agent, starts the server on the same folder.")
    async with _client("code-agent", environment) as code:
        for question in (ASKED, ASKED_AGAIN):
            found = await _call(code, "search_memory", {"query": question, "top_k": 1})
            _expect(found["memories"], f"nothing was found for {question!r}")
            hit = found["memories"][0]
            say(f"It asks {question!r} and finds, from {hit['agent']}: {hit['text']}")
        found = await _call(code, "search_memory", {"query": FORGOTTEN, "top_k": 1})
        _expect(found["memories"], f"nothing was found for {FORGOTTEN!r}")
        target = found["memories"][0]
        await _call(code, "delete_memory", {"memory_id": target["id"]})
        say(f"It deletes {target['id']}: {target['text']}")
        after = await _call(code, "search_memory", {"query": FORGOTTEN})
        _expect(target["id"] not in [m["id"] for m in after["memories"]], "the deleted memory was found again")
        say(f"It asks for {FORGOTTEN!r} again: {after.get('notice') or 'the deleted memory is not among the hits.'}")
        await _read_out(code, model, say)
    say("Done. The demo's folder is removed; your own memory was not touched.")


async def _read_out(code: Client, model: Presence, say: Callable[[str], None]) -> None:
    """The same with a language model, where there is one; else what to type."""
    if model.advice:
        say(f"No statements are read out by a language model: {model.found}. To have that: {model.advice}")
        return
    say(f"It lets a language model, {model.found}, read statements out of {READ!r}:")
    added = await _call(code, "add_memory", {"text": READ, "infer": True})
    for receipt in added["results"]:
        reason = f" ({receipt['reason']})" if receipt.get("reason") else ""
        say(f"  {receipt['status']} {receipt['id']}: {receipt['text']}{reason}")


def _client(name: str, environment: Mapping[str, str]) -> Client:
    server = StdioServerParameters(command=sys.executable, args=["-m", "mcp_memory", "serve"], env=dict(environment))
    return Client(server, client_info=Implementation(name=name, version="1"), mode="legacy", read_timeout_seconds=180)


async def _call(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    if result.is_error and ENGINE_GONE in str(result.content):
        # Ended from outside, for want of memory perhaps: the answer says to repeat the call.
        result = await client.call_tool(tool, arguments)
    text = " ".join(getattr(block, "text", "") for block in result.content)
    _expect(not result.is_error and result.structured_content is not None, text)
    return dict(result.structured_content or {})


def _expect(condition: object, otherwise: str) -> None:
    if not condition:
        raise StorageError(f"the demonstration failed: {otherwise}", hint="run: mcp-memory doctor")
