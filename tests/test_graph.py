"""The packaged model as a graph: the same vectors, made once, taken over while running, not trusted when damaged."""

import contextlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mcp_memory import graph
from mcp_memory.embedder import Embedder
from mcp_memory.graph import Graph
from mcp_memory.packaged import packaged_folder, sha256_of
from mcp_memory.paths import cache_folder
from mcp_memory.transformer import Transformer

TEXTS = ["I keep bees", "", "Я живу в Лиссабоне", "猫が好きです", "emoji 🐝 and a\ttab", "word " * 400]


@pytest.fixture(scope="module")
def transformer() -> Transformer:
    return Transformer(str(packaged_folder()))


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return cache_folder()


@pytest.fixture(scope="session")
def made(embedder: Embedder) -> Path:
    """The graph that all tests share."""
    [path] = cache_folder().glob("*.onnx")
    return path


@pytest.fixture(scope="module")
def loaded(made: Path) -> Graph:
    return Graph(made)


def test_the_graph_gives_the_models_vectors(transformer: Transformer, loaded: Graph) -> None:
    found, wanted = loaded.encode(TEXTS, is_query=False), transformer.encode(TEXTS, is_query=False)
    assert found.dtype == np.float32
    assert np.abs(found - wanted).max() < 1e-5
    assert loaded.encode([], is_query=False).shape == (0, transformer.dimension)


@pytest.mark.parametrize("text", TEXTS)
def test_the_graph_counts_tokens_as_the_model_does(transformer: Transformer, loaded: Graph, text: str) -> None:
    assert loaded.offsets(text) == transformer.offsets(text)
    assert loaded.max_tokens == transformer.max_tokens
    assert loaded.dimension == transformer.dimension


def test_pytorch_is_not_imported_for_the_graph(embedder: Embedder) -> None:
    code = (
        "import sys; from mcp_memory.embedder import Embedder; Embedder().embed_query('bees', ['Ana']);"
        "print('torch' in sys.modules, 'sentence_transformers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["False", "False"], done.stderr


def test_the_runtime_is_told_to_report_nothing_and_leaves_nothing_behind(made: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from mcp_memory.graph import Graph;"
        "Graph(Path(sys.argv[1])).encode(['bees'], is_query=True);"
        "import os; print(os.environ['ORT_DISABLE_TELEMETRY'])"
    )
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(made)], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "1"
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize("damage", ["flip", "cut"])
def test_a_damaged_graph_is_removed_and_the_model_serves(made: Path, empty_cache: Path, damage: str) -> None:
    content = bytearray(made.read_bytes())
    if damage == "flip":
        content[len(content) // 2] ^= 1
    else:
        del content[1_000_000:]
    empty_cache.mkdir(parents=True)
    copy = empty_cache / made.name
    copy.write_bytes(content)
    assert graph.find_graph() is None
    assert not copy.exists()


def test_a_file_with_the_right_hash_that_is_no_graph_is_passed_over(empty_cache: Path, made: Path) -> None:
    empty_cache.mkdir(parents=True)
    junk = empty_cache / "junk"
    junk.write_bytes(b"no graph")
    junk.rename(empty_cache / f"{made.stem.rpartition('-')[0]}-{sha256_of(junk)}.onnx")
    assert graph.find_graph() is None


@pytest.mark.slow
def test_the_first_start_on_a_machine_makes_the_graph_and_goes_over_to_it(empty_cache: Path) -> None:
    embedder = Embedder()
    assert isinstance(embedder.load(), Transformer)
    before = embedder.embed_query("Where do I keep the bees?")[0]
    embedder.quicken()
    embedder.quicken()
    making = embedder._building
    assert making
    while making.poll() is None:
        after = embedder.embed_query("Where do I keep the bees?")[0]
        assert np.allclose(before, after, atol=1e-5)
        with contextlib.suppress(subprocess.TimeoutExpired):
            making.wait(2)
    after = embedder.embed_query("Where do I keep the bees?")[0]
    assert np.allclose(before, after, atol=1e-5)
    assert isinstance(embedder.load(), Graph)
    assert {path.suffix for path in empty_cache.iterdir()} == {".onnx", ".lock"}


def test_a_model_chosen_by_folder_gets_no_graph(empty_cache: Path) -> None:
    embedder = Embedder(str(packaged_folder()))
    embedder.load()
    embedder.quicken()
    assert embedder._building is None
