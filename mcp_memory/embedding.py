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
    try:
        texts = embedder.embed_texts([embedded_form(memory) for memory in memories]) if memories else ()
        of_names = embedder.embed_names(listed) if listed else ()
        stores.tables()
    except McpMemoryError as exc:
        # The log takes a change all the same, and the tables learn of it when the model is there.
        return Embedded({}, {}, exc.message, embedder)
    by_id = {memory.id: vectors for memory, vectors in zip(memories, texts, strict=True)}
    return Embedded(by_id, dict(zip(listed, of_names, strict=True)), embedder=embedder)


def comparable(embedded: Embedded, memories: Sequence[Memory], names: Collection[str], stores: Stores) -> Embedded:
    """The vectors, made again where the model was replaced since. Call it with `stores.writing` held."""
    return embedded if embedded.embedder is stores.embedder else embed(memories, names, stores)
