"""Entry: `serve` starts without importing the rest of the command line."""

import gc
import sys


def main() -> None:
    """Run the command line; `serve` alone goes straight to the server, so that a host's handshake is fast."""
    if sys.argv[1:] == ["serve"]:
        # Importing makes no garbage; collecting meanwhile costs a tenth of the handshake.
        gc.disable()
        from .server import serve

        gc.enable()
        serve()
        return
    from .cli import app

    app()


if __name__ == "__main__":
    main()
