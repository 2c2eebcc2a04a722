"""Which facts a text states without doubt, in five languages, and which texts that look like it state none."""

from collections.abc import Mapping
from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_memory.claims import claims_of
from mcp_memory.phrases import LANGUAGES, read_phrase
from mcp_memory.statements import read_statements
from mcp_memory.vocabulary import RELATIONS, relation_of


def stated(text: str) -> list[tuple[str, str, str]]:
    """(whose fact, what is so or no longer so) in short."""
    return [
        (
            each.subject.key,
            f"{'|'.join(each.relations)}{f' {each.label}' if each.label else ''}",
            each.object if each.holds else f"no {each.object}".strip(),
        )
        for each in read_statements(text).stated
    ]


USER = "=user"
HOMES = {
    "en": ("I live in Graz", "I've moved to Graz!", "I moved back to Graz", "I'm based in Graz", "i live in Graz now"),
    "de": ("Ich wohne in Graz", "Ich bin nach Graz gezogen", "Ich bin zurück nach Graz gezogen", "Ich lebe in Graz"),
    "es": ("Vivo en Graz", "Me mudé a Graz", "He vuelto a vivir en Graz", "Me he mudado a Graz"),
    "fr": ("J'habite à Graz", "J’ai déménagé à Graz", "Je suis revenue vivre à Graz", "Je vis à Graz"),
    "it": ("Abito a Graz", "Mi sono trasferita a Graz", "Sono tornata a vivere a Graz", "Vivo a Graz"),
}
FIRMS = {
    "en": ("I work at Fenwick", "I started at Fenwick", "I'm employed by Fenwick"),
    "de": ("Ich arbeite bei Fenwick", "Ich habe bei Fenwick angefangen", "Ich bin zu Fenwick gewechselt"),
    "es": ("Trabajo para Fenwick", "Empecé a trabajar en Fenwick", "He empezado en Fenwick"),
    "fr": ("Je travaille chez Fenwick", "J'ai commencé chez Fenwick", "J'ai été embauchée par Fenwick"),
    "it": ("Lavoro per Fenwick", "Ho iniziato a lavorare presso Fenwick", "Sono stata assunta da Fenwick"),
}
BOSSES = {
    "en": (
        "My boss is Clara",
        "My new boss is Clara",
        "Clara is my new boss",
        "My boss is called Clara",
        "My boss: Clara",
        "From today my boss is Clara",
    ),
    "de": ("Meine Chefin ist Clara", "Meine neue Chefin heißt Clara", "Jetzt ist Clara meine neue Chefin"),
    "es": ("Mi jefa es Clara", "Mi nueva jefa se llama Clara", "A partir de hoy mi jefa es Clara"),
    "fr": ("Ma cheffe est Clara", "Ma nouvelle cheffe s'appelle Clara", "Du coup ma cheffe s'appelle Clara"),
    "it": ("La mia responsabile si chiama Clara", "Il mio capo è Clara", "Da oggi il mio capo è Clara"),
}
SHARED_SUBJECTS = {
    "en": ("I live in Graz and work at Fenwick", "I live in Graz, and now work at Fenwick"),
    "de": ("Ich wohne in Graz und arbeite bei Fenwick", "Ich wohne in Graz und arbeite jetzt bei Fenwick"),
    "es": ("Vivo en Graz y trabajo para Fenwick",),
    "fr": ("J'habite à Graz et travaille chez Fenwick",),
    "it": ("Abito a Graz e lavoro per Fenwick",),
}
SINCE_JUNE = {
    "en": ("Since June Clara is my boss", "Tom has retired and since June 1 Clara is my boss"),
    "de": ("Seit Juni ist Clara meine Chefin", "Tom ist in Rente, seit 1. Juni ist Clara meine Chefin"),
    "es": ("Desde junio Clara es mi jefa", "Desde el 1 de junio mi jefa es Clara"),
    "fr": ("Depuis juin, ma cheffe est Clara", "Depuis le 1er juin Clara est ma cheffe"),
    "it": ("Da giugno il mio capo è Clara", "Dal 1 giugno Clara è il mio capo"),
}
PHONES = {
    "en": ("My phone number is 030 1234567", "My new phone number is 030 1234567", "You can reach me at 030 1234567"),
    "de": ("Meine Telefonnummer ist 030 1234567", "Meine neue Handynummer lautet 030 1234567"),
    "es": ("Mi número de teléfono es 030 1234567", "Mi nuevo móvil es el 030 1234567"),
    "fr": ("Mon numéro de téléphone est le 030 1234567", "Mon nouveau numéro est le 030 1234567"),
    "it": ("Il mio numero di telefono è 030 1234567", "Il mio nuovo numero è 030 1234567"),
}
ENDS = {
    "en": ("I no longer live in Graz", "I don't live in Graz"),
    "de": ("Ich wohne nicht mehr in Graz",),
    "es": ("Ya no vivo en Graz",),
    "fr": ("Je n'habite plus à Graz",),
    "it": ("Non abito più a Graz",),
}


