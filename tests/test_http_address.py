"""Addresses to serve at, and the names by which requests may ask: no page of another site gets through."""

import pytest

from mcp_memory.errors import InvalidInputError
from mcp_memory.http_address import HttpAddress, Names, address_of


@pytest.mark.parametrize(
    ("given", "authority", "is_loopback"),
    [
        ("", "127.0.0.1:8765", True),
        ("9000", "127.0.0.1:9000", True),
        (":9000", "127.0.0.1:9000", True),
        ("127.0.0.2:0", "127.0.0.2:0", True),
        ("localhost", "localhost:8765", True),
        ("[::1]:9000", "[::1]:9000", True),
        ("::1", "[::1]:8765", True),
        ("0.0.0.0:80", "0.0.0.0:80", False),
        ("[::]:80", "[::]:80", False),
        ("192.168.1.5", "192.168.1.5:8765", False),
        ("box.lan:80", "box.lan:80", False),
        ("localhost.evil.example:80", "localhost.evil.example:80", False),
    ],
)
def test_an_address_may_leave_out_its_host_or_its_port(given: str, authority: str, is_loopback: bool) -> None:
    address = address_of(given)
    assert (address.authority, address.is_loopback) == (authority, is_loopback)
    assert address.url == f"http://{authority}/mcp"
    assert address_of(address.authority) == address


@pytest.mark.parametrize(
    "given", ["a:b", "1:2:3", "host:70000", "host:-1", "http://host:80", "a@b:80", "a b", "[::1", "h/x"]
)
def test_what_is_no_address_is_named(given: str) -> None:
    with pytest.raises(InvalidInputError, match="is no address to serve at"):
        address_of(given)


LOCAL, EVERYWHERE = Names("127.0.0.1"), Names("0.0.0.0")


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8765", "127.0.0.1", "localhost:8765", "LOCALHOST:9", "localhost.:80", "[::1]:8765", "127.0.0.9:1"],
)
def test_a_host_of_this_machine_is_answered_at_whatever_port_a_tunnel_gives_it(host: str) -> None:
    assert LOCAL.is_host(host)
    assert EVERYWHERE.is_host(host)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "localhost.evil.example:8765", "", ":8765",
     "a@127.0.0.1", "127.0.0.1:8765/", "127.0.0.1:x", "[::1", "127.1", "2130706433", "0x7f.1",
     "127.0.0.1 evil.example"],
)  # fmt: skip
def test_no_name_that_somebody_else_may_own_is_answered(host: str) -> None:
    assert not LOCAL.is_host(host)
    assert not EVERYWHERE.is_host(host)


def test_the_machines_other_addresses_are_answered_only_where_they_are_served() -> None:
    assert not LOCAL.is_host("192.168.1.5:8765")
    assert EVERYWHERE.is_host("192.168.1.5:8765")
    assert Names("::").is_host("[2001:db8::1]:8765")
    assert Names("192.168.1.5").is_host("192.168.1.5")
    assert not Names("192.168.1.5").is_host("192.168.1.6")


def test_a_name_is_answered_where_it_is_served_or_allowed() -> None:
    assert Names("Box.lan").is_host("box.LAN:80")
    assert Names("0.0.0.0", ["memory.example"]).is_host("Memory.example:443")
    assert not Names("0.0.0.0", ["memory.example"]).is_host("a.memory.example")


@pytest.mark.parametrize(
    ("origin", "host", "is_own"),
    [
        ("http://127.0.0.1:8765", "127.0.0.1:8765", True),
        ("http://localhost:8765", "localhost:8765", True),
        ("https://localhost", "localhost:443", True),
        ("http://localhost", "localhost", True),
        # Another program of the same machine is another site.
        ("http://localhost:3000", "localhost:8765", False),
        ("http://127.0.0.1:8765", "localhost:8765", False),
        ("http://evil.example:8765", "127.0.0.1:8765", False),
        ("null", "127.0.0.1:8765", False),
        ("", "127.0.0.1:8765", False),
        ("file://", "127.0.0.1:8765", False),
        ("chrome-extension://127.0.0.1:8765", "127.0.0.1:8765", False),
        ("http://127.0.0.1:8765/page", "127.0.0.1:8765", False),
        ("https://memory.example", "127.0.0.1:8765", True),
        ("https://memory.example.evil.example", "127.0.0.1:8765", False),
    ],
)
def test_an_origin_is_the_requests_own_or_an_allowed_one(origin: str, host: str, is_own: bool) -> None:
    assert Names("127.0.0.1", ["memory.example"]).is_origin(origin, host) is is_own


def test_the_usual_address_is_of_this_machine_only() -> None:
    assert HttpAddress().is_loopback
