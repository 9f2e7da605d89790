"""API keys of endpoints: read from a variable that is bound to hosts, or stored encrypted.

A stored key is encrypted together with the address that it was entered for, so that neither an edit
of the address nor a copied value sends it to another host.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from evaluations.models import Endpoint
from evaluations.runs.services.addresses import read_url
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

# Only variables with such names, so that an endpoint cannot be sent other secrets of the server.
KEY_VARIABLE = re.compile(r"(?!.*SECRET)[A-Z][A-Z0-9_]{0,70}_(KEY|TOKEN)")
# Of a shorter key the last four characters are too large a part.
LONG_ENOUGH_FOR_A_HINT = 16


def set_key(endpoint: Endpoint, address: str, *, key_variable: str | None, key: str) -> None:
    """Set where the key of *endpoint* comes from, for its new *address*.

    ``key_variable`` None keeps the present key. Raises BadInput if that is not possible because the
    address changes, or if the settings do not allow the variable at the host of *address*.
    """
    if key and key_variable:
        raise BadInput(_("Enter an API key or the name of its variable, not both."))
    if key:
        endpoint.stored_key, endpoint.key_variable = _encrypt(key, address), ""
        endpoint.key_hint = key[-4:] if len(key) >= LONG_ENOUGH_FOR_A_HINT else ""
    elif key_variable is not None:
        if key_variable and not KEY_VARIABLE.fullmatch(key_variable):
            raise BadInput(
                _(
                    "Enter the environment variable that holds the API key, such as "
                    "DEEPSEEK_API_KEY."
                )
            )
        endpoint.key_variable, endpoint.stored_key, endpoint.key_hint = key_variable, "", ""
    elif endpoint.has_key and endpoint.base_url != address:
        raise BadInput(
            _("The address has changed. Enter the API key or the name of its variable again.")
        )
    if endpoint.key_variable:
        check_key_host(endpoint.key_variable, address)


def check_key_host(variable: str, base_url: str) -> None:
    """Raise BadInput unless the settings allow the key in *variable* at the host of *base_url*."""
    parts, port = read_url(base_url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    spellings = {f"{host}:{port}", f"{host}:*"}
    if port == (443 if parts.scheme == "https" else 80):
        spellings.add(host)
    if not spellings.intersection(settings.KEY_HOSTS.get(variable, ())):
        raise BadInput(
            _(
                "The key in %(variable)s may not be sent to %(host)s. An operator can allow it in "
                "the setting GRADEAPP_KEY_HOSTS."
            )
            % {"variable": variable, "host": parts.netloc}
        )


def api_key(endpoint: Endpoint) -> str | None:
    """Return the key of *endpoint*, None for an endpoint without one.

    Raises BadInput if the key may not be sent to the host, or (``no_key``) if the variable is not
    set or the stored key cannot be read.
    """
    if endpoint.stored_key:
        return _decrypt(endpoint)
    if not endpoint.key_variable:
        return None
    check_key_host(endpoint.key_variable, endpoint.base_url)
    key = os.environ.get(endpoint.key_variable, "").strip()
    if not key:
        raise BadInput(
            _(
                "The environment variable %(name)s, which holds the API key of "
                "%(endpoint)s, is not set."
            )
            % {"name": endpoint.key_variable, "endpoint": endpoint.name},
            code="no_key",
        )
    return key


@transaction.atomic
def rotate_keys() -> int:
    """Encrypt every stored key with the first field key, and return how many there are.

    Raises Conflict, with nothing changed, if one cannot be read.
    """
    from cryptography.fernet import InvalidToken

    endpoints = Endpoint.objects.exclude(stored_key="").select_for_update().order_by("pk")
    for endpoint in endpoints:
        try:
            endpoint.stored_key = _fernet().rotate(endpoint.stored_key).decode()
        except InvalidToken:
            raise Conflict(
                _("The stored key of %(name)s cannot be read with GRADEAPP_FIELD_KEYS.")
                % {"name": endpoint.name}
            ) from None
        endpoint.save(update_fields=["stored_key"])
        record(Tag.KEY_ROTATED, endpoint, actor=None)
    return len(endpoints)


def _encrypt(key: str, address: str) -> str:
    if not (8 <= len(key) <= 400 and key.isascii() and key.isprintable() and " " not in key):
        raise BadInput(_("An API key has 8 to 400 letters, digits and signs, without spaces."))
    return _fernet().encrypt(json.dumps({"key": key, "address": address}).encode()).decode()


def _decrypt(endpoint: Endpoint) -> str:
    from cryptography.fernet import InvalidToken

    try:
        stored = json.loads(_fernet().decrypt(endpoint.stored_key))
    except InvalidToken:
        stored = {"address": None}
    if stored["address"] != endpoint.base_url:
        raise BadInput(
            _("The stored key of %(name)s cannot be read. Enter it again.")
            % {"name": endpoint.name},
            code="no_key",
        )
    return str(stored["key"])


def _fernet() -> MultiFernet:
    # Imported here, because most processes never read a stored key.
    from cryptography.fernet import Fernet, MultiFernet

    if not settings.FIELD_KEYS:
        raise BadInput(
            _("Stored keys need the setting GRADEAPP_FIELD_KEYS, which is not set."), code="no_key"
        )
    return MultiFernet([Fernet(key) for key in settings.FIELD_KEYS])
