"""Entry: what hosts start does not import the rest of the command line."""

import gc
import sys


def main() -> None:
    """Run the command line; the shim, the engine and a server in the foreground start without it."""
    # Importing makes no garbage; collecting meanwhile costs a tenth of the handshake.
    gc.disable()
    match sys.argv[1:]:
        case ["serve"]:
            from .shim import serve as run
        case ["serve", "--foreground"]:
            from .server import serve as run
        case ["serve", "--standby"]:
            from .standby import serve as run
        case ["serve", *rest] if "--help" not in rest and any(word.split("=")[0] == "--http" for word in rest):
            from .http_shim import run
        case ["engine", "run"]:
            from .launch import run
        case ["hook", "recall" | "capture", _, *rest] if "--help" not in rest:
            from .hooks import run
        case _:
            from .cli import app as run
    gc.enable()
    run()


if __name__ == "__main__":
    main()
