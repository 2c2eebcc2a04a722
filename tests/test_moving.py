"""Out of one folder and into another: nothing is lost, nothing doubled, and what cannot be taken is said."""

import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_memory import import_rows, import_texts
from mcp_memory.errors import ConflictError, InvalidInputError, McpMemoryError, NotFoundError, StorageError
from mcp_memory.ids import decode
from mcp_memory.memory import LocalMemory
from mcp_memory.records import STATES
from mcp_memory.reports import Imported
from mcp_memory.transfer_form import COLUMNS
from tests.conftest import Clock, Opener
from tests.ollama_server import PATIENCE_S, OllamaServer, facts

TOWNS = ("Berlin", "Lisbon", "Porto", "Ghent", "Zürich")


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def write_lines(path: Path, *values: object) -> Path:
    path.write_bytes(b"".join(json.dumps(value, ensure_ascii=False).encode() + b"\n" for value in values))
    return path


def all_of(memory: LocalMemory) -> list[str]:
    return sorted(record.text for record in memory.list(states=STATES, limit=10_000))


def fill(memory: LocalMemory, clock: Clock) -> None:
    """A life of some months: moves, corrections, deletions, ratings, conversations, facts by hand."""
    for place, town in enumerate(TOWNS):
        memory.add(f"I live in {town} with my sister Eva.", infer=False)
        clock.advance(days=10, microseconds=7)
        memory.add(f"My boss is Tom Fenwick, and we met in {town} over «coffee»\u2028{place}.", infer=False)
        clock.advance(hours=5)
    said = [{"role": "user", "content": f"Note {n}: the invoice of {TOWNS[n % 5]}", "name": "Ana"} for n in range(12)]
    memory.add(messages=said, infer=False, run_id="r1", metadata={"deep": {"er": [1, 2.5, None, "ü"]}})
    memory.add_fact("me", "phone number", "030 1234")
    clock.advance(days=1)
    memory.add_fact("me", "phone number", "030 9999")
    listed = memory.list(limit=100)
    memory.rate(listed[3].id, True)
    memory.update(listed[5].id, text="The invoice of Berlin was paid twice.")
    clock.advance(days=1)
    memory.delete(listed[7].id)
    memory.add("I live in Berlin with my sister Eva.", infer=False, expires_at=clock.now + timedelta(days=400))
    gone = memory.add("Never mind this one.", infer=False).results[0].id
    memory.undo(memory.history(gone).entries[-1].change_id)
    memory.pause("some-agent")


def reopened(memory: LocalMemory, open_memory: Opener) -> LocalMemory:
    """The same with everything in memory made anew: what grows with each change counts words a little otherwise."""
    memory.close()
    return open_memory(folder=memory.folder)


def answers(memory: LocalMemory, clock: Clock, n_questions: int = 12) -> list[Any]:
    """What questions are answered, some of them as of a time or as known at one, and every history."""
    asked: list[Any] = []
    for number in range(n_questions):
        town, past = TOWNS[number % 5], clock.now - timedelta(days=number)
        query = (f"Where did I live: {town}?", f"who met in {town}", f"invoice {number % 12}", "phone number")[
            number % 4
        ]
        when: dict[str, Any] = ({}, {"as_of": past}, {"known_at": past}, {"as_of": past, "known_at": past})[number % 4]
        found = memory.search(query, top_k=10, **when)
        asked.append([(hit.memory.id, hit.memory.text, round(hit.score, 3)) for hit in found.hits])
        asked.append(found.facts)
    records = memory.list(states=STATES, limit=1000)
    asked.append(records)
    asked += [memory.history(record.id) for record in records]
    return [*asked, memory.facts(ended=True, limit=1000), memory.profile(), memory.stats(), memory.paused()]


