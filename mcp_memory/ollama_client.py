"""A local language model, asked through Ollama.

Bounds every request in time (looking up a remote host's name excepted, which the system bounds) and in length, and
turns whatever fails into one of our errors. What a reply means, and whether it fits its schema, is for the caller.
"""

import asyncio
import contextlib
import ipaddress
import re
import shutil
import ssl
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .errors import InvalidInputError, McpMemoryError, ModelFailedError, ModelOutputError, ModelUnavailableError

if TYPE_CHECKING:
    import ollama

Messages = Sequence[Mapping[str, str]]
Schema = Mapping[str, Any]

DEFAULT_PORT = 11434
UP_WITHIN_S = 2.0
# Ollama sends nothing while it checks a downloaded file, which takes minutes for a large one on a slow disk.
PULL_SILENCE_S = 600.0
# More than a token spells on average in any language; what is longer is a loop that the server did not stop.
CHARS_PER_TOKEN = 16
# No tokenizer that Ollama serves joins words across white space, so each costs a token. A quarter is left for what
# chat templates drop, such as the thoughts of earlier turns. Han and Kana have no spaces, and vocabularies hold
# common phrases of up to ten such characters. What the template adds comes on top.
TOKENS_PER_WORD = 0.75
TOKENS_PER_IDEOGRAPH = 0.1

