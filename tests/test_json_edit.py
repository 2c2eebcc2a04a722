"""JSON with comments is changed in one place and stays as it was everywhere else, byte for byte."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory import json_edit
from mcp_memory.errors import InvalidInputError
from mcp_memory.json_text import parse, value_of

PATH = ("mcpServers", "memory")
ENTRY = {"command": "/bin/mcp-memory", "args": ["serve"], "env": {"A": "ü"}}


@st.composite
def layouts(draw: st.DrawFn) -> tuple[str, Any]:
    """A text in JSON with comments, laid out at random, and what it means."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    pieces = [" ", "  ", "\t", newline, f'// said: {{ }} " {newline}', "/* ], } */", f"/* a{newline} b */"]
    gap = st.lists(st.sampled_from(["", "", *pieces]), max_size=2).map("".join)
    key = st.one_of(st.sampled_from(["mcpServers", "memory", "a", "hooks", "ключ", '"', "//"]), st.text(max_size=4))

    def shown(value: Any) -> str:
        if isinstance(value, dict):
            items = [f"{shown(name)}{draw(gap)}:{draw(gap)}{shown(one)}" for name, one in value.items()]
            return draw(gap).join(("{", _listed(items), "}"))
        if isinstance(value, list):
            return draw(gap).join(("[", _listed([shown(one) for one in value]), "]"))
        return json.dumps(value, ensure_ascii=draw(st.booleans()))

    def _listed(items: list[str]) -> str:
        text = ",".join(f"{draw(gap)}{item}{draw(gap)}" for item in items)
        return text + draw(st.sampled_from(["", ",", f" ,{draw(gap)}"])) if items else draw(gap)

    simple = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), key)
    value = st.recursive(
        simple, lambda inner: st.one_of(st.lists(inner, max_size=3), _objects(key, inner)), max_leaves=8
    )
    root = draw(_objects(key, value))
    for name in ("mcpServers", "hooks"):
        if name in root and not isinstance(root[name], dict):
            root[name] = {}
    root.get("mcpServers", {}).pop("memory", None)
    mark = draw(st.sampled_from(["", "\ufeff"]))
    return mark + draw(gap) + shown(root) + draw(gap), root


