"""What new claims make of the facts that are known: whom they are about, and which older facts and memories they end.

Only world time decides, whatever the order of arrival. What ended stays, with its time and with what took its place.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import zip_longest

from .admit import Admitted
from .backlog import is_episode_waiting
from .claims import began_before, begun_in, claims_of_memory
from .countries import area_of
from .fact_keys import facts_of_key
from .knowledge import facts_of_memories, sightings_of
from .receipts import late, replacing, replacing_in_part, with_left_out
from .records import ENDED_WITH_MEMORY, Claim, Fact, Memory, Sighting, State
from .resolve import Resolution
from .sift import sentences
from .stores import Stores
from .timeline import Run, Stage, ends_of, runs_of, same_value
from .vocabulary import OTHER, RELATIONS
from .whose import Referents


@dataclass(frozen=True, slots=True)
class Settled:
    """What claims come to: admitted memories with their receipts, known memories that change, facts to be written."""

    admitted: Admitted
    known: tuple[Memory, ...]
    facts: tuple[Fact, ...]


@dataclass(slots=True)
class _Work:
    """Facts and memories as they are so far, by id; `gone` are the facts that the change takes back."""

    stores: Stores
    change_id: str
    now: datetime
    gone: frozenset[str]
    facts: dict[str, Fact] = field(default_factory=dict)
    changed: dict[str, Fact] = field(default_factory=dict)
    memories: dict[str, Memory] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    met_at: dict[str, set[datetime]] = field(default_factory=lambda: defaultdict(set))
    left_out: dict[str, list[Fact]] = field(default_factory=dict)

    def put(self, fact: Fact) -> None:
        self.facts[fact.id] = self.changed[fact.id] = fact

    def is_over(self, fact: Fact) -> bool:
        """Whether what was so has ended by now, and is not so again."""
        has_ended = fact.holds and fact.invalid_at is not None and fact.invalid_at <= self.now
        same = (fact.memory_id, fact.subject_id, fact.relation, fact.object_key)
        return has_ended and not any(
            other.holds
            and other.closed_at is None
            and (other.memory_id, other.subject_id, other.relation, other.object_key) == same
            for other in self.facts.values()
        )

    def change(self, before: Memory, after: Memory) -> None:
        if after != before:
            self.memories[before.id] = replace(after, updated_at=self.now, revision=self.change_id)
            self.touched.add(before.id)


def settle(
    claims: Mapping[int, Sequence[Claim]],
    admitted: Admitted,
    resolution: Resolution,
    stores: Stores,
    change_id: str,
    *,
    withdrawn: Sequence[Fact] = (),
    reconsidered: Sequence[Fact] = (),
    known: Sequence[Memory] = (),
    sightings: Sequence[Sighting] = (),
) -> Settled:
    """Facts of new memories by place, and what they end. Call it with `stores.writing` held.

    `withdrawn` are facts that the same change takes back, because their text was read anew or corrected: what they had
    ended is settled without them. `reconsidered` are facts that stay, while their memory expires at another time than
    before. `known` are older memories as the same change has left them so far, `sightings` those that it has
    met again. Of what is claimed only so much becomes facts as the settings say, the surest first.
    """
    kept = {memory.id: memory for memory in (*known, *admitted.memories.values())}
    # What is merged says it of the memory that says the same.
    carriers = {
        place: kept.get(memory.superseded_by, memory) if memory.state == "merged" else memory
        for place, memory in admitted.memories.items()
    }
    speaking = {place: memory for place, memory in carriers.items() if memory.state in ("active", "raw")}
    users = [memory.user_id for memory in speaking.values()] + [fact.user_id for fact in (*withdrawn, *reconsidered)]
    users += [memory.user_id for memory in admitted.known.values()]
    if not users:
        return Settled(admitted, tuple(known), ())
    user_id = users[0]
    names = Referents(stores.log, user_id, stores.index_of(user_id).names, resolution.new_entities)
    work = _Work(stores, change_id, stores.clock(), frozenset(fact.id for fact in withdrawn))
    work.memories |= {memory.id: memory for memory in (*known, *speaking.values())}
    work.touched |= {memory.id for memory in known}
    for fact in _surest(claims, speaking, names, work):
        work.put(fact)
    names.learn(tuple(work.changed.values()))
    for place, memory in speaking.items():
        if memory is admitted.memories[place] and (begun := began_before(claims.get(place, ()), memory.observed_at)):
            work.memories[memory.id] = replace(memory, valid_from=min(begun, memory.valid_from or begun))
    concerned = (*work.changed.values(), *withdrawn, *reconsidered, *_facts_met_again(sightings, work))
    keys = {(names.same_as(fact.subject_id), fact.relation, fact.label) for fact in concerned}
    for subject_ids, relation, label in sorted(keys, key=lambda key: (sorted(key[0]), key[1], key[2])):
        known_facts = facts_of_key(stores.log, user_id, subject_ids, (relation,), label)
        of_key = {fact.id: fact for fact in known_facts if fact.id not in work.gone}
        of_key |= {
            fact.id: fact
            for fact in work.changed.values()
            if fact.subject_id in subject_ids and (fact.relation, fact.label) == (relation, label)
        }
        is_single = RELATIONS[relation].is_single and not any(map(names.is_one_of_several, subject_ids))
        _settle_key(of_key, work, is_single=is_single)
    _end_memories(work)
    return _outcome(work, admitted, {memory.id: place for place, memory in carriers.items()})


def _surest(
    claims: Mapping[int, Sequence[Claim]], speaking: Mapping[int, Memory], names: Referents, work: _Work
) -> Iterator[Fact]:
    """The facts that claims come to, the surest first: as many as one change may bring, and each memory may hold."""
    most = work.stores.settings.facts_per_memory
    known = facts_of_memories(work.stores.log, sorted({memory.id for memory in speaking.values()}))
    held = Counter(
        fact.memory_id
        for of_memory in known.values()
        for fact in of_memory
        if fact.closed_at is None and fact.id not in work.gone
    )
    n_brought = 0
    said = [(claim, memory) for place, memory in speaking.items() for claim in claims.get(place, ())]
    for claim, memory in sorted(said, key=lambda each: -each[0].confidence):
        for fact in _facts(claim, memory, names, work):
            if n_brought < most and held[memory.id] < most:
                n_brought += 1
                held[memory.id] += 1
                yield fact
            else:
                work.left_out.setdefault(memory.id, []).append(fact)


def _facts(claim: Claim, memory: Memory, names: Referents, work: _Work) -> Iterator[Fact]:
    """A claim as a fact. Where the log does not say of what an end tells, one for all that it can be: it may come yet.

    None where it may be one of several.
    """
    subject_id = names.whom(claim.subject_key, claim.begins_at)
    if not subject_id:
        return
    relations = claim.relations
    if len(relations) > 1:
        known = facts_of_key(work.stores.log, memory.user_id, names.same_as(subject_id), relations)
        meant = {fact.relation for fact in known if fact.holds and same_value(fact.object_key, claim.object_key)}
        if len(meant) > 1:
            return
        relations = tuple(meant) or relations
    for relation in relations:
        yield _fact(claim, relation, subject_id, memory, names, work)


def _fact(claim: Claim, relation: str, subject_id: str, memory: Memory, names: Referents, work: _Work) -> Fact:
    kind = RELATIONS[relation]
    return Fact(
        id=work.stores.ids.next(work.now),
        user_id=memory.user_id,
        subject_id=subject_id,
        subject=claim.subject,
        fact_type=kind.fact_type,
        relation=relation,
        label=claim.label,
        object=claim.object,
        object_key=claim.object_key,
        object_id=names.id_of(claim.object_key) if claim.object and (kind.names_thing or relation == OTHER) else "",
        holds=claim.holds,
        memory_id=memory.id,
        confidence=claim.confidence,
        source=claim.source,
        valid_from=min(claim.begins_at, memory.valid_from or claim.begins_at),
        invalid_at=None,
        created_at=work.now,
        closed_at=None,
        revision=work.change_id,
    )


def _facts_met_again(sightings: Sequence[Sighting], work: _Work) -> list[Fact]:
    """The facts of known memories that a change meets again; what is met at an earlier time was so then already."""
    missing = sorted({sighting.memory_id for sighting in sightings} - set(work.memories))
    work.memories |= work.stores.log.get_memories(missing)
    for sighting in sightings:
        work.met_at[sighting.memory_id].add(sighting.observed_at)
        memory = work.memories[sighting.memory_id]
        if sighting.observed_at < (memory.valid_from or memory.observed_at):
            work.change(memory, replace(memory, valid_from=sighting.observed_at))
    of_memory = facts_of_memories(work.stores.log, list(work.met_at))
    return [fact for facts in of_memory.values() for fact in facts if fact.closed_at is None or fact.invalid_at]


def _settle_key(facts: Mapping[str, Fact], work: _Work, *, is_single: bool) -> None:
    """Give every fact of one key the times that its timeline has; what was so twice has a fact for each time."""
    work.facts |= {key: fact for key, fact in facts.items() if key not in work.facts}
    memory_ids = sorted({fact.memory_id for fact in facts.values()})
    work.memories |= work.stores.log.get_memories(sorted(set(memory_ids) - set(work.memories)))
    for memory_id, times in sightings_of(work.stores.log, memory_ids).items():
        work.met_at[memory_id].update(times)
    said: dict[tuple[object, ...], list[Fact]] = defaultdict(list)
    for fact in sorted(facts.values(), key=lambda fact: (fact.valid_from, fact.id)):
        said[(fact.memory_id, fact.subject_id, fact.object_key, fact.holds, fact.source)].append(fact)
    told = [(rows, _stages(rows, work)) for rows in said.values()]
    ends = ends_of(_with_areas(told, work), is_single=is_single)
    timed = [
        (row, run)
        for rows, stages in told
        # What ended with its memory, or by what is gone, ended there.
        if all(not row.ended_by or row.ended_by in facts or row.ended_by in work.gone for row in rows)
        for row, run in _rows_of_runs(rows, runs_of(stages, ends), work)
    ]
    speaks_for = {stage_id: row.id for row, run in timed if run for stage_id in run.stage_ids}
    for row, run in timed:
        _put_timed(row, run, speaks_for, work)


def _stages(rows: Sequence[Fact], work: _Work) -> list[Stage]:
    """What is told of one thing: by its memory, and each time that it was met again.

    What has been so "since January" is so when that is said.
    """
    first = rows[0]
    memory = work.memories[first.memory_id]
    met_at = sorted(work.met_at.get(memory.id, ()))
    begun = _begun(rows, memory) if met_at else first.valid_from
    stage = Stage(
        first.id,
        first.object_key,
        first.holds,
        begun,
        first.source,
        seen_at=memory.observed_at,
        expires_at=memory.expires_at,
    )
    again = [
        replace(stage, id=f"{first.id}@{place}", begins_at=at, seen_at=None, is_change=False)
        for place, at in enumerate(met_at)
    ]
    return [stage, *again]


def _begun(rows: Sequence[Fact], memory: Memory) -> datetime:
    """When a fact began by the words of its memory, whatever was met earlier."""
    first = rows[0]
    for claim in claims_of_memory(memory).claims:
        if (claim.object_key, claim.label) == (first.object_key, first.label) and first.relation in claim.relations:
            return claim.begins_at
    return min(first.valid_from, memory.observed_at)


def _rows_of_runs(rows: Sequence[Fact], runs: Sequence[Run], work: _Work) -> Iterator[tuple[Fact, Run | None]]:
    """The facts that tell of some times, new ones where there are too few; those of no time come without one."""
    for row, run in zip_longest(rows, runs):
        if row is None:
            new_id = work.stores.ids.next(work.now)
            yield replace(rows[0], id=new_id, created_at=work.now, closed_at=None, invalid_at=None, ended_by=""), run
        else:
            yield row, run


def _put_timed(row: Fact, run: Run | None, speaks_for: Mapping[str, str], work: _Work) -> None:
    if run is None:
        if row.closed_at is None or row.invalid_at:
            work.put(replace(row, invalid_at=None, ended_by="", closed_at=work.now, revision=work.change_id))
        return
    ended_at, ended_by = (run.end.at, speaks_for.get(run.end.by, run.end.by)) if run.end else (None, "")
    times = (run.begins_at, ended_at, ended_by)
    if row.id not in work.facts or (row.valid_from, row.invalid_at, row.ended_by) != times:
        closed_at = (row.closed_at or work.now) if run.end else None
        timed = replace(row, valid_from=run.begins_at, invalid_at=ended_at, ended_by=ended_by, closed_at=closed_at)
        work.put(replace(timed, revision=work.change_id))


def _with_areas(told: Sequence[tuple[Sequence[Fact], Sequence[Stage]]], work: _Work) -> list[Stage]:
    """The stages of one key; of somebody's homes with which of them are countries, and which are moves."""
    areas = {rows[0].object_key: area_of(rows[0].object_key) for rows, _ in told if rows[0].relation == "lives_in"}
    if not any(areas.values()):
        return [stage for _, stages in told for stage in stages]
    located: list[Stage] = []
    for rows, (first, *again) in told:
        memory = work.memories[rows[0].memory_id]
        is_change = first.value in begun_in(memory.text, memory.language)
        located.append(replace(first, area=areas[first.value], is_change=is_change))
        located += [replace(stage, area=areas[stage.value]) for stage in again]
    return located


