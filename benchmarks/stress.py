"""Clients that add and search at once while the engine is killed again and again: is every acknowledged add there once?

    python benchmarks/stress.py [--clients 4] [--adds 1000] [--kills 20] [--seed 1] [--deadline 60]

Each client is that of the MCP SDK over `mcp-memory serve`; a call that is answered with "repeat" is repeated as told.
The engine is ended by SIGKILL while clients are attached, at moments drawn by the seed over all adds; after every
third of those kills the next engine is killed too, while it starts. Every tenth add is followed by a question and by a
search for what another client has just been told is stored. Exits with 1 unless nothing is lost, doubled or wrong.
"""

import argparse
import contextlib
import json
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import anyio
import psutil
from hosts import Place, end_like_interrupted, is_there, mcp_client, memory_command
from mcp import Client, MCPError
from rich.console import Console
from rich.table import Table
from texts import questions, sentence

from mcp_memory.memory import LocalMemory

AGENTS = "abcdefgh"
SEARCH_EVERY = 10
# Every third kill is followed by one during the start that it causes.
START_KILL_EVERY = 3
# A start takes about as long, from the process to the first answered call.
START_S = 3.0
N_SEARCHED_AFTERWARDS = 100
_PAGE = 1000
_LOOK_EVERY_S = 0.002
_MAX_TRIES = 100
_AFTER_ERROR_S = 0.1


@dataclass(frozen=True)
class Plan:
    """What is to happen."""

    n_clients: int = 4
    n_adds: int = 1000
    n_kills: int = 20
    seed: int = 1
    deadline_s: float = 3600.0


@dataclass
class Outcome:
    """What came of it; texts by the client that was told they are stored."""

    acknowledged: dict[str, str] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    # Stored under another client's name.
    misattributed: list[str] = field(default_factory=list)
    # Stored without having been acknowledged, though each call was repeated until it was.
    unasked: list[str] = field(default_factory=list)
    # Not among the hits of another client that searched after the acknowledgement.
    unseen: list[str] = field(default_factory=list)
    # Not among the hits of a search at the end.
    not_found: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    n_repeated: int = 0
    n_searches: int = 0
    n_kills: int = 0
    n_kills_at_start: int = 0
    n_engines: int = 0
    duration_s: float = 0.0
    in_time: bool = False
    verified: str = "not tried"

    def is_clean(self, plan: Plan) -> bool:
        """Whether all that was planned happened, and all is as it should be."""
        wrong = (
            self.lost, self.doubled, self.misattributed, self.unasked, self.unseen, self.not_found, self.errors
        )  # fmt: skip
        happened = self.in_time and self.n_kills == plan.n_kills
        return happened and not any(wrong) and self.verified == "yes"


