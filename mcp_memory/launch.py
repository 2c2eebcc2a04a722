"""The start of an engine: the folder first, then everything that takes long to import.

Of several that are started at once, all but one find the folder held, and should have cost little by then.
"""

import os
import sys

from .errors import FolderInUseError, McpMemoryError
from .folder import DataFolder
from .paths import data_folder
from .starter import HELD_ELSEWHERE


def run() -> None:
    """Be the engine of the data folder that the environment names, until nobody needs it."""
    # Whatever it writes is its owner's.
    os.umask(0o077)
    try:
        folder = DataFolder(data_folder(), is_engine=True)
    except FolderInUseError as exc:
        _fail(exc.message, HELD_ELSEWHERE)
    except McpMemoryError as exc:
        _fail(f"{exc.message} ({exc.hint})", 1)
    from .hub import run as serve

    serve(folder)


def _fail(message: str, status: int) -> None:
    print(message, file=sys.stderr, flush=True)
    os._exit(status)
