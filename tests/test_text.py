"""Text to comparable forms, in the languages that people mix."""

from collections import Counter
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcp_memory.text import (
    MAX_LANGUAGES,
    clean,
    contains_phrase,
    content_hash,
    detect_language,
    exact_phrases,
    heading,
    languages_for,
    lemmas,
    normalise,
    terms,
)

# Lone surrogates too: JSON can carry what UTF-8 cannot.
any_characters = st.text(st.characters(codec=None, categories=None), max_size=40)


def forms(text: str, *languages: str) -> set[str]:
    return {form for term in terms(text, languages) for form in term}


# Cleaning


@given(any_characters)
@example("\ud800")
@example("a\udc00b\ud83d")
def test_clean_text_can_be_encoded(text: str) -> None:
    cleaned = clean(text)
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned
    assert "\0" not in cleaned


@given(any_characters)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_clean_leaves_sound_text_alone(text: str) -> None:
    assert clean(text) == text


def test_clean_replaces_only_what_is_broken() -> None:
    assert clean("a\0b\ud800c") == "a\ufffdb\ufffdc"
    # Two halves of one character are put together.
    assert clean("\ud83d\ude00") == "😀"


# Spelling


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        ("ＡＢＣ　１２", "abc 12"),
        ("cafe\u0301", "Café"),
        ("  two \t\n words ", "two words"),
        ("ﬁne", "fine"),
    ],
)
def test_spellings_of_one_text_share_form_and_hash(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)
    assert content_hash(one) == content_hash(other)


@pytest.mark.parametrize(("one", "other"), [("Ana", "Anna"), ("año", "ano"), ("a b", "ab"), ("42", "-42")])
def test_different_texts_differ_in_hash(one: str, other: str) -> None:
    assert content_hash(one) != content_hash(other)


def test_a_hash_is_32_hexadecimal_characters_of_the_sha256() -> None:
    # printf 'abc' | sha256sum begins ba7816bf 8f01cfea 414140de 5dae2223.
    assert content_hash(" ABC ") == "ba7816bf8f01cfea414140de5dae2223"


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


def test_a_heading_says_when_and_who() -> None:
    day = datetime(2026, 3, 9, 23, 59, tzinfo=UTC)
    assert heading(day, "Ana") == "9 March 2026, Ana: "
    assert heading(day, "") == "9 March 2026: "


# Language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The cat sleeps in the house", "en"),
        ("Ich wohne in Berlin und arbeite hier", "de"),
        ("El gato come en la casa de mi madre", "es"),
        ("J'habite avec ma soeur dans une maison", "fr"),
        ("Ik woon in een huis met mijn zus", "nl"),
        ("я живу в москве", "ru"),
        ("я живу в києві", "uk"),
        ("أسكن في البيت مع أختي", "ar"),
        ("من در خانه هستم", "fa"),
        ("我住在北京", "zh"),
        ("東京に住んでいます", "ja"),
        ("서울에서 일해요", "ko"),
        ("ฉันชอบกาแฟ", "th"),
        ("Μένω στην Αθήνα", "el"),
        ("אני גר בתל אביב", "he"),
        ("मैं दिल्ली में रहता हूँ", "hi"),
    ],
)
def test_the_language_of_a_sentence_is_told(text: str, language: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize("text", ["", "42", "OK", "!?"])
def test_too_little_text_has_no_language(text: str) -> None:
    assert detect_language(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "the pill has 5 µg of it",
        "the value of α is small",
        "Алексей is a friend of mine and lives here",
        "I was in 東京 with my sister",
    ],
)
def test_a_foreign_letter_or_name_does_not_decide_the_language(text: str) -> None:
    assert detect_language(text) == "en"


def test_the_users_languages_are_english_the_texts_own_and_the_most_frequent() -> None:
    counts = Counter({"de": 5, "fr": 1, "": 9, "en": 3})
    assert languages_for(counts) == ("en", "de", "fr")
    assert languages_for(counts, "El gato come en la casa") == ("en", "es", "de", "fr")


def test_languages_are_limited_in_number() -> None:
    counts = Counter(["de", "es", "fr", "it", "pt", "nl", "sv", "da"])
    assert len(languages_for(counts, "我住在北京")) == MAX_LANGUAGES
    assert languages_for(counts, "我住在北京")[:2] == ("en", "zh")


