"""Forms of judging: the filters of judgements, and the forms that start a judge."""

from __future__ import annotations

from typing import Any

import django_filters
from django import forms
from django.utils.translation import gettext_lazy as _

from evaluations.facts.words import reason_words
from evaluations.marking.rounds.selectors.round_choice import markable_runs
from evaluations.models import Endpoint, Judgement, Run
from evaluations.runs.forms.choices import RunChoice
from evaluations.runs.selectors.conditions import condition_names, model_names
from evaluations.statistics.outcomes import JudgeStatus
from gradeapp.common import number_fields
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
    model = django_filters.ChoiceFilter(
        field_name="response__run__language_model__name",
        choices=lambda: [(name, name) for name in model_names()],
        label=_("Model"),
        empty_label=_("All models"),
    )
    condition = django_filters.ChoiceFilter(
        field_name="response__run__condition__name",
        choices=lambda: [(name, name) for name in condition_names()],
        label=_("Condition"),
        empty_label=_("All conditions"),
    )
    subject = django_filters.ChoiceFilter(
        field_name="response__question__subject",
        choices=lambda: named_choices(Subject),
        label=_("Subject"),
        empty_label=_("All subjects"),
    )

    class Meta:
        model = Judgement
        fields: list[str] = []


class JudgementQuery(JudgementFilter):
    """The filters of the API: also the name of the judge; names may be any."""

    judge = django_filters.CharFilter(field_name="judge__name", label=_("Judge"))
    model = django_filters.CharFilter(
        field_name="response__run__language_model__name", label=_("Model")
    )
    condition = django_filters.CharFilter(
        field_name="response__run__condition__name", label=_("Condition")
    )


class JudgeRunForm(forms.Form):
    """Choose a run and the endpoint that judges it."""

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


class JudgeForm(forms.Form):
    """Choose the endpoint that judges the run of the page."""

    judge = forms.ModelChoiceField(Endpoint.objects.all(), label=_("Judge"), empty_label=None)
    budget = number_fields.DecimalField(
        min_value=0, max_digits=12, decimal_places=4, required=False, label=_("Budget")
    )
