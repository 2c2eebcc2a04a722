"""The adapter for Ollama: its own client, unmodified, against a scripted server over HTTP."""

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx  # noqa: F401  # here, so that no test with a short bound pays for importing it
import ollama  # noqa: F401
import pytest

from mcp_memory import ollama_client
from mcp_memory.errors import InvalidInputError, McpMemoryError, ModelOutputError, ModelUnavailableError
from mcp_memory.ollama_client import InstalledModel, OllamaClient, PullProgress, Reply, normalise_host
from tests.ollama_server import HTML, PATIENCE_S, OllamaServer, Step, failure, last_part, part, progress, reply, tags

QUESTION = [{"role": "system", "content": "Answer in JSON."}, {"role": "user", "content": "I keep bees"}]
SCHEMA = {"type": "object", "properties": {"fact": {"type": ["string", "null"], "default": None}}}
HELD = Step([part("never")], ending="hold")
SILENT = Step(status=None, ending="hold")


@pytest.fixture
def client(server: OllamaServer) -> Iterator[OllamaClient]:
    client = OllamaClient(server.url)
    yield client
    client.close()


@pytest.fixture
def elsewhere() -> Iterator[ThreadPoolExecutor]:
    """Other threads of the test."""
    with ThreadPoolExecutor() as threads:
        yield threads


def ask(
    client: OllamaClient,
    messages: Sequence[Mapping[str, str]] = QUESTION,
    *,
    schema: Mapping[str, Any] | None = None,
    max_output_tokens: int = 100,
    timeout_s: float = PATIENCE_S,
) -> Reply:
    return client.ask("qwen", messages, schema=schema, max_output_tokens=max_output_tokens, timeout_s=timeout_s)


# What is sent


def test_a_request_sends_every_setting_that_the_server_would_otherwise_choose(server: OllamaServer) -> None:
    server.script(reply("{}"))
    ask(OllamaClient(server.url, context_tokens=4000, keep_alive_s=90), schema=SCHEMA, max_output_tokens=50)
    [request] = server.requests
    assert (request.method, request.target) == ("POST", "/api/chat")
    assert request.body == {
        "model": "qwen",
        "messages": QUESTION,
        "stream": True,
        "think": False,
        "format": SCHEMA,
        "options": {"num_ctx": 4000, "num_predict": 50, "temperature": 0, "seed": 0},
        "keep_alive": 90,
        "tools": [],
    }


def test_without_a_schema_no_format_is_sent(server: OllamaServer, client: OllamaClient) -> None:
    server.script(reply("yes"))
    ask(client)
    assert "format" not in server.requests[0].body


def test_a_path_in_the_address_is_kept(server: OllamaServer) -> None:
    server.script(reply("yes"))
    ask(OllamaClient(f"{server.url}/ollama/"))
    assert server.requests[0].target == "/ollama/api/chat"


# What comes back


def test_a_reply_is_its_parts_joined_with_the_counts_of_the_last(server: OllamaServer, client: OllamaClient) -> None:
    server.script(reply(' {"fact": ', '"keeps bees"} ', prompt_eval_count=26, eval_count=7))
    got = ask(client, schema=SCHEMA)
    assert got == Reply('{"fact": "keeps bees"}', True, 26, 7, got.duration_s)
    assert 0 < got.duration_s < PATIENCE_S


def test_counts_that_the_server_leaves_out_are_zero(server: OllamaServer, client: OllamaClient) -> None:
    server.script(Step([part("yes"), part("", done=True, done_reason="stop")]))
    got = ask(client)
    assert (got.text, got.is_complete, got.n_prompt_tokens, got.n_output_tokens) == ("yes", True, 0, 0)


def test_a_reply_without_words_is_empty_and_complete(server: OllamaServer, client: OllamaClient) -> None:
    server.script(reply(""))
    got = ask(client)
    assert (got.text, got.is_complete) == ("", True)


