"""Names in a text, found without a model."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.mentions import MAX_MENTIONS, MAX_NAME_CHARS, find_mentions, name_key


def keys(text: str, known: Sequence[str] = (), languages: Sequence[str] = ()) -> list[str]:
    return [mention.key for mention in find_mentions(text, frozenset(known), languages)]


def types(text: str) -> dict[str, str]:
    return {mention.key: mention.type for mention in find_mentions(text)}


# Keys


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("The Golden  Gate", "golden gate"),
        ("Ana’s", "ana"),
        ("Ana's", "ana"),
        ("“Dune”", "dune"),
        ("ＡＢ-12", "ab-12"),
        ("Die Zeit", "zeit"),
        ("Straße", "strasse"),
        ("the", "the"),
        ("Lucía", "lucia"),
        ("...", ""),
    ],
)
def test_spellings_of_a_name_share_a_key(name: str, key: str) -> None:
    assert name_key(name) == key


# What is written like a name


def test_capitalised_words_inside_a_sentence_are_names() -> None:
    assert keys("yesterday I met Ana Silva in New York City") == ["ana silva", "new york city"]


def test_names_keep_their_spelling() -> None:
    assert [mention.name for mention in find_mentions("we met Ana-Maria O'Brien")] == ["Ana-Maria O'Brien"]


def test_small_words_inside_a_name_hold_it_together() -> None:
    text = "she likes Charles de Gaulle, Vasco da Gama and the University of Oxford"
    assert keys(text) == ["charles de gaulle", "vasco da gama", "university of oxford"]


def test_a_possessive_is_no_part_of_the_name() -> None:
    assert keys("Maria's dog barks") == ["maria"]


@pytest.mark.parametrize("text", ["Ships sail. Cats sleep. Bought milk.", "When did you go?", "OK. Yes! Thanks"])
def test_a_capital_at_a_sentences_start_makes_no_name(text: str) -> None:
    assert keys(text) == []


def test_a_name_after_a_sentences_first_word_is_found() -> None:
    assert keys("When Ana came, we left for Lisbon.") == ["ana", "lisbon"]


def test_a_name_opening_a_sentence_is_found_when_it_is_no_word() -> None:
    assert keys("Xochitl called.") == ["xochitl"]


@pytest.mark.parametrize(
    ("text", "found"),
    [("Maria likes tea", ["maria"]), ("Peter called me", ["peter"]), ("Google bought it", ["google"])],
)
def test_a_name_opening_a_sentence_is_found_when_it_acts(text: str, found: list[str]) -> None:
    assert keys(text) == found


@pytest.mark.parametrize("text", ["Dinner was great", "Coffee is ready", "Work has begun"])
def test_a_word_opening_a_sentence_that_does_nothing_is_no_name(text: str) -> None:
    assert keys(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Abito a Roma", "Vivo a Roma", "Hablé con Roma ayer", "Abito in Roma", "Wohne in Roma",
        "Llevo dos años en Roma", "Otra vez fuimos juntos a Roma y no llovió nada", "Travaille chez Roma",
    ],
)  # fmt: skip
def test_a_verb_that_opens_a_sentence_is_no_name_in_other_languages_either(text: str) -> None:
    assert keys(text) == ["roma"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Lucía trabaja en la farmacia de la esquina", "lucia"),
        ("Javier y yo fuimos al cine", "javier"),
        ("Marco lavora alla posta da molti anni", "marco"),
        ("Fue con Marta. Marta es mi hermana pequeña", "marta"),
        ("Kasper in the house", "kasper"),
    ],
)
def test_a_name_that_is_a_word_elsewhere_opens_a_sentence_where_it_acts_or_is_written_so_within(
    text: str, name: str
) -> None:
    assert keys(text) == [name]


@pytest.mark.parametrize("text", ["today I've seen it and I'm glad", "J'ai mangé et c'est bon", "She'll come, I'd say"])
def test_what_an_apostrophe_joins_to_a_small_word_is_no_name(text: str) -> None:
    assert keys(text) == []


def test_first_names_that_are_small_words_elsewhere_are_found() -> None:
    names = ["kim", "mia", "ada", "dan", "hans", "ella"]
    assert keys("I met Kim, Mia, Ada, Dan, Hans and Ella") == names


def test_words_that_join_names_part_them() -> None:
    assert keys("fuimos María y Pedro al cine") == ["maria", "pedro"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I saw Dr. Smith at work", "Smith"),
        ("Mr Jones came", "Jones"),
        ("Ich habe Frau Müller getroffen", "Müller"),
    ],
)
def test_a_title_makes_a_person_and_is_no_part_of_the_name(text: str, name: str) -> None:
    assert [(mention.name, mention.type) for mention in find_mentions(text)] == [(name, "person")]


def test_months_and_weekdays_are_no_names() -> None:
    assert keys("we meet on Monday in March") == []


def test_german_nouns_are_no_names() -> None:
    text = "Ich habe gestern mit dem Hund in der Stadt den Nachbarn gesehen und nicht mit ihm gesprochen"
    assert keys(text) == []


def test_german_names_are_found_among_nouns() -> None:
    assert keys("Ich bin mit dem Hund und mit Xochitl nach Köln gefahren") == ["xochitl", "koln"]


@pytest.mark.parametrize("text", ["Ich habe Anna gesehen", "Der Hund liegt bei Anna im Garten"])
def test_german_given_names_are_found_though_dictionaries_have_them(text: str) -> None:
    assert keys(text) == ["anna"]


def test_names_in_other_alphabets_are_found() -> None:
    assert keys("я встретил Анну Каренину в Москве") == ["анну каренину", "москве"]


# What has the shape of an identifier


@pytest.mark.parametrize(
    "code",
    ["AB-1234", "v2.3.1", "RTX4090", "build_index", "numpy.linalg", "MyClass", "src/app.py"],
)
def test_codes_are_names(code: str) -> None:
    assert keys(f"look at {code} again") == [code.lower()]


def test_plain_numbers_are_no_names() -> None:
    assert keys("it cost 42 or 1,965 in 2020") == []


@pytest.mark.parametrize("token", ["5pm", "20th", "10km", "3.5kg", "and/or", "his/her"])
def test_measures_ordinals_and_alternatives_are_no_names(token: str) -> None:
    assert keys(f"it was {token} again") == []


def test_addresses_are_one_name_each() -> None:
    text = "see https://example.com/a?b=1, mail ana.b@example.com or ask @ana_b."
    assert keys(text) == ["https://example.com/a?b=1", "ana.b@example.com", "@ana_b"]


@pytest.mark.parametrize("quoted", ['"the blue whale"', "“the blue whale”", "«the blue whale»", "「the blue whale」"])
def test_quoted_phrases_are_names(quoted: str) -> None:
    assert keys(f"we watched {quoted} today") == ["blue whale"]


def test_inches_quote_nothing() -> None:
    assert keys('my desk has a 27" monitor and a 24" one') == []


def test_the_surroundings_hint_at_the_type() -> None:
    assert types("she works at Acme GmbH near Lisbon") == {"acme gmbh": "organisation", "lisbon": "other"}


# What is known already


def test_known_names_are_found_in_lower_case() -> None:
    assert keys("i moved to berlin with ana silva", ["berlin", "ana silva"]) == ["berlin", "ana silva"]


def test_the_longest_known_name_wins() -> None:
    assert keys("i live in new york city", ["new york", "new york city"]) == ["new york city"]


def test_unknown_names_in_lower_case_are_not_guessed() -> None:
    assert keys("i moved to berlin") == []


def test_a_known_name_is_found_even_where_a_sentence_starts() -> None:
    assert keys("Apple called.", ["apple"]) == ["apple"]


@pytest.mark.parametrize(
    ("text", "name", "languages"),
    [
        ("я был в москве", "москва", ("en", "ru")),
        ("der himmel über berlins dächern", "berlin", ("en", "de")),
        ("vivo en bogotá", "bogota", ("en", "es")),
        ("vivo en paris", "paris", ("en", "es")),
        ("vivo en parís", "paris", ("en", "es")),
        ("los gatos duermen", "gato", ("en", "es")),
        ("mieszkam w warszawie", "warszawa", ("en", "pl")),
    ],
)
def test_known_names_are_found_inflected_and_in_other_languages(text: str, name: str, languages: Sequence[str]) -> None:
    assert keys(text, [name], languages) == [name]


@pytest.mark.parametrize(
    ("text", "name"), [("我住在北京", "北京"), ("서울에서 일해요", "서울"), ("東京に住んでいます", "東京")]
)
def test_known_names_are_found_inside_text_without_spaces(text: str, name: str) -> None:
    assert keys(text, [name]) == [name]


def test_a_declined_name_brings_its_nominative() -> None:
    mentions = find_mentions("я видел Москву и вернулся", languages=("en", "ru"))
    assert [(mention.name, mention.key, mention.other_keys) for mention in mentions] == [
        ("Москву", "москву", ("москва",))
    ]


# Whatever comes


def test_a_mark_without_a_letter_is_no_name() -> None:
    assert keys("\u0610", ["x"], ("en",)) == []


# How long they may take is for the suite's time limit to say.
@pytest.mark.parametrize("text", ["haus" * 20_000, "a" * 100_000, "a." * 50_000, "1.2" * 30_000, "x@" + "y." * 30_000])
def test_absurdly_long_words_are_no_names(text: str) -> None:
    assert keys(text, ["x"], ("en", "de")) == []


def test_each_name_counts_once_in_order_of_appearance() -> None:
    assert keys("we saw Lisbon, then Porto, then Lisbon and LISBON") == ["lisbon", "porto"]


def test_a_very_long_name_is_left_out() -> None:
    assert keys(f"see x_{'y' * MAX_NAME_CHARS} there") == []


def test_only_the_first_names_of_a_list_are_kept() -> None:
    found = keys(", ".join(f"AB-{number}" for number in range(100)))
    assert found == [f"ab-{number}" for number in range(MAX_MENTIONS)]


pieces = st.sampled_from(
    ['"', "“", "Ana", "the ", ". ", "@", "http://", "x@y.z", "AB-12", "'s", "\n", "Das ", "東京", "1"]
)
texts = st.one_of(st.text(max_size=80), st.lists(pieces, max_size=30).map("".join))


@given(texts)
def test_any_text_yields_a_few_names_with_keys_of_their_own(text: str) -> None:
    found = find_mentions(text, frozenset({"ana"}), ("en", "de"))
    assert len(found) <= MAX_MENTIONS
    assert len({mention.key for mention in found}) == len(found)
    assert all(mention.key and 0 < len(mention.name) <= MAX_NAME_CHARS for mention in found)
