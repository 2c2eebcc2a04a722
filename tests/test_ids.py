"""Ids: unique, ordered by time, and forgiving of how people type them."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.ids import ALPHABET, COUNTER_BITS, LENGTH, IdSequence, canonical, decode, encode

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
numbers = st.integers(0, 2**60 - 1)
identifiers = st.text(ALPHABET, min_size=LENGTH, max_size=LENGTH)
# The last year that 42 bits of milliseconds hold is 2109.
moments = st.datetimes(datetime(1970, 1, 1), datetime(2108, 12, 31), timezones=st.just(UTC))


def test_an_id_is_milliseconds_then_a_counter() -> None:
    # One second is 1000 ms, shifted by 18 bits: 262,144,000 = 7·32⁵ + 26·32⁴ + 0…, and ALPHABET[26] is "t".
    assert 1000 << COUNTER_BITS == 7 * 32**5 + 26 * 32**4
    assert IdSequence().next(EPOCH + timedelta(seconds=1)) == "000000" + "7t0000"


def test_ids_of_one_millisecond_count_up() -> None:
    ids = IdSequence()
    first, second, third = (ids.next(NOON) for _ in range(3))
    assert (decode(second) - decode(first), decode(third) - decode(second)) == (1, 1)


def test_ids_go_on_from_the_last_stored_one() -> None:
    stored = IdSequence().next(NOON)
    assert decode(IdSequence(stored).next(NOON)) == decode(stored) + 1


@given(st.lists(moments, min_size=2, max_size=30))
def test_ids_never_repeat_and_never_go_backwards_whatever_the_clock_does(clock: list[datetime]) -> None:
    sequence = IdSequence()
    ids = [sequence.next(now) for now in clock]
    assert ids == sorted(set(ids))


@given(moments, moments)
def test_ids_sort_by_time_across_writers(one: datetime, other: datetime) -> None:
    earlier, later = sorted([one, other])
    assert IdSequence().next(earlier) <= IdSequence().next(later)


def test_a_clock_set_back_does_not_reuse_ids() -> None:
    ids = IdSequence()
    assert ids.next(NOON) < ids.next(NOON - timedelta(days=365)) < ids.next(NOON + timedelta(milliseconds=1))


@pytest.mark.parametrize("year", [2109, 2110, 9999])
def test_ids_go_on_when_the_clock_has_left_the_range(year: int) -> None:
    sequence, far = IdSequence(), datetime(year, 12, 31, tzinfo=UTC)
    ids = [sequence.next(now) for now in (NOON, far, far, NOON, far)]
    assert ids == sorted(set(ids))
    assert {len(identifier) for identifier in ids} == {LENGTH}


@given(moments)
def test_an_id_tells_its_millisecond_exactly(moment: datetime) -> None:
    since = moment - EPOCH
    milliseconds = since.days * 86_400_000 + since.seconds * 1000 + since.microseconds // 1000
    assert decode(IdSequence("000000000000").next(moment)) >> COUNTER_BITS == milliseconds


@given(numbers)
def test_decode_undoes_encode(number: int) -> None:
    assert decode(encode(number)) == number


@given(identifiers)
def test_encode_undoes_decode(identifier: str) -> None:
    assert encode(decode(identifier)) == identifier


@given(numbers, numbers)
def test_ids_sort_as_their_numbers_do(one: int, other: int) -> None:
    assert (encode(one) < encode(other)) == (one < other)


@pytest.mark.parametrize("character", ["u", "!", "O"])
def test_decode_refuses_characters_outside_the_alphabet(character: str) -> None:
    with pytest.raises(ValueError, match="substring not found"):
        decode(character)


@given(identifiers)
def test_canonical_leaves_stored_ids_alone(identifier: str) -> None:
    assert canonical(identifier) == identifier


@given(identifiers)
def test_canonical_reads_upper_case_quotes_and_brackets(identifier: str) -> None:
    assert canonical(f" [{identifier.upper()}] ") == canonical(f'"{identifier}"') == identifier


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("O1kq8z3m5v2w", "01kq8z3m5v2w"),
        ("0Ikq8z3m5v2w", "01kq8z3m5v2w"),
        ("0lkq8z3m5v2w", "01kq8z3m5v2w"),
        ("01kq-8z3m-5v2w", "01kq8z3m5v2w"),
        ("`01KQ8Z3M5V2W`", "01kq8z3m5v2w"),
    ],
)
def test_canonical_mends_look_alikes(typed: str, stored: str) -> None:
    assert canonical(typed) == stored


@pytest.mark.parametrize(
    "typed", ["", "   ", "01kq8z3m5v2", "01kq8z3m5v2w0", "u1kq8z3m5v2w", "01kq 8z3m5v2w", "١٢٣٤٥٦٧٨٩٠١٢"]
)
def test_canonical_refuses_what_is_no_id(typed: str) -> None:
    assert canonical(typed) is None


@given(st.text())
def test_canonical_gives_an_id_or_nothing_for_any_text(typed: str) -> None:
    mended = canonical(typed)
    assert mended is None or (len(mended) == LENGTH and encode(decode(mended)) == mended)