def test_a_finished_reply_counts_even_if_the_server_then_hangs(server: OllamaServer, client: OllamaClient) -> None:
    server.script(Step([part("yes"), last_part()], ending="hold"))
    assert ask(client).is_complete
    server.wait_until_left()


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(reply('{"fact": "ke', done_reason="length"), id="at the output limit"),
        pytest.param(Step([part('{"fact": '), part('"ke')]), id="by an early end of the stream"),
        pytest.param(Step([part('{"fact": "ke'), last_part(done=False)]), id="by a last part that is not done"),
        pytest.param(Step([part('{"fact": "ke'), last_part(done=None)]), id="by a last part with done null"),
    ],
)
def test_a_reply_is_incomplete_if_cut(step: Step, server: OllamaServer, client: OllamaClient) -> None:
    server.script(step)
    got = ask(client, schema=SCHEMA)
    assert (got.text, got.is_complete) == ('{"fact": "ke', False)


def test_a_runaway_reply_is_read_only_up_to_its_bound(server: OllamaServer, client: OllamaClient) -> None:
    server.script(Step([part("loop ") for _ in range(1000)], ending="hold"))
    got = ask(client, max_output_tokens=10)
    assert not got.is_complete
    assert got.text == ("loop " * 1000)[: 10 * 16].strip()
    server.wait_until_quiet()


def test_runaway_thoughts_are_bounded_too(server: OllamaServer) -> None:
    server.script(Step([part("", message={"thinking": "hmm " * 100})], ending="hold"))
    got = ask(OllamaClient(server.url, think=True), max_output_tokens=10)
    assert (got.text, got.is_complete) == ("", False)


@pytest.mark.parametrize(
    ("raw", "text", "is_complete"),
    [
        ("<think>bees?</think>\n\nyes", "yes", True),
        ("<think>\nbees?\n</think>yes<think>wasps?</think>, indeed", "yes, indeed", True),
        ("bees? </think> yes", "yes", True),
        ("<think>bees?</think> or wasps? </think> yes", "yes", True),
        ("\n<think>bees? they are", "", False),
        ("<think></think>", "", True),
        ("yes <think> is a tag", "yes <think> is a tag", True),
    ],
)
def test_thoughts_are_taken_out(
    raw: str, text: str, is_complete: bool, server: OllamaServer, client: OllamaClient
) -> None:
    server.script(reply(*raw.split(" ", 1)[:1], raw[len(raw.split(" ", 1)[0]) :]))
    got = ask(client)
    assert (got.text, got.is_complete) == (text, is_complete)


def test_think_tags_within_json_are_data(server: OllamaServer, client: OllamaClient) -> None:
    server.script(reply('{"fact": "writes <think>', 'x</think> tags"}'))
    assert ask(client, schema=SCHEMA).text == '{"fact": "writes <think>x</think> tags"}'


def test_thoughts_in_their_own_field_are_no_part_of_the_text(server: OllamaServer) -> None:
    server.script(Step([part("", message={"thinking": "bees?"}), part("yes"), last_part()]))
    assert ask(OllamaClient(server.url, think=True)).text == "yes"
    assert server.requests[0].body["think"] is True


def test_a_model_that_cannot_think_is_asked_once_more_and_remembered(server: OllamaServer) -> None:
    refusal = failure(400, {"error": '"qwen" does not support thinking'})
    server.script(refusal, reply("yes"), reply("again"))
    client = OllamaClient(server.url, think=True)
    assert [ask(client).text, ask(client).text] == ["yes", "again"]
    assert [request.body["think"] for request in server.requests] == [True, False, False]


def test_a_refusal_to_think_is_an_error_if_no_thinking_was_asked(server: OllamaServer, client: OllamaClient) -> None:
    server.script(failure(400, {"error": '"qwen" does not support thinking'}))
    with pytest.raises(ModelUnavailableError, match="does not support thinking"):
        ask(client)
    assert len(server.requests) == 1


# Whether all was read


def test_a_prompt_that_the_server_cut_is_noticed(server: OllamaServer, client: OllamaClient) -> None:
    server.script(reply("yes", prompt_eval_count=2048))
    # 3 words of rules and 4,000 more, each at least 0.75 tokens: 3002.25.
    with pytest.raises(ModelOutputError, match="the server read only 2048 tokens of at least 3002") as caught:
        ask(client, [QUESTION[0], {"role": "user", "content": "word " * 4000}])
    assert "OLLAMA_CONTEXT_LENGTH" in caught.value.hint


