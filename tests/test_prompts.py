"""The prompts: their form, their size, and that they name nothing real."""

import json

import pytest

from mcp_memory.budget import count_request
from mcp_memory.prompts import Task, load_prompt
from mcp_memory.replies import read_extraction
from tests.request_budget import MAX_CONSTANT_TOKENS

LANGUAGES = ["en", "de", "es", "fr", "it", "pt", "ru", "zh", "ja", "ar"]
EXTRACTING: list[Task] = ["extract", "agent"]
TASKS: list[Task] = [*EXTRACTING, "describe", "compare", "procedure", "profile"]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_rules_and_examples_stay_within_the_budget(task: Task, language: str) -> None:
    assert count_request(load_prompt(task).messages(language, "")) <= MAX_CONSTANT_TOKENS


@pytest.mark.parametrize("task", TASKS)
def test_all_but_the_question_is_the_same_in_every_request(task: Task) -> None:
    prompt = load_prompt(task)
    one, other = prompt.messages("en", "first"), prompt.messages("en", "second")
    assert one[:-1] == other[:-1]
    assert [message["content"] for message in (one[-1], other[-1])] == ["first", "second"]


@pytest.mark.parametrize("task", EXTRACTING)
def test_every_example_answers_in_the_form_that_is_read(task: Task) -> None:
    prompt = load_prompt(task)
    for _, answer in (*prompt.turns, *prompt.last_turns.values()):
        assert read_extraction(answer, is_complete=True).is_whole
        assert json.loads(answer)


def test_the_last_example_is_in_the_language_of_the_message() -> None:
    prompt = load_prompt("extract")
    assert set(prompt.last_turns) == set(LANGUAGES)
    assert "Nutzer" in prompt.messages("de", "")[-2]["content"]
    assert prompt.messages("sw", "") == prompt.messages("en", "")


@pytest.mark.parametrize("task", TASKS)
def test_the_examples_of_every_task_are_json_under_their_rules(task: Task) -> None:
    prompt = load_prompt(task)
    assert prompt.turns
    assert all(isinstance(json.loads(answer), dict) for _, answer in prompt.turns)


def test_the_names_in_examples_are_all_marked_as_invented() -> None:
    prompt = load_prompt("extract")
    for question, _ in (*prompt.turns, *prompt.last_turns.values()):
        assert any(mark in question for mark in prompt.marks), question


def test_a_changed_prompt_has_another_fingerprint() -> None:
    fingerprints = [load_prompt(task).fingerprint for task in TASKS]
    assert len(set(fingerprints)) == len(TASKS)
    assert [fingerprint.split("-")[0] for fingerprint in fingerprints] == TASKS
