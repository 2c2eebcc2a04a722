"""Things that tests make for themselves."""

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mcp_memory.records import Memory

_SEEN = datetime(2026, 1, 1, tzinfo=UTC)
_BARE = Memory(
    id="01kq8z3m5v2w", user_id="ana", agent_id="claude-desktop", run_id="", position=0, speaker="", role="user",
    about="user", kind="note", text="Ana lives in Lisbon", lemmas="ana live lisbon", hash="", language="en",
    importance=0.5, observed_at=_SEEN, created_at=_SEEN, updated_at=_SEEN, expires_at=None, valid_from=None,
    invalid_at=None, closed_at=None, superseded_by="", state="active", episode_id="01kq8z3m5v2v", metadata={},
    model="", prompt="", revision="",
)  # fmt: skip


def a_memory(**fields: Any) -> Memory:
    """An active note of user ana, with some fields set."""
    return replace(_BARE, **fields)


_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_WORDPIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ":", "_", *_LETTERS, *(f"##{char}" for char in _LETTERS)]


def tiny_model(folder: Path, dimension: int) -> str:
    """A real sentence-transformers model of a few thousand weights, made here."""
    return tiny_bert(folder / "model", dimension)


def tiny_bert(folder: Path, dimension: int = 16, window: int = 32, dtype: str = "float32") -> str:
    """The same under a name of its own; it reads letters."""
    import torch
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=len(_WORDPIECES), hidden_size=dimension, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=2 * window,
    )  # fmt: skip
    return save_model(folder, BertModel(config).to(getattr(torch, dtype)), _letter_tokenizer(), window=window)


def tiny_nomic(folder: Path) -> str:
    """A model of nomic's architecture that points to program code on the hub, as theirs do."""
    from transformers import NomicBertConfig, NomicBertModel

    config = NomicBertConfig(
        vocab_size=len(_WORDPIECES), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    name = save_model(folder, NomicBertModel(config), _letter_tokenizer(), window=8192)
    code = "nomic-ai/nomic-bert-2048--modeling_hf_nomic_bert.NomicBert"
    edit_json(folder / "config.json", auto_map={"AutoConfig": f"{code}Config", "AutoModel": f"{code}Model"})
    return name


def tiny_xlm_roberta(folder: Path) -> str:
    """A model of the architecture and with the window of bge-m3."""
    from transformers import XLMRobertaConfig, XLMRobertaModel, XLMRobertaTokenizer

    pieces = ["<s>", "<pad>", "</s>", "<unk>", "▁", *_LETTERS, *"0123456789", "<mask>"]
    tokenizer = XLMRobertaTokenizer(vocab=[(piece, -float(bool(n > 3))) for n, piece in enumerate(pieces)])
    config = XLMRobertaConfig(
        vocab_size=len(pieces), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=8194, type_vocab_size=1,
    )  # fmt: skip
    return save_model(folder, XLMRobertaModel(config), tokenizer, window=8192, pooling="cls")


def tiny_qwen(folder: Path) -> str:
    """A model as gte-Qwen2 is published: decoder, last token, an end that the tokenizer's file alone asks for, and
    program code, which here makes a file when it is run."""
    from transformers import Qwen2Config, Qwen2Model, Qwen2Tokenizer
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    pieces = ["<|endoftext|>", *bytes_to_unicode().values()]
    config = Qwen2Config(
        vocab_size=len(pieces), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1,
        intermediate_size=32, max_position_embeddings=131072,
    )  # fmt: skip
    tokenizer = Qwen2Tokenizer(vocab={piece: n for n, piece in enumerate(pieces)}, merges=[])
    name = save_model(folder, Qwen2Model(config), tokenizer, window=32768, pooling="lasttoken")
    edit_json(folder / "tokenizer_config.json", add_eos_token=True)
    edit_json(folder / "config.json", auto_map={"AutoModel": "modeling_qwen.Qwen2Model"})
    (folder / "modeling_qwen.py").write_text(f"open({str(folder / 'ran')!r}, 'w').close()\n")
    return name


def tiny_static(folder: Path) -> str:
    """A model that has a vector for each word and nothing else."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "abc": 1, "def": 2, "query": 3}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=8)]).save(str(folder))
    return str(folder)


def save_model(folder: Path, model: Any, tokenizer: Any, *, window: int, pooling: str = "mean") -> str:
    """Put a model together from its parts, as sentence-transformers does."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    base = folder / "base"
    tokenizer.save_pretrained(base)
    model.save_pretrained(base)
    transformer = Transformer(str(base), max_seq_length=window)
    pooled = Pooling(model.config.hidden_size, pooling_mode=pooling)
    SentenceTransformer(modules=[transformer, pooled]).save(str(folder))
    shutil.rmtree(base)
    return str(folder)


def edit_json(path: Path, **fields: Any) -> None:
    """Set fields of a JSON file."""
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def _letter_tokenizer() -> Any:
    from transformers import BertTokenizerFast

    return BertTokenizerFast(vocab={piece: n for n, piece in enumerate(_WORDPIECES)})
