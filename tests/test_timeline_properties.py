"""Whatever is told, in whatever order: what a search may see equals a naive replay, and all can be undone.

The evaluator here knows nothing of the program: it reads its own table of what each text says.
"""

import tempfile
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from mcp_memory.embedder import Embedder
from mcp_memory.knowledge import former_validity
from mcp_memory.memory import LocalMemory
from mcp_memory.recall import recall
from mcp_memory.records import STATES, Owner
from mcp_memory.schema import facts
from mcp_memory.search_records import Selection
from tests.conftest import Clock
from tests.test_undo import carry_out, in_memory, rows

ONE, SEVERAL = "one at a time", "several"


@dataclass(frozen=True)
class Says:
    """One thing that a text says of a key: that a value holds from then on, or holds no longer ('' for any value).

    `month` is that of the last year in which it began, where the text names one.
    """

    key: tuple[str, str]
    value: str
    holds: bool = True
    month: int = 0

    def begins_at(self, said_at: datetime) -> datetime:
        if not self.month:
            return said_at
        first = datetime(said_at.year, self.month, 1, tzinfo=UTC)
        return first if first <= said_at else first.replace(year=said_at.year - 1)


HOME, PHONE, ALLERGY, LANGUAGE = (("user", name) for name in ("home", "phone", "allergy", "language"))
TOMS_HOME, ANAS_FIRM, FIRM = ("tom", "home"), ("ana", "firm"), ("user", "firm")
KINDS = {HOME: ONE, PHONE: ONE, TOMS_HOME: ONE, ANAS_FIRM: ONE, FIRM: ONE, ALLERGY: SEVERAL, LANGUAGE: SEVERAL}

TOLD: dict[str, list[Says]] = {
    "I live in Berlin": [Says(HOME, "berlin")],
    "I moved back to Berlin": [Says(HOME, "berlin")],
    "I live in Berlin Kreuzberg": [Says(HOME, "berlin kreuzberg")],
    "I live in Berlin Mitte": [Says(HOME, "berlin mitte")],
    "I live in Lisbon": [Says(HOME, "lisbon")],
    "I've moved to Lisbon": [Says(HOME, "lisbon")],
    "Ich bin nach Graz gezogen": [Says(HOME, "graz")],
    "I moved to Porto in February": [Says(HOME, "porto", month=2)],
    # For a day, or for good.
    "I left Berlin": [],
    "I no longer live in Berlin": [Says(HOME, "berlin", holds=False)],
    "I no longer live in Lisbon": [Says(HOME, "lisbon", holds=False)],
    "I live in Graz and I work at Bosch": [Says(HOME, "graz"), Says(FIRM, "bosch")],
    "I work at Siemens": [Says(FIRM, "siemens")],
    "I quit my job": [Says(FIRM, "", holds=False)],
    "Tom lives in Berlin": [Says(TOMS_HOME, "berlin")],
    "Tom moved to Lisbon": [Says(TOMS_HOME, "lisbon")],
    "Tom moved back to Berlin": [Says(TOMS_HOME, "berlin")],
    "Tom no longer lives in Berlin": [Says(TOMS_HOME, "berlin", holds=False)],
    "Ana works at Siemens": [Says(ANAS_FIRM, "siemens")],
    "Ana started at Bosch": [Says(ANAS_FIRM, "bosch")],
    "Ana works for Siemens": [Says(ANAS_FIRM, "siemens")],
    "Ana left Siemens": [Says(ANAS_FIRM, "siemens", holds=False)],
    "Ana quit her job": [Says(ANAS_FIRM, "", holds=False)],
    "My phone number is 030 1234567": [Says(PHONE, "1")],
    "My new phone number is 030 7654321": [Says(PHONE, "2")],
    "You can reach me at 030 1234567": [Says(PHONE, "1")],
    "I'm allergic to nuts and milk": [Says(ALLERGY, "nuts"), Says(ALLERGY, "milk")],
    "I am allergic to nuts": [Says(ALLERGY, "nuts")],
    "I'm no longer allergic to nuts": [Says(ALLERGY, "nuts", holds=False)],
    "I'm not allergic to milk": [Says(ALLERGY, "milk", holds=False)],
    "I speak German and Polish": [Says(LANGUAGE, "german"), Says(LANGUAGE, "polish")],
    "I speak Polish": [Says(LANGUAGE, "polish")],
    "The kettle is blue": [],
}
ASKED = {
    "Where do I live?": HOME,
    "Where does Tom live?": TOMS_HOME,
    "Where does Ana work?": ANAS_FIRM,
    "Where do I work?": FIRM,
    "What is my phone number?": PHONE,
    "What am I allergic to?": ALLERGY,
}


@dataclass(frozen=True)
class Added:
    """A text as it was told: for which time of the world, and when."""

    text: str
    observed_at: datetime
    recorded_at: datetime


