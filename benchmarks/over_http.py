"""Clients of two users ask one server over HTTP at once, and try each other's ids: what leaks, how long do calls take?

    python benchmarks/over_http.py [--clients 20] [--calls 2000] [--seed 1] [--json out.json]

Every text bears a mark of its user. An answer with the other user's mark is a leak, and so is a try with the other
user's id that is not refused. At the end each user's memories are compared with what that user's clients were told.
Calls are mixed: adds, searches, deletes, single memories, lists, histories, resources, and tries. The clients are
threads of one Python process beside the server: on few cores they slow it down. Exits with 1 unless all is as it
should be.
"""

import argparse
import http.client
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hosts import ANSWER_S, Place, end_like_interrupted, memory_command, wait_until
from rich.console import Console
from rich.table import Table
from texts import questions, sentence

from mcp_memory.client import Memory

USERS = ("ana", "rui")
OUTPUT = "served.txt"
_PAGE = 500


@dataclass(frozen=True)
class Plan:
    """What is to happen: calls in all, of all clients, half of whom are each user's."""

    n_clients: int = 20
    n_calls: int = 2000
    seed: int = 1


@dataclass
class Outcome:
    """What came of it; times in milliseconds by kind of call."""

    times: dict[str, list[float]] = field(default_factory=dict)
    # Answers that hold what is the other user's.
    leaks: list[str] = field(default_factory=list)
    # Tries with the other user's ids that were not refused.
    let_in: list[str] = field(default_factory=list)
    # Told as stored and not deleted by their user, and not there; or there, and not told.
    lost: list[str] = field(default_factory=list)
    unasked: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    duration_s: float = 0.0

    @property
    def n_calls(self) -> int:
        """How many calls were answered."""
        return sum(map(len, self.times.values()))

    def is_clean(self, plan: Plan) -> bool:
        """Whether all that was planned was done, and nothing came where it does not belong."""
        flaws = (self.leaks, self.let_in, self.lost, self.unasked, self.errors)
        return not any(flaws) and self.n_calls == plan.n_calls


def mark_of(user: str) -> str:
    """A word that stands in every text of a user and in no other."""
    return f"mark{user}qz"


@dataclass
class Known:
    """What is known of a user's memories: ids with their texts, those deleted, and ids of changes."""

    stored: dict[str, str] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    changes: list[str] = field(default_factory=list)


class Asker:
    """One client over one connection."""

    def __init__(self, place: tuple[str, int], token: str) -> None:
        self._connection = http.client.HTTPConnection(*place, timeout=ANSWER_S)
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-06-18",
        }
        self._n_asked = 0

    def close(self) -> None:
        """Let go of it."""
        self._connection.close()

    def ask(self, method: str, **params: Any) -> tuple[Any, str]:
        """The answer to a request, as a message and as it came.

        Raises:
            RuntimeError: there is none.
        """
        self._n_asked += 1
        request = {"jsonrpc": "2.0", "id": self._n_asked, "method": method, "params": params}
        self._connection.request("POST", "/mcp", json.dumps(request), self._headers)
        answer = self._connection.getresponse()
        raw = answer.read().decode()
        lines = [line.removeprefix("data: ") for line in raw.splitlines() if line.startswith("data: ")]
        if answer.status != http.HTTPStatus.OK or not lines:
            raise RuntimeError(f"{answer.status} {raw[:300]}")
        return json.loads(lines[-1]), raw


