"""The undoing pipeline: every row that a change touched goes back to what it was, in one change of its own.

All of it is read from the events. Nothing is guessed: where a row is no longer as the change left it, the changes that
touched it since are named, and nothing happens.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from . import trail
from .backlog import is_episode_waiting
from .changes import memory_row
from .embedding import comparable, embed
from .errors import ConflictError, NotFoundError
from .ids import canonical
from .knowledge import facts_of_memories
from .records import PURGED, SEARCHABLE, SIGHTINGS, Change, Fact, Memory, Owner, Sighting
from .reports import Undone, UndoneRow
from .schema import as_json
from .store import commit
from .stores import Stores
from .trail import Event, Touch

# What every change writes anew.
_NOT_COMPARED = frozenset(("revision", "updated_at"))
_N_NAMED = 5
_HOW_TO_FIND = "use a change id that the history of a memory shows"
WORDS_STAY = "word for word, and not read by the language model again"


@dataclass(frozen=True, slots=True)
class _Before:
    """What the events of a change say, the rows that it touched as they are now, and all changes that touched them."""

    change_id: str
    events: Sequence[Event]
    memories: Mapping[str, Memory]
    facts: Mapping[str, Fact]
    links: Mapping[str, Sequence[str]]
    touches: Sequence[Touch]


def undo(identifier: str, owner: Owner, stores: Stores) -> Undone:
    """Undo one of the user's changes; an undo is one too.

    A memory that the change brought is deleted, under its id, so that undoing the undo brings it back. Words that
    waited for the language model come back as ordinary memories where no job waits to read them.

    Raises:
        NotFoundError: no such change, or its events have been dropped.
        ConflictError: it was undone already, or later changes touched its rows; they are named.
    """
    with stores.writing:
        change_id = _change_meant(identifier, owner, stores)
        before = _look(change_id, owner, stores)
        change = _reversed(before, owner, stores)
    # The lock is not held while the model works: what was looked at is looked at again.
    anew = [memory for memory in change.memories if _needs_vector(memory, before.memories[memory.id])]
    embedded = embed(anew, [entity.name for entity in change.entities], stores)
    with stores.writing:
        before = _look(change_id, owner, stores)
        change = _reversed(before, owner, stores)
        embedded = comparable(embedded, anew, [entity.name for entity in change.entities], stores)
        index = stores.index_of(owner.user_id)
        kept = {
            memory.id: vectors
            for memory in change.memories
            if not _needs_vector(memory, before.memories[memory.id])
            and (vectors := index.vectors_of(memory.id)) is not None
        }
        of_names = {e.id: embedded.names[e.name] for e in change.entities if e.name in embedded.names}
        commit(change, stores, kept | dict(embedded.memories), of_names)
    return _told(before, change, embedded.lag)


def _needs_vector(memory: Memory, now: Memory) -> bool:
    if memory.state not in SEARCHABLE:
        return False
    form = (memory.text, memory.speaker, memory.observed_at)
    return now.state not in SEARCHABLE or form != (now.text, now.speaker, now.observed_at)


def _change_meant(identifier: str, owner: Owner, stores: Stores) -> str:
    wanted = canonical(identifier)
    if wanted is None:
        raise NotFoundError(f"{identifier!r} is no change id: ids have 12 characters", hint=_HOW_TO_FIND)
    if trail.events_of_change(stores.log, owner.user_id, wanted):
        return wanted
    memory = stores.log.get_memories([wanted]).get(wanted)
    if memory is None or memory.user_id != owner.user_id:
        began = trail.begins_at(stores.log)
        since = f"; the history begins on {began.date().isoformat()}" if began else ""
        raise NotFoundError(f"there is no change {wanted!r}{since}", hint=_HOW_TO_FIND)
    # Not undone at once: said twice, for want of an answer, it would undo two changes.
    standing = trail.standing(trail.touches_of(stores.log, [wanted], []))
    raise NotFoundError(
        f"{wanted!r} is the id of a memory, not of a change",
        hint=f"its last change that stands is {standing[-1].change_id} ({standing[-1].operation},"
        f" {standing[-1].at.date()}): undo that"
        if standing
        else "no change of it is left to undo; undo an undo by its own id, which its history shows",
    )


def _look(change_id: str, owner: Owner, stores: Stores) -> _Before:
    """The events of a change and its rows now, if these are still as the change left them."""
    log = stores.log
    events = trail.events_of_change(log, owner.user_id, change_id)
    if any(event.operation == PURGED for event in events):
        raise NotFoundError(
            f"of change {change_id!r} something was purged: it cannot be undone", hint="correct the memories themselves"
        )
    if not events or trail.may_lack_events(log, change_id):
        raise NotFoundError(
            f"of change {change_id!r} some of what was before has been dropped from the history",
            hint="MCP_MEMORY_KEEP_EVENTS_DAYS says for how long it is kept; correct the memories themselves",
        )
    memory_ids = list(dict.fromkeys(event.memory_id for event in events if event.memory_id))
    fact_ids = [event.fact_id for event in events if event.fact_id]
    touches = trail.touches_of(log, memory_ids, fact_ids)
    if by := trail.undone_by(touches).get(change_id):
        raise ConflictError(
            f"change {change_id!r} was undone already, on {by.at.date().isoformat()}, by {by.change_id!r}",
            hint=f"undo {by.change_id} to have the change back",
        )
    before = _Before(
        change_id,
        events,
        log.get_memories(memory_ids),
        trail.facts_with_ids(log, fact_ids),
        trail.links_of(log, memory_ids),
        touches,
    )
    same = _same_names(before, owner, stores)
    for event in events:
        if not _is_as_left(event, before, same):
            raise _conflict(event, before)
    _refuse_dependents(before, owner, stores)
    return before


def _refuse_dependents(before: _Before, owner: Owner, stores: Stores) -> None:
    """Refuse where later changes rest on what a change brought or met: an end would be left without a cause."""
    own = {event.fact_id for event in before.events if event.fact_id}
    brought = [event.fact_id for event in before.events if event.fact_id and not event.before]
    later = [fact for fact in trail.facts_ended_by(stores.log, owner.user_id, brought) if fact.id not in own]
    if later:
        named = ", ".join(dict.fromkeys(fact.revision for fact in later[:_N_NAMED]))
        raise ConflictError(
            f"change {before.change_id!r} ended what arrived after it: {later[0].subject}, {later[0].object}",
            hint=f"undo {named} first, or correct the memory itself",
        )
    met_again = sorted({event.memory_id for event in before.events if event.operation == "sight"})
    said = [fact.id for facts in facts_of_memories(stores.log, met_again).values() for fact in facts]
    own_place = before.events[-1].sequence
    standing = trail.standing(trail.touches_of(stores.log, [], said))
    resting = [touch.change_id for touch in standing if touch.sequence > own_place]
    if resting:
        raise ConflictError(
            f"when change {before.change_id!r} met a known statement again has since told when its facts held",
            hint=f"undo {', '.join(resting[:_N_NAMED])} first, or correct the memory itself",
        )


def _is_as_left(event: Event, before: _Before, stand_ins: Mapping[str, str]) -> bool:
    """Whether a memory or fact is now what a change left, value by value."""
    if event.fact_id:
        fact = before.facts.get(event.fact_id)
        now = as_json({name: getattr(fact, name) for name in fact.__slots__}) if fact else None
        return _values(now, stand_ins) == _values(event.after, stand_ins)
    if not event.memory_id or event.operation in SIGHTINGS:
        return True
    memory = before.memories.get(event.memory_id)
    if memory is None or event.after is None:
        return memory is None and event.after is None
    left, now = _values(event.after, stand_ins), as_json(memory_row(memory))
    if "entities" in left:
        now["entities"] = before.links.get(memory.id, ())
    now = _values(now, stand_ins)
    if (left["state"], now["state"]) == ("raw", "active") and _was_undone(memory, before):
        # Words that came back, of which no job is left to read them.
        now["state"] = "raw"
    return left == now


def _was_undone(memory: Memory, before: _Before) -> bool:
    """Whether what wrote a memory last was an undo."""
    return any(touch.undoes for touch in before.touches if touch.change_id == memory.revision)


def _values(row: Mapping[str, Any] | None, stand_ins: Mapping[str, str]) -> dict[str, Any]:
    """What is compared of a row: entities count as those that bear their names now."""
    values = {name: value for name, value in (row or {}).items() if name not in _NOT_COMPARED}
    for name in ("subject_id", "object_id"):
        if name in values:
            values[name] = stand_ins.get(values[name], values[name])
    if "entities" in values:
        values["entities"] = sorted({stand_ins.get(each, each) for each in values["entities"]})
    return values


def _conflict(event: Event, before: _Before) -> ConflictError:
    last = before.events[-1].sequence
    standing = [touch for touch in trail.standing(before.touches) if touch.operation not in SIGHTINGS]
    later = [touch for touch in reversed(standing) if touch.sequence > last]
    what = f"memory {event.memory_id!r}" if event.memory_id else f"fact {event.fact_id!r}"
    message = f"{what} is no longer as change {before.change_id!r} left it"
    if not later:
        return ConflictError(f"{message}, and the history does not tell why", hint="correct the memory itself")
    told = ", ".join(f"{touch.change_id} ({touch.operation}, {touch.at.date()})" for touch in later[:_N_NAMED])
    more = f" and {len(later) - _N_NAMED} more" if len(later) > _N_NAMED else ""
    return ConflictError(
        f"{message}: since then came {told}{more}",
        hint=f"undo {'that' if len(later) == 1 else 'those, in this order,'} first",
    )


def _stand_ins(before: _Before, owner: Owner, stores: Stores) -> dict[str, str]:
    """For entities of a change that are gone: those that bear their names now."""
    keys = _keys_of_gone(_named_by(before.events), stores)
    bearers = trail.bearers(stores.log, owner.user_id, set(keys.values()))
    return {identifier: bearers[key] for identifier, key in keys.items() if key in bearers}


def _same_names(before: _Before, owner: Owner, stores: Stores) -> dict[str, str]:
    """The same for comparing: of those whose name nobody bears now, two that bore one name are one as well."""
    now = {each for fact in before.facts.values() for each in (fact.subject_id, fact.object_id) if each}
    now |= {entity_id for ids in before.links.values() for entity_id in ids}
    keys = _keys_of_gone(_named_by(before.events) | now, stores)
    bearers = trail.bearers(stores.log, owner.user_id, set(keys.values()))
    return {identifier: bearers.get(key, f"gone: {key}") for identifier, key in keys.items()}


def _keys_of_gone(entity_ids: set[str], stores: Stores) -> dict[str, str]:
    gone = entity_ids - trail.present_entities(stores.log, entity_ids).keys()
    return {identifier: told["name_key"] for identifier, told in trail.last_entities(stores.log, gone).items()}


def _named_by(events: Sequence[Event]) -> set[str]:
    return {named for event in events for row in (event.before, event.after) if row for named in _named_in(row)}


def _named_in(row: Mapping[str, Any]) -> set[str]:
    return {*row.get("entities", ()), row.get("subject_id", ""), row.get("object_id", "")} - {""}


def _reversed(before: _Before, owner: Owner, stores: Stores) -> Change:
    """The change that leads back."""
    now = stores.clock()
    change_id = stores.ids.next(now)
    stand_ins = _stand_ins(before, owner, stores)
    memories: list[Memory] = []
    links: list[tuple[str, str]] = []
    unlinks: list[tuple[str, str]] = []
    facts: list[Fact] = []
    gone_facts: list[str] = []
    sightings: dict[str, list[Sighting]] = {"sight": [], "unsight": []}
    for event in before.events:
        if event.operation in sightings and event.after:
            at = trail.moment_of(event.after["observed_at"])
            sightings[event.operation].append(Sighting(event.memory_id, at))
        elif event.memory_id:
            memory = _memory_before(event, before, stores)
            memories.append(replace(memory, updated_at=now, revision=change_id))
            linked = set(before.links.get(memory.id, ()))
            if memory.state in SEARCHABLE and event.before and "entities" in event.before:
                wanted = {stand_ins.get(each, each) for each in event.before["entities"]}
                links += [(memory.id, each) for each in sorted(wanted - linked)]
                unlinks += [(memory.id, each) for each in sorted(linked - wanted)]
        elif event.fact_id and event.before:
            fact = trail.fact_of(event.before)
            subject_id, object_id = (stand_ins.get(each, each) for each in (fact.subject_id, fact.object_id))
            facts.append(replace(fact, subject_id=subject_id, object_id=object_id, revision=change_id))
        elif event.fact_id:
            gone_facts.append(event.fact_id)
    change = Change(
        id=change_id,
        at=now,
        owner=owner,
        operation="undo",
        reason=trail.reason_of_undoing(before.change_id),
        memories=tuple(memories),
        links=tuple(links),
        unlinks=tuple(unlinks),
        facts=tuple(facts),
        gone_facts=tuple(gone_facts),
        sightings=tuple(sightings["unsight"]),
        unsightings=tuple(sightings["sight"]),
    )
    return _with_names(change, before.events, stores)


def _memory_before(event: Event, before: _Before, stores: Stores) -> Memory:
    """A memory as it was before a change; one that the change brought is deleted."""
    if event.before is None:
        return replace(before.memories[event.memory_id], state="deleted")
    memory = trail.memory_of(event.before)
    if memory.state == "raw" and not is_episode_waiting(stores.log, memory.episode_id):
        # Nobody would ever read them.
        return replace(memory, state="active")
    return memory


def _with_names(change: Change, events: Sequence[Event], stores: Stores) -> Change:
    """The change with the entities that its links and facts need and that are gone, and with aliases as they were."""
    user_id = change.owner.user_id
    needed = {entity_id for _, entity_id in change.links}
    needed |= {each for fact in change.facts for each in (fact.subject_id, fact.object_id) if each}
    named = needed | {event.entity_id for event in events if event.entity_id}
    present = trail.present_entities(stores.log, named)
    told = trail.last_entities(stores.log, needed - present.keys())
    aliases = [(identifier, *alias) for identifier, row in told.items() for alias in row.get("aliases", ())]
    gone_aliases: list[tuple[str, str]] = []
    for event in events:
        if event.operation == "entity" and event.before and event.after and event.entity_id in present:
            was, is_now = ({tuple(alias) for alias in row.get("aliases", ())} for row in (event.before, event.after))
            gone_aliases += [(event.entity_id, key) for _, key in is_now - was if key in present[event.entity_id]]
            aliases += [(event.entity_id, *alias) for alias in was - is_now]
    taken = trail.bearers(stores.log, user_id, {key for _, _, key in aliases})
    return replace(
        change,
        # An entity of which the history knows nothing any more cannot come back.
        links=tuple(link for link in change.links if link[1] in present or link[1] in told),
        entities=tuple(
            replace(trail.entity_of(row), n_linked=0, revision=change.id) for _, row in sorted(told.items())
        ),
        aliases=tuple(sorted(alias for alias in aliases if alias[2] not in taken)),
        gone_aliases=tuple(sorted(gone_aliases)),
    )


def _told(before: _Before, change: Change, lag: str) -> Undone:
    rows = [
        UndoneRow(memory.id, memory.text, memory.state, known.text, known.state)
        for memory in change.memories
        for known in [before.memories[memory.id]]
    ]
    by_id = {event.memory_id: event.before for event in before.events if event.memory_id and event.before}
    n_words = sum(row.state == "active" and by_id.get(row.id, {}).get("state") == "raw" for row in rows)
    notes = []
    if n_words:
        are = "1 text is" if n_words == 1 else f"{n_words} texts are"
        notes.append(f"{are} back {WORDS_STAY}.")
    if change.sightings or change.unsightings:
        notes.append("When a known statement was met again is as it was before.")
    if lag:
        notes.append(f"Not yet findable by meaning: {lag}.")
    first = before.events[0]
    operations = [event.operation for event in before.events if event.operation not in ("entity", "entity_gone")]
    return Undone(
        change.id,
        before.change_id,
        next((name for name in operations if name not in SIGHTINGS), "add"),
        first.at,
        tuple(rows),
        " ".join(notes),
    )