def test_a_new_folder_answers_as_the_old_one_did(
    memory: LocalMemory, open_memory: Opener, clock: Clock, tmp_path: Path
) -> None:
    fill(memory, clock)
    exported = memory.export_to(tmp_path / "a.jsonl")
    assert exported.counts["memory"] > 25
    other = open_memory(folder=tmp_path / "other")
    taken = other.import_from(tmp_path / "a.jsonl")
    assert (taken.outcome, taken.lag, taken.notices) == ({"added": sum(exported.counts.values())}, "", ())
    assert answers(other, clock, 100) == answers(memory, clock, 100)
    assert other.verify().differences == ()
    other.export_to(tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_bytes().split(b"\n")[1:] == (tmp_path / "a.jsonl").read_bytes().split(b"\n")[1:]


def test_what_came_in_can_be_undone_and_new_ids_come_after_it(
    memory: LocalMemory, open_memory: Opener, clock: Clock, tmp_path: Path
) -> None:
    [receipt] = memory.add("The garden has 12 beds.", infer=False).results
    memory.update(receipt.id, text="The garden has 13 beds.")
    memory.export_to(tmp_path / "a.jsonl")
    # The clock of the other machine is behind.
    clock.advance(days=-3)
    other = open_memory(folder=tmp_path / "other")
    other.import_from(tmp_path / "a.jsonl")
    other.undo(other.history(receipt.id).entries[-1].change_id)
    assert other.get(receipt.id).text == "The garden has 12 beds."
    assert decode(other.add("A new one.", infer=False).results[0].id) > decode(receipt.id)


def test_what_waits_to_be_read_is_read_in_the_new_folder(
    memory: LocalMemory, open_memory: Opener, tmp_path: Path, server: OllamaServer
) -> None:
    memory.add("I keep bees, and my sister Greta lives in Ghent")
    memory.export_to(tmp_path / "a.jsonl")
    server.script(facts("The user keeps bees.", "The user's sister Greta lives in Ghent."))
    other = open_memory(folder=tmp_path / "other", ollama_host=server.url, llm_model="tiny", llm_retry_s=0.05)
    other.import_from(tmp_path / "a.jsonl")
    assert other.settle_queue(PATIENCE_S)
    assert [record.text for record in reversed(other.list(states=["active"]))] == [
        "The user keeps bees.",
        "The user's sister Greta lives in Ghent.",
    ]
    assert [record.text for record in other.list(states=["distilled"])] == [
        "I keep bees, and my sister Greta lives in Ghent"
    ]


def test_an_import_twice_changes_nothing(
    memory: LocalMemory, open_memory: Opener, clock: Clock, tmp_path: Path
) -> None:
    fill(memory, clock)
    memory.export_to(tmp_path / "a.jsonl")
    memory = reopened(memory, open_memory)
    before = answers(memory, clock)
    first, second = memory.import_from(tmp_path / "a.jsonl"), memory.import_from(tmp_path / "a.jsonl", again=True)
    assert set(first.outcome) == set(second.outcome) == {"known"}
    assert memory.import_from(tmp_path / "a.jsonl").n_resumed == first.n_records
    assert answers(memory, clock) == before


def test_an_earlier_state_does_not_come_back_and_a_later_one_comes(
    memory: LocalMemory, open_memory: Opener, clock: Clock, tmp_path: Path
) -> None:
    kept, gone = [memory.add(text, infer=False).results[0].id for text in ("The shed is red.", "The car is blue.")]
    memory.export_to(tmp_path / "early.jsonl")
    other = open_memory(folder=tmp_path / "other")
    other.import_from(tmp_path / "early.jsonl")
    clock.advance(days=1)
    memory.update(kept, text="The shed is green.")
    memory.delete(gone)
    assert memory.import_from(tmp_path / "early.jsonl").outcome["outdated"] == 2
    assert memory.get(kept).text == "The shed is green."
    with pytest.raises(NotFoundError):
        memory.get(gone)
    memory = reopened(memory, open_memory)
    memory.export_to(tmp_path / "late.jsonl")
    assert other.import_from(tmp_path / "late.jsonl").outcome["renewed"] == 2
    assert [hit.memory.text for hit in other.search("shed car").hits] == ["The shed is green."]
    assert answers(other, clock)[:-1] == answers(memory, clock)[:-1]


def test_the_memory_of_one_user_becomes_that_of_another_in_the_same_folder(
    memory: LocalMemory, open_memory: Opener, clock: Clock, tmp_path: Path
) -> None:
    fill(memory, clock)
    memory.export_to(tmp_path / "a.jsonl")
    before = answers(memory, clock)
    bob = memory.as_client(memory.settings.model_copy(update={"user_id": "bob"}), "t")
    taken = bob.import_from(tmp_path / "a.jsonl")
    assert "ids of its own" in " ".join(taken.notices)
    assert answers(memory, clock) == before
    assert all_of(bob) == all_of(memory)
    theirs = {record.id for record in bob.list(states=STATES, limit=1000)}
    assert not theirs & {record.id for record in memory.list(states=STATES, limit=1000)}
    # What names them moved with them.
    ended = [record for record in bob.list(states=["invalid"], limit=1000) if record.superseded_by]
    assert ended
    assert {record.superseded_by for record in ended} <= theirs
    assert [fact.object for fact in bob.facts(ended=True)] == [fact.object for fact in memory.facts(ended=True)]
    assert all(bob.history(identifier).entries for identifier in theirs)
    assert memory.verify().differences == ()
    # Again, and later with more in it: the same ids.
    memory.add("One more thing.", infer=False)
    memory.export_to(tmp_path / "b.jsonl")
    assert bob.import_from(tmp_path / "b.jsonl").outcome["added"] > 0
    assert all_of(bob) == all_of(memory)


def test_names_that_are_known_are_one_afterwards(
    memory: LocalMemory, open_memory: Opener, clock: Clock, tmp_path: Path
) -> None:
    memory.add("Tom Fenwick likes chess.", infer=False)
    memory.export_to(tmp_path / "a.jsonl")
    clock.advance(seconds=1)
    other = open_memory(folder=tmp_path / "other")
    other.add("Yesterday I met Tom Fenwick.", infer=False)
    taken = other.import_from(tmp_path / "a.jsonl")
    assert "known here" in " ".join(taken.notices)
    [tom] = [entity for entity in other.stores.log.get_entities("ana") if entity.name == "Tom Fenwick"]
    assert tom.n_linked == 2
    assert {hit.memory.text for hit in other.search("Tom Fenwick").hits} == {
        "Tom Fenwick likes chess.",
        "Yesterday I met Tom Fenwick.",
    }
    assert other.verify().differences == ()


@pytest.mark.parametrize("n_before", [1, 6])
def test_a_run_that_was_cut_short_goes_on_and_doubles_nothing(
    open_memory: Opener, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_before: int
) -> None:
    memory = open_memory(folder=tmp_path / "first")
    fill(memory, clock)
    n_records = sum(memory.export_to(tmp_path / "a.jsonl").counts.values())
    memory = reopened(memory, open_memory)
    monkeypatch.setattr(import_rows, "BATCH", 25)
    other = open_memory(folder=tmp_path / "other")
    n_heard = 0

    def leave(_done: int, _total: int) -> None:
        nonlocal n_heard
        n_heard += 1
        if n_heard > n_before:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        other.import_from(tmp_path / "a.jsonl", on_progress=leave)
    other.close()
    other = open_memory(folder=tmp_path / "other")
    assert other.import_from(tmp_path / "a.jsonl").n_resumed == min(25 * n_before, n_records)
    assert answers(other, clock) == answers(memory, clock)
    other.export_to(tmp_path / "b.jsonl")
    assert lines_of(tmp_path / "b.jsonl")[1:] == lines_of(tmp_path / "a.jsonl")[1:]


def _cut(lines: list[bytes]) -> list[bytes]:
    return lines[:-3]


def _wrong(lines: list[bytes]) -> list[bytes]:
    return [*lines[:4], lines[4].replace(b'"created_at":"2', b'"created_at":"x'), *lines[5:]]


def _newer(lines: list[bytes]) -> list[bytes]:
    header = json.loads(lines[0]) | {"version": 2, "program": "9.1"}
    return [json.dumps(header).encode() + b"\n", *lines[1:]]


def _without_one(lines: list[bytes]) -> list[bytes]:
    return [*lines[:2], *lines[3:]]


def _edited(lines: list[bytes]) -> list[bytes]:
    return [line.replace(b"Eva", b"Ida") if line.startswith(b'{"type":"memory"') else line for line in lines]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_cut, "was cut"),
        (_wrong, "line 5: created_at"),
        (_newer, "update mcp-memory to 9.1"),
        (_without_one, "were written"),
        (lambda lines: [*lines, lines[1]], "more after the last line"),
        (lambda lines: lines[1:], "line 1"),
        (lambda _: [], "is none of|begins like none"),
    ],
)
def test_a_file_that_is_not_whole_is_refused_with_its_line_and_changes_nothing(
    memory: LocalMemory,
    open_memory: Opener,
    tmp_path: Path,
    spoil: Callable[[list[bytes]], list[bytes]],
    said: str,
) -> None:
    memory.add("I live in Berlin with my sister Eva.", infer=False)
    memory.export_to(tmp_path / "a.jsonl")
    lines = (tmp_path / "a.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "b.jsonl").write_bytes(b"".join(spoil(lines)))
    other = open_memory(folder=tmp_path / "other")
    with pytest.raises(InvalidInputError, match=said):
        other.import_from(tmp_path / "b.jsonl", format="mcp-memory" if said == "line 1" else "auto")
    assert other.stats() == {"entities": 0, "episodes": 0, "jobs": 0}


def test_an_edited_export_is_refused_where_its_memories_are(memory: LocalMemory, tmp_path: Path) -> None:
    memory.add("I live in Berlin with my sister Eva.", infer=False)
    memory.export_to(tmp_path / "a.jsonl")
    lines = (tmp_path / "a.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "b.jsonl").write_bytes(b"".join(_edited(lines)))
    with pytest.raises(ConflictError, match="something else"):
        memory.import_from(tmp_path / "b.jsonl")
    assert all_of(memory) == ["I live in Berlin with my sister Eva."]


def test_what_this_version_does_not_know_is_told(memory: LocalMemory, open_memory: Opener, tmp_path: Path) -> None:
    memory.add("The shed is red.", infer=False)
    memory.export_to(tmp_path / "a.jsonl")
    header, *records, end = lines_of(tmp_path / "a.jsonl")
    records = [record | ({"mood": "good"} if record["type"] == "memory" else {}) for record in records]
    end["records"] += 1
    path = write_lines(tmp_path / "b.jsonl", header, *records, {"type": "picture", "id": "x"}, end)
    taken = open_memory(folder=tmp_path / "other").import_from(path)
    assert taken.notices == (
        "1 × field 'mood' of memory: not known to this version, and left out",
        "1 × type 'picture': not known to this version, and left out",
    )


def test_a_dry_run_says_what_would_come_and_changes_nothing(
    memory: LocalMemory, open_memory: Opener, clock: Clock, tmp_path: Path
) -> None:
    fill(memory, clock)
    memory.export_to(tmp_path / "a.jsonl")
    other = open_memory(folder=tmp_path / "other")
    dry = other.import_from(tmp_path / "a.jsonl", dry_run=True)
    assert other.stats() == {"entities": 0, "episodes": 0, "jobs": 0}
    assert dry.is_dry_run
    assert dry.counts["memory"] == len(all_of(memory))
    assert other.import_from(tmp_path / "a.jsonl").n_resumed == 0


def test_an_export_is_for_its_owner_alone_and_overwrites_nothing_unasked(memory: LocalMemory, tmp_path: Path) -> None:
    memory.add("The shed is red.", infer=False)
    path = tmp_path / "a.jsonl"
    memory.export_to(path)
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()
    memory.add("The car is blue.", infer=False)
    with pytest.raises(InvalidInputError, match="exists"):
        memory.export_to(path)
    assert path.read_bytes() == before
    memory.export_to(path, overwrite=True)
    assert path.read_bytes() != before
    with pytest.raises(InvalidInputError, match="data folder"):
        memory.export_to(memory.folder / "a.jsonl")
    assert [found.name for found in tmp_path.iterdir() if "draft" in found.name] == []


def test_an_export_is_of_one_moment_while_others_add(memory: LocalMemory, open_memory: Opener, tmp_path: Path) -> None:
    memory.add(messages=[{"role": "user", "content": f"Thing {n}"} for n in range(220)], infer=False)

    def add(done: int, _total: int) -> None:
        memory.add(f"Meanwhile {done}", infer=False)

    exported = memory.export_to(tmp_path / "a.jsonl", on_progress=add)
    assert exported.counts["memory"] == 220
    assert b"Meanwhile" not in (tmp_path / "a.jsonl").read_bytes()
    assert open_memory(folder=tmp_path / "other").import_from(tmp_path / "a.jsonl").outcome["added"] > 440


def test_nothing_of_another_user_and_no_secret_of_the_program_is_in_an_export(
    memory: LocalMemory, tmp_path: Path
) -> None:
    memory.add("The shed is red.", infer=False)
    bob = memory.as_client(memory.settings.model_copy(update={"user_id": "bob"}), "t")
    bob.add("Bob's marker qzxv.", infer=False)
    memory.export_to(tmp_path / "a.jsonl")
    written = (tmp_path / "a.jsonl").read_text(encoding="utf-8")
    assert "qzxv" not in written
    assert '"bob"' not in written
    assert {record["type"] for record in lines_of(tmp_path / "a.jsonl")[1:]} <= {
        "episode", "memory", "entity", "fact", "message", "event", "end",
    }  # fmt: skip


def test_a_paused_client_takes_nothing_in(memory: LocalMemory, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", {"text": "The shed is red."})
    memory.pause("python")
    with pytest.raises(ConflictError, match="paused"):
        memory.import_from(path)
    assert all_of(memory) == []


def test_what_the_user_has_excluded_stays_out(open_memory: Opener, tmp_path: Path) -> None:
    memory = open_memory(folder=tmp_path / "plain")
    memory.add("Project Nightjar is late.", infer=False)
    memory.export_to(tmp_path / "a.jsonl")
    texts = write_lines(tmp_path / "b.jsonl", {"text": "Nightjar again"}, {"text": "The shed is red."})
    other = open_memory(folder=tmp_path / "other", exclude_text=["nightjar"])
    with pytest.raises(InvalidInputError, match=r"line \d+: .*excludes"):
        other.import_from(tmp_path / "a.jsonl")
    assert other.import_from(texts).outcome == {"excluded": 1, "added": 1}
    assert all_of(other) == ["The shed is red."]
    other.export_to(tmp_path / "c.jsonl")
    assert "ightjar" not in (tmp_path / "c.jsonl").read_text(encoding="utf-8")


_TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60)
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), _TEXTS, st.sampled_from(["", "r1"])),
        st.tuples(st.just("say"), st.sampled_from(TOWNS), st.booleans()),
        st.tuples(st.just("update"), st.integers(0, 9), _TEXTS),
        st.tuples(st.just("delete"), st.integers(0, 9), st.just("")),
        st.tuples(st.just("undo"), st.integers(0, 9), st.just("")),
        st.tuples(st.just("rate"), st.integers(0, 9), st.booleans()),
        st.tuples(st.just("fact"), st.sampled_from(["phone number", "boss", "favourite colour"]), _TEXTS),
    ),
    min_size=1,
    max_size=12,
)


