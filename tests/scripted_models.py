"""Language models that say what a script tells them, as servers on loopback that the real hosts speak to.

They speak Anthropic's Messages (Claude Code), OpenAI's chat completions (Pi) and responses (Codex), and Google's
generateContent (Gemini CLI), all as server-sent events.
Every request is kept. A request that is no turn of the conversation (a title, a topic) is answered without the script.
"""

import json
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

# What is said once the script is at its end, and to what is no turn of the conversation.
NOTHING_LEFT = "That is all."


@dataclass(frozen=True)
class Say:
    """A turn in which the model answers with a text."""

    text: str


@dataclass(frozen=True)
class Call:
    """A turn in which the model calls a tool, perhaps with some words before it."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    saying: str = ""


Turn = Say | Call
Event = tuple[str, Any]


class ScriptedModel:
    """A server on a free port of this machine that answers while its context is open."""

    # The end of where the host posts its turns, without a query.
    path = ""

    def __init__(self, *turns: Turn) -> None:
        self.requests: list[Any] = []
        self._turns = deque(turns)
        self._lock = threading.Lock()
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or "{}")
                if not self.path.split("?")[0].endswith(model.path):
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                for name, data in model.answer(body):
                    line = f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n"
                    self.wfile.write((f"event: {name}\n{line}" if name else line).encode("utf-8"))

            def do_GET(self) -> None:
                self.send_error(404)

            def do_HEAD(self) -> None:
                self.send_error(404)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        # A host that is killed in the middle of an answer must not keep a test.
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=10)

    def say(self, *turns: Turn) -> None:
        """Put turns behind those that are left of the script."""
        with self._lock:
            self._turns.extend(turns)

    @property
    def n_left(self) -> int:
        """Turns that nobody has asked for."""
        return len(self._turns)

    def answer(self, body: Any) -> Iterable[Event]:
        """The events that answer a request; it is kept."""
        with self._lock:
            is_turn = self.is_turn(body)
            if is_turn:
                self.requests.append(body)
            turn = self._turns.popleft() if is_turn and self._turns else Say(NOTHING_LEFT)
            number = len(self.requests)
        return self.events(turn, number, str(body.get("model", "")))

    def is_turn(self, body: Any) -> bool:
        """Whether a request is one of the conversation: it offers tools, which those for a title do not."""
        return bool(body.get("tools"))

    def events(self, turn: Turn, number: int, model: str) -> Iterator[Event]:
        """The (name, data) pairs of an answer."""
        raise NotImplementedError


class MessagesModel(ScriptedModel):
    """Speaks Anthropic's Messages."""

    path = "/v1/messages"

    def events(self, turn: Turn, number: int, model: str) -> Iterator[Event]:
        usage = {"input_tokens": 10, "output_tokens": 5}
        message: dict[str, Any] = {
            "id": f"msg_{number}", "type": "message", "role": "assistant", "model": model, "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": usage,
        }  # fmt: skip
        stop_reason = "tool_use" if isinstance(turn, Call) else "end_turn"
        yield _named({"type": "message_start", "message": message})
        for index, (block, delta) in enumerate(_blocks(turn, number)):
            yield _named({"type": "content_block_start", "index": index, "content_block": block})
            yield _named({"type": "content_block_delta", "index": index, "delta": delta})
            yield _named({"type": "content_block_stop", "index": index})
        end = {"stop_reason": stop_reason, "stop_sequence": None}
        yield _named({"type": "message_delta", "delta": end, "usage": usage})
        yield _named({"type": "message_stop"})


def _named(event: dict[str, Any]) -> Event:
    return str(event["type"]), event


def _blocks(turn: Turn, number: int) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each block of an answer as it begins, and what is added to it."""
    if text := turn.saying if isinstance(turn, Call) else turn.text:
        yield {"type": "text", "text": ""}, {"type": "text_delta", "text": text}
    if isinstance(turn, Call):
        begun = {"type": "tool_use", "id": f"toolu_{number}", "name": turn.tool, "input": {}}
        yield begun, {"type": "input_json_delta", "partial_json": json.dumps(turn.arguments)}


class CompletionsModel(ScriptedModel):
    """Speaks OpenAI's chat completions."""

    path = "/v1/chat/completions"

    def events(self, turn: Turn, number: int, model: str) -> Iterator[Event]:
        base = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 0, "model": model}
        delta: dict[str, Any] = {"role": "assistant", "content": turn.text if isinstance(turn, Say) else turn.saying}
        if isinstance(turn, Call):
            function = {"name": turn.tool, "arguments": json.dumps(turn.arguments)}
            delta["tool_calls"] = [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}]
        reason = "tool_calls" if isinstance(turn, Call) else "stop"
        yield "", base | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        yield "", base | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}
        yield "", "[DONE]"


class ResponsesModel(ScriptedModel):
    """Speaks OpenAI's responses. A tool of an MCP server is called as `mcp__server__tool`."""

    path = "/v1/responses"

    def events(self, turn: Turn, number: int, model: str) -> Iterator[Event]:
        response: dict[str, Any] = {"id": f"resp_{number}", "object": "response", "model": model, "output": []}
        yield _named({"type": "response.created", "response": response | {"status": "in_progress"}})
        items = list(_items(turn, number))
        for index, item in enumerate(items):
            yield _named({"type": "response.output_item.added", "output_index": index, "item": item})
            yield _named({"type": "response.output_item.done", "output_index": index, "item": item})
        usage = {
            "input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15,
        }  # fmt: skip
        done = response | {"status": "completed", "output": items, "usage": usage}
        yield _named({"type": "response.completed", "response": done})


def _items(turn: Turn, number: int) -> Iterator[dict[str, Any]]:
    if text := turn.saying if isinstance(turn, Call) else turn.text:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        yield {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content}
    if isinstance(turn, Call):
        namespace, _, name = turn.tool.rpartition("__")
        yield {
            "type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": name,
            "arguments": json.dumps(turn.arguments), **({"namespace": namespace} if namespace else {}),
        }  # fmt: skip


class GeminiModel(ScriptedModel):
    """Speaks Google's generateContent."""

    path = ":streamGenerateContent"

    def events(self, turn: Turn, number: int, model: str) -> Iterator[Event]:
        parts: list[dict[str, Any]] = []
        if text := turn.saying if isinstance(turn, Call) else turn.text:
            parts.append({"text": text})
        if isinstance(turn, Call):
            parts.append({"functionCall": {"name": turn.tool, "args": dict(turn.arguments)}})
        said = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        told = {"candidates": [said], "usageMetadata": usage, "modelVersion": model, "responseId": f"resp_{number}"}
        yield "", told
