"""Answers of models are read without trust: fences, prose, thoughts, cut ends and wrong shapes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.errors import ModelOutputError
from mcp_memory.replies import MAX_STATEMENTS, read_extraction, read_object

WHOLE = '{"kind": "about_user", "facts": ["The user keeps bees.", "The user lives in Lisbon."]}'


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        f"```json\n{WHOLE}\n```",
        f"```\n{WHOLE}```",
        f"Sure, here you are:\n{WHOLE}\nAnything else?",
        f"```json\n{WHOLE}",
        WHOLE.replace(", ", ",\n\t"),
    ],
)
def test_an_object_is_found_in_whatever_surrounds_it(text: str) -> None:
    read = read_extraction(text, is_complete=True)
    assert read.statements == ("The user keeps bees.", "The user lives in Lisbon.")
    assert read.is_whole


@given(st.integers(min_value=0, max_value=len(WHOLE)))
def test_of_a_cut_answer_only_complete_statements_count_and_it_is_never_whole(end: int) -> None:
    try:
        read = read_extraction(WHOLE[:end], is_complete=True)
    except ModelOutputError:
        return
    assert set(read.statements) <= {"The user keeps bees.", "The user lives in Lisbon."}
    assert read.is_whole is (end == len(WHOLE))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no JSON"),
        ("I cannot do that.", "no JSON"),
        ('["The user keeps bees."]', "no JSON"),
        ('{"facts": ["The user keeps bees."]}', "kind is missing"),
        ('{"kind": "about", "facts": []}', "kind is none of those"),
        ('{"kind": "about_user"}', "no list"),
        ('{"kind": "about_user", "facts": "The user keeps bees."}', "no list"),
        ('{"kind": "about_user", "facts": [{"text": "bees"}]}', "no list"),
        ('{"kind": "about_user", "facts": [1]}', "no list"),
        ("{" * 5000, "no JSON|broken JSON|kind is missing"),
        ('{"kind": "about_user", "facts": ' + "[" * 5000 + "]" * 5000 + "}", "no list|broken JSON|kind is missing"),
    ],
)
def test_an_answer_of_another_shape_is_refused_and_never_taken_for_nothing_to_remember(text: str, why: str) -> None:
    with pytest.raises(ModelOutputError, match=why):
        read_extraction(text, is_complete=True)


@pytest.mark.parametrize(
    "text",
    [
        "Ana has a rash.",
        '{"kind": "Ana has a rash.", "facts": []}',
        '{"kind": "wish", "facts": "Ana has a rash."}',
        '{"Ana has a rash.": Ana',
        "{Ana has a rash.}",
    ],
)
def test_an_error_repeats_nothing_of_the_answer(text: str) -> None:
    with pytest.raises(ModelOutputError, match=r"characters\)") as failure:
        read_extraction(text, is_complete=True)
    assert not {"Ana", "rash"} & set(str(failure.value).replace(".", " ").split())


def test_what_stands_beside_the_gate_other_is_told_with_the_gate() -> None:
    read = read_extraction('{"kind": "other", "facts": ["The user says hello."]}', is_complete=True)
    assert (read.gate, read.statements) == ("other", ("The user says hello.",))


def test_an_answer_cut_in_a_loop_is_whole() -> None:
    loop = (
        '{"kind": "about_user", "facts": ["The user keeps bees.", "The user has a cat.", "The user keeps bees.", "The'
    )
    read = read_extraction(loop, is_complete=False)
    assert read.statements == ("The user keeps bees.", "The user has a cat.")
    assert read.is_whole


def test_repetitions_and_loops_are_bounded() -> None:
    facts = ["The user keeps bees."] * 50 + [f"The user has {n} hives." for n in range(100)]
    read = read_extraction(json.dumps({"kind": "about_user", "facts": facts}), is_complete=True)
    assert len(read.statements) == MAX_STATEMENTS
    assert read.statements[:2] == ("The user keeps bees.", "The user has 0 hives.")


@pytest.mark.parametrize(
    ("spelled", "read"),
    [
        (r"The user keeps bees \ud83d.", "The user keeps bees."),
        (r"The user keeps bees \ud83d\ud83dand wasps.", "The user keeps bees and wasps."),
        (r"The user keeps bees \u0000 and wasps.", "The user keeps bees and wasps."),
        (r"The user keeps \u001b[31mbees\u009b.", "The user keeps [31mbees."),
        (r"The user keeps bees \ud83d\udc1d,\tand\n wasps.", "The user keeps bees 🐝,\tand\n wasps."),
    ],
)
def test_what_no_store_can_hold_is_taken_out(spelled: str, read: str) -> None:
    found = read_extraction(f'{{"kind": "about_user", "facts": ["{spelled}"]}}', is_complete=True)
    assert found.statements == (read,)


@given(st.text())
def test_any_text_gives_an_object_or_the_one_error(text: str) -> None:
    try:
        value, _ = read_object(text)
    except ModelOutputError:
        return
    assert isinstance(value, dict)
