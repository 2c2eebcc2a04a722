"""The entities of one user in memory: found by name, by resemblance, and by the memories linked to them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from .records import Entity
from .score import Floats


class Gazetteer:
    """Entities by key, by vector and by linked row. Not thread-safe: `UserIndex` holds the lock."""

    def __init__(self, dimension: int) -> None:
        self.entities: dict[str, Entity] = {}
        self._by_key: dict[str, list[str]] = {}
        self._keys: dict[str, set[str]] = defaultdict(set)
        self._rows: dict[str, set[int]] = defaultdict(set)
        self._vector_ids: list[str] = []
        self._vectors = np.zeros((0, dimension), dtype=np.float32)
        self._unstacked: list[Floats] = []

    def __contains__(self, key: object) -> bool:
        return key in self._by_key

    def put(self, entity: Entity, keys: Iterable[str] = ()) -> None:
        """Add or replace an entity, found under its own key and `keys`."""
        self.entities[entity.id] = entity
        for key in (entity.name_key, *keys):
            if key and key not in self._keys[entity.id]:
                self._by_key.setdefault(key, []).append(entity.id)
                self._keys[entity.id].add(key)

    def put_vector(self, entity_id: str, vector: Floats) -> None:
        """Make an entity findable by resemblance; its vector never changes."""
        self._vector_ids.append(entity_id)
        self._unstacked.append(vector)

    def remove(self, entity_id: str) -> None:
        """Forget an entity; unknown ids are fine."""
        self.entities.pop(entity_id, None)
        self._rows.pop(entity_id, None)
        for key in self._keys.pop(entity_id, ()):
            self._by_key[key].remove(entity_id)
            if not self._by_key[key]:
                del self._by_key[key]
        if entity_id in self._vector_ids:
            self._stack()
            # Zero resembles nothing; the place in the matrix stays taken.
            self._vectors[self._vector_ids.index(entity_id)] = 0.0

    def link(self, entity_id: str, row: int) -> None:
        """Note that a memory names an entity."""
        self._rows[entity_id].add(row)

    def unlink(self, row: int) -> None:
        """Note that a memory is gone."""
        for rows in self._rows.values():
            rows.discard(row)

    def by_key(self, key: str) -> Entity | None:
        """The entity with this name or alias."""
        return self.entities[self._by_key[key][0]] if key in self._by_key else None

    def rows(self, entity_id: str) -> Sequence[int]:
        """Rows of the memories linked to an entity."""
        return sorted(self._rows.get(entity_id, ()))

    def most_similar(self, vector: Floats) -> tuple[Entity | None, float]:
        """The entity whose name is closest to a vector and their cosine; (None, 0) where there is none."""
        self._stack()
        if not self.entities or not len(self._vectors):
            return None, 0.0
        similarities = self._vectors @ vector
        place = int(np.argmax(similarities))
        entity = self.entities.get(self._vector_ids[place])
        return (entity, float(similarities[place])) if entity else (None, 0.0)

    def _stack(self) -> None:
        if self._unstacked:
            self._vectors = np.concatenate([self._vectors, np.stack(self._unstacked)])
            self._unstacked = []