def test_text_without_spaces_counts_by_its_characters(server: OllamaServer, client: OllamaClient) -> None:
    server.script(reply("yes", prompt_eval_count=99))
    # 1,000 characters in one word, each at least 0.1 tokens.
    with pytest.raises(ModelOutputError, match="of at least 100"):
        ask(client, [{"role": "user", "content": "私は蜂を飼っています" * 100}])


@pytest.mark.parametrize(
    ("content", "n_read"),
    [
        pytest.param("a " * 400, 401, id="a token a word"),
        pytest.param("ありがとうございます" * 40, 41, id="a token for ten characters"),
        pytest.param("我 你 他 " * 100, 301, id="a token a spaced character"),
        pytest.param("x" * 4000, 500, id="one long word"),
        pytest.param("word " * 4000, 0, id="no count"),
        pytest.param("", 5, id="nothing but the template"),
    ],
)
def test_the_shortest_full_read_is_no_cut(
    content: str, n_read: int, server: OllamaServer, client: OllamaClient
) -> None:
    server.script(reply("yes", prompt_eval_count=n_read))
    assert ask(client, [{"role": "user", "content": content}]).n_prompt_tokens == n_read


# Failures

MISSING = "run: ollama pull qwen"
UNAVAILABLE = [
    pytest.param(failure(404, {"error": "model 'qwen' not found"}), "no model 'qwen'", MISSING, id="missing model"),
    pytest.param(
        failure(404, {"error": 'model "qwen" not found, try pulling it first'}),
        "no model 'qwen'",
        MISSING,
        id="missing model, older text",
    ),
    pytest.param(
        Step([part("{"), json.dumps({"error": "model 'qwen' not found"}) + "\n"]),
        "no model 'qwen'",
        MISSING,
        id="model removed midway",
    ),
    pytest.param(
        failure(503, {"error": "server busy, please try again. maximum pending requests exceeded"}),
        "busy",
        "wait",
        id="queue full",
    ),
    pytest.param(failure(429, {"error": "too many requests"}), "busy", "wait", id="too many requests"),
    pytest.param(failure(500, {"error": "llama runner process has terminated"}), "terminated", "log", id="runner died"),
    pytest.param(
        failure(500, {"error": "model requires more system memory (9 GiB) than is available (4 GiB)"}),
        "9 GiB",
        "smaller model",
        id="too little memory",
    ),
    pytest.param(failure(502, HTML), "status 502", "wait", id="a proxy's page"),
    pytest.param(failure(500, ""), "status 500", "wait", id="empty failure"),
    pytest.param(failure(400, {"error": '"qwen" does not support chat'}), "not support", "another model", id="refused"),
    pytest.param(Step(status=None, ending="cut"), "broke", "ollama serve", id="cut before the first byte"),
    pytest.param(Step([part("{")], ending="cut"), "broke", "ollama serve", id="cut midway"),
    pytest.param(Step([part("{")], ending="reset"), "broke", "ollama serve", id="reset midway"),
    pytest.param(Step(status=None, ending="reset"), "broke", "ollama serve", id="reset before the first byte"),
]
UNUSABLE = [
    pytest.param(failure(404, HTML), "status 404", id="another server's page"),
    pytest.param(failure(404, "404 page not found"), "status 404", id="an unknown path"),
    pytest.param(failure(400, ""), "status 400", id="empty refusal"),
    pytest.param(failure(400, {"error": None}), "status 400", id="refusal without a text"),
    pytest.param(failure(404, ["no"]), "AttributeError", id="refusal as a list"),
    pytest.param(failure(404, None), "AttributeError", id="refusal as null"),
    pytest.param(failure(200, HTML), "JSONDecodeError", id="a page"),
    pytest.param(Step([part("{"), '{"message": {"content": "ke\n']), "JSONDecodeError", id="malformed JSON"),
    pytest.param(Step(["[" * 100_000 + "\n"]), "RecursionError", id="JSON too deep"),
    pytest.param(Step(['[{"message": {}}]\n']), "AttributeError", id="a list"),
    pytest.param(Step(["null\n"]), "AttributeError", id="null"),
    pytest.param(Step(['{"error": ["no"]}\n']), "TypeError", id="an error that is a list"),
    pytest.param(Step(['{"model": "qwen", "done": true}\n']), "ValidationError", id="no message"),
    pytest.param(Step([part("x", message={"content": 7})]), "ValidationError", id="content that is a number"),
    pytest.param(Step([part(None), part(None, done=True)]), "no content", id="null content"),
    pytest.param(Step([part("{"), '{"error": "CUDA error"}\n']), "CUDA error", id="an error in the stream"),
    pytest.param(Step([]), "no content", id="an empty answer"),
    pytest.param(Step([part("")]), "no content", id="an early end without content"),
    pytest.param(Step([part("x")], headers={"Content-Encoding": "gzip"}), "DecodingError", id="wrong encoding"),
]


