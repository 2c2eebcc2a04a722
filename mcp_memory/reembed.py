"""Every memory embedded anew: with another model, or with the same one after its weights or prompts have changed."""

from .embedder import full_name
from .errors import ModelUnavailableError
from .records import OnProgress
from .renew import alone, renew
from .reports import Reembedded
from .settings import Settings, naming_another_model
from .stores import Stores


def reembed(
    stores: Stores, settings: Settings, model: str = "", on_progress: OnProgress = lambda _done, _total: None
) -> Reembedded:
    """Embed everything with a model and go over to it, as `renew` does.

    The model is the one given, else that which `settings` name, else the folder's own; prompts are those of `settings`,
    else the model's. It is loaded anew in any case, beside the one in use.

    Raises:
        ModelUnavailableError: there is no such model; nothing has changed.
        StorageError: it could not be done, is being done already, or the folder is being closed; the old model is in
            use.
    """
    with alone(stores):
        before = stores.made_by
        embedder = stores.embedder_of(settings, before, model)
        try:
            embedder.load()
        except ModelUnavailableError as exc:
            raise ModelUnavailableError(exc.message, hint=f"{exc.hint}; nothing was changed") from exc
        made = renew(stores, embedder, on_progress)
        after = stores.made_by
    assert after is not None
    return Reembedded(
        model=after.model,
        dimension=after.dimension,
        query_prompt=embedder.prompts.query,
        document_prompt=after.document_prompt,
        model_before=before.model if before else "",
        dimension_before=before.dimension if before else 0,
        n_memories=made.n_memories,
        n_entities=made.n_entities,
        n_resumed=made.n_resumed,
        still_named=tuple(naming_another_model(settings.home, after.model, full_name)),
    )