def cases(table: Mapping[str, tuple[str, ...]]) -> list[str]:
    assert set(table) == set(LANGUAGES)
    return [text for texts in table.values() for text in texts]


@pytest.mark.parametrize("text", cases(HOMES))
def test_where_somebody_lives(text: str) -> None:
    assert stated(text) == [(USER, "lives_in", "Graz")]


@pytest.mark.parametrize("text", cases(FIRMS))
def test_where_somebody_works(text: str) -> None:
    assert stated(text) == [(USER, "works_at", "Fenwick")]


@pytest.mark.parametrize("text", cases(BOSSES))
def test_who_the_boss_is(text: str) -> None:
    assert stated(text) == [(USER, "boss", "Clara")]


@pytest.mark.parametrize("text", cases(SHARED_SUBJECTS))
def test_a_second_verb_has_the_subject_of_the_first(text: str) -> None:
    assert stated(text) == [(USER, "lives_in", "Graz"), (USER, "works_at", "Fenwick")]


@pytest.mark.parametrize("text", cases(SINCE_JUNE))
def test_since_when_somebody_is_the_boss(text: str) -> None:
    claims = claims_of(text, "", datetime(2026, 11, 30, 12, tzinfo=UTC)).claims

    assert [(each.object, each.begins_at.date()) for each in claims if each.relations == ("boss",)] == [
        ("Clara", date(2026, 6, 1))
    ]


@pytest.mark.parametrize("text", cases(PHONES))
def test_a_phone_number(text: str) -> None:
    assert stated(text) == [(USER, "phone", "030 1234567")]


