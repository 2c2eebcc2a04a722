"""Any sentence-transformers model, by folder or by name on the model hub."""

import json
import logging
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import regex
from numpy.typing import NDArray

from .families import Family, Prompts, brought, family_of

# Some models read 32,768 tokens: a batch of such texts would take more memory than there is, and one vector
# says little of so long a text. Longer ones become several chunks.
MAX_TOKENS = 512
_HUB_PATIENCE_S = 10.0
_HUB_NAME = regex.compile(r"\w[\w.-]*(/[\w.-]+)?")

logger = logging.getLogger(__name__)


class HubUnreachableError(OSError):
    """A model is not on this machine, and the hub that may have it does not answer."""


class Transformer:
    """A sentence-transformers model. Not safe to use from two threads at once."""

    runtime = "PyTorch"

    def __init__(self, location: str, query_prompt: str | None = None, document_prompt: str | None = None) -> None:
        """Load the model; takes some ten seconds, most of them for importing PyTorch.

        A prompt given here, be it '', goes before those that the model brings, and these before its family's.
        Program code that comes with a model is not run.

        Raises:
            HubUnreachableError: the model would have to be downloaded, and cannot be.
            ImportError: it needs a package that is not installed.
            Exception: whatever the libraries raise for what is no model, or none that can be used.
        """
        model = self.sentence_transformer = _load(location)
        family = family_of(_names(location))
        _prepare(model, family)
        prompts = brought(model.prompts) or (family.prompts if family else Prompts())
        self.prompts = Prompts(
            prompts.query if query_prompt is None else query_prompt,
            prompts.document if document_prompt is None else document_prompt,
        )
        limit = model.max_seq_length or MAX_TOKENS
        self.max_tokens = int(min(limit, MAX_TOKENS))
        # A static model has no limit to lower.
        if self.max_tokens < limit < math.inf:
            model.max_seq_length = self.max_tokens

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return int(self.sentence_transformer.get_embedding_dimension())

    @property
    def reads_alike(self) -> bool:
        """Whether queries and documents are embedded in one way."""
        from sentence_transformers.base.modules import Router

        return self.prompts.query == self.prompts.document and not isinstance(self.sentence_transformer[0], Router)

    def encode(self, texts: Sequence[str], *, is_query: bool) -> NDArray[np.float32]:
        """Normalised vectors, shape (len(texts), dimension)."""
        model = self.sentence_transformer
        encode = model.encode_query if is_query else model.encode_document
        # Named here, since the library overlooks a prompt that a model calls "passage".
        prompt = self.prompts.query if is_query else self.prompts.document
        found = encode(list(texts), prompt=prompt, show_progress_bar=False, convert_to_numpy=True)
        vectors = np.asarray(found, dtype=np.float32).reshape(len(texts), self.dimension)
        # In single precision, whatever the model computes in.
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: NDArray[np.float32] = vectors / np.maximum(norms, np.finfo(np.float32).tiny)
        return unit

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Start and end of each token in the text, however long it is."""
        tokenizer = self.sentence_transformer.tokenizer
        if not callable(tokenizer):
            return list(tokenizer.encode(text, add_special_tokens=False).offsets)
        found = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False)
        return list(found["offset_mapping"])


def _load(location: str) -> Any:
    is_folder = Path(location).is_dir()
    if not is_folder and not _HUB_NAME.fullmatch(location):
        raise FileNotFoundError("there is no such folder")
    if is_folder:
        # Read when the hub's client is imported: a model on this disk needs no network.
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import transformers.utils.logging as transformers_logging
    from sentence_transformers import SentenceTransformer

    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        # What was downloaded before needs no network either.
        return SentenceTransformer(location, device="cpu", local_files_only=True)
    except OSError:
        if is_folder:
            raise
    _reach_hub()
    return SentenceTransformer(location, device="cpu")


def _reach_hub() -> None:
    """Ask the hub for a sign of life: a download from one that is out of reach is tried for minutes."""
    from huggingface_hub import constants, get_session

    try:
        get_session().head(constants.ENDPOINT, timeout=_HUB_PATIENCE_S)
    except Exception as exc:
        # Which library speaks HTTP here, and what it raises, depends on the version.
        raise HubUnreachableError(
            f"it is neither a folder nor downloaded, and {constants.ENDPOINT} cannot be reached"
        ) from exc


def _names(location: str) -> list[str]:
    """What a model is called: its location, and in a folder what its files say it is or was made from."""
    folder = Path(location)
    if not folder.is_dir():
        return [location]
    # In the hub's cache the folder of a model bears its name, and holds one for each revision.
    names = [location, *(part for part in folder.resolve().parts if part.startswith("models--"))]
    try:
        names.append(json.loads((folder / "config.json").read_text(encoding="utf-8"))["_name_or_path"])
    except (OSError, ValueError, LookupError, TypeError):
        logger.debug("no name in %s", folder / "config.json")
    try:
        from huggingface_hub import ModelCard

        base = ModelCard.load(folder / "README.md", ignore_metadata_errors=True).data.base_model
        names += [base] if isinstance(base, str) else base or []
    except (OSError, ValueError):
        logger.debug("no model card in %s", folder)
    return [name for name in names if isinstance(name, str)]


def _prepare(model: Any, family: Family | None) -> None:
    """Have a model used as its family was trained, as far as the libraries leave that open."""
    config = getattr(getattr(model[0], "model", None), "config", None)
    if family is None:
        if getattr(config, "auto_map", None):
            logger.warning("the embedding model brings program code, which is not run; the library's own is used")
    elif config is not None:
        if family.is_bidirectional:
            config.is_causal = False
        if family.ends_with_eos:
            model.tokenizer.add_eos_token = True
