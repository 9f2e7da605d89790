"""The small forms of a started round: deadline, more teachers, marking notes, reference marks."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from evaluations.marking.desk.forms.marks import mark_field
from evaluations.marking.desk.services.drafts import LONGEST_COMMENT
from evaluations.marking.rounds.selectors.seed_answers import SeedCase
from evaluations.marking.rounds.services.marking_notes import LONGEST_NOTES
from evaluations.models import MarkingRound
from gradeapp.accounts.markers import possible_markers
from gradeapp.accounts.models import User
from gradeapp.accounts.person_fields import PeopleField
from gradeapp.common import number_fields
from gradeapp.common.text_fields import LinesField
from gradeapp.common.time_fields import LocalTimeField


class DeadlineForm(forms.Form):
    """Until when a round should be done; empty for no deadline."""

    deadline = LocalTimeField(label=_("Deadline"), required=False)


class MoreTeachersForm(forms.Form):
    """Teachers who are not in the pool yet; the service says who cannot be added, and why."""

    teachers = PeopleField(
        label=_("Teachers"),
        queryset=User.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": _("Choose at least one teacher."),
            "invalid_choice": _("Somebody you chose cannot mark. Choose again."),
        },
    )

    def __init__(self, marking_round: MarkingRound, data: Any = None) -> None:
        super().__init__(data)
        pool = marking_round.pool.values("teacher")
        teachers: Any = self.fields["teachers"]
        markers = possible_markers()
        # An older page offered those who are in the pool by now. Of nobody else is the name told.
        known = Q(pk__in=pool) | Q(pk__in=markers.order_by().values("pk"))
        teachers.queryset = User.objects.filter(known)
        offered = markers.exclude(pk__in=pool)
        teachers.choices = [(one.pk, teachers.label_from_instance(one)) for one in offered]


class MarkingNotesForm(forms.Form):
    """The next version of the marking notes."""

    seen = number_fields.IntegerField(min_value=0, widget=forms.HiddenInput)
    text = LinesField(
        label=_("Marking notes"),
        required=False,
        max_length=LONGEST_NOTES,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text=_(
            "How to handle cases that the rubric does not cover. Shown at the marking desk."
        ),
    )
    to_judge = forms.BooleanField(
        label=_("Include the marking notes in the judge prompt"), required=False
    )


class ReferenceForm(forms.Form):
    """The lead's mark of a seed answer. Which marks are possible is the service's to say."""

    comment = LinesField(
        label=_("Comment"),
        required=False,
        max_length=LONGEST_COMMENT,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    rubric = forms.CharField(required=False, max_length=20)

    def __init__(self, case: SeedCase, data: Any = None) -> None:
        super().__init__(data, initial={"comment": case.comment})
        self.case = case
        missing = str(_("Enter a mark for every scoring point."))
        for name, value in self.given():
            self.fields[name] = mark_field(missing)
            self.fields[name].initial = value

    def given(self) -> list[tuple[str, str]]:
        """The names of the fields of marks with what was given before."""
        points = enumerate(self.case.points, start=1)
        named = [(f"point-{number}", value) for number, value in points]
        return named or [("total", self.case.total)]

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Each scoring point with its field; without a rubric one line for the whole."""
        item = self.case.item
        return [
            {
                "field": self[name],
                "text": item.scoring_points[place].text if item.scoring_points else "",
                "full": item.scoring_points[place].points
                if item.scoring_points
                else item.full_marks,
                "number": place + 1,
            }
            for place, (name, _value) in enumerate(self.given())
        ]

    def as_mark(self) -> dict[str, Any]:
        """The arguments of ``premark``."""
        values: tuple[Decimal, ...] = tuple(
            self.cleaned_data[name] for name, _value in self.given()
        )
        said = {name: self.cleaned_data[name] for name in ("comment", "rubric")}
        if self.case.item.scoring_points:
            return {"points": values, **said}
        return {"total": values[0], **said}
