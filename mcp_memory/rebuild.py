"""Both tables and the keyword index made anew from the log, with the model that the folder has."""

from .records import OnProgress
from .renew import alone, renew
from .reports import Rebuilt
from .stores import Stores


def rebuild(stores: Stores, on_progress: OnProgress = lambda _done, _total: None) -> Rebuilt:
    """Make everything that is derived from the log anew, as `renew` does; returns how many rows it was.

    Raises:
        ModelUnavailableError, ConflictError, StorageError: the tables in use are as they were.
    """
    with alone(stores):
        stores.agree_on_model()
        return renew(stores, stores.embedder, on_progress)
