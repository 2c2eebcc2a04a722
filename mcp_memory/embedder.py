"""Texts to vectors with one embedding model, loaded on first use.

Long texts become several chunks, each with its heading, so that nothing falls behind what the model reads.
"""

import contextlib
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .errors import ModelUnavailableError
from .families import Prompts
from .graph import Graph, find_graph
from .made_by import MadeBy
from .packaged import checked_folder
from .paths import cache_folder
from .records import PACKAGED_MODEL
from .transformer import HubUnreachableError, Transformer

Vectors = NDArray[np.float32]

OVERLAP_TOKENS = 32
# Hosts give a call up after 60 seconds.
PATIENCE_S = 45.0
RETRY_S = 60.0
_BATCH = 32
_SPECIAL_TOKENS = 2
# A heading or a prompt longer than this share of the model's window would leave no room for the text.
_MAX_HEADING_SHARE = _MAX_PROMPT_SHARE = 0.25
# Whose vector tells whether the weights are those that they were.
_SAMPLE_TEXT = "The spare key hangs behind the barometer in the hall."
_SAMPLE_NUMBERS = 16

logger = logging.getLogger(__name__)


class Embedder:
    """One embedding model; vectors are float32 and L2-normalised. Safe to use from several threads."""

    def __init__(
        self, name: str = PACKAGED_MODEL, query_prompt: str | None = None, document_prompt: str | None = None
    ) -> None:
        """Name a model: the packaged one, a folder, or a name on the model hub. Nothing is loaded yet.

        Prompts are put before what is embedded; None leaves them to the model and its family.
        """
        self.name = full_name(name)
        self._given = (query_prompt, document_prompt)
        self._loading = threading.Lock()
        # The tokenizer must not be used by two threads at once.
        self._encoding = threading.Lock()
        self._model: Transformer | Graph | None = None
        self._building: subprocess.Popen[bytes] | None = None
        self._failure: ModelUnavailableError | None = None
        self._retry_at = 0.0

    @property
    def is_loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._model is not None

    def load(self) -> Transformer | Graph:
        """Load the model; a second call returns it at once, a concurrent one waits, but not for ever.

        Raises:
            ModelUnavailableError: no such model, its files are damaged, or another thread is still loading it.
        """
        if self._model is not None:
            return self._model
        if not self._loading.acquire(timeout=PATIENCE_S):
            raise ModelUnavailableError(
                f"embedding model {self.name!r} is still being loaded", hint="try again in a minute"
            )
        try:
            if self._model is None:
                if self._failure and time.monotonic() < self._retry_at:
                    raise self._failure
                self._model = self._loaded()
        except ModelUnavailableError as exc:
            if exc is not self._failure:
                # A model that is not there is looked for on the hub, for minutes; not by every call.
                self._failure, self._retry_at = exc, time.monotonic() + RETRY_S
            raise
        finally:
            self._loading.release()
        return self._model

    def quicken(self) -> None:
        """Have another process make what lets the packaged model load at once; later calls take it over.

        That process needs half a minute of one core and outlives this one, since many sessions are shorter.
        """
        if self._has_graph and isinstance(self._model, Transformer) and self._building is None:
            folder = cache_folder()
            try:
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._building = subprocess.Popen(
                    [sys.executable, "-P", "-m", f"{__package__}.graph"],
                    # Not this process's working folder, which may be removed meanwhile.
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            except OSError as exc:
                logger.warning("the embedding model stays slow to load: %s", exc)

    def _take_over(self) -> None:
        """Go over to the graph when it has been made."""
        if isinstance(self._model, Transformer) and self._building is not None:
            status = self._building.poll()
            if status is None:
                return
            self._building = None
            if graph := find_graph():
                self._model = graph
            else:
                command = f"python -m {__package__}.graph"
                logger.warning("the embedding model stays slow to load (exit status %d); see: %s", status, command)

    @property
    def dimension(self) -> int:
        """Length of the vectors; loads the model."""
        return self.load().dimension

    @property
    def prompts(self) -> Prompts:
        """What is put before queries and before everything else; loads the model."""
        return self.load().prompts

    def made_by(self) -> MadeBy:
        """What is to be known of vectors of documents that are made now; loads the model."""
        [vector] = self.embed_names([_SAMPLE_TEXT])
        sample = tuple(float(number) for number in vector[:_SAMPLE_NUMBERS])
        return MadeBy(self.name, self.dimension, self.prompts.document, sample)

    def embed_query(self, query: str, names: Sequence[str] = ()) -> tuple[Vectors, Vectors]:
        """The vector of a query, shape (dimension,), and those of names in it, shape (len(names), dimension).

        Only what the model reads of the query counts. A model that reads queries and documents alike takes
        all in one pass, which costs little more than the query alone.
        """
        if not names or not self.load().reads_alike:
            return self._encode([query], is_query=True)[0], self._encode(names)
        vectors = self._encode([query, *names], is_query=True)
        return vectors[0], vectors[1:]

    def embed_queries(self, queries: Sequence[str]) -> Vectors:
        """The vectors of queries, shape (len(queries), dimension), in one pass."""
        return self._encode(queries, is_query=True)

    def embed_texts(self, texts: Sequence[tuple[str, str]]) -> list[Vectors]:
        """For each (heading, text) the vectors of its chunks, shape (n_chunks, dimension), n_chunks ≥ 1."""
        pieces = [list(self._chunks(heading, text)) for heading, text in texts]
        vectors = self._encode([piece for chunks in pieces for piece in chunks])
        bounds = np.cumsum([len(chunks) for chunks in pieces])[:-1]
        return np.split(vectors, bounds) if pieces else []

    def embed_names(self, names: Sequence[str]) -> Vectors:
        """Vectors of names, shape (len(names), dimension), for comparing them with each other.

        All names are read as documents, those in a query too: of two unlike prompts nothing could be compared.
        """
        return self._encode(names)

    def _encode(self, texts: Sequence[str], *, is_query: bool = False) -> Vectors:
        model = self.load()
        vectors = np.zeros((len(texts), model.dimension), dtype=np.float32)
        # Texts of like length share a batch, so that little of it is padding.
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for start in range(0, len(texts), _BATCH):
            batch = order[start : start + _BATCH]
            # Released between batches, so that a query need not wait for a whole import.
            with self._encoding, self._translating():
                self._take_over()
                vectors[batch] = self.load().encode([texts[place] for place in batch], is_query=is_query)
        # A model that fails on a text must not keep the text out: zero resembles nothing.
        return np.nan_to_num(vectors, posinf=0.0, neginf=0.0)

    @contextlib.contextmanager
    def _translating(self) -> Iterator[None]:
        try:
            yield
        except ModelUnavailableError:
            raise
        except Exception as exc:
            raise ModelUnavailableError(
                f"embedding model {self.name!r} failed: {_summary(exc)}", hint="run: mcp-memory doctor"
            ) from exc

    def _chunks(self, heading: str, text: str) -> Iterator[str]:
        """The text in pieces that the model reads whole, each after the heading, overlapping a little."""
        model = self.load()
        room = model.max_tokens - _SPECIAL_TOKENS
        with self._encoding, self._translating():
            offsets = model.offsets(text)
            heading_tokens = len(model.offsets(heading))
            room -= len(model.offsets(model.prompts.document))
        if heading_tokens > room * _MAX_HEADING_SHARE:
            heading, heading_tokens = "", 0
        room -= heading_tokens
        if len(offsets) <= room:
            yield heading + text
            return
        step = room - min(OVERLAP_TOKENS, room // 4)
        for first in range(0, len(offsets), step):
            last = min(first + room, len(offsets))
            yield heading + text[offsets[first][0] : offsets[last - 1][1]]
            if last == len(offsets):
                return

    @property
    def _has_graph(self) -> bool:
        """Whether the model can be had as a graph, which puts nothing before a text."""
        return self.name == PACKAGED_MODEL and not any(self._given)

    def _loaded(self) -> Transformer | Graph:
        if self._has_graph and (graph := find_graph()):
            return graph
        location = self._location()
        try:
            model = Transformer(location, *self._given)
        except Exception as exc:
            # What a damaged file leads to is for the libraries to say.
            raise ModelUnavailableError(
                f"embedding model {self.name!r} cannot be loaded: {_summary(exc)}", hint=_advice(exc)
            ) from exc
        with self._translating():
            _check_prompts(model, self.name)
        return model

    def _location(self) -> str:
        return str(checked_folder()) if self.name == PACKAGED_MODEL else self.name


def full_name(name: str) -> str:
    """A model's name as it holds wherever a program is started: a folder with its whole path, others as they are."""
    if name == PACKAGED_MODEL:
        return name
    try:
        folder = Path(name).expanduser()
        return str(folder.absolute()) if folder.is_dir() else name
    except (OSError, RuntimeError, ValueError):
        # No path at all, then: no such account, too long, a zero byte.
        return name


def _check_prompts(model: Transformer, name: str) -> None:
    for kind, prompt in (("query", model.prompts.query), ("document", model.prompts.document)):
        if (n_tokens := len(model.offsets(prompt))) > model.max_tokens * _MAX_PROMPT_SHARE:
            raise ModelUnavailableError(
                f"the {kind} prompt {prompt!r} has {n_tokens} tokens, and {name!r} reads {model.max_tokens} in all",
                hint=f"shorten MCP_MEMORY_EMBEDDING_{kind.upper()}_PROMPT",
            )


def _summary(exc: Exception) -> str:
    text = str(exc).strip()
    # What is missing may be named in a list below.
    return " ".join(text.split()) if isinstance(exc, ImportError) else next(iter(text.splitlines()), type(exc).__name__)


def _advice(exc: Exception) -> str:
    """What to do about a model that cannot be loaded."""
    if isinstance(exc, HubUnreachableError):
        return "correct the model's name, or connect this machine once so that the model is downloaded"
    if isinstance(exc, ImportError):
        return f"install what is missing, with: {sys.executable} -m pip install {exc.name or ''}".rstrip()
    if "trust_remote_code" in str(exc):
        return "choose another model: code that comes with a model is never run here"
    return "check the model's name, in MCP_MEMORY_EMBEDDING_MODEL or after --model: a folder, or one on the model hub"
