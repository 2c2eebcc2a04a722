"""What the facts say to a question: the value first, by alias and over two steps, for its time, and of nobody else."""

from collections.abc import Iterator
from itertools import pairwise

import pytest

from mcp_memory.embedder import Embedder
from mcp_memory.knowledge import walk
from mcp_memory.memory import LocalMemory
from mcp_memory.phrases import USER_KEY
from tests.shared_folder import SharedFolder, found, opened, values

MONDAY, TUESDAY, WEDNESDAY = "2026-01-05", "2026-01-06", "2026-01-07"


@pytest.fixture(scope="module")
def folder(embedder: Embedder) -> Iterator[SharedFolder]:
    with opened(embedder) as folder:
        yield folder


def told(folder: SharedFolder, *texts: str) -> LocalMemory:
    """A new user who has said some things."""
    memory = folder.somebody()
    folder.tell(memory, *((text, MONDAY) for text in texts))
    return memory


def test_what_is_asked_for_by_key_comes_first_and_is_told_as_a_value(folder: SharedFolder) -> None:
    memory = told(
        folder, "What a phone number this is, she said, a phone number indeed", "My phone number is 030 1234567",
        "My work phone is 030 555666", "Tom's phone number is 030 999888", "The phone number is printed on the box",
    )  # fmt: skip
    for question in ("what is my phone number?", "wie ist meine telefonnummer?", "MY PHONE NUMBER"):
        result = memory.search(question)
        assert result.hits[0].memory.text == "My phone number is 030 1234567"
        assert result.hits[0].signals.fact == 1.0
        [fact] = result.facts
        assert (fact.subject, fact.relation, fact.label, fact.value) == ("the user", "phone", "", "030 1234567")
        assert fact.memory_id == result.hits[0].memory.id
        assert fact.since.date().isoformat() == MONDAY


def test_one_of_several_is_told_apart_by_its_label_and_by_whose_it_is(folder: SharedFolder) -> None:
    memory = told(
        folder, "My phone number is 030 1234567", "My work phone is 030 555666", "Tom's phone number is 030 999888",
        "My favourite colour is green", "My favourite tea is oolong",
    )  # fmt: skip
    assert values(memory, "what is my work phone number?") == ["030 555666"]
    assert values(memory, "what's tom's phone number?") == ["030 999888"]
    assert values(memory, "what is my favourite tea?") == ["oolong"]
    assert found(memory, "what is my favourite tea?")[0] == "My favourite tea is oolong"


@pytest.mark.parametrize("order", ["role first", "name first"])
def test_who_has_a_role_and_a_name_is_found_by_both(folder: SharedFolder, order: str) -> None:
    texts = ["My wife lives in Graz", "My wife is called Ana", "Ana works at Fenwick"]
    memory = told(folder, *(texts if order == "role first" else texts[::-1]))
    for who in ("my wife", "Ana", "ana"):
        assert values(memory, f"where does {who} live?") == ["Graz"]
        assert values(memory, f"where does {who} work?") == ["Fenwick"]
    assert values(memory, "who is my wife?") == ["Ana"]


def test_a_first_name_finds_its_only_bearer(folder: SharedFolder) -> None:
    memory = told(folder, "Sven Adolphi lives in Graz")
    assert values(memory, "where does Sven live?") == ["Graz"]
    assert values(memory, "where does Sven Adolphi live?") == ["Graz"]
    folder.tell(memory, ("Sven Brandt lives in Porto", TUESDAY))
    assert values(memory, "where does Sven live?") == []


def test_the_way_leads_over_two_steps_to_others_who_have_the_same(folder: SharedFolder) -> None:
    memory = told(folder, "My sister Eva works at Fenwick", "Tom works at Fenwick", "Paul works at Corvane")
    result = memory.search("who works where my sister works?")
    assert [(fact.subject, fact.value) for fact in result.facts] == [("Tom", "Fenwick")]
    assert result.hits[0].memory.text == "Tom works at Fenwick"
    assert values(memory, "where does my sister work?") == ["Fenwick"]


def test_customers_who_share_a_billing_unit(folder: SharedFolder) -> None:
    memory = told(
        folder, "Acme is my customer", "Initech is my customer", "Hooli is my customer", "Acme's billing unit is B7",
        "Initech's billing unit is B7", "Hooli's billing unit is C1", "Globex's billing unit is C1",
    )  # fmt: skip
    result = memory.search("which of my customers share a billing unit?")
    assert {fact.subject for fact in result.facts} == {"Acme", "Initech"}
    assert {hit.memory.text for hit in result.hits[:2]} == {"Acme's billing unit is B7", "Initech's billing unit is B7"}