def is_same(one: str, other: str) -> bool:
    """Whether one value is the other, or a part of it told more exactly."""
    return set(one.split()) <= set(other.split()) or set(other.split()) <= set(one.split())


def end_of(says: Says, place: int, told: Sequence[Added]) -> datetime | None:
    """When what a text says ended: at the first later one that says otherwise."""
    # What has been so since February is so when that is said.
    own = (told[place].observed_at, place)
    on_key = [
        ((at, number), said)
        for number, added in enumerate(told)
        for said in TOLD[added.text]
        for at in (said.begins_at(added.observed_at), added.observed_at)
        if said.key == says.key
    ]
    for (at, number), said in sorted(on_key, key=lambda each: each[0]):
        if (at, number) <= own:
            continue
        if said.holds and KINDS[says.key] == ONE and not is_same(said.value, says.value):
            return at
        if not said.holds and (not said.value or is_same(said.value, says.value)):
            return at
    return None


def span(place: int, told: Sequence[Added]) -> tuple[datetime, datetime | None]:
    """When a text began to be so, and when it was over: when all was that it says is so."""
    said_at = told[place].observed_at
    said = TOLD[told[place].text]
    ends = [end_of(says, place, told) for says in said if says.holds]
    is_over = bool(ends) and None not in ends
    return max((says.begins_at(said_at) for says in said), default=said_at), (
        max(end for end in ends if end) if is_over else None
    )


def visible(told: Sequence[Added], now: datetime, as_of: datetime | None, known_at: datetime | None) -> set[str]:
    known = [added for added in told if known_at is None or added.recorded_at <= known_at]
    moment = as_of or now
    spans = [(added.text, *span(place, known)) for place, added in enumerate(known)]
    return {text for text, begin, end in spans if begin <= moment and (end is None or end > moment)}


def saying(
    told: Sequence[Added], key: tuple[str, str], now: datetime, as_of: datetime | None, known_at: datetime | None
) -> set[str]:
    """The values of a key that texts say and that hold at a moment, the most exact of each."""
    known = [added for added in told if known_at is None or added.recorded_at <= known_at]
    moment = as_of or now
    return most_exact(
        says.value
        for place, added in enumerate(known)
        for says in TOLD[added.text]
        if says.key == key and says.holds and says.begins_at(added.observed_at) <= moment
        if (end := end_of(says, place, known)) is None or end > moment
    )


def most_exact(values: Iterable[str]) -> set[str]:
    """ "berlin mitte" without "berlin", of which it says more."""
    told = set(values)
    return {value for value in told if not any(other.startswith(f"{value} ") for other in told)}


# Each example writes to disk: a failing one is told at once, and short enough to be read.
WITHOUT_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)
DAY = datetime(2026, 1, 1, tzinfo=UTC)
# Few days, so that several texts tell of the same one.
ADDS = st.lists(
    st.tuples(st.sampled_from(sorted(TOLD)), st.integers(0, 20), st.integers(1, 40)),
    min_size=2,
    max_size=9,
    unique_by=lambda add: add[0],
)
POINTS = st.lists(
    st.tuples(st.none() | st.integers(-1, 45), st.none() | st.integers(-1, 9)), min_size=3, max_size=8, unique=True
)


