"""What automatic recall adds to recorded turns of work, as Markdown.

    python benchmarks/recall/replay.py [SET ...] [--show] [--floor F] [--tokens N] [--cold]

A set is a folder beside this file: what is remembered (`memories.json`), the prompts in their order (`turns.json`), and
by whoever wrote them which memories help in a turn and which look as if they did (`gold.json`). Memories go word for
word into an empty folder; then each prompt goes through automatic recall as a host passes it.
"""

import argparse
import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from rich.progress import track

from mcp_memory.memory import LocalMemory

HERE = Path(__file__).parent
# Later than everything that is remembered.
START = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Turn:
    """What was added to one turn: its text, and the places of the memories in it."""

    prompt: str
    text: str
    places: tuple[int, ...]
    helpful: frozenset[int]
    noise: frozenset[int]
    # Helpful ones that an earlier turn of the conversation was given.
    held: frozenset[int]
    is_first: bool

    @property
    def tokens(self) -> int:
        """As models count, about: characters / 4."""
        return len(self.text) // 4


def replay(folder: Path, settings: Mapping[str, Any]) -> list[Turn]:
    """The turns of a set, each with what was added."""
    memories, turns, gold = (
        json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) for name in ("memories", "turns", "gold")
    )
    with tempfile.TemporaryDirectory() as home, LocalMemory.open(home, clock=_clock(), **settings) as memory:
        place_of = _remember(memory, memories)
        # Hosts have been used before in all the folders.
        for turn in turns:
            memory.remind(conversation=f"before {turn['cwd']}", moment="startup", folder=turn["cwd"])
        held: dict[int, set[int]] = {}
        done = []
        for number, turn in enumerate(track(turns, description=folder.name, transient=True)):
            number_of = turn["conversation"]
            is_first = number_of not in held
            had = frozenset(held.setdefault(number_of, set()))
            reminder = memory.remind(turn["prompt"], conversation=str(number_of), folder=turn["cwd"])
            places = tuple(place_of[identifier] for identifier in reminder.memory_ids if identifier in place_of)
            held[number_of] |= {*places}
            judged = gold[str(number)]
            helpful, noise = frozenset(judged["helpful"]), frozenset(judged.get("harmful_or_noise", ()))
            done.append(Turn(turn["prompt"], reminder.text, places, helpful, noise, had, is_first))
    return done


def _clock() -> Callable[[], datetime]:
    ticks = count()
    return lambda: START + timedelta(milliseconds=next(ticks))


def _remember(memory: LocalMemory, memories: list[Any]) -> dict[str, int]:
    place_of = {}
    for place, told in enumerate(track(memories, description="remembering", transient=True)):
        added = memory.as_agent(told["agent"]).add(
            told["text"], infer=False, kind=told["kind"], observed_at=told["observed_at"]
        )
        place_of[added.results[0].id] = place
    return place_of


def figures(turns: list[Turn]) -> dict[str, str]:
    """What is told of a set."""
    first = [turn for turn in turns if turn.is_first]
    later = [turn for turn in turns if not turn.is_first]
    n_helpful = sum(len(turn.helpful) for turn in turns)
    given = sum(len(turn.helpful & {*turn.places}) for turn in turns)
    held = sum(len(turn.helpful & turn.held) for turn in turns)
    n_lines = sum(len(turn.places) for turn in later)
    n_noise = sum(len(turn.noise & {*turn.places}) for turn in later)
    n_good = sum(len(turn.helpful & {*turn.places}) for turn in later)
    return {
        "tokens, first turn of a conversation": f"{_mean(first):.0f}",
        "tokens, later turns": f"{_mean(later):.0f}",
        "later turns with nothing added": f"{sum(not turn.text for turn in later)} of {len(later)}",
        "helpful memories in the context": f"{given + held} of {n_helpful} ({held} since an earlier turn)",
        "lines in later turns: helpful, misleading, other": f"{n_good}, {n_noise}, {n_lines - n_good - n_noise}",
    }


def _mean(turns: list[Turn]) -> float:
    return sum(turn.tokens for turn in turns) / max(1, len(turns))


def main() -> None:
    """Print a table with a column for each set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=sorted(path.parent.name for path in HERE.glob("*/gold.json")))
    parser.add_argument("--show", action="store_true", help="print what was added to each turn")
    parser.add_argument("--floor", type=float, help="recall_floor, in place of the default")
    parser.add_argument("--tokens", type=int, help="recall_tokens, in place of the default")
    given = parser.parse_args()
    settings = {
        name: value for name, value in (("recall_floor", given.floor), ("recall_tokens", given.tokens)) if value
    }
    columns = {}
    for name in given.sets:
        turns = replay(HERE / name, settings)
        columns[name] = figures(turns)
        for number, turn in enumerate(turns if given.show else ()):
            marks = dict.fromkeys(turn.helpful, "+") | dict.fromkeys(turn.noise, "-")
            told = " ".join(f"{marks.get(place, '')}{place}" for place in turn.places)
            missed = turn.helpful - {*turn.places} - turn.held
            print(f"### {name} {number}: {turn.prompt[:300]!r}\n{turn.text}[{told}] missed: {sorted(missed)}\n")
    print(f"| | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for row in next(iter(columns.values())):
        print(f"| {row} | {' | '.join(column[row] for column in columns.values())} |")


if __name__ == "__main__":
    main()
