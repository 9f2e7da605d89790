"""The forms of marking sheets: how many responses until when, and the file that comes back."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from evaluations.models import MarkingRound
from gradeapp.accounts.models import User
from gradeapp.accounts.person_fields import PersonField
from gradeapp.common import number_fields
from gradeapp.common.times import local_or_utc

USUAL_RESPONSES = 20
USUAL_DAYS = 7


class TakeForm(forms.Form):
    """How many responses to take away, and until when they are held; of whom, where a lead asks."""

    teacher = PersonField(User.objects.none(), label=_("Teacher"), empty_label=None)
    responses = number_fields.IntegerField(
        label=_("Responses"), min_value=1, initial=USUAL_RESPONSES
    )
    until = forms.DateField(
        label=_("Until the end of"),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text=_(
            "Nobody else gets these responses until then. Afterwards they return to the queue."
        ),
    )

    def __init__(self, marking_round: MarkingRound, teacher: User | None, *args: Any) -> None:
        super().__init__(*args)
        today = timezone.localdate()
        self.fields["responses"].widget.attrs["max"] = marking_round.sheet_responses
        self.fields["responses"].initial = min(USUAL_RESPONSES, marking_round.sheet_responses)
        until = self.fields["until"]
        until.initial = _usual_day(marking_round, today)
        last = today + timedelta(days=marking_round.sheet_days)
        until.widget.attrs |= {"min": today.isoformat(), "max": last.isoformat()}
        if teacher is not None:
            del self.fields["teacher"]
        else:
            pool = User.objects.filter(pools__round=marking_round)
            self.fields["teacher"].queryset = pool.order_by("display_name", "username")  # type: ignore[attr-defined]

    def first_error(self) -> str:
        """The first thing that is wrong, as one sentence."""
        return str(next(iter(self.errors.values()))[0])


def _usual_day(marking_round: MarkingRound, today: date) -> date:
    """A week from *today*, or the last day that ends before the deadline of the round."""
    usual = today + timedelta(days=min(USUAL_DAYS, marking_round.sheet_days))
    if marking_round.deadline is None:
        return usual
    whole = local_or_utc(marking_round.deadline) - timedelta(hours=23, minutes=59)
    return max(today, min(usual, whole.date()))


class FilledSheetForm(forms.Form):
    """A filled sheet."""

    file = forms.FileField(
        label=_("Filled sheet"),
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,.xlsx"}),
        error_messages={"required": _("Choose a file first.")},
    )
