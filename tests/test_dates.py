"""Relative dates in a text, resolved against the day on which it was said."""

import time
from datetime import UTC, datetime

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.date_words import LANGUAGES
from mcp_memory.dates import annotate, resolve
from mcp_memory.written_dates import dates_in

# A Wednesday.
SAID = datetime(2026, 3, 11, 15, 30, tzinfo=UTC)
LAST_WEEK, THIS_WEEK, NEXT_WEEK = "2026-03-02 to 2026-03-08", "2026-03-09 to 2026-03-15", "2026-03-16 to 2026-03-22"
WEEKEND, LAST_WEEKEND = "2026-03-14 to 2026-03-15", "2026-03-07 to 2026-03-08"


def isos(text: str, said_at: datetime = SAID) -> list[str]:
    return [mention.iso for mention in resolve(text, said_at)]


# Each language

ENGLISH = [
    ("I see her today", "2026-03-11"),
    ("I saw her yesterday", "2026-03-10"),
    ("Tomorrow we fly", "2026-03-12"),
    ("the day before yesterday it rained", "2026-03-09"),
    ("the day after tomorrow", "2026-03-13"),
    ("see you tonight", "2026-03-11"),
    ("I slept badly last night", "2026-03-10"),
    ("this morning I ran", "2026-03-11"),
    ("tomorrow morning", "2026-03-12"),
    ("yesterday's meeting", "2026-03-10"),
    ("two days ago", "2026-03-09"),
    ("3 weeks ago", "2026-02-18"),
    ("a month ago", "2026-02-11"),
    ("twelve years ago", "2014"),
    ("it starts in 3 days", "2026-03-14"),
    ("in two weeks we move", "2026-03-25"),
    ("I see her this Friday", "2026-03-13"),
    ("next Friday", "2026-03-20"),
    ("next Monday", "2026-03-16"),
    ("last Friday", "2026-03-06"),
    ("last Tuesday", "2026-03-10"),
    ("last Wednesday", "2026-03-04"),
    ("this Wednesday", "2026-03-11"),
    ("I see her on Friday", "2026-03-13"),
    ("I saw her on Friday", "2026-03-06"),
    ("On Friday, I went home", "2026-03-06"),
    ("I visited the museum on Monday", "2026-03-09"),
    ("I will go there on monday", "2026-03-16"),
    ("last week", LAST_WEEK),
    ("this week", THIS_WEEK),
    ("next week", NEXT_WEEK),
    ("this weekend", WEEKEND),
    ("last weekend", LAST_WEEKEND),
    ("last month", "2026-02"),
    ("next month", "2026-04"),
    ("last year", "2025"),
    ("next year", "2027"),
    ("we leave on 3 June", "2026-06-03"),
    ("the wedding is on June 3rd", "2026-06-03"),
    ("we met on the 3rd of June", "2025-06-03"),
    ("we met on 3 February", "2026-02-03"),
    ("we marry in May", "2026-05"),
    ("we married in May", "2025-05"),
    ("I live here since January", "2026-01"),
    ("on Friday, 13 March", "2026-03-13"),
]
GERMAN = [
    ("Heute regnet es", "2026-03-11"),
    ("Gestern war ich müde", "2026-03-10"),
    ("Ich fliege morgen nach Rom", "2026-03-12"),
    ("heute Morgen", "2026-03-11"),
    ("vorgestern", "2026-03-09"),
    ("übermorgen", "2026-03-13"),
    ("vor drei Tagen", "2026-03-08"),
    ("vor einer Woche", "2026-03-04"),
    ("in 2 Monaten", "2026-05-11"),
    ("letzten Freitag", "2026-03-06"),
    ("diesen Freitag", "2026-03-13"),
    ("kommenden Freitag", "2026-03-13"),
    ("Wir treffen uns am Freitag", "2026-03-13"),
    ("Ich habe sie am Freitag gesehen", "2026-03-06"),
    ("Am Montag war ich krank", "2026-03-09"),
    ("nächste Woche", NEXT_WEEK),
    ("letzten Monat", "2026-02"),
    ("nächstes Jahr", "2027"),
    ("Sie kommt am 3. Juni", "2026-06-03"),
    ("Wir heiraten im Mai", "2026-05"),
    ("seit Januar", "2026-01"),
]
SPANISH = [
    ("hoy llueve", "2026-03-11"),
    ("ayer la vi", "2026-03-10"),
    ("mañana por la mañana", "2026-03-12"),
    ("pasado mañana", "2026-03-13"),
    ("anteayer", "2026-03-09"),
    ("hace tres días", "2026-03-08"),
    ("dentro de dos semanas", "2026-03-25"),
    ("el viernes pasado", "2026-03-06"),
    ("este viernes", "2026-03-13"),
    ("la veo el viernes", "2026-03-13"),
    ("la semana que viene", NEXT_WEEK),
    ("el mes pasado", "2026-02"),
    ("el próximo año", "2027"),
    ("la boda es el 3 de junio", "2026-06-03"),
    ("nos casamos en mayo", "2026-05"),
    ("desde enero", "2026-01"),
    ("fuimos al cine el viernes", "2026-03-06"),
    ("el lunes compré un coche", "2026-03-09"),
    ("hoy a las cinco", "2026-03-11"),
]
FRENCH = [
    ("aujourd'hui il pleut", "2026-03-11"),
    ("je l'ai vue hier soir", "2026-03-10"),
    ("demain matin", "2026-03-12"),
    ("avant-hier", "2026-03-09"),
    ("après-demain", "2026-03-13"),
    ("il y a trois jours", "2026-03-08"),
    ("dans deux semaines", "2026-03-25"),
    ("vendredi dernier", "2026-03-06"),
    ("ce vendredi", "2026-03-13"),
    ("je la vois vendredi", "2026-03-13"),
    ("je suis allé au cinéma vendredi", "2026-03-06"),
    ("la semaine prochaine", NEXT_WEEK),
    ("le mois dernier", "2026-02"),
    ("l'année prochaine", "2027"),
    ("le mariage est le 3 juin", "2026-06-03"),
    ("on se marie en mai", "2026-05"),
    ("depuis janvier", "2026-01"),
]
ITALIAN = [
    ("oggi piove", "2026-03-11"),
    ("ieri sera", "2026-03-10"),
    ("domani parto", "2026-03-12"),
    ("l'altro ieri", "2026-03-09"),
    ("dopodomani", "2026-03-13"),
    ("tre giorni fa", "2026-03-08"),
    ("fra due settimane", "2026-03-25"),
    ("venerdì scorso", "2026-03-06"),
    ("questo venerdì", "2026-03-13"),
    ("la vedo venerdì", "2026-03-13"),
    ("sono andato al cinema venerdì", "2026-03-06"),
    ("la settimana prossima", NEXT_WEEK),
    ("il mese scorso", "2026-02"),
    ("l'anno prossimo", "2027"),
    ("il matrimonio è il 3 giugno", "2026-06-03"),
    ("ci sposiamo a maggio", "2026-05"),
]
PORTUGUESE = [
    ("hoje chove", "2026-03-11"),
    ("ontem à noite", "2026-03-10"),
    ("amanhã vou viajar", "2026-03-12"),
    ("anteontem", "2026-03-09"),
    ("depois de amanhã", "2026-03-13"),
    ("há três dias", "2026-03-08"),
    ("daqui a duas semanas", "2026-03-25"),
    ("na sexta-feira passada", "2026-03-06"),
    ("esta sexta-feira", "2026-03-13"),
    ("vejo a Ana na sexta-feira", "2026-03-13"),
    ("comprei um carro na sexta-feira", "2026-03-06"),
    ("na semana que vem", NEXT_WEEK),
    ("no mês passado", "2026-02"),
    ("no ano que vem", "2027"),
    ("o casamento é em 3 de junho", "2026-06-03"),
    ("casamos em maio", "2026-05"),
]
RUSSIAN = [
    ("сегодня дождь", "2026-03-11"),
    ("вчера вечером", "2026-03-10"),
    ("завтра я лечу", "2026-03-12"),
    ("позавчера", "2026-03-09"),
    ("послезавтра", "2026-03-13"),
    ("три дня назад", "2026-03-08"),
    ("неделю назад", "2026-03-04"),
    ("через две недели", "2026-03-25"),
    ("в прошлую пятницу", "2026-03-06"),
    ("в следующую пятницу", "2026-03-20"),
    ("увижу её в пятницу", "2026-03-13"),
    ("мы встретились в пятницу", "2026-03-06"),
    ("на следующей неделе", NEXT_WEEK),
    ("в прошлом месяце", "2026-02"),
    ("в следующем году", "2027"),
    ("свадьба 3 июня", "2026-06-03"),
    ("мы поженимся в мае", "2026-05"),
]
CHINESE = [
    ("今天下雨", "2026-03-11"),
    ("昨天我见了她", "2026-03-10"),
    ("我明天去北京", "2026-03-12"),
    ("前天", "2026-03-09"),
    ("后天", "2026-03-13"),
    ("三天前", "2026-03-08"),
    ("两周后", "2026-03-25"),
    ("上周五", "2026-03-06"),
    ("下周五", "2026-03-20"),
    ("这周五", "2026-03-13"),
    ("我周五去看她", "2026-03-13"),
    ("我星期五见了她", "2026-03-06"),
    ("下周", NEXT_WEEK),
    ("这个周末", WEEKEND),
    ("上个月", "2026-02"),
    ("明年", "2027"),
    ("婚礼在6月3日", "2026-06-03"),
    ("我们在五月结婚", "2026-05"),
]
JAPANESE = [
    ("今日は雨です", "2026-03-11"),
    ("昨日彼女に会いました", "2026-03-10"),
    ("明日行きます", "2026-03-12"),
    ("おとといです", "2026-03-09"),
    ("あさってです", "2026-03-13"),
    ("3日前に会いました", "2026-03-08"),
    ("二週間後に会います", "2026-03-25"),
    ("先週の金曜日です", "2026-03-06"),
    ("来週の金曜日です", "2026-03-20"),
    ("金曜日に会います", "2026-03-13"),
    ("金曜日に会いました", "2026-03-06"),
    ("土曜日に映画を見た。", "2026-03-07"),
    ("来週です", NEXT_WEEK),
    ("先月です", "2026-02"),
    ("来年です", "2027"),
    ("結婚式は6月3日です", "2026-06-03"),
    ("5月に結婚します", "2026-05"),
]
ARABIC = [
    ("سأذهب اليوم", "2026-03-11"),
    ("رأيتها أمس", "2026-03-10"),
    ("سأسافر غدا", "2026-03-12"),
    ("أول أمس", "2026-03-09"),
    ("بعد غد", "2026-03-13"),
    ("قبل ثلاثة أيام", "2026-03-08"),
    ("قبل يومين", "2026-03-09"),
    ("سأسافر بعد أسبوعين", "2026-03-25"),
    ("يوم الجمعة الماضي", "2026-03-06"),
    ("سأراها يوم الجمعة", "2026-03-13"),
    ("الأسبوع القادم", NEXT_WEEK),
    ("الشهر الماضي", "2026-02"),
    ("العام المقبل", "2027"),
    ("سنتزوج في 3 يونيو", "2026-06-03"),
    ("منذ يناير", "2026-01"),
]
TABLES = [ENGLISH, GERMAN, SPANISH, FRENCH, ITALIAN, PORTUGUESE, RUSSIAN, CHINESE, JAPANESE, ARABIC]


