"""The keyword index against a naive evaluator of the same formula, whatever was put, removed or rebuilt."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_memory.keywords import KeywordIndex
from mcp_memory.text import Term

N_ROWS = 8
Bag = tuple[str, ...]
Documents = dict[int, Bag]


def naive_coverage(documents: Documents, terms: Iterable[Term], mean_length: float) -> list[float]:
    """BM25 (Lucene, k1 = 1.5, b = 0.75) of each row over the sum of the query's idf, straight from the formula."""
    n = len(documents)

    def idf(form: str) -> float:
        containing = sum(form in bag for bag in documents.values())
        return math.log(1 + (n - containing + 0.5) / (containing + 0.5))

    def earned(form: str, bag: Bag) -> float:
        frequency = bag.count(form)
        return idf(form) * frequency / (frequency + 1.5 * (0.25 + 0.75 * len(bag) / mean_length)) if frequency else 0.0

    coverage, idf_sum = [0.0] * N_ROWS, 0.0
    for term in dict.fromkeys(terms):
        weight = 2.0 if any(character.isdigit() for character in term[0]) else 1.0
        known = [form for form in term if any(form in bag for bag in documents.values())]
        # The best of a term's forms counts; against it stands the commonest form, or an unknown term's first,
        # and no form earns more than that.
        worth = min(map(idf, known or term[:1]))
        idf_sum += weight * worth
        for row, bag in documents.items():
            coverage[row] += weight * min(worth, max((earned(form, bag) for form in term), default=0.0))
    return [min(1.0, share / idf_sum) if idf_sum else 0.0 for share in coverage]


def mean_length(bags: Iterable[Sequence[str]]) -> float:
    lengths = [len(bag) for bag in bags]
    return sum(lengths) / len(lengths) if lengths else 1.0


def index_of(*bags: str) -> KeywordIndex:
    index = KeywordIndex()
    for row, bag in enumerate(bags):
        index.put(row, bag.split())
    return index


words = st.sampled_from(["cat", "dog", "tree", "lisbon", "ab-12", "42"])
bags = st.lists(words, max_size=6).map(tuple)
operations = st.one_of(
    st.tuples(st.just("put"), st.integers(0, N_ROWS - 1), bags),
    st.tuples(st.just("remove"), st.integers(0, N_ROWS - 1), st.just(())),
    st.tuples(st.just("rebuild"), st.just(0), st.just(())),
)
queries = st.lists(st.lists(st.one_of(words, st.just("unknown")), min_size=1, max_size=3).map(tuple), max_size=4)


@given(st.lists(operations, max_size=20), queries)
def test_coverage_is_what_the_formula_says_after_any_history(
    history: list[tuple[str, int, Bag]], query: list[Term]
) -> None:
    index, documents = KeywordIndex(), Documents()
    base_mean = 0.0
    for operation, row, bag in history:
        if operation == "put":
            index.put(row, bag)
            documents[row] = bag
        elif operation == "remove":
            index.remove(row)
            documents.pop(row, None)
        else:
            index.rebuild()
            # From now on lengths are measured against the mean of the texts that the base holds.
            filled = [bag for bag in documents.values() if bag]
            base_mean = mean_length(filled) if filled else 0.0
    expected = naive_coverage(documents, query, base_mean or mean_length(documents.values()) or 1.0)
    assert len(index) == len(documents)
    # bm25s computes in single precision.
    assert index.scores(query, N_ROWS).tolist() == pytest.approx(expected, rel=1e-4, abs=1e-6)


@given(st.dictionaries(st.integers(0, N_ROWS - 1), bags.filter(len), min_size=1), queries)
def test_a_rebuild_changes_no_score(documents: Documents, query: list[Term]) -> None:
    index = KeywordIndex()
    for row, bag in documents.items():
        index.put(row, bag)
    before = index.scores(query, N_ROWS)
    index.rebuild()
    assert index.scores(query, N_ROWS).tolist() == pytest.approx(before.tolist(), rel=1e-4, abs=1e-6)


@given(st.lists(bags, max_size=N_ROWS), queries)
def test_coverage_is_a_share(documents: list[Bag], query: list[Term]) -> None:
    index = KeywordIndex()
    for row, bag in enumerate(documents):
        index.put(row, bag)
    scores = index.scores(query, N_ROWS)
    assert scores.shape == (N_ROWS,)
    assert np.all((scores >= 0) & (scores <= 1))


def test_one_document_by_hand() -> None:
    # One term, at the mean length, once: idf · 1 / (1 + 1.5), over idf = 0.4.
    assert index_of("cat").scores([("cat",)], 1).tolist() == pytest.approx([0.4])


