"""How much memory a language model takes, whether that fits, and which ones would.

The figures are rough and on the safe side; what Ollama puts on a graphics card is not known here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Fit = Literal["fits", "tight", "too large"]

# 40 layers of 8 key-value heads of 128 numbers, key and value, two bytes each: models of up to 12 billion parameters
# have this or less for each token of context.
CACHE_BYTES_PER_TOKEN = 40 * 8 * 128 * 2 * 2
# Mostly the scores of 512 tokens over a vocabulary of 152,000 words, four bytes each.
WORKING_BYTES = 500_000_000
# What the system and the programs that always run leave of a machine's memory.
USABLE_SHARE = 0.85
N_SUGGESTED = 3


@dataclass(frozen=True, slots=True)
class MachineMemory:
    """Memory of a machine in bytes: all of it, and what programs can still get."""

    total: int
    available: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model to pull; sizes as Ollama's library gives them, in bytes."""

    name: str
    parameters: str
    size_bytes: int


# Models of 1 to 12 billion parameters that answer without thinking first; largest first.
CANDIDATES = (
    Candidate("gemma3:12b", "12.2B", 8_100_000_000),
    Candidate("qwen3:8b", "8.2B", 5_200_000_000),
    Candidate("gemma3:4b", "4.3B", 3_300_000_000),
    Candidate("qwen3:4b-instruct", "4.0B", 2_500_000_000),
    Candidate("llama3.2:3b", "3.2B", 2_000_000_000),
    Candidate("qwen3:1.7b", "2.0B", 1_400_000_000),
    Candidate("qwen2.5:1.5b", "1.5B", 1_000_000_000),
)


def needed_bytes(size_bytes: int, context_tokens: int) -> int:
    """Memory that a model takes: its weights as on disk, the cache of its context, and room to work in.

    >>> needed_bytes(5_200_000_000, 8192) / 1e9
    7.04217728

    Source: the cache is 2 · layers · key-value heads · head size · bytes for each token (Pope et al., Efficiently
    Scaling Transformer Inference, MLSys 2023), here with fixed figures for all models. Agrees with the advice of
    Ollama's README, 8 GB for a model of 7 billion parameters.
    """
    return size_bytes + context_tokens * CACHE_BYTES_PER_TOKEN + WORKING_BYTES


def judge(needed: int, memory: MachineMemory) -> Fit:
    """'fits' into what is available now, 'tight' when other programs must leave first, else 'too large'."""
    if needed <= memory.available:
        return "fits"
    return "tight" if needed <= memory.total * USABLE_SHARE else "too large"


def suggest(context_tokens: int, memory: MachineMemory | None) -> Sequence[Candidate]:
    """The largest candidates that the memory holds, those that fit now before those that are tight; of an unknown
    machine the smallest ones."""
    if memory is None:
        return CANDIDATES[-N_SUGGESTED:]
    by_fit: dict[Fit, list[Candidate]] = {"fits": [], "tight": [], "too large": []}
    for candidate in CANDIDATES:
        by_fit[judge(needed_bytes(candidate.size_bytes, context_tokens), memory)].append(candidate)
    return (by_fit["fits"] + by_fit["tight"])[:N_SUGGESTED]
