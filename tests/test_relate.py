"""Which statements may mean the same, and which may end another: look-alikes must stay apart."""

from datetime import UTC, datetime

import pytest

from mcp_memory.records import FactType
from mcp_memory.relate import Comparison, Told, Verdict, disposed, is_alike, may_end, may_merge
from mcp_memory.text import detect_language

AT = datetime(2026, 3, 9, tzinfo=UTC)
CLOSE = 0.9


def told(text: str, fact_type: FactType = "other", subject: str = "the user", relation: str = "") -> Told:
    return Told(text, detect_language(text), AT, "fact", subject, fact_type, relation)


def ruled(said: Comparison, earlier: Told, later: Told, similarity: float = CLOSE) -> Verdict:
    """What stands of a verdict where the later statement is the new one."""
    return disposed(said, earlier, later, is_mergeable=may_merge(later, earlier, similarity))


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
        (
            told("Der Nutzer fährt einen Škoda Fabia.", "uses"),
            told("Der Nutzer hat den Fabia verkauft und fährt jetzt einen Fiat.", "other"),
            ("Škoda Fabia", "Fiat"),
        ),
        (
            told("The user's train to Lille leaves on 4 May 2026.", "time", "the user's train to Lille"),
            told("The user's train to Lille has been postponed to 6 May 2026.", "time", "the user's train to Lille"),
            ("4 May 2026", "6 May 2026"),
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
        "sold, and another one now",
        "put off",
    ],
)
def test_a_new_value_of_what_there_is_one_of_or_a_change_in_words_ends_the_old(
    earlier: Told, later: Told, values: tuple[str, str]
) -> None:
    assert ruled(Comparison("changed", *values), earlier, later) == "changed"


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
    assert ruled(Comparison("changed", *values), earlier, later) == "other"


def test_the_same_needs_nearness_too() -> None:
    one, other = told("The user is allergic to penicillin."), told("The user has a penicillin allergy.")
    said = Comparison("same", "penicillin", "penicillin")
    assert ruled(said, one, other, CLOSE) == "same"
    assert ruled(said, one, other, 0.2) == "other"


def test_a_changed_value_that_is_the_old_one_is_the_same() -> None:
    one, other = told("The user is allergic to penicillin."), told("The user has a penicillin allergy.")
    assert ruled(Comparison("changed", "penicillin allergy", "penicillin"), one, other) == "same"


def described(text: str, what: str) -> Told:
    """A statement with "type@subject#relation", of which type alone means the user."""
    fact_type, at, rest = what.partition("@")
    subject, _, relation = rest.partition("#")
    # The type stands in the tables below, word for word.
    return told(text, fact_type or "other", subject if at else "the user", relation)  # type: ignore[arg-type]


