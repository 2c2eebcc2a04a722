"""Episode to drafts: what of an input is to be remembered, each with its words and the names in it."""

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import replace

from .claims import claims_of_draft, mentions_of
from .mentions import find_mentions
from .records import Claim, Draft, Episode, Message, State
from .text import content_hash, detect_language, languages_for, lemmas


def verbatim(episode: Episode, *, languages: Counter[str], known_names: Container[str] = frozenset()) -> list[Draft]:
    """One draft per message, word for word and in order; empty messages are marked as ignored.

    `languages` counts the user's memories by language, `known_names` holds the keys of the user's entities.
    An episode that waits for the language model gives `raw` drafts, which are searchable until then.
    """
    state: State = "raw" if episode.infer else "active"
    drafts = [
        draft_of((place,), message, message.content, episode, state, languages, known_names)
        for place, message in enumerate(episode.messages)
    ]
    return [with_claimed(draft, claims_of_draft(draft, episode.observed_at).claims) for draft in drafts]


def draft_of(
    sources: tuple[int, ...],
    message: Message,
    text: str,
    episode: Episode,
    state: State,
    languages: Counter[str],
    known_names: Container[str],
) -> Draft:
    """A text as a draft, with its words and names; an empty one is marked as ignored."""
    draft = Draft(sources, message, text, "", "", "", episode.kind, state, (), episode.about)
    if not text.strip():
        return replace(draft, ignored_because="the text is empty")
    chosen = languages_for(languages, text)
    language = detect_language(text)
    return replace(
        draft,
        lemmas=lemmas(text, chosen),
        hash=content_hash(text),
        language=language,
        mentions=find_mentions(text, known_names, chosen),
    )


def with_claimed(draft: Draft, claims: Iterable[Claim]) -> Draft:
    """A draft that also mentions what its claims are about: the user, "the user's sister"."""
    found = {mention.key: mention for mention in draft.mentions}
    for mention in mentions_of(claims):
        found.setdefault(mention.key, mention)
    return replace(draft, mentions=tuple(found.values()))
