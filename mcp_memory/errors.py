"""The one tree of errors: what went wrong, and the next thing to do about it."""


class McpMemoryError(Exception):
    """A failure that a user or an agent can act on.

    `code` is stable and meant for programs; `message` says what happened and names the value;
    `hint` is the next action, as an imperative without a full stop.
    """

    code = "error"

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.code}: {self.message} ({self.hint})"


class InvalidInputError(McpMemoryError):
    """A value that the caller gave cannot be used; nothing was changed."""

    code = "invalid_input"


class NotFoundError(McpMemoryError):
    """The named memory does not exist for this user."""

    code = "not_found"


class ConflictError(McpMemoryError):
    """What there is differs from what was taken for granted: the folder's model, or rows that an undo is to change."""

    code = "conflict"


class ModelUnavailableError(McpMemoryError):
    """A model could not be loaded or did not answer."""

    code = "model_unavailable"


class ModelFailedError(ModelUnavailableError):
    """A server took a request and failed at it, or ran out of time: it, or this request, is at fault."""


class StorageError(McpMemoryError):
    """The data folder could not be read or written."""

    code = "storage"


class FolderInUseError(StorageError):
    """Another process holds the data folder."""

    code = "folder_in_use"


class HostError(McpMemoryError):
    """A host's configuration could not be read or changed, or the server does not start as the host would start it."""

    code = "host"


class ModelOutputError(McpMemoryError):
    """A model answered, and the answer cannot be used."""

    code = "model_output"
