"""Scope, time and filters: the masks of the index equal a naive evaluator over the records."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_memory.index import UserIndex
from mcp_memory.records import ABOUTS, KINDS, SCOPES, Memory, Owner
from mcp_memory.search_records import Filters, Selection
from tests.builders import a_memory

DAY = datetime(2026, 1, 1, tzinfo=UTC)
days = st.integers(0, 9).map(lambda number: DAY + timedelta(days=number))
maybe_days = st.none() | days
agents = st.sampled_from(["claude", "cursor"])
runs = st.sampled_from(["", "r1", "r2"])
metadata = st.dictionaries(st.sampled_from(["p", "q"]), st.sampled_from([1, True, "x", None]), max_size=2)

memories = st.lists(
    st.builds(
        a_memory,
        agent_id=agents,
        run_id=runs,
        about=st.sampled_from(ABOUTS),
        kind=st.sampled_from(KINDS[:3]),
        observed_at=days,
        created_at=days,
        expires_at=maybe_days,
        valid_from=maybe_days,
        invalid_at=maybe_days,
        closed_at=maybe_days,
        state=st.sampled_from(["active", "raw", "invalid"]),
        metadata=metadata,
    ),
    max_size=12,
).map(lambda found: [replace(memory, id=f"m{place}") for place, memory in enumerate(found)])

selections = st.builds(
    Selection,
    owner=agents.map(lambda agent: Owner("ana", agent)),
    now=days,
    scope=st.sampled_from(SCOPES),
    run_id=st.sampled_from(["r1", "r2"]),
    as_of=maybe_days,
    known_at=maybe_days,
    filters=st.builds(
        Filters,
        about=st.sampled_from(["", *ABOUTS]),
        kind=st.sampled_from(["", *KINDS[:3]]),
        agent=st.sampled_from(["", "claude", "nobody"]),
        since=maybe_days,
        until=maybe_days,
        metadata=metadata,
    ),
)


def is_selected(memory: Memory, selection: Selection) -> bool:
    return in_scope(memory, selection) and at_time(memory, selection) and passes(memory, selection.filters)


def in_scope(memory: Memory, selection: Selection) -> bool:
    return {
        "all": True,
        "user": memory.about == "user",
        "agent": memory.about == "agent" and memory.agent_id == selection.owner.agent_id,
        "run": memory.run_id == selection.run_id,
    }[selection.scope]


def at_time(memory: Memory, selection: Selection) -> bool:
    at = selection.as_of or selection.now
    if memory.expires_at and memory.expires_at <= at:
        return False
    if not selection.as_of and not selection.known_at and memory.state == "invalid":
        return False
    if selection.as_of and (memory.valid_from or memory.observed_at) > at:
        return False
    if selection.as_of or selection.known_at:
        if memory.invalid_at and memory.invalid_at <= at:
            return False
        # Nothing has changed since; what was held before is another test's.
        if selection.known_at and memory.created_at > selection.known_at:
            return False
    return True


def passes(memory: Memory, filters: Filters) -> bool:
    return (
        filters.about in ("", memory.about)
        and filters.kind in ("", memory.kind)
        and filters.agent in ("", memory.agent_id)
        and (filters.since is None or memory.observed_at >= filters.since)
        and (filters.until is None or memory.observed_at <= filters.until)
        and has(memory.metadata, filters.metadata)
    )


def has(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(
        key in found and found[key] == value and type(found[key]) is type(value) for key, value in wanted.items()
    )


@settings(max_examples=300)
@given(memories, selections)
def test_the_index_selects_what_a_naive_reading_of_the_rules_selects(found: list[Memory], selection: Selection) -> None:
    index = UserIndex(dimension=2)
    for memory in found:
        index.put(memory, ["t"], 1)
    wanted = selection.filters.metadata
    matching = {memory.id for memory in found if has(memory.metadata, wanted)} if wanted else None
    mask = index.select(selection, matching)
    assert [index.ids[row] for row in mask.nonzero()[0]] == [m.id for m in found if is_selected(m, selection)]
