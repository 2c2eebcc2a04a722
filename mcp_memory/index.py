"""One user's memories in memory: columns for filters, vectors, keywords and entities, row by row.

Derived from the log and the tables, and kept current by whoever writes to those. A *row* is the place of a
memory in these arrays; it is never given to another memory.
"""

import threading
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .feedback import ratings_of
from .gazetteer import Gazetteer
from .keywords import KeywordIndex
from .log import Log
from .mentions import name_key
from .records import Memory, Rating, Validity
from .schema import to_micros
from .score import Floats
from .search_records import Selection
from .tables import Tables

Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]

# A turn shorter than this often needs the one before it to be understood (about 80 words for both).
SHORT_CHARS = 480
NEVER = np.iinfo(np.int64).max
_TIMES = ("observed_at", "created_at", "expires_at", "valid_from", "invalid_at", "closed_at")
_CODED = ("agent_id", "run_id", "speaker", "role", "about", "kind", "state")


class UserIndex:
    """Everything a search of one user computes with. Hold `lock` while using several parts together."""

    def __init__(self, dimension: int) -> None:
        self.lock = threading.RLock()
        self.dimension = dimension
        self.ids: list[str] = []
        self.row_of: dict[str, int] = {}
        self.keywords = KeywordIndex()
        self.names = Gazetteer(dimension)
        self.languages: Counter[str] = Counter()
        self._forms: list[Sequence[str]] = []
        self._threads: dict[str, int] = {}  # last row of each thread
        self._thread_of: list[str] = []
        self._languages_of: list[str] = []
        self._speakers: dict[str, Counter[int]] = {}  # live rows per code, by the key of the name
        self._codes: dict[str, dict[str, int]] = {name: {"": 0} for name in _CODED}
        self._columns: dict[str, NDArray[Any]] = {
            **{name: np.zeros(0, dtype=np.int64) for name in _TIMES},
            **{name: np.zeros(0, dtype=np.int32) for name in _CODED},
            **{name: np.zeros(0, dtype=np.int64) for name in ("previous", "next", "position", "n_chars")},
            "importance": np.zeros(0, dtype=np.float32),
            **{name: np.zeros(0, dtype=np.int64) for name in ("rated_at", "useful_at")},
            "rating": np.zeros(0, dtype=np.float32),
            "is_live": np.zeros(0, dtype=bool),
            "has_vector": np.zeros(0, dtype=bool),
        }
        # Also of memories that are not here: a deletion may be undone.
        self._ratings: dict[str, Rating] = {}
        self._vectors = np.zeros((0, dimension), dtype=np.float32)
        # Further chunks of long texts: the row each belongs to, and its vector.
        self._extra_rows = np.zeros(0, dtype=np.int64)
        self._extra_vectors = np.zeros((0, dimension), dtype=np.float32)

    def __len__(self) -> int:
        return len(self.ids)

    def column(self, name: str) -> NDArray[Any]:
        """A column over all rows; times in microseconds, `NEVER` where there is none; names as codes."""
        return self._columns[name][: len(self.ids)]

    def code(self, column: str, value: str) -> int:
        """The code of a value in a coded column, -1 where no row has it."""
        return self._codes[column].get(value, -1)

    @property
    def speakers(self) -> Mapping[str, Collection[int]]:
        """The codes of each speaker of a live row by the key of the name; spellings have a code each."""
        return self._speakers

    # Writing

    def put(self, memory: Memory | Any, forms: Sequence[str], n_chars: int) -> None:
        """Add a memory, or bring a known one up to date; its vectors are the caller's business."""
        with self.lock:
            row = self.row_of.get(memory.id)
            is_new = row is None
            if row is None:
                row = self._new_row(memory.id, forms)
            for name in _TIMES:
                moment = getattr(memory, name)
                self._columns[name][row] = NEVER if moment is None else to_micros(moment)
            for name in _CODED:
                self._columns[name][row] = self._code_of(name, getattr(memory, name))
            self._columns["importance"][row] = memory.importance
            self._columns["position"][row] = memory.position
            words = (memory.language, n_chars, list(forms))
            is_reworded = not is_new and words != self._words(row)
            self._columns["n_chars"][row] = n_chars
            if is_new:
                self.languages[memory.language] += 1
                self._languages_of.append(memory.language)
                self._count_speaker(memory.speaker, int(self._columns["speaker"][row]))
                self._put_into_thread(row, memory.run_id or memory.episode_id)
            elif is_reworded:
                self.languages[self._languages_of[row]] -= 1
                self.languages[memory.language] += 1
                self._languages_of[row] = memory.language
                self._forms[row] = forms
            if is_new or is_reworded:
                self._index_words_from(row)
            if is_new and memory.id in self._ratings:
                self.put_rating(self._ratings[memory.id])

    def _words(self, row: int) -> tuple[str, int, list[str]]:
        return self._languages_of[row], int(self._columns["n_chars"][row]), list(self._forms[row])

    def put_rating(self, rating: Rating) -> None:
        """Take over what the ratings of a memory come to, also of one that is not here (yet, or any more)."""
        with self.lock:
            self._ratings[rating.memory_id] = rating
            if (row := self.row_of.get(rating.memory_id)) is not None:
                self._columns["rating"][row] = rating.value
                self._columns["rated_at"][row] = to_micros(rating.rated_at)
                self._columns["useful_at"][row] = NEVER if rating.useful_at is None else to_micros(rating.useful_at)

    def put_vectors(self, memory_id: str, vectors: Floats) -> None:
        """Give a memory the vectors of its chunks, shape (n_chunks, dimension); unknown ids are ignored."""
        with self.lock:
            row = self.row_of.get(memory_id)
            if row is None:
                return
            self._drop_extra(row)
            self._vectors[row] = vectors[0]
            self._columns["has_vector"][row] = True
            if len(vectors) > 1:
                further = np.full(len(vectors) - 1, row, dtype=np.int64)
                self._extra_rows = np.concatenate([self._extra_rows, further])
                self._extra_vectors = np.concatenate([self._extra_vectors, vectors[1:]])

    def vectors_of(self, memory_id: str) -> Floats | None:
        """The vectors of a memory's chunks, shape (n_chunks, dimension); None where there are none."""
        with self.lock:
            row = self.row_of.get(memory_id)
            if row is None or not self._columns["has_vector"][row]:
                return None
            further = self._extra_vectors[self._extra_rows == row]
            return np.concatenate([self._vectors[row : row + 1], further])

    def drop_vectors(self, memory_id: str) -> None:
        """Have a memory not found by meaning until it is given other vectors; unknown ids are ignored."""
        with self.lock:
            if (row := self.row_of.get(memory_id)) is not None:
                self._drop_extra(row)
                self._vectors[row] = 0.0
                self._columns["has_vector"][row] = False

    def _drop_extra(self, row: int) -> None:
        kept = self._extra_rows != row
        if not kept.all():
            self._extra_rows, self._extra_vectors = self._extra_rows[kept], self._extra_vectors[kept]

    def remove(self, memory_id: str) -> None:
        """Take a memory out of every part; unknown ids are fine."""
        with self.lock:
            row = self.row_of.pop(memory_id, None)
            if row is None:
                return
            self._columns["is_live"][row] = False
            self._forms[row] = ()
            self._drop_extra(row)
            self.languages[self._languages_of[row]] -= 1
            self._uncount_speaker(int(self._columns["speaker"][row]))
            self.keywords.remove(row)
            self.names.unlink(row)
            previous, following = int(self.column("previous")[row]), int(self.column("next")[row])
            if previous >= 0:
                self._columns["next"][previous] = following
            if following >= 0:
                self._columns["previous"][following] = previous
                # Its words stood in the next memory's context.
                self._index_words(following)
            if self._threads.get(self._thread_of[row]) == row:
                self._threads[self._thread_of[row]] = previous

    def _code_of(self, column: str, value: str) -> int:
        codes = self._codes[column]
        return codes.setdefault(value, len(codes))

    def _count_speaker(self, name: str, code: int) -> None:
        if key := name_key(name):
            self._speakers.setdefault(key, Counter())[code] += 1

    def _uncount_speaker(self, code: int) -> None:
        for key, codes in list(self._speakers.items()):
            if code in codes:
                codes[code] -= 1
                if not codes[code]:
                    del codes[code]
                if not codes:
                    del self._speakers[key]

    def _new_row(self, memory_id: str, forms: Sequence[str]) -> int:
        row = len(self.ids)
        if row == len(self._vectors):
            capacity = max(256, 2 * row)
            for name, column in self._columns.items():
                self._columns[name] = np.concatenate([column, np.zeros(capacity - row, dtype=column.dtype)])
            grown = np.zeros((capacity, self.dimension), dtype=np.float32)
            grown[:row] = self._vectors
            self._vectors = grown
        self.ids.append(memory_id)
        self.row_of[memory_id] = row
        self._forms.append(forms)
        self._columns["is_live"][row] = True
        self._columns["useful_at"][row] = NEVER
        self._columns["previous"][row] = self._columns["next"][row] = -1
        return row

    def _put_into_thread(self, row: int, thread: str) -> None:
        """In order of position: what comes back after a deletion belongs where it was."""
        following, previous = -1, self._threads.get(thread, -1)
        while previous >= 0 and self._place(previous) > self._place(row):
            following, previous = previous, int(self._columns["previous"][previous])
        self._columns["previous"][row], self._columns["next"][row] = previous, following
        if previous >= 0:
            self._columns["next"][previous] = row
        if following >= 0:
            self._columns["previous"][following] = row
        else:
            self._threads[thread] = row
        self._thread_of.append(thread)

    def _place(self, row: int) -> tuple[int, str]:
        return int(self._columns["position"][row]), self.ids[row]

    def _index_words_from(self, row: int) -> None:
        """Index a row, and the next one, in whose context its words stand."""
        self._index_words(row)
        if (following := int(self._columns["next"][row])) >= 0:
            self._index_words(following)

    def _index_words(self, row: int) -> None:
        previous = int(self._columns["previous"][row])
        forms = self._forms[row]
        if previous >= 0:
            lengths = self._columns["n_chars"]
            if lengths[previous] + lengths[row] <= SHORT_CHARS:
                forms = [*self._forms[previous], *forms]
        self.keywords.put(row, forms)

    # Reading

    def cosines(self, query: Floats) -> Floats:
        """Cosine of a query vector and each row in [-1, 1], the best chunk counting; 0 without a vector.

        Several queries are columns, shape (dimension, k); so are then their cosines, shape (n_rows, k).
        """
        n = len(self.ids)
        found: Floats = self._vectors[:n] @ query
        if len(self._extra_rows):
            np.maximum.at(found, self._extra_rows, self._extra_vectors @ query)
        return found

    def count_without_vector(self) -> int:
        """Live memories that cannot be found by meaning yet."""
        with self.lock:
            return int((self.column("is_live") & ~self.column("has_vector")).sum())

    def select(
        self,
        selection: Selection,
        with_metadata: Collection[str] | None = None,
        former: Mapping[str, Validity] = MappingProxyType({}),
    ) -> Mask:
        """Which rows a selection lets through.

        `with_metadata` holds the ids that match the metadata filter, None where there is no such filter; `former`
        the validity (from, to) by id that rows had at `known_at` where it has changed since.
        """
        mask = self.column("is_live") & self._in_scope(selection) & self._at_time(selection, former)
        filters = selection.filters
        for column, value in (("about", filters.about), ("kind", filters.kind), ("agent_id", filters.agent)):
            if value:
                mask &= self.column(column) == self.code(column, value)
        if filters.since:
            mask &= self.column("observed_at") >= to_micros(filters.since)
        if filters.until:
            mask &= self.column("observed_at") <= to_micros(filters.until)
        if with_metadata is not None:
            matching = np.zeros_like(mask)
            matching[[self.row_of[i] for i in with_metadata if i in self.row_of]] = True
            mask &= matching
        return mask

    def _in_scope(self, selection: Selection) -> Mask:
        if selection.scope == "user":
            return ~self.is_about_agent()
        if selection.scope == "agent":
            return self.is_about_agent() & self.is_of_agent(selection.owner.agent_id)
        if selection.scope == "run":
            return self.is_in_run(selection.run_id)
        return np.ones(len(self.ids), dtype=bool)

    def _at_time(self, selection: Selection, former: Mapping[str, Validity]) -> Mask:
        """Current rows; with `as_of` what was true then, with `known_at` what was held to be true then, or both."""
        state = self.column("state")
        is_current = (state == self.code("state", "active")) | (state == self.code("state", "raw"))
        has_ended = state == self.code("state", "invalid")
        moment = to_micros(selection.as_of or selection.now)
        mask: Mask = self.column("expires_at") > moment
        since, until = self.column("valid_from").copy(), self.column("invalid_at").copy()
        for memory_id, (begin, end) in former.items():
            if (row := self.row_of.get(memory_id)) is not None:
                since[row] = NEVER if begin is None else to_micros(begin)
                until[row] = NEVER if end is None else to_micros(end)
        since = np.where(since == NEVER, self.column("observed_at"), since)
        if selection.known_at:
            mask &= self.column("created_at") <= to_micros(selection.known_at)
        if selection.as_of or selection.known_at:
            held = until > moment
            if selection.as_of:
                held &= since <= moment
            elif selection.during is not None:
                first, last = map(to_micros, selection.during)
                held |= (since <= last) & (until > first)
            mask &= (is_current | has_ended) & held
        elif selection.during is None:
            mask &= is_current
        else:
            first, last = map(to_micros, selection.during)
            mask &= is_current | (has_ended & (since <= last) & (until > first))
        return mask

    def is_about_agent(self) -> Mask:
        """Rows that an agent wrote about itself."""
        mask: Mask = self.column("about") == self.code("about", "agent")
        return mask

    def is_of_agent(self, agent_id: str) -> Mask:
        """Rows that one agent wrote."""
        mask: Mask = self.column("agent_id") == self.code("agent_id", agent_id)
        return mask

    def is_in_run(self, run_id: str) -> Mask:
        """Rows of one run; without a run none."""
        mask: Mask = (self.column("run_id") == self.code("run_id", run_id)) & bool(run_id)
        return mask


