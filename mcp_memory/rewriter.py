"""Rewriting that holds no search up: every wait is bounded, and a model that is away or slow is left alone for a while.

One thread asks, one question at a time, with a connection of its own: neither behind the queue's requests nor in their
way.
"""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from .errors import McpMemoryError, ModelOutputError, ModelUnavailableError
from .language_model import LanguageModel, ModelUse
from .ollama_client import Messages, Reply, Schema
from .rewrite import SCHEMA, Rewriting, is_worth_rewriting, request, rewrite
from .settings import Settings

logger = logging.getLogger(__name__)

# Gives the rewriting that was begun; waits for it no longer than the settings allow, and never raises.
Collect = Callable[[], Rewriting]

# How many times as long as a search waits a request may last: more only where nobody collects it.
_MAX_WAITS = 2

BUSY = "the language model was busy with another search"
LOADING = "the language model is being loaded"


class _NotLoadedError(Exception):
    """The model is not in the server's memory."""


class Rewriter:
    """Has a model put questions in other words while they are searched for as they stand."""

    def __init__(self, model: LanguageModel, settings: Settings, tick: Callable[[], float] = time.monotonic) -> None:
        """Name the model; nothing is asked yet. `tick` counts seconds."""
        self._model = model
        self._wait_s = settings.rewrite_wait_s
        self._rest_s = settings.llm_retry_s
        self._tick = tick
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rewriter")
        self._guard = threading.Lock()
        # What follows is read and written under the guard alone.
        self._is_loading = False
        self._rest_until = tick()
        self._trouble = ""
        self._told = ""

    @property
    def use(self) -> ModelUse:
        """Calls and tokens so far."""
        return self._model.use

    def prepare(self) -> None:
        """Have the model loaded, and the part read that all requests share, in the background; no search waits."""
        with self._guard:
            if self._is_loading:
                return
            self._is_loading = True
        try:
            self._thread.submit(self._load)
        except RuntimeError:
            # Closed; whoever searches is told by the stores.
            self._finish_loading()

    def begin(self, question: str) -> Collect:
        """Start to rewrite a question; what is returned gives the result."""
        if not is_worth_rewriting(question):
            return Rewriting
        if trouble := self._find_trouble():
            return partial(self._missing, trouble)
        is_given_up = threading.Event()
        try:
            return partial(self._collect, self._thread.submit(self._ask, question, is_given_up), is_given_up)
        except RuntimeError:
            return Rewriting

    def close(self) -> None:
        """End the request under way, so that the server stops generating. Safe to repeat."""
        self._model.close()
        self._thread.shutdown(cancel_futures=True)

    def _ask(self, question: str, is_given_up: threading.Event) -> tuple[str, ...]:
        # Ollama gives up loading a model when the client that made it begin leaves, for all who wait for it.
        if not self._model.is_loaded(self._wait_s):
            raise _NotLoadedError

        def ask(messages: Messages, schema: Schema, max_output_tokens: int) -> Reply:
            if is_given_up.is_set():
                raise ModelUnavailableError("nobody waits for the answer any more", hint="search again")
            return self._model.ask(messages, schema, max_output_tokens, _MAX_WAITS * self._wait_s)

        return rewrite(question, ask)

    def _collect(self, future: Future[tuple[str, ...]], is_given_up: threading.Event) -> Rewriting:
        # The wait begins here: what the search did meanwhile was not done for the rewriting.
        try:
            queries = future.result(self._wait_s)
        except TimeoutError:
            is_given_up.set()
            if future.cancel():
                # A question that never had its turn says nothing about the model.
                return self._missing(BUSY)
            self._model.cancel()
            return self._rest(
                ModelUnavailableError(
                    f"{self._model.name!r} did not answer in {self._wait_s:g} s",
                    hint="raise MCP_MEMORY_REWRITE_WAIT_S, or name a smaller model in MCP_MEMORY_REWRITE_MODEL",
                )
            )
        except _NotLoadedError:
            self.prepare()
            return self._missing(LOADING)
        except ModelUnavailableError as exc:
            return self._rest(exc)
        except McpMemoryError as exc:
            # An answer that cannot be used cost no more than one that can.
            return self._missing(str(exc))
        except Exception as exc:
            # What is there to help a search must not end it.
            logger.exception("unexpected error in rewriting")
            return self._missing(f"unexpected error ({type(exc).__name__})")
        with self._guard:
            self._told = ""
        return Rewriting(queries)

    def _find_trouble(self) -> str:
        """Why the model is not to be asked now, '' where it is."""
        with self._guard:
            if self._is_loading:
                return LOADING
            return self._trouble if self._tick() < self._rest_until else ""

    def _load(self) -> None:
        try:
            self._model.ask(request(""), SCHEMA, 1)
        except ModelOutputError:
            # Its one token is no answer; it is there.
            pass
        except ModelUnavailableError as exc:
            self._set_rest(str(exc))
        finally:
            self._finish_loading()

    def _finish_loading(self) -> None:
        with self._guard:
            self._is_loading = False

    def _rest(self, exc: McpMemoryError) -> Rewriting:
        """Leave the model alone for a while."""
        self._set_rest(str(exc))
        return self._missing(str(exc))

    def _set_rest(self, trouble: str) -> None:
        with self._guard:
            self._trouble, self._rest_until = trouble, self._tick() + self._rest_s

    def _missing(self, reason: str) -> Rewriting:
        """No rewriting; why is told once, until it works again."""
        with self._guard:
            is_told, self._told = self._told == reason, reason
        notice = "" if is_told else f"The question was searched for only as it stands: {reason}."
        return Rewriting(is_missing=True, notice=notice)
