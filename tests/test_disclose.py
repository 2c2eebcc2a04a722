"""What a model may see of a message: every date beside its word, and no part of a secret, whatever date is in it."""

from datetime import UTC, datetime

import pytest

from mcp_memory.disclose import disclosed
from mcp_memory.redact import PLACEHOLDER, find_secrets, holds_secret, redact
from mcp_memory.written_dates import Unannotated
from tests.secret_texts import KEYS, TEXTS

# A Monday.
SAID = datetime(2026, 6, 15, 9, tzinfo=UTC)
WITH_SECRETS = [*(f"use {key}, please" for key in KEYS), *(text for text, _ in TEXTS)]
SEED = "legal winner thank today wave sausage worth useful legal winner thank yellow"


def with_date(text: str, word: str) -> list[str]:
    """A text with a word before and after it, and beside, in the middle of and in place of each of its secrets."""
    texts = [f"{word} {text}", f"{text} {word}"]
    for secret in find_secrets(text):
        start, end, middle = secret.start, secret.end, (secret.start + secret.end) // 2
        texts += [
            f"{text[:start]}{word} {text[start:]}",
            f"{text[:end]} {word}{text[end:]}",
            f"{text[:middle]} {word} {text[middle:]}",
            f"{text[:start]}{word}{text[end:]}",
        ]
    return texts


@pytest.mark.parametrize("word", ["tomorrow", "yesterday", "tonight", "on Friday", "morgen", "ayer", "昨日"])
def test_beside_its_dates_a_model_sees_what_redaction_of_the_words_as_said_leaves(word: str) -> None:
    for text in WITH_SECRETS:
        for said in with_date(text, word):
            assert Unannotated(disclosed(said, SAID)).text == redact(Unannotated(said).text), said


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"My seed phrase is {SEED}", "My seed phrase is [secret]"),
        ("my wifi password is tomorrow", "my wifi password is [secret]"),
        ("my wifi password is tonight.", "my wifi password is [secret]."),
        ("my wifi password is yesterday", "my wifi password is [secret]"),
        ("mein Passwort ist morgen", "mein Passwort ist [secret]"),
        ("my passphrase is 'see you tomorrow'", "my passphrase is '[secret]'"),
        ("I changed the password to hunter22 yesterday", "I changed the password to [secret] yesterday (2026-06-14)"),
        ("tomorrow my PIN is 4821", "tomorrow (2026-06-16) my PIN is [secret]"),
        ("the dentist is tomorrow", "the dentist is tomorrow (2026-06-16)"),
    ],
)
def test_a_date_word_that_is_a_secret_is_hidden_and_one_beside_it_keeps_its_date(text: str, shown: str) -> None:
    assert disclosed(text, SAID) == shown
    assert disclosed(shown, SAID) == shown


@pytest.mark.parametrize(
    "statement",
    [
        "The user's wifi password is tomorrow (2026-06-16).",
        "The user's wifi password is tonight (2026-06-15)",
        "The user's seed phrase is " + SEED.replace("today", "today (2026-06-15)"),
        "Das Passwort ist morgen (2026-06-16)",
    ],
)
def test_a_secret_is_seen_through_the_dates_put_into_it(statement: str) -> None:
    assert holds_secret(statement)
    assert "2026" not in redact(statement)
    assert redact(redact(statement)) == redact(statement)


def test_a_date_in_brackets_is_no_hiding_place() -> None:
    assert redact("my PIN is (4821)") == f"my PIN is ({PLACEHOLDER})"
    assert redact("the dentist is tomorrow (2026-06-16)") == "the dentist is tomorrow (2026-06-16)"
