"""Facts in the log: of an earlier schema, how many a memory may hold, what a language model must not lose."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mcp_memory import migrations, schema
from mcp_memory.errors import StorageError
from mcp_memory.fact_keys import facts_of_key
from mcp_memory.knowledge import facts_of_memories, facts_of_types
from mcp_memory.log import Log
from mcp_memory.memory import LocalMemory
from mcp_memory.phrases import USER_KEY
from tests.conftest import Opener
from tests.ollama_server import OllamaServer
from tests.ollama_server import facts as statements
from tests.test_queue import open_with, texts

MICROS = 1_700_000_000_000_000
MEMORY = (
    "0000000000m1", "ana", "python", "", 0, "", "user", "user", "fact", "The user lives in Graz.", "user live graz",
    "hash", "en", 0.5, MICROS, MICROS + 1, MICROS + 1, None, None, None, None, "", "active", "0000000000e1", "{}",
    "tiny", "prompt", "0000000000c1",
)  # fmt: skip
# id, user, subject_id, subject, type, relation, object, object_id, memory, confidence, from, until, closed
FACTS = (
    (
        "0000000000f1",
        "ana",
        "0000000000n1",
        "the user",
        "home",
        "lives in",
        "Graz",
        "0000000000n2",
        "0000000000m1",
        0.7,
        None,
        None,
        None,
    ),
    (
        "0000000000f2",
        "ana",
        "0000000000n1",
        "the user",
        "home",
        "",
        "Turin",
        "",
        "0000000000m1",
        0.6,
        MICROS - 9,
        MICROS,
        MICROS + 5,
    ),
    (
        "0000000000f3",
        "ana",
        "0000000000n1",
        "the user",
        "likes",
        "likes",
        "Tea",
        "",
        "gone",
        0.5,
        None,
        None,
        MICROS + 7,
    ),
)


def log_of_schema_2(path: Path) -> None:
    """A log as the program before wrote it: facts without keys."""
    with closing(sqlite3.connect(path)) as connection, connection:
        statements: list[str] = []

        class Recorder:
            def exec_driver_sql(self, statement: str) -> None:
                statements.append(statement)

        for migration in migrations.MIGRATIONS[:2]:
            migration(Recorder())  # type: ignore[arg-type]
        for statement in statements:
            connection.execute(statement)
        connection.execute("INSERT INTO meta VALUES ('schema_version', '2')")
        connection.execute("INSERT INTO meta VALUES ('schema_program', '0.2.0')")
        connection.execute(f"INSERT INTO memories VALUES ({', '.join('?' * len(MEMORY))})", MEMORY)
        for row in FACTS:
            connection.execute(f"INSERT INTO facts VALUES ({', '.join('?' * len(row))})", row)
        connection.execute(
            'INSERT INTO events (change_id, at, user_id, client, operation, memory_id, entity_id, "before", "after",'
            " reason) VALUES ('0000000000c1', ?, 'ana', 'python', 'add', '0000000000m1', '', NULL, ?, '')",
            (MICROS, json.dumps({"id": "0000000000m1"})),
        )


def test_facts_of_an_earlier_schema_keep_their_words_their_times_and_their_events(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite3"
    log_of_schema_2(path)
    log = Log(path)
    try:
        with log.reading() as connection:
            row = connection.exec_driver_sql("SELECT operation, memory_id, fact_id FROM events").one()
        assert tuple(row) == ("add", "0000000000m1", "")
        graz, turin = sorted(facts_of_memories(log, ["0000000000m1"])["0000000000m1"], key=lambda fact: fact.id)
        assert (graz.subject, graz.fact_type, graz.relation, graz.label, graz.object, graz.object_key) == (
            "the user", "home", "other", "lives in", "Graz", "graz"
        )  # fmt: skip
        assert (graz.source, graz.holds, graz.confidence, graz.object_id) == ("model", True, 0.7, "0000000000n2")
        # One without a time of its own holds since its memory was observed.
        assert [schema.to_micros(fact.valid_from) for fact in (graz, turin)] == [MICROS, MICROS - 9]
        assert schema.to_micros(graz.created_at) == MICROS + 1
        assert turin.invalid_at is not None
        assert turin.closed_at is not None
        assert (schema.to_micros(turin.invalid_at), schema.to_micros(turin.closed_at)) == (MICROS, MICROS + 5)
        assert [fact.object for fact in facts_of_types(log, "ana", ["home", "likes"])] == ["Graz"]
        # What was withdrawn is kept as well, and is nobody's word.
        assert [fact.object for fact in facts_of_memories(log, ["gone"])["gone"]] == ["Tea"]
        assert {fact.id for fact in facts_of_key(log, "ana", ["0000000000n1"], ["other"])} == {
            "0000000000f1",
            "0000000000f2",
        }
    finally:
        log.close()
    copy = path.with_name("log.schema2.bak")
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT count(*) FROM facts").fetchone() == (3,)


def test_of_what_a_memory_claims_only_so_much_becomes_facts(open_memory: Opener) -> None:
    text = "I speak German, Polish, Czech and Dutch"
    for limit, expected in ((8, 4), (2, 2), (0, 0)):
        memory = open_memory(facts_per_memory=limit, user_id=f"u{limit}")
        [receipt] = memory.add(text, infer=False).results
        assert receipt.status == "added"
        assert len(facts_of_memories(memory.stores.log, [receipt.id]).get(receipt.id, [])) == expected
        assert [hit.memory.text for hit in memory.search("which languages do I speak?").hits] == [text]
        memory.close()


def test_what_several_messages_of_one_add_claim_becomes_only_so_many_facts_together(open_memory: Opener) -> None:
    memory = open_memory(facts_per_memory=3)
    told = ("I speak German and Polish", "I live in Berlin and I work at Siemens", "My sister is called Eva")
    receipts = memory.add(messages=[{"content": text} for text in told], infer=False).results
    kept = facts_of_memories(memory.stores.log, [receipt.id for receipt in receipts])
    assert sum(map(len, kept.values())) == 3
    # The next add brings its own.
    [receipt] = memory.add("I speak Czech", infer=False).results
    assert len(facts_of_memories(memory.stores.log, [receipt.id])[receipt.id]) == 1


def test_the_receipt_names_what_was_not_kept_as_a_fact(open_memory: Opener) -> None:
    memory = open_memory(facts_per_memory=2)
    told = ("I speak German and Polish", "I live in Berlin")
    first, second = memory.add(messages=[{"content": text} for text in told], infer=False).results
    assert first.reason == ""
    assert second.reason == "found by their words only, beyond 2 facts (MCP_MEMORY_FACTS_PER_MEMORY): Berlin"
    assert memory.search("where do I live?").hits[0].memory.text == "I live in Berlin"
    memory.close()
    # Who wants none is not told of each.
    memory = open_memory(facts_per_memory=0, user_id="nobody")
    [receipt] = memory.add("I live in Berlin", infer=False).results
    assert receipt.reason == ""


def test_a_memory_that_others_are_merged_into_holds_no_more_facts_for_it(
    open_memory: Opener, server: OllamaServer
) -> None:
    for limit, expected in ((8, 2), (1, 1)):
        memory = open_with(open_memory, server, facts_per_memory=limit, user_id=f"u{limit}")
        server.script(statements("The user's dog is called Bruno."), statements("The user has a dog named Bruno."))
        server.script_aside("items", *({"items": [described(1, "Bruno", "pet")]},) * 2)
        server.script_aside("verdict", {"topic": "dog", "earlier": "Bruno", "later": "Bruno", "verdict": "same"})
        [first] = memory.add("my dog is called Bruno", observed_at="2026-03-01").results
        [second] = memory.add("I have a dog named Bruno", observed_at="2026-04-01").results
        assert (second.status, second.id) == ("merged", first.id)
        assert len(facts_of_memories(memory.stores.log, [first.id])[first.id]) == expected
        memory.close()


def described(n: int, object_: str, fact_type: str = "home") -> dict[str, Any]:
    return {"n": n, "kind": "fact", "subject": "the user", "type": fact_type, "relation": "", "object": object_}


def test_what_a_language_model_loses_of_a_certain_claim_stays_word_for_word(
    open_memory: Opener, server: OllamaServer
) -> None:
    memory = open_with(open_memory, server)
    server.script(statements("The user keeps bees."))
    said = "I moved to Graz. I keep bees."
    receipts = memory.add(said).results
    assert texts(memory) == [said, "The user keeps bees."]
    assert any("word for word" in receipt.reason for receipt in receipts if receipt.text == said)
    assert [fact.value for fact in memory.search("where do I live?").facts] == ["Graz"]


def test_what_a_language_model_tells_of_every_certain_claim_takes_the_place_of_the_words(
    open_memory: Opener, server: OllamaServer
) -> None:
    memory = open_with(open_memory, server)
    server.script(statements("The user moved to Graz.", "The user keeps bees."))
    memory.add("I moved to Graz. I keep bees.")
    assert texts(memory) == ["The user keeps bees.", "The user moved to Graz."]
    assert [fact.value for fact in memory.search("where do I live?").facts] == ["Graz"]
    memory.settle()
    user = memory.stores.index_of("ana").names.by_key(USER_KEY)
    assert user
    known = facts_of_key(memory.stores.log, "ana", [user.id], ["lives_in"])
    assert [(fact.object, fact.source) for fact in known] == [("Graz", "text")]


def test_a_claim_with_a_secret_does_not_stay_word_for_word(open_memory: Opener, server: OllamaServer) -> None:
    memory = open_with(open_memory, server)
    server.script(statements("The user keeps bees."))
    memory.add("I moved to Graz. My password is hunter2-Xq9!zz. I keep bees.")
    assert not any("hunter2" in record.text for record in memory.list())


def test_facts_end_also_where_a_model_words_the_later_statement(open_memory: Opener, server: OllamaServer) -> None:
    memory: LocalMemory = open_with(open_memory, server)
    memory.add("I live in Berlin", infer=False, observed_at="2026-01-05")
    server.script(statements("The user has moved to Lisbon."))
    memory.add("I moved to Lisbon", observed_at="2026-05-09")
    assert texts(memory, "invalid") == ["I live in Berlin"]
    assert [fact.value for fact in memory.search("where do I live?").facts] == ["Lisbon"]
    assert [hit.memory.text for hit in memory.search("where do I live?", as_of="2026-02-01").hits] == [
        "I live in Berlin"
    ]


def test_a_look_up_in_a_log_that_fails_says_what_to_do(open_memory: Opener) -> None:
    memory = open_memory()
    with memory.stores.log.writing() as connection:
        connection.exec_driver_sql("ALTER TABLE facts RENAME TO lost")

    with pytest.raises(StorageError, match="no such table: facts") as raised:
        facts_of_key(memory.stores.log, memory.user_id, ("any",), ("home",))

    assert raised.value.hint
