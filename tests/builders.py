"""Things that tests make for themselves."""

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


def tiny_model(folder: Path, dimension: int) -> str:
    """A real sentence-transformers model of a few thousand weights, made here."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    base = folder / "base"
    base.mkdir(parents=True)
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *"abcdefghijklmnopqrstuvwxyz",
        *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz"),
    ]
    (base / "vocab.txt").write_text("\n".join(words))
    BertTokenizerFast(vocab_file=str(base / "vocab.txt")).save_pretrained(base)
    config = BertConfig(
        vocab_size=len(words), hidden_size=dimension, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=64,
    )  # fmt: skip
    BertModel(config).save_pretrained(base)
    transformer = Transformer(str(base), max_seq_length=32)
    SentenceTransformer(modules=[transformer, Pooling(dimension)]).save(str(folder / "model"))
    return str(folder / "model")
