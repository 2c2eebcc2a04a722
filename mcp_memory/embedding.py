"""The vectors of memories and names that are about to be written; made without the write lock, which takes long."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from .apply import embedded_form
from .embedder import Embedder
from .errors import McpMemoryError
from .records import Memory
from .score import Floats
from .stores import Stores


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors of memories by id and of names by name, and '' or why there are none; by whom they were made."""

    memories: Mapping[str, Floats]
    names: Mapping[str, Floats]
    lag: str = ""
    embedder: Embedder | None = None


def embed(memories: Sequence[Memory], names: Collection[str], stores: Stores) -> Embedded:
    """What the model makes of some memories and names; nothing where it cannot be had."""
    listed, embedder = sorted(set(names)), stores.embedder
    texts, of_names, lag = made_of([embedded_form(memory) for memory in memories], listed, embedder, stores)
    by_id = {memory.id: vectors for memory, vectors in zip(memories, texts, strict=not lag)}
    return Embedded(by_id, dict(zip(listed, of_names, strict=not lag)), lag, embedder)


def made_of(
    forms: Sequence[tuple[str, str]], names: Sequence[str], embedder: Embedder, stores: Stores
) -> tuple[Sequence[Floats], Sequence[Floats], str]:
    """The vectors of texts with their headings, and those of names; or none at all, and why."""
    try:
        texts = embedder.embed_texts(forms) if forms else ()
        of_names = list(embedder.embed_names(names)) if names else ()
        stores.tables()
    except McpMemoryError as exc:
        # The log takes what was said all the same, and the tables learn of it when the model is there.
        return (), (), exc.message
    return texts, of_names, ""


def comparable(embedded: Embedded, memories: Sequence[Memory], names: Collection[str], stores: Stores) -> Embedded:
    """The vectors, made again where the model was replaced since. Call it with `stores.writing` held."""
    return embedded if embedded.embedder is stores.embedder else embed(memories, names, stores)
