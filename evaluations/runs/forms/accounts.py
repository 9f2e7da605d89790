"""Forms of provider accounts and of spending caps."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluations.runs.forms import amounts
from evaluations.runs.services.accounts import MOST_A_MINUTE, MOST_IN_FLIGHT


class AccountForm(forms.Form):
    """The limits of a provider account; ``seen`` names those that the page showed."""

    seen = forms.CharField(max_length=200, required=False, widget=forms.HiddenInput)

    name = forms.CharField(max_length=60, label=_("Name"))
    max_in_flight = amounts.whole(
        _("Concurrent calls"),
        _("Of all its endpoints together. Empty: only the limits of the endpoints hold."),
        most=MOST_IN_FLIGHT,
    )
    requests_per_minute = amounts.whole(
        _("Requests per minute"), _("Empty: no limit."), most=MOST_A_MINUTE
    )
    tokens_per_minute = amounts.whole(
        _("Tokens per minute"),
        _("Input and output together, estimated before each call. Empty: no limit."),
        most=MOST_A_MINUTE,
    )


class CapForm(forms.Form):
    """The spending caps of one currency; ``seen`` names those that the page showed."""

    seen = forms.CharField(max_length=80, required=False, widget=forms.HiddenInput)

    currency = forms.RegexField(r"^[A-Z]{3}$", widget=forms.HiddenInput)
    per_month = amounts.money(_("Cap per month"))
    in_total = amounts.money(_("Cap in total"))
