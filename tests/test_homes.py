"""Which homes end which: a country is no other home than a city, a move is one, and the order of telling is nothing."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest

from mcp_memory.claims import begun_in, object_key
from mcp_memory.countries import area_of
from mcp_memory.embedder import Embedder
from mcp_memory.phrases import LANGUAGES
from mcp_memory.statements import read_statements
from mcp_memory.timeline import Stage, ends_of

from .shared_folder import SharedFolder, opened, values


def held(*texts: str) -> list[str]:
    """Which of the homes that texts tell of, one a month, hold after all of them."""
    stages = []
    for month, text in enumerate(texts):
        begins_at = datetime(2026, 1, 5, tzinfo=UTC) + timedelta(days=30 * month)
        for stated in read_statements(text).stated:
            value = object_key(stated.object)
            is_change = value in begun_in(text, "")
            identifier = f"{month} {stated.object}"
            stages.append(Stage(identifier, value, stated.holds, begins_at, area=area_of(value), is_change=is_change))
    ends = ends_of(stages, is_single=True)
    assert all(ends_of(order, is_single=True) == ends for order in permutations(stages))
    return [stage.id[2:] for stage in stages if stage.holds and stage.id not in ends]


COUNTRIES = {
    "en": ("I live in Berlin", "I live in Germany", "I live in the Netherlands"),
    "de": ("Ich wohne in Berlin", "Ich wohne in Deutschland", "Ich wohne in den Niederlanden"),
    "es": ("Vivo en Berlín", "Vivo en Alemania", "Vivo en los Países Bajos"),
    "fr": ("J'habite à Berlin", "J'habite en Allemagne", "J'habite aux Pays-Bas"),
    "it": ("Abito a Berlino", "Abito in Germania", "Abito in Olanda"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_country_and_a_city_are_one_home_whichever_is_told_first(language: str) -> None:
    city, country, _ = COUNTRIES[language]
    assert len(held(city, country)) == len(held(country, city)) == 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_another_country_is_another_home_and_ends_what_lay_in_the_one_before(language: str) -> None:
    city, country, other = COUNTRIES[language]
    assert len(held(country, other)) == 1
    assert len(held(country, city, other)) == 1
    assert len(held(city, country, other)) == 1


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("I live in Berlin", "I moved to Germany"), ["Germany"]),
        (("I live in Berlin", "Ich bin nach Portugal gezogen"), ["Portugal"]),
        (("I live in Germany", "I moved to Lisbon"), ["Lisbon"]),
        (("I live in Berlin", "I live in Germany", "I moved to Lisbon"), ["Lisbon"]),
        (("I live in Germany", "I moved to Lisbon", "I live in Portugal"), ["Lisbon", "Portugal"]),
        (("I live in Berlin", "I live in Lisbon"), ["Lisbon"]),
        (("I live in Germany", "Ich wohne in Deutschland"), ["Germany", "Deutschland"]),
        (("I live in England", "I live in the UK"), ["England", "UK"]),
        (("I live in England", "I live in Scotland"), ["Scotland"]),
        (("I live in Berlin", "I live in Germany", "I live in Europe"), ["Berlin", "Germany", "Europe"]),
        # A city and a state.
        (("I live in Berlin", "I live in Singapore"), ["Singapore"]),
        (("I live in Berlin", "I no longer live in Germany"), ["Berlin"]),
        (("Ich wohne in Deutschland", "I no longer live in Germany"), []),
        (
            ("I live in Germany", "I no longer live in Germany", "I live in Berlin", "I live in Spain"),
            ["Berlin", "Spain"],
        ),
    ],
)
def test_what_holds_after_all_is_told(texts: tuple[str, ...], expected: list[str]) -> None:
    assert held(*texts) == expected


@pytest.fixture(scope="module")
def folder(embedder: Embedder) -> Iterator[SharedFolder]:
    with opened(embedder) as folder:
        folder.clock.advance(days=180)
        yield folder


def test_stored_homes_end_in_the_same_way_in_whatever_order_they_arrive(folder: SharedFolder) -> None:
    told = [
        ("I live in Berlin", "2026-01-05"),
        ("I live in Germany", "2026-02-05"),
        ("I moved to Lisbon", "2026-05-09"),
        ("I live in Portugal", "2026-06-01"),
    ]
    for order in (told, told[::-1], [told[2], told[0], told[3], told[1]]):
        memory = folder.somebody()
        folder.tell(memory, *order)
        assert sorted(values(memory, "where do I live?")) == ["Lisbon", "Portugal"]
        assert sorted(values(memory, "where do I live?", as_of="2026-03-01")) == ["Berlin", "Germany"]
