"""The queue: episodes that wait for the language model are worked off in order, whenever it is there.

One thread, woken by adds. A model that is not there is looked for once a minute; an episode that it cannot be trusted
with is put off, longer each time, and at last keeps its own words. Nothing is lost in any case: until its job is done
an episode is found word for word.
"""

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from . import backlog
from .admit import admit, embed, resolve, with_lag, write
from .distil import Distilled, Statement, Surroundings, distil
from .errors import McpMemoryError, ModelOutputError, ModelUnavailableError
from .extract import draft_of
from .language_model import LanguageModel
from .records import Change, Draft, Episode, Job, Kind, Memory, Receipt, Selection
from .redact import holds_only_secrets, holds_secret, redact
from .resolve import Resolution
from .search import search
from .stores import Stores
from .text import content_hash

logger = logging.getLogger(__name__)

# How long a job is put off after each answer that could not be used; then the person's words are kept.
BACK_OFF = (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1))
_N_RELEVANT, _N_RECENT = 5, 3
_MAX_REMEMBERED_OUTCOMES = 200
NOTHING_TO_KEEP = "nothing in it to keep for later; the words stay, out of search, under this id"
KEPT_WORDS = "kept word for word: the language model's reading of it could not be trusted"


class Queue:
    """The jobs of one folder and the thread that works them off."""

    def __init__(self, stores: Stores, model: LanguageModel) -> None:
        self._stores = stores
        self._model = model
        self._changed = threading.Condition()
        self._outcomes: dict[str, tuple[Receipt, ...]] = {}
        self._thread: threading.Thread | None = None
        self._is_stopping = False
        # Counts the reasons to look at the jobs again; one that comes while they are being looked at is not lost.
        self._n_wakes = 0
        # Why the model is not there, '' while it is.
        self.trouble = ""
        self._is_told = True

    def start(self) -> None:
        """Begin to work jobs off, or wake the thread that does. Never raises."""
        with self._changed:
            if self._is_stopping:
                return
            self._n_wakes += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="queue", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait(self, job_id: str, timeout_s: float) -> tuple[Receipt, ...]:
        """What came of a job, () when that is not known in time, or the job was put off, or the model is away."""

        def is_settled() -> bool:
            return job_id in self._outcomes or bool(self.trouble) or self._is_stopping

        with self._changed:
            self._changed.wait_for(is_settled, timeout_s)
            return self._outcomes.pop(job_id, ())

    def notice(self) -> str:
        """What whoever searches next should know, '' where all is well or it has been said."""
        with self._changed:
            if self._is_told or not self.trouble:
                return ""
            self._is_told, trouble = True, self.trouble
        waiting = backlog.count_jobs(self._stores.log).n_waiting
        return f"{waiting} texts wait for extraction and are found word for word: {trouble}." if waiting else ""

    def stop(self) -> None:
        """End the thread; a request under way is cancelled, its job stays. Safe to repeat."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify_all()
        self._model.close()
        if self._thread is not None:
            self._thread.join()

    def settle(self, timeout_s: float) -> bool:
        """Wait until no job is due; whether that came about in time."""
        self.start()
        with self._changed:
            return self._changed.wait_for(lambda: self._is_idle() or bool(self.trouble), timeout_s) and not self.trouble

    def _is_idle(self) -> bool:
        return backlog.next_job(self._stores.log, self._stores.clock())[0] is None

    def _work(self) -> None:
        while not self._is_stopping:
            seen = self._n_wakes
            try:
                job, next_at = backlog.next_job(self._stores.log, self._stores.clock())
                if job is None:
                    self._sleep(seen, (next_at - self._stores.clock()).total_seconds() if next_at else None)
                else:
                    self._try(job)
            except McpMemoryError as exc:
                # The log itself failed; whoever adds next meets the same and is told.
                if not self._is_stopping:
                    logger.warning("the queue waits: %s", exc)
                self._sleep(seen, self._stores.settings.llm_retry_s)
            except Exception:
                # A thread that dies would leave jobs waiting for ever, without a word.
                logger.exception("unexpected error in the queue")
                self._sleep(seen, self._stores.settings.llm_retry_s)

    def _sleep(self, n_seen: int, seconds: float | None) -> None:
        with self._changed:
            # Whoever waits for an idle queue looks now.
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._is_stopping or self._n_wakes != n_seen, seconds)

    def _try(self, job: Job) -> None:
        try:
            receipts = work_off(job, self._stores, self._model)
        except ModelUnavailableError as exc:
            if self._is_stopping:
                return
            logger.warning("extraction waits: %s", exc)
            backlog.postpone(self._stores.log, job, next_at=job.next_at, error=str(exc), counts=False)
            self._set_trouble(str(exc))
            # Not woken by adds: a server that is away is asked once in this time, however much is said.
            self._pause(self._stores.settings.llm_retry_s)
        except ModelOutputError as exc:
            self._put_off(job, str(exc))
        else:
            self._note(job, receipts)

    def _put_off(self, job: Job, error: str) -> None:
        logger.warning("job %s is put off: %s", job.id, error)
        receipts: tuple[Receipt, ...] = ()
        if job.attempts < len(BACK_OFF):
            next_at = self._stores.clock() + BACK_OFF[job.attempts]
            backlog.postpone(self._stores.log, job, next_at=next_at, error=error, counts=True)
        else:
            receipts = keep_words(job, self._stores, error)
        self._note(job, receipts)

    def _note(self, job: Job, receipts: tuple[Receipt, ...]) -> None:
        """Tell whoever waits for a job what came of it; () where it was put off."""
        with self._changed:
            self.trouble = ""
            self._outcomes[job.id] = receipts
            while len(self._outcomes) > _MAX_REMEMBERED_OUTCOMES:
                del self._outcomes[next(iter(self._outcomes))]
            self._changed.notify_all()

    def _set_trouble(self, trouble: str) -> None:
        with self._changed:
            self._is_told = self._is_told and bool(self.trouble)
            self.trouble = trouble
            self._changed.notify_all()

    def _pause(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._is_stopping, seconds)


def work_off(job: Job, stores: Stores, model: LanguageModel) -> tuple[Receipt, ...]:
    """Distil the episode of a job and store what came of it; the raw rows give way in the same transaction.

    Raises:
        ModelUnavailableError, ModelOutputError: nothing has changed.
    """
    episode = backlog.get_episode(stores.log, job.episode_id)
    if episode is None:
        return keep_words(job, stores, "its episode is gone")
    distilled = distil(episode, _left_out(episode, stores), _surroundings(episode, stores), model.ask)
    return _store(job, episode, distilled, stores, model_name=model.name)


def keep_words(job: Job, stores: Stores, error: str) -> tuple[Receipt, ...]:
    """Give a job up: what waited for it stays as it was said, without its secrets, as ordinary memories."""
    episode = backlog.get_episode(stores.log, job.episode_id)
    if episode is None:
        backlog.cancel(stores.log, job, error)
        return ()
    undecided = set(range(len(episode.messages))) - _left_out(episode, stores)
    return _store(job, episode, Distilled(undecided=undecided), stores, reason=error)


def _store(
    job: Job, episode: Episode, distilled: Distilled, stores: Stores, *, model_name: str = "", reason: str = ""
) -> tuple[Receipt, ...]:
    """Finish a job with what came of it; a `reason` says why it was given up."""
    _take_secrets_out(distilled, episode)
    drafts = _drafts(distilled, episode, model_name, stores)
    vectors = embed(drafts, episode, stores)
    with stores.writing:
        if not backlog.is_waiting(stores.log, job.id):
            return ()
        # Something may have been deleted while the model was thinking.
        gone = _left_out(episode, stores)
        resolution = resolve(drafts, episode, stores, vectors)
        resolution.drafts[:] = [
            replace(item, draft=replace(item.draft, ignored_because="deleted meanwhile"), entity_ids=())
            if item.draft.source in gone
            else item
            for item in resolution.drafts
        ]
        change_id = stores.ids.next(stores.clock())
        first = stores.log.next_position(episode.owner.user_id, episode.run_id)
        admitted = admit(resolution, episode, stores, change_id, resolution.positions(first))
        raw = backlog.raw_rows(stores.log, episode.id)
        given_way = _give_way(episode, distilled, resolution, admitted.receipts, raw, change_id, stores)
        change = Change(
            id=change_id,
            at=stores.clock(),
            owner=episode.owner,
            operation="distil",
            reason=reason,
            finished_job=job.id,
            memories=tuple(given_way.values()),
        )
        lag = write(change, episode, resolution, admitted, stores, vectors)
    return with_lag([*admitted.receipts, *_other_receipts(resolution, given_way)], lag)


def _take_secrets_out(distilled: Distilled, episode: Episode) -> None:
    """Words that are to stay although they hold a secret stay without it, as statements of their own."""
    for place in sorted(distilled.undecided):
        text = episode.messages[place].content
        if holds_secret(text):
            distilled.undecided.discard(place)
            if not holds_only_secrets(text):
                distilled.statements.append(
                    Statement(
                        source=place,
                        text=redact(text),
                        about=episode.about,
                        gate="about_user",
                        language="",
                        prompt="",
                        is_verbatim=True,
                    )
                )


def _left_out(episode: Episode, stores: Stores) -> set[int]:
    """The messages whose words the user has deleted since."""
    texts = [message.content for message in episode.messages]
    gone = backlog.deleted_hashes(stores.log, episode.owner.user_id, texts, episode.created_at)
    return {place for place, text in enumerate(texts) if content_hash(text) in gone}


def _surroundings(episode: Episode, stores: Stores) -> Surroundings:
    selection = Selection(owner=episode.owner, now=stores.clock())
    said = " ".join(message.content for message in episode.messages)[:2000]
    relevant = search(said, selection, stores, top_k=_N_RELEVANT * 2, threshold=0.0).hits
    recent = stores.log.list_memories(episode.owner.user_id, states=("active",), limit=_N_RECENT)
    known = [hit.memory for hit in relevant if hit.memory.state == "active"][:_N_RELEVANT] + recent
    texts = dict.fromkeys(memory.text for memory in known if memory.episode_id != episode.id)
    return Surroundings(known=tuple(texts), earlier=backlog.messages_before(stores.log, episode), now=stores.clock())


def _drafts(distilled: Distilled, episode: Episode, model: str, stores: Stores) -> list[Draft]:
    index = stores.index_of(episode.owner.user_id)
    return [
        replace(
            draft_of(
                statement.source,
                episode.messages[statement.source],
                statement.text,
                episode,
                "active",
                index.languages,
                index.names,
            ),
            about=statement.about,
            kind=_kind(statement, episode),
            model="" if statement.is_verbatim else model,
            prompt="" if statement.is_verbatim else statement.prompt,
        )
        for statement in distilled.statements
    ]


def _kind(statement: Statement, episode: Episode) -> Kind:
    if episode.kind not in ("message", "note"):
        return episode.kind
    return "preference" if statement.gate == "wish" else "fact"


def _give_way(
    episode: Episode,
    distilled: Distilled,
    resolution: Resolution,
    receipts: Sequence[Receipt],
    raw: Mapping[str, Memory],
    change_id: str,
    stores: Stores,
) -> dict[int, Memory]:
    """The raw rows of an episode by message, as they are from now on; their ids lead to what came of them."""
    now = stores.clock()
    came: dict[int, dict[str, None]] = {}
    for item, receipt in zip(resolution.drafts, receipts, strict=True):
        if receipt.id:
            came.setdefault(item.draft.source, {})[receipt.id] = None
    changed: dict[int, Memory] = {}
    for place, message in enumerate(episode.messages):
        memory = raw.get(content_hash(message.content))
        if memory is None or memory in changed.values():
            continue
        ids = came.get(place, {})
        stays = place in distilled.undecided or memory.id in ids
        changed[place] = replace(
            memory,
            state="active" if stays else "distilled",
            superseded_by="" if stays else " ".join(ids),
            updated_at=now,
            revision=change_id,
        )
    return changed


def _other_receipts(resolution: Resolution, given_way: Mapping[int, Memory]) -> list[Receipt]:
    """Receipts for messages of which nothing new came."""
    covered = {item.draft.source for item in resolution.drafts}
    receipts: list[Receipt] = []
    for place, memory in given_way.items():
        if place in covered:
            continue
        if memory.state == "active":
            receipts.append(Receipt("added", memory.id, memory.text, reason=KEPT_WORDS))
        else:
            receipts.append(Receipt("ignored", memory.id, memory.text, reason=NOTHING_TO_KEEP))
    return receipts
