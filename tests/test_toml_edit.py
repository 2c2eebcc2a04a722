"""A table of TOML is put in, replaced and taken out, and all else stays as it was, byte for byte."""

import tomllib
from typing import Any

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory import toml_edit
from mcp_memory.errors import InvalidInputError

PATH = ("mcp_servers", "memory")
ENTRY = {"command": "/bin/mcp-memory", "args": ["serve"], "env": {"A": "ü"}}

_pieces = st.sampled_from(
    [
        "[mcp_servers.x]\ncommand = 'a' # runs\nargs = [\n  [ 1, 2 ], # two\n  [3]\n]\n",
        "[mcp_servers.x.env]\nA = \"b\"\n",
        "[other]\nwords = '''\n[mcp_servers.memory]\ncommand = \"no\"\n'''\n",
        "[[rows]]\na = 1\n",
        "[[rows]]\na = 2\n",
        "# a comment\n",
        "\n",
        "   \t\n",
        "[\"quoted . key\"]\nd = 1979-05-27T07:32:00Z\n",
        "[profiles.mine]\nmodel = \"o\"\nnested = {a = 1, b = [1, 2]}\n",
    ]
)  # fmt: skip
_heads = st.sampled_from(["", 'model = "gpt"\n', 'model = "gpt" # mine\n\n', "\ufeffa.b = 1\n"])


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A TOML text that is valid, with comments, odd space and either line end, perhaps without the last one."""
    text = draw(_heads)
    for piece in draw(st.lists(_pieces, max_size=7)):
        try:
            tomllib.loads((text + piece).removeprefix("\ufeff"))
        except tomllib.TOMLDecodeError:
            continue
        text += piece
    if draw(st.booleans()):
        text = text.removesuffix("\n")
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def meaning(text: str) -> dict[str, Any]:
    return tomllib.loads(text.removeprefix("\ufeff"))


@given(documents())
def test_a_table_is_put_in_beside_all_that_was_there_and_taken_out_without_a_trace(text: str) -> None:
    changed, glue = toml_edit.put(text, PATH, ENTRY)
    before = meaning(text)
    assert meaning(changed) == {**before, "mcp_servers": {**before.get("mcp_servers", {}), "memory": ENTRY}}
    assert changed.startswith(text)
    assert toml_edit.remove(changed, PATH, glue) == text


@given(documents(), _pieces)
def test_what_was_added_behind_it_stays(text: str, piece: str) -> None:
    changed, glue = toml_edit.put(text, PATH, ENTRY)
    try:
        expected = meaning(text + "\n" + piece)
        meaning(changed + piece)
    except tomllib.TOMLDecodeError:
        return
    left = toml_edit.remove(changed + piece, PATH, glue)
    assert meaning(left) == expected
    assert left.startswith(text)
    assert left.endswith(piece) or not piece.strip()


@given(documents())
def test_a_table_is_replaced_where_it_stands(text: str) -> None:
    changed, glue = toml_edit.put(text, PATH, ENTRY)
    other = {**ENTRY, "command": "/else/mcp-memory"}
    again, _ = toml_edit.put(changed, PATH, other)
    assert toml_edit.get(again, PATH) == other
    assert toml_edit.remove(again, PATH, glue) == text


def test_a_table_within_a_value_is_put_in_and_taken_out() -> None:
    text = 'mcp_servers = {x = {command = "a"}} # mine\n[z]\n'
    changed, glue = toml_edit.put(text, PATH, ENTRY)
    assert toml_edit.get(changed, PATH) == ENTRY
    assert "# mine" in changed
    assert meaning(toml_edit.remove(changed, PATH, glue)) == meaning(text)


def test_tables_below_it_go_with_it_wherever_they_stand() -> None:
    text = '[mcp_servers.memory]\ncommand = "a"\n\n[mcp_servers.memory.env]\nA = "b"\n\n# next\n[z]\nq = 1\n'
    assert toml_edit.remove(text, PATH) == "\n# next\n[z]\nq = 1\n"


def test_a_table_that_is_split_up_is_taken_out_too() -> None:
    text = '[mcp_servers.memory]\ncommand = "a"\n[z]\nq = 1\n[mcp_servers.memory.env]\nA = "b"\n'
    assert meaning(toml_edit.remove(text, PATH)) == {"z": {"q": 1}}


def test_text_that_is_no_toml_is_refused_with_its_place() -> None:
    with pytest.raises(InvalidInputError, match="line 2, column 3"):
        toml_edit.put("a = 1\nb b\n", PATH, ENTRY)
    with pytest.raises(InvalidInputError, match="mcp_servers is no table"):
        toml_edit.put("mcp_servers = 1\n", PATH, ENTRY)


def test_the_entry_reads_as_people_write_it() -> None:
    changed, _ = toml_edit.put("", PATH, ENTRY)
    assert changed.splitlines()[:3] == ["[mcp_servers.memory]", 'command = "/bin/mcp-memory"', 'args = ["serve"]']
    assert tomlkit.parse(changed)
