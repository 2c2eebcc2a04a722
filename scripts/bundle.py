"""A bundle for Claude Desktop and other hosts of MCP bundles: one file, which they install with a click.

    python scripts/bundle.py [OUT]

It is a zip of what a wheel is made from, with a manifest and a file that the host starts. The dependencies, which take
gigabytes and differ from system to system, are not in it: the host's own uv installs them from pyproject.toml.
What goes in, and most of what the manifest says, is read out of pyproject.toml and the package. The same source gives
the same bytes. Needs nothing but this project's environment; `mcpb` of npm, which checks such files, is for the tests.
"""

import argparse
import json
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from mcp_memory.paths import NAME
from mcp_memory.settings import PREFIX
from mcp_memory.tools import DEFAULT
from mcp_memory.version import __version__

ROOT = Path(__file__).resolve().parent.parent
# The first version of the manifest that knows servers of type uv.
MANIFEST_VERSION = "0.4"
MANIFEST, ENTRY_POINT = "manifest.json", "server.py"
_SERVER = '''"""What the host of this bundle starts."""

from mcp_memory.bundled import serve

if __name__ == "__main__":
    serve()
'''
# The earliest time that a zip can hold: when a file was written says nothing about what is in it.
_TIME = (1980, 1, 1, 0, 0, 0)
_UNIX, _PLAIN_FILE = 3, 0o100644 << 16

# What the host asks its user, and the setting that an answer becomes. Hosts put the default where there is no answer;
# where there is no default either they pass on the name of the field, which `mcp_memory.bundled` takes as not set.
FORM: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "data_folder": (
        "HOME",
        {
            "type": "directory",
            "title": "Data folder",
            "description": "Where everything is kept. Empty: the system's place for the data of programs, as for your "
            "other hosts.",
        },
    ),
    "ollama_host": (
        "OLLAMA_HOST",
        {
            "type": "string",
            "title": "Ollama",
            "description": "Where Ollama listens, such as http://127.0.0.1:11434. Empty: on this machine. Without it "
            "memories are kept word for word.",
            "default": "",
        },
    ),
    "all_tools": (
        "TOOLS",
        {
            "type": "boolean",
            "title": "All tools",
            "description": "Offer the tools that list, correct, undo and rate memories too, not only those that "
            "search, add and delete.",
            "default": False,
        },
    ),
}


def manifest() -> dict[str, Any]:
    """What the host is told of the server, as `manifest.json` holds it."""
    project = _pyproject()["project"]
    return {
        "manifest_version": MANIFEST_VERSION,
        "name": project["name"],
        "display_name": "Memory",
        "version": __version__,
        "description": project["description"],
        "long_description": "Everything is kept on this machine and shared by all hosts that use mcp-memory. The first "
        "start downloads what the server needs, about half a gigabyte, and may take longer than the host waits. If it "
        "says that the server has disconnected, switch the extension off and on again: each start goes on where the "
        "last one was ended. Macs with an Intel processor are left out: PyTorch and LanceDB have no builds for them.",
        "author": {"name": f"The authors of {project['name']}"},
        "license": project["license"],
        "keywords": project["keywords"],
        "server": {
            "type": "uv",
            "entry_point": ENTRY_POINT,
            # Claude Desktop starts its own uv whatever the command says, with these arguments.
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--python", _tested_pythons(), "--directory", "${__dirname}", ENTRY_POINT],
                "env": {PREFIX + setting: f"${{user_config.{field}}}" for field, (setting, _) in FORM.items()},
            },
        },
        "tools": [{"name": name, "description": offer.tool.description} for name, offer in DEFAULT.items()],
        # The full set has more of them, and the text of a prompt depends on what is remembered.
        "tools_generated": True,
        "prompts_generated": True,
        "compatibility": {
            "platforms": ["darwin", "linux", "win32"],
            "runtimes": {"python": project["requires-python"]},
        },
        "user_config": {field: dict(option) for field, (_, option) in FORM.items()},
    }


def files() -> dict[str, bytes]:
    """The content of each file in the bundle, by its path there, sorted."""
    made = {
        MANIFEST: json.dumps(manifest(), indent=2, ensure_ascii=False) + "\n",
        ENTRY_POINT: _SERVER,
    }
    content = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in _sources()}
    return dict(sorted((content | {name: text.encode() for name, text in made.items()}).items()))


def bundle() -> bytes:
    """The bundle as a zip."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files().items():
            entry = zipfile.ZipInfo(name, _TIME)
            entry.create_system, entry.external_attr = _UNIX, _PLAIN_FILE
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
    return buffer.getvalue()


def _pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def _sources() -> Iterator[Path]:
    """The files that a wheel is made from."""
    pyproject = _pyproject()
    wheel = pyproject["tool"]["hatch"]["build"]["targets"]["wheel"]
    yield ROOT / "pyproject.toml"
    yield ROOT / pyproject["project"]["readme"]
    for pattern in pyproject["project"]["license-files"]:
        yield from ROOT.glob(pattern)
    for place in (*wheel["packages"], *wheel["force-include"]):
        yield from (path for path in (ROOT / place).rglob("*") if path.is_file() and path.parent.name != "__pycache__")


def _tested_pythons() -> str:
    """The versions of Python that this is tested with, as a range: uv would take a newer one, for which the
    dependencies may have no builds."""
    classifiers = _pyproject()["project"]["classifiers"]
    minors = [
        int(name.rpartition(".")[2]) for name in classifiers if name.startswith("Programming Language :: Python :: 3.")
    ]
    return f">=3.{min(minors)},<3.{max(minors) + 1}"


def main() -> None:
    """Write the bundle."""
    parser = argparse.ArgumentParser(description="Write a bundle (.mcpb) that Claude Desktop installs.")
    default = ROOT / "dist" / f"{NAME}-{__version__}.mcpb"
    parser.add_argument("out", type=Path, nargs="?", default=default, help=f"default: {default.relative_to(ROOT)}")
    out: Path = parser.parse_args().out
    out.parent.mkdir(parents=True, exist_ok=True)
    content = bundle()
    out.write_bytes(content)
    print(f"{out}: {len(content):,} bytes, {len(files())} files")


if __name__ == "__main__":
    main()