@pytest.mark.parametrize(("text", "iso"), [case for table in TABLES for case in table])
def test_a_relative_date_is_resolved(text: str, iso: str) -> None:
    assert isos(text) == [iso]


# What stays as it is


@pytest.mark.parametrize(
    "text",
    [
        # Absolute already.
        "on 3 June 2026",
        "on June 3rd, 2026",
        "in May 2025",
        "in May of 2025",
        "im Mai 2025",
        "en mayo de 2025",
        "am 3. Juni 2025",
        "2025年6月3日",
        "2025年5月に会いました",
        "on Friday, 13 March 2026",
        "on Friday 2026-03-13",
        "in 2019 we met on Friday",
        # Annotated already.
        "I see her this Friday (2026-03-13)",
        "next week (2026-03-16 to 2026-03-22)",
        "明天（2026-03-12）",
        # Names, verbs and titles.
        "May I come in?",
        "they march on",
        "in march order",
        "April Jones called",
        "in April Jones's house",
        "June is my aunt",
        "Psychology Today",
        "we watch Last Week Tonight",
        "I read USA Today",
        "may 5 people come",
        "march 3 miles",
        # Numbers, versions, ranges.
        "version 3.6 of the tool",
        "2.5 years ago",
        "2-3 days ago",
        "two or three days ago",
        "twenty two days ago",
        "a hundred and two days ago",
        "3-5 June",
        "June 3-5",
        "1/3 June",
        "十几天前",
        "二十天前",
        # Inside URLs, addresses and code.
        "see https://example.org/today and www.example.org/next week/",
        "`git log --since yesterday`",
        "```\nlast week\n```",
        "today@example.org",
        "read /tmp/today.txt and #today",
        # Habits, spans, and what two people read differently.
        "every Friday",
        "on Fridays",
        "le vendredi je nage",
        "el viernes santo",
        "per 3 days",
        "guten Morgen",
        "am Morgen",
        "por la mañana",
        "hoy en día",
        "il y a 3 jours dans la liste",
        "once in 3 days",
        "we did it in 3 days",
        "the last week of May",
        "over the last year",
        "nächsten Freitag",
        "el próximo viernes",
        "on Wednesday",
        "he said he comes on Friday",
        "每周五",
        "毎週金曜日に行きます",
        "一周一次",
        "以前天天去",
        "明日香です",
        "今年度です",
        "في اليوم التالي",
        "on 30 February",
        "on 9 March",
        "hier",
        "He was born on 3 June",
        "on Monday to Wednesday",
        "hier ist es schön",
    ],
)
def test_what_is_no_certain_relative_date_stays_as_it_is(text: str) -> None:
    assert isos(text) == []
    assert annotate(text, SAID) == text


