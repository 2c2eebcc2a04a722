"""What questions ask for by key, and which time they name, in five languages."""

from datetime import UTC, datetime

import pytest

from mcp_memory.periods import Period, period_in
from mcp_memory.phrases import Phrase
from mcp_memory.questions import read_question

USER, SISTER = "=user", "=user/sister"


@pytest.mark.parametrize(
    ("question", "whose", "relation"),
    [
        ("what is my phone number?", USER, "phone"),
        ("wie ist meine telefonnummer?", USER, "phone"),
        ("¿cuál es mi número de teléfono?", USER, "phone"),
        ("quel est mon numéro de téléphone ?", USER, "phone"),
        ("qual è il mio numero di telefono?", USER, "phone"),
        ("where do I live?", USER, "lives_in"),
        ("wo wohne ich?", USER, "lives_in"),
        ("¿dónde vivo?", USER, "lives_in"),
        ("où est-ce que j'habite ?", USER, "lives_in"),
        ("dove abito?", USER, "lives_in"),
        ("what was my city in March?", USER, "lives_in"),
        ("who is my sister's boss?", SISTER, "boss"),
        ("Wer ist der Chef meiner Schwester?", SISTER, "boss"),
        ("¿dónde trabaja mi hermana?", SISTER, "works_at"),
        ("où travaille ma sœur ?", SISTER, "works_at"),
        ("dove lavora mia sorella?", SISTER, "works_at"),
        ("wo arbeitet meine Frau?", "=user/partner", "works_at"),
        ("who is my wife?", USER, "partner"),
        ("what am I allergic to?", USER, "allergic_to"),
        ("how old am I?", USER, "age"),
        ("quel âge ai-je ?", USER, "age"),
        ("when is my birthday?", USER, "birthday"),
        ("what is my favourite colour?", USER, "favourite"),
        ("where does Tom live?", "tom", "lives_in"),
        ("where does tom live?", "tom", "lives_in"),
        ("what is Tom’s phone number?", "tom", "phone"),
    ],
)
def test_whose_and_which_fact_a_question_asks_for(question: str, whose: str, relation: str) -> None:
    names = [("tom", "Tom" if "Tom" in question else "tom")] if "tom" in question.lower() else []
    assert (whose, relation) in [(phrase.key, asked) for phrase, asked in read_question(question, names).of]


@pytest.mark.parametrize(
    "question",
    [
        "what is my bank?", "what's my bank", "my bank?", "bank?", "which bank do I use?", "what was my old bank?",
        "Wie heißt meine Bank?", "welche bank habe ich?", "bei welcher Bank bin ich?",
    ],
)  # fmt: skip
def test_what_a_question_calls_mine_may_be_a_label_that_only_the_facts_know(question: str) -> None:
    asked = read_question(question)
    assert asked.names("bank", Phrase())
    assert Phrase().key in {path.key for path in asked.paths}


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("¿cuál es mi gimnasio?", "gimnasio"),
        ("¿qué gimnasio uso?", "gimnasio"),
        ("en qué gimnasio estoy?", "gimnasio"),
        ("chez quelle banque suis-je ?", "banque"),
        ("le nom de ma banque", "banque"),
        ("qual è il mio codice fiscale?", "codice fiscale"),
        ("quale palestra frequento?", "palestra"),
        ("my wi-fi password", "wi-fi password"),
        ("what's my gym locker code?", "gym locker code"),
    ],
)
def test_labels_of_several_words_and_languages_are_found_after_mine_and_which(question: str, label: str) -> None:
    assert read_question(question).names(label, Phrase())


@pytest.mark.parametrize(
    "question",
    ["which bank is the best?", "where is the bank?", "what is my bank's phone number?", "which bank does Tom use?"],
)
def test_a_bank_of_nobody_is_not_mine(question: str) -> None:
    assert not read_question(question).names("bank", Phrase())


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("where did I live before Lisbon?", "lisbon"),
        ("before Lisbon, where did I live?", "lisbon"),
        ("where did i live before lisbon", "lisbon"),
        ("wo habe ich vor Lissabon gewohnt?", "lissabon"),
        ("¿dónde vivía antes de Lisboa?", "lisboa"),
        ("où est-ce que j'habitais avant Lisbonne ?", "lisbonne"),
        ("dove abitavo prima di Lisbona?", "lisbona"),
        ("where did I live before?", ""),
        ("where did I use to live?", ""),
        ("wo habe ich vorher gewohnt?", ""),
        ("¿dónde vivía antes?", ""),
        ("où est-ce que j'habitais avant ?", ""),
        ("où ai-je vécu auparavant ?", ""),
        ("dove abitavo prima?", ""),
        ("dove ho vissuto in precedenza?", ""),
    ],
)
def test_a_question_for_what_was_before(question: str, word: str) -> None:
    asked = read_question(question)
    assert asked.before is not None
    assert word in asked.before.words or not word
    assert (USER, "lives_in") in [(phrase.key, relation) for phrase, relation in asked.of]


