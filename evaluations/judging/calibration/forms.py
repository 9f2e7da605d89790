"""The filter of the page of a judge's calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluations.statistics.calibration import DEFAULT_KEY, KEYS
from questions.models import Dataset

KEY_NAMES = {
    "subject": _("Subject"),
    "task": _("Task"),
    "question_type": _("Question type"),
    "ability_branch": _("Ability branch"),
    "difficulty": _("Difficulty"),
    "modal": _("Modality"),
    "band": _("Score band"),
    "length": _("Length of the response"),
    "version": _("Version of the judge prompt"),
}


class CalibrationFilter(forms.Form):
    """The dataset, and the key that figures are cut by."""

    dataset = forms.ChoiceField(label=_("Dataset"), required=False)
    by = forms.ChoiceField(label=_("By"), required=False)

    def __init__(self, data: Mapping[str, Any], datasets: Sequence[Dataset]) -> None:
        self.datasets = {one.slug: one for one in datasets}
        first = {"dataset": next(iter(self.datasets), ""), "by": DEFAULT_KEY}
        super().__init__({name: data.get(name) or value for name, value in first.items()})
        fields: dict[str, Any] = self.fields
        fields["dataset"].choices = [(slug, one.name) for slug, one in self.datasets.items()]
        fields["by"].choices = [(key, KEY_NAMES[key]) for key in KEYS]
