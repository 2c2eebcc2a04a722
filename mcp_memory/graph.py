"""The packaged model as a graph for ONNX Runtime: ready in a fraction of a second, where PyTorch takes ten.

The graph is exported once from the packaged model, by a process of its own, into the platform's place for what
can be made again. Its vectors are those of the model to within float32 rounding, which the export checks.

    python -m mcp_memory.graph    # make it now, and see why that fails
"""

import contextlib
import json
import logging
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from .families import Prompts
from .packaged import PACKAGED_SHA256, checked_folder, packaged_folder, sha256_of
from .paths import cache_folder
from .records import PACKAGED_MODEL
from .transformer import Transformer

logger = logging.getLogger(__name__)

# Raised when graphs made before are not to be used any more.
_RECIPE = 1
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_OUTPUT = "vectors"
_MAX_BATCH, _MIN_TOKENS = 4096, 2
_TOLERANCE = 1e-5
_SAMPLES = ("bees", "Where did Ana leave the violin?", "Wo wohnt Jürgen? 猫が好きです。", "a longer text " * 60)
# The file's own hash is part of its name, so that a damaged one gives itself away.
_STEM = f"{PACKAGED_MODEL}-{PACKAGED_SHA256[:8]}-{_RECIPE}"


class Graph:
    """The packaged model in ONNX Runtime. Not safe to use from two threads at once."""

    reads_alike = True
    runtime = "ONNX Runtime"
    prompts = Prompts()

    def __init__(self, path: Path) -> None:
        """Load a graph file; the tokenizer is read from the installed package.

        Raises:
            Exception: whatever ONNX Runtime raises for a file that is no such graph.
        """
        # Read when the library is imported. Some builds report usage over the network unless told not to.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime
        from tokenizers import Tokenizer

        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        folder = packaged_folder()
        config = json.loads((folder / "sentence_bert_config.json").read_text(encoding="utf-8"))
        self.max_tokens = int(config["max_seq_length"])
        self.dimension = int(self._session.get_outputs()[0].shape[-1])
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(self.max_tokens)
        self._tokenizer.enable_padding()
        self._plain_tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._plain_tokenizer.no_truncation()
        self._plain_tokenizer.no_padding()

    def encode(self, texts: Sequence[str], *, is_query: bool) -> NDArray[np.float32]:  # noqa: ARG002 - read alike
        """Normalised vectors, shape (len(texts), dimension)."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        encoded = self._tokenizer.encode_batch(list(texts))
        fed = np.array([[getattr(item, name) for item in encoded] for name in ("ids", "attention_mask", "type_ids")])
        vectors: NDArray[np.float32]
        [vectors] = self._session.run([_OUTPUT], dict(zip(_INPUTS, fed, strict=True)))
        return vectors

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Start and end of each token in the text, however long it is."""
        return list(self._plain_tokenizer.encode(text, add_special_tokens=False).offsets)


def find_graph() -> Graph | None:
    """The graph made before, None where there is none; a damaged file is removed."""
    for path in sorted(cache_folder().glob(f"{_STEM}-*.onnx")):
        try:
            if sha256_of(path) == path.stem.rpartition("-")[2]:
                return Graph(path)
            logger.warning("%s is damaged; it will be made again", path)
            path.unlink(missing_ok=True)
        except Exception:
            # The library's errors have no common base; the model itself serves instead.
            logger.warning("%s cannot be used", path, exc_info=True)
    return None


def build_graph() -> Graph:
    """Export the packaged model, unless another process has just done so. Takes half a minute.

    Raises:
        ModelUnavailableError: the packaged model is missing or damaged.
        OSError: the folder cannot be written.
        ValueError: the graph's vectors are not the model's.
    """
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with FileLock(folder / "graph.lock"):
        if found := find_graph():
            return found
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            made = Path(scratch) / "model.onnx"
            model = Transformer(str(checked_folder()))
            _export(model, made)
            _compare(model, Graph(made))
            made.replace(folder / f"{_STEM}-{sha256_of(made)}.onnx")
    found = find_graph()
    if found is None:
        raise ValueError("the graph that was just written cannot be read")
    return found


def _export(model: Transformer, target: Path) -> None:
    import torch

    class Embedding(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model.sentence_transformer

        def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
            vectors: torch.Tensor = self.model(dict(zip(_INPUTS, tensors, strict=True)))["sentence_embedding"]
            return torch.nn.functional.normalize(vectors, dim=1)

    batch = torch.export.Dim("batch", min=1, max=_MAX_BATCH)
    length = torch.export.Dim("length", min=_MIN_TOKENS, max=model.max_tokens)
    example = model.sentence_transformer.tokenizer(list(_SAMPLES[:2]), padding=True, return_tensors="pt")
    torch.onnx.export(
        Embedding().eval(),
        tuple(example[name] for name in _INPUTS),
        target,
        input_names=list(_INPUTS),
        output_names=[_OUTPUT],
        dynamic_shapes=(tuple({0: batch, 1: length} for _ in _INPUTS),),
        dynamo=True,
        external_data=False,
        verbose=False,
    )


def _compare(model: Transformer, graph: Graph) -> None:
    for texts in (_SAMPLES[:1], _SAMPLES):
        difference = np.abs(model.encode(texts, is_query=False) - graph.encode(texts, is_query=False)).max()
        if not difference <= _TOLERANCE:
            raise ValueError(f"vectors of the graph differ from the model's by {difference:.2g}")


def main() -> None:
    """Make the graph, out of the way of whatever else runs."""
    if hasattr(os, "nice"):
        with contextlib.suppress(OSError):
            os.nice(10)
    graph = build_graph()
    print(f"the graph is in {cache_folder()}, {graph.dimension} dimensions", file=sys.stderr)


if __name__ == "__main__":
    main()