@pytest.mark.parametrize(("step", "message", "hint"), UNAVAILABLE)
def test_the_model_is_unavailable_upon(
    step: Step, message: str, hint: str, server: OllamaServer, client: OllamaClient
) -> None:
    server.script(step)
    with pytest.raises(ModelUnavailableError, match=message) as caught:
        ask(client)
    assert hint in caught.value.hint
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(("step", "message"), UNUSABLE)
def test_the_answer_is_unusable_upon(step: Step, message: str, server: OllamaServer, client: OllamaClient) -> None:
    server.script(step)
    with pytest.raises(ModelOutputError, match=message):
        ask(client)


def test_null_content_beside_other_content_adds_nothing(server: OllamaServer, client: OllamaClient) -> None:
    server.script(Step([part("yes"), part(None, done=True)]))
    assert ask(client).text == "yes"


def test_a_long_error_of_the_server_is_cut_to_one_line(server: OllamaServer, client: OllamaClient) -> None:
    server.script(failure(500, {"error": "too\nmuch " * 1000}))
    with pytest.raises(ModelUnavailableError) as caught:
        ask(client)
    assert len(caught.value.message) < 400
    assert "\n" not in caught.value.message


def test_a_server_that_is_down_is_to_be_started() -> None:
    # Bound but not listening: nobody else can take the port.
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        client = OllamaClient(f"127.0.0.1:{taken.getsockname()[1]}")
        for call in (lambda: ask(client), client.installed, lambda: list(client.pull("qwen"))):
            with pytest.raises(ModelUnavailableError, match="does not answer") as caught:
                call()
            assert "ollama serve" in caught.value.hint


# Time


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(SILENT, id="no byte comes"),
        pytest.param(Step(ending="hold"), id="no part comes"),
        pytest.param(HELD, id="no end comes"),
        pytest.param(Step([part(".") for _ in range(1000)], pause_s=0.02), id="the parts trickle"),
    ],
)
def test_a_request_ends_in_time_when(step: Step, server: OllamaServer, client: OllamaClient) -> None:
    server.script(step)
    started = time.monotonic()
    with pytest.raises(ModelUnavailableError, match=r"did not finish in 0.5 s"):
        ask(client, timeout_s=0.5)
    assert time.monotonic() - started < PATIENCE_S / 4
    server.wait_until_left()


def test_waiting_for_another_request_counts(
    server: OllamaServer, client: OllamaClient, elsewhere: ThreadPoolExecutor
) -> None:
    server.script(Step([part("yes")], ending="hold"))
    first = elsewhere.submit(ask, client)
    server.wait_until_held()
    with pytest.raises(ModelUnavailableError, match="busy with another request"):
        ask(client, timeout_s=0.1)
    server.release()
    assert first.result(PATIENCE_S).text == "yes"
    assert len(server.requests) == 1


def test_two_threads_that_ask_take_turns(
    server: OllamaServer, client: OllamaClient, elsewhere: ThreadPoolExecutor
) -> None:
    server.script(*[Step([part("yes"), last_part()], pause_s=0.1)] * 3)
    replies = [elsewhere.submit(ask, client) for _ in range(3)]
    assert [reply.result(PATIENCE_S).text for reply in replies] == ["yes"] * 3
    assert server.most_at_once == 1


# Cancelling


