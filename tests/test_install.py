"""A host is set up and cleared again, and whatever else is in its files stays as it was, byte for byte."""

import json
import os
import shlex
import stat
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from mcp_memory import host_parts, install, json_edit
from mcp_memory.config_file import Change
from mcp_memory.errors import HostError, InvalidInputError
from mcp_memory.hosts import HOSTS
from mcp_memory.install import Surroundings
from tests.test_json_edit import layouts
from tests.test_toml_edit import documents

PROGRAM = ("/opt/memory/bin/mcp-memory",)


def here(home: Path, **environment: str) -> Surroundings:
    return Surroundings({"MCP_MEMORY_HOME": str(home / "data"), **environment}, home, "linux")


def bare(home: Path) -> Surroundings:
    """Without a setting in the environment: the entry has no variables then."""
    return Surroundings({}, home, "linux")


@pytest.fixture
def around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Surroundings:
    monkeypatch.setenv("HOME", str(tmp_path))
    return bare(tmp_path)


def set_up(host: str, around: Surroundings, program: tuple[str, ...] = PROGRAM, name: str = "") -> list[Change]:
    plan = install.plan_install(HOSTS[host], around, program=program, name=name)
    install.apply_install(plan, around)
    return plan.changes


def clear(host: str, around: Surroundings) -> list[Change]:
    plan = install.plan_uninstall(HOSTS[host], around)
    install.apply_uninstall(plan, around)
    return plan.changes


def files_of(home: Path) -> dict[str, bytes | None]:
    """Every file and folder of a home, but for the data folder."""
    return {
        str(path.relative_to(home)): path.read_bytes() if path.is_file() else None
        for path in sorted(home.rglob("*"))
        if ".local" not in path.parts and "data" not in path.parts
    }


def main_file(host: str, around: Surroundings) -> Path:
    return around.places(HOSTS[host]).servers[-1]


def written(host: str, around: Surroundings) -> Any:
    path = main_file(host, around)
    return tomllib.loads(path.read_text()) if host == "codex" else json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("host", HOSTS)
def test_where_nothing_was_before_nothing_is_left(host: str, around: Surroundings) -> None:
    before = files_of(around.home)
    assert set_up(host, around)
    there = files_of(around.home)
    assert there != before
    assert set_up(host, around) == []
    assert files_of(around.home) == there
    assert clear(host, around)
    assert files_of(around.home) == before
    assert clear(host, around) == []


@pytest.mark.parametrize("host", [name for name in HOSTS if name != "pi"])
def test_the_entry_starts_the_server_by_an_absolute_path(host: str, around: Surroundings) -> None:
    set_up(host, around)
    entry: dict[str, Any] = {"command": PROGRAM[0], "args": ["serve"]}
    if host in ("codex", "gemini"):
        # Over MCP they give other names than ours.
        entry["env"] = {"MCP_MEMORY_AGENT_ID": host}
    if host in ("claude-code", "vscode"):
        entry = {"type": "stdio", **entry}
    assert written(host, around)[HOSTS[host].key] == {"memory": entry}


def test_settings_of_the_environment_are_carried_by_the_entry_and_kept_by_a_later_installation(tmp_path: Path) -> None:
    given = here(tmp_path, MCP_MEMORY_USER_ID="ana", MCP_MEMORY_FLOOR="0.1", MCP_MEMORY_TOOLS="")
    set_up("cursor", given)
    expected = {"MCP_MEMORY_HOME": str(tmp_path / "data"), "MCP_MEMORY_USER_ID": "ana", "MCP_MEMORY_FLOOR": "0.1"}
    assert written("cursor", given)["mcpServers"]["memory"]["env"] == expected
    without_user = here(tmp_path)
    assert set_up("cursor", without_user) == []
    assert set_up("cursor", here(tmp_path, MCP_MEMORY_FLOOR="0.2"))
    assert written("cursor", given)["mcpServers"]["memory"]["env"] == {**expected, "MCP_MEMORY_FLOOR": "0.2"}


