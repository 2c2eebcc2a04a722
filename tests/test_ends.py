"""Statements that somebody is, or has, something no longer: what they end, and what they leave alone."""

from collections.abc import Iterator
from itertools import permutations

import pytest

from mcp_memory.embedder import Embedder
from mcp_memory.phrases import LANGUAGES
from mcp_memory.statements import read_statements
from tests.shared_folder import SharedFolder, opened, values


def ended(text: str) -> list[tuple[str, str, str]]:
    """(whose, which relation, which one) of what a text ends; all that it states is an end."""
    stated = read_statements(text).stated
    assert not any(each.holds for each in stated)
    return [(each.subject.key, "|".join(each.relations), each.object) for each in stated]


BOSSES = {
    "en": (
        "Eva is not my boss any more",
        "Eva isn't my boss anymore",
        "Eva is no longer my boss",
        "My boss is no longer Eva",
        "Since March Eva is no longer my boss",
    ),
    "de": ("Eva ist nicht mehr meine Chefin", "Meine Chefin ist nicht mehr Eva", "Eva ist nicht länger meine Chefin"),
    "es": ("Eva ya no es mi jefa", "Mi jefa ya no es Eva"),
    "fr": ("Eva n'est plus ma cheffe", "Ma cheffe, ce n’est plus Eva"),
    "it": ("Eva non è più il mio capo", "Il mio capo non è più Eva"),
}
FIRMS = {
    "en": (
        "I no longer work at Acme",
        "I don't work at Acme any more",
        "I left Acme",
        "I quit my job at Acme in March",
    ),
    "de": ("Ich arbeite nicht mehr bei Acme", "Ich habe meinen Job bei Acme gekündigt", "Ich habe Acme verlassen"),
    "es": ("Ya no trabajo en Acme", "Dejé mi trabajo en Acme", "He dejado Acme"),
    "fr": ("Je ne travaille plus chez Acme", "J'ai quitté mon travail chez Acme", "J'ai quitté Acme"),
    "it": ("Non lavoro più per Acme", "Ho lasciato il lavoro da Acme", "Ho lasciato Acme"),
}
DOGS = {
    "en": ("My dog Rex died", "My dog Rex has passed away", "My dog Rex died last week"),
    "de": ("Mein Hund Rex ist gestorben", "Mein Hund Rex ist letzte Woche gestorben"),
    "es": ("Mi perro Rex murió", "Mi perro Rex ha muerto"),
    "fr": ("Mon chien Rex est mort", "Mon chien Rex est décédé"),
    "it": ("Il mio cane Rex è morto",),
}
NONE_LEFT = {
    "en": ("I no longer have a dog", "I don't have a dog any more", "We don't have a dog anymore"),
    "de": ("Ich habe keinen Hund mehr", "Wir haben keinen Hund mehr"),
    "es": ("Ya no tengo perro", "Ya no tenemos un perro"),
    "fr": ("Je n'ai plus de chien", "Nous n'avons plus de chien"),
    "it": ("Non ho più un cane", "Non abbiamo più il cane"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_who_is_no_longer_the_boss(language: str) -> None:
    assert [ended(text) for text in BOSSES[language]] == [[("=user", "boss", "Eva")]] * len(BOSSES[language])


@pytest.mark.parametrize("language", LANGUAGES)
def test_where_somebody_no_longer_works(language: str) -> None:
    for text in FIRMS[language]:
        [(whose, relations, firm)] = ended(text)
        assert (whose, relations.split("|")[0], firm) == ("=user", "works_at", "Acme"), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_dog_that_has_died_and_one_that_there_is_no_longer(language: str) -> None:
    assert [ended(text) for text in DOGS[language]] == [[("=user", "dog", "Rex")]] * len(DOGS[language])
    assert [ended(text) for text in NONE_LEFT[language]] == [[("=user", "dog", "")]] * len(NONE_LEFT[language])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Eva is no longer Tom's boss", [("tom", "boss", "Eva")]),
        ("Tom no longer has a dog", [("tom", "dog", "")]),
        ("My sister no longer has a boyfriend", [("=user/sister", "partner", "")]),
        ("Eva is not my boss any more, Tom is", [("=user", "boss", "Eva")]),
        ("I'm no longer at Acme", [("=user", "works_at", "Acme")]),
        ("Eva is no longer my climbing partner", [("=user", "known_as", "Eva")]),
    ],
)
def test_whose_it_is(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert ended(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Eva is not my boss",
        "Eva is no longer my sister",
        "My sister Eva died",
        "Eva is no longer my boss's favourite",
        "Eva is no longer happy",
        "My boss is no longer angry",
        "My boss is no longer in Berlin",
        "I no longer have a dog that bites",
        "I no longer have a dog in the office",
        "I don't have a dog",
        "If Eva is no longer my boss, I will stay",
        "Maybe Eva is no longer my boss",
        "Is Eva no longer my boss?",
        "Tom says Eva is no longer my boss",
        "Eva will no longer be my boss",
        "Eva is no longer just my boss",
        "My old boss is no longer Eva",
        "My dog Rex almost died",
        "My dog Rex died laughing",
        "I no longer work at Acme's Berlin site",
        "I don't live in Berlin during the summer",
        "J'habite plus à Berlin qu'à Paris",
        "The dog of my neighbour died",
        "Eva ist nicht meine Chefin",
        "Ich habe keinen Hund",
        "Je n'ai pas de chien",
        "Eva ya es mi jefa, no?",
        "Non ho più tempo per il cane",
        "J'ai plus de chiens que toi",
    ],
)
def test_what_only_looks_like_an_end_ends_nothing(text: str) -> None:
    assert ended(text) == []


@pytest.fixture(scope="module")
def folder(embedder: Embedder) -> Iterator[SharedFolder]:
    with opened(embedder) as folder:
        folder.clock.advance(days=180)
        yield folder


@pytest.mark.parametrize(
    ("before", "end", "question"),
    [
        ("My boss is Eva", "Eva is not my boss any more", "who is my boss?"),
        ("Meine Chefin ist Eva Brandt", "Eva ist nicht mehr meine Chefin", "wer ist meine Chefin?"),
        ("My dog is called Rex", "My dog Rex died", "who is my dog?"),
    ],
)
def test_an_end_ends_it_whichever_is_told_first(folder: SharedFolder, before: str, end: str, question: str) -> None:
    for order in permutations([(before, "2026-01-05"), (end, "2026-05-09")]):
        memory = folder.somebody()
        folder.tell(memory, *order)
        assert values(memory, question) == []
        assert [record.text for record in memory.list(states=["invalid"])] == [before]
        assert len(values(memory, question, as_of="2026-03-01")) == 1


def test_an_end_of_another_one_ends_nothing(folder: SharedFolder) -> None:
    memory = folder.somebody()
    folder.tell(memory, ("My boss is Eva", "2026-01-05"), ("Anna is no longer my boss", "2026-05-09"))
    assert values(memory, "who is my boss?") == ["Eva"]


def test_a_surname_completes_a_name_and_ends_nothing(folder: SharedFolder) -> None:
    for order in permutations([("My boss is Eva", "2026-01-05"), ("My boss is Eva Brandt", "2026-05-09")]):
        memory = folder.somebody()
        folder.tell(memory, *order)
        assert memory.list(states=["invalid"]) == []
        assert "Eva Brandt" in values(memory, "who is my boss?")
        folder.tell(memory, ("My boss is Tom", "2026-05-20"))
        assert values(memory, "who is my boss?") == ["Tom"]
