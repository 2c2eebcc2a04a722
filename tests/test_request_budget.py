"""That a request above the budget is noticed, whichever test sends it."""

from mcp_memory.prompts import load_prompt
from tests.request_budget import DEFAULT_CONTEXT_TOKENS, MAX_CONSTANT_TOKENS, size_of

SAID = {"role": "user", "content": "Ich mag den Winter nicht."}
REQUEST = load_prompt("extract").messages("de", SAID["content"])


def test_rules_and_examples_are_all_that_stands_before_the_question() -> None:
    longer = [*REQUEST[:-1], {"role": "user", "content": "word " * 2000}]
    asked_again = [*REQUEST, {"role": "assistant", "content": "no " * 900}, {"role": "user", "content": "once more"}]
    sizes = [size_of(request, 320) for request in (REQUEST, longer, asked_again)]
    assert {size.n_constant for size in sizes} == {sizes[0].n_constant}
    assert 0 < sizes[0].n_constant <= MAX_CONSTANT_TOKENS
    assert [size.flaw for size in sizes] == ["", "", ""]


def test_too_many_rules_are_a_flaw() -> None:
    rules = {"role": "system", "content": "Rule! " * 700}
    assert "tokens of rules and examples, at most 1200" in size_of([rules, SAID], 320).flaw


def test_an_answer_for_which_no_room_is_left_is_a_flaw() -> None:
    assert f"do not fit {DEFAULT_CONTEXT_TOKENS}" in size_of(REQUEST, DEFAULT_CONTEXT_TOKENS - 100).flaw