def _take(step: tuple[str, Any, Any], memory: LocalMemory) -> None:
    what, first, second = step
    listed = memory.list(states=STATES, limit=10)
    if what == "add":
        memory.add(first, infer=bool(second), run_id=second)
    elif what == "say":
        memory.add(f"I {'moved to' if second else 'live in'} {first}.", infer=False)
    elif what == "fact":
        memory.add_fact("me", first, second)
    elif first < len(listed):
        chosen = listed[first].id
        if what == "update":
            memory.update(chosen, text=second)
        elif what == "delete":
            memory.delete(chosen)
        elif what == "rate":
            memory.rate(chosen, second)
        else:
            memory.undo(memory.history(chosen).entries[-1].change_id)


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[Path]:
    """A new place each time, as hypothesis runs a test many times."""
    return (tmp_path / str(number) for number in count())


@pytest.mark.slow
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=_STEPS)
def test_whatever_has_happened_a_folder_moves_whole(
    open_memory: Opener, clock: Clock, folders: Iterator[Path], steps: list[tuple[str, Any, Any]]
) -> None:
    place = next(folders)
    memory, other = open_memory(folder=place / "a"), open_memory(folder=place / "b")
    for step in steps:
        clock.advance(hours=7, microseconds=1)
        try:
            _take(step, memory)
        except McpMemoryError:
            # An empty text, a second undo: refused, and nothing changed.
            continue
    memory.export_to(place / "a.jsonl")
    memory = reopened(memory, open_memory)
    other.import_from(place / "a.jsonl")
    other.export_to(place / "b.jsonl")
    assert (place / "b.jsonl").read_bytes().split(b"\n")[1:] == (place / "a.jsonl").read_bytes().split(b"\n")[1:]
    records = memory.list(states=STATES, limit=100)
    assert other.list(states=STATES, limit=100) == records
    assert [other.history(record.id) for record in records] == [memory.history(record.id) for record in records]
    for query in ("Where do I live?", "boss", *(record.text[:40] for record in records[:3])):
        if query.strip():
            found = [
                [(hit.memory.id, round(hit.score, 3)) for hit in each.search(query).hits] for each in (memory, other)
            ]
            assert found[0] == found[1]
    memory.close()
    other.close()