def test_a_boss_of_a_sister_is_reached_through_her(folder: SharedFolder) -> None:
    memory = told(folder, "My sister is called Eva", "Eva's boss is Clara", "My boss is Tom")
    assert values(memory, "who is my sister's boss?") == ["Clara"]
    assert values(memory, "who is my boss?") == ["Tom"]


@pytest.mark.parametrize(
    "question", ["what was my city in March?", "what was my city in march?", "where did I live last march?"]
)
def test_a_question_about_a_time_finds_what_was_so_then_and_hides_nothing_without_a_date(
    folder: SharedFolder, question: str
) -> None:
    memory = folder.somebody()
    folder.clock.now = folder.clock.now.replace(month=11)
    folder.tell(
        memory, ("I live in Berlin", MONDAY), ("I moved to Lisbon", "2026-05-09"),
        ("The city by the sea is where I live best", "2026-06-01"),
    )  # fmt: skip
    assert values(memory, question) == ["Berlin"]
    texts = found(memory, question)
    assert texts[0] == "I live in Berlin"
    assert "I moved to Lisbon" not in texts
    assert "The city by the sea is where I live best" in texts
    assert values(memory, "what is my city?") == ["Lisbon"]


@pytest.mark.parametrize(
    ("statement", "questions", "value"),
    [
        ("My bank is Sparkasse", ("what is my bank?", "which bank do i use", "wie heißt meine bank?"), "Sparkasse"),
        ("Meine Bank ist Sparkasse", ("what's my bank", "my bank?", "bei welcher Bank bin ich?"), "Sparkasse"),
        ("My wi-fi password is tulip77", ("wi-fi password", "tell me my wi-fi password"), "tulip77"),
        ("Mi gimnasio es Altafit", ("¿cuál es mi gimnasio?", "qué gimnasio uso"), "Altafit"),
        ("Ma banque est Fortuneo", ("quelle est ma banque ?", "chez quelle banque suis-je ?"), "Fortuneo"),
        ("La mia palestra è Virgin", ("qual è la mia palestra?", "quale palestra frequento?"), "Virgin"),
    ],
)
def test_what_nobody_foresaw_is_found_by_the_word_that_it_was_told_with(
    folder: SharedFolder, statement: str, questions: tuple[str, ...], value: str
) -> None:
    memory = told(folder, statement, "The bank and the gym are closed, and the password was refused")
    for question in questions:
        assert values(memory, question) == [value], question
        assert found(memory, question)[0] == statement
    assert values(memory, "which bank is the best?") == []


def test_what_was_before_comes_latest_first_and_what_came_after_is_no_answer(folder: SharedFolder) -> None:
    memory = folder.somebody()
    folder.clock.now = folder.clock.now.replace(year=2026, month=11)
    folder.tell(
        memory, ("I live in Berlin", MONDAY), ("I moved to Lisbon", "2026-05-09"), ("I moved to Graz", "2026-08-09"),
        ("My boss is Tom Weber", MONDAY), ("My boss is Eva Stone", "2026-05-09"), ("My bank is Sparkasse", MONDAY),
        ("My new bank is Fortuneo", "2026-05-09"), ("My phone number is 030 1234567", MONDAY),
    )  # fmt: skip
    for question in ("where did I live before?", "wo habe ich früher gewohnt?", "dove abitavo prima di Graz?"):
        assert values(memory, question) == ["Lisbon", "Berlin"], question
        assert found(memory, question)[0] == "I moved to Lisbon"
    assert values(memory, "where did i live before lisbon?") == ["Berlin"]
    assert values(memory, "who was my boss before Eva?") == ["Tom Weber"]
    assert found(memory, "who was my boss before Eva?")[0] == "My boss is Tom Weber"
    assert values(memory, "what was my old bank?") == ["Sparkasse"]
    # Nothing is known of what was before.
    for question in ("what was my old number?", "who was my boss before Clara?", "where did I live before Berlin?"):
        assert values(memory, question) == [], question


