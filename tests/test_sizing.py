"""What fits a machine: the arithmetic, the borders, the suggestions."""

import pytest

from mcp_memory.sizing import CANDIDATES, MachineMemory, judge, needed_bytes, suggest

GB = 10**9


def test_a_model_needs_its_size_a_cache_for_each_token_and_room_to_work() -> None:
    assert needed_bytes(5_200_000_000, 8192) == 5_200_000_000 + 8192 * 163_840 + 500_000_000
    assert needed_bytes(0, 16384) - needed_bytes(0, 8192) == 8192 * 163_840


@pytest.mark.parametrize(
    ("needed", "fit"),
    [(6 * GB, "fits"), (6 * GB + 1, "tight"), (8.5 * GB, "tight"), (8.5 * GB + 1, "too large")],
)
def test_what_is_available_fits_and_what_others_hold_is_tight(needed: int, fit: str) -> None:
    assert judge(needed, MachineMemory(10 * GB, 6 * GB)) == fit


def test_eight_gigabytes_hold_a_model_of_seven_billion_parameters_as_ollama_says() -> None:
    assert judge(needed_bytes(4_700_000_000, 8192), MachineMemory(8 * 2**30, 8 * 2**30)) == "fits"
    assert judge(needed_bytes(7_400_000_000, 8192), MachineMemory(8 * 2**30, 8 * 2**30)) == "too large"


@pytest.mark.parametrize(
    ("memory", "names"),
    [
        (MachineMemory(64 * GB, 60 * GB), ["gemma3:12b", "qwen3:8b", "gemma3:4b"]),
        (MachineMemory(8 * GB, 6 * GB), ["gemma3:4b", "qwen3:4b-instruct", "llama3.2:3b"]),
        # What fits now comes first, however much smaller it is.
        (MachineMemory(8 * GB, 3 * GB), ["qwen2.5:1.5b", "gemma3:4b", "qwen3:4b-instruct"]),
        (MachineMemory(2 * GB, 2 * GB), []),
        (None, ["llama3.2:3b", "qwen3:1.7b", "qwen2.5:1.5b"]),
    ],
)
def test_the_largest_that_fit_are_suggested(memory: MachineMemory | None, names: list[str]) -> None:
    assert [candidate.name for candidate in suggest(8192, memory)] == names


def test_a_larger_context_leaves_less_room() -> None:
    memory = MachineMemory(8 * GB, 8 * GB)
    assert suggest(8192, memory)[0].size_bytes > suggest(24_576, memory)[0].size_bytes


def test_candidates_are_in_order_of_size() -> None:
    assert list(CANDIDATES) == sorted(CANDIDATES, key=lambda candidate: -candidate.size_bytes)
