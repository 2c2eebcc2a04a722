"""The rating pipeline: whether a memory was of use, told by whoever read it; being returned is no use yet."""

from datetime import datetime

import numpy as np

from . import score
from .feedback import rating_of, save_rating
from .lookup import find_kept
from .records import Memory, Owner, RateResult, Rating
from .stores import Stores

_S_PER_DAY = 86_400


def rate(memory_id: str, owner: Owner, stores: Stores, *, is_useful: bool) -> RateResult:
    """Count one rating of a memory of this user, durably; the next search goes by it.

    Raises:
        NotFoundError: no such memory, or none any more. Another user's memory is as good as none.
        StorageError: nothing was written.
    """
    with stores.writing:
        memory = find_kept(memory_id, owner.user_id, stores.log, to="rate")
        now = stores.clock()
        before = rating_of(stores.log, memory.id) or Rating(memory.id, memory.user_id, 0.0, now, None)
        rating = Rating(
            memory_id=memory.id,
            user_id=memory.user_id,
            value=score.rated(before.value, _days(before.rated_at, now), is_useful=is_useful),
            rated_at=now,
            useful_at=now if is_useful else before.useful_at,
        )
        save_rating(stores.log, rating)
        index = stores.loaded_indices().get(memory.user_id)
        if index is not None:
            index.put_rating(rating)
    return RateResult(
        memory.id, memory.text, is_useful, _importance(memory, before, now), _importance(memory, rating, now)
    )


def _importance(memory: Memory, rating: Rating, now: datetime) -> float:
    columns = (memory.importance, rating.value, _days(rating.rated_at, now))
    return float(score.learned_importance(*(np.array([value], dtype=np.float32) for value in columns))[0])


def _days(earlier: datetime, later: datetime) -> float:
    return (later - earlier).total_seconds() / _S_PER_DAY
