"""What each signal does for three kinds of question, and whether facts change when they should, as Markdown.

    python benchmarks/questions/ask.py [--misses] [--json OUT]

Memories go word for word into an empty folder, and the questions are asked with every signal and with each in turn
switched off. Then each story of changing facts is told to a folder of its own. Everything runs in this process.
"""

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from rich.progress import track

from mcp_memory.embedder import Embedder
from mcp_memory.fuse import SIGNAL_NAMES
from mcp_memory.memory import LocalMemory

HERE = Path(__file__).parent
# Later than everything that is said.
START = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
TOP_K = 10
KINDS = ("similarity", "fact", "relation")

Row = Mapping[str, Any]


@dataclass(slots=True)
class Kind:
    """The figures of one kind of question, as sums over its questions."""

    n: int = 0
    first: int = 0
    reciprocal: float = 0.0
    recall: float = 0.0

    def count(self, found: list[int], question: Row) -> None:
        """Add what a search found for a question: places of memories, best first."""
        best, wanted = question["best"], {question["best"], *question["answers"]}
        self.n += 1
        self.first += found[:1] == [best]
        self.reciprocal += 1 / (found.index(best) + 1) if best in found else 0.0
        self.recall += len(wanted & set(found)) / len(wanted)

    @property
    def figures(self) -> tuple[int, float, float]:
        """(questions whose best answer came first, MRR, recall@10)."""
        return self.first, self.reciprocal / self.n, self.recall / self.n


@dataclass(slots=True)
class Story:
    """How one story ended."""

    row: Row
    wrong: list[str] = field(default_factory=list)  # statements that do not have the state that they are to have
    missed: list[str] = field(default_factory=list)  # questions of a day whose answer did not come first


def load(name: str) -> list[Row]:
    """A list from the files beside this one."""
    rows: list[Row] = json.loads((HERE / name).read_text(encoding="utf-8"))
    return rows


def clock() -> Callable[[], datetime]:
    """A clock that goes on a little whenever it is read."""
    ticks = count()
    return lambda: START + timedelta(milliseconds=10 * next(ticks))


def ablation(embedder: Embedder, *, tell_misses: bool) -> dict[str, dict[str, Kind]]:
    """The figures of each kind with every signal ('all'), and with the named one switched off."""
    memories, questions = load("memories.json"), load("questions.json")
    place_of = {memory["text"]: place for place, memory in enumerate(memories)}
    found: dict[str, dict[str, Kind]] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalMemory.open(folder, user_id="ana", clock=clock(), embedder=embedder) as memory,
    ):
        for said in track(memories, description="adding", transient=True):
            memory.add(said["text"], infer=False, observed_at=said["date"])
        memory.settle()
        for off in ("", *SIGNAL_NAMES):
            weights = {off: 0.0} if off else {}
            client = memory.as_client(memory.settings.model_copy(update={"signal_weights": weights}), "ablation")
            kinds: dict[str, Kind] = defaultdict(Kind)
            for question in questions:
                hits = client.search(question["question"], top_k=TOP_K).hits
                ranked = [place_of.get(hit.memory.text, -1) for hit in hits]
                kinds[question["kind"]].count(ranked, question)
                if tell_misses and not off and ranked[:1] != [question["best"]]:
                    rank = ranked.index(question["best"]) + 1 if question["best"] in ranked else "none"
                    print(f"- {question['kind']} {question['id']}, rank {rank}: {question['question']}")
            found[off or "all"] = dict(kinds)
    return found


def stories(embedder: Embedder) -> Iterator[Story]:
    """Tell each story to a folder of its own."""
    for row in track(load("changing_facts.json"), description="stories", transient=True):
        story = Story(row)
        with (
            tempfile.TemporaryDirectory() as folder,
            LocalMemory.open(folder, user_id="ana", clock=clock(), embedder=embedder) as memory,
        ):
            for said in row["said"]:
                memory.add(said["text"], infer=False, observed_at=said["date"])
            states = {kept.text: kept.state for kept in memory.list(states=("active", "invalid", "raw"))}
            wanted = dict.fromkeys(row["current"], "active") | dict.fromkeys(row["closed"], "invalid")
            story.wrong = [text for text, state in wanted.items() if states.get(text) != state]
            for asked in row["as_of"]:
                hits = memory.search(asked["query"], as_of=asked["date"]).hits
                if not hits or hits[0].memory.text != asked["must"]:
                    story.missed.append(f"{asked['query']} ({asked['date'] or 'today'})")
        yield story


def print_ablation(found: Mapping[str, Mapping[str, Kind]]) -> None:
    """One row for all signals, and one for each that is off."""
    print("| signals | " + " | ".join(f"{kind}: first, MRR, recall@{TOP_K}" for kind in KINDS) + " |")
    print("|---|" + "---|" * len(KINDS))
    for off, kinds in found.items():
        cells = []
        for kind in KINDS:
            first, reciprocal, recall = kinds[kind].figures
            cells.append(f"{first}/{kinds[kind].n}, {reciprocal:.3f}, {recall:.3f}")
        print(f"| {off if off == 'all' else f'without {off}'} | {' | '.join(cells)} |")


def print_stories(told: list[Story], *, tell_misses: bool) -> None:
    """How many ended as they should, by kind and language, and how many questions were answered first."""
    print("\n| stories | " + " | ".join(languages := sorted({story.row["language"] for story in told})) + " | all |")
    print("|---|" + "---|" * (len(languages) + 1))
    for kind in ("closes", "keeps"):
        cells = []
        for language in (*languages, ""):
            these = [s for s in told if s.row["kind"] == kind and language in ("", s.row["language"])]
            cells.append(f"{sum(not story.wrong for story in these)}/{len(these)}")
        print(f"| {kind} | {' | '.join(cells)} |")
    cells = []
    for language in (*languages, ""):
        these = [story for story in told if language in ("", story.row["language"])]
        n_asked = sum(len(story.row["as_of"]) for story in these)
        cells.append(f"{n_asked - sum(len(story.missed) for story in these)}/{n_asked}")
    print(f"| questions of a day | {' | '.join(cells)} |")
    for story in told if tell_misses else ():
        if story.wrong or story.missed:
            print(f"- {story.row['kind']} {story.row['id']} ({story.row['why']}): {story.wrong} {story.missed}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true", help="name the questions and stories that went wrong")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    embedder = Embedder()
    embedder.load()
    found = ablation(embedder, tell_misses=given.misses)
    print_ablation(found)
    told = list(stories(embedder))
    print_stories(told, tell_misses=given.misses)
    if given.json:
        figures = {off: {name: kind.figures for name, kind in kinds.items()} for off, kinds in found.items()}
        ends = [{"id": story.row["id"], "wrong": story.wrong, "missed": story.missed} for story in told]
        given.json.write_text(json.dumps({"signals": figures, "stories": ends}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
