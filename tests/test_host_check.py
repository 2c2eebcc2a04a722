"""A server is started as a host would, and what keeps it from answering is told."""

import os
import sys
from pathlib import Path

import pytest

from mcp_memory.errors import HostError
from mcp_memory.host_check import bare_environment, start_and_ask
from mcp_memory.version import __version__
from tests.engines import engines_on, kill

SERVE = (sys.executable, "-P", "-m", "mcp_memory", "serve")

ANSWERS = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        result = {"serverInfo": {"name": "x", "version": os.getcwd() + "|" + ",".join(sorted(os.environ))}}
    elif asked.get("method") == "tools/list":
        print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}), flush=True)
        result = {"tools": [{"name": os.environ["PATH"]}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def test_the_server_itself_answers_with_its_version_and_tools(home: Path, tmp_path: Path) -> None:
    given = {"MCP_MEMORY_HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[1])}
    try:
        answered = start_and_ask(SERVE, given, {**os.environ, "HOME": str(tmp_path)})
    finally:
        for pid in engines_on(home):
            kill(pid)
    assert answered.version == __version__
    assert "search_memory" in answered.tools


def test_it_runs_in_the_root_folder_with_a_bare_environment() -> None:
    environment = {"HOME": "/home/ana", "SECRET": "x", "PATH": "/somewhere", "LANG": "C.UTF-8"}
    answered = start_and_ask((sys.executable, "-c", ANSWERS), {"A": "b"}, environment)
    folder, names = answered.version.split("|")
    assert folder == "/"
    assert set(names.split(",")) - {"LC_CTYPE"} == {"A", "HOME", "LANG", "PATH"}
    assert answered.tools == ("/usr/bin:/bin",)


def test_windows_programs_get_what_they_cannot_run_without() -> None:
    kept = bare_environment({}, {"SYSTEMROOT": r"C:\\Windows", "PATH": "p", "HOME": "h"}, "win32")
    assert kept == {"SYSTEMROOT": r"C:\\Windows", "PATH": "p"}


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("raise SystemExit('no such module')", "no such module"),
        ("print('hello')", "does not answer as a server"),
        ("import json; print(json.dumps({'id': 1, 'result': 3}))", "no object"),
        ("import json; print(json.dumps({'id': 1, 'error': {}}))", "it ended"),
        ("import time; time.sleep(30)", "no answer in time"),
    ],
)
def test_what_keeps_it_from_answering_is_told(code: str, told: str) -> None:
    with pytest.raises(HostError, match=told):
        start_and_ask((sys.executable, "-c", code), {}, patience_s=1.5)


def test_a_command_that_is_not_there_is_named() -> None:
    with pytest.raises(HostError, match="/nowhere/mcp-memory cannot be started"):
        start_and_ask(("/nowhere/mcp-memory", "serve"), {})
