"""Check the addresses of endpoints: public ones, and private ones that the settings allow.

The check is on the IP address that a name resolves to: ``127.1``, ``0x7f000001`` and a public name
may all lead to this machine.
"""

from __future__ import annotations

import socket
from functools import partial
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from evaluations.llm.addresses import is_allowed, is_loopback
from gradeapp.common.bounded_wait import within
from gradeapp.common.refusals import BadInput

# Ports of services that read HTTP as commands, or contain secrets.
SERVICE_PORTS = frozenset({2375, 2376, 2379, 3306, 5432, 5672, 6379, 9200, 11211, 27017})
# A web request waits so long for the name server of an address that somebody typed.
RESOLVE_SECONDS = 10.0


def check_address(base_url: str) -> None:
    """Raise BadInput unless every address that *base_url* resolves to is allowed.

    It is called when an endpoint is saved and before it is used, so that a person reads a sentence.
    A name may resolve to another address by the time of the connection: the client checks again.
    """
    parts, port = read_url(base_url)
    host = parts.hostname or ""
    try:
        look = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
        resolved = within(RESOLVE_SECONDS, look)
    except (OSError, UnicodeError):  # a TimeoutError is an OSError too
        raise BadInput(_("Cannot resolve the address %(host)s.") % {"host": host}) from None
    addresses = [str(address[0]) for *_ignored, address in resolved]
    if not all(is_allowed(one, settings.ENDPOINT_ALLOW_CIDRS) for one in addresses):
        raise BadInput(
            _("%(host)s is a private address. An operator can allow it in the settings.")
            % {"host": host}
        )
    if parts.scheme != "https" and not all(is_loopback(one) for one in addresses):
        raise BadInput(_("The address must start with https://, except on this machine."))


def read_url(base_url: str) -> tuple[SplitResult, int]:
    """Return the parts and the port of an endpoint's URL. Raises BadInput for a deceptive URL."""
    plain = base_url.isascii() and base_url.isprintable()
    if not plain or any(sign in base_url for sign in "\\#?@ "):
        raise BadInput(
            _(
                "An endpoint address must not contain a user name, query, "
                "space or special character."
            )
        )
    try:
        parts = urlsplit(base_url)
        port = (443 if parts.scheme == "https" else 80) if parts.port is None else parts.port
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
