"""The forms of the leads: a new round, and a decision."""

from __future__ import annotations

import secrets
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from evaluations.forms.marks import mark_field
from evaluations.models import Run
from evaluations.models.vocabulary import ArbitrationReason
from evaluations.rules.marking.scheme import (
    DEFAULT_STEP,
    DEFAULT_TOLERANCE_POINTS,
    DEFAULT_TOLERANCE_SHARE,
    Scheme,
)
from evaluations.selectors.arbitration import DisputedCase
from evaluations.selectors.round_choice import ResponseChoice, markable_runs, possible_teachers
from gradeapp.accounts.models import User
from questions.rules.vocabulary import Named, Subject

OWN = "own"
PAIR = "pair"


def choices_of(names: type[Named]) -> list[tuple[str, str]]:
    """Value and name of a closed list in the language of the page."""
    return [(name.value, name.label(get_language() or "en")) for name in names]


class RunsField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    """Runs to tick, each with what tells it from the others."""

    def label_from_instance(self, run: Run) -> str:
        number = _("run %(number)s") % {"number": run.pk}
        return f"{run.language_model} · {run.dataset} · {number} · {run.created_at:%Y-%m-%d}"


class RoundForm(forms.Form):
    """A new round. What cannot work is the service's to refuse."""

    name = forms.CharField(label=_("Name"), max_length=100)
    runs = RunsField(
        label=_("Runs to be marked"),
        queryset=Run.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one run.")},
    )
    subjects = forms.MultipleChoiceField(
        label=_("Subjects"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("None chosen: all."),
    )
    per_task = forms.IntegerField(
        label=_("Questions per task"),
        required=False,
        min_value=1,
        help_text=_("A sample, the same questions for every run. Empty: all."),
    )
    teachers = forms.ModelMultipleChoiceField(
        label=_("Teachers"),
        queryset=User.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one teacher.")},
    )
    scheme = forms.ChoiceField(label=_("Scheme"))
    tolerance_points = forms.DecimalField(
        label=_("Tolerance in points"), min_value=0, initial=DEFAULT_TOLERANCE_POINTS
    )
    tolerance_percent = forms.DecimalField(
        label=_("or in % of full marks"),
        min_value=0,
        max_value=100,
        initial=int(DEFAULT_TOLERANCE_SHARE * 100),
        help_text=_(
            "The larger of the two, down to the mark step; a difference equal to it passes."
        ),
    )
    mark_step = forms.TypedChoiceField(
        label=_("Mark step"),
        choices=[("0.5", "0.5"), ("1", "1"), ("0.25", "0.25")],
        coerce=Decimal,
        initial=str(DEFAULT_STEP),
    )
    lease_minutes = forms.IntegerField(
        label=_("Minutes for one response"),
        min_value=1,
        initial=30,
        help_text=_("Without a sign of life it then goes back into the queue."),
    )
    house_rulings = forms.CharField(
        label=_("House rulings"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_("How to treat what the rubric is silent on; shown at the desk."),
    )
    random_seed = forms.IntegerField(
        label=_("Random seed"),
        min_value=0,
        max_value=2**62,
        help_text=_("Decides sample, aliases and queues; the same seed plans the same round."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        runs, teachers = self.fields["runs"], self.fields["teachers"]
        runs.queryset, teachers.queryset = markable_runs(), possible_teachers()  # type: ignore[attr-defined]
        self.fields["subjects"].choices = choices_of(Subject)  # type: ignore[attr-defined]
        self.fields["scheme"].choices = choices_of(Scheme)  # type: ignore[attr-defined]
        self.fields["scheme"].initial = Scheme.fitting(teachers.queryset.count()).value  # type: ignore[attr-defined]
        self.fields["random_seed"].initial = secrets.randbelow(10**6)

    def choice(self) -> ResponseChoice:
        """Which responses the form asks for."""
        data = self.cleaned_data
        return ResponseChoice(
            runs=tuple(run.pk for run in data["runs"]),
            subjects=tuple(data["subjects"]),
            per_task=data["per_task"],
        )

    def settings(self) -> dict[str, Any]:
        """The other arguments of ``open_round``."""
        data = self.cleaned_data
        same = ("name", "tolerance_points", "mark_step", "lease_minutes", "house_rulings")
        return {name: data[name] for name in (*same, "random_seed")} | {
            "responses": self.choice(),
            "teachers": list(data["teachers"]),
            "scheme": Scheme(data["scheme"]),
            "tolerance_share": data["tolerance_percent"] / 100,
        }


class DecisionForm(forms.Form):
    """A lead's decision: a given mark, the mean of two or own points; always with a reason.

    ``number`` is that of the final mark which a correction follows.
    """

    answer = forms.UUIDField()
    key = forms.UUIDField()
    seen = forms.RegexField(r"^\d+(,\d+){0,2}$")
    number = forms.IntegerField(required=False, min_value=1)
    decision = forms.ChoiceField(error_messages={"required": _("Choose a mark or give your own.")})
    reason = forms.ChoiceField(error_messages={"required": _("Choose a reason.")})
    comment = forms.CharField(required=False, max_length=10_000)

    def __init__(self, case: DisputedCase, data: Any) -> None:
        super().__init__(data)
        self.case = case
        known = [*(mark.kind for mark in case.marks), OWN]
        known += [PAIR] if case.pair and case.pair.points is not None else []
        self.fields["decision"].choices = [(one, one) for one in known]  # type: ignore[attr-defined]
        self.fields["reason"].choices = ArbitrationReason.choices()  # type: ignore[attr-defined]
        if data.get("decision") == OWN:
            for name in self.own_fields():
                self.fields[name] = mark_field(str(_("Give every scoring point a mark.")))

    def own_fields(self) -> list[str]:
        """The names of the fields of own marks."""
        return [row.name for row in self.case.points] or ["total"]

    def clean_answer(self) -> Any:
        """A page whose address and content belong to different responses is refused."""
        if self.cleaned_data["answer"] != self.case.public_id:
            raise forms.ValidationError(_("This page is mixed up; load it again."))
        return self.cleaned_data["answer"]

    def as_decision(self) -> dict[str, Any]:
        """The arguments of ``arbitrate``."""
        data = self.cleaned_data
        points, total = self._marks()
        return {
            "key": data["key"],
            "seen": [int(key) for key in data["seen"].split(",")],
            "points": points,
            "total": total,
            "reason": ArbitrationReason(data["reason"]),
            "comment": data["comment"],
        }

    def _marks(self) -> tuple[tuple[Decimal, ...], Decimal | None]:
        """Points, or a total where there is no rubric."""
        data = self.cleaned_data
        for mark in self.case.marks:
            if mark.kind == data["decision"]:
                return mark.points, mark.total
        if data["decision"] == PAIR and self.case.pair:
            return self.case.pair.points or (), self.case.pair.value
        values = tuple(data[name] for name in self.own_fields())
        return (values, None) if self.case.points else ((), values[0])

    def first_error(self) -> str:
        """The first thing that is wrong, as one sentence."""
        return str(next(iter(self.errors.values()))[0])
