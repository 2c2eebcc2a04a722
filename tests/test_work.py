"""What becomes of words that waited, once they are read: they give way to what came of them, and only to that."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from mcp_memory.memory import LocalMemory
from mcp_memory.records import AddResult, Receipt
from mcp_memory.work import KEPT_WORDS
from tests.conftest import Clock, Opener
from tests.ollama_server import PATIENCE_S, OllamaServer, Step, facts, reply
from tests.test_queue import NOTHING, open_with, texts


@pytest.fixture
def memory(open_memory: Opener, server: OllamaServer) -> LocalMemory:
    return open_with(open_memory, server)


def said(*lines: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": line} for line in lines]


def leads(memory: LocalMemory) -> dict[str, list[str]]:
    """The texts that gave way, each with the texts that its id leads to."""
    every = {record.id: record for record in memory.list(states=["active", "distilled", "raw"])}
    return {
        record.text: [every[identifier].text for identifier in record.superseded_by.split()]
        for record in every.values()
        if record.state == "distilled"
    }


def held(step: Step) -> Step:
    """The same answer, its end kept back until the test releases it."""
    return replace(step, ending="hold")


def deleting_while_read(
    memory: LocalMemory, server: OllamaServer, add: Callable[[], AddResult], gone: Callable[[], str]
) -> tuple[Receipt, ...]:
    """Add something, delete a memory by its id while the model reads, and let it go on; what the add answers."""
    with ThreadPoolExecutor() as elsewhere:
        adding = elsewhere.submit(add)
        server.wait_until_held()
        memory.delete(gone())
        server.release()
        return adding.result(PATIENCE_S).results


def delete_while_read(
    memory: LocalMemory, server: OllamaServer, lines: list[str], gone: str, kind: str = ""
) -> tuple[Receipt, ...]:
    """The same for one of the lines that are read."""

    def waiting() -> str:
        [raw] = [record for record in memory.list(states=["raw"]) if record.text == gone]
        return raw.id

    return deleting_while_read(memory, server, lambda: memory.add(messages=said(*lines), kind=kind), waiting)


def test_a_correction_and_what_it_corrects_both_lead_to_what_came_of_them(
    memory: LocalMemory, server: OllamaServer
) -> None:
    server.script(facts("The user's lease ends in June."))
    receipts = memory.add(messages=said("My lease ends in May.", "Sorry, I meant June.")).results
    assert [receipt.status for receipt in receipts] == ["added"]
    assert leads(memory) == {
        "My lease ends in May.": ["The user's lease ends in June."],
        "Sorry, I meant June.": ["The user's lease ends in June."],
    }


def test_a_correction_deleted_while_it_is_read_corrects_nothing(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(held(facts("The user's lease ends in June.")), facts("The user's lease ends in May."))
    lines = ["My lease ends in May.", "Sorry, I meant June."]
    receipts = delete_while_read(memory, server, lines, gone=lines[1])
    assert [receipt.text for receipt in receipts] == ["The user's lease ends in May."]
    assert "June" not in server.asked("facts")[-1]
    assert "June" not in str([record.text for record in memory.list(states=["active", "distilled", "raw", "merged"])])


def test_a_procedure_is_read_anew_when_one_of_its_turns_is_deleted_meanwhile(
    memory: LocalMemory, server: OllamaServer
) -> None:
    first = '{"goal": "", "steps": ["Stop the pump.", "Fetch the door code.", "Start the pump."], "result": ""}'
    anew = '{"goal": "", "steps": ["Stop the pump.", "Start the pump."], "result": ""}'
    server.script(held(reply(first, prompt_eval_count=500)), reply(anew, prompt_eval_count=500))
    lines = ["Stop the pump.", "The door code is at the bakery.", "Start the pump."]
    [receipt] = delete_while_read(memory, server, lines, gone=lines[1], kind="procedure")
    assert receipt.text == "1. Stop the pump.\n2. Start the pump."
    assert leads(memory) == {lines[0]: [receipt.text], lines[2]: [receipt.text]}
    assert "bakery" not in str(server.requests[-1].body)


def test_the_same_sentence_twice_in_a_call_gives_way_to_what_came_of_either(
    memory: LocalMemory, server: OllamaServer
) -> None:
    server.script(NOTHING, facts("The user keeps bees."), facts("The user keeps bees."))
    memory.add(messages=said("I keep bees", "I keep bees"))
    assert leads(memory) == {"I keep bees": ["The user keeps bees."]}
    assert texts(memory) == ["The user keeps bees."]


def test_a_sentence_of_two_speakers_is_two_and_each_gives_way_by_itself(
    memory: LocalMemory, server: OllamaServer
) -> None:
    server.script(facts("The user keeps bees."), NOTHING, NOTHING)
    memory.add(
        messages=[
            {"role": "user", "content": "I keep bees", "name": "Ana"},
            {"role": "user", "content": "I keep bees", "name": "Bo"},
        ]
    )
    rows = memory.list(states=["distilled", "raw"])
    [kept] = memory.list()
    assert sorted((row.speaker, row.state, row.superseded_by) for row in rows) == [
        ("Ana", "distilled", kept.id),
        ("Bo", "distilled", ""),
    ]


def test_own_words_in_place_of_the_models_are_described_and_told_as_such(
    memory: LocalMemory, server: OllamaServer
) -> None:
    # A name that nobody said: the person's own sentence takes the statement's place.
    server.script(facts("The user lives in Graz with Ottokar."))
    item = {"n": 1, "kind": "fact", "subject": "I", "type": "home", "relation": "lives in", "object": "Graz"}
    server.script_aside("items", {"items": [item]})
    [receipt] = memory.add("I live in Graz").results
    assert (receipt.status, receipt.text, receipt.reason) == ("added", "I live in Graz", KEPT_WORDS)
    assert server.asked("items")
    [kept] = memory.list()
    assert (kept.id, kept.text, kept.kind) == (receipt.id, "I live in Graz", "fact")
    assert leads(memory) == {"I live in Graz": ["I live in Graz"]}


def test_what_expired_and_what_another_agent_says_of_itself_is_no_context(
    open_memory: Opener, server: OllamaServer, clock: Clock
) -> None:
    memory = open_with(open_memory, server)
    memory.add("I have a guest called Ottokar.", infer=False, expires_at=clock() + timedelta(hours=1))
    memory.as_agent("other").add("I raised the Ottokar timeout.", infer=False, about="agent")
    memory.add("I keep bees.", infer=False)
    clock.advance(hours=2)
    server.script(NOTHING)
    memory.add("I feed the bees of my guest")
    [asked] = server.asked("facts")
    assert "I keep bees." in asked
    assert "Ottokar" not in asked
    assert "timeout" not in asked


def test_what_a_deleted_statement_was_read_out_of_is_not_shown_to_the_model_again(
    memory: LocalMemory, server: OllamaServer
) -> None:
    server.script(facts("The user's partner is called Zelda."), NOTHING)
    [receipt] = memory.add("My partner is called Zelda").results
    memory.delete(receipt.id)
    memory.add("I love her a lot")
    assert "Zelda" not in server.asked("facts")[-1]
    assert texts(memory, "deleted") == ["My partner is called Zelda", "The user's partner is called Zelda."]


def test_words_go_with_the_last_statement_that_was_read_out_of_them(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(facts("The user keeps bees.", "The user keeps hens."), NOTHING)
    bees, hens = memory.add("I keep bees and hens").results
    memory.delete(bees.id)
    assert texts(memory, "distilled") == ["I keep bees and hens"]
    memory.add("I feed them at dawn")
    assert "bees" not in server.asked("facts")[-1]
    memory.delete(hens.id)
    assert "I keep bees and hens" in texts(memory, "deleted")


def test_words_of_which_nothing_came_can_be_deleted(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(NOTHING, NOTHING)
    [receipt] = memory.add("the weather over here is dreadful, as always").results
    assert receipt.status == "ignored"
    memory.delete(receipt.id)
    memory.add("I love her a lot")
    assert "dreadful" not in server.asked("facts")[-1]


def test_a_known_memory_deleted_while_it_is_shown_to_the_model_leaves_no_trace(
    memory: LocalMemory, server: OllamaServer
) -> None:
    known = memory.add("My partner is called Zelda.", infer=False).results[0]
    server.script(held(facts("The user loves Zelda.")), facts("The user loves their partner."))
    deleting_while_read(memory, server, lambda: memory.add("I love my partner a lot"), lambda: known.id)
    assert "Zelda" in server.asked("facts")[0]
    assert "Zelda" not in server.asked("facts")[1]
    assert texts(memory) == ["The user loves their partner."]


def test_words_said_again_after_their_deletion_are_read_whatever_the_clock_says(
    memory: LocalMemory, server: OllamaServer, clock: Clock
) -> None:
    server.script(NOTHING, facts("The user keeps bees."))
    [receipt] = memory.add("I keep bees").results
    memory.delete(receipt.id)
    clock.advance(seconds=-2)
    assert [receipt.text for receipt in memory.add("I keep bees").results] == ["The user keeps bees."]


def test_a_statement_deleted_while_the_same_words_wait_again_stays_deleted(
    open_memory: Opener, server: OllamaServer
) -> None:
    memory = open_with(open_memory, server)
    both_said = "I keep bees. My rent is 920 euros."
    both = facts("The user keeps bees.", "The user's rent is 920 euros.")
    server.script(both, held(both))
    _, rent = memory.add(both_said).results
    deleting_while_read(memory, server, lambda: memory.add(both_said), lambda: rent.id)
    assert memory.settle_queue(PATIENCE_S)
    assert texts(memory, "active", "raw") == ["The user keeps bees."]


def test_words_that_wait_again_leave_search_with_the_only_statement_that_was_read_out_of_them(
    open_memory: Opener, server: OllamaServer
) -> None:
    memory = open_with(open_memory, server)
    rent = facts("The user's rent is 920 euros.")
    server.script(rent, held(rent))
    [receipt] = memory.add("My rent is 920 euros.").results
    deleting_while_read(memory, server, lambda: memory.add("My rent is 920 euros."), lambda: receipt.id)
    assert memory.settle_queue(PATIENCE_S)
    assert texts(memory, "active", "raw") == []
    assert memory.stats()["jobs"] == 0
