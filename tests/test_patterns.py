"""Patterns under many threads."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest
import regex

from mcp_memory import patterns


def test_a_pattern_is_compiled_once_however_many_threads_need_it_first(monkeypatch: pytest.MonkeyPatch) -> None:
    n_threads, asked = 8, []
    compile_one, nobody_else = regex.compile, Event()

    def counted(pattern: str, flags: int) -> regex.Pattern[str]:
        asked.append(pattern)
        # Time enough for another to come in, if another may.
        nobody_else.wait(0.2)
        return compile_one(pattern, flags)

    monkeypatch.setattr(regex, "compile", counted)
    together = Barrier(n_threads)

    def first(_number: int) -> regex.Pattern[str]:
        together.wait(10)
        return patterns.compiled(r"(?:needed|by|many|at once){2,9}")

    with ThreadPoolExecutor(n_threads) as pool:
        found = list(pool.map(first, range(n_threads)))

    assert len(asked) == 1
    assert all(each is found[0] for each in found)
    assert found[0].fullmatch("NEEDEDby")
