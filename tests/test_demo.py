"""The demonstration, with its real server processes: with a language model, and without."""

from pathlib import Path

import pytest

from mcp_memory.demo import READ, run_demo
from mcp_memory.errors import StorageError
from tests.fakes import facts
from tests.ollama_server import OllamaServer, reply, tags

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("embedder")]


def test_where_a_model_is_the_demo_has_it_read_statements_through_the_server(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("MCP_MEMORY_OLLAMA_HOST")
    home = tmp_path / "home"
    home.mkdir()
    lines: list[str] = []
    with OllamaServer() as server:
        # The user's own file counts, though the demo's memory lies elsewhere.
        (home / "settings.toml").write_text(f'ollama_host = "{server.url}"\nllm_model = "tiny"\n')
        answer = facts("The user is learning Finnish.", "The user's brother Tomas starts at the post office.")
        server.script(tags({"model": "tiny:latest"}), reply(answer.text, prompt_eval_count=1500))
        run_demo(lines.append)
        assert server.requests[0].target == "/api/tags"
        assert len(server.asked("facts")) == 1
        assert server.requests[1].body["model"] == "tiny"
    told = lines.index(f"It lets a language model, tiny in Ollama at {server.url}, read statements out of {READ!r}:")
    assert lines[told + 1].startswith("  added ")
    assert lines[told + 1].endswith(": The user is learning Finnish.")
    assert lines[-1].startswith("Done.")
    assert [path.name for path in home.iterdir()] == ["settings.toml"]


def test_where_none_is_the_demo_says_what_to_type() -> None:
    lines: list[str] = []
    run_demo(lines.append)
    assert lines[-2].startswith("No statements are read out by a language model: Ollama does not answer at")
    assert "ollama serve" in lines[-2]
    assert "mcp-memory models" in lines[-2]
    assert lines[-1].startswith("Done.")


def test_a_demo_that_fails_tells_what_its_engine_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_memory.demo.TOLD", ())
    lines: list[str] = []
    with pytest.raises(StorageError, match="the demonstration failed: invalid_input"):
        run_demo(lines.append)
    assert any(line.startswith("engine.log: ") and "listens on port" in line for line in lines)