def load_index(user_id: str, log: Log, dimension: int) -> UserIndex:
    """The index of a user from the log; it lacks vectors."""
    index = UserIndex(dimension)
    for rating in ratings_of(log, user_id):
        index.put_rating(rating)
    for row in log.index_rows(user_id):
        index.put(row, row.lemmas.split(), row.n_chars)
    for entity in log.get_entities(user_id):
        index.names.put(entity)
    for entity_id, key in log.get_aliases(user_id):
        index.names.put(index.names.entities[entity_id], [key])
    for memory_id, entity_id in log.get_links(user_id):
        if memory_id in index.row_of:
            index.names.link(entity_id, index.row_of[memory_id])
    index.keywords.rebuild()
    return index


def load_vectors(index: UserIndex, user_id: str, tables: Tables) -> None:
    """Fill in the vectors that the tables hold."""
    stored = tables.vectors_of(user_id)
    places: dict[str, list[int]] = {}
    for place in sorted(range(len(stored.ids)), key=lambda place: stored.chunks[place]):
        places.setdefault(stored.ids[place], []).append(place)
    for memory_id, rows in places.items():
        index.put_vectors(memory_id, stored.vectors[rows])
    entities = tables.entity_vectors_of(user_id)
    for entity_id, vector in zip(entities.ids, entities.vectors, strict=True):
        if entity_id in index.names.entities:
            index.names.put_vector(entity_id, vector)