# Earlier and later, the values that a model found, what each is described as ('' for the later: as the earlier).
LOOK_ALIKES = [
    ("The user plays the violin.", "The user started playing the piano.", "violin", "piano", "skill", ""),
    ("The user is allergic to nuts.", "The user is no longer allergic to cats.", "nuts", "cats", "health", ""),
    ("The user speaks French.", "The user began learning Greek.", "French", "Greek", "skill", ""),
    ("The user lives in Graz.", "The user moved the sofa to the garage.", "Graz", "garage", "home", "owns"),
    ("The user has a cat.", "The user now has a dog.", "cat", "dog", "pet", ""),
    (
        "The user's mother lives in Graz.",
        "The user's mother sold a car in Turin.",
        "Graz",
        "Turin",
        "home@the user's mother",
        "owns@the user's mother",
    ),
    (
        "The user's mother lives in Graz.",
        "The user's mother retired.",
        "Graz",
        "retired",
        "home@the user's mother",
        "job@the user's mother",
    ),
    (
        "The user's mother lives in Graz.",
        "The user's mother changed jobs.",
        "Graz",
        "jobs",
        "home@the user's mother",
        "job@the user's mother",
    ),
    (
        "The user's mother lives in Graz.",
        "The user's mother now teaches in Graz.",
        "Graz",
        "teaches in Graz",
        "home@the user's mother",
        "job@the user's mother",
    ),
    (
        "The user's sister has a cat.",
        "The user's sister changed jobs.",
        "cat",
        "jobs",
        "pet@the user's sister",
        "job@the user's sister",
    ),
    (
        "The user is a member of a rowing club.",
        "The user joined a chess club.",
        "rowing club",
        "chess club",
        "habit",
        "",
    ),
    ("The user works at Bosch.", "The user sold the boat to Bosch.", "Bosch", "boat", "employer", "owns"),
    ("The user takes 5 mg of ramipril.", "The user again takes ibuprofen.", "ramipril", "ibuprofen", "health", ""),
    ("The user eats meat.", "The user does not eat meat at work.", "meat", "meat", "diet", ""),
    ("The user works at Siemens.", "The user quit the chess club.", "Siemens", "chess club", "employer", "habit"),
    ("The user has two cats.", "The user lost a set of keys.", "cats", "keys", "pet", "owns"),
    ("The user's rent is 1,500 euros.", "The user's rent is 500 euros.", "1,500 euros", "500 euros", "other", ""),
    ("The user runs version 1.2 of Zed.", "The user runs version 2 of Zed.", "1.2", "2", "other", ""),
    ("The coffee costs 1.5 euros.", "The coffee costs 5 euros.", "1.5 euros", "5 euros", "other", ""),
    ("The user has yoga every Monday.", "The user has yoga every Tuesday.", "Monday", "Tuesday", "habit", ""),
    ("The user has a red scarf.", "The user has a blue scarf.", "red scarf", "blue scarf", "owns", ""),
    ("The user likes red wine.", "The user likes white wine.", "red wine", "white wine", "likes", ""),
    (
        "The user takes the pill before breakfast.",
        "The user takes the pill after breakfast.",
        "before",
        "after",
        "other",
        "",
    ),
    ("The user runs in the morning.", "The user runs in the evening.", "morning", "evening", "habit", ""),
    ("The user lives in Graz.", "The user works in Graz.", "Graz", "Graz", "home", "job"),
    ("The user lives in Graz.", "The user lived in Graz.", "Graz", "Graz", "home", "home"),
    ("Der Nutzer spielt Geige.", "Der Nutzer hat mit Klavier angefangen.", "Geige", "Klavier", "skill", ""),
    ("Der Nutzer isst Käse.", "Der Nutzer isst kein Fleisch mehr.", "Käse", "Fleisch", "diet", ""),
    ("El usuario toca el violín.", "El usuario empezó a tocar el piano.", "violín", "piano", "skill", ""),
    ("L'utilisateur mange du fromage.", "L'utilisateur ne mange plus de viande.", "fromage", "viande", "diet", ""),
    ("L'utente suona il violino.", "L'utente ha iniziato a suonare il piano.", "violino", "piano", "skill", ""),
    ("O usuário come queijo.", "O usuário não come mais carne.", "queijo", "carne", "diet", ""),
    ("Пользователь играет на скрипке.", "Пользователь начал играть на пианино.", "скрипке", "пианино", "skill", ""),
    ("用户对坚果过敏。", "用户不再对猫过敏。", "坚果", "猫", "health", ""),
    ("ユーザーはりんごを食べる。", "ユーザーはもうみかんを食べない。", "りんご", "みかん", "diet", ""),
    ("المستخدم يعزف الكمان.", "المستخدم بدأ يعزف البيانو.", "الكمان", "البيانو", "skill", ""),
]
CHANGES = [
    ("The user lives in Graz.", "The user lives in Turin.", "Graz", "Turin", "home", "home"),
    ("The user lives in Graz.", "The user moved to Turin.", "Graz", "Turin", "home", "home"),
    ("The user lives in Graz.", "The user moved from Graz to Turin.", "Graz", "Turin", "home", ""),
    ("The user uses VS Code.", "The user switched from VS Code to Zed.", "VS Code", "Zed", "uses", "uses"),
    ("The user smokes.", "The user no longer smokes.", "smokes", "no longer smokes", "habit", "habit"),
    ("The user eats meat.", "The user does not eat meat.", "meat", "no meat", "diet", "diet"),
    ("The user eats meat.", "The user stopped eating meat.", "meat", "stopped", "diet", "diet"),
    ("The wifi password is plum.", "The user changed the wifi password to fig.", "plum", "fig", "other@", ""),
    (
        "The wifi password is plum.",
        "The user changed the wifi password.",
        "plum",
        "changed the wifi password",
        "other@",
        "",
    ),
    ("The user works at Siemens.", "The user now works at Bosch.", "Siemens", "Bosch", "employer", "employer"),
    ("The user works at Siemens.", "The user quit Siemens.", "Siemens", "quit Siemens", "employer", "employer"),
    ("The user works at Siemens.", "The user left Siemens for Bosch.", "Siemens", "Bosch", "employer", "employer"),
    ("The user works as a nurse.", "The user works as a head nurse.", "nurse", "head nurse", "job", "job"),
    ("The user is an engineer.", "The user is now a chief engineer.", "engineer", "chief engineer", "job", "job"),
    (
        "The user's brother Tom lives in Rome.",
        "Tom moved to Milan.",
        "Rome",
        "Milan",
        "home@the user's brother Tom",
        "home@Tom",
    ),
    (
        "The user's rent is 850 euros.",
        "The user's rent rose to 920 euros.",
        "850 euros",
        "920 euros",
        "amount@the user#rent",
        "amount@the user#rent",
    ),
    ("The user has a car.", "The user sold the car.", "car", "sold", "owns", "owns"),
    ("Der Nutzer raucht.", "Der Nutzer raucht nicht mehr.", "raucht", "nicht mehr", "habit", "habit"),
    ("Der Nutzer isst Fleisch.", "Der Nutzer isst kein Fleisch mehr.", "Fleisch", "kein Fleisch mehr", "diet", "diet"),
    ("Der Nutzer wohnt in Graz.", "Der Nutzer ist nach Turin gezogen.", "Graz", "Turin", "home", "home"),
    ("El usuario fuma.", "El usuario ya no fuma.", "fuma", "ya no fuma", "habit", "habit"),
    ("L'utilisateur fume.", "L'utilisateur ne fume plus.", "fume", "ne fume plus", "habit", "habit"),
    ("L'utente fuma.", "L'utente non fuma più.", "fuma", "non fuma più", "habit", "habit"),
    ("Пользователь курит.", "Пользователь больше не курит.", "курит", "не курит", "habit", "habit"),
    ("用户抽烟。", "用户不再抽烟。", "抽烟", "不再抽烟", "habit", "habit"),
    ("用户吃肉。", "用户不吃肉。", "吃肉", "不吃肉", "diet", "diet"),
    ("ユーザーはタバコを吸う。", "ユーザーはもうタバコを吸わない。", "タバコを吸う", "吸わない", "habit", "habit"),
    ("المستخدم يدخن.", "المستخدم لم يعد يدخن.", "يدخن", "لم يعد يدخن", "habit", "habit"),
    ("El usuario usa VS Code.", "El usuario cambió VS Code por Zed.", "VS Code", "Zed", "uses", "uses"),
    ("Пользователь живёт в Граце.", "Пользователь переехал в Турин.", "Граце", "Турин", "home", "home"),
    ("用户住在北京。", "用户搬到了上海。", "北京", "上海", "home", "home"),
]
REPETITIONS = [
    ("The user's dog is called Bruno.", "The user has a dog named Bruno."),
    ("The user is allergic to penicillin.", "The user has a penicillin allergy."),
    ("Ana was born on 9 November 1988.", "Ana's date of birth is 1988-11-09."),
    ("The user lives in Turin.", "The user's home is in Turin."),
    ("The user never drinks coffee.", "The user does not drink coffee."),
    ("The user's rent is 1500 euros.", "The rent of the user is 1,500 euros."),
    ("The user works at Siemens.", "The user has a job at Siemens."),
    ("Der Nutzer hat einen Hund namens Bruno.", "Der Hund des Nutzers heißt Bruno."),
    ("El perro del usuario se llama Bruno.", "El usuario tiene un perro llamado Bruno."),
    ("Le chien de l'utilisateur s'appelle Bruno.", "L'utilisateur a un chien nommé Bruno."),
    ("Il cane dell'utente si chiama Bruno.", "L'utente ha un cane chiamato Bruno."),
    ("O cachorro do usuário se chama Bruno.", "O usuário tem um cachorro chamado Bruno."),
    ("У пользователя есть собака по имени Бруно.", "Собаку пользователя зовут Бруно."),
    ("用户对海鲜过敏。", "用户有海鲜过敏。"),
    ("ユーザーは猫を飼っている。", "ユーザーは猫を飼っています。"),
]