def _end_memories(work: _Work) -> None:
    """End the memories of which every fact has ended, and take that back where one holds again."""
    concerned = {fact.memory_id for fact in work.changed.values()}
    of_memory = facts_of_memories(work.stores.log, sorted(concerned))
    for memory_id in concerned:
        memory = work.memories[memory_id]
        own = {fact.id: fact for fact in of_memory.get(memory_id, ()) if fact.id not in work.gone}
        own |= {fact.id: fact for fact in work.changed.values() if fact.memory_id == memory_id}
        holding = _told_by(list(own.values()))
        # An end that is still to come ends nothing yet.
        over = [fact for fact in holding if fact.invalid_at and fact.invalid_at <= work.now]
        ended = [fact for fact in over if fact.ended_by != ENDED_WITH_MEMORY]
        is_over = bool(ended) and all(fact in ended or _is_told_again(fact, ended, work) for fact in holding)
        if is_over and _may_end(memory, holding):
            _end(memory, max(ended, key=lambda fact: fact.invalid_at or work.now), list(own.values()), work)
        elif not is_over and memory.state == "invalid" and any(fact not in over for fact in holding):
            # Words that still wait to be read go on waiting.
            state: State = "raw" if is_episode_waiting(work.stores.log, memory.episode_id) else "active"
            work.change(memory, replace(memory, state=state, invalid_at=None, closed_at=None, superseded_by=""))


