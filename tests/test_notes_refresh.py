"""Kept notes files: current by themselves, for their own user only, and whatever is wrong with one left as it is."""

import json
import logging
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcp_memory import notes_refresh
from mcp_memory.errors import InvalidInputError, StorageError
from mcp_memory.memory import LocalMemory
from mcp_memory.notes import Edit, carry_out, plan_sync
from mcp_memory.notes_record import RECORD_NAME
from mcp_memory.pack_profile import notes_lines
from tests.conftest import Opener
from tests.engines import wait_until
from tests.ollama_server import PATIENCE_S, OllamaServer
from tests.test_profile import PETS, SUMMARY, learn
from tests.test_queue import open_with

LOGGER = "mcp_memory.notes_refresh"


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes_refresh, "QUIET_S", 0.02)


def keep(memory: LocalMemory, path: Path, max_tokens: int = 800) -> Path:
    """What `sync-notes FILE` does."""
    carry_out(plan_sync(path, notes_lines(memory.profile(), max_tokens)))
    memory.keep_notes(str(path), max_tokens)
    return path


def tell(memory: LocalMemory, text: str) -> str:
    return memory.add(text, kind="fact", infer=False).results[0].id


def await_text(path: Path, *, has: str = "", lacks: str = "\0") -> None:
    wait_until(lambda: has in (text := path.read_text(encoding="utf-8")) and lacks not in text)


def await_idle(memory: LocalMemory) -> None:
    """Until the files have been looked at after the last change, and nothing is to follow."""
    refresh = memory._parts.notes
    wait_until(lambda: refresh._rest_s() is None and is_free(refresh._writing))


def is_free(lock: threading.Lock) -> bool:
    if is_taken := lock.acquire(blocking=False):
        lock.release()
    return is_taken


def looked_at_again(memory: LocalMemory) -> None:
    """Have the files looked at once more, to the end."""
    refresh, ends = memory._parts.notes, threading.Event()
    look = refresh._refresh_all

    def look_and_tell() -> bool:
        try:
            return look()
        finally:
            ends.set()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(refresh, "_refresh_all", look_and_tell)
        refresh.note_change()
        assert ends.wait(PATIENCE_S)
    await_idle(memory)


def kept(home: Path) -> dict[str, Any]:
    files: dict[str, Any] = json.loads((home / RECORD_NAME).read_text(encoding="utf-8"))["files"]
    return files


def test_a_kept_file_follows_every_kind_of_change_and_nothing_else_in_it_moves(
    memory: LocalMemory, tmp_path: Path
) -> None:
    notes = tmp_path / "AGENTS.md"
    notes.write_bytes(b"# Mine\r\n\r\nlast line")
    keep(memory, notes)
    bees = tell(memory, "I keep bees")
    await_text(notes, has="I keep bees")
    assert notes.read_bytes().startswith(b"# Mine\r\n\r\nlast line\r\n\r\n<!-- mcp-memory:begin ")
    memory.update(bees, text="I keep many bees")
    await_text(notes, has="I keep many bees")
    memory.delete(bees)
    await_text(notes, lacks="bees")
    memory.undo(memory.history(bees).entries[-1].change_id)
    await_text(notes, has="I keep many bees")
    memory.add_fact("me", "shoe size", "43")
    await_text(notes, has="43")
    memory.capture([{"role": "user", "content": "My sister is called Ines."}], conversation="c")
    await_text(notes, has="Ines")


def test_a_rating_that_moves_the_profile_reaches_the_file(memory: LocalMemory, tmp_path: Path) -> None:
    hens, bees = tell(memory, "I keep hens"), tell(memory, "I keep bees")
    notes = keep(memory, tmp_path / "AGENTS.md")

    def first_is_hens() -> bool:
        text = notes.read_text(encoding="utf-8")
        return text.index("hens") < text.index("bees")

    assert not first_is_hens()
    for _ in range(5):
        memory.rate(hens, useful=True)
        memory.rate(bees, useful=False)
    wait_until(first_is_hens)


