"""Who the user is, in the form that hosts pass on to a model: by the rules of `pack`, and without secrets.

Nobody has asked for it, unlike for what a search returns: so it is short, and secrets leave it.
"""

from itertools import chain, zip_longest
from typing import Any

from .budget import rough_tokens
from .pack import clip, fact_payload, memory_item, quote, relation_words
from .records import Memory
from .redact import holds_secret, redact
from .search_records import KnownFact, UserProfile

_MAX_SUMMARY_CHARS = 1500
_MAX_CHARS = 400
_MAX_NAME_CHARS = 40


def profile_payload(profile: UserProfile) -> dict[str, Any]:
    """The profile as JSON for scripts; empty parts are left out."""
    payload: dict[str, Any] = {
        "summary": redact(profile.summary),
        "made_at": profile.made_at.isoformat() if profile.made_at else "",
        "facts": [fact_payload(fact) | {"who": fact.who} for fact in profile.facts if is_open(fact)],
        "statements": [memory_item(memory, _text(memory)) for memory in profile.statements],
    }
    return {name: value for name, value in payload.items() if value}


def profile_lines(profile: UserProfile, max_tokens: int, *, with_ids: bool = False) -> list[str]:
    """The profile as lines, each with quoted data, who said it and when, as many as fit, all newlines counted.

    The summary comes first, then facts, then statements. Where not all fit, facts and statements get a line each in
    turn, the most important first; a line that is too long for what is left is passed over. Tokens are counted as
    `rough_tokens` does. With ids each tells the memory that says so.
    """
    facts = [fact_told(fact, with_id=with_ids) for fact in profile.facts if is_open(fact)]
    statements = [statement_told(memory, with_id=with_ids) for memory in profile.statements]
    summary = [summary_told(profile)] if profile.summary else []
    left = float(max_tokens)
    kept: set[str] = set()
    for line in chain(summary, *zip_longest(facts, statements)):
        if line and line not in kept and (n_tokens := rough_tokens(f"{line}\n")) <= left:
            kept.add(line)
            left -= n_tokens
    return [line for line in dict.fromkeys([*summary, *facts, *statements]) if line in kept]


def notes_lines(profile: UserProfile, max_tokens: int) -> list[str]:
    """The profile as `profile_lines` tells it, for a file that is read without anybody asking."""
    # The parts are without secrets; here what only a whole line shows.
    return [redact(line) for line in profile_lines(profile, max_tokens)]


def summary_told(profile: UserProfile) -> str:
    """The summary on one line, with when it was made."""
    made = f" of {profile.made_at.date().isoformat()}" if profile.made_at else ""
    return f"summary{made}, by a language model: {quote(clip(redact(profile.summary), _MAX_SUMMARY_CHARS, 'cut'))}"


def fact_told(fact: KnownFact, *, with_id: bool = False) -> str:
    """A fact on one line: whose it is and which, its value, since when, and who said so."""
    until = f" until {fact.until.date().isoformat()}" if fact.until else ""
    value = quote(clip(fact.value, _MAX_CHARS, "cut"))
    head = f"{_name(fact.subject)}, {_name(relation_words(fact))}: {value}"
    told = f"since {fact.since.date().isoformat()}{until}, {_name(fact.who)}" + (f", [{fact.memory_id}]" * with_id)
    return f"{head} ({told})"


def statement_told(memory: Memory, *, with_id: bool = False) -> str:
    """A memory on one line: when and by whom it was said, and its words."""
    who = _name(memory.speaker or memory.agent_id) + (f" ({memory.role})" if memory.role != "user" else "")
    begin = f"[{memory.id}] " if with_id else ""
    return f"{begin}{memory.observed_at.date().isoformat()} {who}: {quote(_text(memory))}"


def _text(memory: Memory) -> str:
    # Redacted as a whole: half a secret is not recognised.
    return clip(redact(memory.text), _MAX_CHARS, "cut")


def _name(name: str) -> str:
    """What somebody or something is called, on one line; it stands outside the quotes, so it is kept short."""
    words = " ".join(redact(name).split())
    return words if len(words) <= _MAX_NAME_CHARS else f"{words[: _MAX_NAME_CHARS - 1]}…"


def is_open(fact: KnownFact) -> bool:
    """Whether a fact is no secret: "wifi password" and its value tell that only together."""
    return not holds_secret(f"{relation_words(fact)}: {fact.value}") and not holds_secret(
        f"{fact.subject}'s {relation_words(fact)} is {fact.value}"
    )
