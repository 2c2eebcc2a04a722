"""`mcp-memory models` against a server that speaks Ollama's format: what people see, what scripts get, how it fails."""

import json
import os
import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from mcp_memory import cli
from mcp_memory.console import out
from mcp_memory.models import machine_memory
from mcp_memory.sizing import MachineMemory
from tests.fakes import NOTHING, Answered, facts
from tests.ollama_server import OllamaServer, Step, failure, progress, reply, tags

runner = CliRunner()
GB = 10**9
SMALL = {
    "model": "tiny:latest",
    "size": 1_100_000_000,
    "details": {"parameter_size": "1.5B", "quantization_level": "Q4_K_M"},
}
LARGE = {"model": "huge:70b", "size": 43 * GB}
REMOTE = {"model": "gpt-oss:120b-cloud", "size": 384}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OllamaServer]:
    with OllamaServer() as running:
        monkeypatch.setenv("MCP_MEMORY_OLLAMA_HOST", running.url)
        monkeypatch.setenv("MCP_MEMORY_LLM_MODEL", "tiny")
        yield running


@pytest.fixture(autouse=True)
def a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of sixteen gigabytes, ten of them available."""
    monkeypatch.setattr("mcp_memory.models.machine_memory", lambda: MachineMemory(16 * GB, 10 * GB))
    # Not by COLUMNS: a console reads it once, and test runners set it.
    monkeypatch.setattr(out, "width", 160)


def run(*arguments: str) -> Result:
    return runner.invoke(cli.app, ["models", *arguments])


def as_json(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--json").stdout)


def row(result: Result, name: str) -> str:
    """The table's line about a model, its columns apart by two spaces."""
    [line] = [line for line in result.stdout.splitlines() if re.match(rf"\*? *{re.escape(name)} ", line)]
    return re.sub(r"\s{2,}", "  ", line.strip())


# What there is


def test_each_model_is_listed_with_its_size_and_whether_it_fits(server: OllamaServer) -> None:
    server.script(tags(SMALL, LARGE, REMOTE), tags())
    result = run()
    assert result.exit_code == 0, result.output
    assert row(result, "tiny:latest") == "*  tiny:latest  1.5B  Q4_K_M  1.1 GB  2.9 GB  fits"
    assert row(result, "huge:70b") == "huge:70b  43.0 GB  44.8 GB  too large"
    assert row(result, "gpt-oss:120b-cloud").endswith("runs in the cloud: what is said leaves your machines")
    assert "This machine has 16.0 GB of memory, 10.0 GB of it available." in result.stdout
    assert "models pull" not in result.stdout


def test_scripts_get_the_same(server: OllamaServer) -> None:
    server.script(tags(SMALL, LARGE), tags())
    report = as_json()
    assert report["host"] == server.url
    assert report["configured"] == {"name": "tiny", "installed": True}
    assert report["memory"] == {"total_bytes": 16 * GB, "available_bytes": 10 * GB}
    assert [(model["name"], model["fit"]) for model in report["models"]] == [
        ("tiny:latest", "fits"),
        ("huge:70b", "too large"),
    ]
    assert report["suggestions"] == []


def test_a_model_in_memory_is_not_judged_by_what_it_leaves_free(server: OllamaServer) -> None:
    server.script(tags(LARGE), tags(LARGE))
    assert as_json()["models"][0]["fit"] == "loaded"


