"""The facts as a key-value store: look-ups by subject, relation and label, and back from an object.

A search asks several of these. They go to SQLite in its own language: putting such a statement together and taking its
rows apart takes SQLAlchemy longer than SQLite takes for the answer.
"""

import json
from collections.abc import Collection
from typing import Any

from .log import Log
from .records import Fact
from .schema import from_micros

_NAMES = Fact.__slots__
_HOLDS = _NAMES.index("holds")
_TIMES = [_NAMES.index(name) for name in ("valid_from", "invalid_at", "created_at", "closed_at")]
_COLUMNS = ", ".join(f"f.{name}" for name in _NAMES)
# Nobody says any more what is closed without an end.
_IS_SAID = "NOT (f.closed_at IS NOT NULL AND f.invalid_at IS NULL)"
# The sign keeps SQLite from the index of all facts of a user.
_OF_KEY = (
    f"SELECT {_COLUMNS} FROM facts f WHERE +f.user_id = :user_id"
    " AND f.subject_id IN (SELECT value FROM json_each(:subject_ids))"
    " AND f.relation IN (SELECT value FROM json_each(:relations))"
)
_BY_KEY = f"{_OF_KEY} AND {_IS_SAID} ORDER BY f.id"
_BY_LABEL = f"{_OF_KEY} AND f.label IN (SELECT value FROM json_each(:labels)) AND {_IS_SAID} ORDER BY f.id"
_ABOUT = (
    f"SELECT {_COLUMNS} FROM facts f WHERE f.object_id IN (SELECT value FROM json_each(:object_ids))"
    f" AND f.relation IN (SELECT value FROM json_each(:relations)) AND f.holds AND {_IS_SAID}"
    " ORDER BY f.id DESC LIMIT :limit"
)
_RIVALS = (
    f"SELECT {_COLUMNS} FROM facts f WHERE f.user_id = :user_id AND f.holds AND f.closed_at IS NULL"
    " AND (f.subject_id, f.relation, f.label) IN (SELECT subject_id, relation, label FROM facts"
    " WHERE user_id = :user_id AND holds AND closed_at IS NULL GROUP BY 1, 2, 3 HAVING count(*) > 1) ORDER BY f.id"
)
# "!" comes next after the space: what is the word or goes on after it. The words first, each with its place in the
# index; SQLite would rather begin with all the facts.
_LABELS = (
    "SELECT f.label FROM json_each(:words) w CROSS JOIN facts f"
    " WHERE f.subject_id IN (SELECT value FROM json_each(:subject_ids))"
    " AND f.label != '' AND f.label >= w.value AND f.label < w.value || '!'"
)


def facts_of_key(
    log: Log, user_id: str, subject_ids: Collection[str], relations: Collection[str], label: str | None = None
) -> list[Fact]:
    """A user's facts of some subjects and relations, and of one label where one is given; ended ones too, oldest first.

    Those that were withdrawn are left out: nobody says them any more.
    """
    if label is not None:
        return facts_of_labels(log, user_id, subject_ids, relations, (label,))
    return _facts(log, _BY_KEY, user_id=user_id, subject_ids=_listed(subject_ids), relations=_listed(relations))


def open_rivals(log: Log, user_id: str) -> list[Fact]:
    """A user's facts that hold and share their subject, relation and label with others that hold, oldest first."""
    return _facts(log, _RIVALS, user_id=user_id)


def facts_of_labels(
    log: Log, user_id: str, subject_ids: Collection[str], relations: Collection[str], labels: Collection[str]
) -> list[Fact]:
    """What `facts_of_key` gives, as far as it has one of some labels."""
    return _facts(
        log,
        _BY_LABEL,
        user_id=user_id,
        subject_ids=_listed(subject_ids),
        relations=_listed(relations),
        labels=_listed(labels),
    )


def facts_about(log: Log, object_ids: Collection[str], relations: Collection[str], limit: int = -1) -> list[Fact]:
    """Facts of some relations that have one of some entities as their object, ended ones too, newest first.

    At most `limit` of them; -1 for all.
    """
    return _facts(log, _ABOUT, object_ids=_listed(object_ids), relations=_listed(relations), limit=limit)


def labels_of(log: Log, subject_ids: Collection[str], words: Collection[str]) -> set[str]:
    """The labels of some subjects' facts that begin with one of some words."""
    return {label for (label,) in log.rows(_LABELS, subject_ids=_listed(subject_ids), words=_listed(words))}


def _listed(values: Collection[str]) -> str:
    return json.dumps(list(values))


def _facts(log: Log, query: str, **given: Any) -> list[Fact]:
    return [_fact(row) for row in log.rows(query, **given)]


def _fact(row: tuple[Any, ...]) -> Fact:
    """A fact of a row whose columns are in the order of the record."""
    values = list(row)
    values[_HOLDS] = bool(values[_HOLDS])
    for place in _TIMES:
        if values[place] is not None:
            values[place] = from_micros(values[place])
    return Fact(*values)
