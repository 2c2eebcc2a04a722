"""What a job is read with: what is known, who the user is, what was said before; nothing that the user has deleted."""

from dataclasses import dataclass, field

from . import backlog
from .knowledge import get_profile
from .records import Episode
from .search import search
from .search_records import Selection
from .shown import Surroundings
from .stores import Stores

_N_RELEVANT, _N_RECENT = 5, 3
_MAX_QUERY_CHARS = 2000


@dataclass(frozen=True, slots=True)
class Reading:
    """What of an episode is left out because it was deleted, and what is shown beside the rest."""

    left_out: frozenset[int]
    around: Surroundings = field(default_factory=Surroundings)
    known_ids: tuple[str, ...] = ()


def by_itself(episode: Episode, stores: Stores) -> Reading:
    """An episode without anything beside it."""
    return Reading(frozenset(backlog.forgotten_in(stores.log, episode)))


def in_context(episode: Episode, stores: Stores) -> Reading:
    """An episode with the most relevant and the latest of what is known, the user's summary and the messages before."""
    user_id = episode.owner.user_id
    selection = Selection(owner=episode.owner, now=stores.clock())
    said = " ".join(message.content for message in episode.messages)[:_MAX_QUERY_CHARS]
    relevant = search(said, selection, stores, stores.settings, top_k=_N_RELEVANT * 2, threshold=0.0).hits
    recent = stores.log.list_memories(user_id, states=("active",), limit=_N_RECENT)
    known = {
        memory.text: memory.id
        for memory in [hit.memory for hit in relevant if hit.memory.state == "active"][:_N_RELEVANT] + recent
        if memory.episode_id != episode.id
        and (memory.expires_at is None or memory.expires_at > selection.now)
        # What another agent says of itself is not about this one.
        and (memory.about == "user" or memory.agent_id == episode.owner.agent_id)
    }
    profile = get_profile(stores.log, user_id)
    around = Surroundings(
        profile=profile.text if profile else "",
        known=tuple(known),
        earlier=backlog.messages_before(stores.log, episode, selection.now),
        now=selection.now,
    )
    return Reading(by_itself(episode, stores).left_out, around, tuple(known.values()))


def is_outdated(reading: Reading, episode: Episode, stores: Stores) -> bool:
    """Whether the user has deleted something of it since."""
    around = reading.around
    known = stores.log.get_memories(reading.known_ids)
    return (
        # Words of it were purged.
        backlog.get_episode(stores.log, episode.id) != episode
        or len(known) < len(set(reading.known_ids))
        or by_itself(episode, stores).left_out != reading.left_out
        or any(memory.state == "deleted" for memory in known.values())
        # A summary goes with the memories that it was made of.
        or (bool(around.profile) and get_profile(stores.log, episode.owner.user_id) is None)
        or (around.now is not None and backlog.messages_before(stores.log, episode, around.now) != around.earlier)
    )