# Texts of elsewhere


def told(memory: LocalMemory, **filters: Any) -> list[str]:
    return [record.text for record in reversed(memory.list(filters=filters or None, limit=1000))]


def test_messages_come_in_their_order_each_with_its_time(memory: LocalMemory, tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "chat.jsonl",
        {"role": "user", "content": "I live in Berlin.", "name": "Ana", "run_id": "c1", "observed_at": "2024-01-01"},
        {"role": "assistant", "content": "Noted.", "run_id": "c1", "observed_at": "2024-01-01T10:00:00Z"},
        {"role": "user", "content": "I live in Lisbon.", "name": "Ana", "run_id": "c1", "observed_at": "2024-06-01"},
        {"text": "Buy milk", "kind": "plan", "metadata": {"list": "shop"}, "mood": "good"},
    )
    dry = memory.import_from(path, dry_run=True)
    assert dry.outcome == {"added": 4}
    taken = memory.import_from(path)
    assert (taken.n_records, taken.outcome, taken.counts) == (4, {"added": 4, "excluded": 0}, {"message": 3, "plan": 1})
    assert taken.notices == ("1 × field 'mood': kept as metadata",)
    [berlin, noted, lisbon, milk] = sorted(memory.list(states=STATES), key=lambda record: record.id)
    assert (berlin.text, berlin.state, berlin.speaker, berlin.position) == ("I live in Berlin.", "invalid", "Ana", 0)
    assert berlin.invalid_at == lisbon.observed_at
    assert (noted.role, noted.position, noted.observed_at.hour) == ("assistant", 1, 10)
    assert (milk.kind, milk.metadata) == ("plan", {"source": "chat.jsonl", "mood": "good", "list": "shop"})
    assert [hit.memory.text for hit in memory.search("Where do I live?", as_of="2024-02-01").hits][:1] == [berlin.text]


