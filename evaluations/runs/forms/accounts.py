"""Forms of provider accounts and of spending caps."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluations.runs.services.accounts import MOST_A_MINUTE, MOST_IN_FLIGHT
from gradeapp.common import number_fields


class AccountForm(forms.Form):
    """The limits of a provider account."""

    name = forms.CharField(max_length=60, label=_("Name"))
    max_in_flight = number_fields.IntegerField(
        min_value=1,
        max_value=MOST_IN_FLIGHT,
        required=False,
        label=_("Concurrent calls"),
        help_text=_("Of all its endpoints together. Empty: only the limits of the endpoints hold."),
    )
    requests_per_minute = number_fields.IntegerField(
        min_value=1,
        max_value=MOST_A_MINUTE,
        required=False,
        label=_("Requests per minute"),
        help_text=_("Empty: no limit."),
    )
    tokens_per_minute = number_fields.IntegerField(
        min_value=1,
        max_value=MOST_A_MINUTE,
        required=False,
        label=_("Tokens per minute"),
        help_text=_("Input and output together, estimated before each call. Empty: no limit."),
    )


class CapForm(forms.Form):
    """The spending caps of one currency."""

    currency = forms.RegexField(r"^[A-Z]{3}$", widget=forms.HiddenInput)
    per_month = number_fields.DecimalField(
        min_value=0, max_digits=12, decimal_places=4, required=False, label=_("Cap per month")
    )
    in_total = number_fields.DecimalField(
        min_value=0, max_digits=12, decimal_places=4, required=False, label=_("Cap in total")
    )
