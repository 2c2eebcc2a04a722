"""One folder for many tests that each are another user's: opening one takes longer than a test does."""

import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mcp_memory.embedder import Embedder
from mcp_memory.memory import LocalMemory
from tests.conftest import Clock


class SharedFolder:
    """A folder that is open, its clock, and users who have nothing in it yet."""

    def __init__(self, memory: LocalMemory, clock: Clock) -> None:
        self.memory = memory
        self.clock = clock

    def somebody(self) -> LocalMemory:
        """The memory of a user who is new."""
        user_id = uuid.uuid4().hex
        return self.memory.as_client(self.memory.settings.model_copy(update={"user_id": user_id}), "test")

    def tell(self, memory: LocalMemory, *told: tuple[str, str]) -> list[str]:
        """Add texts of some days, word for word, an hour after each other; their ids."""
        ids = []
        for text, day in told:
            self.clock.advance(hours=1)
            [receipt] = memory.add(text, infer=False, observed_at=day).results
            ids.append(receipt.id)
        return ids


@contextmanager
def opened(embedder: Embedder) -> Iterator[SharedFolder]:
    """A folder that is verified when it is left."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder, LocalMemory.open(folder, clock=clock, embedder=embedder) as memory:
        yield SharedFolder(memory, clock)
        memory.settle()
        assert memory.verify().differences == ()


def found(memory: LocalMemory, question: str, **given: Any) -> list[str]:
    """The texts that answer a question."""
    return [hit.memory.text for hit in memory.search(question, **given).hits]


def values(memory: LocalMemory, question: str, **given: Any) -> list[str]:
    """What was asked for by key."""
    return [fact.value for fact in memory.search(question, **given).facts]