def test_a_text_that_is_said_again_is_not_doubled(memory: LocalMemory, tmp_path: Path) -> None:
    memory.add("The shed is red.", infer=False)
    path = write_lines(
        tmp_path / "a.jsonl",
        {"text": "The shed is red."},
        {"text": "The car is blue.", "observed_at": "2024-01-01"},
        {"text": "The car is blue.", "observed_at": "2024-02-01"},
    )
    assert memory.import_from(path, dry_run=True).outcome == {"duplicate": 2, "added": 1}
    assert memory.import_from(path).outcome == {"duplicate": 2, "added": 1, "excluded": 0}
    assert memory.import_from(path).n_resumed == 3
    assert memory.import_from(path, again=True).outcome == {"duplicate": 3, "excluded": 0}
    assert all_of(memory) == ["The car is blue.", "The shed is red."]


def test_a_wrong_line_is_named_and_nothing_is_taken_unless_it_is_to_be_left_out(
    memory: LocalMemory, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "a.jsonl", {"text": "The shed is red."}, {"role": "clown", "content": "hi"}, 7)
    path.write_bytes(path.read_bytes() + b"{oops\n")
    with pytest.raises(InvalidInputError, match=r"line 2: .*clown.*line 3: .*line 4: "):
        memory.import_from(path)
    assert all_of(memory) == []
    assert len(memory.import_from(path, dry_run=True).problems) == 3
    taken = memory.import_from(path, skip_bad=True)
    assert [problem.line for problem in taken.problems] == [2, 3, 4]
    assert all_of(memory) == ["The shed is red."]


