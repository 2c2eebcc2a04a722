"""Whether Pi reaches servers is told by its files: the adapter among its packages, or a version that does it itself."""

import json
from pathlib import Path

import pytest

from mcp_memory.pi_packages import has_adapter, has_own_mcp


@pytest.mark.parametrize(
    ("settings", "is_there"),
    [
        ('{"packages": ["npm:pi-mcp-adapter"]}', True),
        ('{"packages": ["npm:other", "npm:pi-mcp-adapter@2.36.0"]} // mine', True),
        ('{"packages": [{"source": "git:github.com/nicobailon/pi-mcp-adapter@v2", "skills": []}]}', True),
        ('{"extensions": ["/opt/node_modules/pi-mcp-adapter/index.ts"]}', True),
        ('{"packages": ["npm:pi-mcp-adapter-fork", {"source": 1}, null]}', False),
        ('{"packages": "npm:pi-mcp-adapter"}', False),
        ("[]", False),
        ("{", False),
    ],
)
def test_the_adapter_is_found_however_it_was_installed(settings: str, is_there: bool, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(settings)
    assert has_adapter(path, tmp_path) is is_there


def test_without_settings_a_folder_among_the_extensions_counts(tmp_path: Path) -> None:
    assert not has_adapter(tmp_path / "settings.json", tmp_path)
    (tmp_path / "extensions" / "pi-mcp-adapter").mkdir(parents=True)
    assert has_adapter(tmp_path / "settings.json", tmp_path)


@pytest.mark.parametrize(("version", "has_own"), [("0.73.1", False), ("1.6.0", True), ("odd", False)])
def test_the_version_is_read_beside_the_program(version: str, has_own: bool, tmp_path: Path) -> None:
    package = tmp_path / "node_modules" / "@somebody" / "pi-coding-agent"
    program = package / "dist" / "cli.js"
    program.parent.mkdir(parents=True)
    program.write_text("#!/usr/bin/env node\n")
    program.chmod(0o755)
    (package / "package.json").write_text(json.dumps({"name": "@somebody/pi-coding-agent", "version": version}))
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "pi").symlink_to(program)
    assert has_own_mcp({"PATH": str(folder)}) is has_own
    assert not has_own_mcp({"PATH": ""})
