"""What a changed weight does to a ranking, by hand arithmetic over a store whose every part is known."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from mcp_memory.fuse import SIGNAL_NAMES
from mcp_memory.memory import LocalMemory
from mcp_memory.records import Change, Owner
from mcp_memory.search_records import Hit
from mcp_memory.settings import load_settings
from mcp_memory.store import commit
from tests.conftest import Clock

PHRASES = ("red lamp", "blue kettle", "green map", "white violin")
QUERY = " ".join(f'"{phrase}"' for phrase in PHRASES)
# Relevance is then 3 · (share of the phrases that a text holds) / 3.
ONLY_EXACT = {**dict.fromkeys(SIGNAL_NAMES, 0), "exact": 3}

#       relevance  importance  recency
#  A      1           0.1        1/8     four phrases, 90 days old
#  B      3/4         0.3        1/2     three, 30 days
#  C      1/2         0.9        1/4     two, 60 days
#  D      1/4         0.5        1       one, today
#  E      1/2         0.2        1/2     two, 30 days
STORE = {"A": (4, 0.1, 90), "B": (3, 0.3, 30), "C": (2, 0.9, 60), "D": (1, 0.5, 0), "E": (2, 0.2, 30)}

Ask = Callable[..., tuple[Hit, ...]]


def set_importance(memory: LocalMemory, memory_id: str, importance: float) -> None:
    """Write an importance into the log and the index, as a change."""
    stores = memory.stores
    stored = stores.log.get_memories([memory_id])[memory_id]
    change_id = stores.ids.next(stores.clock())
    weighed = replace(stored, importance=importance, revision=change_id)
    with stores.writing:
        commit(
            Change(change_id, stores.clock(), Owner(memory.user_id, "test"), "update", memories=(weighed,)),
            stores,
        )


@pytest.fixture
def ask(memory: LocalMemory, clock: Clock) -> Ask:
    """Searches the store of five with settings of a client."""
    for name, (n_phrases, importance, days) in STORE.items():
        text = " and ".join((f"Note {name}", *PHRASES[:n_phrases]))
        added = memory.add(text, infer=False, observed_at=clock.now - timedelta(days=days))
        set_importance(memory, added.results[0].id, importance)

    def search(**given: Any) -> tuple[Hit, ...]:
        settings = load_settings(**{"home": memory.folder, "user_id": "ana", "signal_weights": ONLY_EXACT} | given)
        return memory.as_client(settings, "test").search(QUERY).hits

    return search


def test_the_parts_of_the_store_are_what_they_are_said_to_be(ask: Ask) -> None:
    parts = {name_of(hit): (hit.relevance, hit.signals.importance, hit.signals.recency) for hit in ask()}
    assert parts == {
        "A": pytest.approx((1.0, 0.1, 0.125)),
        "B": pytest.approx((0.75, 0.3, 0.5)),
        "C": pytest.approx((0.5, 0.9, 0.25)),
        "D": pytest.approx((0.25, 0.5, 1.0)),
        "E": pytest.approx((0.5, 0.2, 0.5)),
    }


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        # relevance 0: (.05·importance + .05·recency) / .1; of D (.025 + .05) / .1 = .75, of A (.005 + .00625) / .1
        ((0.0, 0.05, 0.05), "D .7500 C .5750 B .4000 E .3500 A .1125"),
        # of A (.5 + .005 + .00625) / .6 = .8521
        ((0.5, 0.05, 0.05), "A .8521 B .6917 C .5125 E .4750 D .3333"),
        # of A (1 + .005 + .00625) / 1.1 = .9193
        ((1.0, 0.05, 0.05), "A .9193 B .7182 C .5068 E .4864 D .2955"),
        # importance 0: of E (.45 + .025) / .95 = .5, of C (.45 + .0125) / .95 = .4868
        ((0.9, 0.0, 0.05), "A .9539 B .7368 E .5000 C .4868 D .2895"),
        # of C (.45 + .45 + .0125) / 1.45 = .6293: past B, (.675 + .15 + .025) / 1.45 = .5862
        ((0.9, 0.5, 0.05), "A .6595 C .6293 B .5862 E .3966 D .3621"),
        # of C (.45 + .9 + .0125) / 1.95 = .6987: past A, (.9 + .1 + .00625) / 1.95 = .5160
        ((0.9, 1.0, 0.05), "C .6987 A .5160 B .5128 D .3974 E .3462"),
        # recency 0: of C (.45 + .045) / .95 = .5211
        ((0.9, 0.05, 0.0), "A .9526 B .7263 C .5211 E .4842 D .2632"),
        # of D (.225 + .025 + .5) / 1.45 = .5172: past C, (.45 + .045 + .125) / 1.45 = .4276, and E
        ((0.9, 0.05, 0.5), "A .6672 B .6483 D .5172 E .4897 C .4276"),
        # of D (.225 + .025 + 1) / 1.95 = .6410: past all
        ((0.9, 0.05, 1.0), "D .6410 B .6103 A .5282 E .4923 C .3821"),
    ],
)
def test_a_weight_moved_from_0_to_1_ranks_as_computed_by_hand(
    ask: Ask, weights: tuple[float, float, float], expected: str
) -> None:
    relevance, importance, recency = weights
    hits = ask(weight_relevance=relevance, weight_importance=importance, weight_recency=recency)
    assert ranking(hits) == as_ranking(expected)


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        # of C .9·.5 + .05·.9 + .05·.25 = .5075
        ("chat", "A .9113 B .7150 C .5075 E .4850 D .3000"),
        # .85·relevance + .15·importance; of C .425 + .135 = .56
        ("compliance", "A .8650 B .6825 C .5600 E .4550 D .2875"),
        # C and E are equally relevant, and the older id comes first
        ("retrieval", "A 1.0000 B .7500 C .5000 E .5000 D .2500"),
    ],
)
def test_a_profile_ranks_as_its_numbers_say(ask: Ask, profile: str, expected: str) -> None:
    hits = ask(profile=profile)
    assert ranking(hits) == as_ranking(expected)


def test_half_life_says_how_fast_recency_falls(ask: Ask) -> None:
    # 90 days are 3 half-lives of 30 days, and 1 of 90
    assert {name_of(hit): round(hit.signals.recency, 4) for hit in ask(half_life_days=90)}["A"] == 0.5


def test_in_the_compliance_profile_nothing_sinks_by_age(memory: LocalMemory, clock: Clock) -> None:
    settings = load_settings(home=memory.folder, user_id="ana", profile="compliance")
    auditor = memory.as_client(settings, "auditor")
    old = memory.add("The rule of the red lamp", infer=False, kind="note").results[0].id
    before = auditor.search("red lamp").hits
    clock.advance(days=5000)
    memory.add("The rule of the red lantern", infer=False, kind="note")
    [first, _] = auditor.search("red lamp").hits
    assert first.memory.id == old
    set_importance(memory, old, 1.0)
    [important, _] = auditor.search("red lamp").hits
    # .15 · (1 - .5)
    assert important.score == pytest.approx(first.score + 0.075, abs=1e-6)
    assert before[0].signals.recency == 1
    assert first.signals.recency < 1e-6


@pytest.mark.parametrize("name", ["keyword", "semantic", "exact", "speaker", "entity", "neighbour"])
def test_a_signal_that_is_switched_off_counts_nothing_and_one_alone_counts_all(memory: LocalMemory, name: str) -> None:
    memory.add(
        messages=[
            {"content": 'Rosalind Okafor mends the "R-204" kettle', "name": "Ana"},
            {"content": "She hung the lamp", "name": "Rui"},
        ],
        infer=False,
        run_id="r",
    )

    def relevance(**weights: float) -> float:
        settings = load_settings(home=memory.folder, user_id="ana", signal_weights=weights)
        found = memory.as_client(settings, "test").search('Did Ana say that Rosalind Okafor mends "R-204"?').hits
        return max((hit.relevance for hit in found if "R-204" in hit.memory.text), default=0.0)

    assert relevance(**{name: 0}) < relevance()
    none = dict.fromkeys(SIGNAL_NAMES, 0.0)
    # What neighbours say is what similarity and keywords say of them.
    alone = none | ({"keyword": 0.001} if name == "neighbour" else {})
    assert relevance(**alone | {name: 1}) > relevance(**alone)
    assert relevance(**none) == 0


# Whose a memory is


@pytest.fixture
def of_three(memory: LocalMemory) -> LocalMemory:
    """The same words about the user, about the agent that searches, and about another one."""
    memory.add("The red lamp is lit", infer=False, run_id="r1")
    memory.as_agent("scout").add("The red lamp is lit", infer=False, about="agent")
    memory.as_agent("other").add("The red lamp is lit", infer=False, about="agent", run_id="r1")
    return memory


def shares(memory: LocalMemory, *, scope: str = "all", run_id: str = "", **given: float) -> dict[str, float]:
    """Relevance of what each of the three wrote, where it would be 1 without weights."""
    settings = load_settings(home=memory.folder, user_id="ana", signal_weights=ONLY_EXACT, **given)
    hits = memory.as_client(settings, "scout").search('"red lamp"', scope=scope, run_id=run_id).hits
    names = {"python": "user", "scout": "agent", "other": "other"}
    return {names[hit.memory.agent_id]: hit.relevance for hit in hits}


def test_what_other_agents_wrote_about_themselves_counts_half(of_three: LocalMemory) -> None:
    assert shares(of_three) == {"user": 1, "agent": 1, "other": 0.5}


def test_each_scope_has_a_weight(of_three: LocalMemory) -> None:
    found = shares(of_three, weight_user=0.75, weight_agent=0.25, weight_other_agents=1)
    assert found == {"user": 0.75, "agent": 0.25, "other": 1}


def test_the_run_that_a_search_names_is_weighed_on_top(of_three: LocalMemory) -> None:
    assert shares(of_three, run_id="r1", weight_run=0.5) == {"user": 0.5, "agent": 1, "other": 0.25}
    assert shares(of_three, run_id="r2", weight_run=0.5) == {"user": 1, "agent": 1, "other": 0.5}
    assert shares(of_three, weight_run=0.5) == {"user": 1, "agent": 1, "other": 0.5}


@pytest.mark.parametrize("scope", ["user", "agent", "run"])
def test_a_scope_that_was_asked_for_is_not_weighed(of_three: LocalMemory, scope: str) -> None:
    given = {"weight_user": 0.0, "weight_agent": 0.0, "weight_other_agents": 0.0, "weight_run": 0.0}
    found = shares(of_three, scope=scope, run_id="r1", **given)
    assert found
    assert set(found.values()) == {1}


def test_a_weight_of_0_hides(of_three: LocalMemory) -> None:
    assert shares(of_three, weight_user=0, weight_other_agents=0) == {"agent": 1}
    assert shares(of_three, run_id="r1", weight_run=0) == {"agent": 1}
    settings = load_settings(home=of_three.folder, user_id="ana", weight_user=0, weight_agent=0, weight_other_agents=0)
    hidden = of_three.as_client(settings, "scout").search("red lamp")
    assert hidden.hits == ()
    assert "this search may see" in hidden.notice


def name_of(hit: Hit) -> str:
    """The letter of a memory of the store."""
    return hit.memory.text.split()[1]


def ranking(hits: tuple[Hit, ...]) -> list[tuple[str, Any]]:
    """(letter, score) of each hit, best first; scores compare to four places."""
    return [(name_of(hit), pytest.approx(hit.score, abs=6e-5)) for hit in hits]


def as_ranking(written: str) -> list[tuple[str, float]]:
    """The same from `A .9126 B .7150`."""
    words = written.split()
    return [(name, float(score)) for name, score in zip(words[::2], words[1::2], strict=True)]
