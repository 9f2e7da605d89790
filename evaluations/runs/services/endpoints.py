"""Endpoints: where models are called, with which key, at which price.

The key itself stays in the environment of the worker. The database, the pages
and the audit trail know only the name of the variable that holds it.
"""

from __future__ import annotations

import os
import re
from decimal import Decimal
from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from evaluations.llm.client import Limits
from evaluations.models import Endpoint, LanguageModel
from evaluations.runs.services.addresses import check_address
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput

if TYPE_CHECKING:
    from evaluations.llm.openai_client import OpenAIChat

# An endpoint must not be a way to send the server's other secrets somewhere.
KEY_VARIABLE = re.compile(r"(?!.*SECRET)[A-Z][A-Z0-9_]{0,70}_(KEY|TOKEN)")


@transaction.atomic
def save_endpoint(
    *,
    name: str,
    base_url: str,
    model: str,
    acting_user: User | None,
    endpoint: Endpoint | None = None,
    key_variable: str | None = "",
    language_model: str = "",
    price_input: Decimal = Decimal(0),
    price_output: Decimal = Decimal(0),
    currency: str = "CNY",
    max_in_flight: int = 8,
    timeout_seconds: int = 120,
    max_tokens: int = 2048,
    note: str = "",
) -> Endpoint:
    """Make an endpoint, or change *endpoint*; prices are per million tokens.

    ``key_variable`` is the name of an environment variable, "" for no key at
    all, None to keep the one there is. A changed address never keeps it: a key
    must not travel to a new host because somebody edited a URL.
    ``language_model`` is the name that reports show, the model's own by default.
    """
    endpoint = endpoint or Endpoint()
    check_address(base_url)
    endpoint.key_variable = _key_variable(endpoint, base_url, key_variable)
    endpoint.name, endpoint.base_url, endpoint.model = name, base_url.rstrip("/"), model
    endpoint.price_input, endpoint.price_output = price_input, price_output
    endpoint.currency, endpoint.note = currency, note
    endpoint.max_in_flight, endpoint.timeout_seconds = max_in_flight, timeout_seconds
    endpoint.max_tokens = max_tokens
    endpoint.language_model = LanguageModel.objects.get_or_create(name=language_model or model)[0]
    _check_fields(endpoint)
    endpoint.save()
    facts = {"name": name, "base_url": endpoint.base_url, "key_variable": endpoint.key_variable}
    record(Tag.ENDPOINT_SAVED, endpoint, actor=acting_user, **facts)
    return endpoint


def _key_variable(endpoint: Endpoint, base_url: str, typed: str | None) -> str:
    if typed is None:
        if endpoint.key_variable and endpoint.base_url.rstrip("/") != base_url.rstrip("/"):
            raise BadInput(
                _("The address has changed. Enter the name of the API key's variable again.")
            )
        return endpoint.key_variable
    if typed and not KEY_VARIABLE.fullmatch(typed):
        raise BadInput(
            _("Enter the environment variable that holds the API key, such as DEEPSEEK_API_KEY.")
        )
    return typed


def _check_fields(endpoint: Endpoint) -> None:
    if min(endpoint.max_in_flight, endpoint.timeout_seconds, endpoint.max_tokens) < 1:
        raise BadInput(_("Concurrent calls, timeout and maximum tokens must be above zero."))
    if endpoint.price_input < 0 or endpoint.price_output < 0:
        raise BadInput(_("A price must be zero or more."))
    if Endpoint.objects.exclude(pk=endpoint.pk).filter(name=endpoint.name).exists():
        raise BadInput(_("There is already an endpoint called %(name)s.") % {"name": endpoint.name})
    try:
        endpoint.full_clean()
    except ValidationError as error:
        field, sentences = next(iter(error.message_dict.items()))
        raise BadInput(f"{field}: {sentences[0]}") from None


def api_key(endpoint: Endpoint) -> str | None:
    """The key from the environment, None for an endpoint without one; refuses where it is unset."""
    if not endpoint.key_variable:
        return None
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


def open_chat(endpoint: Endpoint, *, in_flight: int = 1) -> OpenAIChat:
    """A client for *endpoint*; refuses a missing key and an address that leads inside by now."""
    # Here, because the client takes a second to load and most processes never call a model.
    from evaluations.llm.openai_client import OpenAIChat

    key = api_key(endpoint)
    check_address(endpoint.base_url)
    seconds = float(endpoint.timeout_seconds)
    limits = Limits(read=seconds, deadline=seconds)
    return OpenAIChat(
        endpoint.base_url, endpoint.model, key, max_in_flight=in_flight, limits=limits
    )
