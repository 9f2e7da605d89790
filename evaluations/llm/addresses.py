"""The IP addresses that a client may connect to: public ones, and listed private networks."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Addresses at which clouds serve the metadata and the keys of a machine. Never allowed.
METADATA = frozenset(
    ipaddress.ip_address(text)
    for text in (
        "169.254.169.254",
        "169.254.170.2",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd20:ce::254",
    )
)
# Networks that are ``is_global`` in some Python versions, but lead to private addresses.
DENIED = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",
        "100.64.0.0/10",  # carrier NAT
        "192.0.0.0/24",
        "198.18.0.0/15",
        "64:ff9b::/96",  # NAT64 carries any IPv4 address inside
        "64:ff9b:1::/48",
        "2001::/32",  # Teredo does
        "2002::/16",  # 6to4 does
        "192.88.99.0/24",  # relays of 6to4
        "fec0::/10",  # site-local, as private as fc00::/7
        "3fff::/20",  # examples in documents (RFC 9637)
    )
)


class ForbiddenAddressError(OSError):
    """A connection to an address that is not allowed was refused before it was made."""


def _address(text: str) -> Address:
    """Return the address *text* without its zone; an IPv4 address mapped to IPv6 as IPv4."""
    address: Address = ipaddress.ip_address(text.partition("%")[0])
    return getattr(address, "ipv4_mapped", None) or address


def is_loopback(text: str) -> bool:
    """Return whether the IP address *text* is this machine."""
    return _address(text).is_loopback


def is_allowed(text: str, networks: Iterable[str] = ()) -> bool:
    """Return whether the IP address *text* is public, or in one of *networks* (CIDR)."""
    address = _address(text)
    if address in METADATA:
        return False
    if any(address in ipaddress.ip_network(network) for network in networks):
        return True
    if any(address in network for network in DENIED):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved)
