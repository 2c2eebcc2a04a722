"""Embedding models by family: what each was trained to see before a text, for models that do not say so.

Source: the model cards, and the prompts with which MTEB scores the models (Muennighoff et al., EACL 2023).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import regex

# Under these names sentence-transformers' models keep what stands before a document.
_DOCUMENT_KEYS = ("document", "passage", "corpus")
_REPRESENT = "Represent this sentence for searching relevant passages: "
_INSTRUCT = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "


@dataclass(frozen=True, slots=True)
class Prompts:
    """What stands before a text when it is embedded; '' where nothing does."""

    query: str = ""
    document: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """Models that are to be used in one way.

    `pattern` matches the last part of their names. `ends_with_eos` and `is_bidirectional` say how a decoder
    was trained where its files do not, or not so that the libraries heed it.
    """

    pattern: str
    prompts: Prompts
    ends_with_eos: bool = False
    is_bidirectional: bool = False


FAMILIES = (
    Family(r"(multilingual-)?e5-(small|base|large)(-v2)?", Prompts("query: ", "passage: ")),
    Family(r"multilingual-e5-large-instruct", Prompts(_INSTRUCT)),
    Family(r"nomic-embed-text-v(1|1\.5|2-moe)|modernbert-embed-base", Prompts("search_query: ", "search_document: ")),
    Family(r"gte-qwen(1\.5|2)-(1\.5b|7b)-instruct", Prompts(_INSTRUCT), ends_with_eos=True, is_bidirectional=True),
    Family(r"bge-(small|base|large)-en(-v1\.5)?", Prompts(_REPRESENT)),
    Family(r"mxbai-embed-large-v1|snowflake-arctic-embed-(xs|s|m|l|m-long|m-v1\.5)", Prompts(_REPRESENT)),
    Family(r"bge-(small|base|large)-zh(-v1\.5)?", Prompts("为这个句子生成表示以用于检索相关文章：")),
    Family(r"bge-m3", Prompts()),
)


def family_of(names: Iterable[str]) -> Family | None:
    """The family of a model that goes by several names (hub names, folders), the first that is known; or None."""
    for name in names:
        last = regex.split(r"[/\\]|--", name.rstrip("/\\"))[-1]
        for family in FAMILIES:
            if regex.fullmatch(family.pattern, last, regex.IGNORECASE):
                return family
    return None


def brought(stated: Mapping[str, str | None]) -> Prompts | None:
    """The prompts for searching among those that a model brings, by their names in it; None where it has none."""
    query = stated.get("query") or ""
    document = next((text for key in _DOCUMENT_KEYS if (text := stated.get(key))), "")
    return Prompts(query, document) if query or document else None