@pytest.mark.parametrize("step", [pytest.param(SILENT, id="before the first byte"), pytest.param(HELD, id="midway")])
def test_cancelling_closes_the_connection(
    step: Step, server: OllamaServer, client: OllamaClient, elsewhere: ThreadPoolExecutor
) -> None:
    server.script(step, reply("yes"))
    asking = elsewhere.submit(ask, client)
    server.wait_until_held()
    client.cancel()
    with pytest.raises(ModelUnavailableError, match="cancelled"):
        asking.result(PATIENCE_S)
    server.wait_until_left()
    assert ask(client).text == "yes"


def test_cancelling_when_nothing_runs_changes_nothing(server: OllamaServer, client: OllamaClient) -> None:
    server.script(reply("yes"), reply("again"))
    client.cancel()
    assert ask(client).text == "yes"
    client.cancel()
    assert ask(client).text == "again"


def test_cancelling_leaves_the_request_that_waits(
    server: OllamaServer, client: OllamaClient, elsewhere: ThreadPoolExecutor
) -> None:
    server.script(HELD, reply("yes"))
    first = elsewhere.submit(ask, client)
    server.wait_until_held()
    second = elsewhere.submit(ask, client)
    client.cancel()
    assert isinstance(first.exception(PATIENCE_S), ModelUnavailableError)
    assert second.result(PATIENCE_S).text == "yes"


def test_closing_ends_what_runs_and_refuses_what_follows(
    server: OllamaServer, client: OllamaClient, elsewhere: ThreadPoolExecutor
) -> None:
    server.script(HELD)
    asking = elsewhere.submit(ask, client)
    server.wait_until_held()
    client.close()
    with pytest.raises(ModelUnavailableError, match="cancelled"):
        asking.result(PATIENCE_S)
    with pytest.raises(ModelUnavailableError, match="closed"):
        ask(client)
    client.close()
    assert len(server.requests) == 1


def test_an_interrupt_by_the_user_stays_one(
    server: OllamaServer, client: OllamaClient, elsewhere: ThreadPoolExecutor
) -> None:
    def interrupt() -> None:
        server.wait_until_held()
        os.kill(os.getpid(), signal.SIGINT)

    server.script(HELD, reply("yes"))
    elsewhere.submit(interrupt)
    with pytest.raises(KeyboardInterrupt):
        ask(client)
    server.wait_until_left()
    assert ask(client).text == "yes"


# Installed models


def test_installed_models_are_listed_with_size_and_kind(server: OllamaServer, client: OllamaClient) -> None:
    details = {"family": "qwen2", "parameter_size": "1.5B", "quantization_level": "Q4_K_M"}
    server.script(
        tags(
            {"name": "qwen:1.5b", "model": "qwen:1.5b", "size": 986_000_000, "details": details},
            {"name": "bare:latest", "model": "bare:latest"},
        )
    )
    assert client.installed() == [
        InstalledModel("qwen:1.5b", 986_000_000, "1.5B", "Q4_K_M"),
        InstalledModel("bare:latest", 0, "", ""),
    ]
    assert server.requests[0].target == "/api/tags"


@pytest.mark.parametrize(
    ("step", "error"),
    [
        pytest.param(failure(200, HTML), ModelOutputError, id="a page"),
        pytest.param(failure(200, ["qwen"]), ModelOutputError, id="a list"),
        pytest.param(failure(200, {}), ModelOutputError, id="no models"),
        pytest.param(failure(404, HTML), ModelOutputError, id="another server"),
        pytest.param(failure(404, {"error": "not found"}), ModelUnavailableError, id="refused"),
        pytest.param(failure(503, {"error": "busy"}), ModelUnavailableError, id="busy"),
        pytest.param(Step(status=None, ending="cut"), ModelUnavailableError, id="cut"),
    ],
)
def test_a_list_of_models_fails_as_a_reply_does_upon(
    step: Step, error: type[McpMemoryError], server: OllamaServer, client: OllamaClient
) -> None:
    server.script(step, step)
    with pytest.raises(error):
        client.installed()
    with pytest.raises(error):
        client.running(PATIENCE_S)


def test_a_list_that_does_not_come_is_given_up(server: OllamaServer, client: OllamaClient) -> None:
    server.script(SILENT, SILENT)
    for listed in (client.installed, client.running):
        with pytest.raises(ModelUnavailableError, match="in time"):
            listed(within_s=0.1)


