"""Words, lemmas and compounds as the dictionaries of their languages have them."""

import subprocess
import sys

import pytest

from mcp_memory.dictionaries import is_known, lemma, split_compound


def test_words_are_known_per_language() -> None:
    assert is_known("Haus", "de")
    assert not is_known("Haus", "en")
    assert not is_known("北京", "zh")
    assert not is_known("", "de")


def test_a_word_that_no_dictionary_has_is_its_own_lemma() -> None:
    assert [lemma(word, "en") for word in ("houses", "zxqvk", "", "x" * 500)] == ["house", "zxqvk", "", "x" * 500]


def test_a_compound_is_split_at_its_longest_last_word() -> None:
    assert split_compound("krankenversicherung", "de") == ("krank", "versicherung")
    assert split_compound("versicherung", "de") == ()


@pytest.mark.parametrize("word", ["", "haus", "qwxyz" * 4, "haus42haus", "haus-haus", "haus" * 10_000])
def test_what_is_no_compound_is_not_split(word: str) -> None:
    assert split_compound(word, "de") == ()


def test_a_dictionary_that_threads_need_at_once_is_read_once() -> None:
    # In a process of its own, where none has been read.
    code = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from simplemma.strategies.dictionaries.dictionary_factory import DEFAULT_DICTIONARY_FACTORY\n"
        "from mcp_memory.dictionaries import lemma\n"
        "with ThreadPoolExecutor(8) as threads:\n"
        "    found = set(threads.map(lambda word: lemma(word, 'en'), ['houses'] * 8))\n"
        "print(found, DEFAULT_DICTIONARY_FACTORY._get_dictionary.cache_info().misses)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["{'house'}", "1"]
