"""Episode to drafts: what of an input is to be remembered, each with its words and the names in it."""

from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, replace

from .mentions import find_mentions
from .records import Draft, Episode, Mention, Message, State
from .text import content_hash, detect_language, languages_for, lemmas


def verbatim(episode: Episode, *, languages: Counter[str], known_names: Container[str] = frozenset()) -> list[Draft]:
    """One draft per message, word for word and in order; empty messages are marked as ignored.

    `languages` counts the user's memories by language, `known_names` holds the keys of the user's entities.
    An episode that waits for the language model gives `raw` drafts, which are searchable until then.
    """
    state: State = "raw" if episode.infer else "active"
    return [
        draft_of((place,), message, message.content, episode, state, languages, known_names)
        for place, message in enumerate(episode.messages)
    ]


@dataclass(frozen=True, slots=True)
class Words:
    """What is read out of a text without a model."""

    lemmas: str
    hash: str
    language: str
    mentions: tuple[Mention, ...]


def words_of(text: str, languages: Counter[str], known_names: Container[str]) -> Words:
    """The words of a text and the names in it; `languages` counts the user's memories by language."""
    chosen = languages_for(languages, text)
    return Words(
        lemmas=lemmas(text, chosen),
        hash=content_hash(text),
        language=detect_language(text),
        mentions=find_mentions(text, known_names, chosen),
    )


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
    words = words_of(text, languages, known_names)
    return replace(draft, lemmas=words.lemmas, hash=words.hash, language=words.language, mentions=words.mentions)
