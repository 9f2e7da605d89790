"""The filters of the list of problems, and the form of a decision."""

from __future__ import annotations

from typing import Any

import django_filters
from django import forms
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from gradeapp.common import number_fields
from questions.forms.filters import named_choices
from questions.models import Dataset, ItemProblem, QuestionRevision
from questions.rules.vocabulary import Decision, ProblemCode
from questions.selectors.gate import ACROSS_DATASETS
from questions.services.decisions import Repair

DECIDED, ALL = "decided", "all"
ACROSS, WITHIN = "across", "within"
Rows = QuerySet[ItemProblem]


class ProblemFilter(django_filters.FilterSet):
    """Dataset, code, reach of a pair, whether it quarantines, and whether it waits for a decision.

    Without ``state`` the list shows what waits.
    """

    dataset = django_filters.ModelChoiceFilter(
        queryset=Dataset.objects.all(),
        to_field_name="slug",
        label=_("Dataset"),
        empty_label=_("All datasets"),
        method="of_dataset",
    )
    code = django_filters.ChoiceFilter(
        choices=lambda: named_choices(ProblemCode),
        label=_("Problem"),
        empty_label=_("All problems"),
    )
    pairs = django_filters.ChoiceFilter(
        choices=[(ACROSS, _("Pairs across datasets")), (WITHIN, _("Pairs within one dataset"))],
        label=_("Pairs"),
        empty_label=_("Single and in pairs"),
        method="by_pairs",
    )
    quarantines = django_filters.ChoiceFilter(
        choices=[
            ("yes", _("Only problems that quarantine the question")),
            ("no", _("Only notices")),
        ],
        label=_("Effect"),
        empty_label=_("Any effect"),
        method="by_effect",
    )
    state = django_filters.ChoiceFilter(
        choices=[(DECIDED, _("Decided")), (ALL, _("Open and decided"))],
        label=_("State"),
        empty_label=_("Waiting for a decision"),
        method="by_state",
    )

    class Meta:
        model = ItemProblem
        fields: list[str] = []

    def of_dataset(self, rows: Rows, name: str, value: Dataset) -> Rows:
        """Problems of its items; one side of a pair is enough."""
        return rows.filter(
            Q(question__task__dataset=value) | Q(other__question__task__dataset=value)
        )

    def by_pairs(self, rows: Rows, name: str, value: str) -> Rows:
        """Problems of two items, whose datasets are two or one."""
        return rows.filter(other__isnull=False).filter(
            ACROSS_DATASETS if value == ACROSS else ~ACROSS_DATASETS
        )

    def by_effect(self, rows: Rows, name: str, value: str) -> Rows:
        """Whether the problem keeps its item out of scoring."""
        return rows.filter(quarantines=value == "yes")

    def by_state(self, rows: Rows, name: str, value: str) -> Rows:
        """What is decided; ``all`` takes everything."""
        return rows.filter(decided__isnull=False) if value == DECIDED else rows

    def filter_queryset(self, queryset: Rows) -> Rows:
        """The filters; what is decided is left out unless the state says otherwise."""
        rows = super().filter_queryset(queryset)
        return rows if self.form.cleaned_data.get("state") else rows.filter(decided__isnull=True)


class Area(forms.CharField):
    """A text of many lines, kept as it is but for the line ends that browsers send."""

    def __init__(self, label: Any, rows: int) -> None:
        super().__init__(
            label=label, required=False, strip=False, widget=forms.Textarea({"rows": rows})
        )

    def to_python(self, value: Any) -> str:
        """The text with line feeds."""
        return _with_line_feeds(str(super().to_python(value)))


class Line(forms.CharField):
    """A text of one line, whose line ends a browser does not send."""

    def to_python(self, value: Any) -> str:
        """The text without line ends and without spaces at its ends."""
        line = _with_line_feeds(str(value or "")).replace("\n", "")
        return str(super().to_python(line))


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


class ReportForm(forms.Form):
    """What a person says is wrong with a question."""

    words = forms.CharField(
        max_length=200,
        label=_("What is wrong"),
        widget=forms.Textarea({"rows": 2}),
    )
    quarantines = forms.BooleanField(
        required=False,
        initial=True,
        label=_("Leave the question out of scoring until it is decided"),
    )
    seen = number_fields.IntegerField(widget=forms.HiddenInput)


