"""Form fields that let a person choose runs."""

from __future__ import annotations

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from evaluations.models import Run
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
