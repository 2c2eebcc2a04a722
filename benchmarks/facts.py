"""Many facts: look-ups by key, ways over two hops, and what facts cost a search, as Markdown.

    python benchmarks/facts.py [--people 4000] [--json OUT]

A folder is written directly into the log, with two memories and twelve facts about each of so many people, half of
whom work at one company, as the user does, and half a memory more each about the user, with one fact, which most often
has a label of its own. Everything is embedded as ever. Then, in this process: the time of `recall`, which is what a
search asks the facts; of a walk along facts that a question does not name; and of whole searches with the facts and in
a copy of the folder without them, alternately. Exits with 1 where a median is beyond its bound.
"""

import argparse
import json
import shutil
import sqlite3
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from latency import milliseconds
from rich.progress import Progress, track
from texts import questions
from town import HUB, NOW, OWNER, Town, Writer

from mcp_memory import candidates
from mcp_memory.embedder import Embedder
from mcp_memory.knowledge import walk
from mcp_memory.memory import LocalMemory
from mcp_memory.mentions import name_key
from mcp_memory.phrases import USER_KEY
from mcp_memory.questions import read_question
from mcp_memory.recall import WALK_LIMIT, recall
from mcp_memory.search_records import Selection

N_ROUNDS, N_REPEATS = 5, 20
MEMORIES_AT_ONCE = 200
KEY_BOUND_MS, HOPS_BOUND_MS, SEARCH_BOUND = 2.0, 10.0, 1.3


@dataclass(frozen=True, slots=True)
class Measured:
    """Some calls of one kind in ms, and what their median may be at most, where that is said."""

    what: str
    times: tuple[float, ...]
    bound: float | None = None

    @property
    def median(self) -> float:
        """In ms."""
        return statistics.median(self.times)

    @property
    def is_within(self) -> bool:
        """Whether the median is within the bound."""
        return self.bound is None or self.median <= self.bound


def build(folder: Path, town: Town, embedder: Embedder) -> tuple[int, int]:
    """Write the folder and embed it; returns the numbers of memories and facts."""
    said = list(town.memories())
    n_facts = 0
    with LocalMemory.open(folder, user_id=OWNER.user_id, clock=lambda: NOW, embedder=embedder) as memory:
        writer = Writer(memory)
        starts = range(0, len(said), MEMORIES_AT_ONCE)
        for place, start in enumerate(track(starts, description="writing", transient=True)):
            at = NOW - timedelta(days=2 * (len(starts) - place))
            n_facts += writer.write(said[start : start + MEMORIES_AT_ONCE], at)
        with Progress(transient=True) as shown:
            embedding = shown.add_task("embedding", total=None)
            memory.catch_up(lambda done, total: shown.update(embedding, completed=done, total=total))
        memory.settle()
    return len(said), n_facts


def asked_of_facts(town: Town, count: int) -> list[str]:
    """Questions that name a fact, a third of them the user's."""
    questions: list[str] = []
    for number in range(count):
        name = town.person(37 * number % town.n_people)
        questions.append(
            (
                "what is my phone number?",
                f"where does {name} work?",
                f"what is {name}'s phone number?",
                "where do I live?",
                f"which languages does {name} speak?",
                f"who is {name}'s boss?",
                "what is my sister's mail address?",
                f"who works where {name} works?",
                f"when was {name} born?",
                "what is my boss's phone number?",
            )[number % 10]
        )
    return questions


class Recalling:
    """Asks the facts of an open folder, as a search does."""

    def __init__(self, memory: LocalMemory) -> None:
        self._stores = memory.stores
        self._index = memory.stores.index_of(memory.user_id)
        self._selection = Selection(OWNER, NOW)

    def key(self, what: str, asked: Sequence[str], bound: float | None) -> Measured:
        """Times of `recall` of some questions, whose names have been found already."""
        calls = [partial(recall, text, self._names(text), self._selection, {}, self._stores) for text in asked]
        return measured(f"`recall`: {what}", calls, bound)

    def reading(self, asked: Sequence[str]) -> Measured:
        """Times of reading questions alone."""
        return measured(
            "reading the question alone", [partial(read_question, text, self._names(text)) for text in asked]
        )

    def walk(self, what: str, names: Sequence[str], depth: int, bound: float | None) -> Measured:
        """Times of a walk from some names."""
        user = self._id_of(USER_KEY)
        calls = [
            partial(
                walk,
                self._stores.log,
                OWNER.user_id,
                [self._id_of(name_key(name))],
                user,
                (NOW, NOW),
                depth,
                WALK_LIMIT,
            )
            for name in names
        ]
        return measured(f"`walk`, depth {depth}, from {what}", calls, bound)

    def _names(self, text: str) -> tuple[tuple[str, str], ...]:
        return candidates.read_query(text, self._index).names

    def _id_of(self, key: str) -> str:
        entity = self._index.names.by_key(key)
        assert entity is not None
        return entity.id


def measured(what: str, calls: Sequence[Callable[[], object]], bound: float | None = None) -> Measured:
    """Each call timed some times, after one that does not count."""
    for call in calls:
        call()
    return Measured(what, tuple(milliseconds(call) for _ in range(N_REPEATS) for call in calls), bound)