@pytest.fixture(scope="module")
def shared(embedder: Embedder) -> Iterator[tuple[LocalMemory, Clock]]:
    """A folder for all examples, each of which is another user's."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder, LocalMemory.open(folder, clock=clock, embedder=embedder) as memory:
        yield memory, clock
        memory.settle()
        assert memory.verify().differences == ()


def somebody(folder: LocalMemory) -> LocalMemory:
    return folder.as_client(folder.settings.model_copy(update={"user_id": uuid.uuid4().hex}), "test")


def seen(memory: LocalMemory, selection: Selection) -> set[str]:
    """The texts that a search may see."""
    log, index = memory.stores.log, memory.stores.index_of(memory.user_id)
    former = former_validity(log, memory.user_id, selection.known_at) if selection.known_at else {}
    mask = index.select(selection, None, former)
    ids = [identifier for identifier, row in index.row_of.items() if mask[row]]
    return {record.text for record in log.get_memories(ids).values()}


def recalled(memory: LocalMemory, question: str, key: tuple[str, str], selection: Selection) -> set[str]:
    """What answers a question for a key, in the words of `TOLD`."""
    names = [("tom", "Tom"), ("ana", "Ana")]
    log, asked = memory.stores.log, [name for name in names if name[1] in question]
    former = former_validity(log, memory.user_id, selection.known_at) if selection.known_at else {}
    values = recall(question, asked, selection, former, memory.stores).values
    found = log.get_memories([value.memory_id for value in values])
    told = [(value, TOLD[found[value.memory_id].text]) for value in values]
    return {
        says.value
        for value, all_said in told
        for says in all_said
        if says.key == key and says.holds and (len(all_said) == 1 or says.value == value.value.casefold())
    }


@pytest.mark.slow
@given(adds=ADDS, points=POINTS)
@settings(max_examples=12, phases=WITHOUT_SHRINKING)
def test_what_may_be_seen_at_any_time_of_the_world_and_of_the_record_equals_a_naive_replay(
    shared: tuple[LocalMemory, Clock], adds: list[tuple[str, int, int]], points: list[tuple[int | None, int | None]]
) -> None:
    folder, clock = shared
    memory = somebody(folder)
    told: list[Added] = []
    for text, day, hours in adds:
        clock.advance(hours=hours)
        observed = DAY + timedelta(days=2 * day)
        memory.add(text, infer=False, observed_at=observed)
        told.append(Added(text, observed, clock()))
    clock.advance(hours=1)
    for world, record in [(None, None), *points]:
        as_of = None if world is None else DAY + timedelta(days=world)
        known_at = None if record is None else told[min(max(record, 0), len(told) - 1)].recorded_at
        if known_at is not None and record is not None and record < 0:
            known_at -= timedelta(minutes=1)
        selection = Selection(Owner(memory.user_id, "test"), clock(), as_of=as_of, known_at=known_at)
        assert seen(memory, selection) == visible(told, clock(), as_of, known_at)
        for question, key in ASKED.items():
            assert recalled(memory, question, key, selection) == saying(told, key, clock(), as_of, known_at)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(("add", "add", "add", "delete", "update", "undo")),
        st.integers(0, 8),
        st.sampled_from(sorted(TOLD)),
    ),
    min_size=1,
    max_size=9,
)


def rows_in_force(memory: LocalMemory) -> dict[str, list[dict[str, Any]]]:
    """All rows; of what is withdrawn the names may be others, which bear the same name and have come since."""
    found = rows(memory)
    for fact in found["facts"]:
        if fact["closed_at"] and not fact["invalid_at"]:
            fact |= {"subject_id": "", "object_id": ""}
    return found


def carried_out(memory: LocalMemory, step: str, number: int, text: str, changes: list[str]) -> list[str]:
    """One step of a random sequence; the id of its change, if it made one."""
    if step != "add":
        return carry_out(memory, step, number, text, changes)
    [receipt] = memory.add(text, infer=False, observed_at=DAY + timedelta(days=number)).results
    entries = memory.history(receipt.id).entries
    if receipt.status == "duplicate":
        # Met again at an earlier time, a memory held since then.
        return [entries[-1].change_id] if entries[-1].change_id not in changes else []
    # What an add has ended may tell of it as well.
    return [entries[0].change_id] if receipt.status in ("added", "replaced") else []


# Names that went with the facts of a corrected text came back under another id, and went again.
# What was met again has changed since: that is undone first.
@example(
    [("delete", 4, "I left Berlin"), ("add", 7, "I've moved to Lisbon"), ("update", 5, "Ana works for Siemens"),
     ("add", 4, "Ana works for Siemens"), ("add", 7, "I live in Berlin Mitte"), ("undo", 8, "Tom lives in Berlin"),
     ("add", 5, "I quit my job"), ("undo", 8, "I no longer live in Lisbon"), ("add", 5, "I live in Berlin Kreuzberg")]
)  # fmt: skip
@example(
    [("add", 0, "I live in Graz and I work at Bosch"), ("update", 0, "I left Berlin"),
     ("add", 8, "I live in Graz and I work at Bosch"), ("undo", 1, "")]
)  # fmt: skip
@pytest.mark.slow
@given(steps=STEPS)
@settings(max_examples=6, phases=WITHOUT_SHRINKING)
def test_undoing_everything_in_reverse_leaves_no_memory_no_name_and_no_fact(
    shared: tuple[LocalMemory, Clock], steps: list[tuple[str, int, str]]
) -> None:
    folder, clock = shared
    memory = somebody(folder)
    changes: list[str] = []
    for step, number, text in steps:
        clock.advance(hours=1)
        changes += carried_out(memory, step, number, text, changes)
    at_the_end, index = rows_in_force(memory), in_memory(memory)
    undone = [memory.undo(change).change_id for change in reversed(changes)]
    assert {record.state for record in memory.list(states=STATES)} <= {"deleted"}
    with memory.stores.log.reading() as connection:
        assert connection.execute(select(facts).where(facts.c.user_id == memory.user_id)).all() == []
    assert memory.stores.log.get_entities(memory.user_id) == []
    for change in reversed(undone):
        memory.undo(change)
    assert rows_in_force(memory) == at_the_end
    assert in_memory(memory) == index
