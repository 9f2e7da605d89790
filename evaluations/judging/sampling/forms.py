"""Forms of samples: what is to be known, and who marks."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluations.judging.sampling.services import SampleWish
from evaluations.marking.rounds.selectors.round_choice import markable_runs
from evaluations.models import Judge, Run
from evaluations.runs.forms.choices import RunChoice
from evaluations.schemes import Scheme
from gradeapp.accounts.markers import possible_markers
from gradeapp.accounts.models import User
from gradeapp.accounts.person_fields import PeopleField
from gradeapp.common import number_fields
from gradeapp.common.choices import choices_of
from questions.rules.vocabulary import Stream


class TeachersForm(forms.Form):
    """Who marks a sample, under which scheme, in a round of which name."""

    key = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid.uuid4)
    name = forms.CharField(label=_("Name of the round"), max_length=100)
    teachers = PeopleField(
        label=_("Teachers"),
        queryset=User.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one teacher.")},
    )
    scheme = forms.ChoiceField(label=_("Scheme"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        fields["teachers"].queryset = possible_markers()
        fields["scheme"].choices = choices_of(Scheme)
        fields["scheme"].initial = Scheme.fitting(fields["teachers"].queryset.count()).value


class WishForm(forms.Form):
    """Which totals are to be known within how many points, with or without a judge."""

    run = RunChoice(queryset=Run.objects.none(), label=_("Run"), empty_label=_("Choose a run"))
    judge = forms.ModelChoiceField(
        queryset=Judge.objects.order_by("name"),
        label=_("Judge"),
        required=False,
        empty_label=_("Without a judge model"),
    )
    streams = forms.MultipleChoiceField(label=_("Streams"), widget=forms.CheckboxSelectMultiple)
    half_width = number_fields.DecimalField(
        label=_("Known within ± points"),
        min_value=Decimal("0.5"),
        max_value=100,
        initial=6,
        help_text=_("Half the width of the 95-percent interval of the total of 750 points."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        fields["run"].queryset = markable_runs()
        fields["streams"].choices = choices_of(Stream)
        fields["streams"].initial = [Stream.SCIENCES.value]

    def wish(self) -> SampleWish:
        """Return what the valid form asks for."""
        data = self.cleaned_data
        streams = tuple(Stream(stream) for stream in data["streams"])  # type: ignore[call-arg]
        return SampleWish(data["run"], data["judge"], streams, data["half_width"])