def _objects(key: st.SearchStrategy[str], value: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    storable = key.filter(lambda name: not re.search("[\ud800-\udfff]", name))
    return st.dictionaries(storable, value, max_size=4)


@given(layouts())
def test_what_is_read_is_what_was_written(layout: tuple[str, Any]) -> None:
    text, meant = layout
    node = parse(text)
    assert node
    assert value_of(text, node) == meant


@given(layouts())
def test_a_member_is_put_in_beside_all_that_was_there_and_taken_out_without_a_trace(layout: tuple[str, Any]) -> None:
    text, meant = layout
    changed, made = json_edit.put(text, PATH, ENTRY)
    expected = {**meant, "mcpServers": {**meant.get("mcpServers", {}), "memory": ENTRY}}
    assert json_edit.get(changed, ()) == expected
    assert list(json_edit.get(changed, ())) == list(expected)
    assert json_edit.unmake(json_edit.remove(changed, PATH), made) == text


@given(layouts())
def test_an_element_is_appended_and_taken_out_without_a_trace(layout: tuple[str, Any]) -> None:
    text, meant = layout
    stop = meant.get("hooks", {}).get("Stop", [])
    changed, made = json_edit.append(text, ("hooks", "Stop"), ENTRY)
    assert json_edit.get(changed, ()) == {**meant, "hooks": {**meant.get("hooks", {}), "Stop": [*stop, ENTRY]}}
    assert json_edit.unmake(json_edit.remove(changed, ("hooks", "Stop", len(stop))), made) == text


@given(layouts(), st.text(max_size=3))
def test_whatever_stands_before_or_behind_is_not_touched_when_a_member_goes(layout: tuple[str, Any], name: str) -> None:
    text, meant = layout
    if re.search("[\ud800-\udfff]", name) or name in meant:
        return
    changed, _ = json_edit.put(text, (name,), 1)
    changed, _ = json_edit.put(changed, (name + "2",), 2)
    left = json_edit.remove(changed, (name,))
    assert json_edit.get(left, ()) == {**meant, name + "2": 2}
    # Every comment is still there.
    comments = r"said:|\], \} \*/|b \*/"
    assert len(re.findall(comments, left)) == len(re.findall(comments, text))


@given(layouts(), st.integers(), st.integers(0, 200))
def test_a_damaged_text_is_refused_or_means_something(layout: tuple[str, Any], seed: int, at: int) -> None:
    text, _ = layout
    damaged = text[: at % (len(text) + 1)] + '{}[],:"/'[seed % 8] + text[at % (len(text) + 1) :]
    message = ""
    try:
        parse(damaged)
    except InvalidInputError as exc:
        message = exc.message
    assert re.match(r"line \d+, column \d+: |\Z", message)


def test_the_place_of_a_flaw_is_told() -> None:
    with pytest.raises(InvalidInputError, match="line 2, column 9: a comma or '}' was expected"):
        parse('{"a": 1,\n "b": 2 "c": 3}')
    with pytest.raises(InvalidInputError, match="line 1, column 4: the end was expected"):
        parse("{} {}")
    with pytest.raises(InvalidInputError, match="nested deeper"):
        parse("[" * 5000)
    for text in ("{'a': 1}", '{"a": 01}', '{"a": "\t"}', "{,}", '{"a" 1}', '{"a": tru}', "/* {}", '{"a": "\\x"}'):
        with pytest.raises(InvalidInputError):
            parse(text)


@pytest.mark.parametrize("unit", ["  ", "    ", "\t"])
def test_what_is_put_in_is_laid_out_as_the_rest_is(unit: str) -> None:
    before = json.dumps({"mcpServers": {"x": {"command": "y"}}, "z": [1]}, indent=unit)
    after = json.dumps(
        {"mcpServers": {"x": {"command": "y"}, "memory": ENTRY}, "z": [1]}, indent=unit, ensure_ascii=False
    )
    assert json_edit.put(before, PATH, ENTRY)[0] == after
    windows = before.replace("\n", "\r\n")
    assert json_edit.put(windows, PATH, ENTRY)[0] == after.replace("\n", "\r\n")


def test_one_line_stays_one_line() -> None:
    assert json_edit.put('{"a":1}', ("b",), [1, 2])[0] == '{"a":1,"b":[1,2]}'
    assert json_edit.put('{"a": 1}', ("b",), [1, 2])[0] == '{"a": 1, "b": [1, 2]}'


def test_a_comment_behind_the_last_member_stays_with_it() -> None:
    assert json_edit.put('{\n  "a": 1 // one\n}\n', ("b",), 2)[0] == '{\n  "a": 1, // one\n  "b": 2\n}\n'
    assert json_edit.put('{\n  "a": 1, // one\n}\n', ("b",), 2)[0] == '{\n  "a": 1, // one\n  "b": 2,\n}\n'


def test_a_comment_that_was_put_before_a_member_does_not_swallow_what_follows_it() -> None:
    left = json_edit.remove('{"a": 1,\n // two\n "b": 2}', ("b",))
    assert json_edit.get(left, ()) == {"a": 1}
    assert "// two" in left


def test_what_is_in_the_way_is_named() -> None:
    for text, what in (('{"mcpServers": []}', "mcpServers is no object"), ("[]", "the whole is no object")):
        with pytest.raises(InvalidInputError, match=what):
            json_edit.put(text, PATH, ENTRY)


def test_of_a_key_that_stands_twice_the_last_one_counts() -> None:
    assert json_edit.get('{"a": 1, "a": 2}', ("a",)) == 2
    assert json_edit.remove('{"a": 1, "a": 2}', ("a",)) == '{"a": 1}'


def test_five_megabytes_are_changed_in_seconds() -> None:
    told = {"projects": {f"/p/{n}": {"history": [{"display": "x" * 90, "n": n}] * 10} for n in range(3500)}}
    text = json.dumps(told, indent=2)
    assert len(text) > 5_000_000
    changed, made = json_edit.put(text, PATH, ENTRY)
    assert json_edit.unmake(json_edit.remove(changed, PATH), made) == text
