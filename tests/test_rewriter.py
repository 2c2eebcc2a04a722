"""Searches with rewriting, over a real server that speaks Ollama's format: better found, never held up."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from mcp_memory.fuse import FUSED
from mcp_memory.language_model import LanguageModel
from mcp_memory.memory import LocalMemory
from mcp_memory.rewrite import Rewriting
from mcp_memory.rewriter import BUSY, LOADING, Rewriter
from mcp_memory.search_records import SearchResult
from mcp_memory.settings import load_settings
from tests.conftest import Opener
from tests.ollama_server import HTML, PATIENCE_S, OllamaServer, Step, failure, part, reply, tags

LOADED = tags({"name": "tiny:latest", "model": "tiny:latest"})
NOT_LOADED = tags()
# The server has one token to give and that is no answer; the model is there.
ONE_TOKEN = reply("{", prompt_eval_count=1500, done_reason="length")
QUESTION = "What should I not cook for her?"
ALLERGY = "The user's sister Greta is allergic to hazelnuts."
PAN = "The user likes to cook with a cast iron pan."
NOTES = (
    ALLERGY,
    PAN,
    "The user's mother wants the roof mended before winter.",
    "The user's landlord does not allow drilling into the walls.",
    "The user's colleague Tomas is afraid of flying.",
)
KEY = "gh" + "p_" + "a1B2" * 9


def queries(*texts: str) -> Step:
    """A model's answer to a request that was read whole."""
    return reply(json.dumps({"queries": texts}), prompt_eval_count=1500)


def open_with(open_memory: Opener, server: OllamaServer, **settings: Any) -> LocalMemory:
    given = {"ollama_host": server.url, "llm_model": "tiny", "rewrite_queries": True, "rewrite_wait_s": PATIENCE_S}
    return open_memory(**(given | settings))


@pytest.fixture
def memory(open_memory: Opener, server: OllamaServer) -> LocalMemory:
    return with_notes(open_with(open_memory, server))


def with_notes(memory: LocalMemory) -> LocalMemory:
    for note in NOTES:
        memory.add(note, infer=False)
    return memory


def texts(result: SearchResult) -> list[str]:
    return [hit.memory.text for hit in result.hits]


def asked(server: OllamaServer) -> list[str]:
    return [request.target for request in server.requests]


# What it brings