def test_a_summary_that_was_made_in_the_background_reaches_the_file(
    open_memory: Opener, server: OllamaServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_with(open_memory, server)
    notes = keep(memory, tmp_path / "AGENTS.md")
    server.script_aside("summary", {"summary": SUMMARY})
    noted: list[bool] = []
    note = memory._parts.notes.note_change

    def note_and_look() -> None:
        noted.append(bool(memory.profile().summary))
        note()

    # The refresh that the last statement asks for may come after the summary by chance.
    monkeypatch.setattr(memory._parts.notes, "note_change", note_and_look)
    learn(memory, server, *PETS)
    assert noted[-1]
    await_text(notes, has="by a language model")


def test_many_changes_at_once_are_written_together(
    memory: LocalMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notes_refresh, "QUIET_S", 0.5)
    notes = keep(memory, tmp_path / "AGENTS.md")
    written: list[Path] = []

    def count(edit: Edit) -> None:
        written.append(edit.path)
        carry_out(edit)

    monkeypatch.setattr(notes_refresh, "carry_out", count)
    for number in range(20):
        tell(memory, f"I have plan {number}")
    await_text(notes, has="I have plan 19")
    await_idle(memory)
    assert len(written) <= 3


def test_changes_that_never_end_do_not_put_a_file_off_for_ever(
    memory: LocalMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notes_refresh, "QUIET_S", 1000.0)
    monkeypatch.setattr(notes_refresh, "MOST_S", 0.05)
    notes = keep(memory, tmp_path / "AGENTS.md")
    tell(memory, "I keep bees")
    await_text(notes, has="bees")


def test_while_nothing_changes_nothing_wakes_and_without_files_there_is_no_thread(
    open_memory: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    tell(memory, "I keep bees")
    memory.warm()
    assert memory._parts.notes._thread is None
    notes = keep(memory, tmp_path / "AGENTS.md")
    # How long each wait may last, and whether the file was current when it began.
    waits: list[tuple[bool, float | None]] = []
    condition = memory._parts.notes._changed
    wait = condition.wait

    def note(timeout: float | None = None) -> bool:
        waits.append(("hens" in notes.read_text(encoding="utf-8"), timeout))
        return wait(timeout)

    monkeypatch.setattr(condition, "wait", note)
    tell(memory, "I keep hens")
    # The last of its waits has no end of its own.
    wait_until(lambda: waits[-1:] == [(True, None)])
    n_waits = len(waits)
    memory.search("bees")
    memory.list()
    assert len(waits) == n_waits


def test_what_waits_is_written_when_the_memory_is_closed_and_after_it_was_warmed(
    open_memory: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(notes_refresh, "QUIET_S", 1000.0)
        patch.setattr(notes_refresh, "MOST_S", 1000.0)
        memory = open_memory()
        notes = keep(memory, tmp_path / "AGENTS.md")
        empty = notes.read_bytes()
        tell(memory, "I keep bees")
        assert notes.read_bytes() == empty
        memory.close()
        assert "I keep bees" in notes.read_text(encoding="utf-8")
    notes.write_bytes(empty)
    memory = open_memory()
    memory.warm()
    await_text(notes, has="I keep bees")


def test_each_file_has_the_profile_of_the_user_who_keeps_it_and_of_nobody_else(
    open_memory: Opener, tmp_path: Path
) -> None:
    ana = open_memory()
    ben = ana.as_client(ana.settings.model_copy(update={"user_id": "ben"}), "desk")
    mine, theirs = keep(ana, tmp_path / "ana.md"), keep(ben, tmp_path / "ben.md")
    tell(ana, "I keep bees")
    tell(ben, "I keep hens")
    await_text(mine, has="bees", lacks="hens")
    await_text(theirs, has="hens", lacks="bees")
    assert [file.path for file in ana.refresh_notes()] == [str(mine)]
    assert not ana.forget_notes(str(theirs))
    assert [file.path for file in ben.refresh_notes()] == [str(theirs)]


def test_a_file_that_another_user_takes_over_is_the_first_ones_no_more(open_memory: Opener, tmp_path: Path) -> None:
    ana = open_memory()
    ben = ana.as_client(ana.settings.model_copy(update={"user_id": "ben"}), "desk")
    notes = keep(ana, tmp_path / "AGENTS.md")
    keep(ben, notes)
    tell(ana, "I keep bees")
    tell(ben, "I keep hens")
    await_text(notes, has="hens")
    looked_at_again(ana)
    assert "bees" not in notes.read_text(encoding="utf-8")
    assert ana.refresh_notes() == []


def test_a_memory_paused_for_everybody_leaves_the_files_until_it_is_resumed(
    memory: LocalMemory, tmp_path: Path
) -> None:
    notes = keep(memory, tmp_path / "AGENTS.md")
    looked_at_again(memory)
    before = notes.read_bytes()
    memory.pause()
    tell(memory, "I keep bees")
    looked_at_again(memory)
    assert notes.read_bytes() == before
    memory.resume()
    await_text(notes, has="bees")


def test_a_pause_of_one_client_does_not_keep_the_files_from_being_written(memory: LocalMemory, tmp_path: Path) -> None:
    notes = keep(memory, tmp_path / "AGENTS.md")
    memory.pause("pi")
    tell(memory, "I keep bees")
    await_text(notes, has="bees")


def test_a_deleted_file_is_not_made_again_and_kept_no_more(memory: LocalMemory, tmp_path: Path, home: Path) -> None:
    notes = keep(memory, tmp_path / "AGENTS.md")
    looked_at_again(memory)
    notes.unlink()
    [check] = memory._parts.notes.examine("ana")
    assert "has gone" in check.found
    tell(memory, "I keep bees")
    wait_until(lambda: kept(home) == {})
    assert not notes.exists()
    assert memory.refresh_notes() == []


def test_a_file_that_was_away_for_a_moment_is_kept(memory: LocalMemory, tmp_path: Path, home: Path) -> None:
    notes = keep(memory, tmp_path / "AGENTS.md")
    looked_at_again(memory)
    away = notes.rename(tmp_path / "AGENTS.md~")
    with pytest.MonkeyPatch.context() as patch:
        see_to = memory._parts.notes._see_to

        def see_and_put_back(path: str, one: Any) -> bool:
            is_wanted_again = see_to(path, one)
            if away.exists():
                away.rename(notes)
            return is_wanted_again

        patch.setattr(memory._parts.notes, "_see_to", see_and_put_back)
        tell(memory, "I keep bees")
        wait_until(notes.exists)
        await_text(notes, has="bees")
    assert list(kept(home)) == [str(notes)]


def spoil(path: Path, how: str) -> None:
    text = path.read_text(encoding="utf-8")
    if how == "half a block":
        path.write_text(text.replace("<!-- mcp-memory:end -->", ""), encoding="utf-8")
    elif how == "no block":
        path.write_text("# All mine\n", encoding="utf-8")
    elif how == "no text":
        path.write_bytes(b"\0" * 10)
    elif how == "a folder":
        path.unlink()
        path.mkdir()
    else:
        path.unlink()
        os.mkfifo(path)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("half a block", "marks of mcp-memory are broken"),
        ("no block", "has no block of mcp-memory any more"),
        ("no text", "it has zero bytes"),
        ("a folder", "is a folder"),
        ("a pipe", "is no regular file"),
    ],
)
def test_a_file_that_became_something_else_is_left_alone_and_told_of_once(
    memory: LocalMemory, tmp_path: Path, home: Path, caplog: pytest.LogCaptureFixture, how: str, told: str
) -> None:
    sound = keep(memory, tmp_path / "sound.md")
    notes = keep(memory, tmp_path / "AGENTS.md")
    looked_at_again(memory)
    spoil(notes, how)
    before = notes.read_bytes() if notes.is_file() else stat.S_IFMT(notes.stat().st_mode)
    caplog.set_level(logging.WARNING, LOGGER)
    for text in ("I keep bees", "I keep hens"):
        tell(memory, text)
        await_text(sound, has=text)
        looked_at_again(memory)
    assert before == (notes.read_bytes() if notes.is_file() else stat.S_IFMT(notes.stat().st_mode))
    [said] = [record.getMessage() for record in caplog.records if record.name == LOGGER]
    assert told in said
    check = memory.examine()[-1]
    assert (check.name, check.is_ok) == ("notes", True)
    assert check.found.startswith("1 of 2 files current; ")
    assert told in check.found
    assert f"mcp-memory sync-notes --remove {notes}" in check.advice
    assert kept(home).keys() == {str(notes), str(sound)}


def test_a_write_protected_file_is_left_alone_and_told_of(
    memory: LocalMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = keep(memory, tmp_path / "AGENTS.md")
    looked_at_again(memory)
    before = notes.read_bytes()
    # Whoever runs the tests as root may write everything.
    monkeypatch.setattr("mcp_memory.notes.os.access", lambda *_: False)
    tell(memory, "I keep bees")
    [file] = memory.refresh_notes()
    assert (file.outcome, "write-protected" in file.trouble) == ("trouble", True)
    assert notes.read_bytes() == before
    assert "write-protected" in memory.examine()[-1].found


def test_what_the_user_writes_into_the_file_meanwhile_is_not_lost_and_the_profile_follows(
    memory: LocalMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = keep(memory, tmp_path / "AGENTS.md")
    looked_at_again(memory)
    edits = iter(("first\n", "second\n"))

    def write_first(edit: Edit) -> None:
        if line := next(edits, ""):
            with notes.open("a", encoding="utf-8") as file:
                file.write(line)
        carry_out(edit)

    monkeypatch.setattr(notes_refresh, "carry_out", write_first)
    tell(memory, "I keep bees")
    await_text(notes, has="bees")
    assert notes.read_text(encoding="utf-8").endswith("<!-- mcp-memory:end -->\nfirst\nsecond\n")


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes hang, as on a disk that does not answer: (begun, go on)."""
    begun, go_on = threading.Event(), threading.Event()

    def hang(_edit: Edit) -> None:
        begun.set()
        assert go_on.wait(PATIENCE_S)

    monkeypatch.setattr(notes_refresh, "carry_out", hang)
    yield begun, go_on
    go_on.set()


def test_a_file_that_hangs_delays_no_call_and_not_the_end(
    memory: LocalMemory, tmp_path: Path, hanging: tuple[threading.Event, threading.Event], monkeypatch: Any
) -> None:
    monkeypatch.setattr(notes_refresh, "LEAVE_S", 0.1)
    keep(memory, tmp_path / "AGENTS.md")
    begun, go_on = hanging
    assert begun.wait(PATIENCE_S)
    bees = tell(memory, "I keep bees")
    memory.update(bees, text="I keep hens")
    assert memory.search("hens").hits
    memory.close()
    assert not go_on.is_set()
    go_on.set()
    thread = memory._parts.notes._thread
    assert thread is not None
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def test_an_unexpected_error_is_logged_and_the_next_change_tries_again(
    memory: LocalMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    notes = keep(memory, tmp_path / "AGENTS.md")
    looked_at_again(memory)
    with monkeypatch.context() as patch:

        def fails(_edit: Edit) -> None:
            raise ZeroDivisionError("nobody thought of this")

        patch.setattr(notes_refresh, "carry_out", fails)
        tell(memory, "I keep bees")
        wait_until(lambda: "nobody thought of this" in caplog.text)
    tell(memory, "I keep hens")
    await_text(notes, has="hens")


def test_a_file_is_kept_by_later_processes_as_it_was_recorded_last(
    open_memory: Opener, tmp_path: Path, home: Path
) -> None:
    memory = open_memory()
    notes = keep(memory, tmp_path / "AGENTS.md")
    memory.keep_notes(str(notes), 100)
    memory.close()
    assert stat.S_IMODE((home / RECORD_NAME).stat().st_mode) == 0o600
    memory = open_memory()
    assert [(file.max_tokens, file.outcome) for file in memory.refresh_notes()] == [(100, "unchanged")]
    assert memory.forget_notes(str(notes))
    assert not memory.forget_notes(str(notes))
    memory.close()
    assert open_memory().refresh_notes() == []


def test_a_restored_folder_goes_on_to_keep_its_files_and_a_new_one_has_none(
    open_memory: Opener, tmp_path: Path
) -> None:
    memory = open_memory()
    tell(memory, "I keep bees")
    memory.backup(tmp_path / "backup.zip")
    notes = keep(memory, tmp_path / "AGENTS.md")
    tell(memory, "I keep hens")
    memory.close()
    LocalMemory.restore(tmp_path / "backup.zip", tmp_path / "home")
    again = open_memory()
    again.warm()
    await_text(notes, has="bees", lacks="hens")
    LocalMemory.restore(tmp_path / "backup.zip", tmp_path / "elsewhere")
    assert open_memory(folder=tmp_path / "elsewhere").refresh_notes() == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "is damaged"),
        ("[]", "is damaged"),
        ('{"format": 1, "files": {"/a": {"user_id": "ana"}}}', "is damaged"),
        ('{"format": 2, "files": {}}', "newer mcp-memory"),
    ],
)
def test_a_record_that_is_none_is_told_of_and_not_overwritten_and_calls_go_on(
    open_memory: Opener, home: Path, tmp_path: Path, content: str, told: str
) -> None:
    home.mkdir()
    (home / RECORD_NAME).write_text(content, encoding="utf-8")
    memory = open_memory()
    tell(memory, "I keep bees")
    for act in (lambda: memory.keep_notes(str(tmp_path / "a.md"), 1), memory.refresh_notes):
        assert told in refusal(act)
    assert told in memory.examine()[-1].found
    assert (home / RECORD_NAME).read_text(encoding="utf-8") == content


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(StorageError) as raised:
        act()
    return str(raised.value)


def test_there_is_no_keeping_of_less_than_a_token(memory: LocalMemory, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="max_tokens 0"):
        memory.keep_notes(str(tmp_path / "a.md"), 0)


def test_the_doctor_counts_the_files_and_says_nothing_where_there_are_none(
    memory: LocalMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "notes" not in [check.name for check in memory.examine()]
    monkeypatch.setattr(notes_refresh, "QUIET_S", 1000.0)
    monkeypatch.setattr(notes_refresh, "MOST_S", 1000.0)
    keep(memory, tmp_path / "AGENTS.md")
    assert memory.examine()[-1].found == "1 of 1 files current"
    tell(memory, "I keep bees")
    check = memory.examine()[-1]
    assert (check.found.startswith("0 of 1 files current; "), check.advice) == (True, "run: mcp-memory sync-notes")
    assert [file.outcome for file in memory.refresh_notes()] == ["written"]
    assert memory.examine()[-1].advice == ""
