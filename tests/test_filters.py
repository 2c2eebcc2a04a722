"""Filters through the whole search: on real stores they leave exactly what a naive reading of them leaves."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_memory.memory import LocalMemory
from tests.conftest import Clock, Opener


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory, embedder: Any) -> Any:
    clock = Clock()
    memory = LocalMemory.open(tmp_path_factory.mktemp("filters"), user_id="ana", clock=clock, embedder=embedder)
    for number in range(60):
        memory.as_agent(("claude", "cursor")[number % 2]).add(
            f"Harbour note {number} about boats",
            infer=False,
            about=("user", "agent")[number % 3 == 0],
            kind=("fact", "plan", "event")[number % 3],
            observed_at=clock.now - timedelta(days=number),
            metadata={"pier": number % 4, "isWet": number % 5 == 0},
        )
    yield memory
    memory.close()


filters = st.fixed_dictionaries(
    {},
    optional={
        "about": st.sampled_from(["user", "agent"]),
        "kind": st.sampled_from(["fact", "plan", "event", "note"]),
        "agent": st.sampled_from(["claude", "cursor", "nobody"]),
        "since": st.integers(0, 70).map(lambda days: (Clock().now - timedelta(days=days)).isoformat()),
        "until": st.integers(0, 70).map(lambda days: (Clock().now - timedelta(days=days)).isoformat()),
        "metadata": st.sampled_from(
            [{"pier": 1}, {"isWet": True}, {"isWet": 1}, {"pier": 2, "isWet": False}, {"x": 1}]
        ),
    },
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(filters)
def test_a_filtered_search_returns_exactly_what_passes(stocked: LocalMemory, given_filters: dict[str, Any]) -> None:
    found = {hit.memory.id for hit in stocked.search("harbour boats", top_k=100, filters=given_filters).hits}
    listed = {record.id for record in stocked.list(filters=given_filters, limit=1000)}
    expected = {record.id for record in stocked.list(limit=1000) if _passes(record, given_filters)}
    assert found == listed == expected


def _passes(record: Any, wanted: dict[str, Any]) -> bool:
    observed = record.observed_at.isoformat()
    return (
        wanted.get("about", record.about) == record.about
        and wanted.get("kind", record.kind) == record.kind
        and wanted.get("agent", record.agent_id) == record.agent_id
        and observed >= wanted.get("since", observed)
        and observed <= wanted.get("until", observed)
        and all(
            type(record.metadata.get(key)) is type(value) and record.metadata[key] == value
            for key, value in wanted.get("metadata", {}).items()
        )
    )


def test_a_filter_reaches_past_better_matches_that_it_excludes(open_memory: Opener) -> None:
    memory = open_memory()
    memory.add(messages=[{"content": f"The harbour harbour boats {n}"} for n in range(150)], infer=False)
    memory.add("A plan that mentions one boat", infer=False, kind="plan")
    hits = memory.search("harbour boats", top_k=1, filters={"kind": "plan"}).hits
    assert [hit.memory.text for hit in hits] == ["A plan that mentions one boat"]
