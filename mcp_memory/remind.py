"""Automatic recall: what of the memory goes into a conversation with a prompt, and what opens it.

prompt → what to search for → hits above the floor → those that are news here → block. The block itself is
`pack_recall`'s.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from . import search as searching
from .conversations import conversation_of, given_in, note_given, projects_of
from .errors import StorageError
from .hook_records import Reminder
from .news import news
from .pack_recall import entries_of_profile, entry_of_hit, recall_block
from .records import Owner
from .search_records import Hit, Selection
from .settings import Settings
from .sift import CODE, QUOTE, is_mere_courtesy, without_pasted
from .stores import Stores
from .text import contains_phrase, normalise
from .user_profile import user_profile

NOTHING_NEW = "nothing above the floor that this conversation does not hold already"
# Of what a person says the embedding model reads about as much; of what is pasted the end tells most.
_MAX_SAID_CHARS, _MAX_PASTED_CHARS = 1_000, 300
_POOL = 40
_MAX_OF_PROJECT = 12
# What stands for a project where a conversation has none.
_NO_PROJECT = "/"


def remind(
    prompt: str, conversation_id: str, folder: str, owner: Owner, stores: Stores, settings: Settings, now: datetime
) -> Reminder:
    """The block for a prompt of a conversation; together with the first one, or by itself, what opens it.

    It does not wait for the embedding model. What cannot be noted as given is given all the same.
    """
    log, user_id = stores.log, owner.user_id
    conversation = conversation_of(log, user_id, conversation_id)
    is_opening = conversation.begun_at is None
    project = project_of(folder)
    found = _Found(owner, stores, settings, now)
    # What names another project than the one at hand belongs there.
    projects = projects_of(log, user_id) - {project}
    others = projects - _named(prompt, projects)
    entries = [
        entry_of_hit(hit) for hit in found.by(_asked(said_in(prompt), project)) if not _named(hit.memory.text, others)
    ]
    if is_opening:
        of_project = [hit for hit in found.by(project) if _named(hit.memory.text, [project])]
        entries += [entry_of_hit(hit) for hit in _latest_first(of_project)[:_MAX_OF_PROJECT]]
        entries += [
            entry for entry in entries_of_profile(user_profile(user_id, stores)) if not _named(entry.line, others)
        ]
    given = given_in(log, user_id, conversation_id)
    text, told = recall_block(news(entries, given, conversation, user_id, stores), settings.recall_tokens)
    ids = tuple(entry.memory_id for entry in told if entry.memory_id)
    reason = found.degraded
    if ids or is_opening:
        opened_in = (project or _NO_PROJECT) if is_opening else ""
        try:
            note_given(log, user_id, conversation_id, ids, now, opened_in=opened_in)
        except StorageError as exc:
            reason = f"{exc.message} ({exc.hint})"
    return Reminder(text, ids, reason or ("" if text else NOTHING_NEW))


@dataclass(slots=True)
class _Found:
    """Searches of one reminder, and why they could not look everywhere."""

    owner: Owner
    stores: Stores
    settings: Settings
    now: datetime
    degraded: str = ""

    def by(self, query: str) -> tuple[Hit, ...]:
        """The hits above the floor of automatic recall, best first; none for ''."""
        if not query:
            return ()
        result = searching.search(
            query,
            Selection(self.owner, self.now),
            self.stores,
            self.settings,
            top_k=_POOL,
            threshold=self.settings.recall_floor,
            waits_for_model=False,
        )
        self.degraded = self.degraded or (result.notice if result.degraded else "")
        return result.hits


def project_of(folder: str) -> str:
    """The name of the project in a folder, '' for none.

    >>> project_of("/home/ana/src/larkspur"), project_of("C:\\\\src\\\\larkspur"), project_of("/")
    ('larkspur', 'larkspur', '')
    """
    return PurePosixPath(folder.replace("\\", "/")).name


def said_in(prompt: str) -> str:
    """What to search for: what a person says in a prompt, else the end of what is pasted, '' for nothing.

    >>> said_in("ok, thanks!"), said_in("why does this fail?\\n```\\nTraceback\\n```")
    ('', 'why does this fail?')
    """
    own = " ".join(without_pasted(prompt).replace(CODE, " ").replace(QUOTE, " ").split())
    if own:
        return "" if is_mere_courtesy(own) else own[:_MAX_SAID_CHARS]
    return prompt.strip()[-_MAX_PASTED_CHARS:]


def _asked(said: str, project: str) -> str:
    """The words to search for: what is said in a project is mostly about it, and seldom names it."""
    return f"{project} {said}".strip() if said else ""


def _named(text: str, names: Collection[str]) -> set[str]:
    """Which of some names stand in a text."""
    normalised = normalise(text)
    return {name for name in names if contains_phrase(normalised, normalise(name))}


def _latest_first(hits: Sequence[Hit]) -> list[Hit]:
    """What is said of a project in the order in which it gives way: the latest first."""
    return sorted(hits, key=lambda hit: hit.memory.observed_at, reverse=True)