def _may_end(memory: Memory, facts: Sequence[Fact]) -> bool:
    return memory.state == "invalid" or (memory.state in ("active", "raw") and _says_nothing_else(memory, facts))


def _end(memory: Memory, last: Fact, own: Sequence[Fact], work: _Work) -> None:
    """End a memory with the last of its facts."""
    by = work.facts.get(last.ended_by)
    ended = replace(
        memory,
        state="invalid",
        invalid_at=last.invalid_at,
        closed_at=memory.closed_at or work.now,
        superseded_by=by.memory_id if by else memory.superseded_by,
    )
    work.change(memory, ended)
    # Who "my sister Eva" is, holds on: what took the memory's place speaks for it now.
    for fact in own:
        if by and fact.holds and fact.closed_at is None:
            work.put(replace(fact, memory_id=by.memory_id, revision=work.change_id))


def _is_told_again(fact: Fact, ended: Sequence[Fact], work: _Work) -> bool:
    """Whether what ended the other facts of a memory says this one anew: "a senior developer at Fenwick now"."""
    by = {work.facts[other.ended_by].memory_id for other in ended if other.ended_by in work.facts}
    return any(
        other.memory_id in by
        and (other.subject_id, other.relation, other.label) == (fact.subject_id, fact.relation, fact.label)
        and same_value(other.object_key, fact.object_key)
        for other in work.changed.values()
    )


