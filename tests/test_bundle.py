"""The bundle for Claude Desktop: what is in it, what it says of itself, and that it starts as its host starts it.

With the environment variable TEST_HOSTS, a folder `node_modules/.bin` that holds `mcpb`, the makers' own checks run
too.
"""

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import bundle
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import Implementation

from mcp_memory.paths import data_folder
from mcp_memory.settings import PREFIX, Settings
from mcp_memory.tools import DEFAULT, FULL
from mcp_memory.version import __version__
from tests.engines import engines_on, kill

ROOT = Path(__file__).parent.parent
Answers = Mapping[str, str | bool]

# Prints the command that the code of `mcpb`, which Claude Desktop uses too, makes from a manifest and a form.
_OF_MCPB = """
import { readFileSync } from "node:fs";
const [, package_, extensionPath, answers] = process.argv;
const { getMcpConfigForManifest } = await import(package_);
const manifest = JSON.parse(readFileSync(`${extensionPath}/manifest.json`, "utf-8"));
const userConfig = JSON.parse(answers);
console.log(JSON.stringify(await getMcpConfigForManifest(
    { manifest, extensionPath, userConfig, systemDirs: {}, pathSeparator: "/" })));
"""


def build(out: Path, **environment: str) -> Path:
    """The bundle as the command writes it, from another working folder."""
    command = [sys.executable, str(ROOT / "scripts" / "bundle.py"), str(out)]
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    subprocess.run(command, env=surroundings, cwd=ROOT.parent, check=True, capture_output=True, timeout=60)
    return out


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("bundle") / "memory.mcpb")


@pytest.fixture
def unpacked(packed: Path, tmp_path: Path) -> Path:
    """The bundle in a folder with a space in its name, as Claude Desktop's has on macOS."""
    folder = tmp_path / "Claude Extensions" / "memory"
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture
def manifest(packed: Path) -> dict[str, Any]:
    with zipfile.ZipFile(packed) as archive:
        return dict(json.loads(archive.read("manifest.json")))


def command_of(manifest: Mapping[str, Any], folder: Path, answers: Answers) -> dict[str, Any]:
    """The command that a host makes: a field that has neither answer nor default stays a name."""
    defaults = {name: field["default"] for name, field in manifest["user_config"].items() if "default" in field}
    words = {f"user_config.{name}": value for name, value in {**defaults, **answers}.items()}
    text = json.dumps(manifest["server"]["mcp_config"])
    for name, value in {"__dirname": str(folder), **words}.items():
        shown = str(value).lower() if isinstance(value, bool) else value
        text = text.replace(f"${{{name}}}", json.dumps(shown)[1:-1])
    return dict(json.loads(text))


