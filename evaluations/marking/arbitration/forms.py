"""The forms of the leads: a new round, and a decision."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluations.marking.arbitration.selectors.arbitration import DisputedCase
from evaluations.marking.desk.forms.marks import mark_field
from evaluations.models.vocabulary import ArbitrationReason
from gradeapp.common import number_fields
from gradeapp.common.text_fields import LinesField

OWN = "own"
PAIR = "pair"


def missing_mark(case: DisputedCase) -> str:
    """What is said where a field of marks is empty: a response without a rubric has a total."""
    return str(
        _("Enter a mark for every scoring point.") if case.points else _("There is no total.")
    )


class MarkFirstForm(forms.Form):
    """The lead's own mark before the others are shown: points, or a total without a rubric."""

    answer = forms.UUIDField()
    key = forms.UUIDField()
    rubric = forms.CharField(required=False, max_length=80)
    comment = LinesField(required=False, max_length=10_000)

    def __init__(self, case: DisputedCase, data: Any) -> None:
        super().__init__(data)
        self.case = case
        self.names = [row.name for row in case.points] or ["total"]
        for name in self.names:
            self.fields[name] = mark_field(missing_mark(case))

    def clean_answer(self) -> Any:
        """A page whose address and content belong to different responses is refused."""
        if self.cleaned_data["answer"] != self.case.public_id:
            raise forms.ValidationError(_("This page is out of date. Reload it."))
        return self.cleaned_data["answer"]

    def as_mark(self) -> dict[str, Any]:
        """The arguments of ``mark_before_seeing``."""
        data = self.cleaned_data
        values = tuple(data[name] for name in self.names)
        given = {"points": values} if self.case.points else {"total": values[0]}
        kept = {name: data[name] for name in ("key", "comment", "rubric")}
        return kept | given

    def first_error(self) -> str:
        """The first thing that is wrong, as one sentence."""
        return str(next(iter(self.errors.values()))[0])


class DecisionForm(forms.Form):
    """A lead's decision: a given mark, the mean of two or own points; always with a reason.

    ``number`` is that of the final mark which a correction follows.
    """

    answer = forms.UUIDField()
    key = forms.UUIDField()
    rubric = forms.CharField(required=False, max_length=80)
    # Empty where the page showed no mark of a teacher.
    seen = forms.RegexField(r"^[0-9]{1,18}(,[0-9]{1,18}){0,2}\Z", required=False)
    number = number_fields.IntegerField(required=False, min_value=1)
    decision = forms.ChoiceField(error_messages={"required": _("Accept a mark or enter your own.")})
    reason = forms.ChoiceField(error_messages={"required": _("Choose a reason.")})
    comment = LinesField(required=False, max_length=10_000)

    def __init__(self, case: DisputedCase, data: Any) -> None:
        super().__init__(data)
        self.case = case
        known = [*(mark.kind for mark in case.acceptable), OWN]
        known += [PAIR] if case.pair and case.pair.points is not None else []
        self.fields["decision"].choices = [(one, one) for one in known]  # type: ignore[attr-defined]
        self.fields["reason"].choices = ArbitrationReason.choices()  # type: ignore[attr-defined]
        if data.get("decision") == OWN:
            for name in self.own_fields():
                self.fields[name] = mark_field(missing_mark(case))

    def own_fields(self) -> list[str]:
        """The names of the fields of own marks."""
        return [row.name for row in self.case.points] or ["total"]

    def clean_answer(self) -> Any:
        """A page whose address and content belong to different responses is refused."""
        if self.cleaned_data["answer"] != self.case.public_id:
            raise forms.ValidationError(_("This page is out of date. Reload it."))
        return self.cleaned_data["answer"]

    def as_decision(self) -> dict[str, Any]:
        """The arguments of ``arbitrate``."""
        data = self.cleaned_data
        points, total = self._marks()
        return {
            "key": data["key"],
            "seen": self._seen(),
            "points": points,
            "total": total,
            "reason": ArbitrationReason(data["reason"]),
            "comment": data["comment"],
            "rubric": data["rubric"],
        }

    def page(self) -> dict[str, Any] | None:
        """What says which case the page showed, as ``check_case`` takes it; None if unreadable."""
        data = self.cleaned_data
        if not data.keys() >= {"answer", "seen", "rubric", "number"}:
            return None
        return {"seen": self._seen(), "rubric": data["rubric"], "number": data["number"]}

    def _seen(self) -> list[int]:
        return [int(key) for key in self.cleaned_data["seen"].split(",") if key]

    def own_marks(self) -> tuple[tuple[Decimal, ...], Decimal | None] | None:
        """Own points or an own total that can be read, also while something else is wrong."""
        if self.cleaned_data.get("decision") != OWN:
            return None
        return self._marks() if self.cleaned_data.keys() >= set(self.own_fields()) else None

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
