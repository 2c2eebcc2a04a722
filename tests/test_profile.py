"""The user's summary: made in the background of what is remembered, and gone with what it was made of."""

import json

import pytest

from mcp_memory.knowledge import get_profile
from mcp_memory.memory import LocalMemory
from mcp_memory.profile import MIN_NEW, is_due, refresh
from tests.conftest import Clock, Opener
from tests.fakes import Answered
from tests.ollama_server import PATIENCE_S, OllamaServer, Step, facts
from tests.test_queue import NOTHING, open_with

PETS = [f"The user has a cat called Moth{n}." for n in range(MIN_NEW)]
SUMMARY = "The user has a cat called Moth1. The user has a cat called Moth2."


@pytest.fixture
def memory(open_memory: Opener, server: OllamaServer) -> LocalMemory:
    return open_with(open_memory, server)


def learn(memory: LocalMemory, server: OllamaServer, *statements: str) -> None:
    server.script(facts(*statements))
    memory.add("I have cats: " + " ".join(statements).replace("The user has", "I have"))
    assert memory.settle_queue(PATIENCE_S)


def test_when_enough_is_known_a_summary_is_made_and_shown_to_the_next_extraction(
    memory: LocalMemory, server: OllamaServer
) -> None:
    learn(memory, server, *PETS[:-1])
    assert get_profile(memory.stores.log, "ana") is None
    server.script_aside("summary", {"summary": SUMMARY})
    learn(memory, server, PETS[-1])
    made = get_profile(memory.stores.log, "ana")
    assert made is not None
    assert (made.text, made.model, len(made.memory_ids)) == (SUMMARY, "tiny", MIN_NEW)
    assert made.prompt.startswith("profile-")
    server.script(NOTHING)
    memory.add("I went to bed early")
    assert f"<user>\n{SUMMARY}\n</user>" in server.asked("facts")[-1]
    assert not is_due("ana", memory.stores)


def test_sentences_that_no_memory_bears_are_left_out(memory: LocalMemory, server: OllamaServer) -> None:
    server.script_aside("summary", {"summary": f"{SUMMARY} The user won 3 prizes in Zanzibar."})
    learn(memory, server, *PETS)
    made = get_profile(memory.stores.log, "ana")
    assert made is not None
    assert made.text == SUMMARY


@pytest.mark.parametrize("step", [{"summary": "The user won 3 prizes in Zanzibar."}, {"summary": ""}, Step(["no"])])
def test_a_summary_of_which_nothing_holds_is_not_kept(memory: LocalMemory, server: OllamaServer, step: object) -> None:
    server.script_aside("summary", step, step)
    learn(memory, server, *PETS)
    assert get_profile(memory.stores.log, "ana") is None
    assert is_due("ana", memory.stores)


def test_deleting_what_a_summary_was_made_of_takes_the_summary_with_it(
    memory: LocalMemory, server: OllamaServer
) -> None:
    server.script_aside("summary", {"summary": SUMMARY})
    learn(memory, server, *PETS)
    memory.delete(memory.list()[0].id)
    assert get_profile(memory.stores.log, "ana") is None


def test_a_secret_in_a_memory_does_not_reach_the_summary(memory: LocalMemory, server: OllamaServer) -> None:
    key = "gh" + "p_" + "a1B2" * 9
    memory.add(f"The deploy key is {key}", infer=False)
    server.script_aside("summary", {"summary": f"{SUMMARY} The user's key is {key}."})
    learn(memory, server, *PETS)
    assert all(key not in question for question in server.asked("summary"))
    made = get_profile(memory.stores.log, "ana")
    assert made is not None
    assert key not in made.text


def test_a_summary_that_failed_is_tried_again_after_an_hour_not_after_every_message(
    memory: LocalMemory, server: OllamaServer, clock: Clock
) -> None:
    server.script_aside("summary", *[{"summary": ""}] * 2)
    learn(memory, server, *PETS)
    n_asked = len(server.asked("summary"))
    learn(memory, server, "The user has a cat called Ember.")
    assert len(server.asked("summary")) == n_asked
    clock.advance(hours=1)
    server.script_aside("summary", {"summary": SUMMARY})
    learn(memory, server, "The user has a cat called Birch.")
    assert get_profile(memory.stores.log, "ana") is not None


def test_what_expires_is_no_part_of_the_summary(memory: LocalMemory, server: OllamaServer) -> None:
    memory.add("The user has a cat called Moth99 for the weekend.", infer=False, expires_at="2099-01-01")
    server.script_aside("summary", {"summary": SUMMARY})
    learn(memory, server, *PETS)
    assert "Moth1" in server.asked("summary")[0]
    assert "Moth99" not in server.asked("summary")[0]


def test_what_is_learned_while_a_summary_is_written_is_news_to_it(memory: LocalMemory, clock: Clock) -> None:
    for pet in PETS:
        memory.add(pet, infer=False)

    def ask(*_: object) -> Answered:
        for pet in PETS:
            clock.advance(minutes=1)
            memory.add(pet.replace("cat", "dog"), infer=False)
        return Answered(json.dumps({"summary": SUMMARY}))

    refresh("ana", "tiny", memory.stores, ask)
    assert is_due("ana", memory.stores)
