"""Endpoints: save and check them, and open clients for them."""

from __future__ import annotations

import hashlib
import json
import re
from copy import copy
from decimal import Decimal
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from evaluations.llm.client import Limits, most_bytes
from evaluations.models import Endpoint, LanguageModel, ProviderAccount
from evaluations.runs.services.addresses import check_address
from evaluations.runs.services.keys import api_key, set_key
from evaluations.runs.services.permits import account_of
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.name_checks import check_name_is_plain
from gradeapp.common.refusals import BadInput, Conflict

if TYPE_CHECKING:
    from evaluations.llm.openai_client import OpenAIChat

# The most tokens of a reply that an endpoint may be given.
MOST_TOKENS = 200_000


@transaction.atomic
def save_endpoint(
    *,
    name: str,
    base_url: str,
    model: str,
    acting_user: User | None,
    endpoint: Endpoint | None = None,
    key_variable: str | None = "",
    key: str = "",
    confirmed: bool = False,
    language_model: str = "",
    price_input: Decimal = Decimal(0),
    price_output: Decimal = Decimal(0),
    price_cached: Decimal | None = None,
    currency: str = "CNY",
    cost_in_replies: bool = False,
    account: ProviderAccount | None = None,
    preset: str = "",
    max_in_flight: int = 8,
    timeout_seconds: int = 120,
    max_tokens: int = 2048,
    max_temperature: float = 2.0,
    takes_images: bool = False,
    max_completion_tokens: bool = False,
    note: str = "",
    seen: str = "",
) -> Endpoint:
    """Create an endpoint, or change *endpoint*. Prices are per million tokens.

    ``key_variable`` is the name of an environment variable, "" for no key, None to keep the present
    key; ``key`` is a key to be stored instead. A key is not kept with a new address, and
    *acting_user* must have ``confirmed`` that. ``language_model`` is the name in reports, by
    default that of the model. ``account`` is the provider account whose limits it shares, None for
    the present one, or an own one at first. *seen* is the ``state_of`` the endpoint that the person
    changes, "" not to compare. Raises BadInput for invalid fields, Conflict if it has changed.
    """
    endpoint = Endpoint() if endpoint is None else _locked(endpoint, seen)
    before = copy(endpoint)
    address = base_url.rstrip("/")
    check_address(address)
    moved = bool(endpoint.pk) and endpoint.base_url != address
    had_key = endpoint.has_key
    set_key(endpoint, address, key_variable=key_variable, key=key)
    has_key = had_key or endpoint.has_key
    if moved and has_key and acting_user and not confirmed:
        raise BadInput(_("The address of an endpoint with a key has changed. Enter your password."))
    endpoint.name, endpoint.base_url, endpoint.model = name, address, model
    endpoint.price_input, endpoint.price_output = price_input, price_output
    endpoint.price_cached, endpoint.preset = price_cached, preset
    endpoint.currency, endpoint.note, endpoint.cost_in_replies = currency, note, cost_in_replies
    endpoint.account = account or endpoint.account
    endpoint.max_in_flight, endpoint.timeout_seconds = max_in_flight, timeout_seconds
    endpoint.max_tokens, endpoint.max_temperature = max_tokens, float(max_temperature)
    endpoint.takes_images, endpoint.max_completion_tokens = takes_images, max_completion_tokens
    endpoint.language_model = LanguageModel.objects.get_or_create(name=language_model or model)[0]
    _check_fields(endpoint)
    _store(endpoint)
    account_of(endpoint)
    _record_saved(endpoint, before, acting_user)
    return endpoint


def _record_saved(endpoint: Endpoint, before: Endpoint, acting_user: User | None) -> None:
    """Record what *endpoint* is now, and what has changed since *before*; of a key only that."""
    old = settings_of(before) if before.pk else {}
    new = settings_of(Endpoint.objects.get(pk=endpoint.pk))
    changed: dict[str, list[str] | list[bool]] = {
        name: [old.get(name, ""), new[name]] for name in new if old.get(name, "") != new[name]
    }
    had, has = bool(before.stored_key), bool(endpoint.stored_key)
    if had != has:
        changed["stored_key"] = [had, has]
    record(
        Tag.ENDPOINT_SAVED,
        endpoint,
        actor=acting_user,
        name=endpoint.name,
        base_url=endpoint.base_url,
        key_variable=endpoint.key_variable,
        stored_key=has,
        key_replaced=had and has and endpoint.stored_key != before.stored_key,
        changed=changed,
    )


