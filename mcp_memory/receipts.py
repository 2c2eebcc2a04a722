"""What receipts tell of truth over time: what gave way to an input, what had been over when it arrived."""

from collections.abc import Sequence
from dataclasses import replace

from .records import Fact, Memory, Receipt

# Of what was not kept as facts so many values are told.
_N_TOLD = 5


def noted(receipt: Receipt, note: str) -> Receipt:
    """The receipt with one more reason."""
    return replace(receipt, reason=f"{receipt.reason}; {note}" if receipt.reason else note)


def in_words(fact: Fact) -> str:
    """What a fact says of its subject: "lives in Berlin"."""
    return f"{(fact.label or fact.relation).replace('_', ' ')} {fact.object}"


def replacing(receipt: Receipt, ended: Memory) -> Receipt:
    """The receipt of what a memory gave way to."""
    if receipt.replaced_id == ended.id:
        return receipt
    if receipt.status == "replaced":
        return replace(receipt, reason=f"{receipt.reason}; and {ended.id}: {ended.text}")
    if receipt.status in ("queued", "merged"):
        return replace(receipt, replaced_id=ended.id, reason=f"{receipt.reason}; no longer so: {ended.text}")
    return replace(receipt, status="replaced", replaced_id=ended.id, reason=f"no longer so: {ended.text}")


def replacing_in_part(receipt: Receipt, fact: Fact) -> Receipt:
    """The receipt of what ended one thing that a memory says, while it says more and stays."""
    return noted(receipt, f"no longer so in {fact.memory_id}, which stays: {in_words(fact)}")


def late(receipt: Receipt, memory: Memory, by: Memory | None) -> Receipt:
    """The receipt of what had been so, and was over when it arrived; `by` took its place."""
    until = memory.invalid_at.date().isoformat() if memory.invalid_at else ""
    told = f"held until {until}, when this took its place: {by.text}" if by else f"held until {until}"
    return noted(receipt, told)


def with_left_out(receipt: Receipt, left_out: Sequence[Fact], most: int) -> Receipt:
    """The receipt of what says more than may become facts; 0 facts is what somebody has chosen."""
    values = list(dict.fromkeys(fact.object for fact in left_out if fact.object))
    if not most or not values:
        return receipt
    told = ", ".join(values[:_N_TOLD]) + (f" and {len(values) - _N_TOLD} more" if len(values) > _N_TOLD else "")
    told = f"found by their words only, beyond {most} facts (MCP_MEMORY_FACTS_PER_MEMORY): {told}"
    return noted(receipt, told)
