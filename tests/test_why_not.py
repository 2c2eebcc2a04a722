"""Why a memory was not returned: each reason by its name, and the rank and signals of what was outranked."""

from typing import Any

import pytest

from mcp_memory.errors import InvalidInputError, NotFoundError
from mcp_memory.memory import LocalMemory
from tests.conftest import Clock, Opener
from tests.test_undo import add


def told(memory: LocalMemory, memory_id: str, query: str = "Who keeps bees?", **given: Any) -> tuple[str, str]:
    result = memory.why_not(memory_id, query, **given)
    return result.verdict, " ".join(result.reasons)


def moved(memory: LocalMemory, day: str) -> str:
    """The id of a move to Lisbon, which ends the home before."""
    [receipt] = memory.add("I moved to Lisbon", infer=False, observed_at=day).results
    assert receipt.status == "replaced"
    return receipt.id


def test_what_was_returned_is_told_as_such(memory: LocalMemory) -> None:
    bees = add(memory, "I keep bees")
    assert told(memory, bees) == ("returned", "It was returned as number 1 of 1.")


def test_what_was_outranked_has_its_rank_and_its_signals_beside_those_of_the_last_hit(memory: LocalMemory) -> None:
    for name in ("Greta", "Pavel", "Ines"):
        add(memory, f"{name} keeps bees")
    goats = add(memory, "Amos keeps goats")
    result = memory.why_not(goats, "Who keeps bees?", top_k=2)
    assert result.verdict == "outranked"
    assert result.ranked
    assert result.last
    assert (result.ranked.rank, result.last.rank) == (4, 2)
    assert result.ranked.score < result.last.score
    assert result.ranked.signals["keyword"] < result.last.signals["keyword"]
    [*_, hit] = memory.search("Who keeps bees?", top_k=4).hits
    assert (hit.memory.id, round(hit.score, 4)) == (goats, result.ranked.score)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"scope": "agent"}, "Scope 'agent' leaves it out: it is about the user, by python, in run 'r1'."),
        ({"scope": "run", "run_id": "r2"}, "Scope 'run' 'r2' leaves it out"),
        ({"filters": {"kind": "plan"}}, "The filter kind = plan leaves it out: it has note."),
        ({"filters": {"agent": "cursor"}}, "The filter agent = cursor leaves it out: it has python."),
        ({"filters": {"since": "2026-04-01"}}, "The filter since = 2026-04-01"),
        (
            {"filters": {"metadata": {"hives": 4}}},
            "The filter metadata = {'hives': 4} leaves it out: it has {'hives': 3}",
        ),
        ({"as_of": "2026-02-01"}, "It holds since 2026-03-01, after the as_of that was asked for."),
        ({"known_at": "2026-04-01"}, "It was not recorded before 2026-06-15"),
        ({"as_of": "2026-12-01"}, "It expired on 2026-07-01."),
    ],
)
def test_what_hides_a_memory_is_named(memory: LocalMemory, given: dict[str, Any], reason: str) -> None:
    bees = add(
        memory, "I keep bees", run_id="r1", observed_at="2026-03-01", expires_at="2026-07-01", metadata={"hives": 3}
    )
    verdict, why = told(memory, bees, **given)
    assert verdict == "not_visible"
    assert reason in why


def test_every_restriction_that_hides_it_is_named(memory: LocalMemory) -> None:
    bees = add(memory, "I keep bees")
    why = memory.why_not(bees, "bees", scope="agent", filters={"kind": "plan", "until": "2026-01-01"}).reasons
    assert len(why) == 3


def test_what_has_ended_expired_or_gone_says_so(memory: LocalMemory, clock: Clock) -> None:
    bees, goats = add(memory, "I keep bees", expires_at="2026-07-01"), add(memory, "I keep goats")
    clock.advance(days=30)
    assert told(memory, bees) == ("not_visible", "It expired on 2026-07-01.")
    memory.delete(goats)
    assert told(memory, goats) == ("not_visible", "It is out of search: it was deleted.")


def test_thresholds_and_the_floor_are_told_with_the_relevance(open_memory: Opener) -> None:
    memory = open_memory()
    bees = add(memory, "I keep bees")
    verdict, why = told(memory, bees, threshold=0.99)
    assert verdict == "below_threshold"
    assert "below the threshold 0.99" in why
    memory.close()
    memory = open_memory(floor=0.9)
    verdict, why = told(memory, bees)
    assert verdict == "below_floor"
    assert "below the floor 0.90 (MCP_MEMORY_FLOOR)" in why