class Client:
    """One client of a user, which draws what it does by a seed."""

    def __init__(
        self, number: int, user: str, asker: Asker, known: dict[str, Known], outcome: Outcome, seed: int
    ) -> None:
        self._number = number
        self._user = user
        self._asker = asker
        self._own, self._others = known[user], next(known[other] for other in USERS if other != user)
        self._foreign_mark = next(mark_of(other) for other in USERS if other != user)
        self._outcome = outcome
        self._random = random.Random(f"{seed} {number}")
        self._n_added = 0
        # Memories that only this client deletes.
        self._mine: list[str] = []

    def run(self, n_calls: int) -> None:
        """Make so many calls, one after the other."""
        doings: tuple[tuple[int, Callable[[], str]], ...] = (
            (30, self._add), (25, self._search), (5, self._delete), (8, self._get), (6, self._list),
            (6, self._history), (6, self._resource), (14, self._try),
        )  # fmt: skip
        weights = [weight for weight, _ in doings]
        for place in range(n_calls):
            [(_, do)] = self._random.choices(doings, weights) if place else [doings[0]]
            began = time.perf_counter()
            try:
                kind = do()
            except (RuntimeError, OSError, http.client.HTTPException) as exc:
                self._outcome.errors.append(f"{self._user}: {exc!r}"[:500])
                kind = "failed"
            self._outcome.times.setdefault(kind, []).append((time.perf_counter() - began) * 1e3)

    def _ask(self, method: str, **params: Any) -> Any:
        answer, raw = self._asker.ask(method, **params)
        if self._foreign_mark in raw:
            self._outcome.leaks.append(f"{self._user}: {method} {params} → {raw}"[:500])
        return answer

    def _call(self, tool: str, **arguments: Any) -> Any:
        result = self._ask("tools/call", name=tool, arguments=arguments).get("result", {})
        if result.get("isError") or "structuredContent" not in result:
            raise RuntimeError(f"{tool} {arguments}: {result}")
        return result["structuredContent"]

    def _add(self) -> str:
        self._n_added += 1
        text = f"{sentence(self._number * 10_000 + self._n_added)}, said {mark_of(self._user)}"
        receipt = self._call("add_memory", text=text, infer=False)["results"][0]
        self._own.stored[receipt["id"]] = text
        self._mine.append(receipt["id"])
        return "add"

    def _search(self) -> str:
        asked = self._random.choice([*questions(30), f"What was said by {self._foreign_mark}?"])
        self._call("search_memory", query=asked)
        return "search"

    def _delete(self) -> str:
        if not self._mine:
            return self._add()
        identifier = self._mine.pop(self._random.randrange(len(self._mine)))
        self._own.deleted.add(identifier)
        self._call("delete_memory", memory_id=identifier)
        return "delete"

    def _get(self) -> str:
        if not self._mine:
            return self._add()
        self._call("get_memory", memory_id=self._random.choice(self._mine))
        return "get"

    def _list(self) -> str:
        self._call("list_memories", limit=50, offset=self._random.choice((0, 20, 100, 10_000)))
        return "list"

    def _history(self) -> str:
        if not self._mine:
            return self._add()
        found = self._call("memory_history", memory_id=self._random.choice(self._mine))
        self._own.changes += [entry["change_id"] for entry in found["changes"]]
        return "history"

    def _resource(self) -> str:
        own = [f"memory://memories/{identifier}" for identifier in self._mine[-1:]]
        uri = self._random.choice(["memory://recent", "memory://profile", *own, *(f"{uri}/history" for uri in own)])
        if "result" not in (answer := self._ask("resources/read", uri=uri)):
            raise RuntimeError(f"{uri}: {answer}")
        return "resource"

    def _try(self) -> str:
        """Ask for what is the other user's, by ids that exist."""
        if not (there := list(self._others.stored)):
            return self._search()
        identifier = self._random.choice(there)
        changes = [("undo", {"change_id": change}) for change in self._others.changes[-20:]]
        tools: list[tuple[str, dict[str, Any]]] = [
            ("delete_memory", {"memory_id": identifier}),
            ("get_memory", {"memory_id": identifier}),
            ("memory_history", {"memory_id": identifier}),
            ("update_memory", {"memory_id": identifier, "text": f"I was here, {mark_of(self._user)}"}),
            ("rate_memory", {"memory_id": identifier, "useful": False}),
            ("why_not", {"memory_id": identifier, "query": "Who left the boat?"}),
            *([self._random.choice(changes)] if changes else []),
        ]
        uris = [f"memory://memories/{identifier}", f"memory://memories/{identifier}/history"]
        if self._random.random() < len(uris) / (len(uris) + len(tools)):
            uri = self._random.choice(uris)
            is_refused = "error" in self._ask("resources/read", uri=uri)
            tried = uri
        else:
            name, arguments = self._random.choice(tools)
            answer = self._ask("tools/call", name=name, arguments=arguments)
            is_refused, tried = answer.get("result", {}).get("isError", False), f"{name} {arguments}"
        if not is_refused:
            self._outcome.let_in.append(f"{self._user}: {tried}")
        return "try another's id"


