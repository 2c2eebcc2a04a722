"""The names of entities that only erased memories gave them, taken out of the log."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, delete, select, update

from .changes import batches
from .schema import aliases, entities, events

# The keys of the user, and of those who are known by what they are to somebody, begin with it.
_ROLE_MARK, USER = "=", "user"
_NOTHING = "(purged)"


@dataclass(slots=True)
class Names:
    """How an entity is written, by key; `key` is that of its name. It may be gone already."""

    key: str = ""
    is_there: bool = False
    by_key: dict[str, str] = field(default_factory=dict)
    former: set[tuple[str, str]] = field(default_factory=set)

    @property
    def written(self) -> set[str]:
        """Every way in which it is or was written, and those to whom it is something, but for the user."""
        return {each for key, name in (*self.by_key.items(), *self.former) for each in _told_by(key, name)}

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
                        found[entity_id].former.add((side["name_key"], side["name"]))
                        found[entity_id].former |= {(key, name) for name, key in side["aliases"]}
        return found


def gone_entities(connection: Connection, user_id: str) -> set[str]:
    """Entities of a user of which only events are left: they may bear any name."""
    told = select(events.c.entity_id).where(events.c.entity_id != "", events.c.user_id == user_id)
    there = select(entities.c.id).where(entities.c.user_id == user_id)
    return set(connection.scalars(told.distinct())) - set(connection.scalars(there))


def is_unsaid(key: str, name: str, unsaid: Collection[str]) -> bool:
    """Whether nothing that stays says a name, or whose brother it is that is called so."""
    return any(each in unsaid for each in _told_by(key, name))


def _told_by(key: str, name: str) -> list[str]:
    """What a name tells. "The user's sister" tells of nobody but the user; "Marta's brother" of Marta."""
    if not key.startswith(_ROLE_MARK):
        return [name]
    owner = key.removeprefix(_ROLE_MARK).partition("/")[0]
    return [] if owner == USER else [name, owner]


def strip_names(
    connection: Connection, user_id: str, names: Mapping[str, Names], unsaid: Collection[str], change_id: str
) -> set[str]:
    """Take names away that no memory gives any more; returns those entities whose name is another now.

    Their revision becomes the change: it says that the vector of the name is another too.
    """
    renamed: set[str] = set()
    for entity_id, of_one in names.items():
        lost = [key for key, name in of_one.by_key.items() if is_unsaid(key, name, unsaid)]
        if not lost:
            continue
        left = {key: name for key, name in of_one.by_key.items() if key not in lost}
        connection.execute(delete(aliases).where(aliases.c.entity_id == entity_id, aliases.c.name_key.in_(lost)))
        if of_one.key in lost:
            _rename(connection, user_id, entity_id, left, change_id)
            renamed.add(entity_id)
    return renamed


def _rename(connection: Connection, user_id: str, entity_id: str, left: Mapping[str, str], change_id: str) -> None:
    """Give an entity the longest name that is left and free; without any, one that says nothing."""
    taken = set(
        connection.scalars(
            select(entities.c.name_key).where(entities.c.user_id == user_id, entities.c.name_key.in_([*left]))
        )
    )
    free = sorted((key for key in left if key not in taken), key=lambda key: (-len(key), key))
    key, name = (free[0], left[free[0]]) if free else (f"{_ROLE_MARK}{entity_id}", _NOTHING)
    values = {"name": name, "name_key": key, "revision": change_id}
    connection.execute(update(entities).where(entities.c.id == entity_id).values(values))
    connection.execute(delete(aliases).where(aliases.c.entity_id == entity_id, aliases.c.name_key == key))
