"""What of a message is worth reading: not what was pasted, asked or said out of courtesy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.sift import (
    asks_to_remember,
    holds_only_pasted,
    is_mere_courtesy,
    is_only_asking,
    is_own_statement,
    is_riddle,
    readable,
    says_to_keep,
    sentences,
    without_pasted,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What's the capital of Peru?", True),
        ("Can I eat nuts with my allergy?", False),
        ("I moved. What's the capital of Peru?", False),
        ("¿Cuál es la capital de Perú?", True),
        ("秘鲁的首都是哪里？", True),
        ("我可以吃坚果吗？", False),
        ("", False),
    ],
)
def test_a_question_that_is_not_about_oneself_holds_nothing(text: str, expected: bool) -> None:
    assert is_only_asking(text) is expected


def test_a_request_on_ones_own_behalf_is_still_only_a_question() -> None:
    assert is_only_asking("Can you tell me what is wrong here?")
    assert is_only_asking("Kannst du mir das erklären?")
    assert not is_only_asking("Can you tell me what is wrong with my boiler?")


@pytest.mark.parametrize(
    "pasted",
    [
        "```\nmy_name = 'Ana'\n```",
        "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    main()\nKeyError: 'x'",
        "May 07 03:12:01 wx kernel: [ 2211.091] i2c timed out\nMay 07 03:12:06 wx bme280[412]: retry 1/5",
        "[09/06 02:14:55] ERROR rsync: No space left",
        "2026-03-11 10:00:00,123 INFO I am up",
        "function load(id){ return fetch('/api/'+id).then(r => r.json()) }",
        '"We moved to Vantaa last year and have never been happier there, my wife says."',
        "「私たちは去年ヴァンターに引っ越しました。そこではとても幸せです。妻もそう言っています。子どもたちもとても喜んでいて、毎日学校が楽しいと話してくれます。」",
    ],
)
def test_pasted_text_is_not_read_and_the_words_beside_it_are(pasted: str) -> None:
    assert readable(f"it is for my shop in Ghent\n{pasted}\nand I like tabs") == [
        "it is for my shop in Ghent",
        "and I like tabs",
    ]


@pytest.mark.parametrize(
    "said",
    [
        "# about me\ni live in Ghent",
        "#gardening is my hobby",
        "## diet\n- no nuts",
        'a 27" monitor and a 24" one, which I use side by side for the work that I do at home',
        "> 30 km a week is what I run",
    ],
)
def test_headings_remarks_and_inches_are_no_code_and_no_quotation(said: str) -> None:
    assert without_pasted(said) == said


def test_comments_within_code_and_quoted_mail_are_left_out() -> None:
    code = "# first\n# load it\nconfig = load(open(path), mode=[1])\n# then use it\n# with care\n"
    assert without_pasted(f"my script:\n{code}it works") == "my script:\n[code]\nit works"
    assert without_pasted("she wrote\n> i live in Ghent\n>\n> > Where?\nI don't") == "she wrote\n[quoted text]\nI don't"


def test_a_quotation_beside_inches_is_still_one() -> None:
    long = "We moved to Vantaa last year and have never been happier there, my wife says."
    assert without_pasted(f'on my 27" screen: "{long}"') == 'on my 27" screen: [quoted text]'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$ ls /srv\n$ df -h", True),
        ("Remember this:\n```\nport = 8080\n```", True),
        ("merk dir das:\n$ ls /srv", True),
        ("Remember that I use zsh:\n$ ls /srv", False),
        ("my script:\n$ ls /srv", False),
        ("what is wrong here?\n$ ls /srv", False),
        ("Remember this.", False),
        ("", False),
    ],
)
def test_a_text_may_be_pasted_but_for_the_order_to_keep_it(text: str, expected: bool) -> None:
    assert holds_only_pasted(text) is expected


def test_what_is_pasted_does_not_say_that_it_is_to_be_kept() -> None:
    assert says_to_keep("Remember this:\n$ ls /srv")
    assert not says_to_keep("```\n# don't forget the lock\n```")


@pytest.mark.parametrize(
    "said",
    [
        'my boat is called "Wandering Quince"',
        "I live in Ghent (since 2019), with two cats [Fig and Mortar].",
        "My number is 0171-555 and my size: 43; I like tea.",
        "Sept 3: I moved.",
    ],
)
def test_prose_is_left_as_it_is(said: str) -> None:
    assert without_pasted(said) == said


def test_a_sentence_does_not_end_inside_a_number_an_address_or_a_date() -> None:
    assert sentences("Its IP is 10.0.7.40. I am 1.84 m tall! Am 16. März fange ich an. 我住在上海。他不在。") == [
        "Its IP is 10.0.7.40.",
        "I am 1.84 m tall!",
        "Am 16. März fange ich an.",
        "我住在上海。",
        "他不在。",
    ]


def test_thanks_and_greetings_hold_nothing() -> None:
    assert all(is_mere_courtesy(text) for text in ("haha ok, thanks!", "谢谢🙏", "merci beaucoup", "👍", ""))
    assert not any(is_mere_courtesy(text) for text in ("ok, on Sunday", "429", "Biscotti died"))


def test_an_offer_or_a_question_is_no_statement_about_oneself() -> None:
    assert is_own_statement("I raised the timeout to 90.")
    assert not is_own_statement("I'd rotate that key.")
    assert not is_own_statement("Shall I look it up?")
    assert not is_own_statement("The key is old.")


def test_what_is_to_be_remembered_is_a_statement_whoever_it_is_about() -> None:
    assert is_own_statement("Remember that the key is under the mat.")
    assert asks_to_remember("merk dir: Schuhgröße 43")
    assert not asks_to_remember("I don't remember the name")


def test_whoever_speaks_in_a_riddle_is_not_the_user() -> None:
    assert is_riddle("I have cities but no houses. What am I?")
    assert not is_riddle("I have guests. What am I going to cook?")


@given(st.text(max_size=300))
def test_nothing_is_added_to_what_was_said(text: str) -> None:
    assert all(sentence in text or "[" in sentence for sentence in readable(text))


@pytest.mark.timeout(30)
@pytest.mark.parametrize("text", [" " * 200_000 + "x", "„" * 200_000, "“" * 200_000, "# \n" * 50_000, "> " * 100_000])
def test_a_long_run_of_one_sign_is_read_in_no_time(text: str) -> None:
    assert len(without_pasted(f"I live in Graz.\n{text}")) > 0
