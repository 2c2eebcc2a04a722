"""Whom the keys of phrases mean at a time: "the user's sister" is Eva where it is known that she is the only one."""

from collections.abc import Sequence
from datetime import datetime

from .fact_keys import facts_about, facts_of_key
from .gazetteer import Gazetteer
from .log import Log
from .records import Entity, Fact
from .vocabulary import RELATIONS

_SINGLE_ROLES = tuple(name for name, relation in RELATIONS.items() if relation.is_role and relation.is_single)


class Referents:
    """The entities that keys mean, of one user; those that a change brings are known beside the stored ones."""

    def __init__(self, log: Log, user_id: str, names: Gazetteer, brought: Sequence[Entity] = ()) -> None:
        self._log = log
        self._user_id = user_id
        self._names = names
        self._brought = {entity.name_key: entity.id for entity in brought}
        self._keys = {entity.id: entity.name_key for entity in brought}
        self._claimed: tuple[Fact, ...] = ()

    def learn(self, facts: Sequence[Fact]) -> None:
        """Know facts of a change, which the log does not hold yet."""
        self._claimed = tuple(facts)

    def id_of(self, key: str) -> str:
        """The entity with a key, '' for none."""
        known = self._names.by_key(key)
        return known.id if known else self._brought.get(key, "")

    def _key_of(self, entity_id: str) -> str:
        known = self._names.entities.get(entity_id)
        return known.name_key if known else self._keys.get(entity_id, "")

    def whom(self, key: str, at: datetime) -> str:
        """The entity that a key means at a time of the world; '' where none has it."""
        own = self.id_of(key)
        owner, _, role = key.rpartition("/")
        if not owner or role not in RELATIONS:
            return own
        owner_id = self.whom(owner, at) or self.whom(owner.removeprefix("="), at)
        holders = facts_of_key(self._log, self._user_id, [owner_id], (role,)) if owner_id else []
        named = {fact.object_id for fact in holders if _holds_at(fact, at) and fact.object_id}
        return named.pop() if len(named) == 1 else own

    def same_as(self, entity_id: str) -> frozenset[str]:
        """An entity, its other spellings, and the roles by which it was known before its name was.

        Somebody who took over a role from another one was never meant by the role alone.
        """
        same = set(self._names.spellings(entity_id))
        claimed = [fact for fact in self._claimed if fact.object_id in same and fact.relation in _SINGLE_ROLES]
        for fact in [*facts_about(self._log, list(same), _SINGLE_ROLES), *claimed]:
            role = self.id_of(f"={self._key_of(fact.subject_id).removeprefix('=')}/{fact.relation}")
            if role and role not in same and self._is_first(fact, same):
                same.add(role)
        return frozenset(same)

    def is_one_of_several(self, entity_id: str) -> bool:
        """Whether an entity is a role that several can have, so that two statements may be about two of them.

        "My friend" may be another one each time; "my sister" is taken for one until two are known by name.
        """
        key = self._key_of(entity_id)
        if not key.startswith("="):
            return False
        owner = self.id_of(key.split("/")[0]) or self.id_of(key.split("/")[0].removeprefix("="))
        for role in key.split("/")[1:]:
            relation = RELATIONS.get(role)
            if relation is None or relation.is_single:
                continue
            holders = facts_of_key(self._log, self._user_id, [owner], (role,)) if owner else []
            if relation.fact_type != "family" or len({fact.object_id for fact in holders if fact.holds}) > 1:
                return True
        return False

    def _is_first(self, fact: Fact, same: set[str]) -> bool:
        holders = facts_of_key(self._log, self._user_id, [fact.subject_id], (fact.relation,))
        key = (fact.subject_id, fact.relation)
        holders += [claimed for claimed in self._claimed if (claimed.subject_id, claimed.relation) == key]
        named = [holder for holder in holders if holder.holds and holder.object_id]
        return min(named, key=lambda holder: (holder.valid_from, holder.id)).object_id in same


def _holds_at(fact: Fact, at: datetime) -> bool:
    return fact.holds and fact.valid_from <= at and (fact.invalid_at is None or fact.invalid_at > at)
