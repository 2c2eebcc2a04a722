"""Results in the form that hosts pass on to a model: lean JSON, and one line a hit for hosts that read text.

Stored text is data from outside. It is always quoted, with who said it and when, so that a model reads it as
a record and not as an instruction.
"""

import json
from typing import Any

from .records import AddResult, DeleteResult, Memory, RateResult, Receipt
from .search_records import Hit, KnownFact, SearchResult

_PLAIN_KINDS = ("message", "note")
# Characters of text in one answer, shared by its hits, so that a long memory does not fill a model's context.
MAX_REPLY_CHARS = 20_000
MIN_TEXT_CHARS = 1_000
# Line breaks to Unicode, though not to JSON.
_LINE_BREAKS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}


def search_payload(result: SearchResult, *, explain: bool) -> dict[str, Any]:
    """The structured answer of a search; empty fields are left out, since every host pays for them."""
    payload: dict[str, Any] = {"memories": [_hit_payload(hit, _share(result), explain=explain) for hit in result.hits]}
    if result.facts:
        payload["facts"] = [fact_payload(fact) for fact in result.facts]
    if result.notice:
        payload["notice"] = result.notice
    if result.closest_score is not None:
        payload["closest_score"] = round(result.closest_score, 2)
    if result.degraded:
        payload["degraded"] = list(result.degraded)
    if explain and result.rewritten:
        payload["rewritten"] = list(result.rewritten)
    return payload


def search_lines(result: SearchResult, *, explain: bool = False) -> str:
    """The same hits as text, best first; with `explain` each is followed by its signals."""
    lines = [fact_line(fact) for fact in result.facts]
    for hit in result.hits:
        lines.append(f"{memory_line(hit.memory, clip(hit.memory.text, _share(result)))} ({hit.score:.2f}){over(hit)}")
        if explain:
            lines.append(f"  {signal_line(hit)}")
    if explain and result.rewritten:
        lines.append(rewritten_line(result))
    return "\n".join([*lines, result.notice] if result.notice or not lines else lines)


def over(hit: Hit) -> str:
    """What of a memory is over, to be put after its line, '' for nothing."""
    return f" (no longer: {quote('; '.join(map(_ended, hit.outdated)))})" if hit.outdated else ""


def fact_line(fact: KnownFact) -> str:
    """A value that was asked for by key, with whose it is, since when and until when, and the memory that says so."""
    since = fact.since.date().isoformat()
    until = f" until {fact.until.date().isoformat()}" if fact.until else ""
    return f"{fact.subject}, {relation_words(fact)}: {quote(fact.value)} (since {since}{until}, [{fact.memory_id}])"


def _ended(fact: KnownFact) -> str:
    """What of a memory is over, though it holds in other things: "lives in: Berlin (until 2026-05-03)"."""
    until = f" (until {fact.until.date().isoformat()})" if fact.until else ""
    return f"{relation_words(fact)}: {fact.value}{until}"


def fact_payload(fact: KnownFact) -> dict[str, Any]:
    """A value that is known by key, with the memory that says so."""
    return {
        "of": fact.subject,
        "relation": relation_words(fact),
        "value": fact.value,
        "since": fact.since.date().isoformat(),
        # What is over, or will be, is told as such.
        **({"until": fact.until.date().isoformat()} if fact.until else {}),
        "id": fact.memory_id,
    }


def relation_words(fact: KnownFact) -> str:
    """What a fact says of its subject, as words: "lives in", "shoe size"."""
    return " ".join(
        filter(None, (fact.label, "" if fact.relation in ("other", "known_as", "has") else fact.relation))
    ).replace("_", " ")


def rewritten_line(result: SearchResult) -> str:
    """In which other words the question was searched for, on one line."""
    return f"Also searched for: {', '.join(quote(query) for query in result.rewritten)}"


def signal_line(hit: Hit) -> str:
    """The relevance of a hit and the signals that are not zero, on one line."""
    values = {name: getattr(hit.signals, name) for name in hit.signals.__slots__}
    shown = ", ".join(f"{name} {value:.2f}" for name, value in values.items() if value)
    raised = f" (raised by {quote(hit.raised_by)})" if hit.raised_by else ""
    return f"relevance {hit.relevance:.2f}: {shown}{raised}"


def add_payload(result: AddResult) -> dict[str, Any]:
    """The structured answer of an add: one receipt per input, in order."""
    return {
        "results": [_receipt_payload(receipt) for receipt in result.results],
        "episode_id": result.episode_id,
    }


def add_lines(result: AddResult) -> str:
    """The same receipts as text."""
    return "\n".join(
        f"{receipt.status}"
        + (f" [{receipt.id}]" if receipt.id else "")
        + (f": {receipt.reason}" if receipt.reason else "")
        for receipt in result.results
    )


def delete_payload(result: DeleteResult) -> dict[str, Any]:
    """The structured answer of a delete."""
    payload = {"deleted": result.id, "text": result.text, "purged": bool(result.n_purged)}
    notice = delete_notice(result)
    return payload | ({"notice": notice} if notice else {})