def test_what_somebody_has_added_to_the_entry_stays(around: Surroundings) -> None:
    set_up("cursor", around)
    path = main_file("cursor", around)
    told = written("cursor", around)
    told["mcpServers"]["memory"] |= {"disabled": True, "env": {"LANG": "de"}}
    path.write_text(json.dumps(told))
    set_up("cursor", around, ("/new/mcp-memory",))
    entry = {"command": "/new/mcp-memory", "args": ["serve"], "disabled": True, "env": {"LANG": "de"}}
    assert written("cursor", around) == {"mcpServers": {"memory": entry}}


@pytest.mark.parametrize("host", ["cursor", "codex"])
def test_a_server_of_somebody_else_is_not_replaced(host: str, around: Surroundings) -> None:
    path = main_file(host, around)
    path.parent.mkdir(parents=True)
    other = '{"mcpServers": {"memory": {"command": "npx", "args": ["server-memory"]}}}'
    path.write_text(other if host == "cursor" else '[mcp_servers.memory]\ncommand = "npx"\nargs = ["server-memory"]\n')
    before = path.read_bytes()
    with pytest.raises(HostError, match="which is not mcp-memory") as raised:
        set_up(host, around)
    assert "--name" in raised.value.hint
    assert str(path) in raised.value.message
    assert path.read_bytes() == before
    assert clear(host, around) == []
    set_up(host, around, name="recollection")
    assert set(written(host, around)[HOSTS[host].key]) == {"memory", "recollection"}
    assert clear(host, around)
    assert path.read_bytes() == before


def test_a_second_name_is_refused_while_the_first_is_there(around: Surroundings) -> None:
    set_up("cursor", around, name="one")
    with pytest.raises(HostError, match="as 'one'"):
        set_up("cursor", around, name="two")


def test_an_unknown_host_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InvalidInputError) as raised:
        install.host_named("emacs")
    assert "claude-code" in raised.value.hint


OTHERS_HOOKS = """{
  // mine
  "hooks": {
    "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
    "PreToolUse": [],
  },
  "model": "opus"
}
"""


def test_hooks_of_others_stay_in_their_order_and_ours_come_once(around: Surroundings) -> None:
    path = around.home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(OTHERS_HOOKS)
    set_up("claude-code", around)
    set_up("claude-code", around, ("/new/place/mcp-memory",))
    text = path.read_text()
    assert "// mine" in text
    assert "/opt" not in text
    assert text.count("hook capture claude-code") == text.count("hook recall claude-code") == 2
    assert text.index("say done") < text.index("hook capture claude-code")
    clear("claude-code", around)
    assert path.read_text() == OTHERS_HOOKS


def test_hooks_run_with_the_memory_that_the_entry_has(tmp_path: Path) -> None:
    around = Surroundings(
        {"MCP_MEMORY_HOME": str(tmp_path / "my data"), "MCP_MEMORY_USER_ID": "o'neil"}, tmp_path, "linux"
    )
    set_up("claude-code", around, ("/a b/mcp-memory",))
    hooks = json.loads((tmp_path / ".claude" / "settings.json").read_text())["hooks"]
    assert list(hooks) == ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]
    [group] = hooks["UserPromptSubmit"]
    [hook] = group["hooks"]
    assert (hook["type"], hook["timeout"]) == ("command", 10)
    expected = [
        "/a b/mcp-memory",
        "hook",
        "recall",
        "claude-code",
        "--home",
        str(tmp_path / "my data"),
        "--user",
        "o'neil",
    ]
    assert shlex.split(hook["command"]) == expected
    # A later installation from a shell without these variables keeps them.
    assert (
        set_up(
            "claude-code",
            Surroundings({"MCP_MEMORY_HOME": str(tmp_path / "my data")}, tmp_path, "linux"),
            ("/a b/mcp-memory",),
        )
        == []
    )


