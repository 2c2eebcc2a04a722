"""Everything embedded anew with another model: searches and changes go on, and a kill at any moment loses nothing."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest
from typer.testing import CliRunner

from mcp_memory import renew
from mcp_memory.cli import app
from mcp_memory.doctor import examine
from mcp_memory.embedder import Embedder
from mcp_memory.errors import ConflictError, ModelUnavailableError, StorageError
from mcp_memory.made_by import FILE_NAME, read_made_by
from mcp_memory.memory import LocalMemory
from mcp_memory.remote import RemoteMemory
from tests.builders import edit_json, tiny_bert
from tests.conftest import Attach, Opener

T = TypeVar("T")
PACKAGED = "all-MiniLM-L6-v2"
TEXTS = [f"{what} of Maria Quintela is in the {where}" for what in ("letter", "key", "violin", "map")
         for where in ("harbour", "attic", "orchard")]  # fmt: skip
# An engine that answers searches all the time is slow to import what loads a model.
LOADING_S = 120.0
run = CliRunner().invoke


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Small models by name: two whose vectors are equally long, and one that puts something before each text."""
    folder = tmp_path_factory.mktemp("models")
    made = {name: tiny_bert(folder / name, window=64) for name in ("one", "two", "prompting")}
    prompts = {"query": "ask: ", "document": "say: "}
    edit_json(folder / "prompting" / "config_sentence_transformers.json", prompts=prompts)
    return made


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renew, "BATCH", 4)


@pytest.fixture
def filled(open_memory: Opener) -> LocalMemory:
    memory = open_memory()
    fill(memory)
    return memory


def fill(memory: LocalMemory) -> None:
    for text in TEXTS:
        memory.add(text, infer=False)


def assert_whole(memory: LocalMemory, model: str, texts: list[str]) -> None:
    """The folder has a model, holds just these texts, and finds each by meaning."""
    assert (memory.stores.embedder.name, memory.stores.made_by and memory.stores.made_by.model) == (model, model)
    assert sorted(record.text for record in memory.list(limit=1000)) == sorted(texts)
    for text in texts:
        result = memory.search(text, top_k=1)
        assert (result.hits[0].memory.text, result.degraded) == (text, ())
        assert result.hits[0].signals.semantic > 0
    found = memory.verify()
    assert (found.n_memories, found.differences) == (len(texts), ())
    written = read_made_by(memory.folder / "lancedb")
    assert written
    assert memory.stores.made_by
    assert written.is_as_recorded(memory.stores.made_by)


def test_a_folder_goes_over_to_another_model_and_keeps_it_without_any_setting(
    filled: LocalMemory, open_memory: Opener, models: dict[str, str]
) -> None:
    made = filled.reembed(models["one"])
    assert (made.model_before, made.dimension_before) == (PACKAGED, 384)
    assert (made.model, made.dimension, made.document_prompt) == (models["one"], 16, "")
    assert (made.n_memories, made.n_entities, made.n_resumed, made.still_named) == (12, 1, 0, ())
    assert_whole(filled, models["one"], TEXTS)
    filled.close()
    assert [path.name for path in filled.folder.glob("lancedb*")] == ["lancedb"]
    again = open_memory(embedder=None)
    again.add("added by a later start", infer=False)
    assert_whole(again, models["one"], [*TEXTS, "added by a later start"])