def test_the_gated_ranking_leaves_out_what_is_not_among_the_nearest(open_memory: Opener) -> None:
    memory = open_memory(ranking="gated")
    memory.add(messages=[{"content": f"Hive {number} has healthy bees and honey"} for number in range(70)], infer=False)
    kettle = add(memory, "the kettle is blue")
    verdict, _ = told(memory, kettle, "healthy bees and honey in the hive beside the kettle", top_k=1)
    assert verdict == "outside_pool"
    memory.close()
    # With a floor that nothing near reaches it is still the pool that leaves it out.
    memory = open_memory(ranking="gated", floor=0.99)
    assert told(memory, kettle, "healthy bees and honey beside the kettle", top_k=1)[0] == "outside_pool"


def test_what_the_time_in_a_question_leaves_out_is_named(memory: LocalMemory) -> None:
    add(memory, "I live in Berlin", observed_at="2026-01-05")
    lisbon = moved(memory, "2026-05-09")
    assert told(memory, lisbon, "where did I live in March?") == (
        "not_visible",
        "What it says began only after what the question asks about, 2026-03-01 to 2026-03-31.",
    )
    # What came after it is no answer to what was before.
    verdict, why = told(memory, lisbon, "where did I live before Lisbon?")
    assert (verdict, why.partition(",")[0]) == (
        "not_visible", "What it says began only after what the question asks about",
    )  # fmt: skip


def test_what_ended_before_the_time_in_a_question_says_so(memory: LocalMemory) -> None:
    berlin = add(memory, "I live in Berlin", observed_at="2026-01-05")
    moved(memory, "2026-03-09")
    assert told(memory, berlin, "where did I live in May?") == (
        "not_visible",
        "It held from 2026-01-05 to 2026-03-09, and the question asks about 2026-05-01 to 2026-05-31.",
    )


def test_what_was_not_yet_known_to_have_ended_is_ranked_as_the_search_ranks_it(
    memory: LocalMemory, clock: Clock
) -> None:
    berlin = add(memory, "I live in Berlin", observed_at="2026-01-05")
    add(memory, "The sun shines over the harbour", observed_at="2026-01-06")
    known = clock()
    clock.advance(days=30)
    moved(memory, "2026-05-05")
    found = [hit.memory.id for hit in memory.search("the sun shines over the harbour", known_at=known).hits]
    assert found.index(berlin) == 1
    verdict, why = told(memory, berlin, "the sun shines over the harbour", top_k=1, known_at=known)
    assert verdict == "outranked"
    assert why.startswith("It is number 2 of 2")
    # And what was known to have ended has ended.
    clock.advance(days=1)
    later = told(memory, berlin, "the sun shines over the harbour", known_at=clock())
    assert later == ("not_visible", "It ended on 2026-05-05, which was known since 2026-07-15.")


def test_what_counts_nothing_by_whose_it_is_says_which_setting_does_that(open_memory: Opener) -> None:
    memory = open_memory(weight_other_agents=0.0)
    other = memory.as_client(memory.settings, "cursor")
    short = add(other, "The agent prefers short answers.", about="agent")
    assert told(memory, short, "short answers") == (
        "not_visible",
        "It counts nothing by whose it is (MCP_MEMORY_WEIGHT_OTHER_AGENTS = 0):"
        " it is about the agent, by cursor, in run ''.",
    )


def test_signals_that_count_nothing_are_named_where_nothing_else_finds_it(open_memory: Opener) -> None:
    memory = open_memory(signal_weights=dict.fromkeys(("semantic", "keyword", "entity", "exact", "neighbour"), 0.0))
    verdict, why = told(memory, add(memory, "I keep bees"), "bees")
    assert verdict == "no_evidence"
    assert "No signal that counts finds it. These count nothing here: semantic, keyword" in why


def test_an_unknown_id_and_an_empty_query_are_told_of(memory: LocalMemory) -> None:
    with pytest.raises(NotFoundError):
        memory.why_not("000000000000", "bees")
    with pytest.raises(InvalidInputError, match="the query is empty"):
        memory.why_not(add(memory, "I keep bees"), " ")
