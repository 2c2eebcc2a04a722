"""The adding pipeline: extract, resolve, store. Order only; what each step decides is the step's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from .admit import QUEUED, admit, comparable, embed, met_again, resolve, same_text, with_lag, write
from .backlog import is_to_be_read
from .claims import claims_of_draft, with_claimed
from .extract import verbatim
from .records import BY_HAND, AddResult, Change, Claim, Episode, Job, JobTask, OwnDetails, Receipt, Taken
from .settle import settle
from .stores import Stores
from .turns import Turn


@dataclass(frozen=True, slots=True)
class Added:
    """What an add did at once, and the id of the job that works on, '' where none does."""

    result: AddResult
    job_id: str = ""


def add(
    episode: Episode,
    stores: Stores,
    turn: Turn,
    *,
    by_hand: Sequence[Claim] = (),
    left_out: Mapping[int, str] = MappingProxyType({}),
    own: Sequence[OwnDetails] = (),
    taken: Taken | None = None,
) -> Added:
    """Remember an episode; when this returns, it is durable and the next search finds it.

    `by_hand` is what a person says that the first message claims, in place of what is read in it. `left_out` gives
    the places of messages that become no memory, and why. `own` gives each message a time and metadata of its own, and
    `taken` says how much of a source has been taken in with this.

    What takes long is done at once, what is written when it is its turn.

    Raises:
        StorageError: the log could not write; nothing was remembered.
    """
    index = stores.index_of(episode.owner.user_id)
    drafts = verbatim(episode, languages=index.languages, known_names=index.names)
    drafts = [
        replace(
            draft,
            ignored_because=draft.ignored_because or left_out.get(place, ""),
            own=own[place] if own else None,
        )
        for place, draft in enumerate(drafts)
    ]
    claims = {
        place: () if draft.ignored_because else claims_of_draft(draft, draft.observed_at(episode)).claims
        for place, draft in enumerate(drafts)
    }
    if by_hand:
        claims[0] = tuple(by_hand)
        drafts[0] = replace(drafts[0], prompt=BY_HAND)
    drafts = [
        replace(draft, mentions=with_claimed(draft.mentions, claims[place])) for place, draft in enumerate(drafts)
    ]
    vectors = embed(drafts, episode, stores)
    with turn.served(), stores.writing:
        vectors = comparable(vectors, drafts, episode, stores)
        known = same_text(drafts, episode, stores, ("active", "raw"))
        resolution = resolve(drafts, known, episode, stores, vectors)
        change_id = stores.ids.next(episode.created_at)
        first = stores.log.next_position(episode.owner.user_id, episode.run_id)
        admitted = admit(resolution, episode, stores, change_id, resolution.positions(first))
        settled = settle(
            claims, admitted, resolution, stores, change_id, sightings=met_again(admitted, resolution, episode)
        )
        admitted = settled.admitted
        if all(draft.ignored_because for draft in drafts):
            return Added(AddResult(admitted.receipts, ""))
        # Words that waited for extraction and are now given to be kept as they are.
        kept = [
            replace(memory, state="active", updated_at=episode.created_at, revision=change_id)
            for memory in admitted.known.values()
            if memory.state == "raw" and not episode.infer
        ]
        is_new = bool(admitted.memories) or any(memory.state != "raw" for memory in admitted.known.values())
        task: JobTask = "procedure" if episode.kind == "procedure" else "extract"
        # Words that wait are read by their own job, but no two readings make the same procedure of them.
        is_new = is_new or (task == "procedure" and not is_to_be_read(stores.log, episode, task))
        job = _job(episode, task, stores) if episode.infer and is_new else None
        change = Change(
            id=change_id,
            at=episode.created_at,
            owner=episode.owner,
            operation="add",
            episode=episode,
            job=job,
            memories=(*kept, *settled.known),
            facts=settled.facts,
            taken=taken,
        )
        lag = write(change, episode, resolution, admitted, stores, vectors)
    receipts = with_lag(admitted.receipts, lag)
    if job and job.task == "procedure":
        receipts = tuple(_as_waiting(receipt) for receipt in receipts)
    return Added(AddResult(receipts, episode.id), job.id if job else "")


def _as_waiting(receipt: Receipt) -> Receipt:
    """The receipt of a message of a procedure, which is read with the others whether it was known or not."""
    return replace(receipt, status="queued", reason=QUEUED) if receipt.status == "duplicate" else receipt


def _job(episode: Episode, task: JobTask, stores: Stores) -> Job:
    """The job that an episode waits for."""
    return Job(
        id=stores.ids.next(stores.clock()),
        user_id=episode.owner.user_id,
        episode_id=episode.id,
        run_id=episode.run_id,
        task=task,
        next_at=episode.created_at,
    )
