"""How much a model can read: token counts that err on the high side, and texts cut to fit."""

from collections.abc import Iterator, Mapping, Sequence

import regex

# A letter of these scripts takes a token or nearly one; elsewhere a token is some letters.
_PIECE = regex.compile(
    r"(?P<dense>[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}])"
    r"|(?P<ascii>[A-Za-z]+)|(?P<word>[\p{L}\p{M}]+)|(?P<digit>\p{N})|(?P<other>[^\s])"
)
_DENSE = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]")
_ASCII_LETTERS_PER_TOKEN = 3.0
_LETTERS_PER_TOKEN = 1.8
_TOKENS_PER_DENSE = 1.3
# Role marks of a chat template.
TOKENS_PER_MESSAGE = 8
_BORDERS = (
    regex.compile(r"\n\s*\n"),
    regex.compile(r"\n"),
    regex.compile(r"(?<=[.!?…。！？؟])\s*"),
    regex.compile(r"\s"),
)


def count_tokens(text: str) -> int:
    """An upper estimate of the tokens of a text, whatever the model's tokenizer.

    Rare words cost more than common ones, so common text comes out about a third too high.
    """
    total = 0.0
    for match in _PIECE.finditer(text):
        kind, length = match.lastgroup, match.end() - match.start()
        if kind == "ascii":
            total += max(1.0, length / _ASCII_LETTERS_PER_TOKEN)
        elif kind == "word":
            total += max(1.0, length / _LETTERS_PER_TOKEN)
        elif kind == "dense":
            total += _TOKENS_PER_DENSE
        else:
            total += 1.0
    return int(total) + 1


def rough_tokens(text: str) -> float:
    """About as many tokens as a large model counts: characters / 4, and one a character in scripts without spaces.

    >>> rough_tokens("twelve chars"), rough_tokens("日本語")
    (3.0, 3.0)
    """
    return (len(text) + 3 * len(_DENSE.findall(text))) / 4


def count_request(messages: Sequence[Mapping[str, str]]) -> int:
    """The same for a whole request."""
    return sum(count_tokens(message["content"]) + TOKENS_PER_MESSAGE for message in messages)


def split_text(text: str, max_tokens: int) -> list[str]:
    """The text in parts of at most `max_tokens` each, cut at paragraphs, else lines, sentences, words, anywhere.

    Nothing is lost: the parts joined give the text, but for white space at the cuts.
    """
    if count_tokens(text) <= max_tokens:
        return [text] if text.strip() else []
    return [part for part in _pack(text, max_tokens, 0) if part.strip()]


def _pack(text: str, max_tokens: int, level: int) -> Iterator[str]:
    """Pieces at the borders of one level, put together again as far as they fit."""
    if level == len(_BORDERS):
        step = max(1, int(max_tokens / _TOKENS_PER_DENSE) - 1)
        yield from (text[start : start + step] for start in range(0, len(text), step))
        return
    held, n_held = "", 0
    for piece in _pieces(text, level):
        n_piece = count_tokens(piece)
        if n_held + n_piece <= max_tokens:
            held, n_held = held + piece, n_held + n_piece
            continue
        if held:
            yield held
        held, n_held = "", 0
        if n_piece <= max_tokens:
            held, n_held = piece, n_piece
        else:
            yield from _pack(piece, max_tokens, level + 1)
    if held:
        yield held


def _pieces(text: str, level: int) -> Iterator[str]:
    start = 0
    for match in _BORDERS[level].finditer(text):
        if match.end() > start:
            yield text[start : match.end()]
            start = match.end()
    if start < len(text):
        yield text[start:]


def newest_that_fit(texts: Sequence[str], max_tokens: int) -> list[str]:
    """As many of the last texts as fit, in their order; an older one is never kept in place of a newer."""
    kept: list[str] = []
    for text in reversed(texts):
        max_tokens -= count_tokens(text)
        if max_tokens < 0:
            break
        kept.append(text)
    return kept[::-1]


def first_that_fit(texts: Sequence[str], max_tokens: int) -> list[str]:
    """As many of the first texts as fit, in their order."""
    return newest_that_fit(texts[::-1], max_tokens)[::-1]
