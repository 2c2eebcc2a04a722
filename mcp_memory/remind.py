"""Automatic recall: what of the memory goes into a conversation with a prompt, and what opens it.

prompt → what to search for → hits above the floor → those that are news here → block. The block itself is
`pack_recall`'s.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import PurePosixPath

from . import search as searching
from .conversations import Conversation, conversation_of, given_in, note_given, projects_of
from .errors import StorageError
from .hook_records import Reminder
from .pack_recall import recall_block, recall_lines
from .records import Memory, Owner
from .search_records import Hit, SearchResult, Selection
from .settings import Settings
from .sift import CODE, QUOTE, is_mere_courtesy, without_pasted
from .stores import Stores
from .text import contains_phrase, normalise

NOTHING_NEW = "nothing above the floor that this conversation does not hold already"
# Of what a person says the embedding model reads about as much; of what is pasted the end tells most.
_MAX_SAID_CHARS, _MAX_PASTED_CHARS = 1_000, 300
_POOL = 40
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

    def search(query: str) -> SearchResult:
        selection = Selection(owner, now)
        floor = settings.recall_floor
        return searching.search(query, selection, stores, settings, top_k=_POOL, threshold=floor, waits_for_model=False)

    found: list[Hit] = []
    reason = ""
    if said := said_in(prompt):
        result = search(said)
        others = projects_of(log, user_id) - {project, *_named(prompt, projects_of(log, user_id))}
        found += [hit for hit in result.hits if not _named(hit.memory.text, others)]
        reason = result.notice if result.degraded else ""
    if is_opening and project:
        found += _latest_first([hit for hit in search(project).hits if _named(hit.memory.text, [project])])
    fresh = _fresh(found, given_in(log, user_id, conversation_id), conversation)
    text, places = recall_block(recall_lines(fresh), settings.recall_tokens)
    ids = tuple(fresh[place].memory.id for place in places)
    if ids or is_opening:
        opened_in = (project or _NO_PROJECT) if is_opening else ""
        try:
            note_given(log, user_id, conversation_id, ids, now, opened_in=opened_in)
        except StorageError as exc:
            reason = f"{exc.message} ({exc.hint})"
    return Reminder(text, ids, reason or ("" if text else NOTHING_NEW))


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


def _named(text: str, names: Collection[str]) -> set[str]:
    """Which of some names stand in a text."""
    normalised = normalise(text)
    return {name for name in names if contains_phrase(normalised, normalise(name))}


def _latest_first(hits: Sequence[Hit]) -> list[Hit]:
    """What is said of a project in the order in which it gives way: the latest first."""
    return sorted(hits, key=lambda hit: hit.memory.observed_at, reverse=True)


def _fresh(hits: Sequence[Hit], given: Collection[str], conversation: Conversation) -> list[Hit]:
    """The hits that the context does not hold, each once."""
    by_id = {hit.memory.id: hit for hit in hits if hit.memory.id not in given}
    return [hit for hit in by_id.values() if not _is_in_context(hit.memory, conversation)]


def _is_in_context(memory: Memory, conversation: Conversation) -> bool:
    """Whether a memory came of what this conversation holds still; or is an answer that nobody has read anything of."""
    if memory.state == "raw" and memory.role != "user":
        return True
    return memory.run_id == conversation.id and (
        conversation.begun_at is None or memory.created_at >= conversation.begun_at
    )