def settings_of(endpoint: Endpoint) -> dict[str, str]:
    """Return by name what can be changed of *endpoint*, as text; of a stored key its hint."""
    hidden = {"id", "stored_key"}
    names = [field.name for field in Endpoint._meta.concrete_fields if field.name not in hidden]
    values = {name: getattr(endpoint, name) for name in names}
    return {name: "" if value is None else str(value) for name, value in values.items()}


def state_of(endpoint: Endpoint) -> str:
    """Return 16 hexadecimal digits that are others once *endpoint* or its key has changed."""
    parts = [endpoint.stored_key, *settings_of(endpoint).values()]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _locked(endpoint: Endpoint, seen: str) -> Endpoint:
    """Return *endpoint* as it is stored; raise Conflict if that is not what somebody has *seen*."""
    endpoint = Endpoint.objects.select_for_update().get(pk=endpoint.pk)
    if seen and seen != state_of(endpoint):
        raise Conflict(
            _(
                "Somebody has saved this endpoint since you opened this page. Open it in a new tab "
                "to see what changed. If you save again, your values replace theirs."
            ),
            code="changed_meanwhile",
        )
    return endpoint


def _check_fields(endpoint: Endpoint) -> None:
    """Raise BadInput for invalid fields, and for names that can pass for others in reports."""
    for name in (endpoint.name, endpoint.model, endpoint.language_model.name):
        check_name_is_plain(name)
    if min(endpoint.max_in_flight, endpoint.timeout_seconds, endpoint.max_tokens) < 1:
        raise BadInput(_("Concurrent calls, timeout and maximum tokens must be above zero."))
    if not 0 < endpoint.max_temperature <= 2:
        raise BadInput(_("The highest temperature must be above 0, and 2 at most."))
    if not re.fullmatch("[A-Z]{3}", endpoint.currency):
        raise BadInput(_("A currency is three capital letters, such as CNY."))
    if min(endpoint.price_input, endpoint.price_output, endpoint.price_cached or 0) < 0:
        raise BadInput(_("A price must be zero or more."))
    if endpoint.price_cached is not None and endpoint.price_cached > endpoint.price_input:
        raise BadInput(_("Cached input tokens cannot cost more than other input tokens."))
    if endpoint.cost_in_replies and not (endpoint.price_input and endpoint.price_output):
        raise BadInput(_("Enter the prices too: they say how much each call must reserve."))
    _check_name_is_free(endpoint)
    try:
        endpoint.full_clean()
    except ValidationError as error:
        field, sentences = next(iter(error.message_dict.items()))
        raise BadInput(f"{field}: {sentences[0]}") from None


def _store(endpoint: Endpoint) -> None:
    """Save *endpoint*. Raises BadInput if somebody has taken its name at the same moment."""
    try:
        with transaction.atomic():
            endpoint.save()
    except IntegrityError:
        _check_name_is_free(endpoint)
        raise


def _check_name_is_free(endpoint: Endpoint) -> None:
    """Raise BadInput if another endpoint has the name of *endpoint*."""
    if Endpoint.objects.exclude(pk=endpoint.pk).filter(name=endpoint.name).exists():
        raise BadInput(_("There is already an endpoint called %(name)s.") % {"name": endpoint.name})


def open_chat(
    endpoint: Endpoint, *, in_flight: int = 1, limits: Limits | None = None
) -> OpenAIChat:
    """Return a client for *endpoint*, by default with the limits of its calls.

    Raises BadInput if the key is missing or the address is private by now.
    """
    # Imported here, because it takes a second and most processes never call a model.
    from evaluations.llm.openai_client import OpenAIChat

    key = api_key(endpoint)
    check_address(endpoint.base_url)
    seconds, most = float(endpoint.timeout_seconds), most_bytes(endpoint.max_tokens)
    return OpenAIChat(
        endpoint.base_url,
        endpoint.model,
        key,
        max_in_flight=in_flight,
        limits=limits or Limits(read=seconds, deadline=seconds, reply_bytes=most),
        networks=settings.ENDPOINT_ALLOW_CIDRS,
    )
