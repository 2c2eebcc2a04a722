"""How well a language model, through this program's extraction, remembers conversations: one command, table out.

    python benchmarks/extraction/run.py --host http://127.0.0.1:11434 --model qwen3:8b [--half choose] [--json OUT]

`conversations.json` is independent of the prompts and the code. Its half "choose" is for
choosing between designs, "final" for reading the figures once at the end. Every conversation gets an empty memory.
"""

import argparse
import json
import platform
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table
from scoring import Tally, score

from mcp_memory.embedder import Embedder
from mcp_memory.memory import LocalMemory

SET = Path(__file__).parent / "conversations.json"
PATIENCE_S = 1800.0
FAULTS = ("negation flip", "wrong subject", "wrong date", "not asked for", "other language", "forbidden stored")


def remember(conversation: Mapping[str, Any], arguments: argparse.Namespace, embedder: Embedder) -> dict[str, Any]:
    """What a memory that knows nothing else holds after a conversation, and what it cost."""
    with tempfile.TemporaryDirectory() as folder:
        memory = LocalMemory.open(
            folder,
            user_id="user",
            embedder=embedder,
            ollama_host=arguments.host,
            llm_model=arguments.model,
            llm_timeout_s=600.0,
            add_wait_s=0.0,
        )
        with memory:
            start = time.perf_counter()
            memory.add(messages=conversation["messages"], observed_at=conversation["observed_at"])
            is_done = memory.settle_queue(PATIENCE_S)
            seconds = time.perf_counter() - start
            stored = [{"text": record.text, "about": record.about} for record in memory.list(states=["active"])]
            cost = memory.model_use
    return {
        "id": conversation["id"],
        "stored": stored,
        "seconds": seconds,
        "calls": cost.n_calls,
        "prompt_tokens": cost.n_prompt_tokens,
        "output_tokens": cost.n_output_tokens,
        "is_done": is_done,
    }


def main() -> None:
    """Read the conversations, extract, score, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="")
    parser.add_argument("--model", default="qwen3:8b")
    parser.add_argument("--half", choices=("choose", "final", "both"), default="choose")
    parser.add_argument("--limit", type=int, default=0, help="only the first so many conversations")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    conversations = [
        item for item in json.loads(SET.read_text(encoding="utf-8")) if arguments.half in (item["half"], "both")
    ]
    conversations = conversations[: arguments.limit or None]
    embedder = Embedder()
    embedder.load()
    console = Console()
    runs, total, by_language = [], Tally(), dict[str, Tally]()
    for conversation in track(conversations, "Extracting", console=Console(stderr=True)):
        run = remember(conversation, arguments, embedder)
        tally, run["notes"] = score(conversation, run["stored"])
        total += tally
        by_language[conversation["language"]] = by_language.get(conversation["language"], Tally()) + tally
        runs.append(run)
        if arguments.json:
            arguments.json.write_text(json.dumps(runs, ensure_ascii=False, indent=1), encoding="utf-8")
    console.print(_table(arguments, total, by_language, runs))
    unfinished = [run["id"] for run in runs if not run["is_done"]]
    if unfinished:
        console.print(f"not finished: {', '.join(unfinished)}")


def _table(
    arguments: argparse.Namespace, total: Tally, by_language: Mapping[str, Tally], runs: list[dict[str, Any]]
) -> Table:
    table = Table("measurement", "value", title=f"{arguments.model}, half {arguments.half}, {platform.machine()}")
    n = len(runs) or 1
    counts = total.counts
    table.add_row("conversations", str(len(runs)))
    table.add_row("precision", f"{total.precision:.2f}  ({counts['right']} of {counts['stored']})")
    table.add_row("recall", f"{total.recall:.2f}  ({counts['found']} of {counts['required']})")
    table.add_row("nothing kept where there is nothing", f"{counts['empty kept empty']} of {counts['empty']}")
    for fault in FAULTS:
        table.add_row(fault, str(counts[fault]))
    for name in ("calls", "prompt_tokens", "output_tokens", "seconds"):
        table.add_row(f"{name} a conversation", f"{sum(run[name] for run in runs) / n:.1f}")
    for language, tally in sorted(by_language.items()):
        table.add_row(
            f"{language}: precision, recall",
            f"{tally.precision:.2f}, {tally.recall:.2f}  ({tally.counts['required']} facts)",
        )
    return table


if __name__ == "__main__":
    main()
