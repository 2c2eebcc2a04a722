"""Embedding models of the usual families: their prompts, their limits, and what cannot be used.

The models have the real architectures and random weights, so that what reaches them is tested, not how well
they search.
"""

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mcp_memory.apply import embedded_form
from mcp_memory.doctor import examine
from mcp_memory.embedder import Embedder
from mcp_memory.errors import ConflictError, ModelUnavailableError
from mcp_memory.families import Prompts, brought, family_of
from mcp_memory.memory import LocalMemory
from mcp_memory.transformer import MAX_TOKENS, Transformer
from tests.builders import edit_json, tiny_bert, tiny_nomic, tiny_qwen, tiny_static, tiny_xlm_roberta
from tests.conftest import Opener

E5 = Prompts("query: ", "passage: ")
NOMIC = Prompts("search_query: ", "search_document: ")
INSTRUCT = Prompts("Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ")
REPRESENT = Prompts("Represent this sentence for searching relevant passages: ")


@pytest.mark.parametrize(
    ("name", "prompts"),
    [
        ("BAAI/bge-m3", Prompts()),
        ("BAAI/bge-small-en-v1.5", REPRESENT),
        ("mixedbread-ai/mxbai-embed-large-v1", REPRESENT),
        ("intfloat/e5-large-v2", E5),
        ("intfloat/multilingual-e5-base", E5),
        ("intfloat/multilingual-e5-large-instruct", INSTRUCT),
        ("nomic-ai/nomic-embed-text-v1.5", NOMIC),
        ("Alibaba-NLP/gte-Qwen2-1.5B-instruct", INSTRUCT),
        ("/models/e5-large-v2/", E5),
        ("C:\\models\\e5-large-v2", E5),
        ("models--intfloat--e5-large-v2", E5),
    ],
)
def test_a_family_is_known_by_the_last_part_of_a_name(name: str, prompts: Prompts) -> None:
    family = family_of([name])
    assert family is not None
    assert family.prompts == prompts


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "/home/e5-small/model", "my-e5-large-v2", "e5", "intfloat", ""])
def test_other_names_belong_to_no_family(name: str) -> None:
    assert family_of([name]) is None


def test_empty_prompts_are_none_that_a_model_brings() -> None:
    assert brought({"query": "", "document": None, "clustering": "cluster: "}) is None
    assert brought({"query": "q: ", "document": ""}) == Prompts("q: ")
    assert brought({"document": "", "passage": "p: "}) == Prompts("", "p: ")


@pytest.mark.parametrize(
    ("folder", "build", "prompts"),
    [
        ("e5-large-v2", lambda path: tiny_bert(path, window=512), E5),
        ("nomic-embed-text-v1.5", tiny_nomic, NOMIC),
        ("gte-Qwen2-1.5B-instruct", tiny_qwen, INSTRUCT),
        ("bge-m3", tiny_xlm_roberta, Prompts()),
        ("bge-small-en-v1.5", lambda path: tiny_bert(path, window=512), REPRESENT),
        ("some-static-model", tiny_static, Prompts()),
    ],
)
def test_a_model_of_each_family_reads_what_it_was_trained_on_and_serves_a_memory(
    folder: str, build: Callable[[Path], str], prompts: Prompts, tmp_path: Path, open_memory: Opener
) -> None:
    embedder = Embedder(build(tmp_path / folder))
    query, [name] = embedder.embed_query("abc def", ["abc"])
    [document] = embedder.embed_texts([("", "abc def")])
    assert embedder.prompts == prompts
    assert np.allclose(query, document[0], atol=1e-5) == (prompts.query == prompts.document)
    assert np.allclose(query, read(embedder, prompts.query + "abc def"), atol=1e-5)
    assert np.allclose(document[0], read(embedder, prompts.document + "abc def"), atol=1e-5)
    assert np.allclose(name, embedder.embed_names(["abc"]), atol=1e-5)
    assert np.linalg.norm([query, document[0], name], axis=1) == pytest.approx(1, abs=1e-6)

    memory = open_memory(embedding_model=embedder.name, embedder=embedder)
    memory.add("abc def", infer=False)
    result = memory.search("def")
    cosine = float(embedder.embed_query("def")[0] @ vector_of_the_only_memory(memory))
    assert result.degraded == ()
    assert result.hits[0].signals.semantic == pytest.approx(max(0, cosine), abs=1e-3)
    assert memory.stores.log.get_meta("embedding_document_prompt") == prompts.document


def read(embedder: Embedder, text: str) -> Any:
    """What the bare model makes of a text."""
    loaded = embedder.load()
    assert isinstance(loaded, Transformer)
    return loaded.sentence_transformer.encode(text, prompt="", normalize_embeddings=True)


