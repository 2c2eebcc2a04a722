"""Tokens: made once, kept as a hash, recognised while they count, and nothing else is."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from mcp_memory.cli import app
from mcp_memory.errors import InvalidInputError, NotFoundError
from mcp_memory.memory import LocalMemory
from mcp_memory.redact import find_secrets
from mcp_memory.reports import NewToken
from mcp_memory.user_commands import expiry_of
from tests.conftest import Clock, Opener

NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)


def user_of(memory: LocalMemory, text: str) -> str:
    token = memory.recognised(text)
    return token.user_id if token else ""


def test_a_token_is_recognised_as_its_users_also_after_the_folder_was_closed(open_memory: Opener) -> None:
    memory = open_memory()
    ana, rui = memory.add_token("ana", label="My Desk"), memory.add_token("rui")
    memory.close()
    memory = open_memory()
    assert (user_of(memory, ana.text), user_of(memory, rui.text)) == ("ana", "rui")
    token = memory.recognised(ana.text)
    assert token
    assert (token.label, token.state) == ("my-desk", "active")


def forged(made: NewToken, other: NewToken) -> list[str]:
    head, _, secret = made.text.rpartition("_")
    return [
        "", "mcpm_", made.token.id, secret, head, f"{made.text} ", f" {made.text}", made.text.upper(), made.text[:-1],
        f"{made.text}A", f"{made.text}\n", f"{head}_{'A' * 43}", f"mcpm_{other.token.id}_{secret}",
        made.text.replace(made.token.id, "000000000000"), f"{head}_{'é' * 43}", f"{head}_\ud800{secret[1:]}",
    ]  # fmt: skip


def test_nothing_but_the_whole_text_of_a_token_is_recognised(memory: LocalMemory) -> None:
    made, other = memory.add_token("ana"), memory.add_token("rui")
    assert [text for text in forged(made, other) if memory.recognised(text)] == []
    assert memory.recognised(made.text)


def test_a_token_counts_no_more_once_it_is_revoked_by_id_or_by_name(memory: LocalMemory) -> None:
    first, second, other = memory.add_token("ana"), memory.add_token("ana"), memory.add_token("rui")
    assert [token.id for token in memory.revoke_token(first.token.id.upper())] == [first.token.id]
    assert [user_of(memory, made.text) for made in (first, second, other)] == ["", "ana", "rui"]
    assert [token.id for token in memory.revoke_token("ana")] == [second.token.id]
    assert [user_of(memory, made.text) for made in (first, second, other)] == ["", "", "rui"]
    assert [token.state for token in memory.tokens()] == ["revoked", "revoked", "active"]
    for gone in ("ana", first.token.id, "nobody", ""):
        with pytest.raises(NotFoundError):
            memory.revoke_token(gone)


def test_a_token_counts_until_it_expires(memory: LocalMemory, clock: Clock) -> None:
    made = memory.add_token("ana", expires_at=clock.now + timedelta(hours=1))
    clock.advance(minutes=59, seconds=59)
    assert user_of(memory, made.text) == "ana"
    clock.advance(seconds=1)
    assert user_of(memory, made.text) == ""
    assert [token.state for token in memory.tokens()] == ["expired"]


def test_what_is_stored_does_not_tell_what_to_show(open_memory: Opener) -> None:
    memory = open_memory()
    made = memory.add_token("ana")
    secret = made.text.rpartition("_")[2]
    memory.add("I keep bees", infer=False)
    memory.close()
    stored = [path for path in (memory.folder).rglob("*") if path.is_file()]
    assert stored
    assert [path.name for path in stored if secret.encode() in path.read_bytes()] == []


def test_a_token_is_taken_for_a_secret_in_what_somebody_says(memory: LocalMemory) -> None:
    made = memory.add_token("ana")
    said = f"The memory is at http://box:8765/mcp, use {made.text} for it"
    assert [said[secret.start : secret.end] for secret in find_secrets(said)] == [made.text]


@pytest.mark.parametrize(
    ("name", "expires"), [("", ""), ("  ", ""), ("a" * 201, ""), ("ana", "2020-01-01"), ("ana", "x")]
)
def test_a_token_needs_a_name_and_a_time_to_come(memory: LocalMemory, name: str, expires: str) -> None:
    with pytest.raises(InvalidInputError):
        memory.add_token(name, expires_at=expires)
    assert memory.tokens() == []


@pytest.mark.parametrize(("given", "hours"), [("12h", 12), ("90d", 90 * 24), (" 4W ", 4 * 7 * 24), ("1 d", 24)])
def test_an_expiry_may_be_a_span(given: str, hours: int) -> None:
    assert expiry_of(given, NOW) == NOW + timedelta(hours=hours)


def test_an_expiry_that_is_no_span_is_left_to_be_read_as_a_time() -> None:
    assert (expiry_of("2026-12-01", NOW), expiry_of("", NOW), expiry_of("90", NOW)) == ("2026-12-01", "", "90")
    with pytest.raises(InvalidInputError):
        expiry_of("99999w", NOW.replace(year=9000))


def test_the_commands_make_list_and_revoke_and_show_a_token_once() -> None:
    run = CliRunner().invoke
    made = run(app, ["users", "add", "ana", "--label", "desk", "--expires", "90d"])
    assert made.exit_code == 0, made.stderr
    [text] = made.stdout.split()
    assert text.startswith("mcpm_")
    assert "not shown again" in made.stderr
    assert "opens the memory of 'ana'" in made.stderr
    listed = run(app, ["users", "list", "--json"])
    [token] = json.loads(listed.stdout)
    assert (token["user_id"], token["label"], token["state"]) == ("ana", "desk", "active")
    assert set(token) == {"id", "user_id", "label", "created_at", "expires_at", "state"}
    assert token["id"] in run(app, ["users", "list"]).stdout
    assert json.loads(run(app, ["users", "revoke", token["id"], "--json"]).stdout)[0]["state"] == "revoked"
    again = run(app, ["users", "revoke", "ana"])
    assert (again.exit_code, "users list" in again.stderr) == (1, True)