@pytest.fixture(scope="module")
def moved(folder: SharedFolder) -> LocalMemory:
    """Somebody whose home, boss, employer and number have changed, and whose sister has moved."""
    memory = folder.somebody()
    folder.clock.now = folder.clock.now.replace(year=2026, month=11)
    folder.tell(
        memory, ("I live in Berlin", MONDAY), ("I work at Acme", MONDAY), ("My boss is Eva", MONDAY),
        ("My phone number is 0151 1111111", MONDAY), ("My sister lives in Graz", MONDAY),
        ("I moved to Lisbon", "2026-05-05"), ("My phone number is 0151 2222222", "2026-05-05"),
        ("My boss is Tom", "2026-05-05"), ("My sister lives in Porto", "2026-06-05"),
        ("I work at Fenwick now", "2026-07-05"), ("My boss is Uwe", "2026-09-05"),
    )  # fmt: skip
    return memory


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("who was my boss when I lived in Berlin?", ["Eva"]),
        ("When I lived in Berlin, who was my boss?", ["Eva"]),
        ("wer war mein Chef, als ich in Berlin wohnte?", ["Eva"]),
        ("¿quién era mi jefe cuando vivía en Berlín?", ["Eva"]),
        ("qui était mon chef quand j'habitais à Berlin ?", ["Eva"]),
        ("chi era il mio capo quando abitavo a Berlin?", ["Eva"]),
        ("where did I live while I worked at Acme?", ["Lisbon", "Berlin"]),
        ("where did I live when Tom was my boss?", ["Lisbon"]),
        ("what was my phone number when my sister lived in Graz?", ["0151 2222222", "0151 1111111"]),
        # Of when that was nothing is known: what is so now is no answer.
        ("who was my boss when I lived in Porto?", []),
        ("who was my boss when I was a child?", []),
        # No time is told by these.
        ("who is my boss when I travel?", ["Uwe"]),
    ],
)
def test_what_was_so_while_something_else_was(moved: LocalMemory, question: str, expected: list[str]) -> None:
    assert values(moved, question) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("where have I lived?", ["Lisbon", "Berlin"]),
        ("which cities have I lived in so far?", ["Lisbon", "Berlin"]),
        ("wo habe ich schon überall gewohnt?", ["Lisbon", "Berlin"]),
        ("¿dónde he vivido?", ["Lisbon", "Berlin"]),
        ("où ai-je habité ?", ["Lisbon", "Berlin"]),
        ("dove ho vissuto?", ["Lisbon", "Berlin"]),
        ("where has my sister lived?", ["Porto", "Graz"]),
        ("which phone numbers have I had?", ["0151 2222222", "0151 1111111"]),
        ("welche Telefonnummern hatte ich schon?", ["0151 2222222", "0151 1111111"]),
        ("¿qué números de teléfono he tenido?", ["0151 2222222", "0151 1111111"]),
        ("quels numéros de téléphone ai-je eus ?", ["0151 2222222", "0151 1111111"]),
        ("quali numeri di telefono ho avuto?", ["0151 2222222", "0151 1111111"]),
        ("who have been my bosses?", ["Uwe", "Tom", "Eva"]),
        ("who has been my boss?", ["Uwe", "Tom", "Eva"]),
        # What lasts, and a time that is named, is asked about as before.
        ("how long have I lived in Lisbon?", ["Lisbon"]),
        ("wo habe ich im März gewohnt?", ["Berlin"]),
        ("where do I live?", ["Lisbon"]),
    ],
)
def test_the_perfect_asks_for_all_that_ever_was_newest_first(
    moved: LocalMemory, question: str, expected: list[str]
) -> None:
    assert values(moved, question) == expected


def test_a_value_that_has_ended_or_is_to_end_is_told_with_its_end(moved: LocalMemory, folder: SharedFolder) -> None:
    [number] = moved.search("what was my phone number in February?").facts
    assert (number.value, str(number.until)[:10]) == ("0151 1111111", "2026-05-05")
    [number] = moved.search("what is my phone number?").facts
    assert number.until is None
    memory = folder.somebody()
    memory.add("My hotel is Lumen", infer=False, observed_at="2026-10-30", expires_at="2027-01-02")
    [hotel] = memory.search("what is my hotel?").facts
    assert (hotel.value, str(hotel.until)[:10]) == ("Lumen", "2027-01-02")


def test_what_was_not_yet_known_to_have_ended_is_not_told_as_ended(folder: SharedFolder) -> None:
    memory = folder.somebody()
    folder.clock.now = folder.clock.now.replace(year=2026, month=6)
    folder.tell(memory, ("I live in Berlin and I collect stamps of the harbour", MONDAY))
    known = folder.clock()
    folder.clock.advance(days=30)
    folder.tell(memory, ("I moved to Lisbon", "2026-05-05"))
    then = memory.search("where do I live?", known_at=known)
    assert [(fact.value, fact.until) for fact in then.facts] == [("Berlin", None)]
    assert [(hit.outdated, hit.memory.invalid_at) for hit in then.hits] == [((), None)]
    now = {hit.memory.text[:9]: hit.outdated for hit in memory.search("where do I live?").hits}
    assert [fact.value for fact in now["I live in"]] == ["Berlin"]


