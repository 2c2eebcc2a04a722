"""Words that say "changed", "planned" or "over", and the same words where they mean something else."""

import pytest

from mcp_memory.date_words import LANGUAGES
from mcp_memory.tense import (
    CHANGE_WORDS,
    OTHER_MEANINGS,
    PAST_WORDS,
    PLAN_WORDS,
    speaks_of_change,
    speaks_of_past,
    speaks_of_plans,
)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The user no longer smokes."),
        ("en", "The rent rose to 920 euros."),
        ("en", "Will left Bosch."),
        ("de", "Der Nutzer hat kein Auto mehr."),
        ("de", "Der Nutzer raucht nicht mehr."),
        ("de", "Der Nutzer trinkt Tee statt Kaffee."),
        ("fr", "L'utilisateur ne fume plus."),
        ("fr", "L’utilisatrice n’habite plus à Lyon."),
        ("fr", "Il n'en mange plus."),
        ("it", "L'utente non fuma più."),
        ("it", "L'utente non c'è più."),
        ("it", "L'utente ora vive a Torino."),
        ("pt", "A usuária não mora mais em Lisboa."),
        ("ru", "Аренда выросла на 5%."),
        ("zh", "用户搬到了上海。"),
        ("zh", "用户换了工作。"),
        ("zh", "用户辞职了。"),
        ("zh", "用户把车卖了。"),
        ("zh", "用户戒烟了。"),
        ("zh", "房租涨到五千。"),
        ("zh", "用户升为经理。"),
        ("zh", "会议改到周五。"),
        ("zh", "他变成了素食者。"),
        ("zh", "用户又去学画画了。"),
        ("ja", "もうタバコは吸わない。"),
        ("ja", "車を売った。"),
        ("ar", "غير عمله."),
    ],
)
def test_a_change_is_heard(language: str, text: str) -> None:
    assert speaks_of_change(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The user waits no longer than 5 minutes."),
        ("en", "The user is left-handed and has a bad left knee."),
        ("en", "The user takes the left turn past the bus stops."),
        ("en", "The user likes rose wine, and so does Rose."),
        ("en", "The user sings now and then."),
        ("de", "Der Nutzer zahlt nicht mehr als 5 Euro."),
        ("de", "Der Kurs findet dienstags statt."),
        ("de", "Der Nutzer hat immer wieder Kopfschmerzen."),
        ("de", "Der Nutzer kann sich auf Ana verlassen."),
        ("fr", "Sa voiture est plus grande."),
        ("fr", "Il court plus de 5 km."),
        ("fr", "Il ne court plus de 5 km que le dimanche."),
        ("fr", "Il n'aime pas plus le thé."),
        ("fr", "Il n'aime pas le vin non plus."),
        ("it", "La sua casa è più grande."),
        ("it", "L'utente non dorme più di 6 ore."),
        ("it", "L'utente corre un'ora al giorno."),
        ("it", "L’utente dorme mezz’ora dopo pranzo."),
        ("it", "È l'ora di cena."),
        ("pt", "O usuário não dorme mais de 6 horas."),
        ("ru", "Пользователь вырос в Казани."),
        ("zh", "用户想升学。"),
        ("zh", "女儿爱看变形金刚。"),
        ("zh", "用户在小卖部工作。"),
        ("zh", "用户的戒指是金的。"),
        ("zh", "用户管理交换机。"),
        ("zh", "用户每天点外卖了事。"),
        ("zh", "用户会降落伞运动。"),
        ("zh", "用户喝五升水。"),
        ("zh", "用户有一本辞典。"),
        ("zh", "他的狗又大又圆。"),
        ("ja", "紅茶または緑茶を飲む。"),
        ("ja", "もう一匹の猫を飼っている。"),
        ("ja", "味は変わらない。"),
        ("ja", "店でパンを売っている。"),
        ("ar", "المستخدم غير متزوج."),
    ],
)
def test_no_change_is_heard_where_the_word_means_something_else(language: str, text: str) -> None:
    assert not speaks_of_change(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The user will move to Oslo."),
        ("en", "Will will move to Oslo."),
        ("en", "Will move to Oslo in spring."),
        ("en", "The user may move in May."),
        ("en", "The house she lives in may be sold."),
        ("en", "I'll move to Oslo."),
        ("en", "The user is going to move."),
        ("de", "Der Nutzer will umziehen."),
        ("pt", "Se ela mudar, avisa."),
        ("zh", "用户想学法语。"),
        ("zh", "用户将搬去上海。"),
        ("ja", "京都に住みたい。"),
        ("ja", "もし雨なら行かない。"),
    ],
)
def test_a_plan_is_heard(language: str, text: str) -> None:
    assert speaks_of_plans(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Will is the user's brother."),
        ("en", "The user's brother Will works at Bosch."),
        ("en", "The user has made a will."),
        ("en", "The user's will names Ana."),
        ("en", "The user's birthday is on May 4."),
        ("en", "the user moved in may"),
        ("en", "the lease ends on 4 may"),
        ("en", "The user's lease ends in May (2026-05)."),
        ("en", "The user works one day a week."),
        ("en", "The user draws floor plans."),
        ("de", "Der Nutzer kämpft mit einer Sucht."),
        ("es", "La usuaria va a la piscina los lunes."),
        ("es", "El usuario piensa que el café es malo."),
        ("fr", "Elle va à la piscine le lundi."),
        ("pt", "O usuário se mudou para Lisboa."),
        ("pt", "Ana tornou-se chefe."),
        ("ru", "Пользователь думает, что кофе вреден."),
        ("zh", "用户的理想是和平。"),
        ("zh", "用户的爷爷是将军。"),
        ("zh", "用户爱打麻将。"),
        ("ja", "冷たい水が好き。"),
        ("ja", "猫みたいな犬。"),
        ("ja", "おもしろい本が好き。"),
    ],
)
def test_no_plan_is_heard_where_the_word_means_something_else(language: str, text: str) -> None:
    assert not speaks_of_plans(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The user lived in Paris until 2019."),
        ("en", "The user had a dog until 12 May 2020."),
        ("en", "The user smoked until 3 years ago."),
        ("en", "The user once owned a boat."),
        ("en", "The user used to smoke."),
        ("de", "Der Nutzer hatte bis 2019 einen Hund."),
        ("de", "Der Nutzer hatte bis 12. Mai 2020 einen Hund."),
        ("es", "El usuario tuvo un perro hasta 2019."),
        ("ru", "Пользователь держал собаку до 2019 года."),
        ("zh", "用户曾在北京工作。"),
        ("zh", "用户过去住在北京。"),
        ("ja", "去年まで京都で働いていた。"),
        ("ja", "京都に住んでいました。"),
    ],
)
def test_the_past_is_heard(language: str, text: str) -> None:
    assert speaks_of_past(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The user works until 5 pm."),
        ("en", "The user works till Friday."),
        ("en", "The shop is open until midnight."),
        ("en", "The user is in Oslo until next week."),
        ("en", "The user runs once a week."),
        ("en", "The user sings once in a while."),
        ("en", "The user calls once the train leaves."),
        ("en", "The user is used to cold winters."),
        ("en", "The user has lived in Graz since 2019."),
        ("de", "Der Nutzer arbeitet bis 17 Uhr."),
        ("de", "Der Nutzer arbeitet von Montag bis Freitag."),
        ("de", "Der Nutzer läuft fünf bis zehn Kilometer."),
        ("de", "Der Nutzer lebt bis heute in Graz."),
        ("es", "El usuario trabaja hasta las 5."),
        ("es", "La usuaria trabaja hasta el viernes."),
        ("es", "El usuario lee antes de dormir."),
        ("fr", "Il travaille jusqu'à 17 h."),
        ("it", "L'utente lavora fino al venerdì."),
        ("pt", "O usuário trabalha até às 17 horas."),
        ("ru", "Пользователь работает до пяти."),
        ("ru", "Пользователь идёт до работы пешком."),
        ("zh", "小曾是用户的同事。"),
        ("zh", "商店直到晚上九点才关门。"),
        ("zh", "用户走过去上班。"),
        ("ja", "月曜から金曜まで働く。"),
        ("ja", "9時から5時まで働く。"),
        ("ja", "駅まで歩く。"),
        ("ja", "新しい車を買いました。"),
        ("ar", "يعمل حتى الساعة 5."),
        ("ar", "يعمل حتى الخميس."),
    ],
)
def test_no_past_is_heard_where_the_word_means_something_else(language: str, text: str) -> None:
    assert not speaks_of_past(text, language)


def test_of_a_language_without_lists_nothing_is_heard() -> None:
    assert not speaks_of_change("De gebruiker rookt niet meer.", "nl")


def test_the_lists_are_of_languages_whose_days_and_numbers_are_known() -> None:
    assert {*CHANGE_WORDS, *PLAN_WORDS, *PAST_WORDS, *OTHER_MEANINGS} <= set(LANGUAGES)


def test_a_text_of_any_length_is_read_in_time() -> None:
    # Looking back without bounds would take minutes.
    assert not speaks_of_past("auf einem Weg findet " * 10_000, "de")
