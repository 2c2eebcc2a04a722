"""The names of entities that only erased memories gave them, taken out of the log."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, delete, select, update

from .changes import batches
from .schema import aliases, entities, events

# The keys of the user, and of those who are known by what they are to somebody, begin with it.
ROLE_MARK = "="


@dataclass(slots=True)
class Names:
    """How an entity is written, by key; `key` is that of its name. It may be gone already."""

    key: str = ""
    is_there: bool = False
    by_key: dict[str, str] = field(default_factory=dict)
    former: set[str] = field(default_factory=set)

    @property
    def written(self) -> set[str]:
        """Every way in which it is or was written."""
        return {*self.by_key.values(), *self.former}

    @classmethod
    def of(cls, connection: Connection, entity_ids: Sequence[str]) -> "dict[str, Names]":
        """The names of entities, from their rows and from what events tell of them."""
        found: dict[str, Names] = {entity_id: cls() for entity_id in entity_ids}
        for part in batches(entity_ids):
            for row in connection.execute(select(entities).where(entities.c.id.in_(part))):
                names = found[row.id]
                names.key, names.is_there = row.name_key, True
                names.by_key[row.name_key] = row.name
            for row in connection.execute(select(aliases).where(aliases.c.entity_id.in_(part))):
                found[row.entity_id].by_key.setdefault(row.name_key, row.name)
            told = connection.execute(
                select(events.c.entity_id, events.c.before, events.c.after).where(events.c.entity_id.in_(part))
            )
            for entity_id, *sides in told:
                for side in sides:
                    if side:
                        found[entity_id].former |= {side["name"], *(name for name, _ in side["aliases"])}
        return found


@dataclass(frozen=True, slots=True)
class Stripped:
    """Entities that lost a name and are there, and those of which nothing but events was left that told one."""

    changed: set[str]
    gone: set[str]


def strip_names(connection: Connection, user_id: str, names: Mapping[str, Names], unsaid: Collection[str]) -> Stripped:
    """Take names away that no memory gives any more. Who is left without a name goes, and so do the links to it."""
    changed: set[str] = set()
    gone: set[str] = set()
    for entity_id, of_one in names.items():
        if of_one.written.isdisjoint(unsaid):
            continue
        if not of_one.is_there:
            gone.add(entity_id)
            continue
        changed.add(entity_id)
        left = {key: name for key, name in of_one.by_key.items() if name not in unsaid}
        lost = [key for key in of_one.by_key if key not in left]
        connection.execute(delete(aliases).where(aliases.c.entity_id == entity_id, aliases.c.name_key.in_(lost)))
        if of_one.key not in left and of_one.key.startswith(ROLE_MARK):
            # Somebody's sister is found by her role, however she was called in passing.
            named = update(entities).where(entities.c.id == entity_id)
            connection.execute(named.values(name=of_one.key.rpartition("/")[2].removeprefix(ROLE_MARK)))
        elif of_one.key not in left:
            _rename(connection, user_id, entity_id, left)
    return Stripped(changed, gone)


def _rename(connection: Connection, user_id: str, entity_id: str, left: Mapping[str, str]) -> None:
    """Give an entity the longest name that is left and free; without any, one that says nothing."""
    taken = set(
        connection.scalars(
            select(entities.c.name_key).where(entities.c.user_id == user_id, entities.c.name_key.in_([*left]))
        )
    )
    free = sorted((key for key in left if key not in taken), key=lambda key: (-len(key), key))
    key, name = (free[0], left[free[0]]) if free else (f"{ROLE_MARK}{entity_id}", "(purged)")
    connection.execute(update(entities).where(entities.c.id == entity_id).values(name=name, name_key=key))
    connection.execute(delete(aliases).where(aliases.c.entity_id == entity_id, aliases.c.name_key == key))