class Stress:
    """One run: clients, and whoever kills their engine."""

    def __init__(self, plan: Plan, place: Place) -> None:
        self._plan = plan
        self._place = place
        self._random = random.Random(plan.seed)
        self.outcome = Outcome()
        self._newest: dict[str, str] = {}
        self._n_attached = 0

    async def run(self) -> None:
        """Let the clients add all they have, within the deadline."""
        began = time.monotonic()
        with anyio.move_on_after(self._plan.deadline_s) as limit:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._kill_engines)
                async with anyio.create_task_group() as clients:
                    for place in range(self._plan.n_clients):
                        clients.start_soon(self._client, place)
                tasks.cancel_scope.cancel()
        self.outcome.in_time = not limit.cancelled_caught
        self.outcome.duration_s = time.monotonic() - began

    async def _client(self, place: int) -> None:
        agent = AGENTS[place]
        async with mcp_client(agent) as client:
            self._n_attached += 1
            for number in range(self._plan.n_adds):
                text = sentence(place * self._plan.n_adds + number)
                await self._add(client, agent, text)
                if number % SEARCH_EVERY == SEARCH_EVERY - 1:
                    await self._ask(client, "search_memory", query=questions(number + 1)[-1])
                    await self._look_for_anothers(client, agent)

    async def _add(self, client: Client, agent: str, text: str) -> None:
        answer = await self._ask(client, "add_memory", text=text, infer=False)
        if answer is None:
            return
        status = [receipt["status"] for receipt in answer["results"]]
        if status not in (["added"], ["duplicate"]):
            self.outcome.errors.append(f"{text!r} was answered with {status}")
            return
        self.outcome.acknowledged[text] = agent
        self._newest[agent] = text

    async def _look_for_anothers(self, client: Client, agent: str) -> None:
        others = [text for name, text in self._newest.items() if name != agent]
        if not others:
            return
        text = self._random.choice(others)
        answer = await self._ask(client, "search_memory", query=text)
        if answer is not None and text not in [hit["text"] for hit in answer["memories"]]:
            self.outcome.unseen.append(f"{text!r}, degraded: {answer.get('degraded')}, notice: {answer.get('notice')}")

    async def _ask(self, client: Client, tool: str, **arguments: object) -> Mapping[str, Any] | None:
        """The answer to a call, repeated for as long as that is what the answer says; None when it never comes."""
        self.outcome.n_searches += tool == "search_memory"
        for _ in range(_MAX_TRIES):
            try:
                result = await client.call_tool(tool, arguments)
            except MCPError as exc:
                said = str(exc)
            else:
                if not result.is_error:
                    return dict(result.structured_content or {})
                said = " ".join(getattr(block, "text", "") for block in result.content)
            if "repeat" in said:
                self.outcome.n_repeated += 1
                continue
            self.outcome.errors.append(f"{tool}: {said}")
            await anyio.sleep(_AFTER_ERROR_S)
        self.outcome.errors.append(f"{tool} {arguments} was given up after {_MAX_TRIES} tries")
        return None

    async def _kill_engines(self) -> None:
        n_all = self._plan.n_clients * self._plan.n_adds
        # Towards the end clients leave, and an engine without clients is no matter for this.
        moments = sorted(self._random.sample(range(1, max(n_all * 9 // 10, 2)), self._plan.n_kills))
        for number, moment in enumerate(moments, start=1):
            while len(self.outcome.acknowledged) < moment or self._n_attached < self._plan.n_clients:
                await anyio.sleep(_LOOK_EVERY_S)
            await anyio.sleep(self._random.uniform(0, 0.1))
            killed = await self._kill(await self._attached_engine())
            self.outcome.n_kills += 1
            if number % START_KILL_EVERY == 0:
                starting = await self._starting_engine(killed)
                await anyio.sleep(self._random.uniform(0, START_S))
                if is_there(starting):
                    await self._kill(starting)
                    self.outcome.n_kills_at_start += 1

    async def _attached_engine(self) -> psutil.Process:
        while True:
            with contextlib.suppress(psutil.Error):
                engine = self._place.listening_engine()
                if engine and any(c.status == psutil.CONN_ESTABLISHED for c in engine.net_connections("tcp")):
                    return engine
            await anyio.sleep(_LOOK_EVERY_S)

    async def _starting_engine(self, killed: int) -> psutil.Process:
        while True:
            if engines := [engine for engine in self._place.engines() if engine.pid != killed]:
                return engines[0]
            await anyio.sleep(_LOOK_EVERY_S)

    async def _kill(self, engine: psutil.Process) -> int:
        with contextlib.suppress(psutil.NoSuchProcess):
            engine.kill()
        # A shim is its parent and need not have looked after it yet.
        while is_there(engine):
            await anyio.sleep(_LOOK_EVERY_S)
        return engine.pid


def compare(outcome: Outcome, plan: Plan, place: Place) -> None:
    """End the engine, read everything back in this process, and look for what was acknowledged."""
    subprocess.run(memory_command("engine", "stop"), capture_output=True, timeout=60, check=True)
    held: Counter[str] = Counter()
    authors: dict[str, str] = {}
    with LocalMemory.open(place.home) as memory:
        while page := memory.list(limit=_PAGE, offset=held.total()):
            held.update(record.text for record in page)
            authors |= {record.text: record.agent_id for record in page}
        told = outcome.acknowledged
        outcome.lost = [text for text in told if not held[text]]
        outcome.doubled = [text for text, n in held.items() if n > 1]
        outcome.misattributed = [text for text, agent in told.items() if authors.get(text, agent) != agent]
        outcome.unasked = [text for text in held if text not in told]
        sample = random.Random(plan.seed).sample(sorted(told), min(N_SEARCHED_AFTERWARDS, len(told)))
        outcome.not_found = [
            text for text in sample if text not in [hit.memory.text for hit in memory.search(text).hits]
        ]
    outcome.n_engines = len(re.findall(r"listen\w+ on port", place.log_of_engines()))
    run = subprocess.run(memory_command("verify"), capture_output=True, text=True, timeout=600, check=False)
    outcome.verified = "yes" if run.returncode == 0 else f"no: {run.stdout}{run.stderr}".strip()


def stress(plan: Plan) -> Outcome:
    """Run a plan in a folder of its own; nothing is left of it."""
    # Long enough to be there when the run is read back.
    with Place(ENGINE_IDLE_S="30") as place:
        run = Stress(plan, place)
        anyio.run(run.run)
        compare(run.outcome, plan, place)
        return run.outcome


def shown(outcome: Outcome) -> Table:
    """The outcome as a table."""
    n_told = len(outcome.acknowledged)
    table = Table("what", "figure")
    for name, value in (
        ("acknowledged adds", n_told),
        ("lost", len(outcome.lost)),
        ("doubled", len(outcome.doubled)),
        ("stored but never acknowledged", len(outcome.unasked)),
        ("under another client's name", len(outcome.misattributed)),
        ("unexpected errors", len(outcome.errors)),
        ("not seen by another client right after", len(outcome.unseen)),
        ("not found by searching at the end", len(outcome.not_found)),
        ("found in order by verify", outcome.verified),
        ("calls repeated as told", outcome.n_repeated),
        ("searches", outcome.n_searches),
        ("kills with clients attached", outcome.n_kills),
        ("kills while starting", outcome.n_kills_at_start),
        ("engines that came to listen", outcome.n_engines),
        ("duration (s)", round(outcome.duration_s, 1)),
        ("adds a second", round(n_told / outcome.duration_s, 1)),
        ("within the deadline", "yes" if outcome.in_time else "no"),
    ):
        table.add_row(name, str(value))
    return table


def main() -> None:
    """Run, print, and say by the exit status whether all was as it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=Plan.n_clients, choices=range(2, len(AGENTS) + 1))
    parser.add_argument("--adds", type=int, default=Plan.n_adds, help="of each client")
    parser.add_argument("--kills", type=int, default=Plan.n_kills, help="with clients attached; fewer than all adds")
    parser.add_argument("--seed", type=int, default=Plan.seed)
    parser.add_argument("--deadline", type=float, default=Plan.deadline_s / 60, help="minutes")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    end_like_interrupted()
    plan = Plan(given.clients, given.adds, given.kills, given.seed, given.deadline * 60)
    outcome = stress(plan)
    console = Console()
    console.print(shown(outcome))
    for name in ("lost", "doubled", "unasked", "misattributed", "errors", "unseen", "not_found"):
        for text, n in Counter(getattr(outcome, name)).most_common(20):
            console.print(f"{name}: {text}" + (f" ({n} times)" if n > 1 else ""), markup=False)
    if given.json:
        given.json.write_text(json.dumps(asdict(outcome), indent=1), encoding="utf-8")
    sys.exit(not outcome.is_clean(plan))


if __name__ == "__main__":
    main()