def delete_lines(result: DeleteResult) -> str:
    """The same as text."""
    if not result.n_purged:
        return f"deleted [{result.id}]: {quote(result.text)}"
    with_it = f", with {result.n_purged - 1} that led to it" if result.n_purged > 1 else ""
    return "\n".join(filter(None, (f"purged [{result.id}]{with_it}: {quote(result.text)}", delete_notice(result))))


def delete_notice(result: DeleteResult) -> str:
    """What a purge has left, '' where there is nothing to tell."""
    same = f"The same words stay under {', '.join(result.same_words)}: purge those too." if result.same_words else ""
    copies = f"Copies of before are left as they are: {', '.join(result.copies)}." if result.copies else ""
    return " ".join(filter(None, (same, copies)))


def rate_payload(result: RateResult) -> dict[str, Any]:
    """The structured answer of a rating."""
    importance = round(result.importance, 4)
    return {"rated": result.id, "text": result.text, "useful": result.is_useful, "importance": importance}


def memory_payload(memory: Memory) -> dict[str, Any]:
    """One memory with every field that says something, for scripts."""
    fields = {
        "id": memory.id,
        "text": memory.text,
        "about": memory.about,
        "kind": memory.kind,
        "state": memory.state,
        "user": memory.user_id,
        "agent": memory.agent_id,
        "speaker": memory.speaker,
        "run": memory.run_id,
        "language": memory.language,
        "importance": memory.importance,
        "model": memory.model,
        "observed_at": memory.observed_at.isoformat(),
        "created_at": memory.created_at.isoformat(),
        "expires_at": memory.expires_at.isoformat() if memory.expires_at else "",
        "valid_from": memory.valid_from.isoformat() if memory.valid_from else "",
        "invalid_at": memory.invalid_at.isoformat() if memory.invalid_at else "",
        # What came of it, or took its place.
        "leads_to": memory.superseded_by.split(),
        "episode_id": memory.episode_id,
        "metadata": dict(memory.metadata),
    }
    return {name: value for name, value in fields.items() if value not in ("", {}, [])}


def _share(result: SearchResult) -> int:
    """How many characters of each hit are shown."""
    return max(MIN_TEXT_CHARS, MAX_REPLY_CHARS // max(1, len(result.hits)))


def clip(text: str, max_chars: int, how: str = "top_k 1 shows more") -> str:
    """The beginning of a text that is too long, with a note of how much is missing and how to see it.

    >>> clip("a" * 30, 10)
    'aaaaaaaaaa … (20 more characters; top_k 1 shows more)'
    """
    if len(text) <= max_chars:
        return text
    return f"{text[:max_chars]} … ({len(text) - max_chars} more characters; {how})"


def _hit_payload(hit: Hit, max_chars: int, *, explain: bool) -> dict[str, Any]:
    memory = hit.memory
    payload = memory_item(memory, clip(memory.text, max_chars), score=round(hit.score, 2))
    if hit.outdated:
        payload["no_longer"] = [_ended(fact) for fact in hit.outdated]
    if explain:
        payload["agent"], payload["speaker"] = memory.agent_id, memory.speaker
        payload["signals"] = {"relevance": round(hit.relevance, 4)} | {
            name: round(getattr(hit.signals, name), 4) for name in hit.signals.__slots__
        }
        if hit.raised_by:
            payload["raised_by"] = hit.raised_by
    return payload


def memory_item(memory: Memory, text: str, **more: Any) -> dict[str, Any]:
    """A memory in a list, with as much of its text as is to be shown: who said it, when, and what else matters."""
    who = {"speaker": memory.speaker} if memory.speaker else {"agent": memory.agent_id}
    payload: dict[str, Any] = {
        "id": memory.id,
        "text": text,
        **more,
        **who,
        "date": memory.observed_at.date().isoformat(),
    }
    if memory.role != "user":
        payload["role"] = memory.role
    if memory.about != "user":
        payload["about"] = memory.about
    if memory.kind not in _PLAIN_KINDS:
        payload["kind"] = memory.kind
    if memory.valid_from:
        payload["valid_from"] = memory.valid_from.date().isoformat()
    if memory.invalid_at:
        payload["invalid_at"] = memory.invalid_at.date().isoformat()
    return payload


def quote(text: str) -> str:
    """A text as one quoted line, whatever it contains."""
    return as_json(text)


def as_json(value: Any) -> str:
    """A value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False).translate(_LINE_BREAKS)


def memory_line(memory: Memory, text: str) -> str:
    """A memory on one line: its id, when and by whom it was said, and as much of its text as is to be shown, quoted."""
    who = (memory.speaker or memory.agent_id) + (f" ({memory.role})" if memory.role != "user" else "")
    return f"[{memory.id}] {memory.observed_at.date().isoformat()} {who}: {quote(text)}"


def _receipt_payload(receipt: Receipt) -> dict[str, Any]:
    payload = {
        "status": receipt.status,
        "id": receipt.id,
        "text": receipt.text,
        "replaced_id": receipt.replaced_id,
        "reason": receipt.reason,
    }
    return {name: value for name, value in payload.items() if value}
