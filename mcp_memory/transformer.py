"""Any sentence-transformers model, by folder or by name on the model hub."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Transformer:
    """A sentence-transformers model. Not safe to use from two threads at once."""

    runtime = "PyTorch"

    def __init__(self, location: str) -> None:
        """Load the model; takes some ten seconds, most of them for importing PyTorch.

        Raises:
            OSError, ValueError, ImportError, RuntimeError: there is no such model, or it cannot be used.
        """
        if Path(location).is_dir():
            # Read when the hub's client is imported: a model on this disk needs no network.
            os.environ.setdefault("HF_HUB_OFFLINE", "1")
        import transformers.utils.logging as transformers_logging
        from sentence_transformers import SentenceTransformer

        transformers_logging.set_verbosity_error()
        transformers_logging.disable_progress_bar()
        self.sentence_transformer: Any = SentenceTransformer(location, device="cpu")

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return int(self.sentence_transformer.get_embedding_dimension())

    @property
    def max_tokens(self) -> int:
        """How many tokens the model reads of a text, special ones included."""
        return int(self.sentence_transformer.max_seq_length or 512)

    @property
    def reads_alike(self) -> bool:
        """Whether queries and documents are embedded in one way."""
        return not any(self.sentence_transformer.prompts.values())

    def encode(self, texts: Sequence[str], *, is_query: bool) -> NDArray[np.float32]:
        """Normalised vectors, shape (len(texts), dimension)."""
        model = self.sentence_transformer
        encode = model.encode_query if is_query else model.encode_document
        vectors: NDArray[np.float32] = encode(
            list(texts), normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
        )
        return vectors

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Start and end of each token in the text, however long it is."""
        found = self.sentence_transformer.tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False
        )
        return list(found["offset_mapping"])