def test_idf_counts_every_live_document_on_both_sides_of_a_rebuild() -> None:
    index = index_of("cat", "cat", "dog")
    index.rebuild()
    index.put(3, ["dog"])
    index.remove(0)
    # Live: cat, dog, dog. idf(cat) = ln(1 + 2.5 / 1.5) = ln(8/3), idf(dog) = ln(1 + 1.5 / 2.5) = ln 1.6;
    # each holder earns 0.4 of its term's share of the sum.
    cat, dog = math.log(8 / 3), math.log(1.6)
    both = [0.0, 0.4 * cat / (cat + dog), 0.4 * dog / (cat + dog), 0.4 * dog / (cat + dog)]
    assert index.scores([("cat",), ("dog",)], 4).tolist() == pytest.approx(both)


def test_a_term_that_nothing_contains_lowers_the_rest() -> None:
    # Two documents, cat in one: idf(cat) = ln(1 + 1.5/1.5) = ln 2, idf(unicorn) = ln(1 + 2.5/0.5) = ln 6.
    scores = index_of("cat", "dog").scores([("cat",), ("unicorn",)], 2)
    assert scores.tolist() == pytest.approx([0.4 * math.log(2) / (math.log(2) + math.log(6)), 0.0])


def test_terms_with_digits_count_double() -> None:
    # Both terms stand in one document of the two and have the same idf: 0.4 · 1/3 against 0.4 · 2/3.
    scores = index_of("cat", "ab-12").scores([("cat",), ("ab-12",)], 2)
    assert scores.tolist() == pytest.approx([0.4 / 3, 0.8 / 3])


def test_repeated_terms_count_once() -> None:
    index = index_of("cat", "dog")
    assert index.scores([("cat",)] * 3 + [("dog",)], 2).tolist() == index.scores([("cat",), ("dog",)], 2).tolist()


def test_any_form_of_a_term_matches() -> None:
    assert index_of("gato", "perro").scores([("gatos", "gato")], 2).tolist() == pytest.approx([0.4, 0.0])


def test_a_rare_form_earns_no_more_than_its_term_is_worth() -> None:
    index = index_of(*["be"] * 9, "ai ai ai")
    # Ten documents: idf(be) = ln(1 + 1.5/9.5) = 0.147 is the term's worth, though ai would earn
    # idf(ai) · 3 / (3 + 1.5 · (0.25 + 0.75 · 3/1.2)) = 0.966; idf(unicorn) = ln(1 + 10.5/0.5) = ln 22.
    worth = math.log(1 + 1.5 / 9.5)
    expected = worth / (worth + math.log(22))
    assert index.scores([("be", "ai"), ("unicorn",)], 10)[9] == pytest.approx(expected)
    index.rebuild()
    assert index.scores([("be", "ai"), ("unicorn",)], 10)[9] == pytest.approx(expected)


@pytest.mark.parametrize("query", [[], [("cat",)]])
def test_an_empty_index_scores_nothing(query: list[Term]) -> None:
    index = KeywordIndex()
    assert index.scores(query, 0).shape == (0,)
    assert index.scores(query, 3).tolist() == [0.0, 0.0, 0.0]
    index.rebuild()
    assert index.scores(query, 3).tolist() == [0.0, 0.0, 0.0]


def test_an_empty_query_and_unknown_terms_score_nothing() -> None:
    index = index_of("cat", "dog")
    assert index.scores([], 2).tolist() == [0.0, 0.0]
    assert index.scores([("unicorn",)], 2).tolist() == [0.0, 0.0]


def test_documents_without_words_are_kept_and_found_by_nothing() -> None:
    index = index_of("", "cat")
    index.rebuild()
    assert (len(index), index.scores([("cat",)], 2)[0]) == (2, 0.0)


def test_removing_an_unknown_row_does_nothing() -> None:
    index = index_of("cat")
    index.remove(7)
    assert len(index) == 1


def test_putting_a_row_again_replaces_it() -> None:
    index = index_of("cat", "dog")
    index.rebuild()
    index.put(0, ["tree"])
    assert index.scores([("cat",)], 2).tolist() == [0.0, 0.0]
    assert index.scores([("tree",)], 2)[0] > 0


def test_a_rebuild_is_wanted_after_five_hundred_new_documents() -> None:
    index = KeywordIndex()
    wanted = []
    for row in range(501):
        index.put(row, ["cat"])
        wanted.append(index.wants_rebuild)
    assert wanted == [False] * 500 + [True]
    index.rebuild()
    assert not index.wants_rebuild