def of_facts(memory: LocalMemory, town: Town) -> list[Measured]:
    """What the facts take alone."""
    recalling = Recalling(memory)
    # Even numbers work at small companies, odd ones at the hub.
    small, large = ([town.person(number % town.n_people) for number in range(start, 400, 40)] for start in (10, 11))
    return [
        recalling.key("what is my phone number?", ["what is my phone number?"], KEY_BOUND_MS),
        recalling.key("where does NAME work?", [f"where does {name} work?" for name in (*small, *large)], KEY_BOUND_MS),
        recalling.key(
            "what is NAME's phone number?", [f"what is {name}'s phone number?" for name in small], KEY_BOUND_MS
        ),
        recalling.key("what is my boss's phone number?", ["what is my boss's phone number?"], HOPS_BOUND_MS),
        recalling.key(
            "who works where NAME works? (5 people)",
            [f"who works where {name} works?" for name in small],
            HOPS_BOUND_MS,
        ),
        recalling.key(
            "who works where NAME works? (the hub)", [f"who works where {name} works?" for name in large], HOPS_BOUND_MS
        ),
        recalling.key("who works where I work? (the hub)", ["who works where I work?"], HOPS_BOUND_MS),
        recalling.key("Where did Greta leave the lamp? (no fact)", questions(10), KEY_BOUND_MS),
        recalling.reading(asked_of_facts(town, 50)),
        recalling.walk("a name", small, 2, HOPS_BOUND_MS),
        recalling.walk("a name", small, 3, None),
        recalling.walk("a name at the hub", large, 2, HOPS_BOUND_MS),
        recalling.walk("the hub", [HUB], 2, HOPS_BOUND_MS),
        recalling.walk("the hub", [HUB], 3, None),
    ]


def searches(having: LocalMemory, lacking: LocalMemory, town: Town) -> dict[str, tuple[list[float], list[float]]]:
    """Times of searches with and without facts, by kind of question; each question is asked of both in turn."""
    kinds = {"name facts": asked_of_facts(town, 50), "name none": questions(50)}
    found: dict[str, tuple[list[float], list[float]]] = {}
    for kind, asked in kinds.items():
        times: tuple[list[float], list[float]] = ([], [])
        for turn in range(N_ROUNDS + 1):
            for place, question in enumerate(asked):
                both = list(zip((having, lacking), times, strict=True))
                # Neither is always the one whose question the caches know already.
                for memory, kept in both if (place + turn) % 2 else reversed(both):
                    took = milliseconds(partial(memory.search, question))
                    if turn:
                        kept.append(took)
        found[kind] = times
    return found


def without_facts(folder: Path, copy: Path) -> None:
    """A copy of a folder that nobody holds, its facts gone."""
    shutil.copytree(folder, copy)
    with closing(sqlite3.connect(copy / "log.sqlite3")) as log:
        log.execute("DELETE FROM facts")
        log.commit()


def main() -> None:
    """Measure, print Markdown tables, and say whether all is within its bounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=4_000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    town, embedder = Town(given.people), Embedder()
    embedder.load()
    with tempfile.TemporaryDirectory() as scratch:
        home, copy = Path(scratch) / "with", Path(scratch) / "without"
        n_memories, n_facts = build(home, town, embedder)
        without_facts(home, copy)
        opened = partial(LocalMemory.open, user_id=OWNER.user_id, clock=lambda: NOW, embedder=embedder)
        with opened(home) as having, opened(copy) as lacking:
            having.warm()
            lacking.warm()
            alone = of_facts(having, town)
            whole = searches(having, lacking, town)
    print(f"{n_memories} memories, {n_facts} facts\n")
    print("| in ms | p50 | p95 | bound of p50 | within |\n|---|---|---|---|---|")
    for row in alone:
        bound = f"{row.bound:g}" if row.bound else ""
        within = {True: "yes", False: "NO"}[row.is_within] if row.bound else ""
        print(f"| {row.what} | {row.median:.2f} | {np.percentile(row.times, 95):.2f} | {bound} | {within} |")
    print("\n| search p50 in ms, questions that | with facts | without | ratio | bound | within |")
    print("|---|---|---|---|---|---|")
    whole["either"] = tuple([*one, *other] for one, other in zip(*whole.values(), strict=True))  # type: ignore[assignment]
    ratios: dict[str, float] = {}
    for kind, times in whole.items():
        with_facts, without = map(statistics.median, times)
        ratios[kind] = with_facts / without
        within = "yes" if ratios[kind] <= SEARCH_BOUND else "NO"
        print(f"| {kind} | {with_facts:.2f} | {without:.2f} | {ratios[kind]:.2f} | {SEARCH_BOUND} | {within} |")
    if given.json:
        found: dict[str, Any] = {"facts_ms": {row.what: row.median for row in alone}, "ratios": ratios}
        given.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    sys.exit(not all(row.is_within for row in alone) or ratios["either"] > SEARCH_BOUND)


if __name__ == "__main__":
    main()
