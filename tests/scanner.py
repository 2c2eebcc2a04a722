"""A look at everything that a data folder holds, for a word that should not be there."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lancedb


def traces_of(word: str, home: Path) -> list[str]:
    """Where a word stands: files whose bytes have it in any usual form, and tables of which any version shows it."""
    forms = {word, json.dumps(word)[1:-1], word.casefold(), word.upper()}
    wanted = {form.encode(encoding) for form in forms for encoding in ("utf-8", "utf-16-le")}
    found = [
        str(path.relative_to(home))
        for path in sorted(home.rglob("*"))
        if path.is_file() and any(form in path.read_bytes() for form in wanted)
    ]
    return found + [f"{where} decoded" for where, text in decoded(home) if word.casefold() in text.casefold()]


def decoded(home: Path) -> Iterator[tuple[str, str]]:
    """(table and version, all its rows as text) of every LanceDB folder, also of those that were set aside."""
    for folder in sorted(path for path in home.glob("lancedb*") if path.is_dir()):
        database = lancedb.connect(folder)
        for name in database.list_tables().tables:
            table = database.open_table(name)
            for version in table.list_versions():
                table.checkout(version["version"])
                yield f"{folder.name}/{name}@{version['version']}", rows_as_text(table)


def rows_as_text(table: Any) -> str:
    """What a table shows at the version that it is at."""
    columns = [column for column in table.schema.names if column != "vector"]
    return json.dumps(table.search().select(columns).to_arrow().to_pylist(), default=str, ensure_ascii=False)


def data_files(home: Path) -> set[tuple[str, int]]:
    """The names and inodes of LanceDB's data files."""
    return {(path.name, path.stat().st_ino) for path in home.glob("lancedb*/*.lance/data/*")}
