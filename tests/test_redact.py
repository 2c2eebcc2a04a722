"""Secrets found and taken out; sentences about secrets left alone."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.redact import PLACEHOLDER, find_secrets, holds_secret, redact

# Built from parts, so that no scanner takes them for leaked keys.
X = "x" * 36
MIXED = "aB3dE5fG7hI9" * 5
HEXADECIMAL = "0123456789abcdef" * 4
JWT = "ey" + "JhbGciOiJIUzI1NiJ9." + "ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0." + "dBjftJeZ4CVP_mB92K27uhbUJU1p1r"
CARD = "4111 1111 1111 1111"
SEED = "abandon ability able about above absent absorb abstract absurd abuse access accident"
BEGIN, END = "-----BEGIN " + "RSA PRIVATE KEY-----", "-----END " + "RSA PRIVATE KEY-----"
LINES = "\n".join(["MIIEowIBAAKCAQEA" + "7bq+/3Zk" * 6] * 3)


def kinds(text: str) -> list[str]:
    return [secret.kind for secret in find_secrets(text)]


# Shapes


@pytest.mark.parametrize(
    "key",
    [
        "s" + "k-" + X,
        "s" + "k-proj-" + MIXED,
        "s" + "k-svcacct-" + MIXED,
        "s" + "k-ant-api03-" + MIXED,
        "s" + "k-or-v1-" + HEXADECIMAL,
        "s" + "k_live_" + X,
        "r" + "k_live_" + X,
        "wh" + "sec_" + X,
        "gh" + "p_" + X,
        "gh" + "o_" + X,
        "gh" + "u_" + X,
        "gh" + "s_" + X,
        "gh" + "r_" + X,
        "github" + "_pat_" + "11ABCDEFG0" + "_" + MIXED,
        "gl" + "pat-" + "x" * 20,
        "xox" + "b-" + "123456789012-" + "abcdefABCDEF",
        "xox" + "p-" + "123456789012-" + "abcdefABCDEF",
        "AK" + "IA" + "IOSFODNN7EXAMPLE",
        "AS" + "IA" + "IOSFODNN7EXAMPLE",
        "AI" + "za" + "x" * 35,
        "ya" + "29." + MIXED,
        "GOC" + "SPX-" + MIXED[:28],
        "h" + "f_" + "x" * 34,
        "np" + "m_" + X,
        "py" + "pi-" + "AgEIcHlwaS5vcmc" + MIXED,
        "do" + "p_v1_" + HEXADECIMAL,
        "shp" + "at_" + HEXADECIMAL[:32],
        "S" + "G." + MIXED[:22] + "." + MIXED[:43],
        "S" + "K" + HEXADECIMAL[:32],
        "A" + "C" + HEXADECIMAL[:32],
        "gs" + "k_" + MIXED,
        "lin" + "_api_" + MIXED,
        "dckr" + "_pat_" + MIXED,
    ],
)
def test_the_key_of_a_vendor_is_taken_out_wherever_it_stands(key: str) -> None:
    assert redact(f"use {key}, please") == f"use {PLACEHOLDER}, please"
    assert redact(f'X = "{key}"') == f'X = "{PLACEHOLDER}"'
    assert redact(f"密钥{key}。") == f"密钥{PLACEHOLDER}。"
    assert kinds(key) == ["key"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"bot 123456789:{'AA' + 'H' * 33} runs", "bot [secret] runs"),
        ("M" + "TIzNDU2Nzg5MDEyMzQ1Njc4." + "Gabcde." + "x" * 38, "[secret]"),
        ("hooks.slack" + ".com/services/T00000000/B00000000/" + "x" * 24, "hooks.slack.com/services/[secret]"),
        (f"Authorization: Bearer {JWT}", "Authorization: Bearer [secret]"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [secret]"),
        ('{"Authorization": "Bearer abc.def"}', '{"Authorization": "Bearer [secret]"}'),
        ("bearer 0123456789abcdef0123", "bearer [secret]"),
        (f"it said {JWT}.", "it said [secret]."),
        ("Cookie: sid=abc123; theme=dark", "Cookie: [secret]"),
        ("https://x.org/?token=abc123def&user=1", "https://x.org/?token=[secret]&user=1"),
        ("https://x.org/?a=1&api_key=abc123def b", "https://x.org/?a=1&api_key=[secret] b"),
        ("https://x.org/#access_token=abc123def", "https://x.org/#access_token=[secret]"),
        ("curl -u ana:hunter2 https://x.org", "curl -u ana:[secret] https://x.org"),
        ("mysql --password hunter2", "mysql --password [secret]"),
    ],
)  # fmt: skip
def test_tokens_are_taken_out_of_headers_addresses_and_commands(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgres://ana:hunter2@localhost/db", "postgres://ana:[secret]@localhost/db"),
        ("https://ana:p@ss:w0rd@x.org:8080/a@b", "https://ana:[secret]@x.org:8080/a@b"),
        ("redis://:hunter2@cache:6379", "redis://:[secret]@cache:6379"),
    ],
)
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password=hunter", "password=[secret]"),
        ('"password": "hunter2", "user": "ana"', '"password": "[secret]", "user": "ana"'),
        ('{\\"password\\":\\"hunter2\\",\\"b\\":1}', '{\\"password\\":\\"[secret]\\",\\"b\\":1}'),
        ('"apiKey": "abcdefghijk"', '"apiKey": "[secret]"'),
        ("PGPASSWORD=abc SECRET_KEY=supersecretvalue", "PGPASSWORD=[secret] SECRET_KEY=[secret]"),
        ("DB_PASSWORD: 'x y'", "DB_PASSWORD: '[secret]'"),
        ("SMTP_PASS=hunter2", "SMTP_PASS=[secret]"),
        ("Server=x;Password=abc;User=foo", "Server=x;Password=[secret];User=foo"),
        ("{password:hunter2,user:x}", "{password:[secret],user:x}"),
        ("<password>hunter2</password>", "<password>[secret]</password>"),
        ("'db_password' => 'hunter2'", "'db_password' => '[secret]'"),
        ('client_secret = "abc-def-ghi"', 'client_secret = "[secret]"'),
        ("aws_secret_access_key = abcdef0123456789", "aws_secret_access_key = [secret]"),
        ("X-Api-Key: abcdef0123456789", "X-Api-Key: [secret]"),
        ("| password | hunter2 |", "| password | [secret] |"),
        ("Password:\n  hunter2", "Password:\n  [secret]"),
    ],
)
def test_what_is_assigned_to_a_secret_name_is_taken_out(text: str, expected: str) -> None:
    assert redact(text) == expected


# Prose


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("my wifi password is hunter2", "my wifi password is [secret]"),
        ("My password is: swordfish.", "My password is: [secret]."),
        ("my password's hunter2", "my password's [secret]"),
        ("the password is set to hunter2", "the password is set to [secret]"),
        ("the password for the wifi at home is “blue horse”", "the password for the wifi at home is “[secret]”"),
        ("the password (new) is now hunter2, ok", "the password (new) is now [secret], ok"),
        ("the password is either hunter3 or hunter4", "the password is either [secret] or [secret]"),
        ("passwords: hunter2, hunter3 and hunter4", "passwords: [secret], [secret] and [secret]"),
        ("I changed my password to hunter22 yesterday", "I changed my password to [secret] yesterday"),
        ("I use hunter2 as my wifi password.", "I use [secret] as my wifi password."),
        ('"swordfish" is my password', '"[secret]" is my password'),
        ("My password was swordfish until May", "My password was [secret] until May"),
        ("SSH password for root@10.0.0.1 is toor99", "SSH password for root@10.0.0.1 is [secret]"),
        ("password: c2VjcmV0cGFzcw==", "password: [secret]"),
        ("credentials: admin / hunter2", "credentials: admin / [secret]"),
        ("银行卡密码是482913", "银行卡密码是[secret]"),
        ("user ana password hunter2", "user ana password [secret]"),
        ("my passphrase is correct-horse-battery-staple", "my passphrase is [secret]"),
        ("my password is password123", "my password is [secret]"),
        ("my API key is abcdef123456", "my API key is [secret]"),
        ("Das Passwort lautet Sonne!23", "Das Passwort lautet [secret]"),
        ("Das WLAN-Passwort ist Sonnenblume.", "Das WLAN-Passwort ist [secret]."),
        ("Passwort: Sonnenblume", "Passwort: [secret]"),
        ("Das Passwort heißt jetzt Sonne22.", "Das Passwort heißt jetzt [secret]."),
        ("Das Kennwort für den Laptop ist „Sonne“", "Das Kennwort für den Laptop ist „[secret]“"),
        ("Der API-Schlüssel lautet abcdef123456", "Der API-Schlüssel lautet [secret]"),
        ("la contraseña es Gato2020", "la contraseña es [secret]"),
        ("La contraseña del wifi de mi casa es gato22.", "La contraseña del wifi de mi casa es [secret]."),
        ("la clave del wifi es gato22", "la clave del wifi es [secret]"),
        ("mot de passe : chaton77", "mot de passe : [secret]"),
        ("le mot de passe du wifi est « Chaton »", "le mot de passe du wifi est « [secret] »"),
        ("mon mdp: chaton77", "mon mdp: [secret]"),
        ("la password del wifi è Pippo99", "la password del wifi è [secret]"),
        ("la parola d'ordine è: girasole", "la parola d'ordine è: [secret]"),
        ("a senha do wifi é gatinho9", "a senha do wifi é [secret]"),
        ("palavra-passe: girassol", "palavra-passe: [secret]"),
        ("пароль от вайфая: ромашка22", "пароль от вайфая: [secret]"),
        ("пароль — Ромашка", "пароль — [secret]"),
        ("мой пароль это hunter2", "мой пароль это [secret]"),
        ("WiFi密码是abc12345。", "WiFi密码是[secret]。"),
        ("密码：小猫钓鱼", "密码：[secret]"),
        ("パスワードはhunter2です", "パスワードは[secret]です"),
        ("WiFiのパスワードは「さくら」です", "WiFiのパスワードは「[secret]」です"),
        ("كلمة السر هي hunter2", "كلمة السر هي [secret]"),
        ("كلمة المرور للواي فاي هي: ياسمين22", "كلمة المرور للواي فاي هي: [secret]"),
    ],
)
def test_a_password_is_taken_out_of_a_sentence_and_its_words_stay(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PIN is 4821", "PIN is [secret]"),
        ("my card's pin: 4821", "my card's pin: [secret]"),
        ("Die PIN der Karte ist 4821", "Die PIN der Karte ist [secret]"),
        ("el pin es 4821", "el pin es [secret]"),
        ("code pin : 4821", "code pin : [secret]"),
        ("ПИН-код 4821", "ПИН-код [secret]"),
        ("PIN码是4821", "PIN码是[secret]"),
        ("暗証番号は4821です", "暗証番号は[secret]です"),
        ("الرقم السري هو 4821", "الرقم السري هو [secret]"),
        ("Your verification code is 482 913", "Your verification code is [secret]"),
        ("G-482913 is your Google verification code.", "[secret] is your Google verification code."),
        ("Recovery codes: abcd-1234, efgh-5678 ijkl-9012", "Recovery codes: [secret], [secret] [secret]"),
        ("backup codes:\n12345678\n87654321", "backup codes:\n[secret]\n[secret]"),
        ("Ihr Bestätigungscode lautet 482913", "Ihr Bestätigungscode lautet [secret]"),
        ("código de verificación: 482913", "código de verificación: [secret]"),
        ("验证码：482913", "验证码：[secret]"),
        ("the door code is 4821#", "the door code is [secret]"),
    ],
)
def test_pins_and_codes_are_taken_out(text: str, expected: str) -> None:
    assert redact(text) == expected
    assert set(kinds(text)) == {"pin"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"seed phrase: {SEED}", "seed phrase: [secret]"),
        (f"My mnemonic is {SEED} {SEED}.", "My mnemonic is [secret]."),
        (f"recovery phrase for the wallet:\n{SEED}\nand more", "recovery phrase for the wallet:\n[secret]\nand more"),
        ("seed phrase: " + " ".join(f"{n}. {word}" for n, word in enumerate(SEED.split(), 1)), "seed phrase: [secret]"),
    ],
)  # fmt: skip
def test_a_seed_phrase_is_taken_out(text: str, expected: str) -> None:
    assert redact(text) == expected


# Cards


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"card {CARD}", "card [secret]"),
        ("4111111111111111", "[secret]"),
        ("卡号4111-1111-1111-1111。", "卡号[secret]。"),
        (f"{CARD} 12/27 123", "[secret] [secret] [secret]"),
        (f"{CARD}, exp 12/2027, CVV: 123", "[secret], exp [secret], CVV: [secret]"),
        ("Amex 3782 822463 10005 exp 12-27", "Amex [secret] exp [secret]"),
        (f"Karte {CARD}, gültig bis 12/27, Prüfnummer 123", "Karte [secret], gültig bis [secret], Prüfnummer [secret]"),
        (
            f"tarjeta {CARD} caduca 12/27 código de seguridad 123",
            "tarjeta [secret] caduca [secret] código de seguridad [secret]",
        ),
        ("my Visa is valid until 12/27 and the CVC is 123", "my Visa is valid until [secret] and the CVC is [secret]"),
        ("security code: 1234 on the card, expires 2027/12", "security code: [secret] on the card, expires [secret]"),
        ("order 12 4111 1111 1111 1111", "order 12 [secret]"),
    ],
)
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
    ssh ana@x.org:2222""".split("\n    "),
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
        *("curl -u ", "cookie: ", "password for a b c d e f ", "pin ", "x1-", "codes: abcd1234, ", "[secret]"),
    ],
)
def test_a_long_hostile_text_takes_time_in_proportion(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    started = time.process_time()
    redact(text)
    assert time.process_time() - started < 6
