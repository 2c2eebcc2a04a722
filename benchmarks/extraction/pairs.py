"""How well old truth gives way to new with a language model: merged, replaced or kept, one command, table out.

    python benchmarks/extraction/pairs.py --host http://127.0.0.1:11434 --model qwen3:8b [--json OUT]

`pairs.json` is independent of prompts and code. Each case is an earlier and a later statement; both are described,
compared where the rules allow a comparison, and the verdict that stands is counted.
"""

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from mcp_memory.asking import Ask
from mcp_memory.compare import compare
from mcp_memory.describe import describe
from mcp_memory.embedder import Embedder
from mcp_memory.errors import ModelOutputError
from mcp_memory.language_model import LanguageModel
from mcp_memory.relate import Told, disposed, may_end, may_merge
from mcp_memory.settings import load_settings
from mcp_memory.text import detect_language

SET = Path(__file__).parent / "pairs.json"
VERDICTS = {"same": "merge", "changed": "replace", "other": "keep"}


def decide(case: Mapping[str, Any], embedder: Embedder, ask: Ask) -> str:
    """What becomes of the earlier statement of a case when the later one is added."""
    known, new = (_told(case[side], case[f"{side}_date"], ask) for side in ("old", "new"))
    is_late = known.observed_at > new.observed_at
    earlier, later = (new, known) if is_late else (known, new)
    vectors = embedder.embed_texts([("", earlier.text), ("", later.text)])
    similarity = float(np.dot(vectors[0][0], vectors[1][0]))
    is_mergeable = may_merge(new, known, similarity)
    if not is_mergeable and not may_end(earlier, later):
        return VERDICTS["other"]
    try:
        said = compare(earlier.text, later.text, ask)
    except ModelOutputError:
        return VERDICTS["other"]
    verdict = disposed(said, earlier, later, is_mergeable=is_mergeable)
    # News that comes late ends with what is known already, which stays.
    return VERDICTS["other" if is_late and verdict == "changed" else verdict]


def _told(text: str, date: str, ask: Ask) -> Told:
    language = detect_language(text)
    at = datetime.fromisoformat(date).replace(tzinfo=UTC)
    found = describe([text], [language], ask).get(0)
    if found is None:
        return Told(text, language, at)
    return Told(text, language, at, found.kind, found.subject, found.fact_type, found.relation)


def main() -> None:
    """Read the cases, decide each, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="")
    parser.add_argument("--model", default="qwen3:8b")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    model = LanguageModel(load_settings(ollama_host=arguments.host, llm_model=arguments.model, llm_timeout_s=600.0))
    embedder = Embedder()
    embedder.load()
    cases = json.loads(SET.read_text(encoding="utf-8"))
    decided = []
    for case in track(cases, "Comparing", console=Console(stderr=True)):
        decided.append(case | {"decided": decide(case, embedder, model.ask)})
        if arguments.json:
            arguments.json.write_text(json.dumps(decided, ensure_ascii=False, indent=1), encoding="utf-8")
    Console().print(_table(arguments.model, decided))


def _table(model: str, decided: Sequence[Mapping[str, Any]]) -> Table:
    counts = Counter((case["expected"], case["decided"]) for case in decided)
    table = Table("expected", *VERDICTS.values(), "right", title=f"{model}: what was decided")
    for expected in VERDICTS.values():
        row = [counts[expected, verdict] for verdict in VERDICTS.values()]
        table.add_row(expected, *map(str, row), f"{counts[expected, expected]} of {sum(row)}")
    return table


if __name__ == "__main__":
    main()