def test_while_it_goes_on_every_search_is_answered_by_one_model_or_the_other(
    open_memory: Opener, models: dict[str, str]
) -> None:
    """All make vectors of 16 numbers: a query of one among vectors of another would show in nothing but the score."""
    memory = open_memory(embedder=None, embedding_model=models["one"])
    fill(memory)

    def meaning(_number: int = 0) -> float:
        result = memory.search("the letter in the harbour", top_k=1)
        assert (result.hits[0].memory.text, result.degraded) == (TEXTS[0], ())
        return result.hits[0].signals.semantic

    before = meaning()

    def add(number: int) -> None:
        memory.add(f"said {number}", infer=False)
        assert f"said {number}" in [hit.memory.text for hit in memory.search(f"said {number}").hits]

    with hammering(meaning) as found, hammering(add) as added:
        for model in ("two", "prompting", "two"):
            memory.reembed(models[model])
            wait_for_more(found)
    after = meaning()
    memory.reembed(models["prompting"])
    known = (before, after, meaning())
    assert len({round(value, 4) for value in known}) == 3
    assert all(any(value == pytest.approx(each, abs=1e-5) for each in known) for value in found)
    assert len(found) > 20
    texts = TEXTS + [f"said {number}" for number in range(len(added))]
    assert sorted(record.text for record in memory.list(limit=5000)) == sorted(texts)
    assert memory.verify().differences == ()
    assert memory.search("said").degraded == ()


@contextmanager
def hammering(do: Callable[[int], T]) -> Iterator[list[T]]:
    """Does something again and again in a thread, telling it how often so far; gives what came of it."""
    came: list[T] = []
    is_over = threading.Event()

    def work() -> None:
        while not is_over.is_set():
            came.append(do(len(came)))

    with ThreadPoolExecutor(1) as executor:
        working = executor.submit(work)
        try:
            yield came
        finally:
            is_over.set()
        working.result(LOADING_S)


def wait_for_more(came: Sequence[object]) -> None:
    n_before = len(came)
    wait_until(lambda: len(came) > n_before + 2)


def wait_until(is_so: Callable[[], bool]) -> None:
    """Return when something has come about, at last after some time."""
    given_up = threading.Event()
    timer = threading.Timer(LOADING_S, given_up.set)
    timer.start()
    while not is_so():
        assert not given_up.wait(0.005)
    timer.cancel()


def test_what_is_added_and_deleted_meanwhile_is_in_the_new_tables(filled: LocalMemory, models: dict[str, str]) -> None:
    asked: list[bool] = []

    def change(_done: int, _total: int) -> None:
        if not asked:
            asked.append(True)
            filled.add("said meanwhile by Joana Prates", infer=False)
            filled.delete(next(record.id for record in filled.list() if record.text == TEXTS[3]))
            assert filled.search("said meanwhile").hits[0].memory.text == "said meanwhile by Joana Prates"
            assert filled.stores.embedder.name == PACKAGED
            with pytest.raises(StorageError, match="being rebuilt already"):
                filled.reembed(models["two"])
            with pytest.raises(StorageError, match="being rebuilt already"):
                filled.rebuild()

    filled.reembed(models["one"], change)
    texts = [*TEXTS[:3], *TEXTS[4:], "said meanwhile by Joana Prates"]
    assert_whole(filled, models["one"], texts)


@pytest.mark.parametrize("has_failed", [False, True], ids=["embedded before", "not embedded before"])
def test_an_add_that_was_embedded_before_the_exchange_is_embedded_again_after_it(
    open_memory: Opener, models: dict[str, str], monkeypatch: pytest.MonkeyPatch, has_failed: bool
) -> None:
    memory = open_memory(embedder=None, embedding_model=models["one"])
    memory.add(TEXTS[0], infer=False)
    has_embedded, may_write = threading.Event(), threading.Event()
    before = memory.stores.embedder

    def held_up(texts: list[tuple[str, str]]) -> list[object]:
        vectors = Embedder.embed_texts(before, texts)
        has_embedded.set()
        assert may_write.wait(LOADING_S)
        if has_failed:
            raise ModelUnavailableError("it went away", hint="wait")
        return list(vectors)

    monkeypatch.setattr(before, "embed_texts", held_up)
    adding = threading.Thread(target=lambda: memory.add(TEXTS[1], infer=False))
    adding.start()
    assert has_embedded.wait(LOADING_S)
    memory.reembed(models["two"])
    may_write.set()
    adding.join(LOADING_S)
    assert_whole(memory, models["two"], TEXTS[:2])


