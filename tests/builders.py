"""Things that tests make for themselves."""

from pathlib import Path


def tiny_model(folder: Path, dimension: int) -> str:
    """A real sentence-transformers model of a few thousand weights, made here."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer
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
