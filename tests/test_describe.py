"""Statements described: what a model says of them is kept where their own words bear it."""

import json
from typing import Any

import pytest

from mcp_memory.describe import BATCH_SIZE, describe
from mcp_memory.errors import ModelOutputError
from tests.fakes import Answered, ScriptedModel


def item(n: int = 1, **fields: Any) -> dict[str, Any]:
    usual = {"n": n, "kind": "fact", "subject": "the user", "type": "home", "relation": "", "object": "Ghent"}
    return usual | fields


def answer(*items: Any) -> Answered:
    return Answered(json.dumps({"items": list(items)}))


def test_a_statement_gets_its_kind_its_fact_and_its_weight() -> None:
    [described] = describe(["The user lives in Ghent."], ["en"], ScriptedModel(answer(item()))).values()
    assert (described.kind, described.fact_type, described.object) == ("fact", "home", "Ghent")
    assert described.importance == 0.8


def test_many_statements_are_described_in_few_calls() -> None:
    model = ScriptedModel(answer(item(), item(2)))
    places = describe(["The user lives in Ghent."] * (BATCH_SIZE + 2), ["en"] * (BATCH_SIZE + 2), model)
    assert len(model.requests) == 2
    assert set(places) == {0, 1, BATCH_SIZE, BATCH_SIZE + 1}
    assert model.questions[1] == "1. The user lives in Ghent.\n2. The user lives in Ghent."


@pytest.mark.parametrize(
    "wrong",
    [
        item(object="Antwerp"),
        item(object="does not live in Ghent"),
        item(subject="Oswald"),
        item(object=""),
        item(kind="rumour"),
        item(type="zodiac"),
        item(9),
        item(0),
        {"n": 1},
        "Ghent",
        None,
    ],
)
def test_what_its_words_do_not_bear_is_left_out(wrong: Any) -> None:
    assert describe(["The user lives in Ghent."], ["en"], ScriptedModel(answer(wrong))) == {}


@pytest.mark.parametrize("useless", [Answered("no idea"), ModelOutputError("a page of HTML", hint="ask again")])
def test_an_answer_that_is_none_costs_the_descriptions_of_its_batch_only(useless: Answered | Exception) -> None:
    n = BATCH_SIZE + 1
    found = describe(["The user lives in Ghent."] * n, ["en"] * n, ScriptedModel(useless, answer(item())))
    assert set(found) == {BATCH_SIZE}


def test_what_a_cut_answer_holds_counts() -> None:
    cut = Answered(json.dumps({"items": [item(), item(2)]})[:-20], is_complete=False)
    assert set(describe(["The user lives in Ghent."] * 2, ["en"] * 2, ScriptedModel(cut))) == {0}


def test_a_plan_is_one_only_where_the_words_say_so() -> None:
    statements = ["The user lives in Ghent.", "The user wants to live in Ghent."]
    found = describe(statements, ["en"] * 2, ScriptedModel(answer(item(kind="plan"), item(2, kind="plan"))))
    assert [found[place].kind for place in (0, 1)] == ["fact", "plan"]


def test_the_user_is_the_user_in_every_language() -> None:
    said = answer(item(subject="der Nutzer", object="Gent"))
    assert describe(["Der Nutzer wohnt in Gent."], ["de"], ScriptedModel(said))[0].subject == "the user"
