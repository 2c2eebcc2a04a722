"""The summary of a user: made anew in the background when enough has been learned since the last one."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from . import budget
from .asking import Answer, Ask, ask_twice
from .errors import ModelOutputError
from .guards import Source, find_flaw
from .knowledge import get_profile, save_profile
from .prompts import language_name, load_prompt
from .records import Memory, Profile
from .redact import redact
from .replies import read_object
from .search_records import Filters
from .sift import sentences
from .stores import Stores

logger = logging.getLogger(__name__)

# A first summary, and each further one, needs this many memories that the one before did not know.
MIN_NEW = 8
MAX_OUTPUT_TOKENS = 320
STATEMENTS_TOKENS = 1600
_N_LATEST = 200
_N_USED = 40
_MAX_CHARS = 300
PROFILE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"summary": {"type": "string"}},
    "required": ["summary"],
    "additionalProperties": False,
}


def is_due(user_id: str, stores: Stores) -> bool:
    """Whether enough is known that the user's summary does not know."""
    profile = get_profile(stores.log, user_id)
    fresh = [memory for memory in _known(user_id, stores) if profile is None or memory.created_at > profile.made_at]
    return len(fresh) >= MIN_NEW


def refresh(user_id: str, model_name: str, stores: Stores, ask: Ask) -> Profile:
    """Make and keep the summary of a user.

    Raises:
        ModelUnavailableError: the model is not there; the summary is as it was.
        ModelOutputError: nothing of its answer holds; the summary is as it was.
    """
    prompt = load_prompt("profile")
    # Before anything is read: what is learned while the model writes is news to the summary.
    made_at = stores.clock()
    used = _most_important(_known(user_id, stores))
    language = max((memory.language for memory in used), key=[memory.language for memory in used].count)
    name = language_name(language, "the list's language")
    statements = "\n".join(_numbered(used))
    source = Source("\n".join(redact(memory.text) for memory in used), "", language, prompt.marks)
    text = ask_twice(
        ask,
        prompt.messages("", f"{statements}\nSummary in {name}:"),
        PROFILE_SCHEMA,
        MAX_OUTPUT_TOKENS,
        lambda answer: _read(answer, source),
    )
    ids = tuple(memory.id for memory in used)
    profile = Profile(user_id, text, ids, made_at, model_name, prompt.fingerprint)
    with stores.writing:
        now = stores.log.get_memories(ids)
        if any(now[identifier].state != "active" for identifier in ids):
            raise ModelOutputError("something that the summary used is gone", hint="it is made anew later")
        save_profile(stores.log, profile)
    return profile


def _known(user_id: str, stores: Stores) -> list[Memory]:
    about_user = Filters(about="user")
    latest = stores.log.list_memories(user_id, about_user, states=("active",), limit=_N_LATEST)
    return [
        memory
        for memory in latest
        if memory.kind not in ("message", "procedure")
        and len(memory.text) <= _MAX_CHARS
        # A summary is read for long; what expires does not belong there.
        and memory.expires_at is None
    ]


def _most_important(memories: Sequence[Memory]) -> list[Memory]:
    """What a summary is made of, the most important and newest first, as much as fits a request."""
    ranked = sorted(memories, key=lambda memory: (memory.importance, memory.observed_at), reverse=True)[:_N_USED]
    lines = _numbered(ranked)
    return ranked[: len(budget.first_that_fit(lines, STATEMENTS_TOKENS))]


def _numbered(memories: Sequence[Memory]) -> list[str]:
    return [f"{number}. {redact(memory.text)}" for number, memory in enumerate(memories, 1)]


def _read(answer: Answer, source: Source) -> str:
    """The sentences of a summary that hold, in order."""
    value, _ = read_object(answer.text)
    said = sentences(redact(str(value.get("summary") or "")))
    if not answer.is_complete:
        said = said[:-1]
    sound = [sentence for sentence in said if find_flaw(sentence, source) in ("", "meta")]
    if not sound:
        raise ModelOutputError("no sentence of the summary stands in the memories", hint="it is made anew later")
    return " ".join(dict.fromkeys(sound))
