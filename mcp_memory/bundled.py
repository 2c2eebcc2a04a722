"""What the host of a bundle starts: `serve`, with what its user left empty in the host's form taken as not set.

Standard library only, as the shim is.
"""

import os
from collections.abc import Mapping

from .dial import PREFIX
from .shim import serve as serve_host

# Hosts that have no value for a field pass on the words that stand for it in the manifest.
_NO_VALUE = "${user_config."
_TOOLS_VARIABLE = PREFIX + "TOOLS"
# A form has a switch for them; off is what the settings file, or else the default, says.
_TOOL_SETS = {"true": "full", "false": ""}


def as_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """A host's environment without the settings that have no value; what is no setting stays as it is."""
    filled = {name: _value(name, value) for name, value in environment.items()}
    return {name: value for name, value in filled.items() if value or not name.startswith(PREFIX)}


def _value(name: str, given: str) -> str:
    if not name.startswith(PREFIX):
        return given
    value = "" if _NO_VALUE in given else given.strip()
    return _TOOL_SETS.get(value, value) if name == _TOOLS_VARIABLE else value


def serve() -> None:
    """Serve the host on standard input and output until it closes its end."""
    settings = as_settings(os.environ)
    for name in os.environ.keys() - settings.keys():
        del os.environ[name]
    os.environ.update(settings)
    serve_host()
