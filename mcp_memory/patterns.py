"""Patterns that are compiled when they are first needed, each once, however many threads need it at a time."""

import threading
from functools import cache

import regex

_compiling = threading.Lock()


def compiled(pattern: str) -> regex.Pattern[str]:
    """A pattern that ignores case, compiled once."""
    # Many first texts at a time would each compile them all: a cache alone keeps only what is done.
    with _compiling:
        return _compiled(pattern)


@cache
def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern, regex.IGNORECASE)
