"""Check the addresses of endpoints: public ones, and private ones that the settings allow.

The check is on the IP address that a name resolves to: ``127.1``, ``0x7f000001`` and a public name
may all lead to this machine.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from gradeapp.common.refusals import BadInput

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Addresses that are ``is_global`` in some Python versions, but lead to private networks.
DENIED = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",
        "100.64.0.0/10",  # carrier NAT; 100.100.100.200 serves one cloud's metadata
        "168.63.129.16/32",  # another cloud's
        "192.0.0.0/24",
        "198.18.0.0/15",
        "64:ff9b::/96",  # NAT64 carries any IPv4 address inside
        "64:ff9b:1::/48",
        "2001::/32",  # Teredo does
        "2002::/16",  # 6to4 does
    )
)
# Ports of services that read HTTP as commands, or contain secrets.
SERVICE_PORTS = frozenset({2375, 2376, 2379, 3306, 5432, 5672, 6379, 9200, 11211, 27017})


def is_allowed(text: str, allow: Iterable[str] = ()) -> bool:
    """Return whether the IP address *text* is public, or in one of the networks *allow*."""
    address: Address = ipaddress.ip_address(text.partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None)
    address = mapped or address
    if any(address in ipaddress.ip_network(network) for network in allow):
        return True
    if any(address in network for network in DENIED):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved)


def check_address(base_url: str) -> None:
    """Raise BadInput unless every address that *base_url* resolves to is allowed.

    It is called when an endpoint is saved and again before it is used, because a name may resolve
    to another address by then.
    """
    parts, port = read_url(base_url)
    host = parts.hostname or ""
    try:
        resolved = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise BadInput(_("Cannot resolve the address %(host)s.") % {"host": host}) from None
    for *_ignored, address in resolved:
        if not is_allowed(str(address[0]), settings.ENDPOINT_ALLOW_CIDRS):
            raise BadInput(
                _("%(host)s is a private address. An operator can allow it in the settings.")
                % {"host": host}
            )


def read_url(base_url: str) -> tuple[SplitResult, int]:
    """Return the parts and the port of an endpoint's URL. Raises BadInput for a deceptive URL."""
    if not base_url.isascii() or any(sign in base_url for sign in "\\#?@") or " " in base_url:
        raise BadInput(
            _(
                "An endpoint address must not contain a user name, query, "
                "space or special character."
            )
        )
    try:
        parts = urlsplit(base_url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise BadInput(
            _("This is not a valid address: %(url)s") % {"url": base_url[:200]}
        ) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput(
            _("An endpoint address must start with http:// or https:// and a host name.")
        )
    if port not in (80, 443) and (port < 1024 or port in SERVICE_PORTS):
        raise BadInput(_("Port %(port)d is reserved for another kind of service.") % {"port": port})
    return parts, port