@contextmanager
def served(place: Place) -> Iterator[tuple[str, int]]:
    """A server over HTTP on a folder: its host and port."""
    said = place.home / OUTPUT
    with said.open("wb") as output:
        process = subprocess.Popen(memory_command("serve", "--http", "127.0.0.1:0"), stdout=output)
    try:
        wait_until(lambda: b"\n" in said.read_bytes(), ANSWER_S)
        parts = urlsplit(said.read_text(encoding="utf-8").split()[-1])
        assert parts.hostname
        assert parts.port
        yield parts.hostname, parts.port
    finally:
        process.terminate()
        process.wait()


def token_of(user: str) -> str:
    """A new token of a user."""
    made = subprocess.run(memory_command("users", "add", user, "--json"), stdout=subprocess.PIPE, check=True)
    return str(json.loads(made.stdout)["token"])


def over_http(plan: Plan) -> Outcome:
    """Run a plan in a folder of its own; nothing is left of it."""
    outcome, known = Outcome(), {user: Known() for user in USERS}
    with Place(TOOLS="full", ENGINE_IDLE_S="30") as place:
        tokens = {user: token_of(user) for user in USERS}
        with served(place) as at:
            _ask(plan, at, tokens, known, outcome)
            for user in USERS:
                _compare(user, known[user], outcome)
    return outcome


def _ask(plan: Plan, at: tuple[str, int], tokens: Mapping[str, str], known: dict[str, Known], outcome: Outcome) -> None:
    """Have all clients make their calls at once."""
    shares = [plan.n_calls // plan.n_clients + (n < plan.n_calls % plan.n_clients) for n in range(plan.n_clients)]
    with ExitStack() as opened:
        clients = []
        for number in range(plan.n_clients):
            user = USERS[number % len(USERS)]
            asker = opened.enter_context(closing(Asker(at, tokens[user])))
            # The first call of all waits for the model; what is measured comes after.
            asker.ask("tools/call", name="search_memory", arguments={"query": "boat"})
            clients.append(Client(number, user, asker, known, outcome, plan.seed))
        began = time.monotonic()
        with ThreadPoolExecutor(plan.n_clients) as threads:
            list(threads.map(Client.run, clients, shares))
    outcome.duration_s = time.monotonic() - began


def _compare(user: str, known: Known, outcome: Outcome) -> None:
    """Whether a user's memory holds what was told, word for word, and nothing else."""
    found: dict[str, str] = {}
    with Memory(user_id=user) as memory:
        while page := memory.list(limit=_PAGE, offset=len(found)):
            found |= {record.id: record.text for record in page}
    wanted = {identifier: text for identifier, text in known.stored.items() if identifier not in known.deleted}
    outcome.lost += [text for identifier, text in wanted.items() if found.get(identifier) != text]
    outcome.unasked += [text for identifier, text in found.items() if identifier not in wanted]


def shown(outcome: Outcome) -> Table:
    """The outcome as a table."""
    table = Table("call", "n", "p50 ms", "p95 ms", "p99 ms")
    everything = [taken for times in outcome.times.values() for taken in times]
    for name, times in (*sorted(outcome.times.items()), ("all", everything)):
        cuts = statistics.quantiles(times, n=100) if len(times) > 1 else times * 99
        table.add_row(name, str(len(times)), *(f"{cuts[place - 1]:.0f}" for place in (50, 95, 99)))
    return table


def main() -> None:
    """Run, print, and say by the exit status whether all was as it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=Plan.n_clients)
    parser.add_argument("--calls", type=int, default=Plan.n_calls, help="in all")
    parser.add_argument("--seed", type=int, default=Plan.seed)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    end_like_interrupted()
    plan = Plan(given.clients, given.calls, given.seed)
    outcome = over_http(plan)
    console = Console()
    console.print(shown(outcome))
    console.print(f"{outcome.n_calls} calls in {outcome.duration_s:.1f} s, {plan.n_clients} clients of two users")
    for name in ("leaks", "let_in", "lost", "unasked", "errors"):
        found = getattr(outcome, name)
        console.print(f"{name.replace('_', ' ')}: {len(found)}")
        for text in found[:10]:
            console.print(f"  {text}", markup=False)
    if given.json:
        given.json.write_text(json.dumps(asdict(outcome), indent=1), encoding="utf-8")
    sys.exit(not outcome.is_clean(plan))


if __name__ == "__main__":
    main()
