"""The queue: episodes that wait for the language model are worked off in order, whenever it is there.

One thread, woken by adds. A model that is not there is looked for once a minute; an episode that it cannot be trusted
with, or at which it or we fail, is put off, longer each time, and at last keeps its own words. Nothing is lost in any
case: until its job is done an episode is found word for word.
"""

import contextlib
import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta

from . import backlog, profile
from .errors import (
    ConflictError,
    McpMemoryError,
    ModelFailedError,
    ModelOutputError,
    ModelUnavailableError,
    StorageError,
)
from .language_model import LanguageModel
from .records import Job, Receipt
from .stores import Stores
from .work import keep_words, work_off

logger = logging.getLogger(__name__)

# How long a job is put off after each attempt of which nothing came; then the person's words are kept.
BACK_OFF = (timedelta(minutes=1), timedelta(minutes=10), backlog.MAX_PUT_OFF)
_MAX_REMEMBERED_OUTCOMES = 200
# What is wrong with the folder, and not with a job.
_OF_FOLDER = (StorageError, ConflictError)


class Queue:
    """The jobs of one folder and the thread that works them off."""

    def __init__(self, stores: Stores, model: LanguageModel, after_change: Callable[[], None]) -> None:
        self._stores = stores
        self._after_change = after_change
        self._model = model
        self._changed = threading.Condition()
        self._outcomes: dict[str, tuple[Receipt, ...]] = {}
        self._thread: threading.Thread | None = None
        self._is_stopping = False
        # Whether nobody is to wait for a job any more.
        self._is_waiting_over = False
        # Whether the thread has met what is wrong with the folder, or with this program, and pauses.
        self._has_failed = False
        # Counts the reasons to look at the jobs again; one that comes while they are being looked at is not lost.
        self._n_wakes = 0
        # Why the model is not there, '' while it is.
        self.trouble = ""
        # What of it the log has been told last.
        self._logged = ""
        self._is_told = True
        # What became of jobs here and has not been told: those put off for the first time, and how many were given up.
        self._newly_put_off: set[str] = set()
        self._n_newly_given_up = 0
        # Users of whom something has been learned since their summaries were looked at.
        self._learned_of: set[str] = set()
        # When a summary that failed is tried again, by user.
        self._not_before: dict[str, datetime] = {}

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

    def look_again(self) -> None:
        """Have whoever waits for a job see that it may have been cancelled; wakes no thread that works."""
        with self._changed:
            self._changed.notify_all()

    def stop_waiting(self) -> None:
        """Have every `wait` return at once, those under way and all later ones; the jobs go on. Safe to repeat."""
        with self._changed:
            self._is_waiting_over = True
            self._changed.notify_all()

    def wait(self, job_id: str, timeout_s: float) -> tuple[Receipt, ...]:
        """What came of a job, () when that is not known in time.

        Answers at once where the job is put off or cancelled, waits for one of its run that is, or the model is away;
        and after `stop_waiting`.
        """

        def is_settled() -> bool:
            return (
                job_id in self._outcomes
                or bool(self.trouble)
                or self._is_stopping
                or self._is_waiting_over
                or self._hindrance(job_id) is not None
            )

        with self._changed:
            self._changed.wait_for(is_settled, timeout_s)
            return self._outcomes.pop(job_id, ())

    def why_waiting(self, job_id: str) -> str:
        """What there is to say of a job that `wait` told nothing of, '' where it only takes its time."""
        with self._changed:
            # The log is closed after the stop, which takes the lock first.
            return self.trouble if self._is_stopping else self._hindrance(job_id) or self.trouble

    def _hindrance(self, job_id: str) -> str | None:
        # What was added is durable: that nothing can be said of its job is no failure of the add.
        with contextlib.suppress(StorageError):
            return backlog.hindrance(self._stores.log, job_id, self._stores.clock())
        return None

    def notice(self, user_id: str, *, is_folders_own: bool) -> str:
        """What a user who searches next should know, '' where all is well or it has been said.

        Of single texts only the folder's own user is told: they may be that user's.

        A text that cannot be read is told of when it is put off for the first time, and when it is given up. Of what
        an earlier process met nothing is said: it may have been told, and `doctor` tells of it.
        """
        log = self._stores.log
        if not is_folders_own:
            return ""
        with self._changed:
            trouble = "" if self._is_told else self.trouble
            self._is_told = self._is_told or bool(trouble)
            put_off, self._newly_put_off = self._newly_put_off, set()
            n_given_up, self._n_newly_given_up = self._n_newly_given_up, 0
        told = []
        if trouble and (n_waiting := backlog.count_jobs(log, user_id).n_waiting):
            told.append(f"{n_waiting} texts wait for extraction and are found word for word: {trouble}.")
        unread = "could not be read by the language model"
        if n_again := sum(backlog.is_waiting(log, job_id) for job_id in put_off):
            rest = "it stays word for word and is" if n_again == 1 else "they stay word for word and are"
            told.append(f"{_texts(n_again)} {unread} yet; {rest} tried again.")
        if n_given_up:
            told.append(f"{_texts(n_given_up)} {unread} and {'stays' if n_given_up == 1 else 'stay'} word for word.")
        return " ".join(told)

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

    def has_due_work(self) -> bool:
        """Whether a job is being worked off, or is due, with the model there as far as is known.

        No while the thread does not run, or pauses because the folder cannot be used: then nothing would come of it.
        """
        is_running = self._thread is not None and self._thread.is_alive()
        if not is_running or self._has_failed or self.trouble:
            return False
        try:
            return not self._is_idle()
        except StorageError:
            return False

    def _is_idle(self) -> bool:
        return not self._learned_of and backlog.next_job(self._stores.log, self._stores.clock())[0] is None

    def _work(self) -> None:
        while not self._is_stopping:
            seen = self._n_wakes
            try:
                job, next_at = backlog.next_job(self._stores.log, self._stores.clock())
                self._has_failed = False
                if job is None and self._learned_of:
                    self._summarise(next(iter(self._learned_of)))
                elif job is None:
                    self._sleep(seen, (next_at - self._stores.clock()).total_seconds() if next_at else None)
                else:
                    self._try(job)
            except McpMemoryError as exc:
                self._has_failed = True
                # The log itself failed; whoever adds next meets the same and is told.
                if not self._is_stopping:
                    logger.warning("the queue waits: %s", exc)
                self._sleep(seen, self._stores.settings.llm_retry_s)
            except Exception:
                self._has_failed = True
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
            if not self._is_stopping:
                self._wait_for_model(job, exc)
        except ModelOutputError as exc:
            self._put_off(job, str(exc))
        except _OF_FOLDER:
            raise
        except Exception as exc:
            # Whatever this is, it is about this job: the others must not wait for it to be mended.
            logger.exception("unexpected error in job %s", job.id)
            # Messages of errors may quote what was said.
            self._put_off(job, type(exc).__name__)
        else:
            self._learned_of.add(job.user_id)
            self._after_change()
            self._note(job, receipts)

    def _wait_for_model(self, job: Job, exc: ModelUnavailableError) -> None:
        """Pause, so that a server in trouble is asked once in this time. Not woken by adds, however much is said.

        A server that is there and fails at a request, or runs out of time, may do so at this text always: then the
        job's turn comes later, so that others go on. It may as well fail at everything, as for want of memory. One
        attempt in a pause, and `BACK_OFF` between those of one job, give it more than an hour to recover before the
        first job is given up.
        """
        error = str(exc)
        if error != self._logged:
            # Once a minute the same would fill the log.
            logger.warning("extraction waits: %s", exc)
            self._logged = error
        if isinstance(exc, ModelFailedError) and not self._model.look().advice:
            self._put_off(job, error)
            # Said in receipts while it lasts; that a text was put off is what searches tell.
            self._set_trouble(error)
            self._pause(self._stores.settings.llm_retry_s)
            # Whether it has ended the next job finds out, which need not be due soon.
            self._set_trouble("")
        else:
            backlog.postpone(self._stores.log, job, next_at=job.next_at, error=error, counts=False)
            with self._changed:
                self._is_told = self._is_told and bool(self.trouble)
                self._set_trouble(error)
            self._pause(self._stores.settings.llm_retry_s)

    def _summarise(self, user_id: str) -> None:
        """Bring the summary of a user up to date, if much has been learned; what fails is put off for an hour."""
        now = self._stores.clock()
        try:
            if self._not_before.get(user_id, now) <= now and profile.is_due(user_id, self._stores):
                profile.refresh(user_id, self._model.name, self._stores, self._model.ask)
                self._after_change()
        except (ModelUnavailableError, ModelOutputError) as exc:
            self._not_before[user_id] = now + BACK_OFF[-1]
            logger.info("the summary of the user stays as it was: %s", exc)
        finally:
            self._learned_of.discard(user_id)

    def _put_off(self, job: Job, error: str) -> None:
        logger.warning("job %s is put off: %s", job.id, error)
        receipts: tuple[Receipt, ...] = ()
        if job.attempts < len(BACK_OFF):
            next_at = self._stores.clock() + BACK_OFF[job.attempts]
            backlog.postpone(self._stores.log, job, next_at=next_at, error=error, counts=True)
            if not job.attempts:
                with self._changed:
                    self._newly_put_off.add(job.id)
        else:
            receipts = self._keep_words(job, error)
            self._after_change()
            with self._changed:
                self._n_newly_given_up += 1
        self._note(job, receipts)

    def _keep_words(self, job: Job, error: str) -> tuple[Receipt, ...]:
        try:
            return keep_words(job, self._stores, error)
        except _OF_FOLDER:
            raise
        except Exception:
            logger.exception("job %s is given up; its words stay as they are", job.id)
            backlog.give_up(self._stores.log, job, error)
            return ()

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
            self.trouble = trouble
            self._changed.notify_all()

    def _pause(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._is_stopping, seconds)


def _texts(n: int) -> str:
    return "1 text" if n == 1 else f"{n} texts"