def _told_by(facts: Sequence[Fact]) -> list[Fact]:
    """The facts of one memory that it is about: what it says is so, and not who "my sister Eva" is beside that."""
    holding = [fact for fact in facts if fact.holds and (fact.closed_at is None or fact.invalid_at)]
    subjects = {fact.subject_id for fact in holding}
    return [fact for fact in holding if fact.object_id not in subjects] or holding


def _says_nothing_else(memory: Memory, facts: Sequence[Fact]) -> bool:
    """Whether a memory is over when its facts are. What a model described is one statement with one fact."""
    if all(fact.source != "text" for fact in facts):
        return len(sentences(memory.text)) == 1
    return claims_of_memory(memory).is_all


def _outcome(work: _Work, admitted: Admitted, places: Mapping[str, int]) -> Settled:
    """The rows as they are now; `places` says which input each memory speaks for that says what an input says."""
    rows = {place: work.memories.get(memory.id, memory) for place, memory in admitted.memories.items()}
    new_ids = {memory.id for memory in rows.values()}
    known = tuple(work.memories[identifier] for identifier in sorted(work.touched) if identifier not in new_ids)
    receipts = list(admitted.receipts)
    for memory in known:
        place = places.get(memory.superseded_by)
        if place is not None and memory.state == "invalid":
            receipts[place] = replacing(receipts[place], memory)
    for fact in work.changed.values():
        by = work.facts.get(fact.ended_by)
        place = places.get(by.memory_id) if by else None
        if place is not None and work.is_over(fact) and work.memories[fact.memory_id].state != "invalid":
            receipts[place] = replacing_in_part(receipts[place], fact)
    for place, memory in rows.items():
        # What a comparison has ended has its receipt.
        if memory.state == "invalid" and admitted.memories[place].state != "invalid":
            by_id = memory.superseded_by
            by_memory = work.memories.get(by_id) or work.stores.log.get_memories([by_id]).get(by_id)
            receipts[place] = late(receipts[place], memory, by_memory)
    for memory_id, left_out in work.left_out.items():
        place = places[memory_id]
        receipts[place] = with_left_out(receipts[place], left_out, work.stores.settings.facts_per_memory)
    return Settled(replace(admitted, memories=rows, receipts=tuple(receipts)), known, tuple(work.changed.values()))