def test_a_memory_that_has_ended_has_its_end_only_where_that_was_known(folder: SharedFolder) -> None:
    memory = folder.somebody()
    folder.clock.now = folder.clock.now.replace(year=2026, month=8)
    folder.tell(memory, ("I live in Berlin", MONDAY))
    known = folder.clock()
    folder.clock.advance(days=30)
    folder.tell(memory, ("I moved to Lisbon", "2026-05-05"))
    [hit] = memory.search("where do I live?", known_at=known).hits
    assert (hit.memory.text, hit.memory.invalid_at) == ("I live in Berlin", None)


@pytest.mark.parametrize(
    ("statement", "question", "value"),
    [
        ("My shoe size is 43", "What is my shoe size?", "43"),
        ("My shoe size is 43", "what shoe size do I have?", "43"),
        ("My license plate is B-XY 123", "What is my licence plate?", "B-XY 123"),
        ("My licence plate is B-XY 123", "What's my License Plate number?", "B-XY 123"),
        ("My locker code is 4711", "What is my locker code?", "4711"),
        ("My locker code is 4711", "What is the code of my locker?", "4711"),
        ("My locker code is 4711", "what's the code for my locker?", "4711"),
    ],
)
def test_a_label_of_two_words_is_asked_for_by_them(
    folder: SharedFolder, statement: str, question: str, value: str
) -> None:
    memory = told(folder, statement, "My locker is on the second floor", "Tom's shoe size is 41")
    assert values(memory, question) == [value]


def test_the_year_that_a_question_asks_about_is_not_asked_for_to_the_letter(folder: SharedFolder) -> None:
    memory = folder.somebody()
    folder.clock.now = folder.clock.now.replace(year=2026, month=11)
    folder.tell(memory, ("Catalogue 2025 of the harbour fair", MONDAY), ("We moved to the harbour", "2025-03-02"))
    exact = {hit.memory.text[:9]: hit.signals.exact for hit in memory.search("where were we in March 2025?").hits}
    assert set(exact.values()) == {0.0}
    assert memory.search("catalogue 2025").hits[0].signals.exact == 1.0


def test_what_was_observed_in_the_time_asked_about_gets_a_signal_by_its_length(folder: SharedFolder) -> None:
    memory = folder.somebody()
    folder.clock.now = folder.clock.now.replace(year=2026, month=11)
    folder.tell(memory, ("We drank tea with Tom", "2026-03-10"), ("We drank tea with Eva", "2026-04-10"))

    def dates(question: str) -> dict[str, float]:
        return {hit.memory.text[-3:]: round(hit.signals.date, 1) for hit in memory.search(question).hits}

    assert dates("with whom did I drink tea in March?") == {"Tom": 0.6, "Eva": 0.0}
    assert dates("with whom did I drink tea on 10 April 2026?") == {"Tom": 0.0, "Eva": 1.0}
    assert dates("with whom did I drink tea last year?") == {"Tom": 0.0, "Eva": 0.0}
    assert dates("with whom did I drink tea?") == {"Tom": 0.0, "Eva": 0.0}
    found_first = memory.search("with whom did I drink tea in March?").hits[0].memory.text
    assert found_first == "We drank tea with Tom"


def test_facts_of_another_user_never_show(folder: SharedFolder) -> None:
    told(folder, "My phone number is 030 1234567", "My sister works at Fenwick", "Tom works at Fenwick")
    other = told(folder, "My sister works at Fenwick", "The phone is on the table")
    assert values(other, "what is my phone number?") == []
    assert values(other, "who works where my sister works?") == []
    assert all("1234567" not in text for text in found(other, "what is my phone number?"))


def test_facts_of_deleted_memories_answer_nothing_until_they_are_back(folder: SharedFolder) -> None:
    memory = folder.somebody()
    [phone] = folder.tell(memory, ("My phone number is 030 1234567", MONDAY))
    folder.tell(memory, ("The phone is on the table", MONDAY))
    memory.delete(phone)
    assert values(memory, "what is my phone number?") == []
    assert memory.search("what is my phone number?").hits[0].signals.fact == 0.0
    memory.undo(memory.history(phone).entries[-1].change_id)
    assert values(memory, "what is my phone number?") == ["030 1234567"]