@pytest.mark.parametrize("text", cases(ENDS))
def test_what_is_no_longer_so(text: str) -> None:
    assert stated(text) == [(USER, "lives_in", "no Graz")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I work as a nurse at Fenwick", [(USER, "works_at", "Fenwick"), (USER, "job", "nurse")]),
        ("Ich arbeite als Köchin", [(USER, "job", "Köchin")]),
        ("I was promoted to team lead", [(USER, "job", "team lead")]),
        ("My work phone is 030 111222", [(USER, "phone work", "030 111222")]),
        ("My favourite colour is green", [(USER, "favourite colour", "green")]),
        ("My favourite colour has become green", [(USER, "favourite colour", "green")]),
        ("Il mio gusto preferito è diventato il gelso", [(USER, "favourite gusto", "gelso")]),
        ("Ma couleur préférée est devenue le vert", [(USER, "favourite couleur", "vert")]),
        ("Acme's billing unit is B7", [("acme", "other billing unit", "B7")]),
        ("I speak German and Polish", [(USER, "speaks", "German"), (USER, "speaks", "Polish")]),
        ("Soy alérgica a las nueces", [(USER, "allergic_to", "nueces")]),
        ("I'm no longer allergic to nuts", [(USER, "allergic_to", "no nuts")]),
        (
            "My sister Eva lives in Graz and works at Fenwick",
            [(USER, "sister", "Eva"), ("eva", "lives_in", "Graz"), ("eva", "works_at", "Fenwick")],
        ),
        ("left Denver and moved to Chicago last week", [(USER, "lives_in", "Chicago")]),
        (
            "I left Acme and started at Fenwick",
            [(USER, "works_at|studies_at", "no Acme"), (USER, "works_at", "Fenwick")],
        ),
        ("My sister Eva lives in Graz", [(USER, "sister", "Eva"), ("eva", "lives_in", "Graz")]),
        ("My wife lives in Graz", [("=user/partner", "lives_in", "Graz")]),
        ("Ana is my sister's boss", [("=user/sister", "boss", "Ana")]),
        ("Tom's phone number is 555 123 4567", [("tom", "phone", "555 123 4567")]),
        ("Tom lives in Graz, I live in Porto", [("tom", "lives_in", "Graz"), (USER, "lives_in", "Porto")]),
        ("i moved to graz", [(USER, "lives_in", "graz")]),
        ("I live in Cape Town", [(USER, "lives_in", "Cape Town")]),
        # No word of these shows the language but the verb.
        ("Ana started at Fenwick", [("ana", "works_at", "Fenwick")]),
        ("Eva speaks Polish", [("eva", "speaks", "Polish")]),
        ("Eva ha lasciato Fenwick", [("eva", "works_at|studies_at", "no Fenwick")]),
        ("I left Fenwick", [(USER, "works_at|studies_at", "no Fenwick")]),
        ("I quit my job", [(USER, "works_at", "no")]),
        ("Ana quit her job", [("ana", "works_at", "no")]),
        ("Tom is my boss again", [(USER, "boss", "Tom")]),
        ("I switched jobs to Fenwick", [(USER, "works_at", "Fenwick")]),
        ("I work at the Red Cross these days", [(USER, "works_at", "Red Cross")]),
        ("My boss is Doctor Smith", [(USER, "boss", "Doctor Smith")]),
        ("My boss is Victor", [(USER, "boss", "Victor")]),
        ("Mi jefe es Tom O'Brien", [(USER, "boss", "Tom O'Brien")]),
        ("My favorite color is green", [(USER, "favourite colour", "green")]),
        ("My favorite theater is Globe", [(USER, "favourite theatre", "Globe")]),
        ("My license plate is B7", [(USER, "other licence plate", "B7")]),
        ("My neighbor is Clara", [(USER, "neighbour", "Clara")]),
    ],
)
def test_whose_fact_it_is_and_which(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert stated(text) == expected


NONE_STATED = {
    "planned": (
        "I'm planning to move to Lisbon",
        "I will work at Fenwick",
        "Ich plane, nach Lissabon zu ziehen",
        "Voy a vivir en Lisboa",
        "Je vais habiter à Lisbonne",
        "Andrò a vivere a Lisbona",
    ),
    "wished for": (
        "I want to live in Lisbon",
        "I would love to live in Lisbon",
        "Ich würde gern in Lissabon wohnen",
        "Quiero vivir en Lisboa",
        "Je voudrais habiter à Lisbonne",
        "Vorrei abitare a Lisbona",
    ),
    "supposed": ("If I moved to Lisbon, I would swim every day", "Maybe I moved to Lisbon", "I might move to Lisbon"),
    "dreamt": ("I moved to Lisbon in the dream", "I almost moved to Lisbon", "Imagine I live in Lisbon"),
    "heard": ("Tom says I moved to Lisbon", "I heard that Eva moved to Lisbon", "Apparently Eva moved to Lisbon"),
    "past": (
        "I used to live in Lisbon",
        "When I was a child I lived in Lisbon",
        "I lived in Lisbon",
        "Früher habe ich in Lissabon gewohnt",
        "Antes vivía en Lisboa",
        "J'habitais à Lisbonne",
        "Prima abitavo a Lisbona",
        "My old phone number was 030 1234567",
    ),
    "asked": (
        "Do I live in Lisbon?",
        "Wohne ich in Lissabon?",
        "¿Vivo en Lisboa?",
        "Est-ce que j'habite à Lisbonne ?",
        "Abito a Lisbona?",
    ),
    "beside another": (
        "I also live in Lisbon",
        "I live in Lisbon during the week",
        "I have a second phone: 030 7654321",
        "I work part-time at Fenwick",
        "Ich wohne auch in Lissabon",
        "También vivo en Lisboa",
    ),
    "for a while": (
        "I'm visiting Lisbon",
        "I live in Lisbon for two weeks",
        "Ich besuche Lissabon",
        "Je visite Lisbonne",
    ),
    "of several": ("My sisters live in Lisbon", "My sister is happy"),
    "denied": ("Ich wohne in Graz nicht", "I don't speak French", "My boss is not Clara", "I am allergic to nothing"),
    "one of two": (
        "I live in Lisbon and Porto",
        "I work at Siemens and at Bosch",
        "My boss is Eva and Tom",
        "My favourite colour is green and blue",
        "Ich arbeite bei Siemens und Bosch",
        "Vivo en Lisboa y Oporto",
        "J'habite à Lyon et à Paris",
        "Abito a Roma e Milano",
    ),
    "one move of several": (
        "I moved to the Netherlands in 2019 and to Berlin in 2021",
        "I moved to Berlin, then to Graz",
        "Ich bin nach Berlin gezogen und dann nach Graz",
        "Me mudé a Berlín y luego a Graz",
        "J'ai déménagé à Berlin puis à Graz",
        "Mi sono trasferita a Berlino e poi a Graz",
    ),
    "taken back": (
        "I live in Berlin no longer",
        "I live in Berlin no more",
        "My boss is Eva - sorry, Tom",
        "My boss is Eva, actually Tom",
        "My boss is Eva. Sorry, Tom.",
        "Mein Chef ist Eva - nein, Tom",
        "Mein Chef ist Eva. Quatsch, Tom.",
        "Il mio capo è Eva, anzi Tom",
        "Mi jefe es Eva, perdón, Tom",
        "J'habite à Lyon, enfin, à Paris",
    ),
    "years that are no age": (
        "Tengo 3 años de experiencia",
        "Tengo 3 años y medio de experiencia",
        "J'ai 3 ans d'expérience",
        "J'ai 3 ans de retard",
        "Ho 3 anni di esperienza",
        "I'm 20, in dog years",
    ),
    "a place of work and no firm": (
        "Trabajo en Madrid",
        "Empecé a trabajar en Barcelona",
        "Mi hermana trabaja en Londres",
        "Trabajo en Google Docs",
        "Lavoro in Italia",
        "Lavoro da Milano",
    ),
    "no name": (
        "I was born in July 1980",
        "I was born in Summer 1980",
        "My dog is a Labrador",
        "Mein Hund ist ein Labrador",
        "Mi perro es un Labrador",
        "Il mio cane è un Labrador",
        "My boss is the Director",
        "My favourite colour is the same as yours",
        "My favourite colour is hard to say",
        "Meine Lieblingsfarbe ist dieselbe wie deine",
        "Mi color favorito es el mismo que el tuyo",
        "Il mio colore preferito è lo stesso del tuo",
        "I drive a Friend home",
        "Ich fahre einen Umweg",
        "Ich bin gegen Gewalt",
        "Parlo sul serio",
        "Je parle trop",
        "Mon chef est Français",
        "Mein Neffe ist Lehrer",
    ),
    "one or the other": (
        "My boss is Eva or Anna",
        "My new boss is Eva or Anna",
        "Mein Chef ist Eva oder Anna",
        "Mi jefa es Eva o Anna",
        "Mi jefa es Eva u Olga",
        "Ma cheffe est Eva ou Anna",
        "Il mio capo è Eva o Anna",
        "I moved to Lisbon or Porto",
        "Vivo en Lisboa o en Oporto",
        "I speak German or Polish",
    ),
    "doubted": (
        "I guess my boss is Tom",
        "My boss is Tom, I suppose",
        "Ich glaube, mein Chef ist Tom",
        "Creo que mi jefe es Tom",
        "Je crois que mon chef est Tom",
        "Credo che il mio capo sia Tom",
    ),
    "a part of a firm or a house": (
        "I work at the Berlin office",
        "I work at Tom's house",
        "I moved to Team Blue",
        "Ich bin zu Team Blau gewechselt",
        "Ich arbeite bei Tom zu Hause",
        "Ich arbeite für das Berliner Büro",
    ),
    "a trade or a title": (
        "My boss is CEO",
        "My boss is CEO of Fenwick",
        "My boss is Director",
        "My boss is Senior Engineer",
        "My boss is Head of Sales",
        "Mi jefe es Médico",
        "Mi jefa es Directora",
        "Mon chef est Médecin",
        "Il mio capo è Direttore",
    ),
    "no such thing": (
        "I work at night",
        "My boss is nice",
        "My boss is German",
        "I live in fear",
        "i live in fear",
        "vivo en paz",
        "I work for myself",
        "I live in a small flat",
        "I moved to the sofa",
        "I moved to Linux",
        "I switched to Firefox",
        "I'm 34 minutes late",
        "my number is 42",
        "Ich lebe in Angst",
        "Ich wohne in der Stadt",
        "Ich wohne in einer WG",
        "Trabajo de noche",
        "trabajo en casa",
        "Je travaille comme un fou",
        "j'habite en ville",
        "Lavoro di notte",
        "lavoro in casa",
        "I was born in May",
        "I speak from experience",
        "i work as hard as i can",
    ),
}


@pytest.mark.parametrize(("why", "text"), [(why, text) for why, texts in NONE_STATED.items() for text in texts])
def test_what_only_looks_like_a_fact_states_none(why: str, text: str) -> None:
    assert stated(text) == []


@pytest.mark.parametrize("unseen", ["\x00", "\x07", "\u200b", "\u00ad", "\u202e", "\ufeff"])
def test_characters_that_nobody_sees_are_no_part_of_a_value(unseen: str) -> None:
    assert stated(f"I live in Gr{unseen}az{unseen}") == [(USER, "lives_in", "Graz")]


def test_a_text_says_nothing_else_where_every_clause_of_it_was_read() -> None:
    assert read_statements("I live in Graz and I work at Fenwick").is_all
    assert read_statements("I live in Graz. Tom lives in Porto.").is_all
    assert not read_statements("I live in Graz. The garden is large.").is_all
    assert read_statements("My wife lives in Graz and works at Fenwick").is_all
    assert not read_statements("My wife lives in Graz and loves it").is_all
    assert not read_statements("The garden is large.").is_all


SAYS_MORE = (
    "I live in Berlin, right above the bakery where I met my husband in 1999.",
    "My boss Eva, a doctor from Rome, is allergic to nuts and loves opera.",
    "I live in Berlin with my wife and two kids",
    "My phone number is 030 1234567, call me after six",
    "After my divorce in 2019, I moved to Lisbon",
    "I work as a nurse in Graz at Fenwick",
    "I'm allergic to nuts and love opera",
    "My dog Rex died, it was awful",
    "Ich wohne in Graz, wo mein Bruder arbeitet",
    "Vivo en Madrid con mi hermana",
    "J'habite à Lyon depuis 2019 avec ma femme",
    "Abito a Roma, sopra un forno",
)
SAYS_NOTHING_ELSE = (
    "I moved to Lisbon two weeks ago",
    "I moved to Lisbon in March 2020, finally!",
    "I've been living in Lisbon since 2019",
    "I work as an engineer at Fenwick",
    "Ich bin letzte Woche nach Lissabon gezogen",
    "Me mudé a Lisboa en marzo",
    "Je travaille chez Fenwick depuis mars",
    "Da oggi il mio capo è Clara",
)


@pytest.mark.parametrize("text", SAYS_MORE)
def test_a_text_says_more_where_the_words_beside_its_facts_are_more_than_a_time(text: str) -> None:
    read = read_statements(text)
    assert read.stated
    assert not read.is_all


@pytest.mark.parametrize("text", SAYS_NOTHING_ELSE)
def test_a_time_and_an_adverb_say_nothing_else(text: str) -> None:
    assert read_statements(text).is_all


@pytest.mark.parametrize(
    ("text", "begun"),
    [
        ("I have been vegan since 2010 and I live in Berlin.", "2026-11-30"),
        ("My car broke down in January and I moved to Lisbon.", "2026-11-30"),
        ("I bought a car last year and I started at Acme.", "2026-11-30"),
        ("Mein Auto ging im Januar kaputt und ich bin nach Lissabon gezogen.", "2026-11-30"),
        ("I live in Lisbon, where my brother has lived since 2010.", "2026-11-30"),
        ("I started at Acme after I moved to Graz in 2010.", "2026-11-30"),
        ("I moved to Lisbon with my wife in 2019.", "2019-01-01"),
        ("J'habite à Lyon depuis 2019 avec ma femme.", "2019-01-01"),
        ("Since 2019 I live in Graz.", "2019-01-01"),
    ],
)
def test_a_fact_begins_when_its_own_clause_says(text: str, begun: str) -> None:
    claims = claims_of(text, "", datetime(2026, 11, 30, 12, tzinfo=UTC)).claims
    assert [each.begins_at.date().isoformat() for each in claims] == [begun]


def test_two_moves_are_read_with_their_times() -> None:
    text = "I moved to Berlin in January and moved back to Graz in March."
    claims = claims_of(text, "", datetime(2026, 11, 30, 12, tzinfo=UTC)).claims
    assert [(each.object, each.begins_at.month) for each in claims] == [("Berlin", 1), ("Graz", 3)]


def test_two_values_at_once_of_what_there_is_one_of_are_no_fact_and_say_more() -> None:
    said_at = datetime(2026, 11, 30, 12, tzinfo=UTC)
    for text in ("I live in Lisbon. I live in Porto.", "Vivo en Lisboa y vivo en Oporto."):
        assert not claims_of(text, "", said_at).is_all
    assert claims_of("I live in Lisbon. I live in Porto.", "", said_at).claims == ()
    assert len(claims_of("I live in Berlin. I live in Germany.", "", said_at).claims) == 2


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("I'm allergic to milk, eggs and yeast.", ["milk", "eggs", "yeast"]),
        ("I'm allergic to nuts, yeast.", ["nuts", "yeast"]),
        ("I'm allergic to nuts, sadly.", ["nuts"]),
        ("I'm allergic to nuts, et cetera.", ["nuts"]),
        ("I'm allergic to nuts and vegan.", ["nuts"]),
        ("I'm allergic to penicillin, bee stings and cats.", ["penicillin", "bee stings", "cats"]),
        ("Ich bin gegen Nüsse allergisch.", ["Nüsse"]),
        ("Ich bin allergisch gegen Nüsse, Eier und Hefe.", ["Nüsse", "Eier", "Hefe"]),
        ("Soy alérgica a las nueces, huevos y yogur.", ["nueces", "huevos", "yogur"]),
        ("I speak German, English, Estonian.", ["German", "English", "Estonian"]),
        ("I speak German and live in Berlin.", ["German", "Berlin"]),
        ("Hablo español, inglés y un poco de francés.", ["español", "inglés", "francés"]),
        ("Ich spreche Deutsch und ein bisschen Polnisch.", ["Deutsch", "Polnisch"]),
        ("Parlo italiano e francese", ["italiano", "francese"]),
    ],
)
def test_each_of_a_list_is_read_as_it_is_written(text: str, values: list[str]) -> None:
    assert [each.object for each in read_statements(text).stated] == values


