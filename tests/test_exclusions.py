"""What a user excludes stays out, wherever it comes from."""

import time

import pytest

from mcp_memory.errors import InvalidInputError
from mcp_memory.exclusions import is_folder_excluded, is_text_excluded
from mcp_memory.settings import load_settings
from tests.conftest import Opener


@pytest.mark.parametrize(
    ("folder", "patterns", "expected"),
    [
        ("/home/ana/src/secret", ["/home/ana/src/secret"], True),
        ("/home/ana/src/secret/deep/down", ["~/src/secret"], True),
        ("/home/ana/src/secretive", ["~/src/secret"], False),
        ("/home/ana/src/client-b/api", ["*/client-*"], True),
        ("C:\\work\\client", ["C:\\work\\*"], True),
        ("/home/ana/src", ["~/src/*"], False),
        ("/home/ana/src", [""], False),
        ("/home/ana/src", [], False),
    ],
)
def test_a_folder_is_excluded_with_all_that_lies_in_it(folder: str, patterns: list[str], expected: bool) -> None:
    assert is_folder_excluded(folder, patterns, "/home/ana") is expected


def test_a_pattern_that_takes_for_ever_keeps_the_text_out_in_time() -> None:
    started = time.monotonic()
    assert is_text_excluded("a" * 40 + "!", ["(a|aa)+$"])
    # Bounded by far less than the minutes that it would take.
    assert time.monotonic() - started < 30


def test_what_is_no_pattern_is_refused_by_name() -> None:
    with pytest.raises(InvalidInputError, match="exclude_text"):
        load_settings(exclude_text=["(open"])
    assert load_settings(exclude_text='["nightjar", "acme"]').exclude_text == ["nightjar", "acme"]
    assert load_settings(exclude_text="nightjar").exclude_text == ["nightjar"]


def test_an_add_of_excluded_words_is_refused_and_stores_nothing(open_memory: Opener) -> None:
    memory = open_memory(exclude_text=["nightjar"])
    with pytest.raises(InvalidInputError, match=r"message 1 .*exclude_text"):
        memory.add(messages=[{"content": "I like tea."}, {"content": "Project NIGHTJAR is late."}])
    assert memory.stats()["episodes"] == 0