def test_a_corrected_text_answers_with_its_new_facts_alone(folder: SharedFolder) -> None:
    memory = folder.somebody()
    [phone] = folder.tell(memory, ("My phone number is 030 1234567", MONDAY))
    memory.update(phone, text="My phone number is 030 7654321")
    assert values(memory, "what is my phone number?") == ["030 7654321"]
    assert values(memory, "what is my phone number?", as_of=TUESDAY) == ["030 7654321"]


def test_what_can_not_be_seen_is_no_value_either(folder: SharedFolder) -> None:
    memory = folder.somebody()
    folder.tell(memory, ("My phone number is 030 1234567", WEDNESDAY))
    assert values(memory, "what is my phone number?", as_of=TUESDAY) == []
    memory.add("My email is ana@example.org", infer=False, run_id="r1")
    assert values(memory, "what is my email?", scope="run", run_id="r2") == []
    assert values(memory, "what is my email?", scope="run", run_id="r1") == ["ana@example.org"]


def test_what_goes_by_a_label_of_its_own_is_not_answered_with_another(folder: SharedFolder) -> None:
    memory = folder.somebody()
    folder.tell(
        memory, ("My phone number is 0170 111111.", "2026-01-01"), ("My locker number is 17.", "2026-01-02"),
        ("My work phone number is 030 222222.", "2026-01-03"),
    )  # fmt: skip

    assert values(memory, "what's my locker number?") == ["17"]
    assert values(memory, "what is my licence number?") == []
    assert values(memory, "what's my work phone number?") == ["030 222222"]
    assert values(memory, "what's my phone number?") == ["0170 111111"]


def test_a_word_in_capitals_hides_no_fact(folder: SharedFolder) -> None:
    memory = folder.somebody()
    folder.tell(
        memory, ("I work at Feedzai.", "2026-01-01"), ("So much WORK today, I need a holiday.", "2026-01-02"),
        ("We go to see LIVE music on Fridays.", "2026-01-03"), ("I live in Graz.", "2026-01-04"),
    )  # fmt: skip

    assert values(memory, "where do I work?") == ["Feedzai"]
    assert values(memory, "where do I live?") == ["Graz"]


def test_the_walk_does_not_pass_through_the_user(folder: SharedFolder) -> None:
    memory = told(
        folder, "My sister Eva lives in Graz", "My boss is Clara", "Clara lives in Porto", "Ida lives in Graz"
    )
    names = memory.stores.index_of(memory.user_id).names
    eva, user = names.by_key("eva"), names.by_key(USER_KEY)
    assert eva
    assert user
    during = (folder.clock(), folder.clock())
    reached = walk(memory.stores.log, memory.user_id, [eva.id], user.id, during, 3, 300)
    of_memories = memory.stores.log.get_memories([memory_id for memory_id, _ in reached])
    assert [(of_memories[memory_id].text, hops) for memory_id, hops in reached] == [
        ("My sister Eva lives in Graz", 1), ("Ida lives in Graz", 2)
    ]  # fmt: skip
    # Without that limit all that is about the user would be near.
    passing = walk(memory.stores.log, memory.user_id, [eva.id], "", during, 3, 300)
    assert "My boss is Clara" in {memory.get(memory_id).text for memory_id, _ in passing}


def test_a_walk_ends_after_its_steps_and_its_entities(folder: SharedFolder) -> None:
    names = ("Ben", "Kim", "Leo", "Ida", "Uwe")
    memory = told(folder, *(f"{one}'s boss is {other}" for one, other in pairwise(names)))
    index = memory.stores.index_of(memory.user_id).names
    ben = index.by_key("ben")
    assert ben
    during = (folder.clock(), folder.clock())
    hops = [
        [n for _, n in walk(memory.stores.log, memory.user_id, [ben.id], "", during, depth, 300)] for depth in (1, 2, 3)
    ]
    assert hops == [[1], [1, 2], [1, 2, 3]]
    assert len(walk(memory.stores.log, memory.user_id, [ben.id], "", during, 3, 1)) == 1


@pytest.mark.parametrize("text", ["The user is happy", "I told the user about the user", "USER: hello", "=user"])
def test_texts_that_speak_of_the_user_do_not_mean_the_entity_of_the_user(folder: SharedFolder, text: str) -> None:
    memory = told(folder, "I live in Graz", text)
    user = memory.stores.index_of(memory.user_id).names.by_key(USER_KEY)
    assert user
    linked = {memory_id for memory_id, entity_id in memory.stores.log.get_links(memory.user_id) if entity_id == user.id}
    assert text not in {memory.get(memory_id).text for memory_id in linked}
    assert values(memory, "where does the user live?") == ["Graz"]