@pytest.mark.parametrize(
    ("host", "file", "turn"),
    [
        ("codex", ".codex/hooks.json", ("UserPromptSubmit", "Stop")),
        ("gemini", ".gemini/settings.json", ("BeforeAgent", "AfterAgent")),
    ],
)
def test_other_hosts_with_hooks_recall_with_each_prompt_and_capture_after_each_turn(
    host: str, file: str, turn: tuple[str, str], around: Surroundings
) -> None:
    path = around.home / file
    path.parent.mkdir()
    before = '{"hooks": {"Stop": [], "BeforeAgent": [{"hooks": [{"type": "command", "command": "say"}]}]}, "x": 1}'
    path.write_text(before)
    set_up(host, around)
    hooks = json.loads(path.read_text())["hooks"]
    for event, what in (
        ("SessionStart", "recall"),
        (turn[0], "recall"),
        (turn[1], "capture"),
        ("SessionEnd", "capture"),
    ):
        last = hooks[event][-1]["hooks"][0]
        assert last["command"] == f"{PROGRAM[0]} hook {what} {host}"
        # Seconds or milliseconds, as the host has it; of the last Codex complains where it is longer than three.
        n_seconds = 3 if (host, event) == ("codex", "SessionEnd") else 10
        assert last["timeout"] == n_seconds * (1 if host == "codex" else 1000)
    assert hooks["BeforeAgent"][0]["hooks"][0]["command"] == "say"
    assert set_up(host, around) == []
    clear(host, around)
    assert path.read_text() == before


def test_installing_trusts_nothing_in_the_name_of_a_user_and_leaves_what_they_trusted(around: Surroundings) -> None:
    set_up("codex", around)
    config = around.home / ".codex" / "config.toml"
    assert "trust" not in config.read_text()
    # So Codex notes that hooks were reviewed.
    state = f'\n[hooks.state."{around.home}/.codex/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:0"\n'
    config.write_text(config.read_text() + state)
    assert set_up("codex", around) == []
    clear("codex", around)
    assert config.read_text().strip() == state.strip()


def test_doubled_hooks_become_one(around: Surroundings) -> None:
    set_up("claude-code", around)
    path = around.home / ".claude" / "settings.json"
    told = json.loads(path.read_text())
    told["hooks"]["Stop"] *= 3
    told["hooks"]["Stop"][0]["hooks"] *= 2
    told["hooks"]["PreCompact"] = told["hooks"]["Stop"][1:2]
    path.write_text(json.dumps(told, indent=2))
    set_up("claude-code", around)
    hooks = json.loads(path.read_text())["hooks"]
    assert [len(hooks["Stop"]), len(hooks["Stop"][0]["hooks"]), hooks["PreCompact"]] == [1, 1, []]


def test_the_older_file_of_claude_code_is_used_where_it_is_there(around: Surroundings) -> None:
    old = around.home / ".claude" / ".config.json"
    old.parent.mkdir()
    old.write_text("{}")
    set_up("claude-code", around)
    assert "memory" in old.read_text()
    assert not (around.home / ".claude.json").exists()


def test_pi_gets_the_extension_with_tools_and_an_entry_only_beside_the_adapter(around: Surroundings) -> None:
    agent = around.home / ".pi" / "agent"
    set_up("pi", around)
    extension = (agent / "extensions" / "mcp-memory.ts").read_text()
    assert f'COMMAND: string[] = ["{PROGRAM[0]}"]' in extension
    assert "WITH_TOOLS: boolean = true" in extension
    assert not (agent / "mcp.json").exists()
    (agent / "settings.json").write_text('{"packages": ["npm:pi-mcp-adapter@2.36.0"]}')
    set_up("pi", around)
    assert "WITH_TOOLS: boolean = false" in (agent / "extensions" / "mcp-memory.ts").read_text()
    assert json.loads((agent / "mcp.json").read_text())["mcpServers"]["memory"]["command"] == PROGRAM[0]
    # What is set up stays as it is where Pi cannot be looked at.
    (agent / "settings.json").write_text("{}")
    assert set_up("pi", around) == []
    clear("pi", around)
    assert list(files_of(around.home)) == [".pi", ".pi/agent", ".pi/agent/settings.json"]