def test_a_context_that_is_larger_needs_more(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_MEMORY_LLM_CONTEXT_TOKENS", "60000")
    server.script(tags(SMALL), tags())
    [model] = as_json()["models"]
    assert (model["needed_bytes"], model["fit"]) == (1_100_000_000 + 60_000 * 163_840 + 500_000_000, "tight")


def test_a_missing_model_is_to_be_pulled_or_replaced_by_what_fits(
    server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_MEMORY_LLM_MODEL", "qwen3:8b")
    server.script(tags(SMALL), tags())
    result = run()
    assert result.exit_code == 0
    told = "The configured model, qwen3:8b (needs 7.0 GB), is not there. To get it: mcp-memory models pull qwen3:8b\n"
    assert told in result.stdout
    assert "To use one that is there, set MCP_MEMORY_LLM_MODEL" in result.stdout
    assert row(result, "gemma3:4b") == "gemma3:4b  4.3B  3.3 GB  5.1 GB  mcp-memory models pull gemma3:4b"


def test_an_empty_ollama_is_told_what_to_pull(server: OllamaServer) -> None:
    server.script(tags())
    report = as_json()
    assert (report["models"], report["configured"]["installed"]) == ([], False)
    assert report["suggestions"][0]["command"] == "mcp-memory models pull gemma3:12b"


def test_for_a_model_that_is_too_large_smaller_ones_are_suggested(
    server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_MEMORY_LLM_MODEL", "huge:70b")
    server.script(tags(LARGE), tags())
    result = run()
    assert "The configured model is not one for this machine: it is too large." in result.stdout
    assert "mcp-memory models pull gemma3:4b" in result.stdout


def test_a_machine_that_holds_none_is_told_of_others(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_memory.models.machine_memory", lambda: MachineMemory(2 * GB, GB))
    server.script(tags(LARGE), tags())
    result = run()
    assert "No model known here fits. MCP_MEMORY_OLLAMA_HOST can name" in result.stdout


def test_of_another_machine_nothing_is_said_about_memory(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", server.url)
    monkeypatch.setenv("MCP_MEMORY_OLLAMA_HOST", "http://ollama.example")
    server.script(tags(LARGE), tags(), tags(LARGE), tags())
    result = run()
    assert row(result, "huge:70b").endswith("not known")
    assert "That is another machine: whether its memory is enough cannot be told from here." in result.stdout
    report = as_json()
    assert report["memory"] is None
    assert report["suggestions"][0]["name"] == "llama3.2:3b"


@pytest.mark.parametrize("command", [(), ("pull", "tiny"), ("check",)])
def test_without_ollama_is_said_what_to_do(command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    result = run(*command)
    assert result.exit_code == 1
    assert "Ollama does not answer at http://127.0.0.1:9\n" in result.stderr
    assert "→ install it from https://ollama.com/download and start Ollama (ollama serve)" in result.stderr
    assert "MCP_MEMORY_OLLAMA_HOST" in result.stderr
    assert "Traceback" not in result.output


def test_the_memory_of_this_machine_can_be_read() -> None:
    memory = machine_memory()
    assert 0 < memory.available <= memory.total


# Downloads

MANIFEST = {"status": "pulling manifest"}
LAYER = {"status": "pulling 0123456789ab", "digest": "sha256:0123456789ab", "total": 400_000}
DONE = {"status": "success"}


def test_a_download_shows_its_progress_and_how_to_go_on(server: OllamaServer) -> None:
    server.script(progress(MANIFEST, LAYER | {"completed": 100_000}, LAYER | {"completed": 400_000}, DONE))
    result = run("pull", "tiny")
    assert result.exit_code == 0, result.output
    assert server.requests[0].body["model"] == "tiny"
    assert "pulling manifest" in result.stderr
    assert re.search(r"pulling 0123456789ab .*400\.0/400\.0 kB", result.stderr)
    assert result.stdout.splitlines() == [
        f"Ollama at {server.url} has tiny.",
        "It is the configured model.",
        "To try it: mcp-memory models check",
    ]


def test_a_download_of_another_model_says_how_to_configure_it(
    server: OllamaServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server.script(progress(DONE), progress(DONE), progress(DONE))
    assert "To use it, change MCP_MEMORY_LLM_MODEL from tiny to other:2b.\n" in run("pull", "other:2b").stdout
    monkeypatch.delenv("MCP_MEMORY_LLM_MODEL")
    shown = run("pull", "other:2b").stdout
    file = tmp_path / "home" / "settings.toml"
    assert f'set MCP_MEMORY_LLM_MODEL=other:2b, or write llm_model = "other:2b" into {file}.\n' in shown
    assert "To try it: mcp-memory models check other:2b\n" in shown
    assert as_json("pull", "other:2b") == {"pulled": "other:2b", "host": server.url, "configured": False}


@pytest.mark.parametrize(
    ("step", "told", "hint"),
    [
        (progress(MANIFEST, {"error": "pull model manifest: file does not exist"}), "could not pull", "check the name"),
        (progress(LAYER, {"error": "no space left on device"}), "no space left", "free some space"),
        (
            progress(LAYER, {"error": "dial tcp: lookup registry.ollama.ai: no such host"}),
            "no such host",
            "HTTPS_PROXY",
        ),
        (progress(MANIFEST, LAYER, ending="reset"), "broke", "start Ollama again"),
        (progress(MANIFEST, LAYER), "broke off", "run the same command again"),
    ],
)
def test_a_download_that_fails_says_what_to_do(step: Step, told: str, hint: str, server: OllamaServer) -> None:
    server.script(step)
    result = run("pull", "tiny")
    assert result.exit_code == 1
    assert told in result.stderr
    assert hint in result.stderr
    assert result.stdout == ""


def test_an_interrupted_download_says_how_to_go_on(server: OllamaServer) -> None:
    def interrupt() -> None:
        server.wait_until_held()
        os.kill(os.getpid(), signal.SIGINT)

    server.script(progress(MANIFEST, LAYER | {"completed": 100_000}, ending="hold"))
    with ThreadPoolExecutor() as threads:
        threads.submit(interrupt)
        result = run("pull", "tiny")
    assert result.exit_code == 130
    assert "Stopped. Ollama keeps what has come while it runs. To go on: mcp-memory models pull tiny\n" in result.stderr
    server.wait_until_left()


# One checked extraction

PREFERENCE = facts("The user prefers tea to coffee.", "The user never puts milk in tea.")
DATE = facts("The user's sister Ingrid moves to Bergen on 2026-03-13.", kind="about_others")
CUT = Answered('{"kind": "about_user", "facts": ["The user ha', is_complete=False)
GOOD = (PREFERENCE, DATE, NOTHING, NOTHING)


def answers(*given: Answered) -> list[Step]:
    ends = {True: "stop", False: "length"}
    return [
        tags(SMALL),
        *(
            reply(answer.text, prompt_eval_count=1500, eval_count=20, done_reason=ends[answer.is_complete])
            for answer in given
        ),
    ]


def test_a_model_that_does_all_of_it_is_usable(server: OllamaServer, tmp_path: Path) -> None:
    server.script(*answers(*GOOD))
    result = run("check")
    assert result.exit_code == 0, result.output
    assert "in at most 8 answers of at most 120 s each (MCP_MEMORY_LLM_TIMEOUT_S)" in result.stderr
    assert [line[:4].strip() for line in result.stdout.splitlines() if line[:1].strip()][:4] == ["ok"] * 4
    assert "kept: The user prefers tea to coffee. | The user never puts milk in tea.\n" in result.stdout
    assert re.search(r"4 answers in \d+\.\d s, 6000 tokens read, 80 tokens written\n", result.stdout)
    assert result.stdout.endswith("tiny is usable: all 4 as expected.\n")
    assert not (tmp_path / "home").exists()


def test_the_secret_of_the_conversation_does_not_reach_the_model(server: OllamaServer) -> None:
    server.script(*answers(*GOOD))
    run("check")
    said = json.dumps([request.body for request in server.requests])
    assert "[secret]" in said
    assert "Zebra" not in said


@pytest.mark.parametrize(
    ("given", "about", "remark"),
    [
        ((NOTHING, DATE, NOTHING, NOTHING), "preference", "tea before coffee, no milk missing"),
        (
            (facts("The user always puts milk in tea, and prefers coffee."), DATE, NOTHING, NOTHING),
            "preference",
            "no milk missing",
        ),
        (
            (facts("The user prefers coffee to tea.", "The user never puts milk in tea."), DATE, NOTHING, NOTHING),
            "preference",
            "tea before coffee missing",
        ),
        (
            (facts("The user puts milk in tea."), DATE, NOTHING, NOTHING),
            "preference",
            "the model's words did not hold: your own are kept",
        ),
        ((*GOOD[:3], facts("The user had a nice evening.")), "small talk", "kept, with nothing in it"),
        ((*GOOD[:3], *[CUT] * 6), "small talk", "kept, with nothing in it"),
        ((CUT, CUT, *GOOD[1:]), "preference", "the model's words did not hold: your own are kept"),
    ],
)
def test_mistakes_are_named(given: tuple[Answered, ...], about: str, remark: str, server: OllamaServer) -> None:
    server.script(*answers(*given))
    result = run("check")
    assert result.exit_code == 1
    assert f"BAD  {about}: {remark}\n" in result.stdout
    assert "tiny makes mistakes: 3 of 4 as expected. For others: mcp-memory models\n" in result.stdout


def test_a_model_that_finds_nothing_is_of_no_use(server: OllamaServer) -> None:
    # Of the sister it is asked twice: somebody is named, and something is to come.
    server.script(*answers(*[NOTHING] * 5))
    result = run("check")
    assert result.exit_code == 1
    assert "tiny is of no use: it found nothing of what was to be found" in result.stdout


def test_a_model_that_gives_no_answers_in_form_is_of_no_use(server: OllamaServer) -> None:
    server.script(*answers(Answered("I'd rather chat."), Answered("Really.")), *answers(Answered("no"), Answered("no")))
    result = run("check")
    assert result.exit_code == 1
    assert "tiny is of no use: it gave no answer in the form asked for (the answer is no JSON" in result.stdout
    report = as_json("check")
    assert (report["ok"], report["outcomes"], len(report["answers"])) == (False, [], 2)


def test_scripts_get_each_outcome_and_each_answer(server: OllamaServer) -> None:
    server.script(*answers(*GOOD))
    report = as_json("check", "tiny:latest")
    assert (report["model"], report["ok"]) == ("tiny:latest", True)
    assert [outcome["about"] for outcome in report["outcomes"]] == ["preference", "date", "secret", "small talk"]
    assert report["outcomes"][1]["kept"] == ["The user's sister Ingrid moves to Bergen on 2026-03-13."]
    assert report["answers"][0]["prompt_tokens"] == 1500


def test_a_slow_model_is_called_slow(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_MEMORY_ADD_WAIT_S", "0")
    server.script(*answers(*GOOD))
    assert "An add waits 0 s (MCP_MEMORY_ADD_WAIT_S), then it answers `queued`" in run("check").stdout


def test_a_model_that_is_not_there_is_to_be_pulled(server: OllamaServer) -> None:
    server.script(tags(SMALL))
    result = run("check", "other:2b")
    assert result.exit_code == 1
    assert "has no other:2b\n→ run: mcp-memory models pull other:2b" in result.stderr


def test_a_model_that_does_not_answer_ends_the_check(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_MEMORY_LLM_TIMEOUT_S", "1")
    server.script(tags(SMALL), Step(status=None, ending="hold"))
    result = run("check")
    assert result.exit_code == 1
    assert "'tiny' did not finish in 1 s" in result.stderr


def test_a_server_that_goes_midway_ends_the_check(server: OllamaServer) -> None:
    server.script(*answers(PREFERENCE), failure(404, {"error": "model 'tiny' not found"}))
    result = run("check")
    assert result.exit_code == 1
    assert "Ollama has no model 'tiny'" in result.stderr
