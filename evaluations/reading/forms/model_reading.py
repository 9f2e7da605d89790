"""Which model is to read the answers that no pattern reads: the form."""

from __future__ import annotations

import uuid
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluations.models import Endpoint, Run
from evaluations.reading.services.model_reading import MOST_ANSWERS, WantedReading


class ReadForm(forms.Form):
    """A run that reads the unread answers of another run."""

    endpoint = forms.ModelChoiceField(
        Endpoint.objects.select_related("language_model"), label=_("Endpoint"), empty_label=None
    )
    limit = forms.IntegerField(
        min_value=1,
        max_value=MOST_ANSWERS,
        required=False,
        label=_("At most so many answers"),
        help_text=_("Empty: all that no rule reads."),
    )
    budget = forms.DecimalField(
        min_value=0,
        max_digits=12,
        decimal_places=4,
        required=False,
        label=_("Budget"),
        help_text=_("The run pauses before it could cost more. Empty: no limit."),
    )
    # Stands beside the estimate, and comes with it.
    shown = forms.IntegerField(widget=forms.HiddenInput, required=False)
    key = forms.UUIDField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["initial"] = {"key": uuid.uuid4(), **kwargs.get("initial", {})}
        super().__init__(*args, **kwargs)

    def wanted(self, run: Run) -> WantedReading:
        """What a form that is valid asks for, of the answers of *run*."""
        said = self.cleaned_data
        limit = said["limit"] or MOST_ANSWERS
        return WantedReading(run, said["endpoint"], limit, said["shown"])
