"""Which statements may mean the same, and which may end another: look-alikes must stay apart."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.records import FactType
from mcp_memory.relate import Comparison, Told, Verdict, disposed, is_alike, is_worth_asking
from mcp_memory.text import detect_language

AT = datetime(2026, 3, 9, tzinfo=UTC)
CLOSE = 0.9


def told(text: str, fact_type: FactType = "other", subject: str = "the user", relation: str = "") -> Told:
    return Told(text, detect_language(text), AT, "fact", subject, fact_type, relation)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana runs 5 km.", "Ana runs 10 km."),
        ("The user is called Jo.", "The user is called Joanna Reyes."),
        ("The user drinks coffee.", "The user never drinks coffee."),
        ("The flight leaves on 2026-03-04.", "The flight leaves on 2026-03-05."),
        ("Der Nutzer isst Fleisch.", "Der Nutzer isst kein Fleisch."),
        ("The user has two cats.", "The user has three cats."),
        ("On 2026-03-12 Ana ran 12 km.", "On 2026-03-12 Ana ran 26 km."),
        ("The shop is open from 9 to 17.", "The shop is open from 17 to 9."),
    ],
)
def test_a_number_a_date_a_name_or_a_not_sets_statements_apart(one: str, other: str) -> None:
    assert not is_alike(told(one), told(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user's dog is called Bruno.", "The user has a dog named Bruno."),
        ("The user never drinks coffee.", "The user does not drink coffee."),
        ("Ana was born on 9 November 1988.", "Ana's date of birth is 1988-11-09."),
        ("El usuario nació en Rosario.", "El usuario es de Rosario, nació allí."),
    ],
)
def test_other_words_alone_do_not_set_them_apart(one: str, other: str) -> None:
    assert is_alike(told(one), told(other))


@pytest.mark.parametrize(
    ("earlier", "later", "values"),
    [
        (told("The user lives in Graz.", "home"), told("The user lives in Turin.", "home"), ("Graz", "Turin")),
        (told("The user uses VS Code."), told("The user switched from VS Code to Zed."), ("VS Code", "Zed")),
        (told("The user smokes."), told("The user no longer smokes."), ("smokes", "no longer smokes")),
        (
            told("The user's rent is 850 euros.", "amount", relation="rent"),
            told("The user's rent is 920 euros.", "amount", relation="rent"),
            ("850 euros", "920 euros"),
        ),
        (told("The user eats meat."), told("The user does not eat meat."), ("eats meat", "does not eat meat")),
        (
            told("The user's brother Tom lives in Rome.", "home", "the user's brother Tom"),
            told("Tom moved to Milan.", "home", "Tom"),
            ("Rome", "Milan"),
        ),
        (
            told("I use VS Code.", subject=""),
            told("The user switched from VS Code to Zed.", "uses"),
            ("VS Code", "Zed"),
        ),
        (
            told("The wifi password is plum.", subject=""),
            told("The user changed the wifi password to fig."),
            ("plum", "fig"),
        ),
    ],
    ids=[
        "one home",
        "a change in words",
        "an end in words",
        "one rent",
        "a denial",
        "a name and its title",
        "a person's own words",
        "what the user did with it",
    ],
)
def test_a_new_value_of_what_there_is_one_of_or_a_change_in_words_ends_the_old(
    earlier: Told, later: Told, values: tuple[str, str]
) -> None:
    assert disposed(Comparison("changed", *values), earlier, later, 0.5) == "changed"


@pytest.mark.parametrize(
    ("earlier", "later", "values"),
    [
        (
            told("The user has a sister Anna.", "family"),
            told("The user has a sister Clara.", "family"),
            ("Anna", "Clara"),
        ),
        (told("The user likes jazz.", "likes"), told("The user likes techno.", "likes"), ("jazz", "techno")),
        (
            told("The user lives in Graz.", "home"),
            told("The user would like to live in Turin.", "home"),
            ("Graz", "Turin"),
        ),
        (
            told("The user lived in Paris until 2019.", "home"),
            told("The user lives in Lyon.", "home"),
            ("Paris", "Lyon"),
        ),
        (
            told("Garage 7 is let to Amos.", "home", "garage 7"),
            told("Garage 9 is now let to Amos.", "home", "garage 9"),
            ("Amos", "Amos"),
        ),
        (told("The user works in Bonn.", "job"), told("The user used to work in Linz.", "job"), ("Bonn", "Linz")),
        (
            told("The user's brother works at Siemens.", "employer", "the user's brother"),
            told("The user works at Bosch.", "employer"),
            ("Siemens", "Bosch"),
        ),
        (
            told("The user's rent is 850 euros.", "amount", relation="rent"),
            told("The user's salary is 2900 euros.", "amount", relation="salary"),
            ("850 euros", "2900 euros"),
        ),
        (told("The user lives in Graz.", "home"), told("The user lives in Turin.", "home"), ("Vienna", "Turin")),
        (
            told("The user works at Siemens.", "employer"),
            told("The user's brother quit Siemens.", subject=""),
            ("Siemens", "quit Siemens"),
        ),
        (
            told("The user works at Siemens.", subject=""),
            told("The user's brother quit Siemens.", subject=""),
            ("Siemens", "quit Siemens"),
        ),
        (
            told("Tom lives in Rome.", "home", "Tom"),
            told("Tom's dentist moved to Milan.", "home", "Tom's dentist"),
            ("Rome", "Milan"),
        ),
        (
            told("The user's sister Ana lives in Rome.", "home", "the user's sister Ana"),
            told("The user's sister Bea moved to Milan.", "home", "the user's sister Bea"),
            ("Rome", "Milan"),
        ),
        (
            told("The rent is 850 euros.", "amount", "the flat", "rent"),
            told("The rent deposit is 1700 euros.", "amount", "the flat", "rent deposit"),
            ("850 euros", "1700 euros"),
        ),
        (
            told("The user works at Siemens.", "employer"),
            told("The user does not work at Bosch.", "employer"),
            ("Siemens", "Bosch"),
        ),
    ],
    ids=[
        "two sisters",
        "two likes",
        "a wish",
        "over already",
        "another garage",
        "over then",
        "another person",
        "another amount",
        "invented value",
        "a brother nobody described",
        "a brother, and nobody described either",
        "somebody's dentist",
        "another sister",
        "a word in common",
        "a job that is not",
    ],
)
def test_look_alikes_stay_whatever_a_model_says(earlier: Told, later: Told, values: tuple[str, str]) -> None:
    assert disposed(Comparison("changed", *values), earlier, later, CLOSE) == "other"


def test_the_same_needs_nearness_too() -> None:
    one, other = told("The user is allergic to penicillin."), told("The user has a penicillin allergy.")
    said = Comparison("same", "penicillin", "penicillin")
    assert disposed(said, one, other, CLOSE) == "same"
    assert disposed(said, one, other, 0.2) == "other"


def test_a_changed_value_that_is_the_old_one_is_the_same() -> None:
    one, other = told("The user is allergic to penicillin."), told("The user has a penicillin allergy.")
    assert disposed(Comparison("changed", "penicillin allergy", "penicillin"), one, other, CLOSE) == "same"


@given(
    st.sampled_from(["same", "changed", "other"]),
    st.sampled_from(["The user likes jazz.", "The user lives in Graz.", "用户对海鲜过敏。", "Ana runs 5 km."]),
    st.sampled_from(["The user lives in Turin now.", "The user likes techno.", "用户有海鲜过敏。", "Ana runs 10 km."]),
    st.floats(-1, 1),
)
def test_a_pair_that_is_not_worth_asking_about_is_never_merged_or_ended(
    verdict: Verdict, one: str, other: str, similarity: float
) -> None:
    earlier, later = told(one), told(other)
    if not is_worth_asking(earlier, later, similarity):
        assert disposed(Comparison(verdict, one, other), earlier, later, similarity) == "other"
