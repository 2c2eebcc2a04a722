"""Keyword scores over one user's memories: a bm25s index of most of them, and the newest scored by hand.

bm25s cannot take in a document or forget one. So it holds a *base*; what came later stands in a *tail* of
postings, what went is masked, and each term's share is corrected to the idf of all documents as they are now.
`rebuild` folds the tail into a new base and may run in another thread than the searches.
"""

import logging
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from . import score
from .score import Floats
from .text import Term

# A tail of this many documents, or of this share of the base, is worth a rebuild.
_TAIL_DOCUMENTS = 500
_TAIL_SHARE = 0.1
# A number or code is rarely mentioned by chance.
_DIGIT_WEIGHT = 2.0


class KeywordIndex:
    """BM25 coverage of a query by each row. Rows are small integers that the caller manages."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._documents: dict[int, Sequence[str]] = {}
        self._containing: Counter[str] = Counter()  # documents per form, all live documents
        self._total_length = 0
        self._base: _Base | None = None
        self._tail: dict[str, dict[int, int]] = defaultdict(dict)  # form → row → frequency
        self._in_tail: set[int] = set()

    def __len__(self) -> int:
        return len(self._documents)

    def put(self, row: int, forms: Sequence[str]) -> None:
        """Index a row under its forms (a bag, repetitions count), replacing what it was indexed under."""
        with self._lock:
            self.remove(row)
            self._documents[row] = forms
            self._total_length += len(forms)
            counted = Counter(forms)
            self._containing.update(counted.keys())
            for form, frequency in counted.items():
                self._tail[form][row] = frequency
            self._in_tail.add(row)

    def remove(self, row: int) -> None:
        """Forget a row; nothing happens when it is unknown."""
        with self._lock:
            forms = self._documents.pop(row, None)
            if forms is None:
                return
            self._total_length -= len(forms)
            for form in set(forms):
                self._containing[form] -= 1
                if not self._containing[form]:
                    del self._containing[form]
            if row in self._in_tail:
                self._in_tail.discard(row)
                for form in set(forms):
                    self._tail[form].pop(row, None)
            elif self._base:
                self._base.mask(row)

    def scores(self, terms: Iterable[Term], n_rows: int) -> Floats:
        """Coverage in [0, 1] of the query's terms by each row, shape (n_rows,); see `score.keyword`.

        Of a term's forms the best counts. Repeated terms count once; terms with a digit count double.
        """
        total = np.zeros(n_rows, dtype=np.float32)
        idf_sum = 0.0
        with self._lock:
            for term in dict.fromkeys(terms):
                weight = _DIGIT_WEIGHT if any(c.isdigit() for c in term[0]) else 1.0
                known = [form for form in term if form in self._containing]
                idf = min(self._idf(form) for form in known or term[:1])
                idf_sum += weight * idf
                share = np.zeros(n_rows, dtype=np.float32)
                for form in known:
                    # A rare form must not earn more than the term is worth, or it would hide another's absence.
                    np.maximum(share, np.minimum(self._form_scores(form, n_rows), np.float32(idf)), out=share)
                total += weight * share
        return score.keyword(total, idf_sum)

    @property
    def wants_rebuild(self) -> bool:
        """Whether the tail has grown so long that a new base pays."""
        n_base = len(self._base.rows) if self._base else 0
        return len(self._in_tail) > max(_TAIL_DOCUMENTS, _TAIL_SHARE * n_base)

    def rebuild(self) -> None:
        """Make a new base of all documents; searches and writes go on meanwhile."""
        with self._lock:
            snapshot = dict(self._documents)
        base = _Base(snapshot) if any(snapshot.values()) else None
        with self._lock:
            self._base = base
            stale = [row for row, forms in snapshot.items() if self._documents.get(row) is not forms]
            if base:
                for row in stale:
                    base.mask(row)
            self._in_tail = {row for row, forms in self._documents.items() if snapshot.get(row) is not forms}
            self._tail = defaultdict(dict)
            for row in self._in_tail:
                for form, frequency in Counter(self._documents[row]).items():
                    self._tail[form][row] = frequency

    def _idf(self, form: str) -> float:
        return score.idf(len(self._documents), self._containing.get(form, 0))

    def _form_scores(self, form: str, n_rows: int) -> Floats:
        found = np.zeros(n_rows, dtype=np.float32)
        idf = self._idf(form)
        if self._base:
            self._base.add_shares(form, idf, found)
        mean = self._base.mean_length if self._base else self._total_length / len(self._documents)
        for row, frequency in self._tail.get(form, {}).items():
            found[row] = idf * score.bm25_saturation(frequency, len(self._documents[row]), mean)
        return found


class _Base:
    """A bm25s index over a snapshot of the documents."""

    def __init__(self, documents: dict[int, Sequence[str]]) -> None:
        import bm25s

        # It sets its own logger to DEBUG and reports every index it builds.
        logging.getLogger("bm25s").setLevel(logging.WARNING)
        filled = {row: forms for row, forms in documents.items() if forms}
        self.rows = np.fromiter(filled, dtype=np.int64, count=len(filled))
        self._live = np.ones(len(filled), dtype=bool)
        self._slot = {row: slot for slot, row in enumerate(filled)}
        self._containing = Counter(form for forms in filled.values() for form in set(forms))
        self.mean_length = sum(map(len, filled.values())) / len(filled)
        self._bm25 = bm25s.BM25(method="lucene", k1=score.BM25_K1, b=score.BM25_B)
        self._bm25.index([list(forms) for forms in filled.values()], show_progress=False)

    def mask(self, row: int) -> None:
        if row in self._slot:
            self._live[self._slot[row]] = False

    def add_shares(self, form: str, idf: float, scores: Floats) -> None:
        """Write what each live document earns for a form, at the idf given, into `scores` by row."""
        containing = self._containing.get(form, 0)
        if not containing:
            return
        own_idf = score.idf(len(self.rows), containing)
        found = self._bm25.get_scores([form]) * np.float32(idf / own_idf)
        scores[self.rows[self._live]] = found[self._live]
