"""Alerts that somebody read many items: shown to admins until one of them acknowledges it."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.audit.models import ReadAlert
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import NotAllowed, NotFound
from gradeapp.waiting import Waiting


def open_alerts() -> QuerySet[ReadAlert]:
    """Alerts that nobody has acknowledged, the newest first."""
    return ReadAlert.objects.filter(open=True).select_related("person").order_by("-raised_at")


def alerts_waiting(user: User) -> Iterable[Waiting]:
    """How many alerts wait for somebody who may operate."""
    if user.may(Capability.OPERATE):
        label = gettext_lazy("Accounts that read many items")
        yield Waiting(label, open_alerts().count(), reverse("audit:trail"))


@transaction.atomic
def acknowledge(pk: int, *, acting_user: User) -> ReadAlert:
    """Take an alert off the pages; it stays in the trail.

    Raises NotFound if none is open, NotAllowed for the person that it is about.
    """
    alert = open_alerts().filter(pk=pk).first()
    if alert is not None and alert.person_id == acting_user.pk:
        raise NotAllowed(_("Another admin acknowledges an alert that is about you."))
    if alert is None or not ReadAlert.objects.filter(pk=pk, open=True).update(open=False):
        raise NotFound(_("There is no such alert, or somebody has acknowledged it."))
    record(Tag.READS_ACKNOWLEDGED, alert.person, actor=acting_user, items_read=alert.items)
    return alert
