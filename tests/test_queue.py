"""The queue over a real server that speaks Ollama's format: nothing is lost, nothing doubled, the receipt is true."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select

from mcp_memory import backlog, queue
from mcp_memory.engine import Engine
from mcp_memory.errors import ModelUnavailableError, StorageError
from mcp_memory.language_model import LanguageModel
from mcp_memory.memory import LocalMemory
from mcp_memory.queue import BACK_OFF
from mcp_memory.records import STATES, Job
from mcp_memory.schema import jobs
from mcp_memory.settings import load_settings
from mcp_memory.stores import Stores
from mcp_memory.turns import Turn
from tests.conftest import Clock, Opener
from tests.log_rows import events_of, last_messages
from tests.ollama_server import HTML, PATIENCE_S, OllamaServer, Step, facts, failure, kept_back, part, reply


def answer(content: str) -> Step:
    """A reply to a request that was read whole."""
    return reply(content, prompt_eval_count=1500)


NOTHING = facts(kind="other")


@pytest.fixture
def memory(open_memory: Opener, server: OllamaServer) -> LocalMemory:
    return open_with(open_memory, server)


def open_with(open_memory: Opener, server: OllamaServer, **settings: Any) -> LocalMemory:
    given = {"ollama_host": server.url, "llm_model": "tiny", "add_wait_s": PATIENCE_S, "llm_retry_s": 0.05}
    return open_memory(**(given | settings))


def texts(memory: LocalMemory, *states: str) -> list[str]:
    return sorted(record.text for record in memory.list(states=states or ("active",)))


def test_an_add_answers_with_what_was_read_out_of_it(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(facts("The user keeps bees.", "The user's sister Greta lives in Ghent."))
    result = memory.add("I keep bees, and my sister Greta lives in Ghent")
    assert [(receipt.status, receipt.text) for receipt in result.results] == [
        ("added", "The user keeps bees."),
        ("added", "The user's sister Greta lives in Ghent."),
    ]
    [hit, *_] = memory.search("Where does Greta live?").hits
    assert (hit.memory.text, hit.memory.kind, hit.memory.model) == (
        "The user's sister Greta lives in Ghent.",
        "fact",
        "tiny",
    )
    assert hit.memory.prompt.startswith("extract-")


def test_the_words_give_way_to_what_came_of_them_and_their_id_leads_on(
    memory: LocalMemory, server: OllamaServer
) -> None:
    server.script(facts("The user keeps bees."))
    result = memory.add("I keep bees")
    [raw] = memory.list(states=["distilled"])
    assert raw.superseded_by == result.results[0].id
    assert [hit.memory.text for hit in memory.search("bees").hits] == ["The user keeps bees."]


def test_what_holds_nothing_leaves_search_and_stays_in_the_list(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(NOTHING)
    [receipt] = memory.add("thanks, that was lovely of you!").results
    assert receipt.status == "ignored"
    assert memory.search("thanks lovely").hits == ()
    assert texts(memory, "distilled") == ["thanks, that was lovely of you!"]


@pytest.mark.parametrize(
    "step",
    [
        failure(503, {"error": "server busy, please try again. maximum pending requests exceeded"}),
        failure(404, {"error": "model 'tiny' not found"}),
        failure(404, {"error": 'model "tiny" not found, try pulling it first'}),
        Step(status=None, ending="reset"),
        Step([part('{"kind": "about')], ending="reset"),
        Step([part('{"kind"'), json.dumps({"error": "model 'tiny' not found"}) + "\n"]),
    ],
    ids=["busy", "missing", "missing, older text", "reset", "cut off", "removed midway"],
)
def test_a_server_in_trouble_leaves_the_words_searchable_and_is_asked_again(
    memory: LocalMemory, server: OllamaServer, clock: Clock, step: Step
) -> None:
    server.script(step, kept_back(facts("The user keeps bees.")))
    [receipt] = memory.add("I keep bees").results
    assert (receipt.status, receipt.text) == ("queued", "I keep bees")
    assert "model_unavailable" in receipt.reason
    # Asked again by itself; until the answer comes the words are all there is.
    server.wait_until_held()
    job, _ = backlog.next_job(memory.stores.log, clock())
    assert job
    assert (job.attempts, "model_unavailable" in job.last_error) == (0, True)
    assert texts(memory, *STATES) == ["I keep bees"]
    result = memory.search("bees")
    assert [(hit.memory.id, hit.memory.state) for hit in result.hits] == [(receipt.id, "raw")]
    assert "1 texts wait for extraction" in result.notice
    server.release()
    wait_for_jobs(memory)
    assert_gave_way(memory, receipt.id, "The user keeps bees.")
    assert len(server.asked("facts")) == 2
    assert backlog.count_jobs(memory.stores.log) == backlog.Waiting(n_waiting=0, n_failed=0, last_error="")


def assert_gave_way(memory: LocalMemory, raw_id: str, statement: str) -> None:
    """All there is: words that gave way to one statement, once in the log, the tables and searches."""
    # The log has what the tables are told of a moment later, before the lock is free.
    with memory.stores.writing:
        [kept] = memory.list()
        [raw] = memory.list(states=["distilled"])
        assert len(memory.list(states=STATES)) == 2
    memory.settle()
    assert memory.stores.tables().memory_ids() == [kept.id]
    assert kept.text == statement
    assert (raw.id, raw.superseded_by) == (raw_id, kept.id)
    assert operations(memory, kept.id) == ["distil"]
    assert operations(memory, raw_id) == ["add", "distil"]
    assert [hit.memory.id for hit in memory.search(statement).hits] == [kept.id]


def operations(memory: LocalMemory, memory_id: str) -> list[str]:
    """What has been done to a memory, in order."""
    return [event["operation"] for event in events_of(memory.stores.log, memory_id)]


def test_a_model_that_is_away_is_told_once_in_the_next_search(open_memory: Opener) -> None:
    memory = open_memory()
    memory.add("I keep bees")
    memory.add("I have a cat")
    assert "2 texts wait for extraction and are found word for word: model_unavailable" in memory.search("bees").notice
    assert memory.search("bees").notice == ""


def wait_for_jobs(memory: LocalMemory) -> None:
    """Until every job is done, looking again whenever the queue has changed."""
    worker = memory._parts.queue
    worker.start()
    with worker._changed:
        assert worker._changed.wait_for(lambda: not backlog.count_jobs(memory.stores.log).n_waiting, 3 * PATIENCE_S)


@pytest.mark.parametrize(
    "steps",
    [
        [Step([HTML], content_type="text/html")],
        [Step(["[1, 2]\n"])],
        [Step([part("")])],
        [answer("I would rather not.")] * 2,
        [answer("<think>hmm, what is there")] * 2,
        [answer('{"facts": ["The user keeps bees."]}')] * 2,
        [answer('{"kind": "about_user", "facts": "bees"}')] * 2,
    ],
    ids=["html", "a list", "early end", "prose", "unclosed thoughts", "no gate", "wrong type"],
)
def test_nonsense_puts_the_job_off_and_a_later_answer_counts(
    memory: LocalMemory, server: OllamaServer, clock: Clock, steps: list[Step]
) -> None:
    server.script(*steps)
    [receipt] = memory.add("I keep bees").results
    assert receipt.status == "queued"
    assert texts(memory, "raw", "active") == ["I keep bees"]
    server.script(facts("The user keeps bees."))
    clock.advance(seconds=BACK_OFF[0].total_seconds() + 1)
    wait_for_jobs(memory)
    assert texts(memory) == ["The user keeps bees."]


def test_a_job_that_never_succeeds_leaves_the_persons_words(
    memory: LocalMemory, server: OllamaServer, clock: Clock
) -> None:
    server.script(*[answer("no")] * (2 * len(BACK_OFF) + 2))
    [receipt] = memory.add("I keep bees").results
    assert receipt.status == "queued"
    for pause in BACK_OFF:
        clock.advance(seconds=pause.total_seconds() + 1)
        assert memory.settle_queue(PATIENCE_S)
    wait_for_jobs(memory)
    [kept] = memory.list()
    assert (kept.text, kept.state, kept.model) == ("I keep bees", "active", "")
    counted = backlog.count_jobs(memory.stores.log)
    assert (counted.n_waiting, counted.n_failed) == (0, 1)
    assert "no JSON" in counted.last_error


@pytest.mark.parametrize(
    "content",
    [
        "<think>The user keeps bees?</think>{}",
        "```json\n{}\n```",
        "Here you are: {}",
    ],
)
def test_thoughts_fences_and_prose_around_an_answer_do_no_harm(
    memory: LocalMemory, server: OllamaServer, content: str
) -> None:
    facts = json.dumps({"kind": "about_user", "facts": ["The user keeps bees."]})
    server.script(answer(content.replace("{}", facts)))
    assert [receipt.text for receipt in memory.add("I keep bees").results] == ["The user keeps bees."]


CRASHED = failure(500, {"error": "llama runner process has terminated"})


@pytest.mark.parametrize("step", [CRASHED, Step(ending="hold")], ids=["crashes", "takes too long"])
def test_a_text_at_which_the_model_fails_is_put_off_and_others_go_on(
    open_memory: Opener, server: OllamaServer, step: Step
) -> None:
    memory = open_with(open_memory, server, llm_timeout_s=1.0)
    server.installed = ["tiny"]
    server.script(step, facts("The user has a cat."))
    [receipt] = memory.add("I keep bees", run_id="a").results
    assert (receipt.status, "model_unavailable" in receipt.reason) == ("queued", True)
    settle(memory)
    assert [receipt.text for receipt in memory.add("I have a cat", run_id="b").results] == ["The user has a cat."]
    assert waiting_jobs(memory) == [(1, BACK_OFF[0])]
    assert texts(memory, "raw") == ["I keep bees"]


def test_a_text_at_which_the_model_always_fails_keeps_its_words(
    memory: LocalMemory, server: OllamaServer, clock: Clock
) -> None:
    server.installed = ["tiny"]
    server.script(*[CRASHED] * (len(BACK_OFF) + 1))
    memory.add("I keep bees")
    for pause in BACK_OFF:
        clock.advance(seconds=pause.total_seconds() + 1)
        settle(memory)
    wait_for_jobs(memory)
    assert texts(memory) == ["I keep bees"]
    assert len(server.asked("facts")) == len(BACK_OFF) + 1
    assert backlog.count_jobs(memory.stores.log).n_failed == 1


def test_a_failing_server_is_asked_once_in_a_pause_whatever_waits(open_memory: Opener, server: OllamaServer) -> None:
    memory = open_with(open_memory, server, llm_retry_s=3600.0)
    server.installed = ["tiny"]
    server.script(CRASHED)
    for n in range(3):
        assert "llama runner" in memory.add(f"I keep {n} bees").results[0].reason
    assert len(server.asked("facts")) == 1
    assert sorted(attempts for attempts, _ in waiting_jobs(memory)) == [0, 0, 1]


@pytest.mark.parametrize("installed", [["another"], None], ids=["without the model", "that fails at everything"])
def test_at_a_failing_server_where_the_model_cannot_be_asked_all_wait(
    memory: LocalMemory, server: OllamaServer, installed: list[str] | None
) -> None:
    server.installed = installed
    server.script(CRASHED)
    memory.add("I keep bees")
    assert waiting_jobs(memory) == [(0, timedelta(0))]


def waiting_jobs(memory: LocalMemory) -> list[tuple[int, timedelta]]:
    """The attempts at each waiting job, and in what time it is due."""
    with memory.stores.log.reading() as connection:
        rows = connection.execute(select(jobs).where(jobs.c.state == "waiting").order_by(jobs.c.id)).all()
    return [(row.attempts, max(row.next_at - memory.stores.clock(), timedelta(0))) for row in rows]


def settle(memory: LocalMemory) -> None:
    """Until no job is due and no trouble is left, looking again whenever the queue has changed."""
    worker = memory._parts.queue
    worker.start()
    with worker._changed:
        assert worker._changed.wait_for(lambda: worker._is_idle() and not worker.trouble, PATIENCE_S)


def test_half_an_emoji_in_an_answer_does_no_harm(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(answer(r'{"kind": "about_user", "facts": ["The user keeps bees \ud83d."]}'))
    assert [receipt.text for receipt in memory.add("I keep bees").results] == ["The user keeps bees."]


def test_an_unexpected_error_puts_its_job_off_and_others_go_on(
    memory: LocalMemory, server: OllamaServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    fail_at(monkeypatch, "work_off", "I keep bees")
    server.script(facts("The user has a cat."))
    assert [receipt.status for receipt in memory.add("I keep bees", run_id="a").results] == ["queued"]
    assert [receipt.text for receipt in memory.add("I have a cat", run_id="b").results] == ["The user has a cat."]
    assert waiting_jobs(memory) == [(1, BACK_OFF[0])]
    assert backlog.count_jobs(memory.stores.log).last_error == "ZeroDivisionError"
    assert "unexpected error in job" in caplog.text


def test_words_that_cannot_even_be_kept_stay_as_they_wait_and_others_go_on(
    memory: LocalMemory, server: OllamaServer, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_at(monkeypatch, "work_off", "I keep bees")
    fail_at(monkeypatch, "keep_words", "I keep bees")
    memory.add("I keep bees")
    for pause in BACK_OFF:
        clock.advance(seconds=pause.total_seconds() + 1)
        settle(memory)
    assert job_states(memory) == ["failed"]
    assert [hit.memory.text for hit in memory.search("bees").hits] == ["I keep bees"]


def fail_at(monkeypatch: pytest.MonkeyPatch, step: str, text: str) -> None:
    """Put an error of our own into what the queue does with one text."""
    real = getattr(queue, step)

    def failing(job: Job, stores: Stores, *others: Any) -> Any:
        episode = backlog.get_episode(stores.log, job.episode_id)
        if episode and episode.messages[0].content == text:
            raise ZeroDivisionError(text)
        return real(job, stores, *others)

    monkeypatch.setattr(queue, step, failing)


def test_an_add_to_a_run_that_is_put_off_is_answered_at_once_with_the_reason(
    open_memory: Opener, server: OllamaServer
) -> None:
    memory = open_with(open_memory, server, add_wait_s=50.0)
    server.script(answer("no"), answer("no"))
    assert "no JSON" in memory.add("I keep bees", run_id="a").results[0].reason
    with ThreadPoolExecutor() as others:
        [receipt] = others.submit(memory.add, "I have a cat", run_id="a").result(PATIENCE_S).results
    assert receipt.status == "queued"
    assert "another text of its run comes first: model_output: the answer is no JSON" in receipt.reason


def test_an_add_whose_words_are_deleted_meanwhile_is_answered_at_once(
    open_memory: Opener, server: OllamaServer
) -> None:
    memory = open_with(open_memory, server, add_wait_s=50.0)
    server.script(kept_back(NOTHING))
    with ThreadPoolExecutor() as others:
        first = others.submit(memory.add, "I keep bees", run_id="a")
        server.wait_until_held()
        second = others.submit(memory.add, "I have a cat", run_id="b")
        worker = memory._parts.queue
        with worker._changed:
            # Two adds have woken the queue.
            assert worker._changed.wait_for(lambda: worker._n_wakes == 2, PATIENCE_S)
        [cat] = [record for record in memory.list() if "cat" in record.text]
        memory.delete(cat.id)
        assert [receipt.status for receipt in second.result(PATIENCE_S).results] == ["queued"]
        server.release()
        assert [receipt.status for receipt in first.result(PATIENCE_S).results] == ["ignored"]


def test_texts_that_cannot_be_read_are_told_once_when_put_off_and_once_when_given_up(
    memory: LocalMemory, server: OllamaServer, clock: Clock, open_memory: Opener
) -> None:
    server.script(*[answer("no")] * 16)
    memory.add("I keep bees")
    memory.add("I have a cat")
    assert memory.search("bees").notice == (
        "2 texts could not be read by the language model yet; they stay word for word and are tried again."
    )
    for pause in BACK_OFF:
        assert memory.search("bees").notice == ""
        clock.advance(seconds=pause.total_seconds() + 1)
        settle(memory)
    assert memory.search("bees").notice == ("2 texts could not be read by the language model and stay word for word.")
    assert memory.search("bees").notice == ""
    memory.close()
    again = open_with(open_memory, server)
    again.warm()
    assert again.search("bees").notice == ""


def test_a_text_that_was_read_at_last_is_not_told_of(memory: LocalMemory, server: OllamaServer, clock: Clock) -> None:
    server.script(answer("no"), answer("no"), facts("The user keeps bees."))
    memory.add("I keep bees")
    clock.advance(seconds=BACK_OFF[0].total_seconds() + 1)
    settle(memory)
    assert memory.search("bees").notice == ""


RASH, THE_RASH = "Maria Quintela gave me a rash", "Maria Quintela gave the user a rash."


def test_deleting_the_words_while_they_wait_cancels_the_job(open_memory: Opener, server: OllamaServer) -> None:
    memory = open_with(open_memory, server, add_wait_s=0.0)
    server.script(kept_back(facts("The user keeps bees.")), facts(THE_RASH))
    memory.add("I keep bees")
    server.wait_until_held()
    [receipt] = memory.add(RASH).results
    memory.delete(receipt.id)
    assert memory.stats()["jobs"] == 1
    server.release()
    wait_for_jobs(memory)
    assert_only_bees_are_left(memory, receipt.id)
    assert job_states(memory) == ["done", "cancelled"]
    assert len(server.asked("facts")) == 1


def test_deleting_the_words_while_they_are_read_drops_what_was_read(open_memory: Opener, server: OllamaServer) -> None:
    memory = open_with(open_memory, server, add_wait_s=0.0)
    server.script(kept_back(facts(THE_RASH)), facts("The user keeps bees."))
    item = {"n": 1, "kind": "fact", "subject": "the user", "type": "health", "relation": "", "object": "rash"}
    server.script_aside("items", {"items": [item]})
    [receipt] = memory.add(RASH).results
    server.wait_until_held()
    memory.delete(receipt.id)
    server.release()
    # Read after it by the same thread: once this is done, so is that.
    memory.add("I keep bees")
    wait_for_jobs(memory)
    assert_only_bees_are_left(memory, receipt.id)
    assert job_states(memory) == ["cancelled", "done"]
    assert "rash" not in server.asked("facts")[1]


def test_deleting_one_of_two_texts_while_they_are_read_has_the_other_read_anew(
    open_memory: Opener, server: OllamaServer
) -> None:
    memory = open_with(open_memory, server, add_wait_s=0.0)
    server.script(kept_back(facts(THE_RASH)), *[facts("The user keeps bees.")] * 2)
    receipt, _ = memory.add(messages=[{"role": "user", "content": text} for text in (RASH, "I keep bees")]).results
    server.wait_until_held()
    memory.delete(receipt.id)
    server.release()
    wait_for_jobs(memory)
    assert_only_bees_are_left(memory, receipt.id)
    assert job_states(memory) == ["done"]
    # Read anew, since the deleted words had stood above the others.
    assert ["rash" in asked for asked in server.asked("facts")] == [True, True, False]


def job_states(memory: LocalMemory) -> list[str]:
    """What became of each job, in order."""
    with memory.stores.log.reading() as connection:
        return list(connection.exec_driver_sql("SELECT state FROM jobs ORDER BY id").scalars())


def assert_only_bees_are_left(memory: LocalMemory, deleted_id: str) -> None:
    """Of the deleted words the log keeps the deleted row, and nothing of them is found, shown or derived."""
    log = memory.stores.log
    with memory.stores.writing:
        assert texts(memory, *STATES) == sorted(["I keep bees", "The user keeps bees.", RASH])
        [bees] = memory.list()
        [deleted] = memory.list(states=["deleted"])
    memory.settle()
    assert memory.stores.tables().memory_ids() == [bees.id]
    assert (bees.text, deleted.id, deleted.superseded_by) == ("The user keeps bees.", deleted_id, "")
    assert operations(memory, deleted_id) == ["add", "delete"]
    assert last_messages(log, "ana", "python", "") == ["I keep bees"]
    with log.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM facts").scalar() == 0
    assert log.get_entities("ana") == []
    assert memory.stores.tables().entity_ids() == []
    assert memory.search("Who gave me a rash?").hits == ()


def test_jobs_of_a_run_are_done_in_order_with_what_came_before_as_context(
    open_memory: Opener, server: OllamaServer
) -> None:
    away = open_memory(add_wait_s=0.0)
    for n in range(6):
        away.add(f"I told you thing number {n}", run_id="r1")
    away.close()
    server.script(*[NOTHING] * 6)
    wait_for_jobs(open_with(open_memory, server))
    asked = server.asked("facts")
    assert [f"<message>\nI told you thing number {n}\n" in asked[n] for n in range(6)] == [True] * 6
    assert "User: I told you thing number 3\nUser: I told you thing number 4\n" in asked[5]
    assert "<earlier>" not in asked[0]


def test_a_call_without_a_run_does_not_wait_for_another_that_is_put_off(
    memory: LocalMemory, server: OllamaServer
) -> None:
    server.script(answer("no"), answer("no"), facts("The user has a cat."))
    assert [receipt.status for receipt in memory.add("I keep bees").results] == ["queued"]
    assert [receipt.text for receipt in memory.add("I have a cat").results] == ["The user has a cat."]


def test_however_many_wait_for_one_that_is_put_off_others_are_found(open_memory: Opener, clock: Clock) -> None:
    log = open_memory().stores.log
    later = clock() + timedelta(hours=1)
    with log.writing() as connection:
        for n in range(1000):
            due = later if n == 0 else clock()
            insert_job(connection, f"{n:012}", run_id="slow", next_at=due)
    assert backlog.next_job(log, clock()) == (None, later)
    with log.writing() as connection:
        insert_job(connection, f"{2000:012}", run_id="other", next_at=clock() + timedelta(minutes=1))
        insert_job(connection, f"{2001:012}", run_id="other", next_at=clock())
    assert backlog.next_job(log, clock()) == (None, clock() + timedelta(minutes=1))
    clock.advance(minutes=1)
    job, _ = backlog.next_job(log, clock())
    assert job
    assert job.id == f"{2000:012}"


def insert_job(connection: Connection, identifier: str, **fields: Any) -> None:
    """A waiting job of an episode of its own."""
    usual = {"user_id": "ana", "episode_id": identifier, "task": "extract", "state": "waiting", "attempts": 0}
    usual |= {"last_error": "", "created_at": fields["next_at"]}
    connection.execute(insert(jobs).values(id=identifier, **(usual | fields)))


def test_what_waits_at_the_end_is_done_by_the_next_process(open_memory: Opener, server: OllamaServer) -> None:
    away = open_memory(add_wait_s=0.0)
    for n in range(8):
        away.add(f"I have a cat called Moth {n}")
    assert away.stats()["jobs"] == 8
    assert len(away.search("cat Moth", top_k=50).hits) == 8
    away.close()
    server.script(*[facts(f"The user has a cat called Moth {n}.") for n in range(8)])
    memory = open_with(open_memory, server)
    memory.warm()
    wait_for_jobs(memory)
    done = sorted(memory.list(limit=100), key=lambda record: record.id)
    assert [record.text for record in done] == [f"The user has a cat called Moth {n}." for n in range(8)]
    assert len(server.asked("facts")) == 8


def test_a_known_statement_is_a_duplicate_and_not_stored_again(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(facts("The user keeps bees."), facts("The user keeps bees."))
    first = memory.add("I keep bees").results[0]
    second = memory.add("As I said, I keep bees").results[0]
    assert (second.status, second.id) == ("duplicate", first.id)
    assert texts(memory) == ["The user keeps bees."]


def test_words_that_stay_stay_without_their_secret(memory: LocalMemory, server: OllamaServer) -> None:
    key = "gh" + "p_" + "a1B2" * 9
    cut = '{"kind": "about_user", "facts": ["The user has a ser'
    server.script(answer(cut), answer(cut))
    memory.add(f"my key is {key} and my staging server is called Brontosaurus")
    [kept] = memory.list()
    assert kept.text == "my key is [secret] and my staging server is called Brontosaurus"
    assert all(key not in hit.memory.text for hit in memory.search(f"staging key {key}").hits)
    assert all(key not in json.dumps(request.body) for request in server.requests)


def test_a_job_without_its_episode_is_taken_out_of_the_queue(open_memory: Opener, server: OllamaServer) -> None:
    away = open_memory(add_wait_s=0.0)
    away.add("I keep bees")
    with away.stores.log.writing() as connection:
        connection.exec_driver_sql("DELETE FROM episodes")
    away.close()
    memory = open_with(open_memory, server)
    wait_for_jobs(memory)
    assert memory.search("bees").hits[0].memory.text == "I keep bees"


def test_closing_ends_a_request_under_way_and_keeps_its_job(
    open_memory: Opener, server: OllamaServer, clock: Clock
) -> None:
    memory = open_with(open_memory, server, add_wait_s=0.0)
    server.script(Step(ending="hold"))
    memory.add("I keep bees")
    server.wait_until_held()
    memory.close()
    server.wait_until_left()
    clock.advance(seconds=timedelta(minutes=1).total_seconds())
    again = open_memory()
    assert again.stats()["jobs"] == 1
    assert texts(again, "raw") == ["I keep bees"]


def test_a_model_that_is_closed_between_two_calls_refuses_the_second(server: OllamaServer) -> None:
    model = LanguageModel(load_settings(ollama_host=server.url, llm_model="tiny"))
    server.script(NOTHING)
    assert model.ask([{"role": "user", "content": "hello"}], {}, 10).is_complete
    model.close()
    with pytest.raises(ModelUnavailableError, match="closed"):
        model.ask([{"role": "user", "content": "hello"}], {}, 10)
    assert len(server.requests) == 1


def test_a_conversation_becomes_one_procedure_to_which_all_its_words_lead(
    memory: LocalMemory, server: OllamaServer
) -> None:
    steps = ["Look at /var/log/backup.log.", "Run backupctl start."]
    server.script(answer(json.dumps({"goal": "Mend the backup job.", "steps": steps, "result": ""})))
    said = [
        {"role": "user", "content": "the backup job fails, see /var/log/backup.log"},
        {"role": "tool", "content": "$ backupctl start\nfinished", "name": "shell"},
    ]
    [receipt] = memory.add(messages=said, kind="procedure").results
    [kept] = memory.list()
    assert (receipt.status, kept.kind, kept.text) == (
        "added",
        "procedure",
        "Mend the backup job.\n1. Look at /var/log/backup.log.\n2. Run backupctl start.",
    )
    assert [raw.superseded_by for raw in memory.list(states=["distilled"])] == [kept.id, kept.id]
    assert memory.search("How do I mend the backup job?").hits[0].memory.id == kept.id


MENDING = [
    {"role": "user", "content": "the backup job fails, see /var/log/backup.log"},
    {"role": "tool", "content": "$ backupctl start\nfinished", "name": "shell"},
]


def test_words_that_wait_already_become_a_procedure_when_one_is_asked_for(
    open_memory: Opener, server: OllamaServer
) -> None:
    memory = open_memory(add_wait_s=0.0)
    said = [receipt.id for receipt in memory.add(messages=MENDING).results]
    for _ in range(2):
        asked = memory.add(messages=MENDING, kind="procedure").results
        assert [receipt.id for receipt in asked] == said
        # The same again is on its way.
        assert memory.stats()["jobs"] == 2
    memory.close()
    server.script(NOTHING, answer(json.dumps({"goal": "", "steps": ["Run backupctl start."], "result": ""})))
    again = open_with(open_memory, server)
    wait_for_jobs(again)
    assert texts(again) == ["1. Run backupctl start."]


def test_a_procedure_of_known_words_is_said_to_wait_until_it_is_there(
    open_memory: Opener, server: OllamaServer
) -> None:
    memory = open_with(open_memory, server)
    known = [receipt.id for receipt in memory.add(messages=MENDING, infer=False).results]
    server.script(failure(503, ""), answer(json.dumps({"goal": "", "steps": ["Run backupctl start."], "result": ""})))
    told = memory.add(messages=MENDING, kind="procedure").results
    assert [(receipt.status, receipt.id) for receipt in told] == [("queued", identifier) for identifier in known]
    wait_for_jobs(memory)
    assert [record.text for record in memory.list(filters={"kind": "procedure"})] == ["1. Run backupctl start."]


def test_every_input_is_told_of_after_the_reading_too(memory: LocalMemory, server: OllamaServer) -> None:
    known = memory.add("I keep bees", infer=False).results[0]
    server.script(NOTHING, facts("The user has a cat."))
    said = [{"role": "user", "content": text} for text in (" ", "I keep bees", "I have a cat")]
    told = memory.add(messages=said, kind="note").results
    assert [(receipt.status, receipt.text) for receipt in told] == [
        ("added", "The user has a cat."),
        ("ignored", " "),
        ("duplicate", "I keep bees"),
    ]
    assert told[2].id == known.id


def test_a_clock_that_is_set_back_does_not_park_what_waits(
    open_memory: Opener, server: OllamaServer, clock: Clock
) -> None:
    clock.advance(days=1000)
    away = open_memory(add_wait_s=0.0)
    away.add("I keep bees")
    away.close()
    clock.advance(days=-1000)
    server.script(facts("The user keeps bees."))
    memory = open_with(open_memory, server)
    assert memory.settle_queue(PATIENCE_S)
    assert texts(memory) == ["The user keeps bees."]


def test_adds_that_wait_are_answered_when_nobody_is_to_wait_and_so_are_later_ones(
    open_memory: Opener, server: OllamaServer
) -> None:
    memory = open_with(open_memory, server, add_wait_s=50.0)
    engine = Engine(lambda: memory)
    view = engine.memory_of(None, "desk", Turn())
    server.script(kept_back(facts("The user keeps bees.")), facts(THE_RASH))
    with ThreadPoolExecutor() as hosts:
        waiting = hosts.submit(view.add, "I keep bees")
        server.wait_until_held()
        engine.stop_waiting()
        [receipt] = waiting.result(PATIENCE_S).results
        later = hosts.submit(view.add, RASH).result(PATIENCE_S)
    assert (receipt.status, receipt.text) == ("queued", "I keep bees")
    assert [receipt.status for receipt in later.results] == ["queued"]
    # The queue goes on.
    server.release()
    wait_for_jobs(memory)
    assert "The user keeps bees." in texts(memory)


def test_an_engine_that_was_told_before_it_opened_its_memory_has_nobody_wait(
    open_memory: Opener, server: OllamaServer
) -> None:
    engine = Engine(lambda: open_with(open_memory, server, add_wait_s=50.0))
    engine.stop_waiting()
    server.script(kept_back(facts("The user keeps bees.")))
    with ThreadPoolExecutor() as hosts:
        added = hosts.submit(lambda: engine.memory().add("I keep bees")).result(PATIENCE_S)
    assert [receipt.status for receipt in added.results] == ["queued"]


def test_due_jobs_are_work_only_once_something_works_them_off(open_memory: Opener, server: OllamaServer) -> None:
    away = open_memory(add_wait_s=0.0)
    away.add("I keep bees")
    away.close()
    server.script(kept_back(facts("The user keeps bees.")))
    # As where the model could not be loaded, before the queue is begun.
    memory = open_with(open_memory, server)
    assert memory.stats()["jobs"] == 1
    assert not memory.has_due_work()
    memory.warm()
    server.wait_until_held()
    assert memory.has_due_work()
    server.release()
    assert memory.settle_queue(PATIENCE_S)
    assert not memory.has_due_work()


def test_due_jobs_are_no_work_while_the_queue_pauses_because_of_the_folder(
    open_memory: Opener, server: OllamaServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    memory = open_with(open_memory, server, add_wait_s=0.0, llm_retry_s=600.0)
    pausing = threading.Event()
    sleep = memory._parts.queue._sleep

    def fails(*_given: object) -> None:
        raise StorageError("the disk is full", hint="free some space")

    def tell_and_sleep(n_seen: int, seconds: float | None) -> None:
        if seconds == 600.0:
            pausing.set()
        sleep(n_seen, seconds)

    monkeypatch.setattr(queue, "work_off", fails)
    monkeypatch.setattr(memory._parts.queue, "_sleep", tell_and_sleep)
    memory.add("I keep bees")
    assert pausing.wait(PATIENCE_S)
    assert memory.stats()["jobs"] == 1
    assert not memory.has_due_work()
