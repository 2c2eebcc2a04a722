"""What the weights of relevance, importance and recency do: rankings beside ones computed by hand, as Markdown.

    python benchmarks/weights.py [--json OUT]

Five memories whose three parts are known: relevance is the share of the query's four quoted phrases that a text holds,
all other signals being switched off; importance is written into the log; ages are whole half-lives. Each weight in
turn takes five values while the other two stay as in the profile `chat`. Exits with 1 where a score or a rank differs.
Everything runs in this process, in a temporary folder.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

from mcp_memory.fuse import SIGNAL_NAMES
from mcp_memory.memory import LocalMemory
from mcp_memory.records import Change, Owner
from mcp_memory.settings import load_settings
from mcp_memory.store import commit

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
HALF_LIFE_DAYS = 30
PHRASES = ("red lamp", "blue kettle", "green map", "white violin")
QUERY = " ".join(f'"{phrase}"' for phrase in PHRASES)
ONLY_EXACT = {**dict.fromkeys(SIGNAL_NAMES, 0.0), "exact": 3.0}
# Name: how many of the phrases, importance, age in half-lives.
MEMORIES = {
    "A": (4, Fraction("0.1"), 3),
    "B": (3, Fraction("0.3"), 1),
    "C": (2, Fraction("0.9"), 2),
    "D": (1, Fraction("0.5"), 0),
    "E": (2, Fraction("0.2"), 1),
}
PARTS = ("relevance", "importance", "recency")
CHAT = {"relevance": Fraction("0.9"), "importance": Fraction("0.05"), "recency": Fraction("0.05")}
STEPS = [Fraction(n, 4) for n in range(5)]


def by_hand(weights: dict[str, Fraction]) -> list[tuple[str, Fraction]]:
    """(name, score) of each memory, best first: the weighted mean in exact fractions."""
    scores: dict[str, Fraction] = {}
    for name, (n_phrases, importance, n_half_lives) in MEMORIES.items():
        parts = {"relevance": Fraction(n_phrases, 4), "importance": importance, "recency": Fraction(1, 2**n_half_lives)}
        mixed = sum((weights[part] * parts[part] for part in PARTS), Fraction(0))
        scores[name] = mixed / sum(weights.values(), Fraction(0))
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def fill(memory: LocalMemory) -> None:
    """Store the memories with the importance that they are to have."""
    for name, (n_phrases, importance, n_half_lives) in MEMORIES.items():
        text = " and ".join((f"Note {name}", *PHRASES[:n_phrases]))
        seen = NOW - timedelta(days=HALF_LIFE_DAYS * n_half_lives)
        stored = memory.stores.log.get_memories(
            [memory.add(text, infer=False, observed_at=seen).results[0].id]
        ).popitem()[1]
        change_id = memory.stores.ids.next(NOW)
        weighed = replace(stored, importance=float(importance), revision=change_id)
        with memory.stores.writing:
            commit(
                Change(change_id, NOW, Owner(memory.user_id, "weights"), "update", memories=(weighed,)), memory.stores
            )


def rankings(memory: LocalMemory) -> Iterator[dict[str, Any]]:
    """Each weight at each of its values: the product's ranking and the one by hand."""
    for part in PARTS:
        for step in STEPS:
            weights = CHAT | {part: step}
            given = {f"weight_{name}": float(weight) for name, weight in weights.items()}
            settings = load_settings(home=memory.folder, user_id="ana", signal_weights=ONLY_EXACT, **given)
            hits = memory.as_client(settings, "weights").search(QUERY).hits
            product = [(hit.memory.text.split()[1], hit.score) for hit in hits]
            hand = by_hand(weights)
            is_same = [name for name, _ in product] == [name for name, _ in hand] and all(
                abs(score - float(expected)) < 1e-5 for (_, score), (_, expected) in zip(product, hand, strict=True)
            )
            yield {
                "weight": part,
                "value": float(step),
                "product": [(name, round(score, 4)) for name, score in product],
                "by_hand": [(name, round(float(score), 4)) for name, score in hand],
                "same": is_same,
            }


def main() -> None:
    """Measure, print a Markdown table, and say whether all is as computed by hand."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalMemory.open(folder, user_id="ana", clock=lambda: NOW) as memory,
    ):
        fill(memory)
        found = list(rankings(memory))
    print("| weight | value | product | by hand | same |\n|---|---|---|---|---|")
    for row in found:
        shown = (" ".join(f"{name} {score:.4f}" for name, score in row[column]) for column in ("product", "by_hand"))
        print(f"| {row['weight']} | {row['value']:g} | {' | '.join(shown)} | {'yes' if row['same'] else 'NO'} |")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    sys.exit(not all(row["same"] for row in found))


if __name__ == "__main__":
    main()
