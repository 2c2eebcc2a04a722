"""What was so in January and is otherwise since May: today's answer, that of another day, the history, and back."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest

from mcp_memory.claims import claims_of
from mcp_memory.embedder import Embedder
from tests.shared_folder import SharedFolder, found, opened, values

JANUARY, MAY, SEPTEMBER = "2026-01-05", "2026-05-09", "2026-09-02"

# A question, then three texts with the value that holds from each on: the first, another, and the first again.
STORIES = {
    "home": ("where do I live?", "I live in Berlin", "I moved to Lisbon", "I moved back to Berlin"),
    "trade": ("what is my job?", "I work as a nurse", "I was promoted to team lead", "I work as a nurse again"),
    "firm": ("where do I work?", "I work at Fenwick", "I started at Corvane", "I work for Fenwick again"),
    "phone": (
        "what is my phone number?",
        "My phone number is 030 1234567",
        "My new phone number is 030 7654321",
        "You can reach me at 030 1234567",
    ),
    "boss": ("who is my boss?", "My boss is Clara", "My new boss is Tom", "Clara is my boss again"),
    "sister's home": (
        "where does my sister live?",
        "My sister lives in Berlin",
        "My sister moved to Lisbon",
        "My sister moved back to Berlin",
    ),
    "somebody's home": (
        "where does Tom live?",
        "Tom lives in Berlin",
        "Tom moved to Lisbon",
        "Tom moved back to Berlin",
    ),
    "de home": (
        "wo wohne ich?",
        "Ich wohne in Berlin",
        "Ich bin nach Lissabon gezogen",
        "Ich bin zurück nach Berlin gezogen",
    ),
    "de firm": (
        "wo arbeite ich?",
        "Ich arbeite bei Fenwick",
        "Ich habe bei Corvane angefangen",
        "Ich arbeite wieder bei Fenwick",
    ),
    "de boss": (
        "wer ist mein Chef?",
        "Meine Chefin ist Clara",
        "Mein neuer Chef heißt Tom",
        "Meine neue Chefin ist Clara",
    ),
    "de phone": (
        "wie ist meine Telefonnummer?",
        "Meine Telefonnummer ist 030 1234567",
        "Meine neue Nummer ist 030 7654321",
        "Du erreichst mich unter 030 1234567",
    ),
    "es home": ("¿dónde vivo?", "Vivo en Berlín", "Me mudé a Lisboa", "He vuelto a vivir en Berlín"),
    "es firm": ("¿dónde trabajo?", "Trabajo para Fenwick", "Empecé a trabajar en Corvane", "Trabajo para Fenwick"),
    "es boss": ("¿quién es mi jefe?", "Mi jefa es Clara", "Mi nuevo jefe es Tom", "Mi nueva jefa se llama Clara"),
    "es phone": (
        "¿cuál es mi número de teléfono?",
        "Mi número de teléfono es 612 345 678",
        "Mi nuevo número es 699 888 777",
        "Mi móvil es 612 345 678",
    ),
    "fr home": (
        "où est-ce que j'habite ?",
        "J'habite à Berlin",
        "J'ai déménagé à Lisbonne",
        "Je suis revenue vivre à Berlin",
    ),
    "fr firm": (
        "où est-ce que je travaille ?",
        "Je travaille chez Fenwick",
        "J'ai commencé chez Corvane",
        "Je bosse chez Fenwick",
    ),
    "fr boss": (
        "qui est mon chef ?",
        "Ma cheffe est Clara",
        "Mon nouveau chef est Tom",
        "Ma nouvelle cheffe s'appelle Clara",
    ),
    "fr phone": (
        "quel est mon numéro de téléphone ?",
        "Mon numéro est le 06 12 34 56 78",
        "Mon nouveau numéro est le 07 98 76 54 32",
        "Tu peux me joindre au 06 12 34 56 78",
    ),
    "it home": ("dove abito?", "Abito a Berlino", "Mi sono trasferita a Lisbona", "Sono tornata a vivere a Berlino"),
    "it firm": (
        "dove lavoro?",
        "Lavoro per Fenwick",
        "Ho iniziato a lavorare presso Corvane",
        "Lavoro di nuovo per Fenwick",
    ),
    "it boss": (
        "chi è il mio capo?",
        "Il mio capo è Clara",
        "Il mio nuovo capo è Tom",
        "Il mio nuovo capo si chiama Clara",
    ),
    "it phone": (
        "qual è il mio numero di telefono?",
        "Il mio numero è 333 1234567",
        "Il mio nuovo numero è 347 7654321",
        "Puoi chiamarmi al 333 1234567",
    ),
}


@pytest.fixture(scope="module")
def folder(embedder: Embedder) -> Iterator[SharedFolder]:
    with opened(embedder) as folder:
        # What is told is past, September included.
        folder.clock.advance(days=180)
        yield folder


# Those that go the whole way; of the others only the reading is compared, which is what differs.
WHOLE_WAY = (
    "home", "trade", "phone", "boss", "sister's home", "de firm", "es boss", "fr phone", "it home",
)  # fmt: skip


@pytest.mark.parametrize("story", STORIES)
def test_the_first_and_the_last_say_the_same_of_one_key_and_the_second_otherwise(story: str) -> None:
    said_at = datetime(2026, 9, 2, tzinfo=UTC)
    claims = [claims_of(text, "", said_at) for text in STORIES[story][1:]]
    assert all(each.is_all for each in claims)
    first, second, third = (each.claims[0] for each in claims)
    assert {(claim.subject_key, claim.relations, claim.label, claim.holds) for claim in (first, second, third)} == {
        (first.subject_key, first.relations, "", True)
    }
    assert first.object_key == third.object_key != second.object_key


@pytest.mark.parametrize("story", WHOLE_WAY)
def test_each_time_has_its_answer_and_an_undo_restores_the_one_before(folder: SharedFolder, story: str) -> None:
    question, first, second, third = STORIES[story]
    memory = folder.somebody()
    folder.clock.now = folder.clock.now.replace(month=10)
    one, two, three = folder.tell(memory, (first, JANUARY), (second, MAY), (third, SEPTEMBER))
    assert found(memory, question) == [third]
    assert found(memory, question, as_of="2026-03-01") == [first]
    assert found(memory, question, as_of="2026-06-01") == [second]
    [value] = values(memory, question)
    assert len(values(memory, question, as_of="2026-03-01")) == 1
    history = memory.history(one)
    assert [(step.state, step.superseded_by) for step in memory.list(states=["invalid"])] == [
        ("invalid", three), ("invalid", two)
    ]  # fmt: skip
    assert [fact.state for fact in history.facts] == ["ended"]
    memory.undo(memory.history(three).entries[0].change_id)
    assert found(memory, question) == [second]
    assert values(memory, question) != [value]
    memory.undo(memory.history(two).entries[0].change_id)
    assert found(memory, question) == [first]


@pytest.mark.parametrize("story", ["home", "phone", "it firm"])
def test_the_order_in_which_it_is_told_makes_no_difference(folder: SharedFolder, story: str) -> None:
    question, *texts = STORIES[story]
    told = list(zip(texts, (JANUARY, MAY, SEPTEMBER), strict=True))
    for order in permutations(told):
        memory = folder.somebody()
        folder.tell(memory, *order)
        answers = [found(memory, question, as_of=moment) for moment in ("2026-02-01", "2026-06-01", "2026-10-01")]
        assert answers == [[text] for text in texts], order
        assert len(memory.list(states=["invalid"])) == 2


def test_late_news_is_told_until_when_it_held(folder: SharedFolder) -> None:
    memory = folder.somebody()
    folder.tell(memory, ("I moved to Lisbon", MAY))
    [receipt] = memory.add("I live in Berlin", infer=False, observed_at=JANUARY).results
    assert receipt.status == "added"
    assert receipt.reason == "held until 2026-05-09, when this took its place: I moved to Lisbon"


def test_a_move_that_is_told_of_later_counts_from_the_month_that_it_names(folder: SharedFolder) -> None:
    memory = folder.somebody()
    _, moved = folder.tell(memory, ("I live in Berlin", JANUARY), ("I moved to Lisbon in March", "2026-06-10"))
    days = ("2026-02-20", "2026-03-10", "2026-06-20")
    assert [values(memory, "where do I live?", as_of=day) for day in days] == [["Berlin"], ["Lisbon"], ["Lisbon"]]
    assert [found(memory, "where do I live?", as_of=day) for day in days] == [
        ["I live in Berlin"], ["I moved to Lisbon in March"], ["I moved to Lisbon in March"]
    ]  # fmt: skip
    memory.update(moved, text="I moved to Lisbon in April")
    assert found(memory, "where do I live?", as_of="2026-03-10") == ["I live in Berlin"]
    memory.undo(memory.history(moved).entries[-1].change_id)
    assert found(memory, "where do I live?", as_of="2026-03-10") == ["I moved to Lisbon in March"]


def test_of_two_who_move_each_one_ends_only_the_own_home(folder: SharedFolder) -> None:
    told = [
        ("I live in Berlin", JANUARY), ("Tom lives in Berlin", JANUARY), ("My sister lives in Berlin", JANUARY),
        ("Tom moved to Graz", MAY), ("I moved to Lisbon", MAY), ("My boss lives in Berlin", MAY),
    ]  # fmt: skip
    for order in (told, told[::-1], [*told[3:], *told[:3]]):
        memory = folder.somebody()
        folder.tell(memory, *order)
        asked = ("where do I live?", "where does Tom live?", "where does my sister live?", "where does my boss live?")
        assert [values(memory, question) for question in asked] == [["Lisbon"], ["Graz"], ["Berlin"], ["Berlin"]]
        assert {record.text for record in memory.list(states=["invalid"])} == {
            "I live in Berlin",
            "Tom lives in Berlin",
        }


LOOK_ALIKES = (
    "I'm visiting Lisbon",
    "I'm planning to move to Lisbon",
    "I wish I lived in Lisbon",
    "I want to move to Lisbon",
    "I also live in Lisbon",
    "I live in Lisbon during the week",
    "I used to live in Lisbon",
    "I lived in Lisbon as a child",
    "Tom says I moved to Lisbon",
    "Maybe I moved to Lisbon",
    "Did I move to Lisbon?",
    "Tom moved to Lisbon",
    "My sister lives in Lisbon",
    "I live in Berlin Kreuzberg",
    "I live in Lisbon for two weeks",
    "I love Lisbon",
    "I moved to Linux",
    "In the novel she moved to Lisbon",
    "If I moved to Lisbon, I would surf",
    "Ich besuche Lissabon",
    "Ich möchte nach Lissabon ziehen",
    "Ich wohne auch in Lissabon",
    "Quiero vivir en Lisboa",
    "Estoy de visita en Lisboa",
    "Je voudrais habiter à Lisbonne",
    "J'habite aussi à Lisbonne",
    "Vorrei abitare a Lisbona",
    "Sono in visita a Lisbona",
)


def test_what_only_looks_like_a_move_ends_nothing(folder: SharedFolder) -> None:
    memory = folder.somebody()
    folder.tell(memory, ("I live in Berlin", JANUARY), *((text, MAY) for text in LOOK_ALIKES))
    assert memory.list(states=["invalid"]) == []
    assert any(value.startswith("Berlin") for value in values(memory, "where do I live?"))


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        ("what is my phone number?", "My phone number is 030 1234567", "I have a second phone: 030 7654321"),
        ("what is my phone number?", "My phone number is 030 1234567", "My work phone is 030 7654321"),
        ("what is my phone number?", "My phone number is 030 1234567", "Tom's phone number is 030 7654321"),
        ("what languages do I speak?", "I speak German", "I speak Polish"),
        ("what am I allergic to?", "I'm allergic to nuts", "I'm allergic to milk"),
        ("who is my sister?", "My sister is called Eva", "My sister is called Ida"),
        ("where do I work?", "I work at Fenwick", "I work part-time at Corvane"),
        ("where do I work?", "I work at Fenwick", "My boss works at Corvane"),
        ("who is my boss?", "My boss is Clara", "My sister's boss is Tom"),
        ("who is my boss?", "My boss is Clara", "My old boss was Tom"),
    ],
)
def test_several_may_be_so_at_once(folder: SharedFolder, question: str, first: str, second: str) -> None:
    memory = folder.somebody()
    folder.tell(memory, (first, JANUARY), (second, MAY))
    assert memory.list(states=["invalid"]) == []
    assert first in found(memory, question)


@pytest.mark.parametrize(
    ("before", "end", "question"),
    [
        ("I work at Fenwick", "I left Fenwick", "where do I work?"),
        ("I work at Fenwick", "I no longer work at Fenwick", "where do I work?"),
        ("I work at Fenwick", "I quit my job", "where do I work?"),
        ("I live in Berlin", "I no longer live in Berlin", "where do I live?"),
        ("Tom works at Fenwick", "Tom left Fenwick", "where does Tom work?"),
        ("I'm allergic to nuts", "I'm no longer allergic to nuts", "what am I allergic to?"),
        ("Ich arbeite bei Fenwick", "Ich arbeite nicht mehr bei Fenwick", "wo arbeite ich?"),
        ("Ich arbeite bei Fenwick", "Ich habe Fenwick verlassen", "wo arbeite ich?"),
        ("Vivo en Berlín", "Ya no vivo en Berlín", "¿dónde vivo?"),
        ("Je travaille chez Fenwick", "J'ai quitté Fenwick", "où est-ce que je travaille ?"),
        ("Abito a Berlino", "Non abito più a Berlino", "dove abito?"),
    ],
)
def test_an_end_ends_it_whichever_is_told_first(folder: SharedFolder, before: str, end: str, question: str) -> None:
    for order in ([(before, JANUARY), (end, MAY)], [(end, MAY), (before, JANUARY)]):
        memory = folder.somebody()
        folder.tell(memory, *order)
        assert [record.text for record in memory.list(states=["invalid"])] == [before]
        assert values(memory, question) == []
        assert found(memory, question, as_of="2026-03-01") == [before]


def test_an_end_of_something_else_ends_nothing(folder: SharedFolder) -> None:
    memory = folder.somebody()
    folder.tell(memory, ("I work at Fenwick", JANUARY), ("I left Corvane", MAY), ("Tom left Fenwick", MAY))
    assert values(memory, "where do I work?") == ["Fenwick"]


def test_a_memory_that_says_more_stays_when_one_of_its_facts_ends(folder: SharedFolder) -> None:
    memory = folder.somebody()
    both, garden, moved = folder.tell(
        memory,
        ("I live in Berlin and I work at Fenwick", JANUARY),
        ("I live in Berlin. The garden is large.", "2026-02-01"),
        ("I moved to Lisbon", MAY),
    )
    assert memory.list(states=["invalid"]) == []
    assert values(memory, "where do I live?") == ["Lisbon"]
    assert values(memory, "where do I work?") == ["Fenwick"]
    folder.tell(memory, ("I quit my job", SEPTEMBER))
    assert [record.id for record in memory.list(states=["invalid"])] == [both]
    assert {garden, moved} <= {record.id for record in memory.list()}


def test_what_takes_over_later_leaves_the_present_value_until_then(folder: SharedFolder) -> None:
    memory = folder.somebody()
    folder.tell(memory, ("My boss is Eva", JANUARY))
    memory.add_fact("me", "boss", "Tom", since=(folder.clock() + timedelta(days=90)).date().isoformat())
    assert memory.list(states=["invalid"]) == []
    assert values(memory, "who is my boss?") == ["Eva"]
    assert [fact.object for fact in memory.facts()] == ["Eva"]
    folder.clock.advance(days=91)
    assert values(memory, "who is my boss?") == ["Tom"]
    assert [fact.object for fact in memory.facts()] == ["Tom"]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_what_holds_for_a_while_is_told_first_and_what_holds_for_longer_again_afterwards(
    folder: SharedFolder, order: tuple[int, ...]
) -> None:
    memory, question = folder.somebody(), "what is my phone number?"
    start = folder.clock()
    numbers = (
        ("My phone number is 030 1111111", start - timedelta(days=9), None),
        ("My phone number is 030 2222222", start - timedelta(days=8), start + timedelta(days=20)),
        ("My phone number is 030 3333333", start - timedelta(days=7), start + timedelta(days=10)),
    )
    for place in order:
        text, said_at, expires_at = numbers[place]
        memory.add(text, infer=False, observed_at=said_at, expires_at=expires_at)
    assert values(memory, question) == ["030 3333333", "030 2222222", "030 1111111"]
    folder.clock.advance(days=11)
    assert values(memory, question) == ["030 2222222", "030 1111111"]
    folder.clock.advance(days=11)
    assert values(memory, question) == ["030 1111111"]


def test_what_holds_for_a_while_ends_with_what_is_otherwise_for_at_least_as_long(folder: SharedFolder) -> None:
    memory, question = folder.somebody(), "what is my phone number?"
    soon, later = (folder.clock() + timedelta(days=days) for days in (10, 20))
    memory.add("My phone number is 030 1111111", infer=False, expires_at=soon)
    folder.clock.advance(hours=1)
    memory.add("My phone number is 030 2222222", infer=False, expires_at=later)
    assert values(memory, question) == ["030 2222222"]
    folder.clock.advance(hours=1)
    memory.add("My phone number is 030 3333333", infer=False)
    assert values(memory, question) == ["030 3333333"]


def test_what_has_expired_is_not_ended_by_what_is_said_later(folder: SharedFolder) -> None:
    memory = folder.somebody()
    [old] = memory.add(
        "My phone number is 030 1111111", infer=False, expires_at=folder.clock() + timedelta(days=10)
    ).results
    folder.clock.advance(days=11)
    assert memory.add("My phone number is 030 2222222", infer=False).results[0].status == "added"
    assert memory.get(old.id).state == "active"


def test_what_was_known_at_a_time_is_what_had_been_told_by_then(folder: SharedFolder) -> None:
    memory = folder.somebody()
    folder.tell(memory, ("I live in Berlin", JANUARY))
    before = folder.clock().isoformat()
    folder.tell(memory, ("I moved to Lisbon", MAY))
    after = folder.clock().isoformat()
    folder.tell(memory, ("I moved to Graz", "2026-03-03"))
    question = "where do I live?"
    for as_of, known_at, expected in (
        ("2026-06-01", before, "Berlin"), ("2026-06-01", after, "Lisbon"), ("2026-06-01", "", "Lisbon"),
        ("2026-04-01", before, "Berlin"), ("2026-04-01", after, "Berlin"), ("2026-04-01", "", "Graz"),
        ("", before, "Berlin"), ("", after, "Lisbon"),
    ):  # fmt: skip
        assert values(memory, question, as_of=as_of, known_at=known_at) == [expected]
        [text] = found(memory, question, as_of=as_of, known_at=known_at)
        assert expected in text


def test_a_deleted_move_gives_the_home_before_it_back_only_with_its_undo(folder: SharedFolder) -> None:
    memory = folder.somebody()
    _, moved = folder.tell(memory, ("I live in Berlin", JANUARY), ("I moved to Lisbon", MAY))
    memory.delete(moved)
    assert "Lisbon" not in values(memory, "where do I live?")
    memory.undo(memory.history(moved).entries[-1].change_id)
    assert values(memory, "where do I live?") == ["Lisbon"]


def test_history_shows_what_took_the_place_of_what(folder: SharedFolder) -> None:
    memory = folder.somebody()
    one, two = folder.tell(memory, ("I live in Berlin", JANUARY), ("I moved to Lisbon", MAY))
    assert memory.get(one).superseded_by == two
    [fact] = memory.history(one).facts
    assert (fact.told, fact.state) == ("the user - lives_in - Berlin", "ended")
    assert fact.invalid_at is not None
    assert fact.invalid_at.date().isoformat() == MAY
    assert len(memory.history(one).entries) == 2
