"""Statements against their source: what is invented, turned round or borrowed does not get through."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.guards import (
    Source,
    check,
    dates_beside,
    find_flaw,
    only_confirms,
    only_repeats_a_request,
    own_words,
    without_repetition,
)
from mcp_memory.text import detect_language


def source(message: str, context: str = "", marks: tuple[str, ...] = ()) -> Source:
    return Source(message, context, detect_language(message), marks)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("The user is a crane planner at Halvorsen Shipping.", "I'm a crane planner at Halvorsen Shipping now"),
        ("The user does not eat gluten any more.", "and I don't eat gluten any more, sadly"),
        ("The user has 2 sisters.", "I've got two sisters."),
        ("The user's colleague Priya works nights.", "My colleague Priya works nights."),
        ("The user loves coffee.", "I don't like tea but I love coffee"),
        ("The user has a dentist appointment on 2026-03-13.", "dentist this Friday (2026-03-13), I have to go"),
        ("Der Nutzer hat seit zwei Jahren kein Fleisch gegessen.", "Ich habe seit zwei Jahren kein Fleisch gegessen."),
        ("El usuario lleva dos años sin comer carne.", "llevo dos años sin comer carne"),
        ("L'utilisateur n'aime pas la coriandre.", "Je n'aime pas la coriandre du tout."),
        ("Пользователь не ест мясо.", "Я не ем мясо уже два года."),
        ("用户不喜欢香菜。", "我不喜欢香菜。"),
        ("ユーザーは肉を食べない。", "私は肉を食べません。"),
    ],
)
def test_what_the_message_says_passes(statement: str, message: str) -> None:
    assert find_flaw(statement, source(message)) == ""


@pytest.mark.parametrize(
    ("flaw", "statement", "message"),
    [
        ("number", "The user has 3 sisters.", "I've got two sisters."),
        ("number", "The user's flat is 21B.", "my flat is 12B now"),
        ("number", "The user sees a doctor on Monday (2026-06-18).", "I see a doctor in two days (2026-06-18)"),
        ("name", "The user works with Tobias at the harbour.", "I work at the harbour with Priya."),
        ("negation", "The user eats gluten.", "I don't eat gluten."),
        ("negation", "The user does not eat meat.", "I eat meat every day."),
        ("negation", "El usuario come carne.", "No como carne desde hace dos años."),
        ("negation", "Der Nutzer mag den Winter.", "Ich mag den Winter nicht."),
        ("negation", "用户喜欢香菜。", "我不喜欢香菜。"),
        (
            "language",
            "Der Nutzer ist von Beruf Kranführer und wohnt am Hafen.",
            "I am a crane driver and live at the port",
        ),
        ("support", "The user owns a motorbike.", "I had a lovely evening with my parents."),
        ("meta", "The user asked about the weather.", "what is the weather like? I need an umbrella"),
        ("meta", "The message contains no facts.", "I had a lovely message of facts"),
        ("subject", "The user works nights at the port.", "Priya works nights at the port."),
        ("subject", "The user turns 80 in July.", "I'm here for my dad, he turns 80 in July"),
    ],
)
def test_what_it_does_not_say_is_caught(flaw: str, statement: str, message: str) -> None:
    assert find_flaw(statement, source(message)) == flaw


def test_a_name_of_the_examples_is_a_leak_unless_it_was_said() -> None:
    assert find_flaw("The user lives in Vostrel.", source("I live by the sea", marks=("Vostrel",))) == "leak"
    assert find_flaw("The user lives in Vostrel.", source("I live in Vostrel", marks=("Vostrel",))) == ""


def test_the_date_of_the_clause_that_a_statement_comes_from_can_be_told() -> None:
    said = source("yesterday (2026-03-10) I moved to Ghent, and I still drink tea")
    assert dates_beside("The user moved to Ghent.", said) == {"2026-03-10"}
    assert dates_beside("The user drinks tea.", said) == frozenset()


def test_a_name_may_come_from_what_was_said_before() -> None:
    said = source("he is really good at this, he bakes rye bread", context="User: my brother Oswin joined the brigade")
    assert find_flaw("Oswin bakes rye bread.", said) == ""


def test_a_faulty_statement_gives_way_to_the_persons_own_sentence() -> None:
    message = "Nice weather. I haven't eaten meat for two years. See you!"
    checked = check("The user ate meat for two years.", source(message))
    assert (checked.text, checked.flaw) == ("I haven't eaten meat for two years.", "negation")


def test_an_invented_statement_is_dropped() -> None:
    assert check("The user owns a motorbike.", source("I had a lovely evening with my parents.")).text == ""


def test_of_a_statement_with_a_secret_only_the_clauses_without_it_stay() -> None:
    said = source("I moved to Ghent and my wifi password is [secret].")
    kept = check("The user has moved to Ghent, and the wifi password is [secret]", said)
    assert kept.text == "The user has moved to Ghent"
    assert check("The user's wifi password is [secret].", said).text == ""
    assert own_words("The wifi password is [secret]", said) == ""
    assert check("The user's wifi password is tomorrow (2026-06-16).", said).flaw == "secret"


@pytest.mark.parametrize(
    ("statement", "message", "expected"),
    [
        ("The user wants a quiet place.", "I'm a paralegal. Where can I find a quiet place?", True),
        ("The user wants to fix the error.", "yep was an error. fixed, cheers", True),
        ("The user needs gluten-free food.", "I need gluten-free food.", False),
        ("The user is a paralegal.", "I'm a paralegal. Where can I sit?", False),
        ("El usuario quiere dormir.", "Tengo un perro. ¿Dónde puedo dormir?", True),
    ],
)
def test_what_the_message_asks_for_is_no_wish_of_the_user(statement: str, message: str, expected: bool) -> None:
    assert only_repeats_a_request(statement, source(message)) is expected


def test_an_assistant_must_say_something_that_the_user_had_not_and_that_its_message_holds() -> None:
    said = "please enter boots 27.5 and weight 81"
    assert only_confirms("The assistant entered everything into the system.", "Done, I have entered it.", said, "en")
    assert only_confirms("The assistant entered weight 81.", "I entered weight 81.", said, "en")
    assert not only_confirms("The assistant deleted old snapshots.", "I deleted the old snapshots.", said, "en")


def test_repetitions_count_once_whatever_their_end() -> None:
    assert without_repetition(["The user keeps bees.", "The user keeps bees", "The user has a cat."]) == [
        "The user keeps bees.",
        "The user has a cat.",
    ]


@given(st.text(max_size=200), st.text(max_size=200))
def test_nothing_raises_and_what_is_kept_is_the_statement_or_stands_in_the_message(
    statement: str, message: str
) -> None:
    kept = check(statement, source(message)).text
    assert kept in (" ".join(statement.split()), "") or kept in message or kept in " ".join(statement.split())