@pytest.mark.parametrize(
    "question", ["where do I live?", "how old am I?", "what is the first name of my boss?", "qual è la mia prima casa?"]
)
def test_a_question_for_what_is_so(question: str) -> None:
    assert read_question(question).before is None


@pytest.mark.parametrize(
    "question",
    [
        "who was my boss when I lived in Berlin?",
        "wer war mein Chef, als ich in Berlin wohnte?",
        "wer ist mein Chef gewesen, als ich in Berlin gewohnt habe?",
        "¿quién era mi jefe cuando vivía en Berlin?",
        "qui était mon chef quand j'habitais à Berlin ?",
        "chi era il mio capo quando abitavo a Berlin?",
    ],
)
def test_a_question_for_what_was_so_meanwhile(question: str) -> None:
    asked = read_question(question)
    assert asked.meanwhile is not None
    assert "berlin" in asked.meanwhile.words
    assert [phrase.key for phrase in asked.meanwhile.paths] == [USER]
    assert [(phrase.key, relation) for phrase, relation in asked.of] == [(USER, "boss")]


@pytest.mark.parametrize(
    "question",
    [
        "what is the locker code that I got when I joined?",
        "who is my boss when I travel?",
        "when did I live in Berlin?",
        "when was my sister born?",
        "wann bin ich geboren?",
        "wer ist größer als mein Chef war?",
        "¿cuándo nació mi hermana?",
        "quand est née ma sœur ?",
        "quando è nata mia sorella?",
    ],
)
def test_a_when_that_tells_no_other_time(question: str) -> None:
    assert read_question(question).meanwhile is None


@pytest.mark.parametrize(
    "question",
    [
        "how long have I lived in Lisbon?",
        "since when have I worked at Acme?",
        "what have I been reading?",
        "wie lange habe ich in Lissabon gewohnt?",
        "combien de temps ai-je habité à Lisbonne ?",
        "where do I live?",
    ],
)
def test_a_perfect_that_asks_for_no_list(question: str) -> None:
    assert not read_question(question).is_ever


def test_a_verb_that_opened_a_statement_is_no_name_in_a_question() -> None:
    [(whose, relation)] = read_question("dove abito?", [("abito", "abito")]).of
    assert (whose.key, relation) == (USER, "lives_in")


@pytest.mark.parametrize("question", ["où travaille ma sœur ?", "dove lavora mia sorella?", "donde vive mi hermana?"])
def test_where_somebody_works_is_no_question_for_others_who_do(question: str) -> None:
    assert not read_question(question).is_shared


@pytest.mark.parametrize(
    "question",
    [
        "what is the weather like?",
        "how do I bake bread?",
        "what did we say about drift?",
        "tell me a joke",
        "",
        "Where does Tom live?",
        "x" * 1000 + " where do I live?",
        "🏠?",
        "(((",
    ],
)
def test_a_question_that_names_nobody_known_or_no_fact_asks_for_nothing(question: str) -> None:
    assert read_question(question).of == ()


@pytest.mark.parametrize(
    "question",
    [
        "who works where my sister works?",
        "which of my customers share a billing unit?",
        "wer arbeitet auch bei Acme?",
        "chi lavora dove lavora mia sorella?",
        "qui travaille où travaille ma sœur ?",
        "¿quién trabaja donde trabaja mi hermana?",
    ],
)
def test_a_question_for_others_who_have_the_same(question: str) -> None:
    assert read_question(question).is_shared


NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "whose", "relation"),
    [
        ("where do I work?", USER, "works_at"),
        ("where do i live?", USER, "lives_in"),
        ("where does eva work?", "eva", "works_at"),
    ],
)
def test_a_verb_that_asks_is_no_name_even_where_something_is_called_so(
    question: str, whose: str, relation: str
) -> None:
    names = [(name, name) for name in ("work", "live", "eva") if name in question]

    assert (whose, relation) in [(phrase.key, asked) for phrase, asked in read_question(question, names).of]