@pytest.mark.parametrize("n_before", [1, 4])
def test_texts_go_on_where_a_run_was_cut_short(
    open_memory: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_before: int
) -> None:
    monkeypatch.setattr(import_texts, "BATCH", 10)
    path = write_lines(
        tmp_path / "a.jsonl",
        *({"role": "user", "content": f"Message {n}", "run_id": f"c{n // 37}"} for n in range(100)),
    )
    n_heard = 0

    def leave(_done: int, _total: int) -> None:
        nonlocal n_heard
        n_heard += 1
        if n_heard > n_before:
            raise StorageError("the client left", hint="come back")

    memory = open_memory()
    with pytest.raises(StorageError, match="the client left"):
        memory.import_from(path, on_progress=leave)
    memory.close()
    memory = open_memory()
    n_there = len(all_of(memory))
    assert n_there < 100
    taken = memory.import_from(path)
    assert taken.n_resumed == n_there
    records = sorted(memory.list(limit=1000), key=lambda record: record.id)
    assert [record.text for record in records] == [f"Message {n}" for n in range(100)]
    assert [record.position for record in records] == [n % 37 for n in range(100)]
    assert memory.verify().differences == ()


def test_a_failing_batch_keeps_those_after_it_out(
    memory: LocalMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_texts, "BATCH", 10)
    path = write_lines(tmp_path / "a.jsonl", *({"role": "user", "content": f"Message {n}"} for n in range(100)))
    commit, n_committed = memory.stores.log.commit, 0

    def failing(change: Any, *then: Any) -> Any:
        nonlocal n_committed
        n_committed += 1
        if n_committed == 3:
            raise StorageError("the disk is full", hint="make room")
        return commit(change, *then)

    monkeypatch.setattr(memory.stores.log, "commit", failing)
    with pytest.raises(StorageError, match="full"):
        memory.import_from(path)
    assert all_of(memory) == sorted(f"Message {n}" for n in range(20))
    assert memory.import_from(path).n_resumed == 20
    assert all_of(memory) == sorted(f"Message {n}" for n in range(100))


GRAPH = (
    {"type": "entity", "name": "John_Smith", "entityType": "person",
     "observations": ["Speaks fluent Spanish", "John Smith graduated in 2019", "Speaks fluent Spanish"]},
    {"type": "entity", "name": "default_user", "entityType": "person", "observations": ["Prefers dark mode"]},
    {"type": "entity", "name": "Anthropic", "entityType": "company", "observations": []},
    {"type": "relation", "from": "John_Smith", "to": "Anthropic", "relationType": "works_at"},
)  # fmt: skip
OF_GRAPH = [
    "John Smith: Speaks fluent Spanish",
    "John Smith graduated in 2019",
    "The user: Prefers dark mode",
    "John Smith works at Anthropic",
    "Anthropic: is of type company",
]


def test_a_graph_of_server_memory_becomes_statements_that_stand_alone(memory: LocalMemory, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "memory.jsonl", *GRAPH)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    taken = memory.import_from(path)
    assert (taken.format, taken.outcome) == ("server-memory", {"added": 5, "duplicate": 1, "excluded": 0})
    assert told(memory) == OF_GRAPH
    [hit, *_] = memory.search("Which languages does John Smith speak?").hits
    assert (hit.memory.text, hit.memory.metadata) == (
        OF_GRAPH[0],
        {"source": "memory.jsonl", "entity": "John_Smith", "entity_type": "person"},
    )
    assert {fact.object for fact in memory.facts(of="John Smith")} == {"Anthropic"}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_graph_in_one_value_comes_in_too(memory: LocalMemory, tmp_path: Path, indent: int | None) -> None:
    parts = [{name: value for name, value in part.items() if name != "type"} for part in GRAPH]
    graph = {"entities": parts[:3], "relations": parts[3:]}
    (tmp_path / "memory.json").write_text(json.dumps(graph, indent=indent), encoding="utf-8")
    memory.import_from(tmp_path / "memory.json")
    assert told(memory) == OF_GRAPH


NOTE = """---
title: Coffee
date: 2024-03-05
tags: [drinks, hot]
status: draft
---
# Coffee

About [[Beans|beans]] and water.

## Methods

- [method] Pour over is best #brewing
- [x] bought a kettle
- pairs_with [[Chocolate]]

```
# no heading
```
"""


