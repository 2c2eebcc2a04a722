"""The entities of one user in memory: found by name, by resemblance, and by the memories linked to them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from .records import Entity
from .score import Floats

# A longer name is a title or a sentence.
_MAX_NAME_WORDS = 3


class Gazetteer:
    """Entities by key, by vector and by linked row. Not thread-safe: `UserIndex` holds the lock."""

    def __init__(self, dimension: int) -> None:
        self.entities: dict[str, Entity] = {}
        self._by_key: dict[str, list[str]] = {}
        self._keys: dict[str, set[str]] = defaultdict(set)
        self._full_names: dict[str, set[str]] = defaultdict(set)  # of several words, by each of them
        self._rows: dict[str, set[int]] = defaultdict(set)
        self._places: dict[str, int] = {}  # row of each entity in the matrix; never given to another
        self._place_ids: list[str] = []
        self._vectors = np.zeros((0, dimension), dtype=np.float32)

    def __contains__(self, key: object) -> bool:
        return key in self._by_key

    def put(self, entity: Entity, keys: Iterable[str] = ()) -> None:
        """Add or replace an entity, found under its own key and `keys`."""
        self.entities[entity.id] = entity
        words = entity.name_key.split()
        if 1 < len(words) <= _MAX_NAME_WORDS:
            for word in words:
                self._full_names[word].add(entity.id)
        for key in (entity.name_key, *keys):
            if key and key not in self._keys[entity.id]:
                self._by_key.setdefault(key, []).append(entity.id)
                self._keys[entity.id].add(key)

    def put_vector(self, entity_id: str, vector: Floats) -> None:
        """Make an entity findable by resemblance, replacing the vector it had."""
        place = self._places.setdefault(entity_id, len(self._place_ids))
        if place == len(self._place_ids):
            self._place_ids.append(entity_id)
            if place == len(self._vectors):
                grown = np.zeros((max(64, 2 * place), self._vectors.shape[1]), dtype=np.float32)
                grown[:place] = self._vectors
                self._vectors = grown
        self._vectors[place] = vector

    def remove(self, entity_id: str) -> None:
        """Forget an entity; unknown ids are fine."""
        entity = self.entities.pop(entity_id, None)
        for word in entity.name_key.split() if entity else ():
            self._full_names[word].discard(entity_id)
        self._rows.pop(entity_id, None)
        for key in self._keys.pop(entity_id, ()):
            self._by_key[key].remove(entity_id)
            if not self._by_key[key]:
                del self._by_key[key]
        if (place := self._places.pop(entity_id, None)) is not None:
            # Zero resembles nothing.
            self._vectors[place] = 0.0

    def link(self, entity_id: str, row: int) -> None:
        """Note that a memory names an entity."""
        self._rows[entity_id].add(row)

    def unlink(self, row: int) -> None:
        """Note that a memory is gone."""
        for rows in self._rows.values():
            rows.discard(row)

    def take_link(self, entity_id: str, row: int) -> None:
        """Note that a memory does not name an entity any more."""
        if entity_id in self._rows:
            self._rows[entity_id].discard(row)

    def take_key(self, entity_id: str, key: str) -> None:
        """Find an entity under a key no longer, unless it is that of its name; unknown ones are fine."""
        entity = self.entities.get(entity_id)
        if entity and key != entity.name_key and key in self._keys[entity_id]:
            self._keys[entity_id].discard(key)
            self._by_key[key].remove(entity_id)
            if not self._by_key[key]:
                del self._by_key[key]

    def by_key(self, key: str) -> Entity | None:
        """The entity with this name or alias."""
        return self.entities[self._by_key[key][0]] if key in self._by_key else None

    def full_name(self, key: str) -> Entity | None:
        """The entity of whose name a word is a part, where it is the only one."""
        full = self._full_names.get(key, set())
        return self.entities[next(iter(full))] if len(full) == 1 else None

    def spellings(self, entity_id: str) -> list[str]:
        """Ids of an entity and of the one that it is a shorter or longer name of: "Sven" and "Sven Adolphi".

        A part of a name that several have means nobody in particular.
        """
        entity = self.entities.get(entity_id)
        if entity is None or entity.name_key.startswith("="):
            return [entity_id]
        words = entity.name_key.split()
        if len(words) == 1:
            full = self._full_names.get(words[0], set())
            return [entity_id, *full] if len(full) == 1 else [entity_id]
        short = [
            part.id
            for word in words
            if len(self._full_names.get(word, ())) == 1 and (part := self.by_key(word)) is not None
        ]
        return [entity_id, *short]

    def rows(self, entity_id: str) -> Sequence[int]:
        """Rows of the memories linked to an entity."""
        return sorted(self._rows.get(entity_id, ()))

    def most_similar(self, vector: Floats) -> tuple[Entity | None, float]:
        """The entity whose name is closest to a vector and their cosine; (None, 0) where there is none."""
        if not self._places:
            return None, 0.0
        similarities = self._vectors[: len(self._place_ids)] @ vector
        place = int(np.argmax(similarities))
        entity = self.entities.get(self._place_ids[place])
        return (entity, float(similarities[place])) if entity else (None, 0.0)