@pytest.mark.parametrize("question", ["what is my dog called?", "what's the name of my dog?", "what's my dog's name?"])
def test_what_somebody_is_called_asks_who_they_are(question: str) -> None:
    assert (USER, "dog") in [(phrase.key, asked) for phrase, asked in read_question(question).of]


def named(text: str, now: datetime = NOW) -> tuple[str, str] | None:
    found = period_in(text, now)
    return (found.start.date().isoformat(), found.end.date().isoformat()) if found else None


@pytest.mark.parametrize(
    ("texts", "first", "last"),
    [
        (
            ("in March", "im März", "en marzo", "en mars", "a marzo", "in march", "March 2026", "last march"),
            "2026-03-01",
            "2026-03-31",
        ),
        (("in May", "im Mai", "en mayo", "en mai", "a maggio", "since may"), "2026-05-01", "2026-05-31"),
        (("in May 2024", "im Mai 2024", "en mayo de 2024", "en mai 2024", "a maggio 2024"), "2024-05-01", "2024-05-31"),
        (
            ("last year", "letztes Jahr", "el año pasado", "l'année dernière", "l'anno scorso"),
            "2025-01-01",
            "2025-12-31",
        ),
        (
            ("last month", "letzten Monat", "el mes pasado", "le mois dernier", "il mese scorso"),
            "2026-10-01",
            "2026-10-31",
        ),
        (("yesterday", "gestern", "ayer", "ieri"), "2026-11-29", "2026-11-29"),
        (
            (
                "since June 3",
                "on the 3rd of June",
                "since june 3rd",
                "seit dem 3. Juni",
                "desde el 3 de junio",
                "le 3 juin",
                "dal 3 giugno",
            ),
            "2026-06-03",
            "2026-06-03",
        ),
        (("on December 24", "am 24. Dezember", "since December 24, 2025"), "2025-12-24", "2025-12-24"),
        (("in 2019", "since 2019", "seit 2019", "desde 2019", "depuis 2019"), "2019-01-01", "2019-12-31"),
        (("12 May 2026", "2026-05-12", "what happened on 12 May 2026?"), "2026-05-12", "2026-05-12"),
        # Not come yet this year: the last one is meant.
        (("in December", "im Dezember"), "2025-12-01", "2025-12-31"),
        (("on 29 February 2024", "in February 2024")[:1], "2024-02-29", "2024-02-29"),
        (("in February 2024",), "2024-02-01", "2024-02-29"),
    ],
)
def test_the_time_that_a_text_names(texts: tuple[str, ...], first: str, last: str) -> None:
    assert {text: named(text) for text in texts} == dict.fromkeys(texts, (first, last))


@pytest.mark.parametrize(
    "text",
    [
        "may I go?",
        "what may I eat?",
        "we march on",
        "where did I march?",
        "who is April?",
        "room 2019",
        "in summer",
        "al mar",
        "what happened between March and May?",
        "in 2019 and in 2020",
        "",
        "99999999",
        "2026-13-45",
    ],
)
def test_words_that_name_no_time_or_several(text: str) -> None:
    assert named(text) is None


def test_a_time_to_come_is_meant_where_its_year_is_written() -> None:
    assert named("in May 2028") == ("2028-05-01", "2028-05-31")
    assert named("on 12 May 2028") == ("2028-05-12", "2028-05-12")
    assert named("on 29 February 2028") == ("2028-02-29", "2028-02-29")


def test_a_day_of_this_year_that_is_yet_to_come_was_in_the_last_year_that_had_it() -> None:
    assert named("what did I do on 24 December?") == ("2025-12-24", "2025-12-24")
    assert named("what did I do on 29 February?", datetime(2027, 2, 1, tzinfo=UTC)) == ("2024-02-29", "2024-02-29")


def test_a_span_meets_what_held_at_some_time_of_it() -> None:
    march = Period(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 31, 23, 59, tzinfo=UTC))
    assert march.overlaps(None, None)
    assert march.overlaps(march.end, None)
    assert not march.overlaps(None, march.start)
    assert not march.overlaps(datetime(2026, 4, 1, tzinfo=UTC), None)
