"""The durable queue in the log: which episodes wait for the language model, and what they are to be read with."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, case, func, or_, select, update

from .changes import WINDOW_SIZE
from .log import Log
from .records import BY_HAND, Episode, Job, JobTask, Memory, Message, Owner
from .schema import episodes, events, jobs, memories
from .text import content_hash

# No job is put off for longer.
MAX_PUT_OFF = timedelta(hours=1)
# A text, as its hash, and who said it: two people's words are two memories.
Said = tuple[str, str]
# What jobs wait for each other in: a run, or without one the call alone.
_RUN = (jobs.c.user_id, jobs.c.run_id, case((jobs.c.run_id == "", jobs.c.episode_id), else_=""))


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many jobs wait, how many were given up, and what the last failure said."""

    n_waiting: int
    n_failed: int
    last_error: str


def next_job(log: Log, now: datetime) -> tuple[Job | None, datetime | None]:
    """The oldest job that is due, and else when the next one is.

    In a run each waits for those before it; a call without a run waits for nobody.
    """
    first_of_runs = select(func.min(jobs.c.id)).where(jobs.c.state == "waiting").group_by(*_RUN)
    is_first = jobs.c.id.in_(first_of_runs)
    with log.reading() as connection:
        due = select(jobs).where(is_first, _is_due(jobs.c.next_at, now)).order_by(jobs.c.id).limit(1)
        if row := connection.execute(due).first():
            return _job(row), None
        return None, connection.scalar(select(func.min(jobs.c.next_at)).where(is_first))


def _is_due(next_at: Any, now: datetime) -> Any:
    """Whether a time, or a column of times, has come; one further off than any comes of a clock set back since."""
    return (next_at <= now) | (next_at > now + 2 * MAX_PUT_OFF)


def is_waiting(log: Log, job_id: str) -> bool:
    """Whether a job has not been done, given up or cancelled."""
    with log.reading() as connection:
        return connection.scalar(select(jobs.c.state).where(jobs.c.id == job_id)) == "waiting"


def is_episode_waiting(log: Log, episode_id: str) -> bool:
    """Whether a job waits to read an episode."""
    with log.reading() as connection:
        of_episode = select(jobs.c.id).where(jobs.c.episode_id == episode_id, jobs.c.state == "waiting")
        return connection.scalar(of_episode.limit(1)) is not None


def is_to_be_read(log: Log, episode: Episode, task: JobTask) -> bool:
    """Whether a job for a task waits with the very messages of an episode, brought by another of the same user."""
    with log.reading() as connection:
        waiting = connection.scalars(
            select(episodes.c.messages)
            .join(jobs, jobs.c.episode_id == episodes.c.id)
            .where(
                jobs.c.state == "waiting",
                jobs.c.task == task,
                jobs.c.user_id == episode.owner.user_id,
                episodes.c.about == episode.about,
            )
        )
        return any(tuple(Message(**message) for message in said) == episode.messages for said in waiting)


def hindrance(log: Log, job_id: str, now: datetime) -> str | None:
    """Why a job is not done next in its run: cancelled, put off, or behind one that is; None where nothing is known."""
    with log.reading() as connection:
        job = connection.execute(select(jobs).where(jobs.c.id == job_id)).one()
        if job.state == "cancelled":
            return job.last_error or "the words were deleted meanwhile"
        if job.state != "waiting":
            return None
        run = (jobs.c.user_id == job.user_id, jobs.c.run_id == job.run_id) if job.run_id else (jobs.c.id == job_id,)
        first = connection.execute(
            select(jobs).where(jobs.c.state == "waiting", *run).order_by(jobs.c.id).limit(1)
        ).one()
    if _is_due(first.next_at, now):
        return None
    return first.last_error if first.id == job_id else f"another text of its run comes first: {first.last_error}"


def postpone(log: Log, job: Job, *, next_at: datetime, error: str, counts: bool) -> None:
    """Put a job off; `counts` where its own input is at fault and not the model's absence."""
    with log.writing() as connection:
        connection.execute(
            update(jobs)
            .where(jobs.c.id == job.id, jobs.c.state == "waiting")
            .values(next_at=next_at, last_error=error, attempts=jobs.c.attempts + int(counts))
        )


def cancel(log: Log, job: Job, reason: str) -> None:
    """Take a job that can never be done out of the queue."""
    _take_out(log, job, "cancelled", reason)


def give_up(log: Log, job: Job, reason: str) -> None:
    """Take a job out of the queue of which not even the words could be kept otherwise; they stay as they wait."""
    _take_out(log, job, "failed", reason)


def _take_out(log: Log, job: Job, state: str, reason: str) -> None:
    with log.writing() as connection:
        connection.execute(update(jobs).where(jobs.c.id == job.id).values(state=state, last_error=reason))


def count_jobs(log: Log, user_id: str = "") -> Waiting:
    """The state of the queue, of one user or of all."""
    of_user = [jobs.c.user_id == user_id] if user_id else []
    with log.reading() as connection:
        rows = connection.execute(select(jobs.c.state, func.count()).where(*of_user).group_by(jobs.c.state)).all()
        counts = {str(state): int(n) for state, n in rows}
        last_error = connection.scalar(
            select(jobs.c.last_error)
            .where(jobs.c.state.in_(("waiting", "failed")), jobs.c.last_error != "", *of_user)
            .order_by(jobs.c.id)
            .limit(1)
        )
    return Waiting(counts.get("waiting", 0), counts.get("failed", 0), str(last_error or ""))