def test_the_bundle_holds_the_program_its_prompts_and_papers_and_nothing_else(packed: Path) -> None:
    with zipfile.ZipFile(packed) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
        content = {name: archive.read(name) for name in names}
    papers = {"pyproject.toml", "README.md", "LICENSE"}
    wheel = tomllib.loads(content["pyproject.toml"].decode())["tool"]["hatch"]["build"]["targets"]["wheel"]
    folders = ["mcp_memory", *wheel["force-include"]]
    program = {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {"mcp_memory/__main__.py", "mcp_memory/py.typed", "prompts/extract.md"} <= program
    assert set(names) == {"manifest.json", "server.py"} | papers | program
    # Byte for byte, so that the bounds of the dependencies are those that the tests ran with.
    assert {name: (ROOT / name).read_bytes() for name in papers | program} == {
        name: content[name] for name in papers | program
    }
    assert len(names) == len(set(names))


def test_the_manifest_says_what_the_program_says(manifest: dict[str, Any]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (manifest["name"], manifest["version"]) == (project["name"], __version__)
    assert (manifest["description"], manifest["license"]) == (project["description"], project["license"])
    assert [(tool["name"], tool["description"]) for tool in manifest["tools"]] == [
        (name, offer.tool.description) for name, offer in DEFAULT.items()
    ]
    assert manifest["compatibility"]["runtimes"] == {"python": project["requires-python"]}
    assert "icon" not in manifest


def test_uv_is_told_to_take_a_python_that_is_tested(manifest: dict[str, Any]) -> None:
    arguments = manifest["server"]["mcp_config"]["args"]
    assert arguments[arguments.index("--python") + 1] == ">=3.11,<3.14"


def test_every_field_of_the_form_becomes_a_setting(manifest: dict[str, Any]) -> None:
    variables = manifest["server"]["mcp_config"]["env"]
    assert sorted(variables.values()) == sorted(f"${{user_config.{name}}}" for name in manifest["user_config"])
    assert {name.removeprefix(PREFIX).lower() for name in variables} <= set(Settings.model_fields)
    assert not any(field.get("required") for field in manifest["user_config"].values())


def test_the_same_source_gives_the_same_bytes(packed: Path, tmp_path: Path) -> None:
    source = tmp_path / "clone"
    for name in bundle.files().keys() - {bundle.MANIFEST, bundle.ENTRY_POINT}:
        # In another order, with other times and other rights.
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, source / name)
        (source / name).chmod(0o600)
    (source / "scripts").mkdir()
    shutil.copyfile(ROOT / "scripts" / "bundle.py", source / "scripts" / "bundle.py")
    (source / "mcp_memory" / "__pycache__").mkdir()
    (source / "mcp_memory" / "__pycache__" / "add.cpython-311.pyc").write_bytes(b"compiled")
    out = tmp_path / "again.mcpb"
    command = [sys.executable, str(source / "scripts" / "bundle.py"), str(out)]
    surroundings = {**os.environ, "PYTHONPATH": str(source), "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7"}
    subprocess.run(command, env=surroundings, check=True, capture_output=True, timeout=60)
    assert out.read_bytes() == packed.read_bytes()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def chosen_folder(tmp_path: Path) -> Iterator[Path]:
    """A data folder of the user's choice."""
    folder = tmp_path / "chosen"
    yield folder
    for pid in engines_on(folder):
        kill(pid)


@pytest.fixture
def usual_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The system's data folder of a user who has just come."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MCP_MEMORY_HOME")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    folder = data_folder()
    assert folder.is_relative_to(tmp_path)
    yield folder
    for pid in engines_on(folder):
        kill(pid)


def host(manifest: Mapping[str, Any], folder: Path, answers: Answers, elsewhere: Path) -> Client:
    """A client that starts the server as Claude Desktop does, but with this environment in place of uv's.

    The unpacked source is all it has of this program, and says so by its version.
    """
    config = command_of(manifest, folder, answers)
    assert (config["command"], config["args"][0]) == ("uv", "run")
    entry_point = folder / config["args"][config["args"].index(str(folder)) + 1]
    (folder / "mcp_memory" / "version.py").write_text('__version__ = "9.8.7"\n', encoding="utf-8")
    elsewhere.mkdir()
    environment = {"HOME": os.environ["HOME"], "PATH": "/usr/bin:/bin", "PYTHONPATH": str(folder)}
    server = StdioServerParameters(
        command=sys.executable,
        args=[str(entry_point)],
        env={**environment, "OLLAMA_HOST": "http://127.0.0.1:9", "MCP_MEMORY_ENGINE_IDLE_S": "10", **config["env"]},
        cwd=elsewhere,
    )
    asking = Implementation(name="claude-ai", version="1")
    return Client(server, client_info=asking, mode="legacy", read_timeout_seconds=120)


@pytest.mark.slow
@pytest.mark.anyio
async def test_the_packed_server_starts_with_the_form_left_empty(
    manifest: dict[str, Any], unpacked: Path, usual_folder: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    async with host(manifest, unpacked, {}, elsewhere) as client:
        assert client.server_info is not None
        assert client.server_info.version == "9.8.7"
        assert [tool.name for tool in (await client.list_tools()).tools] == list(DEFAULT)
        added = await client.call_tool("add_memory", {"text": "The boat is called Andorinha.", "infer": False})
        assert not added.is_error, added.content
        found = await client.call_tool("search_memory", {"query": "What is the boat called?"})
        assert "Andorinha" in str(found.structured_content)
    assert (usual_folder / "log.sqlite3").is_file()
    # What stands for a field in the manifest was not taken for the name of a folder.
    assert [path for place in (elsewhere, unpacked, usual_folder) for path in place.glob("*user_config*")] == []


@pytest.mark.slow
@pytest.mark.anyio
async def test_the_packed_server_does_as_the_form_says(
    manifest: dict[str, Any], unpacked: Path, chosen_folder: Path, tmp_path: Path
) -> None:
    answers: Answers = {"data_folder": str(chosen_folder), "all_tools": True, "ollama_host": "http://127.0.0.1:9"}
    async with host(manifest, unpacked, answers, tmp_path / "elsewhere") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == list(FULL)
    assert (chosen_folder / "engine.json").is_file()


needs_mcpb = pytest.mark.skipif("TEST_HOSTS" not in os.environ, reason="TEST_HOSTS names no folder with mcpb")


def mcpb(*arguments: object) -> str:
    """What the real `mcpb` prints; it has to succeed."""
    command = [str(Path(os.environ["TEST_HOSTS"]) / "mcpb"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@needs_mcpb
def test_its_makers_tools_validate_read_and_repack_it(packed: Path, unpacked: Path, tmp_path: Path) -> None:
    assert "validation passes" in mcpb("validate", unpacked / "manifest.json")
    assert "ERROR" not in mcpb("info", packed)
    mcpb("unpack", packed, tmp_path / "theirs")
    ours = {path.relative_to(unpacked): path.read_bytes() for path in unpacked.rglob("*") if path.is_file()}
    theirs = tmp_path / "theirs"
    assert {path.relative_to(theirs): path.read_bytes() for path in theirs.rglob("*") if path.is_file()} == ours
    assert f"mcp-memory@{__version__}" in mcpb("pack", theirs, tmp_path / "repacked.mcpb")
    with zipfile.ZipFile(tmp_path / "repacked.mcpb") as repacked, zipfile.ZipFile(packed) as first:
        # None of our files is one that they leave out.
        assert sorted(repacked.namelist()) == first.namelist()


@pytest.mark.slow
@needs_mcpb
@pytest.mark.parametrize("answers", [{}, {"data_folder": "/my data", "ollama_host": "http://box:1", "all_tools": True}])
def test_its_makers_code_makes_the_command_that_is_tested_here(
    manifest: dict[str, Any], unpacked: Path, answers: Answers
) -> None:
    package = Path(os.environ["TEST_HOSTS"]).parent / "@anthropic-ai" / "mcpb" / "dist" / "index.js"
    command = ["node", "--input-type=module", "-e", _OF_MCPB, str(package), str(unpacked), json.dumps(answers)]
    theirs = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=60, check=True).stdout
    assert json.loads(theirs) == command_of(manifest, unpacked, answers)
