"""What was said and what came of it, in pairs, for people who fine-tune small models. Only reads.

An episode of which the model kept nothing is a pair, too: what is not worth keeping has to be learned as well.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from . import backlog
from .knowledge import facts_of_memories
from .log import Log
from .records import Episode, Fact, Memory
from .redact import redact
from .transfer_form import as_text


def pairs(log: Log, user_id: str) -> Iterator[tuple[int, int, dict[str, Any] | None]]:
    """(done, total, pair) of each episode that the language model has read, oldest first; None where nothing is left.

    What the user deleted, or put other words in the place of, is not in it; statements are as the user corrected
    them, and secrets are taken out.
    """
    ids = backlog.episodes_read(log, user_id)
    for done, identifier in enumerate(ids, start=1):
        episode = backlog.get_episode(log, identifier)
        yield done, len(ids), _pair(log, episode) if episode else None


def _pair(log: Log, episode: Episode) -> dict[str, Any] | None:
    gone = backlog.forgotten_in(log, episode)
    messages = [message for place, message in enumerate(episode.messages) if place not in gone]
    if not messages:
        return None
    made = backlog.read_out_of(log, episode.id)
    facts = facts_of_memories(log, [memory.id for memory in made])
    model = next((memory.model for memory in made if memory.model), "")
    prompt = next((memory.prompt for memory in made if memory.model), "")
    return {
        "messages": [
            {"role": message.role, "content": redact(message.content)}
            | ({"name": message.speaker} if message.speaker else {})
            for message in messages
        ],
        "memories": [_statement(memory, facts.get(memory.id, ())) for memory in made],
        "observed_at": as_text(episode.observed_at),
        "episode_id": episode.id,
        "model": model,
        "prompt": prompt,
    }


def _statement(memory: Memory, facts: Sequence[Fact]) -> dict[str, Any]:
    return {
        "text": redact(memory.text),
        "kind": memory.kind,
        "about": memory.about,
        "importance": memory.importance,
        "facts": [
            {
                "subject": redact(fact.subject),
                "relation": fact.relation,
                "label": fact.label,
                "object": redact(fact.object),
                "holds": fact.holds,
            }
            for fact in facts
            # Closed without an end: it was read otherwise.
            if not (fact.closed_at and fact.invalid_at is None)
        ],
    }