# Terms


def test_terms_are_lemmas_in_order_without_stop_words() -> None:
    assert terms("The cats of ticket AB-12") == [("cat",), ("ticket",), ("ab-12",), ("ab",), ("12",)]


def test_repetitions_are_kept() -> None:
    assert terms("cat, cats, CAT") == [("cat",)] * 3


def test_english_inflections_meet() -> None:
    assert forms("running ran runs", "en") == {"run", "ran"}


def test_possessives_and_elided_articles_fall_away() -> None:
    assert terms("the user's cats") == [("user",), ("cat",)]
    assert "hiver" in forms("l'hiver", "en")


@pytest.mark.parametrize(
    ("text", "languages", "form"),
    [
        ("AI's future", ("en",), "ai"),
        ("AI", ("en",), "ai"),
        ("AI", ("en", "de"), "ai"),
        ("Maria", ("en", "de"), "maria"),
    ],
)
def test_a_name_that_looks_like_an_inflected_word_keeps_its_own_form(
    text: str, languages: tuple[str, ...], form: str
) -> None:
    assert form in forms(text, *languages)


def test_accents_and_width_do_not_keep_words_apart() -> None:
    assert terms("naïve ＮＡＩＶＥ") == [("naive",), ("naive",)]


def test_codes_are_kept_whole_and_have_no_lemma() -> None:
    assert terms("B2") == [("b2",)]
    assert ("src/app.py",) in terms("open src/app.py")
    assert ("ana@example.com",) in terms("mail ana@example.com")


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Meine Krankenversicherung ist teuer", "versicherung"),
        ("Die Straßenbahnhaltestelle liegt dort", "haltestelle"),
        ("Der Kinderarzt kam", "arzt"),
        ("Die Häuser", "Haus"),
        ("Straße", "STRASSE"),
    ],
)
def test_german_compounds_and_inflections_are_found_by_their_parts(text: str, query: str) -> None:
    assert forms(text, "en", "de") & forms(query, "en", "de")


@pytest.mark.parametrize(
    ("text", "query", "languages"),
    [
        ("hablaban", "hablar", ("en", "es")),
        ("las ciudades", "ciudad", ("en", "es")),
        ("los gatos", "gato", ("en", "es")),
        ("о книгах", "книга", ("en", "ru")),
        ("в городе", "города", ("en", "ru")),
        ("ёлка", "елка", ("en", "ru")),
        ("المدرسة", "مدرستي", ("en", "ar")),
        ("الكتب", "كتاب", ("en", "ar")),
        ("كِتَابٌ", "كتاب", ("en", "ar")),
        ("کتاب‌هایم", "کتاب", ("en", "fa")),
        ("خانه‌ها", "خانه", ("en", "fa")),
        ("كتاب", "کتاب", ("fa",)),
    ],
)
def test_inflected_words_meet(text: str, query: str, languages: tuple[str, ...]) -> None:
    assert forms(text, *languages) & forms(query, *languages)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("我住在北京", "北京"),
        ("東京に住んでいます", "東京"),
        ("パソコンを買った", "パソコン"),
        ("서울에서 일해요", "서울"),
        ("ฉันชอบกาแฟ", "กาแฟ"),
    ],
)
def test_scripts_without_spaces_meet_by_bigrams(text: str, query: str) -> None:
    assert set(terms(query)) <= set(terms(text))


def test_single_han_characters_are_words_but_grammar_is_not() -> None:
    assert terms("我住") == [("住",), ("我住",)]


def test_latin_words_inside_unspaced_text_stay_whole() -> None:
    assert terms("iPhone手机") == [("iphone",), ("手",), ("机",), ("手机",)]


def test_the_stored_form_is_all_forms_with_spaces() -> None:
    assert lemmas("The cats of ticket AB-12") == "cat ticket ab-12 ab 12"


@pytest.mark.parametrize("text", ["", " ", "...", "the of and", "–—", "'", "''"])
def test_text_without_words_has_no_terms(text: str) -> None:
    assert terms(text) == []