_PATIENCE = "wait until Ollama is less busy, or choose a smaller model"
_WHOSE_ADDRESS = "check that Ollama has this address (MCP_MEMORY_OLLAMA_HOST)"
_RESUME = "run the same command again: it goes on from there"
_HOST_NAME = re.compile(r"[\w-]{1,63}(\.[\w-]{1,63})*\.?", re.ASCII)
_NOT_IN_A_HOST = re.compile(r"^/|:/|[\s\x00-\x1f\x7f?#@\\]")
_IDEOGRAPH = re.compile(r"[\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_MISSING_MODEL = re.compile(r"\bmodel\b.*\bnot found\b", re.IGNORECASE)
_THOUGHTS = re.compile(r"<think>.*?</think>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answered; counts are 0 where the server does not give them."""

    text: str
    is_complete: bool
    n_prompt_tokens: int
    n_output_tokens: int
    duration_s: float


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model on the server's disk; `parameters` and `quantization` read like '1.5B' and 'Q4_K_M', or are empty."""

    name: str
    size_bytes: int
    parameters: str
    quantization: str


@dataclass(frozen=True, slots=True)
class PullProgress:
    """How far a download is; bytes of the present file, 0 in steps that have none."""

    status: str
    completed: int
    total: int


class OllamaClient:
    """One Ollama server. Safe to use from several threads, but not inside a running event loop."""

    def __init__(self, host: str, *, context_tokens: int = 8192, think: bool = False, keep_alive_s: int = 600) -> None:
        """Name a server as `OLLAMA_HOST` does; nothing is imported or connected yet.

        Raises:
            InvalidInputError: the host is no address.
        """
        self.host = normalise_host(host)
        self._context_tokens = context_tokens
        self._think = think
        self._keep_alive_s = keep_alive_s
        self._cannot_think: set[str] = set()
        self._turn = threading.Lock()
        self._guard = threading.Lock()
        # What follows is read and written under the guard alone.
        self._task: asyncio.Task[Any] | None = None
        self._is_cancelled = False
        self._is_closed = False

    def ask(
        self, model: str, messages: Messages, *, schema: Schema | None, max_output_tokens: int, timeout_s: float
    ) -> Reply:
        """The model's reply, without its thoughts; one request at a time, waiting for one's turn counts.

        Raises:
            ModelUnavailableError: the server or the model is not there, or the request was cancelled.
            ModelFailedError: the same, where the server failed at it or did not finish in time.
            ModelOutputError: the server answered with what is no reply, or did not read all messages.
        """
        deadline = time.monotonic() + timeout_s
        request = {
            "model": model,
            "messages": messages,
            "format": None if schema is None else dict(schema),
            "options": {"num_ctx": self._context_tokens, "num_predict": max_output_tokens, "temperature": 0, "seed": 0},
            "keep_alive": self._keep_alive_s,
        }
        if not self._turn.acquire(timeout=max(0.0, timeout_s)):
            raise ModelUnavailableError(f"Ollama was busy with another request for {timeout_s:g} s", hint=_PATIENCE)
        try:
            with self._guard:
                if self._is_closed:
                    raise ModelUnavailableError("the client of Ollama is closed", hint="open a new one")
                self._is_cancelled = False
            return asyncio.run(self._ask(deadline - time.monotonic(), request))
        except TimeoutError as exc:
            raise ModelFailedError(f"{model!r} did not finish in {timeout_s:g} s", hint=_PATIENCE) from exc
        except asyncio.CancelledError as exc:
            # Caught out here, so that asyncio.run can still make a KeyboardInterrupt of the user's Ctrl-C.
            raise ModelUnavailableError("the request to Ollama was cancelled", hint="ask again") from exc
        finally:
            self._turn.release()

    def cancel(self) -> None:
        """End the request that is running, if any, by closing its connection: the server then stops generating."""
        with self._guard:
            self._is_cancelled = True
            if self._task:
                self._task.get_loop().call_soon_threadsafe(self._task.cancel)

    def close(self) -> None:
        """End the request that is running and refuse later ones; repeating it is safe."""
        with self._guard:
            self._is_closed = True
        self.cancel()

    def installed(self, within_s: float = 5.0) -> list[InstalledModel]:
        """The models on the server's disk, in its order. Raises what `ask` does."""
        models: Sequence[ollama.ListResponse.Model] = self._models(lambda client: client.list(), within_s)
        found = []
        for model in models:
            parameters = model.details.parameter_size if model.details else ""
            quantization = model.details.quantization_level if model.details else ""
            found.append(InstalledModel(model.model or "", model.size or 0, parameters or "", quantization or ""))
        return found

    def running(self, within_s: float = 5.0) -> frozenset[str]:
        """Names of the models in the server's memory or on their way there. Raises what `ask` does."""
        models: Sequence[ollama.ProcessResponse.Model] = self._models(lambda client: client.ps(), within_s)
        return frozenset(model.model or model.name or "" for model in models)

    def pull(self, model: str) -> Iterator[PullProgress]:
        """Download a model, as far as the iterator is read; one that is left early goes on from there next time.

        Raises:
            ModelUnavailableError, ModelOutputError: as for `ask`; the former also for a name that nobody knows.
        """
        import httpx
        import ollama

        status = ""
        timeout = httpx.Timeout(UP_WITHIN_S, read=PULL_SILENCE_S)
        client = ollama.Client(self.host, timeout=timeout, **_transport(self.host))
        with _translated(self.host, model, is_pull=True), client:
            for step in client.pull(model, stream=True):
                status = step.status or ""
                yield PullProgress(status, step.completed or 0, step.total or 0)
        if status != "success":
            raise ModelUnavailableError(f"the download of {model!r} broke off", hint=_RESUME)

    def _models(self, ask: "Callable[[ollama.AsyncClient], Awaitable[Any]]", within_s: float) -> Any:
        async def asked() -> Any:
            async with asyncio.timeout(within_s), self._client() as client:
                return await ask(client)

        with _translated(self.host):
            try:
                return asyncio.run(asked()).models
            except TimeoutError as exc:
                message = f"Ollama at {self.host} did not answer in time ({within_s:g} s)"
                raise ModelUnavailableError(message, hint=how_to_start(self.host)) from exc

    def _client(self) -> "ollama.AsyncClient":
        import ollama

        return ollama.AsyncClient(self.host, **_transport(self.host))

    async def _ask(self, within_s: float, request: dict[str, Any]) -> Reply:
        with self._guard:
            if self._is_cancelled:
                raise asyncio.CancelledError
            self._task = asyncio.current_task()
        thinks = self._think and request["model"] not in self._cannot_think
        try:
            async with asyncio.timeout(within_s), self._client() as client:
                try:
                    return await self._reply(client, request, thinks=thinks)
                except ModelUnavailableError as exc:
                    if not thinks or "does not support thinking" not in str(exc.__cause__):
                        raise
                self._cannot_think.add(request["model"])
                return await self._reply(client, request, thinks=False)
        finally:
            with self._guard:
                # Its loop is closed next, and a closed loop must not be called.
                self._task = None

    async def _reply(self, client: "ollama.AsyncClient", request: dict[str, Any], *, thinks: bool) -> Reply:
        started = time.monotonic()
        max_chars = request["options"]["num_predict"] * CHARS_PER_TOKEN
        contents: list[str] = []
        n_chars, last = 0, None
        # Sends nothing yet: what fails here is the caller's mistake.
        parts: Any = await client.chat(**request, think=thinks, stream=True)
        with _translated(self.host, request["model"]):
            async with contextlib.aclosing(parts):
                async for part in parts:
                    if part.message.content is not None:
                        contents.append(part.message.content)
                    n_chars += len(part.message.content or "") + len(part.message.thinking or "")
                    last = part if part.done else None
                    if last or n_chars > max_chars:
                        break
        text = "".join(contents)[:max_chars]
        if not contents or not (text or last or n_chars > max_chars):
            raise ModelOutputError("the model's reply has no content", hint="ask again, or choose another model")
        n_prompt_tokens, n_output_tokens = (last.prompt_eval_count, last.eval_count) if last else (0, 0)
        _check_all_was_read(request["messages"], n_prompt_tokens or 0)
        is_complete = last is not None and last.done_reason != "length" and n_chars <= max_chars
        # JSON may hold the tags as data, and a model held to a schema cannot think within its reply.
        if not (request["format"] and text.lstrip().startswith(("{", "["))):
            text, has_thought = _without_thoughts(text)
            is_complete = is_complete and has_thought
        return Reply(text.strip(), is_complete, n_prompt_tokens or 0, n_output_tokens or 0, time.monotonic() - started)


def normalise_host(host: str) -> str:
    """The server's URL, always with a port and without a slash at its end; '' is this machine.

    Without a port, 'http://x' means 11434 as 'x' does; Ollama's client would take 80, where no Ollama listens.
    0.0.0.0 and [::] are what a server listens on; to a client they mean this machine.

    Raises:
        InvalidInputError: the text is no such address.
    """
    scheme, separator, rest = host.strip().rpartition("://")
    scheme = scheme.lower() if separator else "http"
    with contextlib.suppress(ValueError):
        rest = f"[{ipaddress.IPv6Address(rest)}]"
    try:
        url = urlsplit(f"{scheme}://{rest}")
        name = _checked_name(url.hostname or "127.0.0.1")
        port = (443 if scheme == "https" else DEFAULT_PORT) if url.port is None else url.port
    except ValueError:
        port = 0
    if not port or scheme not in ("http", "https") or _NOT_IN_A_HOST.search(rest):
        hint = f"give one such as http://127.0.0.1:{DEFAULT_PORT}"
        raise InvalidInputError(f"{host!r} is no address of an Ollama server", hint=hint)
    path = url.path.strip("/")
    return f"{scheme}://{name}:{port}" + (f"/{path}" if path else "")


def _checked_name(name: str) -> str:
    """'0.0.0.0' → '127.0.0.1', '::1' → '[::1]', 'example.com' → itself; ValueError for '1.2.3' and 'a b'."""
    if ":" in name:
        address = ipaddress.IPv6Address(name)
        return "[::1]" if address.is_unspecified else f"[{address}]"
    if re.fullmatch(r"[\d.]+", name):
        return "127.0.0.1" if ipaddress.IPv4Address(name).is_unspecified else name
    if not _HOST_NAME.fullmatch(name):
        raise ValueError(name)
    return name


def is_on_this_machine(url: str) -> bool:
    """Whether a server's URL names this machine: 'http://[::1]:11434' → True, 'http://nas:11434' → False."""
    name = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def how_to_start(url: str) -> str:
    """What to type where no Ollama answers."""
    elsewhere = "or set MCP_MEMORY_OLLAMA_HOST to where it listens"
    if not is_on_this_machine(url):
        return f"start Ollama there (OLLAMA_HOST=0.0.0.0 ollama serve), {elsewhere}"
    first = "" if shutil.which("ollama") else "install it from https://ollama.com/download and "
    return f"{first}start Ollama (ollama serve), {elsewhere}"


def _transport(url: str) -> dict[str, Any]:
    """Options of the HTTP client: a proxy named by HTTP_PROXY would not find a server on this machine."""
    is_here = is_on_this_machine(url)
    if is_here and url.startswith("http:"):
        # Certificates take longer to load than all else that a request costs us; without any, TLS trusts nobody.
        return {"trust_env": False, "verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)}
    return {"trust_env": not is_here}


def _without_thoughts(text: str) -> tuple[str, bool]:
    """The text without its thoughts, and whether they end: 'a</think>b' → 'b', True; '<think>a' → '', False."""
    text = _THOUGHTS.sub("", text).rpartition("</think>")[2].strip()
    return ("", False) if text.startswith("<think>") else (text, True)


def _check_all_was_read(messages: Messages, n_read: int) -> None:
    # The count covers what came from the server's cache, since Ollama 0.2; only 0.5 and later know schemas.
    words = (word for message in messages for word in message.get("content", "").split())
    at_least = int(sum(max(TOKENS_PER_WORD, TOKENS_PER_IDEOGRAPH * len(_IDEOGRAPH.findall(word))) for word in words))
    if 0 < n_read < at_least:
        message = f"the server read only {n_read} tokens of at least {at_least}"
        raise ModelOutputError(message, hint="raise OLLAMA_CONTEXT_LENGTH, and do not lower num_ctx in the model")


@contextlib.contextmanager
def _translated(host: str, model: str = "", *, is_pull: bool = False) -> Iterator[None]:
    """Turns what Ollama's client raises into our errors; `model` is the one that a 404 is about."""
    import httpx
    import ollama

    try:
        yield
    except ollama.ResponseError as exc:
        raise _refusal(exc, host, model, is_pull=is_pull) from exc
    except (httpx.ConnectError, httpx.ConnectTimeout, ConnectionError) as exc:
        raise ModelUnavailableError(f"Ollama does not answer at {host}", hint=how_to_start(host)) from exc
    except (httpx.TimeoutException, TimeoutError) as exc:
        raise ModelUnavailableError(f"Ollama at {host} did not answer in time", hint=_PATIENCE) from exc
    except (AttributeError, TypeError, ValueError, RecursionError, httpx.DecodingError) as exc:
        message = f"the answer of {host} is not in Ollama's format ({type(exc).__name__})"
        raise ModelOutputError(message, hint=f"ask again, or {_WHOSE_ADDRESS}") from exc
    except (httpx.HTTPError, OSError) as exc:
        message = f"the connection to Ollama at {host} broke ({type(exc).__name__})"
        raise ModelUnavailableError(message, hint="start Ollama again (ollama serve), or ask again") from exc


def _refusal(exc: "ollama.ResponseError", host: str, model: str, *, is_pull: bool) -> McpMemoryError:
    """Our error for an answer with a bad status, or for an error within a stream, whose status is -1."""
    text, status = " ".join(str(exc.error or "").split())[:300], exc.status_code
    is_page = not text or text.startswith(("<", "404 page"))
    if is_pull and not is_page and status not in (429, 503):
        return ModelUnavailableError(f"Ollama could not pull {model!r}: {text}", hint=_how_to_pull(text))
    if model and ((status == 404 and not is_page) or _MISSING_MODEL.search(text)):
        return ModelUnavailableError(f"Ollama has no model {model!r}", hint=f"run: ollama pull {model}")
    if status in (429, 503):
        return ModelUnavailableError(f"Ollama is busy (status {status})", hint="wait until its queue is shorter")
    if status >= 500:
        hint = "choose a smaller model" if "memory" in text else "wait and ask again, or look into Ollama's log"
        return ModelFailedError(f"Ollama failed (status {status}): {text}", hint=hint)
    if status == -1:
        return ModelOutputError(f"Ollama broke off its reply: {text}", hint="ask again, or look into Ollama's log")
    if is_page:
        return ModelOutputError(f"{host} only answered status {status}", hint=_WHOSE_ADDRESS)
    message = f"Ollama refused (status {status}): {text}"
    return ModelUnavailableError(message, hint="choose another model, or update Ollama")


def _how_to_pull(refusal: str) -> str:
    """What to do about a download that Ollama gave up, by the words of its reason."""
    if re.search(r"no space left|not enough space|disk quota", refusal, re.IGNORECASE):
        return "free some space where Ollama keeps its models, then run the same command again"
    if re.search(r"newer version of ollama", refusal, re.IGNORECASE):
        return "update Ollama: https://ollama.com/download"
    if re.search(r"dial tcp|lookup|timeout|connection|unreachable|\bEOF\b|tls|x509|proxy", refusal, re.IGNORECASE):
        return (
            "see that Ollama's machine reaches https://registry.ollama.ai (behind a proxy, start Ollama with"
            " HTTPS_PROXY), then run the same command again"
        )
    return "check the name at https://ollama.com/library"
