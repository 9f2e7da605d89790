"""Form fields that let a person choose runs, and filters by the names of what made them."""

from __future__ import annotations

from typing import Any

import django_filters
from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from evaluations.models import Run
from evaluations.runs.selectors.conditions import condition_names, model_names
from gradeapp.common import number_fields


class RunsField(number_fields.KeysField):
    """A choice of several runs, with model, dataset, number and day."""

    def label_from_instance(self, run: Run) -> str:
        number = _("run %(number)s") % {"number": run.pk}
        return f"{run.language_model} · {run.dataset} · {number} · {day_of(run)}"


class RunChoice(forms.ModelChoiceField):
    """A choice of one run, with model, dataset, number and day."""

    def label_from_instance(self, run: Run) -> str:
        number = _("run %(number)s") % {"number": run.pk}
        return f"{run.language_model.name} · {run.dataset.name} · {number} ({day_of(run)})"


def day_of(run: Run) -> str:
    """Return the day when *run* was made, in the site's zone as on every page."""
    return f"{timezone.localtime(run.created_at):%Y-%m-%d}"


class ModelNameFilter(django_filters.ChoiceFilter):
    """A filter by the name of a model that has conditions."""

    def __init__(self, field_name: str, **options: Any) -> None:
        super().__init__(
            field_name=field_name,
            choices=lambda: [(name, name) for name in model_names()],
            label=_("Model"),
            empty_label=_("All models"),
            **options,
        )


class ConditionNameFilter(django_filters.ChoiceFilter):
    """A filter by the name of a condition; models may share one."""

    def __init__(self, field_name: str, **options: Any) -> None:
        super().__init__(
            field_name=field_name,
            choices=lambda: [(name, name) for name in condition_names()],
            label=_("Condition"),
            empty_label=_("All conditions"),
            **options,
        )
