"""What a memory does by itself for a conversation: recalls with a prompt, takes in what was said, keeps out of it."""

import os.path
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

from . import capture as capturing
from . import conversations, inputs
from . import remind as reminding
from .errors import ConflictError, InvalidInputError, StorageError
from .exclusions import is_folder_excluded
from .hook_records import Captured, CapturePoint, Moment, Reminder, Said
from .parts import Parts
from .records import Owner
from .settings import Settings
from .text import clean
from .turns import Turn

_EMPTY_CONTEXT: tuple[Moment, ...] = ("startup", "clear", "compact")
_ROLES = ("user", "assistant")
OFF = "switched off by settings"
FOLDER_EXCLUDED = "the folder is excluded by settings (exclude_folders)"


class Accompanying:
    """The methods of `LocalMemory` that hosts call by themselves, and those that keep it out of a conversation."""

    _parts: Parts
    _owner: Owner
    _settings: Settings
    _turn: Turn

    def remind(
        self,
        prompt: str = "",
        *,
        conversation: str = "",
        moment: Moment = "prompt",
        folder: str = "",
        notes_given: bool = True,
    ) -> Reminder:
        """What is to go into a conversation with a prompt, or at its beginning; each memory once.

        `conversation` is the host's id of it. At `startup`, `clear` and `compact` its context is empty, so that what
        it was given before counts no more. Whoever may not come to give it says so later, by `note_given`, and not
        with `notes_given`. Works at once, by words alone while the embedding model is not loaded.

        Raises:
            InvalidInputError: a value is none of those allowed.
            StorageError: the log cannot be read.
        """
        conversation = inputs.short("conversation", conversation)
        if moment not in get_args(Moment):
            raise InvalidInputError(f"moment {moment!r}", hint=f"use one of {', '.join(get_args(Moment))}")
        now, log = self._parts.clock(), self._parts.stores.log
        if reason := self._kept_out(folder) or ("" if self._settings.recall_tokens else OFF):
            return Reminder(reason=reason)
        if moment in _EMPTY_CONTEXT:
            conversations.begin_anew(log, self._owner.user_id, conversation, now)
        reminder = reminding.remind(
            clean(prompt[: inputs.MAX_QUERY_CHARS]),
            conversation,
            _of_work(folder),
            self._owner,
            self._parts.stores,
            self._settings,
            now,
        )
        if not notes_given or reminder.reason == OFF:
            return reminder
        try:
            self.note_given(reminder.memory_ids, conversation=conversation, folder=folder)
        except StorageError as exc:
            # What cannot be noted is given all the same, and perhaps again.
            return replace(reminder, reason=f"{exc.message} ({exc.hint})")
        return reminder

    def note_given(self, memory_ids: Sequence[str], *, conversation: str, folder: str = "") -> None:
        """Note that a conversation has got what `remind` told.

        Raises:
            StorageError: nothing was written; it may be given again.
        """
        identifier = inputs.short("conversation", conversation)
        log, user_id, now = self._parts.stores.log, self._owner.user_id, self._parts.clock()
        is_opening = conversations.conversation_of(log, user_id, identifier).begun_at is None
        opened_in = (reminding.project_of(_of_work(folder)) or reminding.NO_PROJECT) if is_opening else ""
        if memory_ids or opened_in:
            conversations.note_given(log, user_id, identifier, memory_ids, now, opened_in=opened_in)

    def pass_over(self, conversation: str, offset: int) -> None:
        """Note that a transcript is not to be taken in up to an offset, in bytes.

        Raises:
            StorageError: nothing was written.
        """
        identifier = inputs.short("conversation", conversation)
        log, user_id, now = self._parts.stores.log, self._owner.user_id, self._parts.clock()
        conversations.note_captured(log, user_id, identifier, offset, now)

    def capture_point(self, conversation: str, *, folder: str = "") -> CapturePoint:
        """When a conversation is to be captured, and from which offset of its transcript on.

        Raises:
            StorageError: the log cannot be read.
        """
        if reason := self._kept_out(folder) or (OFF if self._settings.capture == "off" else ""):
            return CapturePoint("off", reason=reason)
        identifier = inputs.short("conversation", conversation)
        known = conversations.conversation_of(self._parts.stores.log, self._owner.user_id, identifier)
        return CapturePoint(self._settings.capture, known.captured_to)

    def capture(
        self,
        said: Sequence[Said | Mapping[str, Any]],
        *,
        conversation: str,
        folder: str = "",
        read: tuple[int, int] | None = None,
        served: Sequence[str] = (),
    ) -> Captured:
        """Take in what was said in a conversation; durable and searchable on return.

        A message is `{"role", "content", "at"?}`. Secrets are taken out; what the language model reads out of it comes
        later. `read` is the part of a transcript that it comes from, in bytes: what was taken in meanwhile from there
        on is not taken in twice. `served` are ids of memories that the conversation's tools were given.

        Raises:
            InvalidInputError: a message is none; nothing was stored.
            StorageError: what was not stored can be given again, and is stored once.
        """
        if reason := self._kept_out(folder) or (OFF if self._settings.capture == "off" else ""):
            return Captured(reason=reason)
        messages = [_said(place, message) for place, message in enumerate(said)]
        with self._parts.capturing:
            captured = capturing.capture(
                messages,
                inputs.short("conversation", conversation),
                _of_work(folder),
                read,
                served,
                self._owner,
                self._parts.stores,
                self._settings,
                self._turn,
            )
        self._parts.after_change()
        self._parts.queue.start()
        return captured

    def pause(self, client: str = "") -> None:
        """Have the memory keep out of all that a client does, '' for every client, until `resume`.

        Raises:
            StorageError: nothing was written.
        """
        agent_id = inputs.agent_id_of(client) if client else ""
        conversations.pause(self._parts.stores.log, self._owner.user_id, agent_id, self._parts.clock())

    def resume(self, client: str = "") -> bool:
        """End the pause of a client, '' for every pause; whether there was one.

        Raises:
            StorageError: nothing was written.
        """
        agent_id = inputs.agent_id_of(client) if client else ""
        is_ended = conversations.resume(self._parts.stores.log, self._owner.user_id, agent_id)
        # What was learned meanwhile is not in the notes files.
        self._parts.notes.note_change()
        return is_ended

    def paused(self) -> dict[str, datetime]:
        """The paused clients and since when; '' stands for every client."""
        return conversations.paused(self._parts.stores.log, self._owner.user_id)

    def refuse_if_paused(self) -> None:
        """Raise where the memory is to keep out of what this client does.

        Raises:
            ConflictError: it is paused.
        """
        if self._is_paused():
            raise ConflictError(
                f"the memory is paused for {self._owner.agent_id}; nothing was read or changed",
                hint="it is the user's wish; to end it they run: mcp-memory resume",
            )

    def _is_paused(self) -> bool:
        return not self.paused().keys().isdisjoint(("", self._owner.agent_id))

    def _kept_out(self, folder: str) -> str:
        """Why the memory has nothing to do with what this client does in a folder, '' where it has."""
        if self._is_paused():
            return "the memory is paused for this client (to end that, run: mcp-memory resume)"
        is_excluded = is_folder_excluded(os.path.normpath(folder), self._settings.exclude_folders, str(Path.home()))
        return FOLDER_EXCLUDED if folder and is_excluded else ""


def _of_work(folder: str) -> str:
    """A folder in which somebody works on something, '' for their own, which is no project."""
    return "" if folder.rstrip("/\\") == str(Path.home()) else clean(folder)


def _said(place: int, message: Said | Mapping[str, Any]) -> Said:
    if isinstance(message, Said):
        return message
    role, content = message.get("role"), message.get("content")
    if role not in _ROLES or not isinstance(content, str):
        raise InvalidInputError(f"message {place} has role {role!r}", hint="use user or assistant, and text as content")
    return Said(role, clean(content), str(message.get("at") or ""))