def test_an_indirect_question_finds_its_answer_by_the_rewriting_only(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(LOADED, queries(), LOADED, queries("food she is allergic to", "allergic"))
    assert texts(memory.search(QUESTION, threshold=0.1)) == [PAN]
    result = memory.search(QUESTION, threshold=0.1)
    assert texts(result) == [PAN, ALLERGY]
    assert [hit.raised_by for hit in result.hits] == ["", "allergic"]
    assert result.rewritten == ("food she is allergic to", "allergic")
    assert (result.degraded, result.notice) == ((), "")
    assert asked(server) == ["/api/ps", "/api/chat"] * 2


def test_where_the_question_itself_finds_nothing_relevant_its_rewriting_may(
    open_memory: Opener, server: OllamaServer
) -> None:
    memory = open_with(open_memory, server)
    memory.add(ALLERGY, infer=False)
    server.script(LOADED, queries(), LOADED, queries("food she is allergic to"))
    assert "Nothing relevant" in memory.search(QUESTION).notice
    assert texts(memory.search(QUESTION)) == [ALLERGY]


def test_rewriting_is_off_by_default_and_then_nothing_is_asked(open_memory: Opener, server: OllamaServer) -> None:
    memory = with_notes(open_memory(ollama_host=server.url, llm_model="tiny"))
    memory.warm()
    result = memory.search(QUESTION)
    assert server.requests == []
    assert (result.rewritten, result.degraded, result.notice) == ((), (), "")


def test_what_the_question_itself_finds_is_still_there_and_no_less_relevant(
    memory: LocalMemory, server: OllamaServer
) -> None:
    server.script(LOADED, queries(), LOADED, queries("fear of flying", "roof and winter"))
    plain = {hit.memory.text: hit.relevance for hit in memory.search(QUESTION).hits}
    found = {hit.memory.text: hit.relevance for hit in memory.search(QUESTION).hits}
    assert max(plain, key=lambda text: plain[text]) == PAN
    assert all(found[text] >= relevance for text, relevance in plain.items())


def test_signals_add_up_to_relevance_whoever_raised_a_memory(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(LOADED, queries("allergic to hazelnuts"))
    hits = memory.search(QUESTION).hits
    assert {bool(hit.raised_by) for hit in hits} == {True, False}
    for hit in hits:
        names = ("semantic", "keyword", "entity", "neighbour", "exact", "speaker", "fact", "date")
        total = sum(getattr(FUSED, name) * getattr(hit.signals, name) for name in names)
        assert hit.relevance == pytest.approx(total / FUSED.scale, abs=1e-5)


def test_where_nothing_is_relevant_a_rewriting_of_nothing_does_not_make_it_so(
    open_memory: Opener, server: OllamaServer
) -> None:
    memory = with_notes(open_with(open_memory, server, floor=0.2))
    server.script(LOADED, queries("exchange rate", "currency"))
    result = memory.search("How many zloty is that?")
    assert result.hits == ()
    assert "Nothing relevant is remembered" in result.notice


def test_names_stay_those_of_the_question(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(LOADED, queries("tomas allergies", "Tomas Hazelnuts"))
    result = memory.search(QUESTION)
    assert result.rewritten == ("tomas allergies",)
    assert all(hit.signals.entity == 0 for hit in result.hits)


def test_the_gated_ranking_takes_the_pool_of_each_wording(open_memory: Opener, server: OllamaServer) -> None:
    memory = with_notes(open_with(open_memory, server, ranking="gated"))
    server.script(LOADED, queries("food she is allergic to"))
    [_, hit, *_] = memory.search(QUESTION).hits
    assert (hit.memory.text, hit.raised_by) == (ALLERGY, "food she is allergic to")


def test_a_question_in_a_literal_form_keeps_what_it_asks_for(memory: LocalMemory, server: OllamaServer) -> None:
    memory.add("Invoice INV-2041 is paid", infer=False)
    memory.add("Invoice INV-2042 is open", infer=False)
    server.script(LOADED, queries("open invoice"))
    assert texts(memory.search("INV-2041"))[0] == "Invoice INV-2041 is paid"


# What is sent


def test_the_request_names_the_model_and_holds_no_secret(open_memory: Opener, server: OllamaServer) -> None:
    memory = open_with(open_memory, server, rewrite_model="mini:1b")
    memory.add("My key is for the staging server", infer=False)
    server.script(tags({"name": "mini:1b", "model": "mini:1b"}), queries("staging server"))
    memory.search(f"Which server is {KEY} for?")
    request = server.requests[-1].body
    assert request["model"] == "mini:1b"
    assert request["options"]["num_predict"] <= 100
    assert all(KEY not in json.dumps(request.body) for request in server.requests)


def test_calls_for_rewriting_are_counted(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(LOADED, queries("allergy"))
    memory.search(QUESTION)
    assert (memory.model_use.n_calls, memory.model_use.n_prompt_tokens) == (1, 1500)


def test_extraction_under_way_neither_holds_a_rewriting_up_nor_is_ended_by_it(
    open_memory: Opener, server: OllamaServer
) -> None:
    memory = with_notes(open_with(open_memory, server, add_wait_s=0.0))
    facts = json.dumps({"kind": "about_user", "facts": ["The user keeps bees."]})
    server.script(Step([part(facts)], ending="hold"))
    memory.add("I keep bees")
    server.wait_until_held()
    server.script(LOADED, queries("food she is allergic to"), reply(facts, prompt_eval_count=1500))
    assert memory.search(QUESTION).rewritten == ("food she is allergic to",)
    assert server.most_at_once == 2
    server.release()
    assert memory.settle_queue(PATIENCE_S)
    assert "The user keeps bees." in [record.text for record in memory.list()]


# What fails


def unhindered(memory: LocalMemory, reason: str) -> SearchResult:
    """A search that had to do without rewriting: it finds what the question finds, and says why."""
    result = memory.search(QUESTION)
    assert texts(result)[0] == PAN
    assert result.rewritten == ()
    assert result.degraded == ("rewrite",)
    assert reason in result.notice, result.notice
    return result


SLOW = [
    Step(status=None, ending="hold"),
    Step([], ending="hold"),
    Step([part('{"queries": ["allergy"]')] * 2, ending="hold"),
    Step([part("a")] * 10_000, pause_s=0.01),
]


@pytest.mark.parametrize("step", SLOW, ids=["silent", "headers only", "stuck", "slow stream"])
def test_a_slow_model_is_given_up_and_the_server_told(open_memory: Opener, server: OllamaServer, step: Step) -> None:
    memory = with_notes(open_with(open_memory, server, rewrite_wait_s=0.5))
    server.script(LOADED, step)
    unhindered(memory, "'tiny' did not answer in 0.5 s (raise MCP_MEMORY_REWRITE_WAIT_S")
    server.wait_until_left()


def test_a_server_that_hangs_at_the_first_question_holds_nothing_up(open_memory: Opener, server: OllamaServer) -> None:
    memory = with_notes(open_with(open_memory, server, rewrite_wait_s=0.5))
    server.script(Step(status=None, ending="hold"))
    unhindered(memory, "did not answer in")
    server.wait_until_left()


def test_an_absent_server_is_told_once_and_left_alone_for_a_while(open_memory: Opener) -> None:
    memory = with_notes(open_memory(rewrite_queries=True, rewrite_wait_s=PATIENCE_S))
    unhindered(memory, "Ollama does not answer at http://127.0.0.1:9")
    again = memory.search(QUESTION)
    assert (again.degraded, again.notice) == (("rewrite",), "")


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([Step([HTML], content_type="text/html")], "not in Ollama's format"),
        ([failure(404, {"error": "not found"})], "refused (status 404)"),
        ([LOADED, failure(404, {"error": "model 'tiny' not found"})], "run: ollama pull tiny"),
        ([LOADED, failure(503, {"error": "server busy"})], "busy (status 503)"),
        ([LOADED, Step([part('{"queries": ["all')], ending="reset")], "broke"),
        ([LOADED, reply("I would ask her first.", prompt_eval_count=1500)], "no JSON"),
        ([LOADED, reply('{"queries": "diet"}', prompt_eval_count=1500)], "no list of texts"),
    ],
    ids=["html", "no such page", "missing model", "busy", "reset", "prose", "wrong form"],
)
def test_a_server_in_trouble_and_a_nonsense_answer_leave_the_question_as_it_stands(
    memory: LocalMemory, server: OllamaServer, steps: list[Step], reason: str
) -> None:
    server.script(*steps)
    unhindered(memory, reason)


def test_an_answer_of_inventions_only_is_no_failure(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(LOADED, queries("Clara Hopkins", "what Brunhalde likes"))
    result = memory.search(QUESTION)
    assert (result.rewritten, result.degraded, result.notice) == ((), (), "")


def test_a_question_that_is_too_long_is_not_sent(memory: LocalMemory, server: OllamaServer) -> None:
    result = memory.search("cook " * 300)
    assert server.requests == []
    assert (result.degraded, result.notice) == ((), "")


def test_a_model_that_is_not_loaded_is_loaded_beside_the_searches(memory: LocalMemory, server: OllamaServer) -> None:
    # Asked with a short time it would never be: Ollama gives a load up when its client leaves.
    server.script(NOT_LOADED, Step(status=None, ending="hold"))
    unhindered(memory, LOADING)
    server.wait_until_held()
    assert memory.search(QUESTION).degraded == ("rewrite",)
    assert asked(server) == ["/api/ps", "/api/chat"]
    assert server.requests[-1].body["options"]["num_predict"] == 1


def test_closing_ends_what_is_under_way(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(NOT_LOADED, Step([part("{")], ending="hold"))
    memory.search(QUESTION)
    server.wait_until_held()
    memory.close()
    server.wait_until_left()


def test_warming_up_loads_the_model(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(Step([part("{")], ending="hold"))
    memory.warm()
    server.wait_until_held()
    [request] = server.requests
    assert request.body["options"]["num_predict"] == 1
    assert request.body["messages"][0]["role"] == "system"


# The rewriter by itself, with a clock to set


class Ticks:
    """Seconds that pass when told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def ticks() -> Ticks:
    return Ticks()


@pytest.fixture
def rewriter(server: OllamaServer, ticks: Ticks) -> Iterator[Rewriter]:
    settings = load_settings(ollama_host=server.url, llm_model="tiny", rewrite_wait_s=PATIENCE_S, llm_retry_s=60)
    running = Rewriter(LanguageModel(settings), settings, ticks)
    yield running
    running.close()


def test_after_a_failure_the_model_is_left_alone_for_a_minute(
    rewriter: Rewriter, server: OllamaServer, ticks: Ticks
) -> None:
    server.script(failure(503, {"error": "busy"}))
    first = rewriter.begin(QUESTION)()
    assert first.is_missing
    assert "busy" in first.notice
    ticks.now = 59.0
    assert rewriter.begin(QUESTION)() == Rewriting(is_missing=True)
    assert len(server.requests) == 1
    ticks.now = 61.0
    server.script(LOADED, queries("allergy"))
    assert rewriter.begin(QUESTION)() == Rewriting(("allergy",))


def test_trouble_is_told_again_once_it_had_been_over(rewriter: Rewriter, server: OllamaServer) -> None:
    nonsense = reply("no", prompt_eval_count=1500)
    server.script(LOADED, nonsense, LOADED, nonsense, LOADED, queries("allergy"), LOADED, nonsense)
    told = [bool(rewriter.begin(QUESTION)().notice) for _ in range(4)]
    assert told == [True, False, False, True]


def test_an_answer_that_cannot_be_used_does_not_keep_the_next_question_from_being_asked(
    rewriter: Rewriter, server: OllamaServer
) -> None:
    server.script(LOADED, reply("no", prompt_eval_count=1500), LOADED, queries("allergy"))
    assert rewriter.begin(QUESTION)().is_missing
    assert rewriter.begin(QUESTION)() == Rewriting(("allergy",))


def test_a_loaded_model_is_asked_at_the_next_question(rewriter: Rewriter, server: OllamaServer) -> None:
    server.script(NOT_LOADED, ONE_TOKEN, LOADED, queries("allergy"))
    assert rewriter.begin(QUESTION)().is_missing
    wait_until_idle(rewriter)
    assert rewriter.begin(QUESTION)() == Rewriting(("allergy",))
    assert asked(server) == ["/api/ps", "/api/chat"] * 2


def wait_until_idle(rewriter: Rewriter) -> None:
    """Return when the rewriter's only thread has done what it was given."""
    rewriter._thread.submit(lambda: None).result(PATIENCE_S)


def test_a_load_that_fails_is_told_and_not_tried_again_at_once(
    rewriter: Rewriter, server: OllamaServer, ticks: Ticks
) -> None:
    server.script(NOT_LOADED, failure(404, {"error": "model 'tiny' not found"}))
    assert LOADING in rewriter.begin(QUESTION)().notice
    wait_until_idle(rewriter)
    assert "run: ollama pull tiny" in rewriter.begin(QUESTION)().notice
    assert len(server.requests) == 2


def test_a_name_is_known_in_each_of_its_spellings(server: OllamaServer) -> None:
    for name in ("tiny", "Tiny", "tiny:latest", "library/tiny", "registry.ollama.ai/library/tiny:latest"):
        server.script(LOADED)
        model = LanguageModel(load_settings(ollama_host=server.url, llm_model=name))
        assert model.is_loaded(PATIENCE_S), name
    server.script(tags({"name": "tiny:1b", "model": "tiny:1b"}))
    assert not LanguageModel(load_settings(ollama_host=server.url, llm_model="tiny")).is_loaded(PATIENCE_S)


class Stuck(LanguageModel):
    """A model whose client does not keep its time: a name server that hangs, say."""

    def __init__(self) -> None:
        super().__init__(load_settings())
        self.let_go = threading.Event()

    def is_loaded(self, within_s: float) -> bool:  # noqa: ARG002 - the real one's signature
        self.let_go.wait()
        return False


@pytest.fixture
def stuck() -> Iterator[Stuck]:
    model = Stuck()
    yield model
    model.let_go.set()


def test_a_client_that_does_not_keep_its_time_holds_nothing_up(stuck: Stuck) -> None:
    rewriter = Rewriter(stuck, load_settings(rewrite_wait_s=0.05, llm_retry_s=60))
    first, second = rewriter.begin(QUESTION), rewriter.begin(QUESTION)
    assert "did not answer in 0.05 s" in first().notice
    assert BUSY in second().notice
    stuck.let_go.set()
    rewriter.close()


def test_a_search_that_only_waited_for_another_says_nothing_about_the_model(stuck: Stuck) -> None:
    rewriter = Rewriter(stuck, load_settings(rewrite_wait_s=0.05, llm_retry_s=60))
    rewriter.begin(QUESTION)
    assert BUSY in rewriter.begin(QUESTION)().notice
    assert BUSY not in rewriter._find_trouble()
    stuck.let_go.set()
    rewriter.close()


def test_an_error_that_nobody_foresaw_reaches_the_log_and_not_the_search(
    server: OllamaServer, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(LanguageModel):
        def is_loaded(self, within_s: float) -> bool:  # noqa: ARG002 - the real one's signature
            raise ZeroDivisionError

    rewriter = Rewriter(Broken(load_settings()), load_settings(rewrite_wait_s=PATIENCE_S))
    assert "unexpected error (ZeroDivisionError)" in rewriter.begin(QUESTION)().notice
    assert "unexpected error in rewriting" in caplog.text
    rewriter.close()


def test_a_closed_rewriter_leaves_questions_as_they_are(server: OllamaServer) -> None:
    settings = load_settings(ollama_host=server.url)
    rewriter = Rewriter(LanguageModel(settings), settings)
    rewriter.close()
    rewriter.close()
    rewriter.prepare()
    assert rewriter.begin(QUESTION)().queries == ()
    assert server.requests == []
