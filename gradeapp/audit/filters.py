"""The filters of the audit trail."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

import django_filters
from django import forms
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from gradeapp.audit.models import AuditEntry
from gradeapp.audit.words import TAGS, word

# Before the first and after the last entry, in every zone.
FIRST, LAST = date(1970, 1, 2), date(9000, 1, 1)
Rows = QuerySet[AuditEntry]


def _text(example: str) -> forms.TextInput:
    named = {"class": "search", "type": "search", "maxlength": 150, "placeholder": example}
    return forms.TextInput(attrs=named)


def _day() -> forms.DateInput:
    return forms.DateInput(attrs={"type": "date", "class": "search"}, format="%Y-%m-%d")


class TrailFilter(django_filters.FilterSet):
    """Who, what, which object, and from which day to which, both included."""

    person = django_filters.CharFilter(
        field_name="actor__username", label=_("Login name"), widget=_text("lin")
    )
    object = django_filters.CharFilter(
        field_name="target", label=_("Object"), widget=_text("run:18")
    )
    action = django_filters.ChoiceFilter(
        field_name="tag",
        choices=lambda: sorted(
            ((str(tag), word(TAGS, tag)) for tag in TAGS), key=lambda one: one[1]
        ),
        label=pgettext_lazy("audit", "Action"),
        empty_label=_("All actions"),
        # No text stands before it: its first choice says what it is.
        widget=forms.Select(attrs={"aria-label": pgettext_lazy("audit", "Action")}),
    )
    since = django_filters.DateFilter(
        method="from_day",
        label=pgettext_lazy("day", "From"),
        widget=_day(),
    )
    until = django_filters.DateFilter(
        method="to_day",
        label=pgettext_lazy("day", "To"),
        widget=_day(),
    )

    class Meta:
        model = AuditEntry
        fields: list[str] = []

    def from_day(self, rows: Rows, name: str, value: date) -> Rows:
        """Entries of *value*, a day in the site's zone, and later ones."""
        return rows.filter(at__gte=_begin(value))

    def to_day(self, rows: Rows, name: str, value: date) -> Rows:
        """Entries of *value*, a day in the site's zone, and earlier ones."""
        return rows.filter(at__lt=_begin(min(value, LAST) + timedelta(days=1)))


def _begin(day: date) -> datetime:
    """Return when *day* begins; days that no time of the database has are the nearest of those."""
    day = min(max(day, FIRST), LAST)
    return timezone.make_aware(datetime.combine(day, time()))