@pytest.mark.parametrize("verdict", ["same", "changed", "other"])
@pytest.mark.parametrize(("one", "other", "value", "other_value", "what", "other_what"), LOOK_ALIKES)
def test_a_look_alike_is_neither_merged_nor_ended_by_any_verdict(
    one: str, other: str, value: str, other_value: str, what: str, other_what: str, verdict: Verdict
) -> None:
    earlier, later = described(one, what), described(other, other_what or what)
    assert ruled(Comparison(verdict, value, other_value), earlier, later) == "other"


@pytest.mark.parametrize(("one", "other", "value", "other_value", "what", "other_what"), CHANGES)
def test_what_has_changed_is_asked_about_and_ends(
    one: str, other: str, value: str, other_value: str, what: str, other_what: str
) -> None:
    earlier, later = described(one, what), described(other, other_what)
    assert may_end(earlier, later)
    assert ruled(Comparison("changed", value, other_value), earlier, later) == "changed"
    assert ruled(Comparison("other", value, other_value), earlier, later) == "other"


@pytest.mark.parametrize(("one", "other"), REPETITIONS)
def test_the_same_in_other_words_is_merged(one: str, other: str) -> None:
    assert ruled(Comparison("same", "", ""), told(one), told(other)) == "same"


def test_a_promotion_is_a_change_and_its_return_says_no_more() -> None:
    nurse, head = told("The user works as a nurse.", "job"), told("The user works as a head nurse.", "job")
    assert ruled(Comparison("changed", "nurse", "head nurse"), nurse, head) == "changed"
    assert ruled(Comparison("changed", "head nurse", "nurse"), head, nurse) == "same"


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("The rent is 1,500 euros.", "The rent is 1.500 euros.", True),
        ("The rent is 1,500 euros.", "The rent is 1500 euros.", True),
        ("It weighs 1,5 kg.", "It weighs 1.5 kg.", True),
        ("It weighs 1,5 kg.", "It weighs 15 kg.", False),
        ("The shop closes at 22:00.", "The shop closes at 22:30.", False),
        ("The user has a flat of 1 room.", "The user has a flat of 2 rooms.", False),
    ],
)
def test_a_number_is_read_whole_in_any_spelling(one: str, other: str, is_one: bool) -> None:
    assert is_alike(told(one), told(other)) == is_one
