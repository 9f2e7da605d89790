"""Forms of judging: the filters of judgements, and the forms that start a judge."""

from __future__ import annotations

import uuid
from typing import Any

import django_filters
from django import forms
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext_lazy as _

from evaluations.facts.words import reason_words
from evaluations.judging.rules.judge_condition import (
    GRADEAPP,
    MAX_TOKENS,
    MOST_TOKENS,
    JudgeChoice,
    ReplyForm,
)
from evaluations.judging.selectors import family_with, prompts_to_choose
from evaluations.marking.rounds.selectors.round_choice import markable_runs
from evaluations.models import Endpoint, Judgement, Response, Run
from evaluations.runs.forms import amounts
from evaluations.runs.forms.choices import ConditionNameFilter, ModelNameFilter, RunChoice
from evaluations.statistics.outcomes import JudgeStatus
from questions.forms.filters import named_choices
from questions.models import Dataset
from questions.rules.vocabulary import Subject


class JudgementFilter(django_filters.FilterSet):
    """The filters of the page: dataset, status, model, condition and subject."""

    dataset = django_filters.ModelChoiceFilter(
        field_name="response__run__dataset",
        queryset=Dataset.objects.all(),
        to_field_name="slug",
        label=_("Dataset"),
        empty_label=_("All datasets"),
    )
    status = django_filters.ChoiceFilter(
        choices=lambda: [(status.value, reason_words(status)) for status in JudgeStatus],
        label=_("Status"),
        empty_label=_("Any status"),
    )
    model = ModelNameFilter("response__run__language_model__name")
    condition = ConditionNameFilter("response__run__condition__name")
    subject = django_filters.ChoiceFilter(
        field_name="response__question__subject",
        choices=lambda: named_choices(Subject),
        label=_("Subject"),
        empty_label=_("All subjects"),
    )

    class Meta:
        model = Judgement
        fields: list[str] = []

    def scope(self) -> QuerySet[Response]:
        """Return the responses whose judgements the filters choose from, of any status."""
        data = {name: value for name, value in (self.data or {}).items() if name != "status"}
        rows = type(self)(data, queryset=self.queryset).qs
        return Response.objects.filter(Exists(rows.filter(response=OuterRef("pk"))))


class JudgementQuery(JudgementFilter):
    """The filters of the API: also the name of the judge; names may be any."""

    judge = django_filters.CharFilter(field_name="judge__name", label=_("Judge"))
    model = django_filters.CharFilter(
        field_name="response__run__language_model__name", label=_("Model")
    )
    condition = django_filters.CharFilter(
        field_name="response__run__condition__name", label=_("Condition")
    )


class ConditionForm(forms.Form):
    """The condition of a judge: what it is shown, and how it replies; and the key of the form."""

    key = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid.uuid4)
    prompts = forms.ChoiceField(label=_("Prompts"), required=False)
    form = forms.ChoiceField(
        choices=lambda: named_choices(ReplyForm), label=_("Form of the reply"), required=False
    )
    without_criterion = forms.BooleanField(required=False, label=_("Without the rubric"))
    without_analysis = forms.BooleanField(required=False, label=_("Without the analysis"))
    without_notes = forms.BooleanField(required=False, label=_("Without marking notes"))
    max_tokens = amounts.whole(
        _("Maximum tokens per reply"),
        _("1024 if empty; a reply that cannot be read is asked for again with more."),
        most=MOST_TOKENS,
    )
    temperature = amounts.temperature(_("Temperature"), _("Empty: 0."))
    again = forms.BooleanField(
        required=False,
        label=_("Mark again as a further sample"),
        help_text=_("If this judge model has marked the run. Only the first sample counts."),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        names = [(name, name) for name in prompts_to_choose()]
        self.fields["prompts"].choices = names  # type: ignore[attr-defined]

    def start(self) -> dict[str, Any]:
        """Return what the form says of the start; sent again, it names the run that it started."""
        key = self.cleaned_data["key"]
        return {
            "again": self.cleaned_data["again"],
            "idempotency_key": str(key) if key else None,
        }

    def choice(self) -> JudgeChoice:
        """Return the condition that was chosen; what is empty has its default."""
        said = self.cleaned_data
        return JudgeChoice(
            prompts=said.get("prompts") or GRADEAPP,
            criterion=not said.get("without_criterion"),
            analysis=not said.get("without_analysis"),
            notes=not said.get("without_notes"),
            form=ReplyForm(said.get("form") or ReplyForm.TAGGED),
            temperature=float(said.get("temperature") or 0),
            max_tokens=said.get("max_tokens") or MAX_TOKENS,
        )


class JudgeRunForm(ConditionForm):
    """Choose a run and the endpoint that judges it."""

    field_order = ("run", "endpoint")

    run = RunChoice(queryset=Run.objects.none(), label=_("Run"), empty_label=_("Choose a run"))
    endpoint = forms.ModelChoiceField(
        queryset=Endpoint.objects.order_by("name"),
        label=_("Judge"),
        empty_label=_("Choose an endpoint"),
        help_text=_("The model behind this endpoint marks every subjective response of the run."),
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        self.fields["run"].queryset = markable_runs()  # type: ignore[attr-defined]


class JudgeForm(ConditionForm):
    """Choose the endpoint that judges *run*, the run of the page; None to read what was chosen."""

    field_order = ("judge", "budget")

    judge = forms.ModelChoiceField(Endpoint.objects.all(), label=_("Judge"), empty_label=None)
    budget = amounts.money(_("Budget"))

    def __init__(self, data: Any = None, *, run: Run | None = None) -> None:
        super().__init__(data)
        endpoints = Endpoint.objects.select_related("language_model") if run else ()
        same = [one.name for one in endpoints if run and family_with(one, run)]
        if same:
            self.fields["judge"].help_text = _(
                "Of the same family as the model of this run, which they may favour: %(names)s."
            ) % {"names": ", ".join(same)}