def test_a_module_of_somebody_else_is_not_replaced(around: Surroundings) -> None:
    path = around.home / ".pi" / "agent" / "extensions" / "mcp-memory.ts"
    path.parent.mkdir(parents=True)
    path.write_text("export default 1;\n")
    with pytest.raises(HostError, match="not mcp-memory's"):
        set_up("pi", around)
    assert clear("pi", around) == []
    assert path.read_text() == "export default 1;\n"


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(layouts())
def test_any_file_of_a_host_comes_through_installing_twice_and_undoing_it(layout: tuple[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        around = bare(Path(folder))
        paths = [around.home / ".claude.json", around.home / ".claude" / "settings.json"]
        paths[1].parent.mkdir()
        for path in paths:
            path.write_bytes(layout[0].encode("utf-8"))
        set_up("claude-code", around)
        assert set_up("claude-code", around) == []
        set_up("claude-code", around, ("/moved/mcp-memory",))
        clear("claude-code", around)
        assert [path.read_bytes().decode("utf-8") for path in paths] == [layout[0]] * 2


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(layouts())
def test_what_a_host_has_written_anew_since_stays_when_it_is_undone(layout: tuple[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        around = bare(Path(folder))
        paths = [around.home / ".claude.json", around.home / ".claude" / "settings.json"]
        paths[1].parent.mkdir()
        for path in paths:
            path.write_bytes(layout[0].encode("utf-8"))
        set_up("claude-code", around)
        for path in paths:
            told = json_edit.get(path.read_bytes().decode("utf-8"), ())
            path.write_text(json.dumps({"numStartups": 7, **told, "last": [1]}, indent=2), encoding="utf-8")
        clear("claude-code", around)
        expected = json.dumps({"numStartups": 7, **layout[1], "last": [1]}, indent=2)
        # An object that was empty is laid out as it was then.
        left = [json.dumps(json.loads(path.read_text(encoding="utf-8")), indent=2) for path in paths]
        assert left == [expected] * 2


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(layouts())
def test_what_was_added_by_hand_since_stays_and_nothing_else_is_touched(layout: tuple[str, Any]) -> None:
    text, meant = layout
    with tempfile.TemporaryDirectory() as folder:
        around = bare(Path(folder))
        path = main_file("cursor", around)
        path.parent.mkdir()
        path.write_bytes(text.encode("utf-8"))
        set_up("cursor", around)
        added, _ = json_edit.put(path.read_bytes().decode("utf-8"), ("by hand",), [1])
        path.write_bytes(added.encode("utf-8"))
        clear("cursor", around)
        left = path.read_bytes().decode("utf-8")
    assert json_edit.get(left, ()) == {**meant, "by hand": [1]}
    without = json_edit.remove(left, ("by hand",))
    # An object that had nothing in it has got the layout of what was added.
    assert without == text if meant else "".join(without.split()) == "".join(text.split())


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(documents())
def test_any_toml_file_comes_through_installing_twice_and_undoing_it(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        around = bare(Path(folder))
        path = main_file("codex", around)
        path.parent.mkdir()
        path.write_bytes(text.encode("utf-8"))
        set_up("codex", around)
        assert set_up("codex", around) == []
        set_up("codex", around, ("/moved/mcp-memory",))
        with path.open("ab") as file:
            file.write(b"# the end\n")
        clear("codex", around)
        assert path.read_bytes().decode("utf-8").startswith(text)
        path.write_bytes(text.encode("utf-8"))
        set_up("codex", around)
        clear("codex", around)
        assert path.read_bytes().decode("utf-8") == text


def test_without_its_record_our_parts_are_taken_out_all_the_same(around: Surroundings) -> None:
    path = main_file("cursor", around)
    path.parent.mkdir()
    before = '{\n    "mcpServers": {\n        "x": {} // other\n    },\n}\n'
    path.write_text(before)
    set_up("cursor", around)
    (around.data / "hosts" / "cursor" / "record.json").write_text("damaged")
    clear("cursor", around)
    assert path.read_text() == before


def test_a_link_is_followed_and_the_mode_kept(around: Surroundings) -> None:
    real = around.home / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text("{}")
    real.chmod(0o640)
    path = main_file("cursor", around)
    path.parent.mkdir()
    path.symlink_to(real)
    set_up("cursor", around)
    assert path.is_symlink()
    assert "memory" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_copies_and_new_files_are_their_owners_alone(around: Surroundings) -> None:
    path = main_file("cursor", around)
    path.parent.mkdir()
    path.write_text("{}")
    plan = install.plan_install(HOSTS["cursor"], around, program=PROGRAM)
    [copy] = install.apply_install(plan, around)
    assert copy.read_text() == "{}"
    assert copy.parent == around.data / "hosts" / "cursor"
    assert {stat.S_IMODE(kept.stat().st_mode) for kept in copy.parent.iterdir()} == {0o600}
    set_up("gemini", around)
    assert stat.S_IMODE(main_file("gemini", around).stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b'{"a": }', b"\xff\xfe{}", b"[1]", b'{"mcpServers": 1}'])
def test_a_file_that_cannot_be_read_is_named_and_nothing_is_changed(content: bytes, around: Surroundings) -> None:
    path = main_file("claude-code", around)
    path.write_bytes(content)
    before = files_of(around.home)
    with pytest.raises(HostError) as raised:
        set_up("claude-code", around)
    assert str(path) in raised.value.message
    assert files_of(around.home) == before
    if content == b'{"a": }':
        assert "line 1, column 7" in raised.value.message


def test_a_write_protected_file_leaves_the_others_as_they_were(around: Surroundings) -> None:
    hooks = around.home / ".claude" / "settings.json"
    hooks.parent.mkdir()
    hooks.write_text("{}")
    hooks.chmod(0o444)
    before = files_of(around.home)
    with pytest.raises(HostError, match=r"settings\.json cannot be written"):
        set_up("claude-code", around)
    assert files_of(around.home) == before
    hooks.chmod(0o644)
    set_up("claude-code", around)
    clear("claude-code", around)
    assert files_of(around.home) == before


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit of this kind")
def test_a_full_disk_leaves_every_file_whole(around: Surroundings) -> None:
    path = main_file("claude-code", around)
    path.write_text(json.dumps({"a": "x" * 5000}))
    before = files_of(around.home)
    code = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from mcp_memory import install\n"
        "from mcp_memory.hosts import HOSTS\n"
        "around = install.Surroundings({}, Path(sys.argv[1]))\n"
        "plan = install.plan_install(HOSTS['claude-code'], around)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))\n"
        "try: install.apply_install(plan, around)\n"
        "except Exception as exc: print(exc)\n"
    )
    environment = {**os.environ, "HOME": str(around.home)}
    environment.pop("MCP_MEMORY_HOME")
    told = subprocess.run(
        [sys.executable, "-c", code, str(around.home)], capture_output=True, text=True, env=environment, check=False
    )
    assert "cannot be written" in told.stdout, told
    assert files_of(around.home) == before


def test_a_failure_at_the_last_file_puts_the_first_back(around: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    set_up("claude-code", around)
    before = files_of(around.home)
    replace = Path.replace

    def failing(self: Path, target: Path) -> Path:
        if target.name == "settings.json" and self.parent == target.parent:
            raise OSError(16, "Device or resource busy")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(HostError, match="nothing was changed"):
        set_up("claude-code", around, ("/new/mcp-memory",))
    assert files_of(around.home) == before
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(around.home))
    clear("claude-code", around)
    assert files_of(around.home) == {}


def test_a_file_that_is_written_meanwhile_is_left_alone(around: Surroundings) -> None:
    path = main_file("claude-code", around)
    path.write_text("{}")
    plan = install.plan_install(HOSTS["claude-code"], around, program=PROGRAM)
    path.write_text('{"numStartups": 2}')
    with pytest.raises(HostError, match="changed by somebody else"):
        install.apply_install(plan, around)
    assert path.read_text() == '{"numStartups": 2}'
    assert not (around.home / ".claude").exists()


def test_a_difference_is_told_with_the_lines_where_it_is() -> None:
    before = "".join(f"line {n}\n" for n in range(1, 50_001))
    after = before.replace("line 30000\n", "line 30000\nnew\n")
    lines = list(install.diff(Change(Path("/f"), before.encode(), after.encode())))
    assert lines[:3] == ["--- /f", "+++ /f", "@@ -29998,6 +29998,7 @@"]
    assert lines[3:] == [
        " line 29998",
        " line 29999",
        " line 30000",
        "+new",
        " line 30001",
        " line 30002",
        " line 30003",
    ]
    assert list(install.diff(Change(Path("/f"), None, b"a\n"))) == ["--- /dev/null", "+++ /f", "@@ -0,0 +1 @@", "+a"]


def test_the_command_is_the_script_beside_python_else_python_with_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert install.own_program() == (str(tmp_path / "python"), "-P", "-m", "mcp_memory")
    (tmp_path / "mcp-memory").touch()
    assert install.own_program() == (str(tmp_path / "mcp-memory"),)


@pytest.mark.parametrize(
    ("entry", "is_ours"),
    [
        ({"command": "/x/bin/mcp-memory", "args": ["serve"]}, True),
        ({"command": "C:\\Scripts\\mcp-memory.EXE", "args": ["serve"]}, True),
        ({"command": "uvx", "args": ["mcp-memory", "serve"]}, True),
        ({"command": "python", "args": ["-P", "-m", "mcp_memory", "serve", "--foreground"]}, True),
        ({"command": "npx", "args": ["-y", "mcp-memory"]}, False),
        ({"command": "serve", "args": ["mcp-memory"]}, False),
        ({"command": "npx", "args": ["@modelcontextprotocol/server-memory", "serve"]}, False),
        ({"url": "http://127.0.0.1/mcp-memory"}, False),
        ({"command": "mcp-memory", "args": [1, "serve"]}, False),
        ("mcp-memory serve", False),
    ],
)
def test_an_entry_of_ours_is_known_by_its_command(entry: Any, is_ours: bool) -> None:
    assert host_parts.is_ours(entry) is is_ours


def test_hooks_on_windows_are_quoted_as_its_shells_take_them() -> None:
    hooks = HOSTS["claude-code"].hooks[:1]
    commands = host_parts.hook_commands(hooks, ("C:\\Users\\Ana B\\mcp-memory.exe",), "claude-code", {}, "win32")
    assert commands == {"SessionStart": ('"C:/Users/Ana B/mcp-memory.exe" hook recall claude-code', 10)}


def test_what_was_damaged_by_hand_is_ours_still_and_is_put_right_or_taken_out(around: Surroundings) -> None:
    before = files_of(around.home)
    set_up("claude-code", around)
    there = files_of(around.home)
    servers = main_file("claude-code", around)
    hooks = around.home / ".claude" / "settings.json"

    def damage() -> None:
        servers.write_text(servers.read_text().replace('"serve"', '"serv"'))
        hooks.write_text(hooks.read_text().replace("hook capture claude-code", "hook captur claude-code"))

    damage()
    assert set_up("claude-code", around)
    assert files_of(around.home) == there
    damage()
    clear("claude-code", around)
    assert files_of(around.home) == before
