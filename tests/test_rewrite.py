"""Questions in other words: what the model is asked, and that nothing it invents is searched for."""

import contextlib
import json

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.budget import count_request
from mcp_memory.errors import McpMemoryError, ModelOutputError
from mcp_memory.prompts import load_prompt
from mcp_memory.redact import PLACEHOLDER
from mcp_memory.rewrite import MAX_QUERIES, SCHEMA, is_worth_rewriting, read_queries, request, rewrite
from mcp_memory.text import normalise
from tests.fakes import Answered, ScriptedModel

LANGUAGES = ["en", "de", "es", "fr", "it", "pt", "ru", "zh", "ja", "ar"]
# A person waits for the answer: what all requests share must be short enough to be read at once.
MAX_CONSTANT_TOKENS = 550
KEY = "gh" + "p_" + "a1B2" * 9


def rewritten(question: str, *queries: str) -> tuple[str, ...]:
    """What is searched for when a model answers a question with these queries."""
    return answered(question, json.dumps({"queries": queries}))


def answered(question: str, answer: str) -> tuple[str, ...]:
    return rewrite(question, ScriptedModel(Answered(answer)))


# What is asked


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_all_requests_share_is_short(language: str) -> None:
    assert count_request(load_prompt("rewrite").messages(language, "")) <= MAX_CONSTANT_TOKENS


def test_all_but_the_question_is_the_same_in_every_request() -> None:
    one, other = request("What may I cook for her?"), request("When do I have to be there?")
    assert one[:-1] == other[:-1]
    assert one[-1]["content"] == "<question>\nWhat may I cook for her?\n</question>\nSearches in English:"


def test_the_last_example_and_the_order_are_in_the_language_of_the_question() -> None:
    *_, question, answer, order = request("Was darf ich für sie nicht kochen?")
    assert "schenken" in question["content"]
    assert "Hobbys" in answer["content"]
    assert order["content"].endswith("Searches in German:")


def test_a_question_in_a_language_that_is_not_known_is_to_stay_in_it() -> None:
    assert request("Kumusta na?")[-1]["content"].endswith("Searches in the question's language:")


def test_the_model_does_not_see_a_secret() -> None:
    asked = json.dumps(request(f"Which server is my key {KEY} for?"))
    assert KEY not in asked
    assert PLACEHOLDER in asked


@pytest.mark.parametrize("question", [f"{KEY}", "word " * 200, "a" * 100_000], ids=["secret", "long", "huge"])
def test_a_secret_alone_and_a_long_text_are_not_worth_asking_about(question: str) -> None:
    assert not is_worth_rewriting(question)


def test_a_short_question_is_worth_asking_about() -> None:
    assert is_worth_rewriting("What should I not cook for her?")


# What comes back


def test_searches_are_taken_as_they_are_where_they_hold() -> None:
    assert rewritten("What should I not cook for her?", "her food allergy", "diet") == ("her food allergy", "diet")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_example_of_the_prompt_stands_as_it_is(language: str) -> None:
    prompt = load_prompt("rewrite")
    for turn, answer in (*prompt.turns, prompt.last_turns[language]):
        question = turn.split("<question>\n")[1].split("\n</question>")[0]
        assert any(mark in question for mark in prompt.marks)
        assert answered(question, answer) == tuple(json.loads(answer)["queries"])


@pytest.mark.parametrize(
    ("question", "query", "kept"),
    [
        ("What should I not cook for her?", "allergy of Clara", ("allergy of",)),
        ("What should I not cook for her?", "Clara Hopkins", ()),
        ("What should I not cook for her?", "allergy since 2019", ("allergy since",)),
        ("What should I not cook for her?", "flight TK-417", ("flight -",)),
        ("What did she win in 2019?", "prizes in 20191", ("prizes in",)),
        ("How large are the 40 m² of hers?", "40 m² flat", ("40 m² flat",)),
        ("What may Greta eat?", "Greta's allergy", ("Greta's allergy",)),
        ("When is Greta's birthday?", "born: Greta", ("born: Greta",)),
        ("Does ticket AB-1234 hurry?", "deadline of AB-1234", ("deadline of AB-1234",)),
        ("Does ticket AB-1234 hurry?", "deadline of AB-1235", ("deadline of AB-",)),
        ("Was darf Greta nicht essen?", "Lebensmittelallergie von Greta", ("Lebensmittelallergie von Greta",)),
        ("Was darf sie nicht essen?", "Allergie von Quintela", ("Allergie von",)),
        ("Что нельзя готовить для Греты?", "аллергия Греты", ("аллергия Греты",)),
    ],
)
def test_names_and_numbers_that_the_question_does_not_have_are_left_out(
    question: str, query: str, kept: tuple[str, ...]
) -> None:
    assert rewritten(question, query) == kept


@pytest.mark.parametrize(
    "query",
    [
        "what Brunhalde likes",
        f"the {PLACEHOLDER}",
        f"key {KEY}",
        "food " * 40,
        "",
        " ... ",
        "was sie nicht essen darf",
        "её диета",
    ],
    ids=["example", "placeholder", "secret", "long", "empty", "dots", "language", "script"],
)
def test_a_search_that_cannot_come_from_the_question_is_dropped(query: str) -> None:
    assert rewritten("What is she not allowed to eat?", query, "her diet") == ("her diet",)


def test_a_search_with_the_words_of_the_question_or_of_another_search_brings_nothing() -> None:
    question = "What about her allergies?"
    assert rewritten(question, "her allergy") == ()
    assert rewritten(question, "illness and diet", "diet, illness") == ("illness and diet",)


def test_quotation_marks_are_taken_off() -> None:
    assert rewritten("What may she eat?", '"food allergy"') == ("food allergy",)


def test_no_more_searches_are_taken_than_were_asked_for() -> None:
    assert len(rewritten("What may she eat?", "diet", "allergy", "illness")) == MAX_QUERIES


def test_of_a_cut_answer_the_complete_searches_count() -> None:
    assert answered("What may she eat?", '{"queries": ["food allergy", "di') == ("food allergy",)


def test_a_model_with_nothing_better_leaves_the_question_as_it_is() -> None:
    assert answered("What may she eat?", '{"queries": []}') == ()


@pytest.mark.parametrize("answer", ["", "I would ask her.", '["diet"]', '{"queries": "diet"}', '{"queries": [1]}'])
def test_an_answer_of_another_form_is_an_error_and_not_an_empty_one(answer: str) -> None:
    with pytest.raises(ModelOutputError):
        answered("What may she eat?", answer)


@given(st.text(max_size=60), st.lists(st.text(max_size=80), max_size=4))
def test_whatever_a_model_answers_no_number_is_invented(question: str, queries: list[str]) -> None:
    found = answered(question, json.dumps({"queries": queries}))
    assert len(found) <= MAX_QUERIES
    for text in found:
        assert set(regex.findall(r"\d+", normalise(text))) <= set(regex.findall(r"\d+", normalise(question)))


@given(st.text(max_size=200))
def test_whatever_a_model_writes_only_our_errors_come_of_it(answer: str) -> None:
    with contextlib.suppress(McpMemoryError):
        assert isinstance(read_queries(answer), list)


def test_the_schema_is_the_form_that_is_read() -> None:
    assert SCHEMA["required"] == ["queries"]
    assert SCHEMA["properties"]["queries"]["maxItems"] == MAX_QUERIES
