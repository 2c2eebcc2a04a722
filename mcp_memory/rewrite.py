"""A question in other words: a small model names what an indirect one depends on.

The question's secrets are taken out before the model sees it, and what it returns is not believed: names and numbers
that the question does not have are taken out again. When to ask, and how long to wait, is for the rewriter.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import regex

from . import budget
from .asking import Ask
from .dictionaries import is_known, split_compound
from .errors import ModelOutputError
from .mentions import find_mentions
from .prompts import Prompt, language_name, load_prompt
from .redact import PLACEHOLDER, holds_only_secrets, holds_secret, redact
from .replies import read_object
from .text import detect_language, fold, normalise, terms

MAX_QUERIES = 2
MAX_OUTPUT_TOKENS = 80
# A longer question says enough by itself, and reading it would take the model too long.
MAX_QUESTION_TOKENS = 150
_MAX_QUESTION_CHARS = 1000
_MAX_QUERY_CHARS = 120
# Cases and possessives change the end of a name only.
_MIN_STEM = 4
_MIN_TELLING_WORDS = 4
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)?")
_POSSESSIVE = regex.compile(r"['’]s?$")
_NUMBER = regex.compile(r"\p{N}+")
_NOT_LATIN = regex.compile(r"(?V1)[\p{L}--\p{Latin}]")
_QUOTES = regex.compile(r"[\"“”„«»「」『』《》`]")

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"queries": {"type": "array", "items": {"type": "string"}, "maxItems": MAX_QUERIES}},
    "required": ["queries"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Rewriting:
    """Other ways to put a question, best first. `is_missing`: the model could not be asked; `notice` says why, once."""

    queries: tuple[str, ...] = ()
    is_missing: bool = False
    notice: str = ""


def is_worth_rewriting(question: str) -> bool:
    """Whether a model can make something of a question: not too long, and more than a secret."""
    if len(question) > _MAX_QUESTION_CHARS or budget.count_tokens(question) > MAX_QUESTION_TOKENS:
        return False
    return not holds_only_secrets(question)


def request(question: str) -> list[dict[str, str]]:
    """What the model is asked; all before the question is the same for every question in one language."""
    question = redact(question)
    language = detect_language(question)
    # Said last, where small models heed it most.
    name = language_name(language, "the question's language")
    return load_prompt("rewrite").messages(language, f"<question>\n{question}\n</question>\nSearches in {name}:")


def rewrite(question: str, ask: Ask) -> tuple[str, ...]:
    """Up to `MAX_QUERIES` other ways to put a question; () where the model has none that holds.

    Raises:
        ModelUnavailableError: the model did not answer.
        ModelOutputError: its answer was none.
    """
    answer = ask(request(question), SCHEMA, MAX_OUTPUT_TOKENS)
    return tuple(_checked(read_queries(answer.text), redact(question), load_prompt("rewrite")))


def read_queries(answer: str) -> list[str]:
    """The texts in an answer; of a cut one those that are complete.

    Raises:
        ModelOutputError: no JSON, or no list of texts.
    """
    queries = read_object(answer)[0].get("queries", [])
    if not isinstance(queries, list) or not all(isinstance(query, str) for query in queries):
        raise ModelOutputError("the answer's queries are no list of texts", hint="choose another model")
    return queries[:MAX_QUERIES]


def _checked(queries: Sequence[str], question: str, prompt: Prompt) -> Iterator[str]:
    """The texts that hold, without what they invent, each once."""
    language, folded = detect_language(question), fold(normalise(question))
    seen = {_words(question)}
    for query in queries:
        if _is_unfit(query, language, folded, prompt):
            continue
        kept = _without_inventions(" ".join(_QUOTES.sub(" ", query).split()), folded, language)
        if (words := _words(kept)) and words not in seen:
            seen.add(words)
            yield kept


def _words(text: str) -> frozenset[str]:
    return frozenset(form for term in terms(text) for form in term)


def _is_unfit(query: str, language: str, question: str, prompt: Prompt) -> bool:
    if len(query) > _MAX_QUERY_CHARS or PLACEHOLDER in query or holds_secret(query):
        return True
    folded = fold(normalise(query))
    if any((leak := fold(mark.casefold())) in folded and leak not in question for mark in prompt.marks):
        return True
    return _is_foreign(query, language)


def _is_foreign(query: str, language: str) -> bool:
    """Whether a search is in another language than the question; a few Latin words do not tell."""
    if len(_WORD.findall(query)) < _MIN_TELLING_WORDS and not _NOT_LATIN.search(query):
        return False
    own = detect_language(query)
    return bool(own and language and own != language)


def _without_inventions(query: str, question: str, language: str) -> str:
    """The text without the names and numbers that the question, folded, does not have.

    Names are seen by their capitals. Where none tell - in scripts without them, and in German for names that the
    dictionary has - an invented one stays a word among others: what the question names, its own names alone say.

    >>> _without_inventions("Greta's peanut allergy since 2019", "what may greta eat?", "en")
    "Greta's peanut allergy since"
    """
    names = {
        _stem(word.group())
        for mention in find_mentions(query)
        for word in _WORD.finditer(mention.name)
        if mention.type == "person" or not _is_common(word.group(), language)
    }
    known_numbers = set(_NUMBER.findall(question))

    def keep(word: regex.Match[str]) -> str:
        numbers, stem = _NUMBER.findall(normalise(word.group())), _stem(word.group())
        is_invented = not known_numbers.issuperset(numbers) or (stem in names and stem not in question)
        return "" if is_invented else word.group()

    return " ".join(_WORD.sub(keep, query).split())


def _stem(word: str) -> str:
    bare = fold(normalise(_POSSESSIVE.sub("", word)))
    return bare[: max(_MIN_STEM, len(bare) - 2)]


def _is_common(word: str, language: str) -> bool:
    """Whether a word within what looks like a name need not be one: a German noun has a capital anyway."""
    if not word[:1].isupper():
        return True
    return language == "de" and (is_known(word.lower(), "de") or bool(split_compound(word.lower(), "de")))