def test_a_search_that_began_before_the_exchange_ends_with_the_old_vectors(
    open_memory: Opener, models: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory(embedder=None, embedding_model=models["one"])
    fill(memory)
    before = memory.search(TEXTS[4], top_k=1)
    old = memory.stores.embedder
    has_embedded, may_go_on = threading.Event(), threading.Event()

    def held_up(query: str, names: list[str]) -> object:
        found = Embedder.embed_query(old, query, names)
        has_embedded.set()
        assert may_go_on.wait(LOADING_S)
        return found

    monkeypatch.setattr(old, "embed_query", held_up)
    found: list[object] = []
    searching = threading.Thread(target=lambda: found.append(memory.search(TEXTS[4], top_k=1)))
    searching.start()
    assert has_embedded.wait(LOADING_S)
    memory.reembed(models["two"])
    may_go_on.set()
    searching.join(LOADING_S)
    assert found == [before]
    assert memory.search(TEXTS[4], top_k=1) != before


# Cut short, and resumed


class EndedError(Exception):
    """Raised to end a run in the middle."""


def end_after(n: int) -> Callable[[int, int], None]:
    def tell(done: int, _total: int) -> None:
        if done >= n:
            raise EndedError

    return tell


def begin(memory: LocalMemory, model: str) -> None:
    with pytest.raises(EndedError):
        memory.reembed(model, end_after(8))
    assert (memory.folder / "lancedb.new" / FILE_NAME).is_file()


def test_a_run_that_was_ended_changes_nothing_and_the_next_one_goes_on(
    filled: LocalMemory, open_memory: Opener, models: dict[str, str]
) -> None:
    begin(filled, models["one"])
    assert_whole(filled, PACKAGED, TEXTS)
    gone = filled.list()[0]
    filled.delete(gone.id)
    filled.close()
    again = open_memory(embedder=None)
    again.add("said between the two", infer=False)
    made = again.reembed(models["one"])
    assert made.n_resumed in (7, 8)
    assert_whole(again, models["one"], [text for text in TEXTS if text != gone.text] + ["said between the two"])


def test_what_another_model_has_begun_is_not_gone_on_with(filled: LocalMemory, models: dict[str, str]) -> None:
    begin(filled, models["one"])
    assert filled.reembed(models["two"]).n_resumed == 0
    assert_whole(filled, models["two"], TEXTS)


def test_a_rebuild_does_not_go_on_with_what_a_reembed_has_begun_nor_the_other_way_round(
    open_memory: Opener, models: dict[str, str]
) -> None:
    memory = open_memory(embedder=None, embedding_model=models["one"])
    fill(memory)
    begin(memory, models["two"])
    assert memory.rebuild().n_resumed == 0
    assert_whole(memory, models["one"], TEXTS)
    with pytest.raises(EndedError):
        memory.rebuild(end_after(8))
    assert memory.reembed(models["two"]).n_resumed == 0
    assert_whole(memory, models["two"], TEXTS)


def test_what_does_not_say_with_what_it_was_made_is_not_gone_on_with(
    filled: LocalMemory, models: dict[str, str]
) -> None:
    begin(filled, models["one"])
    (filled.folder / "lancedb.new" / FILE_NAME).write_bytes(b'{"model": ')
    assert filled.reembed(models["one"]).n_resumed == 0
    assert_whole(filled, models["one"], TEXTS)


def test_closing_ends_it_after_the_batch_and_another_start_goes_on(
    filled: LocalMemory, open_memory: Opener, models: dict[str, str]
) -> None:
    def close(done: int, _total: int) -> None:
        if done:
            filled.stores.begin_closing()

    with pytest.raises(StorageError, match="being closed"):
        filled.reembed(models["one"], close)
    filled.close()
    again = open_memory()
    assert_whole(again, PACKAGED, TEXTS)
    assert again.reembed(models["one"]).n_resumed == 4


# Forks a process for each (folder, model, moment) that it is told, in which the reembedding is killed at that moment.
KILLED = """
import json, os, signal, sys
from pathlib import Path
import lance_namespace, sentence_transformers
from mcp_memory import renew, stores, swap
from mcp_memory.memory import LocalMemory

renew.BATCH = 4

def die(*_given, **_named):
    os.kill(os.getpid(), signal.SIGKILL)

def die_at(place, name, n=1):
    left, do = [n], getattr(place, name)
    def count(*given, **named):
        left[0] -= 1
        return do(*given, **named) if left[0] else die()
    setattr(place, name, count)

def die_at_the_rename_of(name):
    rename = Path.rename
    Path.rename = lambda path, target: die() if path.name == name else rename(path, target)

MOMENTS = {
    "before anything": lambda: die_at(swap, "write_made_by"),
    "at the first batch": lambda: die_at(renew, "put_memories"),
    "at the third batch": lambda: die_at(renew, "put_memories", 3),
    "between the tables": lambda: die_at(renew, "put_entities"),
    "before the exchange": lambda: die_at(swap.TablesFolder, "exchange"),
    "before the first rename": lambda: die_at_the_rename_of("lancedb"),
    "between the renames": lambda: die_at_the_rename_of("lancedb.new"),
    "after the renames": lambda: die_at(swap, "sync"),
    "before the log is told": lambda: die_at(stores.Stores, "_record"),
    "after the log was told": lambda: die_at(stores.Stores, "_open_tables"),
}

def reembed(home, model, moment):
    memory = LocalMemory.open(home, user_id="ana")
    memory.catch_up()
    MOMENTS[moment]()
    memory.reembed(model)

for line in sys.stdin:
    child = os.fork()
    if not child:
        reembed(*json.loads(line))
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
# Whether the folder has the new model then, and how many rows the next run need not make.
MOMENTS = {
    "before anything": (False, 0),
    "at the first batch": (False, 0),
    "at the third batch": (False, 8),
    "between the tables": (False, 12),
    "before the exchange": (False, 13),
    "before the first rename": (False, 13),
    "between the renames": (False, 13),
    "after the renames": (True, 0),
    "before the log is told": (True, 0),
    "after the log was told": (True, 0),
}
Kill = Callable[[Path, str, str], None]


@pytest.fixture(scope="module")
def kill_while_reembedding() -> Iterator[Kill]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MCP_MEMORY_")}
    with subprocess.Popen(
        [sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as killed:

        def reembed(home: Path, model: str, moment: str) -> None:
            assert killed.stdin
            assert killed.stdout
            print(json.dumps([str(home), model, moment]), file=killed.stdin, flush=True)
            assert int(killed.stdout.readline()) == -signal.SIGKILL

        yield reembed


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_kill_at_any_moment_leaves_a_folder_that_agrees_with_itself_and_the_next_run_goes_on(
    filled: LocalMemory, home: Path, open_memory: Opener, models: dict[str, str], kill_while_reembedding: Kill,
    moment: str,
) -> None:  # fmt: skip
    filled.close()
    kill_while_reembedding(home, models["one"], moment)
    is_exchanged, n_made = MOMENTS[moment]
    memory = open_memory(embedder=None)
    assert_whole(memory, models["one"] if is_exchanged else PACKAGED, TEXTS)
    assert memory.reembed(models["one"]).n_resumed == n_made
    assert_whole(memory, models["one"], TEXTS)
    memory.close()
    assert [path.name for path in home.glob("lancedb*")] == ["lancedb"]
    assert_whole(open_memory(embedder=None), models["one"], TEXTS)


# The same model, with other weights or prompts


def test_weights_that_have_changed_are_told_and_reembed_goes_over_to_them(
    tmp_path: Path, home: Path, open_memory: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = tiny_bert(tmp_path / "model", window=64)
    memory = open_memory(embedder=None, embedding_model=name)
    fill(memory)
    begin(memory, name)
    memory.close()
    shutil.rmtree(name)
    tiny_bert(tmp_path / "model", window=64)
    monkeypatch.setenv("MCP_MEMORY_USER_ID", "ana")
    told = {check.name: check for check in examine()}
    assert told["embedding model"].found.endswith("its weights are not those that made the vectors")
    assert told["embedding model"].advice == "run: mcp-memory reembed"
    assert "half-made tables" in told["tables"].found
    memory = open_memory(embedder=None)
    assert {difference.flaw for difference in memory.verify().differences} == {"vector"}
    assert memory.reembed().n_resumed == 0
    assert_whole(memory, name, TEXTS)
    memory.close()
    assert all(check.is_ok for check in examine())


def test_another_prompt_for_memories_is_gone_over_to_without_naming_the_model(
    open_memory: Opener, models: dict[str, str]
) -> None:
    memory = open_memory(embedder=None, embedding_model=models["prompting"])
    fill(memory)
    memory.close()
    asked = {"embedder": None, "embedding_document_prompt": "text: "}
    memory = open_memory(**asked)
    with pytest.raises(ConflictError, match="embedded after the prompt 'say: '") as caught:
        memory.warm()
    assert caught.value.hint.endswith("run: mcp-memory reembed")
    memory.add("said before", infer=False)
    assert memory.search("said before").hits[0].memory.text == "said before"
    made = memory.reembed()
    assert (made.model, made.query_prompt, made.document_prompt) == (models["prompting"], "ask: ", "text: ")
    assert_whole(memory, models["prompting"], [*TEXTS, "said before"])
    memory.close()
    memory = open_memory(**asked)
    memory.warm()
    assert_whole(memory, models["prompting"], [*TEXTS, "said before"])


def test_a_model_that_makes_longer_vectors_than_it_did_is_gone_over_to(tmp_path: Path, open_memory: Opener) -> None:
    name = tiny_bert(tmp_path / "model", 16, window=64)
    memory = open_memory(embedder=None, embedding_model=name)
    fill(memory)
    memory.close()
    shutil.rmtree(name)
    tiny_bert(tmp_path / "model", 32, window=64)
    memory = open_memory(embedder=None)
    assert memory.search(TEXTS[0]).degraded == ("semantic",)
    assert memory.reembed().dimension == 32
    assert_whole(memory, name, TEXTS)


def test_a_folder_without_memories_takes_the_model_at_once(open_memory: Opener, models: dict[str, str]) -> None:
    memory = open_memory(embedder=None)
    assert memory.reembed(models["one"]).model_before == ""
    memory.add(TEXTS[0], infer=False)
    assert_whole(memory, models["one"], TEXTS[:1])


# What cannot be done


@pytest.mark.parametrize("name", ["/no/such/folder", "no such model", "~nobody/model"])
def test_a_model_that_is_not_there_is_refused_and_nothing_has_changed(
    filled: LocalMemory, models: dict[str, str], name: str
) -> None:
    begin(filled, models["one"])
    with pytest.raises(ModelUnavailableError, match="cannot be loaded") as caught:
        filled.reembed(name)
    assert caught.value.hint.endswith("nothing was changed")
    assert_whole(filled, PACKAGED, TEXTS)
    assert filled.reembed(models["one"]).n_resumed == 8


def test_a_disk_on_which_nothing_can_be_written_is_told_and_nothing_has_changed(
    filled: LocalMemory, models: dict[str, str]
) -> None:
    resource = pytest.importorskip("resource")
    filled.settle()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    begin(filled, models["one"])
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        with pytest.raises(StorageError, match=r"[Tt]oo large"):
            filled.reembed(models["one"])
        with pytest.raises(StorageError, match="cannot be prepared: File too large"):
            filled.reembed(models["two"])
        assert filled.search(TEXTS[2], top_k=1).hits[0].memory.text == TEXTS[2]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert_whole(filled, PACKAGED, TEXTS)
    filled.reembed(models["one"])
    assert_whole(filled, models["one"], TEXTS)


def test_an_exchange_that_fails_leaves_the_old_model_at_work(
    filled: LocalMemory, models: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def fails(path: Path, target: Path) -> Path:
        if path.name == "lancedb.new":
            raise PermissionError(13, "Permission denied")
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", fails)
        with pytest.raises(StorageError, match="cannot be moved"):
            filled.reembed(models["one"])
    assert_whole(filled, PACKAGED, TEXTS)
    filled.add("said after it", infer=False)
    assert filled.reembed(models["one"]).n_resumed == 13
    assert_whole(filled, models["one"], [*TEXTS, "said after it"])


def test_a_log_that_cannot_be_told_of_the_exchange_is_told_at_the_next_start(
    filled: LocalMemory, open_memory: Opener, models: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(**_given: str) -> None:
        raise StorageError("the log failed: database or disk is full", hint="free some disk space")

    with monkeypatch.context() as patch:
        patch.setattr(filled.stores.log, "set_meta", fails)
        filled.reembed(models["one"])
    assert filled.stores.log.get_meta("embedding_model") == PACKAGED
    assert_whole(filled, models["one"], TEXTS)
    filled.close()
    again = open_memory(embedder=None)
    assert again.stores.log.get_meta("embedding_model") == models["one"]
    assert_whole(again, models["one"], TEXTS)


def test_a_log_put_back_from_an_earlier_copy_is_told_with_what_the_tables_were_made(
    filled: LocalMemory, home: Path, open_memory: Opener, models: dict[str, str]
) -> None:
    filled.close()
    shutil.copy(home / "log.sqlite3", home.with_name("copy"))
    memory = open_memory()
    memory.reembed(models["one"])
    memory.close()
    shutil.copy(home.with_name("copy"), home / "log.sqlite3")
    assert_whole(open_memory(embedder=None), models["one"], TEXTS)


def test_a_folder_whose_own_model_is_gone_can_go_over_to_another(tmp_path: Path, open_memory: Opener) -> None:
    name = tiny_bert(tmp_path / "model", window=64)
    memory = open_memory(embedder=None, embedding_model=name)
    fill(memory)
    memory.close()
    shutil.rmtree(name)
    memory = open_memory(embedder=None)
    assert memory.search(TEXTS[0]).degraded == ("semantic",)
    with pytest.raises(ModelUnavailableError):
        memory.reembed()
    memory.reembed(PACKAGED)
    assert_whole(memory, PACKAGED, TEXTS)


# Settings that name a model


def test_a_named_model_that_the_folder_does_not_have_is_refused_with_the_way_to_go_over_to_it(
    filled: LocalMemory, open_memory: Opener, models: dict[str, str]
) -> None:
    filled.close()
    with pytest.raises(ConflictError, match=f"embedded with '{PACKAGED}', not '{models['one']}'") as caught:
        open_memory(embedder=None, embedding_model=models["one"])
    assert caught.value.hint == (
        f"set MCP_MEMORY_EMBEDDING_MODEL={PACKAGED}, or leave it out, to keep that one; to go over to the other,"
        f" run: mcp-memory reembed --model {models['one']}"
    )


def test_the_command_goes_over_to_the_model_that_the_settings_name_although_the_folder_refuses_it(
    filled: LocalMemory, home: Path, open_memory: Opener, models: dict[str, str]
) -> None:
    filled.close()
    (home / "settings.toml").write_text(f'embedding_model = "{models["one"]}"\nuser_id = "ana"\n')
    assert run(app, ["search", "Maria"]).exit_code == 1
    done = run(app, ["reembed"])
    assert done.exit_code == 0, done.output
    assert done.stdout == (
        f"12 memories and 1 entities embedded with {models['one']} (16 numbers each); it was {PACKAGED}\n"
    )
    assert done.stderr == ""
    assert run(app, ["search", "Maria"]).exit_code == 0
    assert_whole(open_memory(embedder=None), models["one"], TEXTS)


def test_the_command_tells_which_settings_still_name_the_old_model(
    filled: LocalMemory, home: Path, models: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.close()
    monkeypatch.setenv("MCP_MEMORY_EMBEDDING_MODEL", PACKAGED)
    (home / "settings.toml").write_text(f'embedding_model = "{PACKAGED}"\n')
    monkeypatch.chdir(Path(models["prompting"]).parent)
    done = run(app, ["reembed", "--model", "prompting", "--json"])
    made = json.loads(done.stdout)
    assert (made["model"], made["document_prompt"], made["n_memories"]) == (models["prompting"], "say: ", 12)
    places = ["MCP_MEMORY_EMBEDDING_MODEL in the environment", f"embedding_model in {home / 'settings.toml'}"]
    assert made["still_named"] == [f"{place} = {PACKAGED}" for place in places]
    for place in places:
        assert f"{place} = {PACKAGED}: with that the next start is refused; remove it, or set it to" in done.stderr
    assert run(app, ["search", "Maria"]).exit_code == 1
    monkeypatch.delenv("MCP_MEMORY_EMBEDDING_MODEL")
    (home / "settings.toml").unlink()
    assert run(app, ["search", "Maria"]).exit_code == 0


def test_the_command_names_a_model_that_is_not_there(filled: LocalMemory) -> None:
    filled.close()
    done = run(app, ["reembed", "--model", "/no/such/folder"])
    assert (done.exit_code, done.stdout) == (1, "")
    assert "/no/such/folder" in done.stderr
    assert "nothing was changed" in done.stderr


# Through the engine


@pytest.mark.slow
def test_an_engine_goes_over_while_its_other_clients_search_and_a_client_that_leaves_ends_it(
    filled: LocalMemory, home: Path, attach: Attach, models: dict[str, str], open_memory: Opener
) -> None:
    remarks = [f"remark {number} about the weather over the harbour" for number in range(400)]
    filled.add(messages=[{"role": "user", "content": text} for text in remarks], infer=False)
    filled.close()
    attach()
    host = RemoteMemory.of_running("host")
    assert host
    texts = sorted(record.text for record in host.list(limit=1000))

    def search(_number: int = 0) -> None:
        result = host.search(TEXTS[5], top_k=1)
        assert (result.hits[0].memory.text, result.degraded) == (TEXTS[5], ())

    search()
    asking = [sys.executable, "-m", "mcp_memory", "reembed", "--model", models["one"]]
    with hammering(search) as answered:
        with subprocess.Popen(asking, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as leaving:
            begun = home / "lancedb.new" / "memories.lance" / "data"
            wait_until(lambda: begun.is_dir() and any(begun.iterdir()))
            leaving.send_signal(signal.SIGINT)
            assert leaving.wait(LOADING_S) == 130
        n_resumed: list[int] = []

        def is_made() -> bool:
            # The engine notices with the next batch that nobody waits any more.
            with contextlib.suppress(StorageError):
                n_resumed.append(asked_of_the_engine(models["one"]))
            return bool(n_resumed)

        wait_until(is_made)
        assert n_resumed[0] > 0
        wait_for_more(answered)
    assert host.verify().differences == ()
    assert sorted(record.text for record in host.list(limit=1000)) == texts
    host.close()
    assert run(app, ["engine", "stop"]).exit_code == 0
    memory = open_memory(embedder=None)
    assert (memory.stores.embedder.name, memory.stores.dimension) == (models["one"], 16)


def asked_of_the_engine(model: str) -> int:
    """Has the running engine go over to a model; how many rows an earlier run had made."""
    client = RemoteMemory.of_running("cli")
    assert client
    with client:
        return client.reembed(model).n_resumed


@pytest.mark.slow
def test_an_engine_that_refuses_the_folder_for_its_model_can_still_go_over_to_it(
    filled: LocalMemory, attach: Attach, models: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.close()
    monkeypatch.setenv("MCP_MEMORY_EMBEDDING_MODEL", models["one"])
    host = attach()
    refused = host.call("search_memory", query=TEXTS[0])
    assert refused["isError"]
    assert f"mcp-memory reembed --model {models['one']}" in refused["content"][0]["text"]
    done = run(app, ["reembed"])
    assert (done.exit_code, done.stderr) == (0, "")
    [found, *_] = host.call("search_memory", query=TEXTS[0])["structuredContent"]["memories"]
    assert found["text"] == TEXTS[0]
