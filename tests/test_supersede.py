"""Old truth gives way to new, over a real server in Ollama's format: merged, replaced, ended, never lost."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mcp_memory.errors import NotFoundError
from mcp_memory.knowledge import facts_of_memories, facts_of_types
from mcp_memory.memory import LocalMemory
from mcp_memory.records import STATES
from tests.conftest import Opener
from tests.log_rows import events_of
from tests.ollama_server import PATIENCE_S, OllamaServer, Step, facts, failure, kept_back
from tests.test_queue import answer, assert_gave_way, open_with, operations, texts, wait_for_jobs

GRAZ, TURIN = "The user's home is in Graz.", "The user's home is in Turin."


@pytest.fixture
def memory(open_memory: Opener, server: OllamaServer) -> LocalMemory:
    return open_with(open_memory, server)


def described(object_: str, fact_type: str = "home", subject: str = "the user", **more: Any) -> dict[str, Any]:
    usual = {"n": 1, "kind": "fact", "subject": subject, "type": fact_type, "relation": "", "object": object_}
    return {"items": [usual | more]}


def compared(verdict: str, earlier: str, later: str) -> dict[str, str]:
    return {"topic": "home", "earlier": earlier, "later": later, "verdict": verdict}


def move(memory: LocalMemory, server: OllamaServer, first: str = "2026-01-05", second: str = "2026-05-09") -> Any:
    """Graz is said, then Turin; what became of the second."""
    server.script(facts(GRAZ), facts(TURIN))
    server.script_aside("items", described("Graz"), described("Turin"))
    server.script_aside("verdict", compared("changed", "Graz", "Turin"))
    memory.add("My home is in Graz", observed_at=first)
    [receipt] = memory.add("My home is in Turin", observed_at=second).results
    return receipt


def test_a_move_ends_the_old_home_and_keeps_it_for_its_time(memory: LocalMemory, server: OllamaServer) -> None:
    receipt = move(memory, server)
    [old] = memory.list(states=["invalid"])
    assert (receipt.status, receipt.replaced_id, receipt.text) == ("replaced", old.id, TURIN)
    assert GRAZ in receipt.reason
    assert (old.text, old.superseded_by) == (GRAZ, receipt.id)
    assert old.invalid_at is not None
    assert old.invalid_at.date().isoformat() == "2026-05-09"
    assert old.closed_at == memory.stores.clock()
    assert [hit.memory.text for hit in memory.search("Where does the user live?").hits] == [TURIN]
    assert [hit.memory.text for hit in memory.search("Where does the user live?", as_of="2026-02-01").hits] == [GRAZ]


def test_what_ends_or_is_sighted_again_needs_no_new_vector(memory: LocalMemory, server: OllamaServer) -> None:
    receipt = move(memory, server)
    memory.settle()
    assert not memory.stores.is_behind
    stored = memory.stores.tables().memory_ids()
    assert {receipt.id, receipt.replaced_id} <= set(stored)


def test_the_facts_follow_their_memories(memory: LocalMemory, server: OllamaServer) -> None:
    receipt = move(memory, server)
    [current] = facts_of_types(memory.stores.log, "ana", ["home"])
    assert (current.object, current.memory_id, current.closed_at) == ("Turin", receipt.id, None)
    [ended] = facts_of_memories(memory.stores.log, [receipt.replaced_id])[receipt.replaced_id]
    assert (ended.object, ended.closed_at) == ("Graz", memory.stores.clock())
    memory.delete(receipt.id)
    assert facts_of_types(memory.stores.log, "ana", ["home"]) == []


def test_old_news_that_comes_late_does_not_end_what_came_after_it(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(facts(TURIN), facts(GRAZ))
    server.script_aside("items", described("Turin"), described("Graz"))
    server.script_aside("verdict", compared("changed", "Graz", "Turin"))
    memory.add("My home is in Turin", observed_at="2026-05-09")
    [receipt] = memory.add("My home is in Graz", observed_at="2026-01-05").results
    assert receipt.status == "added"
    assert "held until 2026-05-09" in receipt.reason
    assert texts(memory, "active") == [TURIN]
    assert texts(memory, "invalid") == [GRAZ]
    assert "Earlier: The user's home is in Graz.\nLater: The user's home is in Turin." in server.asked("verdict")[0]
    assert [hit.memory.text for hit in memory.search("Where does the user live?", as_of="2026-02-01").hits] == [GRAZ]


def test_within_one_conversation_the_later_message_counts(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(facts(GRAZ), facts(TURIN))
    items = [described("Graz")["items"][0], described("Turin")["items"][0] | {"n": 2}]
    server.script_aside("items", {"items": items})
    server.script_aside("verdict", compared("changed", "Graz", "Turin"))
    said = [
        {"role": "user", "content": text}
        for text in ("My home is in Graz, my old home", "My home is in Turin these days")
    ]
    receipts = memory.add(messages=said).results
    assert [receipt.status for receipt in receipts] == ["added", "replaced"]
    assert texts(memory) == [TURIN]
    assert texts(memory, "invalid") == [GRAZ]


def test_the_same_in_other_words_is_merged_into_the_older(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(facts("The user's dog is called Bruno."), facts("The user has a dog named Bruno."))
    server.script_aside("verdict", compared("same", "Bruno", "Bruno"))
    first = memory.add("my dog is called Bruno", observed_at="2026-03-01").results[0]
    [second] = memory.add("I have a dog named Bruno", observed_at="2026-01-01").results
    assert (second.status, second.id) == ("merged", first.id)
    [kept] = memory.list()
    assert kept.text == "The user's dog is called Bruno."
    assert kept.valid_from is not None
    assert kept.valid_from.date().isoformat() == "2026-01-01"
    [merged] = memory.list(states=["merged"])
    assert (merged.text, merged.superseded_by) == ("The user has a dog named Bruno.", first.id)
    sighted = [event for event in events_of(memory.stores.log, first.id) if event["operation"] == "sight"]
    assert [event["after"]["observed_at"][:10] for event in sighted] == ["2026-01-01"]
    assert [hit.memory.id for hit in memory.search("What is the dog called?").hits] == [first.id]
    with pytest.raises(NotFoundError, match=f"says the same as {first.id}"):
        memory.delete(merged.id)


def test_two_sisters_are_two_whatever_the_model_says(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(facts("The user has a sister Anna."), facts("The user has a sister Clara."))
    server.script_aside("verdict", compared("changed", "Anna", "Clara"))
    memory.add("I have a sister Anna")
    assert memory.add("I have a sister Clara").results[0].status == "added"
    assert len(texts(memory)) == 2
    assert server.asked("verdict") == []


@pytest.mark.parametrize(
    "step",
    [Step(["not json"]), {"verdict": "replace everything"}, {"verdict": 7}],
    ids=["no answer", "another verdict", "no word"],
)
def test_a_comparison_that_is_none_keeps_both(memory: LocalMemory, server: OllamaServer, step: Any) -> None:
    server.script(facts(GRAZ), facts(TURIN))
    server.script_aside("items", described("Graz"), described("Turin"))
    server.script_aside("verdict", step)
    memory.add("My home is in Graz")
    assert memory.add("My home is in Turin").results[0].status == "added"
    assert texts(memory) == [GRAZ, TURIN]


def test_a_model_removed_between_the_calls_loses_nothing_and_keeps_nothing_by_halves(
    memory: LocalMemory, server: OllamaServer
) -> None:
    server.script(facts(GRAZ), kept_back(facts(GRAZ)))
    server.script_aside("items", failure(404, {"error": "model 'tiny' not found"}), described("Graz"))
    [receipt] = memory.add("My home is in Graz").results
    assert (receipt.status, receipt.text) == ("queued", "My home is in Graz")
    assert "Ollama has no model 'tiny'" in receipt.reason
    server.wait_until_held()
    assert texts(memory, *STATES) == ["My home is in Graz"]
    assert facts_of_types(memory.stores.log, "ana", ["home"]) == []
    assert [hit.memory.id for hit in memory.search("Where does the user live?").hits] == [receipt.id]
    server.release()
    wait_for_jobs(memory)
    assert_gave_way(memory, receipt.id, GRAZ)
    [kept] = memory.list()
    [home] = facts_of_types(memory.stores.log, "ana", ["home"])
    assert (home.object, home.memory_id) == ("Graz", kept.id)


def test_another_users_truth_does_not_end_mine(open_memory: Opener, server: OllamaServer) -> None:
    mine = open_with(open_memory, server)
    move(mine, server)
    mine.close()
    theirs = open_with(open_memory, server, user_id="ben")
    server.script(facts(GRAZ))
    server.script_aside("items", described("Graz"))
    [receipt] = theirs.add("My home is in Graz").results
    assert receipt.status == "added"
    assert len(server.asked("verdict")) == 1


def test_what_was_deleted_meanwhile_is_not_ended_and_does_not_come_back(
    memory: LocalMemory, server: OllamaServer
) -> None:
    # Graz was shown as known: Turin is read once more without it.
    server.script(facts(GRAZ), facts(TURIN), facts(TURIN))
    server.script_aside("items", described("Graz"), described("Turin"), described("Turin"))
    server.script_aside("verdict", kept_back(answer(json.dumps(compared("changed", "Graz", "Turin")))))
    memory.add("My home is in Graz")
    [graz] = memory.list()
    with ThreadPoolExecutor() as elsewhere:
        adding = elsewhere.submit(memory.add, "My home is in Turin")
        server.wait_until_held()
        memory.delete(graz.id)
        server.release()
        [receipt] = adding.result(PATIENCE_S).results
    assert (receipt.status, receipt.replaced_id, receipt.text) == ("added", "", TURIN)
    words, deleted = sorted(memory.list(states=["deleted"]), key=lambda record: record.id)
    assert (words.text, words.superseded_by) == ("My home is in Graz", graz.id)
    assert (deleted.id, deleted.invalid_at, deleted.superseded_by) == (graz.id, None, "")
    assert operations(memory, graz.id) == ["distil", "delete"]
    assert texts(memory, "active", "raw", "invalid") == [TURIN]
    assert [fact.object for fact in facts_of_types(memory.stores.log, "ana", ["home"])] == ["Turin"]
    memory.settle()
    assert memory.stores.tables().memory_ids() == [receipt.id]
    assert [hit.memory.text for hit in memory.search("Where does the user live?").hits] == [TURIN]


def test_a_note_of_one_sentence_ends_and_a_turn_of_a_conversation_does_not(
    memory: LocalMemory, server: OllamaServer
) -> None:
    memory.add("The user uses VS Code.", infer=False)
    memory.add(messages=[{"role": "user", "content": "I use VS Code for everything."}], infer=False)
    memory.add("The user uses VS Code. The user's cat is called Moth.", infer=False)
    server.script(facts("The user switched from VS Code to Zed."))
    server.script_aside("verdict", *[compared("changed", "VS Code", "Zed")] * 3)
    assert memory.add("I switched from VS Code to Zed").results[0].status == "replaced"
    assert texts(memory, "invalid") == ["The user uses VS Code."]


def test_a_secret_in_a_known_note_does_not_reach_the_comparison(memory: LocalMemory, server: OllamaServer) -> None:
    memory.add("The wifi password is plum-Harbour-77", infer=False)
    server.script(facts("The user changed the wifi password."))
    memory.add("I changed the wifi password yesterday, finally")
    assert server.asked("verdict")
    assert all("plum-Harbour-77" not in str(request.body) for request in server.requests)


def test_what_holds_for_a_while_does_not_end_what_holds_for_good(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(facts(GRAZ), facts(TURIN))
    server.script_aside("items", described("Graz"), described("Turin"))
    memory.add("My home is in Graz")
    assert memory.add("My home is in Turin", expires_at="2027-01-01").results[0].status == "added"
    assert server.asked("verdict") == []
    assert texts(memory) == [GRAZ, TURIN]


def test_what_a_merged_statement_ended_leads_to_the_one_that_stays(memory: LocalMemory, server: OllamaServer) -> None:
    old, new = "The user's rent is 850 euros a month.", "The user pays 920 euros of rent each month."
    memory.add(old, infer=False, observed_at="2026-01-01")
    memory.add(new, infer=False, observed_at="2026-02-01")
    server.script(facts("The user's rent is now 920 euros a month."))
    server.script_aside("verdict", compared("same", "920", "920"))
    [receipt] = memory.add("My rent is now 920 euros a month", observed_at="2026-03-01").results
    [kept] = memory.list()
    assert (receipt.status, receipt.id, kept.text) == ("merged", kept.id, new)
    [ended] = memory.list(states=["invalid"])
    assert receipt.replaced_id == ended.id
    assert new in receipt.reason
    assert f"no longer so: {old}" in receipt.reason
    assert (ended.text, ended.superseded_by) == (old, kept.id)


def test_nothing_ends_before_it_began(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(facts(TURIN), facts("The user is at home in Turin."), facts(GRAZ))
    server.script_aside("items", described("Turin"), described("Turin"), described("Graz"))
    server.script_aside("verdict", compared("same", "Turin", "Turin"), compared("changed", "Graz", "Turin"))
    memory.add("My home is in Turin", observed_at="2026-06-01")
    assert memory.add("I am at home in Turin", observed_at="2026-01-01").results[0].status == "merged"
    [receipt] = memory.add("My home is in Graz", observed_at="2026-03-01").results
    [graz] = memory.list(states=["invalid"])
    assert "held until 2026-06-01" in receipt.reason
    assert graz.invalid_at is not None
    assert (graz.text, graz.invalid_at.date().isoformat()) == (GRAZ, "2026-06-01")


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        ("My home is not in Graz", "The user's home is not in Graz."),
        ("I lived in Graz until 2019", "The user lived in Graz until 2019."),
    ],
)
def test_what_is_not_or_no_longer_so_is_no_fact(
    memory: LocalMemory, server: OllamaServer, said: str, statement: str
) -> None:
    server.script(facts(statement))
    server.script_aside("items", described("Graz"))
    assert memory.add(said).results[0].text == statement
    assert facts_of_types(memory.stores.log, "ana", ["home"]) == []


def test_many_other_peoples_homes_do_not_hide_the_users_own(memory: LocalMemory, server: OllamaServer) -> None:
    names = ["Nkechi", "Lorcan", "Greta", "Amos", "Ines", "Pavel", "Mei"]
    homes = [f"{name} lives in Bonn." for name in names]
    server.script(facts(GRAZ), *[facts(home) for home in homes], facts(TURIN))
    server.script_aside("items", described("Graz"), *[described("Bonn", subject=name) for name in names])
    server.script_aside("items", described("Turin"))
    server.script_aside("verdict", compared("changed", "Graz", "Turin"))
    memory.add("My home is in Graz")
    for home in homes:
        memory.add(home)
    assert memory.add("My home is in Turin").results[0].status == "replaced"


def test_a_receipt_says_how_long_it_held_as_the_row_does(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(facts(TURIN), facts("The user is at home in Turin."), facts(GRAZ))
    server.script_aside("items", described("Turin"), described("Turin"), described("Graz"))
    server.script_aside("verdict", compared("same", "Turin", "Turin"), compared("changed", "Graz", "Turin"))
    memory.add("My home is in Turin", observed_at="2026-05-09")
    memory.add("I am at home in Turin", observed_at="2026-03-01")
    [receipt] = memory.add("My home is in Graz", observed_at="2026-01-05").results
    [graz] = memory.list(states=["invalid"])
    assert graz.invalid_at is not None
    assert f"held until {graz.invalid_at.date()}" in receipt.reason
    assert graz.invalid_at.date().isoformat() == "2026-03-01"


def test_news_that_comes_late_does_not_end_what_was_said_again_since(memory: LocalMemory, server: OllamaServer) -> None:
    server.script(facts(GRAZ), facts(GRAZ), facts(TURIN))
    server.script_aside("items", described("Graz"), described("Turin"))
    server.script_aside("verdict", compared("changed", "Turin", "Graz"))
    memory.add("My home is in Graz", observed_at="2026-01-05")
    assert memory.add("Yes, Graz is still home", observed_at="2026-06-01").results[0].status == "duplicate"
    [receipt] = memory.add("My home is in Turin", observed_at="2026-03-01").results
    assert texts(memory) == [GRAZ]
    assert "held until 2026-06-01" in receipt.reason


def test_two_sentences_in_one_statement_are_added_and_never_merged(memory: LocalMemory, server: OllamaServer) -> None:
    both = "The user has a dog named Bruno. Bruno hates the vacuum cleaner."
    server.script(facts("The user's dog is called Bruno."), facts(both))
    server.script_aside("verdict", compared("same", "Bruno", "Bruno"))
    memory.add("my dog is called Bruno")
    [receipt] = memory.add("I have a dog named Bruno, he hates the vacuum cleaner").results
    assert (receipt.status, receipt.text) == ("added", both)
    assert server.asked("verdict") == []


def test_many_statements_in_one_call_are_each_embedded_once_for_comparison(
    memory: LocalMemory, server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    animals = ["bees", "cats", "dogs", "fish", "owls", "mice", "hens", "ducks", "sheep", "goats", "ponies", "geese"]
    statements = [f"The user keeps {animal} in the barn." for animal in animals]
    embedder = memory.stores.embedder
    embedded: list[str] = []
    embed_texts = embedder.embed_texts

    def noted(forms: list[tuple[str, str]]) -> Any:
        embedded.extend(text for heading, text in forms if not heading)
        return embed_texts(forms)

    monkeypatch.setattr(embedder, "embed_texts", noted)
    server.script(*[facts(statement) for statement in statements])
    memory.add(messages=[{"role": "user", "content": f"I keep {animal} in the barn"} for animal in animals])
    assert len(embedded) == len(set(embedded))
    assert len(texts(memory)) == len(animals)
