"""Drafts against what is known: exact duplicates, and the entities that names mean."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from mcp_memory.gazetteer import Gazetteer
from mcp_memory.records import Draft, Entity, Episode, Memory, Mention, Message, Owner
from mcp_memory.resolve import SAME_NAME_SIMILARITY, Resolution, find_duplicate, link_mentions
from mcp_memory.score import Floats
from mcp_memory.text import content_hash
from tests.builders import a_memory

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
DAY = timedelta(days=1)
TEXT = "I live in Berlin"

DRAFT = Draft(
    sources=(0,),
    message=Message("user", TEXT, "Ana"),
    text=TEXT,
    lemmas="",
    hash=content_hash(TEXT),
    language="en",
    kind="note",
    state="active",
    mentions=(),
)
MESSAGE = replace(DRAFT, kind="message")
EPISODE = Episode(
    id="01kq8z3m5v2v",
    owner=Owner("ana", "claude"),
    messages=(DRAFT.message,),
    infer=False,
    about="user",
    kind="note",
    run_id="run-1",
    observed_at=NOW,
    created_at=NOW,
    expires_at=None,
    metadata={},
)
KNOWN = a_memory(
    id="01kq8z3m5v2w",
    agent_id="claude",
    run_id="run-1",
    speaker="Ana",
    text=TEXT,
    hash=content_hash(TEXT),
    observed_at=NOW - DAY,
    episode_id="01kq8z3m5v2u",
)


# Duplicates


def test_the_same_statement_is_a_duplicate() -> None:
    assert find_duplicate(DRAFT, EPISODE, [KNOWN]) == KNOWN.id


def test_spelling_makes_no_difference() -> None:
    shouted = replace(DRAFT, hash=content_hash("  i LIVE in\nBerlin "))
    assert find_duplicate(shouted, EPISODE, [KNOWN]) == KNOWN.id


def test_nothing_known_is_no_duplicate() -> None:
    assert find_duplicate(DRAFT, EPISODE, []) == ""


@pytest.mark.parametrize(
    "known",
    [
        pytest.param(replace(KNOWN, hash=content_hash("I live in Lisbon")), id="another text"),
        pytest.param(replace(KNOWN, about="agent"), id="about the agent"),
        pytest.param(replace(KNOWN, speaker="Ben"), id="another speaker"),
        pytest.param(replace(KNOWN, speaker=""), id="no speaker"),
        pytest.param(replace(KNOWN, expires_at=NOW), id="expired"),
        pytest.param(replace(KNOWN, expires_at=NOW + DAY), id="kept for a while only"),
        pytest.param(replace(KNOWN, invalid_at=NOW), id="ended: Berlin, Lisbon, Berlin again is news"),
        pytest.param(replace(KNOWN, valid_from=NOW + DAY), id="not yet begun"),
    ],
)
def test_what_differs_is_no_duplicate(known: Memory) -> None:
    assert find_duplicate(DRAFT, EPISODE, [known]) == ""


@pytest.mark.parametrize(
    "known",
    [
        pytest.param(replace(KNOWN, kind="preference"), id="another kind of statement"),
        pytest.param(replace(KNOWN, run_id="run-2"), id="another run"),
        pytest.param(replace(KNOWN, agent_id="pi"), id="another agent"),
        pytest.param(replace(KNOWN, valid_from=NOW, invalid_at=NOW + DAY), id="valid now"),
        pytest.param(replace(KNOWN, state="raw"), id="not yet distilled"),
    ],
)
def test_what_may_differ_does_not_matter(known: Memory) -> None:
    assert find_duplicate(DRAFT, EPISODE, [known]) == KNOWN.id


def test_what_is_kept_longer_is_known_for_as_long() -> None:
    known = replace(KNOWN, expires_at=NOW + 2 * DAY)
    assert find_duplicate(DRAFT, replace(EPISODE, expires_at=NOW + DAY), [known]) == KNOWN.id
    assert find_duplicate(DRAFT, replace(EPISODE, expires_at=NOW + 3 * DAY), [known]) == ""


def test_a_message_repeats_only_one_of_its_own_run() -> None:
    there = replace(KNOWN, kind="message", run_id="run-2")
    here = replace(there, id="01kq8z3m5v2x", run_id="run-1")
    assert find_duplicate(MESSAGE, EPISODE, [there]) == ""
    assert find_duplicate(MESSAGE, EPISODE, [there, here]) == here.id


def test_validity_is_judged_at_the_time_of_the_statement() -> None:
    ended = replace(KNOWN, valid_from=NOW - 10 * DAY, invalid_at=NOW - 5 * DAY)
    backdated = replace(EPISODE, observed_at=NOW - 7 * DAY)
    assert find_duplicate(DRAFT, EPISODE, [ended]) == ""
    assert find_duplicate(DRAFT, backdated, [ended]) == KNOWN.id


def test_expiry_is_judged_at_the_time_of_writing() -> None:
    expired = replace(KNOWN, expires_at=NOW - DAY)
    backdated = replace(EPISODE, observed_at=NOW - 7 * DAY)
    assert find_duplicate(DRAFT, backdated, [expired]) == ""


def test_the_first_match_counts() -> None:
    assert find_duplicate(DRAFT, EPISODE, [KNOWN, replace(KNOWN, id="01kq8z3m5v2x")]) == KNOWN.id


# Entities


def an_entity(entity_id: str, name: str) -> Entity:
    return Entity(entity_id, "ana", name, name.casefold(), "other", n_linked=1, revision="")


def a_mention(name: str) -> Mention:
    return Mention(name, name.casefold())


def towards(cosine: float) -> Floats:
    """A unit vector whose cosine with (1, 0) is given."""
    return np.array([cosine, (1 - cosine**2) ** 0.5], dtype=np.float32)


def counted() -> Callable[[Mention], Entity]:
    """Makes entities new-1, new-2 and so on."""
    made: list[str] = []

    def make(mention: Mention) -> Entity:
        made.append(mention.key)
        return an_entity(f"new-{len(made)}", mention.name)

    return make


def gazetteer(name: str, *aliases: str) -> Gazetteer:
    names = Gazetteer(2)
    names.put(an_entity("old", name), aliases)
    names.put_vector("old", towards(1.0))
    return names


def test_a_name_known_by_its_key_or_an_alias_is_linked() -> None:
    resolution = Resolution()
    names = gazetteer("New York City", "nyc")
    mentions = [a_mention("NEW YORK CITY"), a_mention("NYC")]
    assert link_mentions(mentions, names, {}, resolution, counted()) == ("old",)
    assert resolution == Resolution()


def test_a_nearly_equal_spelling_becomes_an_alias() -> None:
    resolution = Resolution()
    vectors = {"postgresql-16": towards(0.96)}
    linked = link_mentions([a_mention("Postgresql-16")], gazetteer("PostgreSQL 16"), vectors, resolution, counted())
    assert linked == ("old",)
    assert resolution.aliases == [("old", "Postgresql-16", "postgresql-16")]
    assert resolution.new_entities == []


@pytest.mark.parametrize(
    ("known", "name", "cosine"),
    [
        pytest.param("PostgreSQL 16", "PostgreSQL 15", 0.99, id="another number"),
        pytest.param("PostgreSQL 16", "PostgreSQL", 0.99, id="no number"),
        pytest.param("PostgreSQL 16", "Postgresql-16", SAME_NAME_SIMILARITY - 0.01, id="not similar enough"),
        pytest.param("Москва", "Пермь", 1.0, id="other letters, though the model cannot tell them apart"),
    ],
)
def test_what_may_be_something_else_becomes_a_new_entity(known: str, name: str, cosine: float) -> None:
    resolution = Resolution()
    mention = a_mention(name)
    vectors = {mention.key: towards(cosine)}
    assert link_mentions([mention], gazetteer(known), vectors, resolution, counted()) == ("new-1",)
    assert [entity.name for entity in resolution.new_entities] == [name]
    assert resolution.aliases == []


def test_the_same_words_in_another_order_are_one_name() -> None:
    mention = a_mention("Silva Ana")
    names = gazetteer("Ana Silva")
    assert link_mentions([mention], names, {mention.key: towards(0.97)}, Resolution(), counted()) == ("old",)


def test_without_a_vector_only_keys_are_compared() -> None:
    mention = a_mention("Postgresql-16")
    assert link_mentions([mention], gazetteer("PostgreSQL 16"), {}, Resolution(), counted()) == ("new-1",)


def test_new_entities_are_used_again_within_a_call() -> None:
    resolution, make = Resolution(), counted()
    names = Gazetteer(2)
    first = link_mentions([a_mention("Ana"), a_mention("Ben")], names, {}, resolution, make)
    second = link_mentions([a_mention("Ben"), a_mention("Cem")], names, {}, resolution, make)
    assert (first, second) == (("new-1", "new-2"), ("new-2", "new-3"))
    assert [entity.name for entity in resolution.new_entities] == ["Ana", "Ben", "Cem"]


def test_new_aliases_are_used_again_within_a_call() -> None:
    resolution, make = Resolution(), counted()
    names = gazetteer("PostgreSQL 16")
    mention = a_mention("Postgresql-16")
    link_mentions([mention], names, {mention.key: towards(0.96)}, resolution, make)
    assert link_mentions([mention], names, {}, resolution, make) == ("old",)
    assert len(resolution.aliases) == 1


def test_an_alias_that_comes_twice_in_one_call_is_noted_once() -> None:
    resolution = Resolution()
    mention = a_mention("Postgresql-16")
    vectors = {mention.key: towards(0.96)}
    linked = link_mentions([mention, mention], gazetteer("PostgreSQL 16"), vectors, resolution, counted())
    assert linked == ("old",)
    assert resolution.aliases == [("old", "Postgresql-16", "postgresql-16")]


@pytest.mark.parametrize("in_one_text", [True, False])
def test_a_declined_name_and_its_nominative_are_one_entity(in_one_text: bool) -> None:
    resolution, make = Resolution(), counted()
    declined, nominative = Mention("Москву", "москву", other_keys=("москва",)), a_mention("Москва")
    texts = [[declined, nominative]] if in_one_text else [[declined], [nominative]]
    linked = [link_mentions(mentions, Gazetteer(2), {}, resolution, make) for mentions in texts]
    assert linked == [("new-1",)] * len(texts)
    assert [entity.name for entity in resolution.new_entities] == ["Москву"]
    assert resolution.aliases == [("new-1", "Москву", "москва")]


def test_a_declined_name_is_linked_to_the_nominative_that_is_known() -> None:
    resolution = Resolution()
    declined = Mention("Москву", "москву", other_keys=("москва",))
    assert link_mentions([declined], gazetteer("Москва"), {}, resolution, counted()) == ("old",)
    assert resolution.aliases == [("old", "Москву", "москву")]


def test_each_entity_is_linked_once_in_order_of_mention() -> None:
    mentions = [a_mention("Ben"), a_mention("Ana"), a_mention("Ben")]
    assert link_mentions(mentions, Gazetteer(2), {}, Resolution(), counted()) == ("new-1", "new-2")


def test_a_text_without_names_is_linked_to_nothing() -> None:
    assert link_mentions([], gazetteer("Ana"), {}, Resolution(), counted()) == ()


def test_a_removed_entity_is_not_linked_again() -> None:
    names = gazetteer("Ana")
    names.remove("old")
    mention = a_mention("Ana")
    assert link_mentions([mention], names, {mention.key: towards(1.0)}, Resolution(), counted()) == ("new-1",)
