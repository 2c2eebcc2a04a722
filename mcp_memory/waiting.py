"""What the tables still have to learn of changes that are in the log: the last state of each row, with its vectors."""

from dataclasses import dataclass, field

from .records import Entity, Memory
from .score import Floats


@dataclass(slots=True)
class Group:
    """Rows to be written together, by id; None where a row is to go. `through` is the last event among them.

    Of `outdated` memories the tables may hold chunks that no vector of today takes the place of.
    """

    memories: dict[str, tuple[Memory, Floats] | None] = field(default_factory=dict)
    entities: dict[str, tuple[Entity, Floats] | None] = field(default_factory=dict)
    outdated: set[str] = field(default_factory=set)
    through: int = 0

    def __len__(self) -> int:
        return len(self.memories) + len(self.entities)


class Waiting:
    """The group that grows with each change, and the one that is being written. Call with `stores.writing` held."""

    def __init__(self) -> None:
        self._growing = Group()
        self._in_flight = Group()

    def __len__(self) -> int:
        return len(self._growing)

    @property
    def growing(self) -> Group:
        """The group that further rows go into."""
        return self._growing

    def take(self) -> Group:
        """The group to be written now; it counts as waiting until `settle` or `drop`."""
        self._in_flight, self._growing = self._growing, Group()
        return self._in_flight

    def settle(self) -> None:
        """What was taken has been written."""
        self._in_flight = Group()

    def drop(self) -> None:
        """Forget everything: the log knows what the tables lack."""
        self._growing, self._in_flight = Group(), Group()

    def memory_vectors(self) -> dict[str, Floats]:
        """Vectors of memories that the tables may not hold yet."""
        rows = self._in_flight.memories | self._growing.memories
        return {identifier: row[1] for identifier, row in rows.items() if row}

    def entity_vectors(self) -> dict[str, Floats]:
        """Vectors of entities that the tables may not hold yet."""
        rows = self._in_flight.entities | self._growing.entities
        return {identifier: row[1] for identifier, row in rows.items() if row}
