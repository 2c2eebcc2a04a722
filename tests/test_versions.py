"""Hosts of several versions on one folder: the newest program runs the engine, and nobody is cut off."""

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import mcp_memory
from mcp_memory import Memory
from mcp_memory.address import (
    FILE_NAME,
    OWNER_NAME,
    PROGRAM_NAME,
    Holder,
    Program,
    holder_of,
    is_newer,
    published,
    record_program,
    recorded_program,
)
from tests.conftest import Attach
from tests.engines import engine_of, is_running, kill, wait_until

pytestmark = pytest.mark.slow


def installed(version: str, place: Path) -> str:
    """The interpreter of an installation of this program under another version."""
    venv.create(place, with_pip=False, symlinks=True)
    copy = place / "program"
    shutil.copytree(Path(mcp_memory.__file__).parent, copy / "mcp_memory")
    (copy / "mcp_memory" / "version.py").write_text(f'"""Its version."""\n\n__version__ = "{version}"\n')
    python = place / "bin" / "python"
    asked = subprocess.run(
        [python, "-c", "import site; print(site.getsitepackages()[0])"], capture_output=True, text=True, check=True
    )
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    # First of all, also before what the environment names.
    lines = [f"import sys; sys.path.insert(0, {str(copy)!r})", *libraries]
    (Path(asked.stdout.strip()) / "program.pth").write_text("\n".join(lines))
    return str(python)


def test_a_newer_host_takes_the_engine_over_while_an_older_one_is_attached(
    attach: Attach, home: Path, tmp_path: Path
) -> None:
    old = attach("desk")
    old.call("add_memory", text="I keep bees", infer=False)
    first = engine_of(home)
    newer = attach("code", python=installed("99.1", tmp_path / "newer"))
    second = engine_of(home)
    assert (second.version, second.pid == first.pid) == ("99.1", False)
    assert not is_running(first.pid)
    for host in (old, newer):
        hits = host.call("search_memory", query="bees")["structuredContent"]["memories"]
        assert [hit["text"] for hit in hits] == ["I keep bees"]
    assert engine_of(home) == second


def test_an_older_host_starts_the_newest_program_that_has_worked_on_the_folder(
    attach: Attach, home: Path, tmp_path: Path
) -> None:
    newer = attach("code", python=installed("99.1", tmp_path / "newer"))
    old = attach("desk")
    kill(engine_of(home).pid)
    old.call("add_memory", text="I keep bees", infer=False)
    assert engine_of(home).version == "99.1"
    assert newer.end() == 0


def test_a_newest_program_that_has_been_removed_is_done_without(attach: Attach, home: Path) -> None:
    home.mkdir()
    record_program(home, Program("99.1", (str(home / "gone" / "python"), "-m", "mcp_memory")))
    attach("desk")
    assert engine_of(home).version == mcp_memory.__version__
    recorded = recorded_program(home)
    assert recorded
    assert (recorded.version, recorded.command[0]) == (mcp_memory.__version__, sys.executable)


@pytest.mark.parametrize("command", ["/bin/false", ""])
def test_a_newest_program_that_does_not_work_any_more_is_done_without(attach: Attach, home: Path, command: str) -> None:
    home.mkdir()
    broken = home / "broken"
    broken.write_text("no program")
    broken.chmod(0o700)
    record_program(home, Program("99.1", (command,)) if command else Program("99.1", (str(broken),)))
    attach("desk")
    assert engine_of(home).version == mcp_memory.__version__


def test_a_damaged_note_of_the_newest_program_is_written_anew(attach: Attach, home: Path) -> None:
    home.mkdir()
    (home / PROGRAM_NAME).write_text('{"version": "1.0", "comm')
    attach("desk")
    assert json.loads((home / PROGRAM_NAME).read_text())["version"] == mcp_memory.__version__


def test_a_program_that_was_replaced_in_its_place_by_an_older_one_is_not_waited_for(home: Path) -> None:
    home.mkdir()
    record_program(home, Program("99.1", (sys.executable, "-P", "-m", "mcp_memory")))
    subprocess.run(
        [
            sys.executable,
            "-c",
            "from mcp_memory import Memory; Memory()",
        ],
        env={**os.environ, "MCP_MEMORY_HOME": str(home), "MCP_MEMORY_ENGINE_IDLE_S": "0"},
        check=True,
    )
    recorded = recorded_program(home)
    assert recorded
    assert recorded.version == mcp_memory.__version__
    wait_until(lambda: not (home / "engine.json").exists())


@pytest.mark.parametrize(
    "content",
    [
        '{"port": Infinity, "token": "t", "pid": 1, "version": "1"}',
        '{"port": 99999, "token": "t", "pid": 1, "version": "1"}',
        '{"port": 1, "token": "t", "pid": -1, "version": "1"}',
        "[" * 200_000,
        "null",
    ],
)
def test_junk_is_no_address_and_names_no_holder_and_no_program(home: Path, content: str) -> None:
    home.mkdir()
    for name in (FILE_NAME, OWNER_NAME, PROGRAM_NAME):
        (home / name).write_text(content)
    assert published(home) is None
    assert recorded_program(home) is None
    assert (holder_of(home) or Holder(1, is_engine=False)).pid == 1


@pytest.mark.parametrize("command", ["\0x", "\ud800", ""])
def test_a_command_that_no_path_can_hold_is_not_there(command: str) -> None:
    assert not Program("99", (command,)).is_there


def test_a_program_that_hangs_is_ended_and_done_without(
    attach: Attach, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.mkdir()
    hangs = tmp_path / "hangs"
    hangs.write_text("#!/bin/sh\nexec sleep 1000\n")
    hangs.chmod(0o700)
    record_program(home, Program("99.1", (str(hangs),)))
    monkeypatch.setattr("mcp_memory.starter._OTHER_PROGRAM_S", 0.5)
    memory = Memory(agent_id="desk")
    assert engine_of(home).version == mcp_memory.__version__
    memory.close()


def test_versions_are_compared_as_versions() -> None:
    ordered = ["?", "0.9", "0.10.dev1", "0.10a1", "0.10", "0.10.1", "1.0.0rc1", "1.0", "1.0.1"]
    for place, version in enumerate(ordered):
        assert not is_newer(version, version)
        assert [is_newer(version, other) for other in ordered[:place]] == [True] * place