@pytest.mark.parametrize(
    ("text", "age"),
    [("Tengo 41 años", "41"), ("Tengo 41 años y vivo en Madrid", "41"), ("J'ai 34 ans", "34"), ("Ho 34 anni", "34")],
)
def test_an_age(text: str, age: str) -> None:
    assert stated(text)[0] == (USER, "age", age)


@pytest.mark.parametrize("text", ["Trabajo en Siemens", "Trabajo en el Banco Azul", "Lavoro in BBVA", "Lavoro da Ikea"])
def test_a_firm_is_read_where_a_place_could_stand_if_it_is_known_as_one(text: str) -> None:
    assert [each.relations for each in read_statements(text).stated] == [("works_at",)]


@pytest.mark.parametrize(
    ("texts", "label"),
    [
        (("My nephew is Tom", "Tom is my nephew"), "nephew"),
        (("Mein Neffe ist Tom", "Tom ist mein Neffe"), "neffe"),
        (("Mi sobrino es Tom", "Tom es mi sobrino"), "sobrino"),
        (("Mon neveu est Tom", "Tom est mon neveu"), "neveu"),
    ],
)
def test_a_role_of_many_is_the_same_fact_in_either_order(texts: tuple[str, str], label: str) -> None:
    assert [stated(text) for text in texts] == [[(USER, f"known_as {label}", "Tom")]] * 2


