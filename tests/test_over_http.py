"""Clients of two users over HTTP at once, who try each other's ids: the short form of `benchmarks/over_http.py`."""

import pytest
from over_http import Plan, over_http

pytestmark = pytest.mark.slow


def test_nothing_of_one_user_reaches_another_however_many_ask_at_once() -> None:
    plan = Plan(n_clients=8, n_calls=320)
    outcome = over_http(plan)
    assert (outcome.leaks, outcome.let_in, outcome.errors) == ([], [], [])
    assert outcome.is_clean(plan), outcome
    assert len(outcome.times["try another's id"]) > 20
