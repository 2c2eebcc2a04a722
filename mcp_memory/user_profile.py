"""Who the user is, put together of what is remembered: the summary, statements about them, and facts beside those."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from . import score
from .feedback import ratings_of
from .knowledge import facts_of_memories, facts_of_user, get_profile, most_important
from .phrases import USER_NAME
from .recall import told_as
from .records import Fact, Kind, Memory
from .search_records import KnownFact, UserProfile
from .stores import Stores
from .vocabulary import RELATIONS

MAX_FACTS = 40
MAX_STATEMENTS = 20
# A longer text is told by the facts in it.
MAX_CHARS = 300
_SAID_TO_LAST: tuple[Kind, ...] = ("preference", "fact", "plan", "procedure")
# Words that stand for themselves: without a language model nobody says of what kind they are.
_SAID_SOMEHOW: tuple[Kind, ...] = ("note",)
_N_RANKED = 200
_N_FACTS = 1000
_S_PER_DAY = 86_400
# Who somebody is comes before what they like, and that before what no relation fits.
_PLACES = {name: place for place, name in enumerate(RELATIONS)}


def user_profile(user_id: str, stores: Stores) -> UserProfile:
    """The profile of a user, of what holds now.

    A statement takes the place of the facts that were read out of it: it says more than they do, and what of it they
    leave out cannot be told. Where one of its facts has been overtaken by another, the facts that are left stand
    for it: it says something that is so no longer.
    """
    summary = get_profile(stores.log, user_id)
    statements = _statements(user_id, stores)
    facts = _facts(user_id, {memory.id for memory in statements}, stores)
    return UserProfile(
        summary=summary.text if summary else "",
        made_at=summary.made_at if summary else None,
        facts=facts,
        statements=tuple(statements),
    )


def _statements(user_id: str, stores: Stores) -> list[Memory]:
    now = stores.clock()
    found = [
        memory
        for kinds in (_SAID_TO_LAST, _SAID_SOMEHOW)
        for memory in _ranked(
            user_id,
            most_important(stores.log, user_id, kinds, now, max_chars=MAX_CHARS, limit=_N_RANKED),
            stores,
        )
    ]
    facts = facts_of_memories(stores.log, [memory.id for memory in found])
    return [memory for memory in found if not any(fact.ended_by for fact in facts.get(memory.id, ()))][:MAX_STATEMENTS]


def _ranked(user_id: str, memories: Sequence[Memory], stores: Stores) -> list[Memory]:
    """The most important first, by what it was rated too; of those that are as important the newest."""
    ratings = {rating.memory_id: rating for rating in ratings_of(stores.log, user_id)}
    now = stores.clock()
    columns = np.zeros((3, len(memories)), dtype=np.float32)
    for place, memory in enumerate(memories):
        columns[0, place] = memory.importance
        if rating := ratings.get(memory.id):
            columns[1:, place] = rating.value, (now - rating.rated_at).total_seconds() / _S_PER_DAY
    importance = dict(zip((memory.id for memory in memories), score.learned_importance(*columns), strict=True))
    return sorted(memories, key=lambda memory: (importance[memory.id], memory.observed_at, memory.id), reverse=True)


def _facts(user_id: str, told: Collection[str], stores: Stores) -> tuple[KnownFact, ...]:
    """The facts about the user that none of the memories `told` says, each once, with who said so."""
    now = stores.clock()
    known = facts_of_user(stores.log, user_id, now, of=USER_NAME, relation="", with_ended=False, limit=_N_FACTS)
    seen = {_key(fact) for fact in known if fact.memory_id in told}
    sayers = stores.log.get_memories(sorted({fact.memory_id for fact in known}))
    wanted = []
    for fact in known:
        sayer = sayers.get(fact.memory_id)
        if sayer and sayer.about == "user" and _is_of_user(fact) and _key(fact) not in seen:
            seen.add(_key(fact))
            wanted.append(replace(told_as(fact, {}), who=sayer.speaker or sayer.agent_id))
    # Newest first; the sort keeps that among those of one relation.
    wanted.sort(key=lambda fact: (fact.subject != USER_NAME, _PLACES.get(fact.relation, len(_PLACES))))
    return tuple(wanted[:MAX_FACTS])


def _key(fact: Fact) -> tuple[str, str, str, str]:
    return fact.subject, fact.relation, fact.label, fact.object_key


def _is_of_user(fact: Fact) -> bool:
    """Whether it is the user's own, or of somebody of theirs who has no name: "the user's sister"."""
    return fact.subject == USER_NAME or fact.subject.startswith(f"{USER_NAME}'s ")
