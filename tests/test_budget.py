"""Token counts that err on the high side, and texts cut to fit without losing anything."""

from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.budget import count_tokens, newest_that_fit, split_text


def test_common_text_counts_a_token_for_some_letters_and_one_for_each_digit_and_mark() -> None:
    assert count_tokens("") == 1
    assert count_tokens("cat") == 2
    assert count_tokens("2026-03-11") == 11
    assert 5 <= count_tokens("我住在上海") <= 8


@given(st.text(max_size=600), st.integers(min_value=8, max_value=60))
def test_parts_fit_and_together_hold_every_character_but_white_space(text: str, limit: int) -> None:
    parts = split_text(text, limit)
    assert all(count_tokens(part) <= limit for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


def test_cuts_fall_between_paragraphs_else_between_sentences() -> None:
    first, second = "The cat sat down. " * 5, "The dog stood up. " * 5
    assert split_text(f"{first}\n\n{second}", count_tokens(first) + 3) == [f"{first}\n\n", second]
    assert all(part.strip().endswith(".") for part in split_text(first + second, 20))


def test_newer_turns_go_before_older_ones_and_keep_their_order() -> None:
    assert newest_that_fit(["one", "two", "three"], count_tokens("two") + count_tokens("three")) == ["two", "three"]
    assert newest_that_fit(["one", "a very long turn " * 50, "three"], 20) == ["three"]
    assert newest_that_fit([], 20) == []