def test_a_note_comes_apart_under_its_headings(memory: LocalMemory, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "drinks").mkdir(parents=True)
    (notes / ".trash").mkdir()
    (notes / ".trash" / "old.md").write_text("gone", encoding="utf-8")
    (notes / "drinks" / "coffee.md").write_text(NOTE, encoding="utf-8")
    (notes / "plain.markdown").write_text("Just a line, über alles.", encoding="utf-8")
    (notes / "picture.png").write_bytes(b"\x89PNG")
    os.utime(notes / "plain.markdown", (1_700_000_000, 1_700_000_000))
    assert memory.import_from(notes).outcome == {"added": 6, "excluded": 0}
    by_text = {record.text: record for record in memory.list()}
    assert list(reversed(by_text)) == [
        "Coffee\nAbout beans and water.",
        "Coffee › Methods\nPour over is best #brewing",
        "Coffee › Methods\n- [x] bought a kettle",
        "Coffee pairs with Chocolate",
        "Coffee › Methods\n```\n# no heading\n```",
        "plain\nJust a line, über alles.",
    ]


def test_of_a_changed_note_only_what_is_new_is_added(memory: LocalMemory, tmp_path: Path) -> None:
    path = tmp_path / "coffee.md"
    path.write_text(NOTE, encoding="utf-8")
    first = memory.import_from(path)
    assert memory.import_from(path).n_resumed == first.n_records
    path.write_text(NOTE.replace("best", "better"), encoding="utf-8")
    assert memory.import_from(path).outcome == {"added": 1, "duplicate": first.n_records - 1, "excluded": 0}
    [record] = [record for record in memory.list() if "better" in record.text]
    assert record.observed_at.isoformat() == "2024-03-05T00:00:00+00:00"
    assert record.metadata == {
        "source": "coffee.md", "title": "Coffee", "tags": ["drinks", "hot", "brewing"], "category": "method",
        "front_matter": {"status": "draft"},
    }  # fmt: skip