def test_only_of_what_there_is_one_of_at_a_time_a_later_value_can_be_another() -> None:
    assert stated("My flight is LH123") == [(USER, "has flight", "LH123")]
    assert stated("My appointment is 12 May") == [(USER, "has appointment", "12 May")]
    assert stated("My shoe size is 42") == [(USER, "other shoe size", "42")]
    assert stated("Ma pointure est 42") == [(USER, "other pointure", "42")]
    assert RELATIONS["other"].is_single
    assert not RELATIONS["has"].is_single
    assert not RELATIONS["known_as"].is_single


def test_every_fact_of_a_text_is_read() -> None:
    names = "Tom, Eva, Ana, Ben, Kim, Leo, Max, Ida, Uwe, Pia".split(", ")
    read = read_statements(". ".join(f"{name} lives in Graz" for name in names))
    assert [stated.subject.name for stated in read.stated] == names


ODD = (
    "x" * 10_000,
    "I live in " + "A" * 580,
    "I live in " + "Ab " * 190,
    "I speak " + ", ".join("abc" for _ in range(110)),
    ", " * 290,
    "my " * 190,
    "my sister's " * 48,
    "I moved from " + "a " * 280,
    "'" * 590,
    "mi jefe de mi hermana " * 25,
    "i'm i'm i'm " * 48,
    "I live in 🏠🏡 in 🇦🇹",
    "👩‍👩‍👧‍👦" * 40,
    "أنا أعيش في برلين",
    "\u202eI live in Graz\u202c",
    "(?P<o>.*)+ [a-z]{1,99} \\b$ I live in (Graz",
    "I live in {o} ;; {a}",
    "I live in Graz\x00\x01",
    "\n\n\t  \u00a0",
    "",
    "555 " * 150,
    "1." * 290,
    "I work as a " + "very " * 115 + "tired nurse",
    "My boss is " + "Anna-Maria." * 50,
    "I live in Graz " + "and then " * 60,
    "Ich wohne in Graz" + ", und dann" * 50,
    "I moved to " + "Berlin and to " * 40 + "Graz",
)


# Compiling the expressions of five languages takes seconds on a slow machine; reading takes none.
@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_odd_input_is_read_quickly_and_without_harm(text: str) -> None:
    for language in ("", *LANGUAGES):
        for each in read_statements(text, language).stated:
            assert len(each.object) <= 80
        read_phrase(text, 0, language or "en")


@pytest.mark.timeout(120)
@given(st.text(max_size=120), st.sampled_from(("I live in ", "my boss is ", "mi ", "je ", "ich bin ", "")))
@settings(max_examples=60)
def test_any_text_is_read(text: str, start: str) -> None:
    for each in read_statements(start + text).stated:
        assert set(each.relations) <= set(RELATIONS)


def test_a_noun_names_its_relation_in_any_case_and_spelling() -> None:
    for word, name in {"Phone Number": "phone", "MÓVIL": "phone", "movil": "phone", "sœur": "sister"}.items():
        assert relation_of(word) == RELATIONS[name]
    assert relation_of("billing unit") is None
    assert relation_of("mutter", "en") is None
