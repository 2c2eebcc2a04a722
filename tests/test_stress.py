"""Clients add at once while their engine is killed: the short form of `benchmarks/stress.py`."""

import pytest
from stress import Plan, stress

pytestmark = pytest.mark.slow


def test_what_was_acknowledged_is_there_exactly_once_however_often_the_engine_is_killed() -> None:
    plan = Plan(n_clients=3, n_adds=25, n_kills=3, deadline_s=150)
    outcome = stress(plan)
    assert (outcome.lost, outcome.doubled, outcome.errors) == ([], [], [])
    assert outcome.is_clean(plan), outcome
    assert outcome.n_kills == plan.n_kills
    assert len(outcome.acknowledged) == plan.n_clients * plan.n_adds