def test_a_weekday_next_to_a_week_is_left_to_the_week() -> None:
    assert isos("on Friday next week") == [NEXT_WEEK]
    assert isos("in May next year") == ["2027"]
    assert isos("去年5月") == ["2025"]
    assert isos("three years ago in May") == ["2023"]


@pytest.mark.parametrize("code", sorted(LANGUAGES))
def test_every_language_has_its_seven_weekdays_and_twelve_months(code: str) -> None:
    words = LANGUAGES[code]
    assert (len(words.weekdays.split()), len(words.months.split())) == (7, 12)


# The calendar


@pytest.mark.parametrize(
    ("text", "said", "iso"),
    [
        ("in one month", "2026-01-31", "2026-02-28"),
        ("in one month", "2028-01-31", "2028-02-29"),
        ("a month ago", "2026-03-31", "2026-02-28"),
        ("tomorrow", "2026-12-31", "2027-01-01"),
        ("next month", "2026-12-31", "2027-01"),
        ("last month", "2026-01-31", "2025-12"),
        ("this week", "2026-01-01", "2025-12-29 to 2026-01-04"),
        ("last Friday", "2026-03-14", "2026-03-13"),
        ("next Friday", "2026-03-15", "2026-03-20"),
        ("we meet on 29 February", "2028-02-01", "2028-02-29"),
        ("two years ago", "2028-02-29", "2026"),
    ],
)
def test_the_edges_of_months_and_years_are_kept(text: str, said: str, iso: str) -> None:
    assert isos(text, datetime.fromisoformat(f"{said}T12:00:00+00:00")) == [iso]