def vector_of_the_only_memory(memory: LocalMemory) -> Any:
    """What it was embedded as, made anew."""
    [record] = memory.list()
    return memory.stores.embedder.embed_texts([embedded_form(record)])[0][0]


def test_a_models_own_prompts_go_before_those_of_its_family_even_if_it_says_passage(tmp_path: Path) -> None:
    name = tiny_bert(tmp_path / "e5-small-v2", window=128)
    edit_json(tmp_path / "e5-small-v2" / "config_sentence_transformers.json", prompts={"query": "q ", "passage": "p "})
    embedder = Embedder(name)
    assert embedder.prompts == Prompts("q ", "p ")
    assert np.allclose(embedder.embed_texts([("", "abc")])[0][0], read(embedder, "p abc"), atol=1e-5)


def test_prompts_that_are_set_go_before_all_others_and_may_be_none(tmp_path: Path) -> None:
    name = tiny_bert(tmp_path / "e5-small-v2", window=128)
    embedder = Embedder(name, "ask ", "")
    assert embedder.prompts == Prompts("ask ", "")
    assert np.allclose(embedder.embed_query("abc")[0], read(embedder, "ask abc"), atol=1e-5)
    assert np.allclose(embedder.embed_texts([("", "abc")])[0][0], read(embedder, "abc"), atol=1e-5)


def test_a_prompt_for_the_packaged_model_is_heeded() -> None:
    embedder = Embedder(document_prompt="note: ")
    assert np.allclose(embedder.embed_names(["abc"])[0], read(embedder, "note: abc"), atol=1e-5)
    embedder.quicken()
    assert embedder._building is None


def test_a_family_is_known_by_what_the_files_of_a_folder_say(tmp_path: Path) -> None:
    folder = tmp_path / "anything"
    tiny_bert(folder, window=128)
    (folder / "README.md").unlink()
    assert Embedder(str(folder)).prompts == Prompts()
    edit_json(folder / "config.json", _name_or_path="/home/ana/e5-small-v2/")
    assert Embedder(str(folder)).prompts == E5
    edit_json(folder / "config.json", _name_or_path=None)
    (folder / "README.md").write_text("---\nbase_model:\n- intfloat/e5-small-v2\n---\n# A model\n", encoding="utf-8")
    assert Embedder(str(folder)).prompts == E5


def test_a_model_downloaded_before_is_loaded_without_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached = tmp_path / "models--intfloat--e5-small-v2"
    revision = "0" * 40
    tiny_bert(cached / "snapshots" / revision, window=128)
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text(revision)
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path))
    assert Embedder("intfloat/e5-small-v2").prompts == E5
    assert Embedder(str(cached / "snapshots" / revision)).prompts == E5


def test_a_decoder_that_was_trained_to_look_both_ways_and_end_its_texts_does(tmp_path: Path) -> None:
    name = tiny_qwen(tmp_path / "gte-Qwen2-1.5B-instruct")
    model = Transformer(name).sentence_transformer
    assert model.tokenizer("ab")["input_ids"][-1] == model.tokenizer.eos_token_id

    def first_token(text: str) -> Any:
        return np.asarray(model.encode([text], output_value="token_embeddings")[0][0])

    assert not np.allclose(first_token("ab"), first_token("ac"), atol=1e-6)
    assert not (Path(name) / "ran").exists()


def test_code_that_comes_with_a_model_is_not_run_and_that_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    name = tiny_qwen(tmp_path / "unknown-decoder")
    with caplog.at_level(logging.WARNING):
        Embedder(name).load()
    assert "brings program code, which is not run" in caplog.text
    assert not (Path(name) / "ran").exists()


@pytest.mark.parametrize(
    ("file", "fields"),
    [
        ("config.json", {"model_type": "new", "auto_map": {"AutoConfig": "code.C", "AutoModel": "code.M"}}),
        ("modules.json", None),
    ],
)
def test_a_model_that_needs_its_own_code_is_refused(tmp_path: Path, file: str, fields: dict[str, Any] | None) -> None:
    folder = tmp_path / "model"
    tiny_bert(folder)
    (folder / "code.py").write_text(f"open({str(folder / 'ran')!r}, 'w').close()\n")
    if fields:
        edit_json(folder / file, **fields)
    else:
        (folder / file).write_text('[{"idx": 0, "name": "0", "path": "", "type": "code.M"}]')
    with pytest.raises(ModelUnavailableError) as caught:
        Embedder(str(folder)).load()
    assert "code that comes with a model is never run here" in caught.value.hint
    assert not (folder / "ran").exists()


