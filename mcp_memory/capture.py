"""Automatic capture: what was said in a conversation, taken in as a user would give it, and read by the queue."""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby

from . import add as adding
from .conversations import conversation_of, note_captured, note_given
from .errors import InvalidInputError
from .exclusions import is_text_excluded
from .hook_records import Captured, Said
from .inputs import MAX_MESSAGES, moment
from .overheard import COURTESY, as_kept, says_nothing
from .records import Episode, Message, Owner, Receipt
from .remind import project_of
from .settings import Settings
from .stores import Stores
from .turns import Turn

TAKEN_IN = "this part of the transcript was taken in before"
EXCLUDED = "a pattern of exclude_text is found in it"


def capture(
    said: Sequence[Said],
    conversation_id: str,
    folder: str,
    read: tuple[int, int] | None,
    served: Sequence[str],
    owner: Owner,
    stores: Stores,
    settings: Settings,
    turn: Turn,
) -> Captured:
    """Store what was said in a conversation, and note up to where its transcript has been taken in.

    `read` is the part of the transcript, in bytes, None where there is none. One that does not begin where the last
    one ended is not taken: another hook was quicker. `served` are the ids of memories that its tools were given. What
    is excluded is not stored anywhere; what says nothing is kept in the episode, for the language model to understand
    the rest by, and becomes no memory. Call it for one conversation at a time.

    Raises:
        StorageError: the log could not write; what was not stored can be given again, and is stored once.
    """
    log, user_id, now = stores.log, owner.user_id, stores.clock()
    if read and not _follows(read, conversation_of(log, user_id, conversation_id).captured_to):
        return Captured(is_taken=False, reason=TAKEN_IN)
    receipts: list[Receipt] = []
    for _, messages in groupby(said, lambda message: _said_at(message, now).date()):
        part = list(messages)
        for first in range(0, len(part), MAX_MESSAGES):
            receipts += _store(
                part[first : first + MAX_MESSAGES], conversation_id, folder, owner, stores, settings, turn
            )
    if served:
        note_given(log, user_id, conversation_id, served, now)
    if read:
        note_captured(log, user_id, conversation_id, read[1], now)
    return Captured(tuple(receipts))


def _store(
    said: Sequence[Said],
    conversation_id: str,
    folder: str,
    owner: Owner,
    stores: Stores,
    settings: Settings,
    turn: Turn,
) -> list[Receipt]:
    """One episode of what was said on one day; the receipts of all, those of excluded messages among them."""
    now = stores.clock()
    kept = [message for message in said if not is_text_excluded(message.content, settings.exclude_text)]
    receipts = [Receipt("ignored", "", "", reason=EXCLUDED) for _ in range(len(said) - len(kept))]
    messages = tuple(Message(message.role, as_kept(message.content)) for message in kept)
    silent = {place: COURTESY for place, message in enumerate(messages) if says_nothing(message.content, message.role)}
    if len(silent) == len(messages):
        return receipts + [Receipt("ignored", "", message.content, reason=COURTESY) for message in messages]
    project = project_of(folder)
    episode = Episode(
        id=stores.ids.next(now),
        owner=owner,
        messages=messages,
        infer=True,
        about="user",
        kind="message",
        run_id=conversation_id,
        observed_at=_said_at(kept[0], now),
        created_at=now,
        expires_at=None,
        metadata={"captured": True, **({"project": project} if project else {})},
    )
    return [*receipts, *adding.add(episode, stores, turn, left_out=silent).result.results]


def _follows(read: tuple[int, int], captured_to: int) -> bool:
    """Whether a part of a transcript is the next one; one that was written anew is shorter than what had been read."""
    return read[0] == captured_to or read[1] < captured_to


def _said_at(message: Said, now: datetime) -> datetime:
    """When something was said; now where a transcript tells no time, or one to come."""
    try:
        at = moment("at", message.at)
    except InvalidInputError:
        at = None
    return min(at, now) if at else now