def test_the_day_is_that_of_the_speaker_and_not_of_greenwich() -> None:
    assert isos("today", datetime.fromisoformat("2026-03-12T01:00:00+09:00")) == ["2026-03-12"]


def test_a_friday_gone_by_in_this_week_is_left_alone() -> None:
    assert isos("this Friday", datetime(2026, 3, 14, tzinfo=UTC)) == []


@pytest.mark.parametrize("year", [1, 9999])
def test_a_date_beyond_the_calendar_is_left_alone(year: int) -> None:
    said = datetime(year, 1 if year == 1 else 12, 1 if year == 1 else 31, tzinfo=UTC)
    for text in ("500 years ago, in 900 years", "yesterday and tomorrow", "last year", "next week", "we go on 3 June"):
        annotate(text, said)


# Annotations


def test_an_annotation_follows_the_words_it_explains() -> None:
    text = "Yesterday I met Ana, and next week we fly."
    assert annotate(text, SAID) == f"Yesterday (2026-03-10) I met Ana, and next week ({NEXT_WEEK}) we fly."


def test_mentions_keep_their_places_behind_an_annotation() -> None:
    text = "today (2026-03-11) and tomorrow"
    (mention,) = resolve(text, SAID)
    assert (text[mention.start : mention.end], mention.iso) == ("tomorrow", "2026-03-12")


