"""Forgetting all that something holds of: counted first, in one change, never everything, never somebody else's."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from mcp_memory import cli
from mcp_memory.embedder import Embedder
from mcp_memory.errors import ConflictError, InvalidInputError
from mcp_memory.memory import LocalMemory
from tests.conftest import Attach, Opener
from tests.scanner import traces_of
from tests.test_purge import HIDDEN, MARKER, SIBLING

runner = CliRunner()


def run(*arguments: str, stdin: str = "") -> Result:
    return runner.invoke(cli.app, list(arguments), input=stdin)


@pytest.fixture
def commands(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands open the memory anew each time; the loaded model is lent to them."""
    monkeypatch.setattr("mcp_memory.memory.Embedder", lambda *_: embedder)
    monkeypatch.setenv("MCP_MEMORY_USER_ID", "ana")
    monkeypatch.setenv("COLUMNS", "200")


def fill(memory: LocalMemory) -> None:
    memory.as_agent("pi").add("The tide table hangs by the door.", infer=False, kind="note", run_id="one")
    memory.as_agent("pi").add("Ana likes rye bread.", infer=False, kind="preference", metadata={"project": "larkspur"})
    memory.as_agent("codex").add("The harbour office opens at nine.", infer=False, observed_at="2026-01-05")
    memory.as_agent("codex").add("Ä quay in ÅRHUS is being dug.", infer=False, metadata={"project": 7})


@pytest.mark.parametrize(
    ("where", "n"),
    [
        ({"kind": "note"}, 3),
        ({"agent": "pi"}, 2),
        ({"agent": "pi", "kind": "note"}, 1),
        ({"run_id": "one"}, 1),
        ({"until": "2026-02-01"}, 1),
        ({"since": "2026-02-01"}, 3),
        ({"metadata": {"project": "larkspur"}}, 1),
        ({"metadata": {"project": 7}}, 1),
        ({"contains": "århus IS"}, 1),
        ({"contains": "%"}, 0),
        ({"about": "agent"}, 0),
    ],
)
def test_a_restriction_takes_what_it_holds_of_and_undo_brings_it_back(
    memory: LocalMemory, where: dict[str, Any], n: int
) -> None:
    fill(memory)
    before = {record.id for record in memory.list()}
    matching = memory.matching(where)
    assert (matching.n, len(matching.newest)) == (n, n)
    forgotten = memory.forget(where, expected=matching.mark)
    assert forgotten.n == n
    assert {record.id for record in memory.list()} == before - {record.id for record in matching.newest}
    if n:
        memory.undo(forgotten.change_id)
    assert {record.id for record in memory.list()} == before


@pytest.mark.parametrize("where", [{}, {"kind": ""}, {"contains": " "}, {"metadata": {}}, {"state": "active"}])
def test_without_a_restriction_nothing_is_forgotten(memory: LocalMemory, where: dict[str, Any]) -> None:
    fill(memory)
    with pytest.raises(InvalidInputError, match="nothing says which"):
        memory.forget(where, expected="")
    assert len(memory.list()) == 4