def test_a_model_that_needs_another_package_says_how_to_get_it(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    tiny_bert(folder)
    edit_json(folder / "config_sentence_transformers.json", requirements={"einops-of-tomorrow": ">=9"})
    with pytest.raises(ModelUnavailableError, match="einops-of-tomorrow") as caught:
        Embedder(str(folder)).load()
    assert "-m pip install" in caught.value.hint


def test_damaged_weights_of_a_folder_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    tiny_bert(folder)
    (folder / "model.safetensors").write_bytes(b"not a tensor")
    with pytest.raises(ModelUnavailableError, match="cannot be loaded"):
        Embedder(str(folder)).load()


def test_a_name_that_is_not_here_fails_soon_when_the_hub_is_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    start = time.monotonic()
    with pytest.raises(ModelUnavailableError, match="neither a folder nor downloaded") as caught:
        Embedder("nobody/nothing").load()
    assert time.monotonic() - start < 30
    assert "connect this machine once" in caught.value.hint


def test_a_folder_that_does_not_exist_is_not_looked_for_on_the_hub() -> None:
    for name in ("/no/such/folder", "./models/none", "~/none", "a/b/c"):
        with pytest.raises(ModelUnavailableError, match="there is no such folder"):
            Embedder(name).load()


def test_vectors_are_normalised_whatever_the_model_computes_in(tmp_path: Path) -> None:
    embedder = Embedder(tiny_bert(tmp_path / "model", 64, dtype="bfloat16"))
    vectors = embedder.embed_names(["abc", "de"])
    assert "bfloat16" in str(embedder.load().sentence_transformer.dtype)  # type: ignore[union-attr]
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)


def test_chunks_leave_room_for_the_prompt_and_lose_nothing(tmp_path: Path) -> None:
    embedder = Embedder(tiny_bert(tmp_path / "e5-small-v2", window=64))
    words = [f"{a}{b}" for a in "abcdefgh" for b in "abcdefgh"]
    model = embedder.load()
    pieces = list(embedder._chunks("a: ", " ".join(words)))
    assert max(len(model.offsets("passage: " + piece)) + 2 for piece in pieces) == model.max_tokens == 64
    assert set(words) <= {word for piece in pieces for word in piece.split()}


def test_a_model_with_a_wide_window_is_given_chunks_that_a_machine_can_hold(tmp_path: Path) -> None:
    embedder = Embedder(tiny_xlm_roberta(tmp_path / "bge-m3"))
    [vectors] = embedder.embed_texts([("", "abcd " * 1000)])
    assert embedder.load().max_tokens == MAX_TOKENS
    assert 8 <= len(vectors) <= 12


def test_a_prompt_that_leaves_no_room_is_refused(tmp_path: Path) -> None:
    name = tiny_bert(tmp_path / "model")
    with pytest.raises(ModelUnavailableError, match="reads 32 in all") as caught:
        Embedder(name, document_prompt="a very long prompt ").load()
    assert caught.value.hint == "shorten MCP_MEMORY_EMBEDDING_DOCUMENT_PROMPT"


def test_another_document_prompt_is_a_conflict_and_another_query_prompt_is_none(
    tmp_path: Path, open_memory: Opener
) -> None:
    name = tiny_bert(tmp_path / "e5-small-v2", window=128)
    memory = open_memory(embedding_model=name, embedder=None)
    memory.add("abc def", infer=False)
    memory.close()

    memory = open_memory(embedding_model=name, embedder=None, embedding_document_prompt="text: ")
    with pytest.raises(ConflictError, match="embedded after the prompt 'passage: '") as caught:
        memory.warm()
    assert "MCP_MEMORY_EMBEDDING_DOCUMENT_PROMPT to 'passage: '" in caught.value.hint
    receipt = memory.add("abc ghi", infer=False).results[0]
    assert (receipt.status, "not yet findable by meaning" in receipt.reason) == ("added", True)
    result = memory.search("abc")
    assert {hit.memory.text for hit in result.hits} == {"abc def", "abc ghi"}
    assert result.degraded == ("semantic",)
    memory.close()

    memory = open_memory(embedding_model=name, embedder=None, embedding_query_prompt="ask: ")
    memory.warm()
    result = memory.search("abc")
    assert result.degraded == ()
    assert len(result.hits) == 2


def test_a_folder_made_before_prompts_were_recorded_still_opens(open_memory: Opener) -> None:
    memory = open_memory()
    memory.add("I keep bees", infer=False)
    memory.stores.log.set_meta(embedding_document_prompt="")
    memory.close()
    memory = open_memory()
    memory.warm()
    assert memory.stores.log.get_meta("embedding_model") == "all-MiniLM-L6-v2"
    assert memory.search("bees").degraded == ()


def test_the_doctor_names_the_prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = tiny_bert(tmp_path / "e5-small-v2", window=128)
    monkeypatch.setenv("MCP_MEMORY_EMBEDDING_MODEL", name)
    [check] = [check for check in examine() if check.name == "embedding model"]
    assert check.is_ok
    assert check.found.endswith("in PyTorch, queries after 'query: ', memories after 'passage: '")