def test_a_mark_without_a_letter_is_a_word_like_any_other() -> None:
    assert terms("\u0610") == [("\u0610",)]


# How long they may take is for the suite's time limit to say.
@pytest.mark.parametrize(
    ("pattern", "n", "longest"),
    [
        pytest.param("haus", 20_000, "haus" * 20_000, id="a compound without end"),
        pytest.param("a", 100_000, "a" * 100_000, id="one letter"),
        pytest.param("a.", 50_000, "a." * 49_999 + "a", id="a dotted name"),
        pytest.param("1.2", 30_000, "1.2" * 30_000, id="a version"),
        pytest.param("y.", 30_000, "x@" + "y." * 29_999 + "y", id="an address"),
    ],
)
def test_absurdly_long_words_are_kept_whole(pattern: str, n: int, longest: str) -> None:
    word = longest[: longest.index(pattern)] + pattern * n
    assert terms(word, ("en", "de"))[0] == (longest,)
    assert exact_phrases(word) == ()


@given(st.text(max_size=60))
def test_any_text_has_terms_that_are_not_empty(text: str) -> None:
    for term in terms(text, ("en", "de", "es", "ru", "ar", "fa")):
        assert term
        assert all(term)


@given(st.text(max_size=60))
def test_document_and_query_meet_whatever_their_case_width_or_spacing(text: str) -> None:
    assert terms(text) == terms(f"  {text}\n")


# To the letter


@pytest.mark.parametrize(
    ("query", "phrases"),
    [
        ('who wrote "Dune" in 1965, ticket AB-12?', ("dune", "1965", "ab-12")),
        ("«été» or 「雪国」", ("été", "雪国")),
        ("mail ana.b+c@example.com now", ("ana.b+c@example.com",)),
        ("see v2.3.1.", ("v2.3.1",)),
        ("call build_index()", ("build_index",)),
        ("open src/app.py", ("src/app.py",)),
        ("１２３", ("123",)),
        ("7 and 7", ("7",)),
        ("a well-known plain question", ()),
        ("he/she or his/her, and/or", ()),
        ("where is __init__", ("__init__",)),
        ("call _private", ("_private",)),
        ("他有42个", ("42",)),
        ("第3章와 5월", ("3", "5")),
        ("", ()),
    ],
)
def test_what_a_query_asks_for_to_the_letter(query: str, phrases: tuple[str, ...]) -> None:
    assert exact_phrases(query) == phrases


def test_inches_quote_nothing() -> None:
    assert exact_phrases('a 27" monitor and a 24" one, not "the big one"') == ("the big one", "27", "24")


@pytest.mark.parametrize(
    ("text", "phrase", "holds"),
    [
        ("room 42 is free", "42", True),
        ("room 420 is free", "42", False),
        ("room 142", "42", False),
        ("(ab-12)", "ab-12", True),
        ("ab-123", "ab-12", False),
        ("the blue whale.", "blue whale", True),
        ("i like c++", "c++", True),
        ("a+b", "a.b", False),
        ("我住在北京市", "北京", True),
        ("他有42个", "42", True),
        ("他有420个", "42", False),
        ("北京2号", "北京2", True),
        ("北京20", "北京2", False),
        ("", "42", False),
    ],
)
def test_phrases_are_found_as_whole_words(text: str, phrase: str, holds: bool) -> None:
    assert contains_phrase(text, phrase) is holds


@given(st.text(), st.text(st.characters(categories=["L", "N"]), min_size=1))
def test_any_word_is_found_between_blanks(text: str, word: str) -> None:
    phrase = normalise(word)
    assert contains_phrase(normalise(f"{text} {word} {text}"), phrase)


@given(st.integers(0, 10**9), st.sampled_from(["room {}", "in {}, then", "({})", "{}"]))
def test_a_number_asked_for_is_found_where_it_is_written(number: int, form: str) -> None:
    text = form.format(number)
    assert exact_phrases(text) == (str(number),)
    assert contains_phrase(normalise(text), str(number))


def test_codes_and_camel_case_count_as_a_whole_and_by_their_parts() -> None:
    assert terms("build_index UserService") == [
        ("build_index",), ("build",), ("index",), ("userservice",), ("user",), ("service",),
    ]  # fmt: skip
