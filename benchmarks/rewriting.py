"""What a language model's rewriting brings: ten indirect questions over thirty statements, asked with and without it.

    python benchmarks/rewriting.py --model qwen3:8b [--host http://127.0.0.1:11434]

The rank of the statement that answers each question, how long the model took and what it wrote. Ten questions show
whether a model is of any use here, and no more. Everything else runs in this process, in a temporary folder.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence

from rich.console import Console
from rich.progress import track
from rich.table import Table

from mcp_memory.errors import ModelOutputError
from mcp_memory.language_model import LanguageModel
from mcp_memory.memory import LocalMemory
from mcp_memory.records import Owner
from mcp_memory.rewrite import Rewriting, rewrite
from mcp_memory.search import search
from mcp_memory.search_records import Selection

STATEMENTS = """
The user's sister Greta is allergic to hazelnuts.
The user works as a bicycle mechanic in a workshop in Almada.
The user starts work at six in the morning from Monday to Thursday.
Greta moved to Ghent in 2024 with her husband Pieter.
The user has a cat called Moth that needs insulin twice a day.
The user's landlord does not allow drilling into the walls.
The user's car, an old Fiat Panda, failed its inspection because of the brakes.
The user is learning Portuguese with a tutor on Wednesday evenings.
The user's colleague Tomas is afraid of flying.
The user's mother turns seventy in May.
The user prefers window seats on trains.
The user has not drunk alcohol since an operation on the liver.
Pieter plays the cello in an amateur orchestra.
The user has saved 4,000 euros for a new roof on the cabin.
The cabin by the lake has neither electricity nor running water.
The user's neighbour Dona Alice keeps a spare key to the flat.
The user's daughter Ines is in the second year of primary school.
Ines is frightened of dogs since she was bitten.
The user cannot lift heavy things because of a slipped disc.
The user's internet contract with Vodaline ends in September.
Tomas has two tickets for the jazz festival in July.
The user reads crime novels by Nordic authors.
The user's laptop has a broken battery and works only on mains.
The user's friend Mei opened a noodle restaurant near the station.
The user's bank is closing its branch in Almada.
The user wants to run a half marathon in October.
The user's favourite colour is dark green.
The backup of the user's photos is on a blue external drive.
The user's dentist is Doctor Amaral in Rua das Flores.
Mei is a vegetarian.
""".strip().splitlines()
# Each with what a statement that answers it holds.
QUESTIONS = {
    "What should I not bake for Greta?": ("hazelnuts",),
    "Can I go out late on Tuesday night?": ("six in the morning",),
    "Who could let me in when I have locked myself out?": ("spare key",),
    "May I put up a shelf in the living room?": ("drilling",),
    "Would Tomas come along to the conference in Boston?": ("flying",),
    "Can I leave home for a week just like that?": ("insulin",),
    "How do we get to the coast at the weekend?": ("Fiat Panda",),
    "Is it fine to bring a puppy to the party for Ines?": ("dogs",),
    "Can I work on my computer while I stay by the lake?": ("neither electricity", "only on mains"),
    "Shall we toast my promotion with champagne?": ("alcohol",),
}


def rewriting_of(question: str, model: LanguageModel) -> tuple[Rewriting, float]:
    """What a model makes of a question, however long it takes, and the seconds that it took."""
    started = time.perf_counter()
    try:
        queries = rewrite(question, model.ask)
    except ModelOutputError:
        queries = ()
    return Rewriting(queries), time.perf_counter() - started


def rank(question: str, rewriting: Rewriting, memory: LocalMemory) -> int:
    """The 1-based place of the first statement that answers a question, 0 where none is found."""
    selection = Selection(Owner(memory.user_id, "benchmark"), memory.stores.clock())
    found = search(
        question, selection, memory.stores, memory.settings, top_k=30, threshold=0.0, rewritten=lambda: rewriting
    )
    texts = [hit.memory.text for hit in found.hits]
    answers = [any(part in text for part in QUESTIONS[question]) for text in texts]
    return answers.index(True) + 1 if any(answers) else 0


def hits_within(places: Sequence[int], depth: int) -> str:
    """How many of the questions have their answer among the first."""
    return f"{sum(0 < place <= depth for place in places)} of {len(places)}"


def main() -> None:
    """Ask every question both ways and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--host", default="")
    given = parser.parse_args()
    table = Table("question", "rank without", "with", "seconds", "also searched for", title=given.model)
    without: list[int] = []
    with_it: list[int] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalMemory.open(folder, ollama_host=given.host, llm_model=given.model) as memory,
    ):
        model = LanguageModel(memory.settings)
        for statement in STATEMENTS:
            memory.add(statement, infer=False)
        for question in track(QUESTIONS, description="asking", transient=True):
            rewriting, seconds = rewriting_of(question, model)
            without.append(rank(question, Rewriting(), memory))
            with_it.append(rank(question, rewriting, memory))
            places = (str(place or "–") for place in (without[-1], with_it[-1]))
            table.add_row(question, *places, f"{seconds:.1f}", "; ".join(rewriting.queries))
    for depth in (1, 3):
        table.add_row(f"answer within the first {depth}", hits_within(without, depth), hits_within(with_it, depth))
    Console().print(table)


if __name__ == "__main__":
    main()
