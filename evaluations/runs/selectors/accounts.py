"""What the pages and the API of endpoints and provider accounts show."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Prefetch, QuerySet
from django.utils.translation import gettext as _

from evaluations.models import Endpoint, PermitLease, ProviderAccount
from gradeapp.common.refusals import NotFound


def accounts(now: datetime) -> QuerySet[ProviderAccount]:
    """Return all accounts with their endpoints, and as ``live`` the leases that run at *now*."""
    live = PermitLease.objects.filter(until__gt=now).order_by("holder")
    return ProviderAccount.objects.prefetch_related(
        Prefetch("endpoints", Endpoint.objects.order_by("name")),
        Prefetch("leases", live, to_attr="live"),
    ).order_by("name")


def get_account(pk: int) -> ProviderAccount:
    """Return the account *pk*. Raises NotFound if there is none."""
    account = ProviderAccount.objects.filter(pk=pk).first()
    if account is None:
        raise NotFound(_("There is no such account."))
    return account


def get_endpoint(pk: int) -> Endpoint:
    """Return the endpoint *pk*. Raises NotFound if there is none."""
    endpoint = Endpoint.objects.select_related("language_model", "account").filter(pk=pk).first()
    if endpoint is None:
        raise NotFound(_("There is no such endpoint."))
    return endpoint