def get_episode(log: Log, episode_id: str) -> Episode | None:
    """An episode as it was brought."""
    with log.reading() as connection:
        row = connection.execute(select(episodes).where(episodes.c.id == episode_id)).mappings().first()
    return None if row is None else _episode(row)


def episodes_read(log: Log, user_id: str) -> list[str]:
    """The ids of a user's episodes that the language model has read, oldest first."""
    with log.reading() as connection:
        done = (jobs.c.user_id == user_id, jobs.c.state == "done")
        return list(connection.scalars(select(jobs.c.episode_id).where(*done).distinct().order_by(jobs.c.episode_id)))


def read_out_of(log: Log, episode_id: str) -> list[Memory]:
    """What the language model made of an episode and is not deleted, with what people corrected in it, in order."""
    made = or_(memories.c.model != "", memories.c.prompt == BY_HAND)
    with log.reading() as connection:
        rows = connection.execute(
            select(memories)
            .where(memories.c.episode_id == episode_id, made, memories.c.state.in_(("active", "invalid", "merged")))
            .order_by(memories.c.id)
        ).mappings()
        return [Memory(**row) for row in rows]


def raw_rows(log: Log, episode_id: str) -> dict[Said, Memory]:
    """The memories of an episode that wait for extraction, in order."""
    with log.reading() as connection:
        rows = connection.execute(
            select(memories)
            .where(memories.c.episode_id == episode_id, memories.c.state == "raw")
            .order_by(memories.c.id)
        ).mappings()
        return {(row["hash"], row["speaker"]): Memory(**row) for row in rows}


def forgotten_in(log: Log, episode: Episode) -> set[int]:
    """The places of messages of an episode that the user deleted or corrected, or of which a statement was deleted.

    Those whose words were purged are among them.

    Ids tell what came later: they are ordered where clocks are not.
    """
    keys = [said_in(message) for message in episode.messages]
    columns = (memories.c.hash, memories.c.speaker, memories.c.episode_id, memories.c.state, memories.c.superseded_by)
    with log.reading() as connection:
        rows = connection.execute(
            select(*columns, memories.c.revision).where(
                memories.c.user_id == episode.owner.user_id,
                memories.c.hash.in_({text_hash for text_hash, _ in keys}),
                memories.c.state.in_(("deleted", "distilled")),
            )
        ).all()
        came = {identifier for row in rows for identifier in row.superseded_by.split()}
        deleted = connection.execute(
            select(memories.c.id, memories.c.revision).where(memories.c.id.in_(came), memories.c.state == "deleted")
        )
        deleted_at = {row.id: row.revision for row in deleted}
        gone = _corrected_in(connection, episode)
    for row in rows:
        deletions = [deleted_at[i] for i in row.superseded_by.split() if i in deleted_at]
        deletions += [row.revision] if row.state == "deleted" else []
        # What another episode brought, and the user deleted before this one, has been said again.
        if deletions and (row.episode_id == episode.id or max(deletions) > episode.id):
            gone.add((row.hash, row.speaker))
    is_blank = [not message.content for message in episode.messages]
    return {place for place, key in enumerate(keys) if key in gone or is_blank[place]}


def _corrected_in(connection: Connection, episode: Episode) -> set[Said]:
    """What waited in an episode until a person put other words in its place, or kept it as it was."""
    before = connection.scalars(
        select(events.c.before)
        .join(memories, memories.c.id == events.c.memory_id)
        .where(memories.c.episode_id == episode.id, memories.c.prompt == BY_HAND, events.c.operation == "update")
    )
    return {(row["hash"], row["speaker"]) for row in before if row["state"] == "raw"}


def said_in(message: Message) -> Said:
    """What a message says and who says it, as rows are told apart."""
    return content_hash(message.content), message.speaker


def messages_before(log: Log, episode: Episode, now: datetime) -> tuple[Message, ...]:
    """The last messages of the scope before an episode, oldest first, at most `WINDOW_SIZE`.

    None that were deleted or have expired.
    """
    owner = episode.owner
    with log.reading() as connection:
        rows = connection.execute(
            select(episodes)
            .where(
                episodes.c.user_id == owner.user_id,
                episodes.c.agent_id == owner.agent_id,
                episodes.c.run_id == episode.run_id,
                episodes.c.id < episode.id,
                or_(episodes.c.expires_at.is_(None), episodes.c.expires_at > now),
            )
            .order_by(episodes.c.id.desc())
            .limit(WINDOW_SIZE)
        ).mappings()
        before = [_episode(row) for row in rows]
    found: list[Message] = []
    for earlier in reversed(before):
        gone = forgotten_in(log, earlier)
        found += [message for place, message in enumerate(earlier.messages) if place not in gone]
    return tuple(found[-WINDOW_SIZE:])


def _job(row: Any) -> Job:
    return Job(
        id=row.id,
        user_id=row.user_id,
        episode_id=row.episode_id,
        run_id=row.run_id,
        task=row.task,
        next_at=row.next_at,
        attempts=row.attempts,
        last_error=row.last_error,
    )


def _episode(row: Any) -> Episode:
    return Episode(
        id=row["id"],
        owner=Owner(row["user_id"], row["agent_id"]),
        messages=tuple(Message(**message) for message in row["messages"]),
        infer=bool(row["infer"]),
        about=row["about"],
        kind=row["kind"],
        run_id=row["run_id"],
        observed_at=row["observed_at"],
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        metadata=row["metadata"],
    )