@pytest.mark.parametrize(
    ("where", "message"),
    [({"owner": "ben"}, "unknown restriction 'owner'"), ({"state": "deleted"}, "state"), ({"kind": "x"}, "kind")],
)
def test_a_wrong_restriction_is_named(memory: LocalMemory, where: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        memory.matching(where)


def test_others_than_were_shown_are_left_alone_though_they_are_as_many(memory: LocalMemory) -> None:
    fill(memory)
    where = {"kind": "note"}
    for purge in (False, True):
        shown = memory.matching(where, purge=purge)
        memory.delete(shown.newest[0].id, purge=True)
        memory.add("The ferry leaves at ten.", infer=False, kind="note")
        assert memory.matching(where, purge=purge).n == shown.n
        before = memory.list()
        with pytest.raises(ConflictError, match="it would be other memories by now, 3 of them"):
            memory.forget(where, expected=shown.mark, purge=purge)
        assert memory.list() == before


def test_many_more_than_a_page_go_in_one_change_and_only_the_users_own(open_memory: Opener) -> None:
    with open_memory() as memory:
        texts = [f"Note {number} of the inventory." for number in range(1200)]
        for part in (texts[:600], texts[600:]):
            memory.add(messages=[{"role": "user", "content": text} for text in part], infer=False)
        where = {"contains": "of the inventory"}
        forgotten = memory.forget(where, expected=memory.matching(where).mark)
        assert (forgotten.n, memory.list()) == (1200, [])
        memory.undo(forgotten.change_id)
        assert memory.stats()["active"] == 1200
    with open_memory(user_id="ben") as ben:
        assert ben.matching({"contains": "inventory"}).n == 0


def test_a_purge_by_restriction_leaves_no_trace_of_any(memory: LocalMemory, home: Any) -> None:
    memory.add(messages=[{"role": "user", "content": each} for each in (HIDDEN, SIBLING)], infer=False)
    memory.add(f"{MARKER} rang on Sunday.", infer=False)
    memory.settle()
    memory.delete(memory.list(limit=1)[0].id)
    where = {"contains": MARKER.upper()}
    assert (memory.matching(where).n, memory.matching(where, purge=True).n) == (1, 2)
    assert memory.forget(where, expected=memory.matching(where, purge=True).mark, purge=True).n_purged == 2
    assert traces_of(MARKER, home) == []
    assert [record.text for record in memory.list()] == [SIBLING]
    assert memory.forget(where, expected=memory.matching(where, purge=True).mark, purge=True).n == 0


def test_a_part_of_a_text_is_found_in_any_case_and_accents(memory: LocalMemory) -> None:
    memory.add("We land in İstanbul at Café Ölüdeniz.", infer=False)
    assert [memory.matching({"contains": part}).n for part in ("istanbul", "ISTANBUL", "cafe oludeniz")] == [1, 1, 1]


@pytest.mark.usefixtures("commands")
def test_the_command_counts_asks_and_says_how_to_have_it_back() -> None:
    for text in ("The tide table hangs by the door.", "The tide comes at nine.", "Ana likes rye bread."):
        run("add", text)
    looked = run("forget", "--where", "contains=tide", "--dry-run")
    assert looked.exit_code == 0
    assert "2 match; nothing was changed" in looked.output
    assert "The tide comes at nine." in looked.output
    asked = run("forget", "--where", "contains=tide")
    assert (asked.exit_code, "nobody is there to be asked" in asked.output) == (1, True)
    done = run("forget", "--where", "contains=tide", "--where", "kind=note", "--yes")
    assert done.exit_code == 0, done.output
    change_id = done.output.split("mcp-memory undo ")[1].split()[0]
    assert "deleted 2" in done.output
    assert run("undo", change_id).exit_code == 0
    told = json.loads(run("forget", "--where", "contains=tide", "--purge", "--yes", "--json").stdout)
    assert (told["forgotten"], told["purged"], told["copies"]) == (2, 2, [])
    assert run("forget", "--where", "contains=tide", "--yes").output.startswith("0 match")


@pytest.mark.usefixtures("commands")
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("kind",), "'kind' is not KEY=VALUE"),
        (("kind=note", "kind=fact"), "kind is given twice"),
        (("colour=red",), "unknown restriction 'colour'"),
    ],
)
def test_the_command_names_a_wrong_restriction(given: tuple[str, ...], message: str) -> None:
    result = run("forget", *(part for each in given for part in ("--where", each)), "--yes")
    assert (result.exit_code, message in result.output) == (1, True), result.output


@pytest.mark.usefixtures("commands")
def test_the_command_purges_one_memory(home: Any) -> None:
    run("add", HIDDEN)
    [record] = json.loads(run("list", "--json").stdout)["memories"]
    done = run("delete", record["id"], "--purge")
    assert (done.exit_code, done.output.startswith(f"purged {record['id']}")) == (0, True), done.output
    assert traces_of(MARKER, home) == []


def test_an_agent_purges_through_the_tool(attach: Attach, home: Any) -> None:
    host = attach()
    host.call("add_memory", text=HIDDEN, infer=False)
    [hit] = host.call("search_memory", query="spare key")["structuredContent"]["memories"]
    answer = host.call("delete_memory", memory_id=hit["id"], purge=True)
    assert answer["structuredContent"] == {"deleted": hit["id"], "text": HIDDEN, "purged": True}
    assert answer["content"][0]["text"] == f'purged [{hit["id"]}]: "{HIDDEN}"'
    assert traces_of(MARKER, home) == []
