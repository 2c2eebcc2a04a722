"""One job from the queue: an episode is distilled, described, compared with what is known, and stored in one change."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from . import backlog
from .admit import admit, comparable, embed, met_again, resolve, same_text, with_lag, write
from .claims import claim_of, claims_of_draft, claims_of_memory, with_claimed
from .describe import Description, describe
from .disclose import spoken_secrets, without_spoken
from .distil import Distilled, Statement, distil
from .extract import draft_of
from .guards import is_negated
from .knowledge import facts_of_memories
from .language_model import LanguageModel
from .procedure import summarise
from .records import Change, Claim, Draft, Episode, Job, Kind, Memory, Receipt, State
from .redact import holds_only_secrets, holds_secret, redact
from .resolve import Resolution, find_duplicate
from .settle import settle
from .stores import Stores
from .supersede import Tie, apply_ties, find_ties
from .surroundings import Reading, by_itself, in_context, is_outdated
from .tense import speaks_of_past

# A longer statement is a person's own words, which hold more than one thing.
_MAX_DESCRIBED_CHARS = 300
_IMPORTANCE_OF_WISHES = 0.8
# Words that wait to be read do not make known what others were read as: they give way.
_DECIDED: tuple[State, ...] = ("active",)
NOTHING_TO_KEEP = "nothing in it to keep for later; the words stay, out of search, under this id"
KEPT_WORDS = "kept word for word: the language model's reading of it could not be trusted"


def work_off(job: Job, stores: Stores, model: LanguageModel) -> tuple[Receipt, ...]:
    """Distil the episode of a job and store what came of it; the raw rows give way in the same transaction.

    Raises:
        ModelUnavailableError, ModelOutputError: nothing has changed.
    """
    while True:
        # Anew each time: some of its words may have been purged.
        episode = backlog.get_episode(stores.log, job.episode_id)
        if episode is None:
            return keep_words(job, stores, "its episode is gone")
        if job.task == "procedure":
            reading = by_itself(episode, stores)
            distilled = summarise(episode, reading.left_out, model.ask)
        else:
            reading = in_context(episode, stores)
            distilled = distil(episode, reading.left_out, reading.around, model.ask)
        drafts = _drafts(distilled, episode, model.name, stores)
        news = _news(drafts, episode, stores)
        descriptions = _described(news, model)
        drafts = [_with(draft, descriptions.get(place), episode) for place, draft in enumerate(drafts)]
        claims = {place: _claims(draft, descriptions.get(place), episode) for place, draft in enumerate(drafts)}
        drafts = [
            replace(draft, mentions=with_claimed(draft.mentions, claims[place])) for place, draft in enumerate(drafts)
        ]
        ties = find_ties({place: drafts[place] for place in news}, descriptions, episode, stores, model.ask)
        outcome = _store(job, episode, reading, distilled, drafts, claims, stores, ties=ties)
        if outcome is not None:
            return outcome


def keep_words(job: Job, stores: Stores, error: str) -> tuple[Receipt, ...]:
    """Give a job up: what waited for it stays as it was said, without its secrets, as ordinary memories."""
    while True:
        episode = backlog.get_episode(stores.log, job.episode_id)
        if episode is None:
            backlog.cancel(stores.log, job, error)
            return ()
        reading = by_itself(episode, stores)
        distilled = Distilled(undecided=set(range(len(episode.messages))) - reading.left_out)
        drafts = _drafts(distilled, episode, "", stores)
        claims = {place: _claims(draft, None, episode) for place, draft in enumerate(drafts)}
        outcome = _store(job, episode, reading, distilled, drafts, claims, stores, reason=error)
        if outcome is not None:
            return outcome


def _news(drafts: Sequence[Draft], episode: Episode, stores: Stores) -> dict[int, Draft]:
    """The statements about the user that are not known word for word, by place: what is worth a further call."""
    known = same_text(drafts, episode, stores, _DECIDED)
    return {
        place: draft
        for place, draft in enumerate(drafts)
        if draft.about == "user"
        and draft.kind != "procedure"
        and not draft.ignored_because
        and len(draft.text) <= _MAX_DESCRIBED_CHARS
        and not find_duplicate(draft, episode, known)
    }


def _described(news: Mapping[int, Draft], model: LanguageModel) -> dict[int, Description]:
    found = describe([draft.text for draft in news.values()], [draft.language for draft in news.values()], model.ask)
    return {place: found[number] for number, place in enumerate(news) if number in found}


def _with(draft: Draft, description: Description | None, episode: Episode) -> Draft:
    """A draft with the kind and weight of its description; what the caller or the gate said of its kind goes first."""
    if description is None or draft.kind == "preference":
        return draft
    kind = description.kind if episode.kind in ("message", "note") else draft.kind
    return replace(draft, kind=kind, importance=description.importance)


def _store(
    job: Job,
    episode: Episode,
    reading: Reading,
    distilled: Distilled,
    drafts: Sequence[Draft],
    claims: Mapping[int, Sequence[Claim]],
    stores: Stores,
    *,
    ties: Sequence[Tie] = (),
    reason: str = "",
) -> tuple[Receipt, ...] | None:
    """Finish a job with what came of it; a `reason` says why it was given up.

    None, and nothing is stored, where the user has deleted something of what was read since: it may be in any of the
    drafts.
    """
    vectors = embed(drafts, episode, stores)
    with stores.writing:
        if not backlog.is_waiting(stores.log, job.id):
            return ()
        if is_outdated(reading, episode, stores):
            return None
        vectors = comparable(vectors, drafts, episode, stores)
        known = same_text(drafts, episode, stores, _DECIDED)
        resolution = resolve(drafts, known, episode, stores, vectors)
        change_id = stores.ids.next(stores.clock())
        first = stores.log.next_position(episode.owner.user_id, episode.run_id)
        admitted = admit(resolution, episode, stores, change_id, resolution.positions(first))
        superseded = apply_ties(ties, resolution, admitted, stores, change_id)
        admitted = superseded.admitted
        raw = backlog.raw_rows(stores.log, episode.id)
        claims = _as_said(claims, drafts, raw, episode)
        lost = _lost(raw, claims, reading, episode)
        given_way = _give_way(episode, distilled, resolution, admitted.receipts, raw, lost, change_id, stores)
        gone = [row.memory.id for row in given_way if row.memory.state == "distilled"]
        settled = settle(
            claims,
            admitted,
            resolution,
            stores,
            change_id,
            withdrawn=[fact for facts in facts_of_memories(stores.log, gone).values() for fact in facts],
            known=superseded.known,
            sightings=(*superseded.sightings, *met_again(admitted, resolution, episode)),
        )
        admitted = settled.admitted
        change = Change(
            id=change_id,
            at=stores.clock(),
            owner=episode.owner,
            operation="distil",
            reason=reason,
            finished_job=job.id,
            memories=(*settled.known, *(row.memory for row in given_way)),
            sightings=superseded.sightings,
            facts=settled.facts,
        )
        lag = write(change, episode, resolution, admitted, stores, vectors)
    return with_lag([*_with_reasons(admitted.receipts, drafts), *_other_receipts(given_way)], lag)


def _take_secrets_out(distilled: Distilled, episode: Episode) -> None:
    """Words that are to stay although they hold a secret stay without it, as statements of their own."""
    if not distilled.undecided:
        return
    secrets = spoken_secrets(message.content for message in episode.messages)
    for place in sorted(distilled.undecided):
        text = without_spoken(episode.messages[place].content, secrets)
        if text != episode.messages[place].content or holds_secret(text):
            distilled.undecided.discard(place)
            if not holds_only_secrets(text):
                distilled.statements.append(
                    Statement(
                        sources=(place,),
                        text=redact(text),
                        about=episode.about,
                        gate="about_user",
                        language="",
                        prompt="",
                        is_verbatim=True,
                    )
                )


def _drafts(distilled: Distilled, episode: Episode, model: str, stores: Stores) -> list[Draft]:
    _take_secrets_out(distilled, episode)
    index = stores.index_of(episode.owner.user_id)
    return [
        replace(
            draft_of(
                statement.sources,
                episode.messages[statement.sources[0]],
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
            importance=_IMPORTANCE_OF_WISHES if statement.gate == "wish" else 0.5,
        )
        for statement in distilled.statements
    ]


def _kind(statement: Statement, episode: Episode) -> Kind:
    if episode.kind not in ("message", "note"):
        return episode.kind
    return "preference" if statement.gate == "wish" else "fact"


def _claims(draft: Draft, description: Description | None, episode: Episode) -> tuple[Claim, ...]:
    """What a statement claims: without doubt where its words leave none, else as a model described it."""
    certain = claims_of_draft(draft, episode.observed_at).claims
    if certain or description is None or not _holds_now(draft):
        return certain
    return (
        claim_of(
            description.subject,
            description.fact_type,
            description.relation,
            description.object,
            draft.language,
            episode.observed_at,
        ),
    )


def _key(claim: Claim) -> tuple[object, ...]:
    return claim.subject_key, claim.object_key, claim.holds


@dataclass(frozen=True, slots=True)
class _GivenWay:
    """A raw row as it is from now on. `is_told`: a receipt of a statement speaks for it already."""

    memory: Memory
    is_told: bool


def _holds_now(memory: Memory | Draft) -> bool:
    """Whether a statement says that something is so: not that it is not, was once, or is meant to be."""
    return not (
        memory.kind == "plan"
        or is_negated(memory.text, memory.language)
        or speaks_of_past(memory.text, memory.language)
    )


def _as_said(
    claims: Mapping[int, Sequence[Claim]],
    drafts: Sequence[Draft],
    raw: Mapping[backlog.Said, Memory],
    episode: Episode,
) -> dict[int, Sequence[Claim]]:
    """The claims of statements, as the words that they come from make them where a model only described them."""
    found: dict[int, Sequence[Claim]] = {}
    for place, each in claims.items():
        words = {backlog.said_in(episode.messages[source]) for source in drafts[place].sources}
        rows = [memory for key, memory in raw.items() if key in words]
        certain = {_key(claim): claim for memory in rows for claim in claims_of_memory(memory).claims}
        found[place] = [certain.get(_key(claim), claim) for claim in each]
    return found


def _lost(
    raw: Mapping[backlog.Said, Memory], claims: Mapping[int, Sequence[Claim]], reading: Reading, episode: Episode
) -> set[str]:
    """Ids of raw rows that claim without doubt what no statement does: the language model has lost it.

    Of what the user has deleted nothing is missed, and words with a secret do not stay as they are.
    """
    kept = {_key(claim) for each in claims.values() for claim in each if claim.source != "model"}
    left_out = {episode.messages[place].content for place in reading.left_out}
    return {
        memory.id
        for memory in raw.values()
        if memory.text not in left_out and not holds_secret(memory.text)
        if any(_key(claim) not in kept for claim in claims_of_memory(memory).claims)
    }


def _give_way(
    episode: Episode,
    distilled: Distilled,
    resolution: Resolution,
    receipts: Sequence[Receipt],
    raw: Mapping[backlog.Said, Memory],
    lost: Collection[str],
    change_id: str,
    stores: Stores,
) -> list[_GivenWay]:
    """What becomes of the raw rows of an episode, in order; their ids lead to what came of them.

    A row stays where its message is undecided, unless a statement repeats it word for word, and where something of it
    is `lost`.
    """
    now = stores.clock()
    given_way: list[_GivenWay] = []
    for key, memory in raw.items():
        places = {place for place, message in enumerate(episode.messages) if backlog.said_in(message) == key}
        came = [
            (item.draft, receipt)
            for item, receipt in zip(resolution.drafts, receipts, strict=True)
            if not places.isdisjoint(item.draft.sources)
        ]
        ids = dict.fromkeys(receipt.id for _, receipt in came if receipt.id)
        is_repeated = any(draft.hash == memory.hash and receipt.id for draft, receipt in came)
        stays = not is_repeated and (memory.id in lost or not places.isdisjoint(distilled.undecided))
        row = replace(
            memory,
            state="active" if stays else "distilled",
            superseded_by="" if stays else " ".join(ids),
            updated_at=now,
            revision=change_id,
        )
        given_way.append(_GivenWay(row, is_told=bool(came)))
    return given_way


def _with_reasons(receipts: Sequence[Receipt], drafts: Sequence[Draft]) -> list[Receipt]:
    """The receipts, with the reason where the person's own words were kept in place of the model's."""
    return [
        replace(receipt, reason=KEPT_WORDS) if receipt.status == "added" and not draft.model else receipt
        for receipt, draft in zip(receipts, drafts, strict=True)
    ]


def _other_receipts(given_way: Sequence[_GivenWay]) -> list[Receipt]:
    """Receipts for words that stay, and for those of which no statement came."""
    return [
        Receipt("added", row.memory.id, row.memory.text, reason=KEPT_WORDS)
        if row.memory.state == "active"
        else Receipt("ignored", row.memory.id, row.memory.text, reason=NOTHING_TO_KEEP)
        for row in given_way
        if row.memory.state == "active" or not row.is_told
    ]
