"""Automatic recall: what of the memory goes into a conversation with a prompt, and what opens it.

prompt → what to search for → hits above the floor → those that are news here → block. The block itself is
`pack_recall`'s.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from . import search as searching
from .conversations import conversation_of, given_in, projects_of
from .hook_records import Reminder
from .news import news
from .pack_recall import WANTED, Entry, entries_beside_statements, entry_of, entry_of_hit, recall_block
from .records import Memory, Owner
from .search_records import Filters, Hit, Selection
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
# By words alone no memory comes as high: what it means counts for half.
_FLOOR_BY_WORDS = 0.5
# What lies there is a person's whole folder, and no project.
_PARENTS_OF_HOMES = ("/", "/home", "/Users", "C:/", "C:/Users")
# What stands for a project where a conversation has none.
NO_PROJECT = "/"


def remind(
    prompt: str, conversation_id: str, folder: str, owner: Owner, stores: Stores, settings: Settings, now: datetime
) -> Reminder:
    """The block for a prompt of a conversation; together with the first one, or by itself, what opens it.

    It does not wait for the embedding model, and notes nothing.
    """
    log, user_id, selection = stores.log, owner.user_id, Selection(owner, now)
    conversation = conversation_of(log, user_id, conversation_id)
    is_opening = conversation.begun_at is None
    project = project_of(folder)
    # What names another project than the one at hand belongs there.
    projects = projects_of(log, user_id) - {project}
    others = projects - _named(prompt, projects)
    found = _Found(selection, stores, settings)
    hits = [hit for hit in found.by(_asked(said_in(prompt), project)) if not _named(hit.memory.text, others)]
    told = {hit.memory.id: entry_of_hit(hit) for hit in hits}
    memories = [hit.memory for hit in hits]
    opening, beside = _opening(project, others, found, stores) if is_opening else ([], [])
    memories += opening
    given = given_in(log, user_id, conversation_id)
    fresh = news(memories, given, conversation, selection, stores)
    entries = [told.get(memory.id) or entry_of(memory) for memory in fresh]
    entries += [entry for entry in beside if entry.memory_id not in given]
    text, kept = recall_block(entries, settings.recall_tokens)
    ids = tuple(dict.fromkeys(entry.memory_id for entry in kept if entry.memory_id))
    return Reminder(text, ids, found.degraded or ("" if text else NOTHING_NEW))


def _opening(
    project: str, others: Collection[str], found: "_Found", stores: Stores
) -> tuple[list[Memory], list[Entry]]:
    """What opens a conversation: memories, the most useful first, and what a profile tells beside statements.

    At work on a project it matters what is known of that and how somebody wants things done, not who their family is.
    """
    profile = user_profile(found.selection.owner.user_id, stores)
    statements = [memory for memory in profile.statements if not _named(memory.text, others)]
    if not project:
        return statements, entries_beside_statements(profile)
    wanted = [memory for memory in statements if memory.kind in WANTED]
    return [*_of_project(project, found, stores), *wanted], []


def _of_project(project: str, found: "_Found", stores: Stores) -> list[Memory]:
    """What is known of a project, the latest first: what names it, and what was read out of conversations in it."""
    naming = [hit.memory for hit in found.by(project) if _named(hit.memory.text, [project])]
    owner, now = found.selection.owner, found.selection.now
    said_in_it = stores.log.list_memories(
        owner.user_id, Filters(metadata={"project": project}), states=("active",), limit=_MAX_OF_PROJECT
    )
    holding = [
        memory
        for memory in said_in_it
        if all(end is None or end > now for end in (memory.invalid_at, memory.expires_at))
    ]
    by_id = {memory.id: memory for memory in (*naming, *holding)}
    return sorted(by_id.values(), key=lambda memory: memory.observed_at, reverse=True)[:_MAX_OF_PROJECT]


@dataclass(slots=True)
class _Found:
    """Searches of one reminder, and why they could not look everywhere."""

    selection: Selection
    stores: Stores
    settings: Settings
    degraded: str = ""

    def by(self, query: str) -> tuple[Hit, ...]:
        """The hits above the floor of automatic recall, best first; none for ''."""
        if not query:
            return ()
        floor = self.settings.recall_floor * (1 if self.stores.embedder.is_loaded else _FLOOR_BY_WORDS)
        result = searching.search(
            query,
            self.selection,
            self.stores,
            self.settings,
            top_k=_POOL,
            threshold=floor,
            waits_for_model=False,
        )
        self.degraded = self.degraded or (result.notice if result.degraded else "")
        return result.hits


def project_of(folder: str) -> str:
    """The name of the project in a folder, '' for none.

    >>> project_of("/home/ana/src/larkspur"), project_of("C:\\\\src\\\\larkspur"), project_of("/home/ana")
    ('larkspur', 'larkspur', '')
    """
    path = PurePosixPath(folder.replace("\\", "/"))
    return "" if str(path.parent) in _PARENTS_OF_HOMES or str(path) in _PARENTS_OF_HOMES else path.name


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