def test_models_in_memory_are_listed_by_name(server: OllamaServer, client: OllamaClient) -> None:
    server.script(tags({"name": "qwen:1.5b", "model": "qwen:1.5b", "size_vram": 986_000_000}), tags())
    assert client.running(PATIENCE_S) == {"qwen:1.5b"}
    assert client.running(PATIENCE_S) == frozenset()
    assert server.requests[0].target == "/api/ps"


def test_a_server_can_be_looked_at_while_a_request_runs(
    server: OllamaServer, client: OllamaClient, elsewhere: ThreadPoolExecutor
) -> None:
    server.script(HELD, tags())
    asking = elsewhere.submit(ask, client)
    server.wait_until_held()
    assert client.installed() == []
    client.cancel()
    assert asking.exception(PATIENCE_S)


@pytest.mark.parametrize(
    ("host", "program", "told"),
    [
        ("http://127.0.0.1:11434", "/usr/bin/ollama", "start Ollama (ollama serve), or set MCP_MEMORY_OLLAMA_HOST"),
        ("http://[::1]:11434", None, "install it from https://ollama.com/download and start Ollama (ollama serve)"),
        ("http://nas:11434", None, "start Ollama there (OLLAMA_HOST=0.0.0.0 ollama serve)"),
    ],
)
def test_where_nothing_answers_is_told_what_to_type(
    host: str, program: str | None, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: program)
    assert ollama_client.how_to_start(host).startswith(told)


# Downloads


DOWNLOADING = {"status": "pulling 0123456789ab", "digest": "sha256:0123456789ab", "total": 400, "completed": 100}


def test_a_download_tells_how_far_it_is(server: OllamaServer, client: OllamaClient) -> None:
    server.script(progress({"status": "pulling manifest"}, DOWNLOADING, {"status": "success"}))
    assert list(client.pull("qwen")) == [
        PullProgress("pulling manifest", 0, 0),
        PullProgress("pulling 0123456789ab", 100, 400),
        PullProgress("success", 0, 0),
    ]
    assert server.requests[0].target == "/api/pull"
    assert server.requests[0].body["model"] == "qwen"


MANIFEST = {"status": "pulling manifest"}
NO_HOST = 'pull model manifest: Get "https://registry.ollama.ai/v2/": dial tcp: lookup registry.ollama.ai: no such host'
TOO_OLD = "pull model manifest: 412: The model you are attempting to pull requires a newer version of Ollama."


@pytest.mark.parametrize(
    ("step", "message", "hint"),
    [
        pytest.param(
            progress(MANIFEST, {"error": "pull model manifest: file does not exist"}),
            "could not pull 'qwen': pull model manifest",
            "check the name",
            id="an unknown name",
        ),
        pytest.param(
            failure(400, {"error": "invalid model name"}), "invalid model", "check the name", id="a name that is none"
        ),
        pytest.param(progress(MANIFEST, {"error": NO_HOST}), "no such host", "reaches https", id="no way out"),
        pytest.param(
            progress(DOWNLOADING, {"error": "max retries exceeded: unexpected EOF"}), "EOF", "again", id="a bad line"
        ),
        pytest.param(progress(MANIFEST, {"error": TOO_OLD}), "newer version", "update Ollama", id="an old server"),
        pytest.param(progress(DOWNLOADING), "broke off", "again", id="an early end"),
        pytest.param(progress(DOWNLOADING, ending="cut"), "broke", "start Ollama again", id="a cut"),
        pytest.param(
            failure(500, {"error": "no space left on device"}), "no space left", "free some space", id="a full disk"
        ),
        pytest.param(
            progress(DOWNLOADING, {"error": "write: no space left on device"}),
            "no space left",
            "free some space",
            id="a disk that fills up midway",
        ),
        pytest.param(failure(503, {"error": "busy"}), "busy", "wait", id="a busy server"),
    ],
)
def test_a_download_fails_upon(step: Step, message: str, hint: str, server: OllamaServer, client: OllamaClient) -> None:
    server.script(step)
    with pytest.raises(ModelUnavailableError, match=message) as caught:
        list(client.pull("qwen"))
    assert hint in caught.value.hint


