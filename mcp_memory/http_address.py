"""Where HTTP is served, and by which names a request may ask for it. Standard library only.

DNS rebinding makes a browser take a page's own name for this machine: the requests then bear that name as host, and
the page's origin. They never bear an address in numbers, for which no name is looked up.
"""

import ipaddress
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from .errors import InvalidInputError

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8765
PATH = "/mcp"
_LOOPBACK_NAME = "localhost"
_USUAL_PORTS = {"http": 80, "https": 443}
_HINT = "write HOST:PORT, such as 127.0.0.1:8765, [::1]:8765 or 0.0.0.0:8765"


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """A host, by name or number, without the brackets of IPv6, and a port; 0 takes a free one."""

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT

    @property
    def authority(self) -> str:
        """Both as they stand in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """What a client is given."""
        return f"http://{self.authority}{PATH}"

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        number = _number(self.host)
        return number.is_loopback if number else self.host == _LOOPBACK_NAME


def address_of(given: str) -> HttpAddress:
    """The address in `HOST:PORT`, where either may be left out.

    >>> address_of("9000").authority, address_of("[::1]:9000").authority, address_of("box").authority
    ('127.0.0.1:9000', '[::1]:9000', 'box:8765')

    Raises:
        InvalidInputError: it is none.
    """
    given = given.strip()
    if given.isdecimal():
        given = f":{given}"
    elif _number(given):
        given = f"[{given}]" if ":" in given else given
    try:
        parts = urlsplit(f"//{given}")
        port = parts.port
    except ValueError as exc:
        raise InvalidInputError(f"{given!r} is no address to serve at: {exc}", hint=_HINT) from exc
    if parts.path or parts.query or parts.fragment or "@" in parts.netloc or any(c.isspace() for c in given):
        raise InvalidInputError(f"{given!r} is no address to serve at", hint=_HINT)
    return HttpAddress(parts.hostname or DEFAULT_HOST, DEFAULT_PORT if port is None else port)


@dataclass(frozen=True, slots=True)
class Names:
    """Whom requests may address: the served host, and further names that were allowed."""

    served: str
    allowed: Collection[str] = ()

    def is_host(self, header: str) -> bool:
        """Whether a `Host` header names this server. Its port may be another one: of a tunnel, or of a container."""
        named = _named(f"//{header}")
        if named is None or not named[0]:
            return False
        host = named[0]
        if host in (_LOOPBACK_NAME, self.served.casefold(), *(name.casefold() for name in self.allowed)):
            return True
        number, served = _number(host), _number(self.served)
        if number is None:
            return False
        # Whoever listens on all addresses of a machine cannot know them all, and rebinding never shows as a number.
        return number.is_loopback or number == served or bool(served and served.is_unspecified)

    def is_origin(self, header: str, host: str) -> bool:
        """Whether an `Origin` is that of the request's own `Host`, or of an allowed name."""
        origin, own = _named(header), _named(f"//{host}")
        scheme = header.partition("://")[0].casefold()
        if origin is None or own is None or scheme not in _USUAL_PORTS:
            return False
        if origin[0] in {name.casefold() for name in self.allowed}:
            return True
        usual = _USUAL_PORTS[scheme]
        return (origin[0], origin[1] or usual) == (own[0], own[1] or usual)


def _named(url: str) -> tuple[str, int | None] | None:
    """Host, in lower case and without a dot at its end, and port of what has nothing else, None where it has."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.path or parts.query or parts.fragment or "@" in parts.netloc:
        return None
    return (parts.hostname or "").removesuffix("."), port


def _number(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