WORDS = sorted(
    {word for table in TABLES for text, _ in table for word in (text, *text.split())}
    | {".", ",", "(", ")", "(2026-03-13)", " (2026)", "```", "`", "https://", "\n", "2026", "3", "-", "'s"}
)
texts = st.one_of(
    st.text(), st.lists(st.sampled_from(WORDS)).map(" ".join), st.lists(st.sampled_from(WORDS)).map("".join)
)
days = st.datetimes(timezones=st.just(UTC))


@given(texts, days)
def test_annotating_twice_is_annotating_once(text: str, said_at: datetime) -> None:
    once = annotate(text, said_at)
    assert annotate(once, said_at) == once


@given(texts.filter(lambda text: "(" not in text), days)
def test_a_text_without_its_annotations_is_the_text(text: str, said_at: datetime) -> None:
    iso = r"\d{4}(?:-\d\d){0,2}"
    assert regex.sub(rf" \({iso}(?: to {iso})?\)", "", annotate(text, said_at)) == text


@given(texts, days)
def test_mentions_are_in_order_and_do_not_overlap(text: str, said_at: datetime) -> None:
    ends = [0]
    for mention in resolve(text, said_at):
        assert ends[-1] <= mention.start < mention.end <= len(text)
        ends.append(mention.end)


# Absolute dates


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 2026-03-13.", {"2026-03-13"}),
        ("13 March 2026", {"2026-03-13"}),
        ("the 13th of March, 2026", {"2026-03-13"}),
        ("March 13th, 2026 and Mar 14, 2026", {"2026-03-13", "2026-03-14"}),
        ("13. März 2026", {"2026-03-13"}),
        ("13 de marzo de 2026", {"2026-03-13"}),
        ("13 mars 2026, le 1er mai 2026", {"2026-03-13", "2026-05-01"}),
        ("13 marzo 2026", {"2026-03-13"}),
        ("13 de março de 2026", {"2026-03-13"}),
        ("13 марта 2026 года", {"2026-03-13"}),
        ("2026年3月13日", {"2026-03-13"}),
        ("13 مارس 2026", {"2026-03-13"}),
        ("in May 2026 (2026-06)", {"2026-05", "2026-06"}),
        ("next week (2026-03-16 to 2026-03-22)", {"2026-03-16", "2026-03-22"}),
        ("2026-02-30, 31 June 2026, 2026-13-01, 12026-03-13", set()),
        ("tomorrow, in May, version 2026.3.13", set()),
    ],
)
def test_absolute_dates_are_found_in_a_text(text: str, expected: set[str]) -> None:
    assert dates_in(text) == expected


@given(texts)
def test_dates_in_any_text_are_real(text: str) -> None:
    for iso in dates_in(text):
        datetime.fromisoformat(iso if len(iso) == 10 else f"{iso}-01")


# Time


@pytest.mark.parametrize(
    "piece",
    [
        "I see her on Friday. ",
        "on Friday ",
        "yesterday we met in May and on 3 June, two days ago; ",
        "1 ",
        "1",
        "last ",
        "`",
        "(2026",
        "a",
        "前天",
        "金曜日に会いました",
        "in 3 in 3 days ",
        " ",
        "The quick brown fox jumps over the lazy dog and so on. ",
        "hat be",
        "3 3. of ",
        "www.@",
    ],
)
def test_a_long_text_takes_time_in_proportion(piece: str) -> None:
    text = (piece * (100_000 // len(piece) + 1))[:100_000]
    annotate("today", SAID)
    started = time.process_time()
    annotate(text, SAID)
    dates_in(text)
    # Several times what it takes: a busy machine is not to fail it, the square of the length is.
    assert time.process_time() - started < 10