def test_a_download_that_stands_still_is_given_up(
    server: OllamaServer, client: OllamaClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ollama_client, "PULL_SILENCE_S", 0.1)
    server.script(progress(DOWNLOADING, ending="hold"))
    with pytest.raises(ModelUnavailableError, match="in time"):
        list(client.pull("qwen"))


def test_leaving_a_download_early_ends_it(server: OllamaServer, client: OllamaClient) -> None:
    server.script(progress(DOWNLOADING, ending="hold"))
    download = client.pull("qwen")
    assert next(download).completed == 100
    download.close()  # type: ignore[attr-defined]
    server.wait_until_left()


# The environment


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[OllamaServer]:
    with OllamaServer() as running:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, running.url)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        yield running


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_proxy_is_not_used_on_this_machine(name: str, server: OllamaServer, proxy: OllamaServer) -> None:
    server.script(reply("yes"), tags(), progress({"status": "success"}))
    client = OllamaClient(f"{name}:{server.port}")
    assert ask(client).text == "yes"
    assert client.installed() == []
    assert list(client.pull("qwen"))
    assert not proxy.requests


def test_a_proxy_is_used_for_another_machine(proxy: OllamaServer) -> None:
    proxy.script(reply("yes"))
    assert ask(OllamaClient("http://ollama.example")).text == "yes"
    assert proxy.requests[0].target == "http://ollama.example:11434/api/chat"


def test_importing_and_making_a_client_imports_neither_ollama_nor_httpx() -> None:
    code = (
        "import sys; from mcp_memory.ollama_client import OllamaClient; OllamaClient('').close();"
        "print({'ollama', 'httpx'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.strip() == "set()"


def test_no_failure_leaves_anything_open(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    left_open: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda event: left_open.append(event.exc_value))
    n_threads = threading.active_count()
    steps: list[Any] = [case.values[0] for case in UNAVAILABLE + UNUSABLE] + [SILENT, HELD]
    for step in steps:
        server.script(step)
        with pytest.raises(McpMemoryError):
            ask(OllamaClient(server.url), timeout_s=0.2)
    gc.collect()
    assert left_open == []
    assert threading.active_count() == n_threads
    server.wait_until_quiet()


# Addresses


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        ("  ", "http://127.0.0.1:11434"),
        ("localhost", "http://localhost:11434"),
        ("1.2.3.4", "http://1.2.3.4:11434"),
        ("1.2.3.4:80", "http://1.2.3.4:80"),
        (":5000", "http://127.0.0.1:5000"),
        ("http://gpu", "http://gpu:11434"),
        ("HTTP://GPU:80/", "http://gpu:80"),
        ("https://gpu.example.com", "https://gpu.example.com:443"),
        ("https://gpu.example.com/ollama/", "https://gpu.example.com:443/ollama"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("http://0.0.0.0:5000", "http://127.0.0.1:5000"),
        ("[::]:5000", "http://[::1]:5000"),
        ("::1", "http://[::1]:11434"),
        ("[::1]", "http://[::1]:11434"),
        ("http://[2001:db8::7]:5000/x", "http://[2001:db8::7]:5000/x"),
        (" gpu\n", "http://gpu:11434"),
    ],
)
def test_an_address_is_completed_as_the_server_reads_it(host: str, url: str) -> None:
    assert normalise_host(host) == url
    assert normalise_host(url) == url


@pytest.mark.parametrize(
    "host",
    [
        "ftp://gpu",
        "gpu:port",
        "gpu:0",
        "gpu:70000",
        "a b",
        "a..b",
        "http://ana:secret@gpu",
        "http://gpu?x=1",
        "http://gpu#x",
        "http:/gpu",
        "//gpu",
        "11434",
        "1.2.3.4.5",
        "999.1.1.1",
        "[::1",
        "[gpu]",
        "gpu\n/x",
        "x" * 64,
        "http://a://b",
        "C:\\ollama",
    ],
)
def test_what_is_no_address_is_refused(host: str) -> None:
    with pytest.raises(InvalidInputError, match="no address of an Ollama server") as caught:
        OllamaClient(host)
    assert "http://127.0.0.1:11434" in caught.value.hint
