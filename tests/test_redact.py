"""Secrets found and taken out; sentences about secrets left alone."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.redact import PLACEHOLDER, find_secrets, holds_secret, redact
from tests.secret_texts import (
    ADDRESSES,
    ASSIGNED,
    BEGIN,
    CARD,
    CARDS,
    CODES,
    END,
    JWT,
    KEYS,
    LINES,
    SEED,
    SEED_PHRASES,
    SENTENCES,
    TOKENS,
    X,
)


def kinds(text: str) -> list[str]:
    return [secret.kind for secret in find_secrets(text)]


# Shapes


@pytest.mark.parametrize("key", KEYS)
def test_the_key_of_a_vendor_is_taken_out_wherever_it_stands(key: str) -> None:
    assert redact(f"use {key}, please") == f"use {PLACEHOLDER}, please"
    assert redact(f'X = "{key}"') == f'X = "{PLACEHOLDER}"'
    assert redact(f"密钥{key}。") == f"密钥{PLACEHOLDER}。"
    assert kinds(key) == ["key"]


@pytest.mark.parametrize(("text", "expected"), TOKENS)
def test_tokens_are_taken_out_of_headers_addresses_and_commands(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(("text", "expected"), ADDRESSES)
def test_the_password_in_an_address_is_taken_out(text: str, expected: str) -> None:
    assert redact(text) == expected
    assert kinds(text) == ["url password"]


def test_the_secret_beside_an_amazon_key_goes_with_it() -> None:
    secret = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"
    assert redact(f"AK{'IA'}IOSFODNN7EXAMPLE\n{secret}\n") == "[secret]\n[secret]\n"
    commit = "9fceb02d0ae598e95dc970b74767f19372d61af8"
    assert redact(f"AK{'IA'}IOSFODNN7EXAMPLE since {commit}") == f"[secret] since {commit}"


@pytest.mark.parametrize("end", [f"\n{END}", ""])
def test_a_private_key_is_taken_out_whole_even_when_cut_off(end: str) -> None:
    assert redact(f"see\n{BEGIN}\n{LINES}{end}\nThat was it.") == "see\n[secret]\nThat was it."


def test_a_private_key_inside_json_is_taken_out() -> None:
    text = '{"k": "' + BEGIN + "\\n" + LINES.replace("\n", "\\n") + "\\n" + END + '\\n"}'
    assert redact(text) == '{"k": "[secret]\\n"}'


# Code and configuration


@pytest.mark.parametrize(("text", "expected"), ASSIGNED)
def test_what_is_assigned_to_a_secret_name_is_taken_out(text: str, expected: str) -> None:
    assert redact(text) == expected


# Prose


@pytest.mark.parametrize(("text", "expected"), SENTENCES)
def test_a_password_is_taken_out_of_a_sentence_and_its_words_stay(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(("text", "expected"), CODES)
def test_pins_and_codes_are_taken_out(text: str, expected: str) -> None:
    assert redact(text) == expected
    assert set(kinds(text)) == {"pin"}


@pytest.mark.parametrize(("text", "expected"), SEED_PHRASES)
def test_a_seed_phrase_is_taken_out(text: str, expected: str) -> None:
    assert redact(text) == expected


# Cards


@pytest.mark.parametrize(("text", "expected"), CARDS)
def test_a_card_goes_with_its_expiry_and_security_code(text: str, expected: str) -> None:
    assert redact(text) == expected


# What stays


@pytest.mark.parametrize(
    "text",
    """I forgot my password
    the password is too short
    password manager
    my password is stored in Bitwarden
    das Passwort ist falsch
    change your password every month
    token limit is 8192
    the key is under the mat
    the API key is missing
    max_tokens=8192
    My password manager is 1Password
    I moved my passwords to 1Password
    The password must have 12 characters
    the password is at least 12 characters long
    password length: 12
    the password is 16 characters
    the password is case-sensitive
    The password is required.
    Password: required
    the password is hashed with argon2id
    his password was leaked in the 2019 breach
    What is the password for the wifi?
    is the password wrong?
    Das Passwort ist zu kurz
    das Passwort ist abgelaufen
    Passwort: bitte ändern
    Ich habe mein Passwort vergessen
    la contraseña es incorrecta
    la contraseña es demasiado corta
    la contraseña está guardada
    la clave es trabajar
    le mot de passe est trop court
    j'ai oublié mon mot de passe
    la password è sbagliata
    la password è stata cambiata
    a senha é muito fraca
    esqueci a senha
    пароль неверный
    пароль был изменён
    я забыл пароль
    密码是错的
    密码错误
    我忘了密码
    パスワードは間違っています
    パスワードを忘れました
    كلمة السر خاطئة
    كلمة السر هي خاطئة
    نسيت كلمة المرور
    password: str
    def login(user: str, password: str) -> None
    password = os.environ["PW"]
    password = getpass.getpass("x")
    password=${PW}
    password: ********
    token: CancellationToken
    the token is invalid
    the secret is to laugh
    bearer of good news
    my PIN is secret
    PIN is 4 digits
    GPIO pin is 21
    I got a tan in 2024
    pin numpy==1.26.4
    login: https://x.org/path1234
    We rotated the API key on 2024-05-06
    the password is my dog's name
    the password for the server was changed yesterday
    密码必须至少8位
    パスワードは8文字以上です
    das Passwort ist mindestens 8 Zeichen lang
    error code is 404
    the safe is open
    the private key is on my laptop
    my seed phrase is on paper in the bank where nobody ever goes and nobody would ever want to look
    sk-learn-contrib-py-earth is a package
    IBAN DE89 3704 0044 0532 0130 00
    +49 170 1234567
    call 030 1234 5678 or 0041 44 668 18 00
    order 4111111111111112
    invoice 2024-000123
    commit 9fceb02d0ae598e95dc970b74767f19372d61af8
    123e4567-e89b-12d3-a456-426614174000
    ISBN 978-3-16-148410-0
    B-AB 1234
    version 1.2.3
    IMEI 356938035643809
    from 2024-05-06 to 2024-05-07
    the meeting is on 12/27
    passport valid until 12/2027
    https://x.org/a?page=2&sort=key
    https://x.org:8080/a@b
    ssh ana@x.org:2222
    the password is the same as before
    my password is stored in the safe
    my password is stored safely offline somewhere
    the password is case sensitive
    the password is sixteen random characters long
    the password is twelve characters minimum length
    the password is hashed client side first
    the password was changed last week by Ana
    my password is really weak sauce
    the wifi password is printed underneath the router
    the password is causing login problems
    the password is letters plus digits
    Passwords: best practices
    Password: ask Ana
    Password: minimum length twelve characters
    Password:\nHello everyone
    das Passwort ist ziemlich schlecht gewählt
    das Passwort ist beim Admin hinterlegt
    la contraseña es bastante fácil de adivinar
    le mot de passe est vraiment trop court
    la password è stata cambiata ieri sera
    a senha é bastante simples mesmo
    пароль был успешно изменён администратором
    пароль от почты был утерян
    username and password below
    the username is required, the password optional
    login requires password authentication
    login page / step 2
    write to ana@x.org / bob2@y.org
    ana@x.org / www.x2.org
    ana@x.org / Google
    the password 2024 breach
    we mailed the password to 4000 people
    the password 12345 times
    the code for the front door is broken
    the code for the lock is 1200 lines
    Der Code für die Haustür ist neu""".split("\n    "),
)
def test_ordinary_sentences_and_numbers_stay(text: str) -> None:
    assert redact(text) == text
    assert not holds_secret(text)


# Whatever the text


CUES = [
    *(
        "password",
        " is ",
        ": ",
        "hunter2",
        "PIN",
        "4821",
        CARD,
        " 12/27",
        " CVC 123",
        "密码",
        "是",
        "パスワード",
        "は",
        "\n",
    ),
    *(
        PLACEHOLDER,
        "token=",
        "[",
        "]",
        '"',
        "https://a:",
        "@b",
        JWT,
        " or ",
        "seed phrase ",
        SEED,
        BEGIN,
        END,
        "gh" + "p_" + X,
    ),
]
TEXTS = st.one_of(st.text(), st.lists(st.one_of(st.sampled_from(CUES), st.text(max_size=4)), max_size=14).map("".join))


@given(TEXTS)
def test_a_second_redaction_changes_nothing(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@given(TEXTS)
def test_only_the_spans_change_and_they_are_in_order(text: str) -> None:
    secrets = find_secrets(text)
    assert holds_secret(text) == bool(secrets)
    rest, last = "", 0
    for secret in secrets:
        assert last <= secret.start < secret.end <= len(text)
        rest += text[last : secret.start] + PLACEHOLDER
        last = secret.end
    assert redact(text) == rest + text[last:]


def test_what_is_redacted_already_stays() -> None:
    assert redact("my password is [secret] and [secret]") == "my password is [secret] and [secret]"
    assert redact("") == ""


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "4",
            "4 ",
            "4111 ",
            "aGVsbG8gd29ybGQ",
            "password is ",
            "password: ",
            "密码是",
            "eyJ-",
            "sk-",
            "SG.",
            "a://",
            "-",
        ),
        *(
            BEGIN,
            "seed phrase ",
            "seed phrase able ",
            "AK" + "IA",
            "token=",
            "?token=",
            '"',
            "\\",
            " ",
            "\n",
            "https://a:",
        ),
        *("password is hunter2 ", "hunter2 as my password ", "كلمة السر ", CARD + " 12/27 123 ", "cvc 123 exp 12/27 "),
        *("password is horse ", "username ana ", "login ana / ", "ana@x.org / ", "code for the front ", "horse "),
        *("curl -u ", "cookie: ", "password for a b c d e f ", "pin ", "x1-", "codes: abcd1234, ", "[secret]"),
    ],
)
def test_a_long_hostile_text_takes_time_in_proportion(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    started = time.process_time()
    redact(text)
    assert time.process_time() - started < 3