def test_front_matter_that_is_broken_is_named(memory: LocalMemory, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\ntitle: [x\n---\nhello\n", encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"a\.md, line 1: the front matter"):
        memory.import_from(tmp_path / "a.md")


@pytest.mark.parametrize("content", [b"", b"hello\n", b"[1, 2", b"\xff\xfe\x00", b'{"a": 1}\n'])
def test_a_file_of_no_known_form_is_refused(memory: LocalMemory, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(InvalidInputError):
        memory.import_from(tmp_path / "a.txt")
    with pytest.raises(InvalidInputError, match="there is no"):
        memory.import_from(tmp_path / "nowhere.jsonl")


def test_texts_can_be_queued_for_extraction(memory: LocalMemory, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", {"role": "user", "content": "I keep bees", "observed_at": "2024-01-01"})
    taken: Imported = memory.import_from(path, infer=True)
    assert (taken.outcome["queued"], memory.stats()["jobs"]) == (1, 1)


# Pairs for training


def test_pairs_hold_what_was_read_and_what_is_kept_of_it_by_now(
    open_memory: Opener, tmp_path: Path, server: OllamaServer
) -> None:
    given_: dict[str, Any] = {"ollama_host": server.url, "llm_model": "tiny", "add_wait_s": PATIENCE_S}
    memory = open_memory(**given_)
    server.script(
        facts("The user keeps bees.", "The user's sister Greta lives in Ghent."),
        facts(kind="other"),
        facts("The user's shed is red."),
    )
    bees, _greta = memory.add("I keep bees, and my sister Greta lives in Ghent. My password is hunter2sesame!").results
    memory.add("thanks, that was lovely of you!")
    [shed] = memory.add("My shed is red").results
    memory.add("kept as it is", infer=False)
    memory.update(bees.id, text="The user keeps eleven bees.")
    memory.delete(shed.id)
    exported = memory.export_to(tmp_path / "pairs.jsonl", training=True)
    pairs = lines_of(tmp_path / "pairs.jsonl")
    assert exported.counts == {"episodes": 2, "memories": 2, "without_memories": 1}
    assert [[memory["text"] for memory in pair["memories"]] for pair in pairs] == [
        ["The user keeps eleven bees.", "The user's sister Greta lives in Ghent."],
        [],
    ]
    assert pairs[0]["messages"][0]["content"].startswith("I keep bees, and my sister Greta")
    assert "hunter2" not in (tmp_path / "pairs.jsonl").read_text(encoding="utf-8")
    assert "shed" not in (tmp_path / "pairs.jsonl").read_text(encoding="utf-8")
    assert (pairs[0]["model"], pairs[1]["messages"][0]["role"]) == ("tiny", "user")


def test_the_page_on_the_format_names_every_type_and_field() -> None:
    page = (Path(__file__).parent.parent / "docs" / "export-format.md").read_text(encoding="utf-8")
    rows = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| `")}
    assert list(rows) == list(COLUMNS)
    for name, columns in COLUMNS.items():
        for column, _, _ in columns:
            called = "entity_type" if (name, column) == ("entity", "type") else column
            assert f"`{called}`" in rows[name], (name, called)


@pytest.mark.parametrize(
    "front",
    ["a: &a [1, 2]\nb: &b [" + "*a, " * 60 + "]\nc: &c [" + "*b, " * 60 + "]\nd: [" + "*c, " * 60 + "]", "a: &a [*a]"],
    ids=["names its parts many times", "names itself"],
)
def test_front_matter_that_would_have_no_end_is_named(memory: LocalMemory, tmp_path: Path, front: str) -> None:
    (tmp_path / "a.md").write_text(f"---\n{front}\n---\nThe gate is green.\n", encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"a\.md, line 1: the front matter cannot be read"):
        memory.import_from(tmp_path / "a.md")


def test_a_pipe_is_not_waited_for(memory: LocalMemory, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(InvalidInputError, match="is no file"):
        memory.import_from(tmp_path / "pipe.jsonl")


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_of_two_folders_that_went_on_apart_the_later_truth_holds_in_the_one_that_has_both(
    open_memory: Opener, tmp_path: Path, clock: Clock, order: str
) -> None:
    with open_memory(folder=tmp_path / "a") as memory:
        memory.add("I live in Graz.", infer=False, observed_at="2026-01-01")
        memory.settle()
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    for name, place, month in (("a", "Lisbon", 3), ("b", "Porto", 5)):
        clock.advance(minutes=5)
        with open_memory(folder=tmp_path / name) as memory:
            memory.add(f"I live in {place}.", infer=False, observed_at=f"2026-0{month}-01")
            memory.export_to(tmp_path / f"{name}.jsonl")
    with open_memory(folder=tmp_path / "both") as both:
        for name in order:
            both.import_from(tmp_path / f"{name}.jsonl")
        told = sorted((fact.object, fact.valid_from.month, fact.invalid_at) for fact in both.facts(ended=True))
        assert [(place, month, end and end.month) for place, month, end in told] == [
            ("Graz", 1, 3),
            ("Lisbon", 3, 5),
            ("Porto", 5, None),
        ]
        assert [hit.memory.text for hit in both.search("Where do I live?").hits] == ["I live in Porto."]
        assert [hit.memory.text for hit in both.search("Where do I live?", as_of="2026-04-01").hits] == [
            "I live in Lisbon."
        ]
        assert both.verify().differences == ()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("metadata", [1]),
        ("metadata", "text"),
        ("importance", 7),
        ("position", 1 << 70),
        ("revision", "~~~~"),
        ("text", "half \ud800 of a character"),
        ("observed_at", "0001-01-01T00:00:00+14:00"),
    ],
)
def test_a_record_that_the_log_could_not_hold_is_named_before_anything_is_written(
    memory: LocalMemory, tmp_path: Path, open_memory: Opener, field: str, value: Any
) -> None:
    memory.add("I keep bees.", infer=False)
    memory.export_to(tmp_path / "a.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    next(line for line in lines if line.get("type") == "memory")[field] = value
    (tmp_path / "b.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    with open_memory(folder=tmp_path / "other") as other:
        with pytest.raises(InvalidInputError, match=r"b\.jsonl: line \d"):
            other.import_from(tmp_path / "b.jsonl")
        assert other.stats().get("active", 0) == 0


@pytest.mark.parametrize("row", [{}, {"name_key": "x"}, "hi", [1], {"text": "x"}])
def test_an_event_that_tells_of_no_row_is_named(
    memory: LocalMemory, tmp_path: Path, open_memory: Opener, row: Any
) -> None:
    memory.add("I keep bees.", infer=False)
    memory.export_to(tmp_path / "a.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    next(line for line in lines if line.get("type") == "event")["after"] = row
    (tmp_path / "b.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    with open_memory(folder=tmp_path / "other") as other, pytest.raises(InvalidInputError, match="no row as an event"):
        other.import_from(tmp_path / "b.jsonl")


@pytest.mark.parametrize(
    "graph",
    ['{"name":"Ana","observations":["x"]}\n{"type":"entity","name":"Bo","observations":["y"]}', '{"entities": null}',
     '{"entities": 5}', '{"type":"entity","name":"A\\ud800","observations":[5]}', "5", "null"],
)  # fmt: skip
def test_a_graph_that_is_none_is_named(memory: LocalMemory, tmp_path: Path, graph: str) -> None:
    (tmp_path / "kg.jsonl").write_text(graph + "\n", encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"kg\.jsonl, line 1"):
        memory.import_from(tmp_path / "kg.jsonl", format="server-memory")
    assert memory.list() == []


def test_nothing_is_purged_while_a_file_comes_in(
    memory: LocalMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_memory.purge._WAIT_S", 0.01)
    memory.add("I keep bees.", infer=False)
    [record] = memory.list()
    refused: list[str] = []

    def purge_meanwhile(_done: int, _total: int) -> None:
        with pytest.raises(StorageError, match="a file is being imported; nothing was purged"):
            memory.delete(record.id, purge=True)
        refused.append(record.id)

    (tmp_path / "said.jsonl").write_text('{"text": "Ann keeps hens."}\n', encoding="utf-8")
    memory.import_from(tmp_path / "said.jsonl", on_progress=purge_meanwhile)
    assert refused
    assert memory.delete(record.id, purge=True).n_purged == 1