class DecisionForm(forms.Form):
    """A decision with its reason, and the item's contents for a repair."""

    decision = forms.ChoiceField(widget=forms.RadioSelect)
    reason = forms.CharField(max_length=200, label=_("Reason"))
    seen = number_fields.IntegerField(widget=forms.HiddenInput)
    seen_decision = number_fields.IntegerField(widget=forms.HiddenInput, required=False)

    def __init__(self, revision: QuestionRevision, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.revision = revision
        self.fields["decision"].choices = named_choices(Decision)  # type: ignore[attr-defined]
        self.initial.setdefault("seen", revision.pk)
        for name, field, value in _contents(revision):
            self.fields[name] = field
            self.initial[name] = value

    @property
    def contents(self) -> list[forms.BoundField]:
        """The fields of a repair."""
        return [self[name] for name, _field, _value in _contents(self.revision)]

    def repair(self) -> Repair | None:
        """What a repair changes; None for another decision."""
        if self.cleaned_data["decision"] != Decision.REPAIR:
            return None
        changed = {
            name: self.cleaned_data[name]
            for name, field, value in _contents(self.revision)
            # A field that nobody touched comes back with other line ends, or without spaces.
            if self.cleaned_data[name] != field.to_python(value)
        }
        texts = {name: value for name, value in changed.items() if "-" not in name}
        return Repair(
            answer_key=self._listed("key", self.revision.answer_key, changed),
            options=self._listed("option", self.revision.options, changed),
            **texts,
        )

    def moved_to(self, revision: QuestionRevision, decision: int) -> DecisionForm:
        """Return the form as it was sent, valid, over *revision* and the *decision* that counts
        (0 for none), of which its sender has not seen one.

        What differs from the revision that they saw stays; the rest is that of *revision*, so that
        nothing that somebody else repaired is undone by a field that nobody touched.
        """
        rows = QuestionRevision.objects.filter(question=revision.question_id)
        seen = rows.filter(pk=self.cleaned_data["seen"]).first()
        before = {
            name: field.to_python(value) for name, field, value in (_contents(seen) if seen else ())
        }
        data = self.data.copy()
        data["seen"], data["seen_decision"] = str(revision.pk), str(decision)
        for name, _field, value in _contents(revision):
            if self.cleaned_data.get(name) == before.get(name):
                data[name] = value
        return DecisionForm(revision, data)

    def _listed(self, kind: str, old: list[str], changed: dict[str, Any]) -> tuple[str, ...] | None:
        """The whole list where one of its entries changed."""
        if not any(name.startswith(f"{kind}-") for name in changed):
            return None
        count = sum(name.startswith(f"{kind}-") for name in self.fields)
        entries = [*old, *[""] * count][:count]
        return tuple(changed.get(f"{kind}-{place}", entry) for place, entry in enumerate(entries))


def _contents(revision: QuestionRevision) -> list[tuple[str, forms.Field, str]]:
    """Name, field and present value of what a repair can change."""
    found: list[tuple[str, forms.Field, str]] = []
    keys = _keys(revision)
    for place, key in enumerate(keys):
        label = _("Answer key") if len(keys) == 1 else _("Key %(n)s") % {"n": place + 1}
        found.append((f"key-{place}", Line(label=label, required=False), key))
    found.append(("stem", Area(_("Question"), 8), revision.stem))
    for place, option in enumerate(revision.options):
        letter = revision.letters[place : place + 1]
        label = _("Option %(letter)s") % {"letter": letter}
        found.append((f"option-{place}", Area(label, 1), option))
    if not keys:
        area = Area(_("Answer key"), 5)
        found.append(("reference_answer", area, revision.reference_answer))
    if revision.passage:
        found.append(("passage", Area(_("Passage"), 5), revision.passage))
    found.append(("analysis", Area(_("Analysis"), 4), revision.analysis))
    return found


def _keys(revision: QuestionRevision) -> list[str]:
    """A field for each sub-question, also where the source gives another number of keys."""
    if revision.question.part != "objective":
        return []
    count = max(len(revision.sub_marks), 1)
    return [*revision.answer_key, *[""] * count][:count]
