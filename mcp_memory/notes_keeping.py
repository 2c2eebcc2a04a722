"""Which notes files of hosts a memory keeps up to date, and how it is told."""

from .errors import InvalidInputError
from .notes import place_of
from .notes_record import KeptFile
from .parts import Parts
from .records import Owner
from .reports import NotesFile


class NotesKeeping:
    """The methods of `LocalMemory` about notes files that have the user's profile in a marked block."""

    _parts: Parts
    _owner: Owner

    def keep_notes(self, file: str, max_tokens: int) -> None:
        """Keep the block of a notes file up to date from now on: it is written soon after the profile has changed.

        The file is this user's from then on, whoever it was kept for. Safe to repeat; the last `max_tokens` counts.

        Raises:
            InvalidInputError: the path leads nowhere, or there is no room for a token.
            StorageError: nothing was recorded.
        """
        if max_tokens < 1:
            raise InvalidInputError(f"max_tokens {max_tokens}", hint="use 1 or more")
        self._parts.notes.keep(str(place_of(file)), KeptFile(self._owner.user_id, max_tokens))

    def forget_notes(self, file: str) -> bool:
        """Keep a notes file of this user no more; whether it was kept. The file stays as it is.

        Raises:
            InvalidInputError: the path leads nowhere.
            StorageError: nothing was recorded.
        """
        return self._parts.notes.forget(str(place_of(file)), self._owner.user_id)

    def refresh_notes(self) -> list[NotesFile]:
        """Bring the kept notes files of this user up to date now, and tell what became of each, by path.

        Only a block that is there is written. A file that has gone is kept no more.

        Raises:
            StorageError: it is not known which they are, or what is to stand in them.
        """
        return self._parts.notes.refresh(self._owner.user_id)
