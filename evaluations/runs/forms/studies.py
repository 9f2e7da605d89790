"""Forms of a new study: its conditions, its endpoints, and which questions they are asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluations.conditions import Asking, PromptSetting
from evaluations.models import Endpoint
from evaluations.runs.forms import amounts
from evaluations.runs.forms.asking import AskingFields, ChoiceFields
from evaluations.runs.forms.sampling import SamplingFields
from evaluations.runs.rules.sampling import FIELDS
from evaluations.runs.services.runs import MOST_REPEATS
from evaluations.runs.services.sampling import sampling_for
from gradeapp.common import number_fields
from gradeapp.common.refusals import BadInput
from questions.forms.filters import named_choices
from questions.models import Dataset


class ConditionRow(AskingFields, SamplingFields):
    """One condition of a study. A row without a setting is left out."""

    rows = ("setting", "prompt_set", "temperature", "images", "option_order")
    more_rows = (
        ("top_p", "max_tokens", "seed", "reasoning_effort"),
        ("max_prompt_tokens", "largest_side", "option_seed"),
        ("stop", "extra"),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        named = named_choices(PromptSetting)
        self.fields["setting"].choices = [("", _("No condition")), *named]  # type: ignore[attr-defined]
        for name in self.rows:
            self.fields[name].help_text = ""

    def in_row(self) -> list[forms.BoundField]:
        """Return the fields as the page shows them."""
        return [self[name] for name in self.rows]

    def more(self) -> list[list[forms.BoundField]]:
        """Return the other fields as the page shows them, side by side."""
        return [[self[name] for name in row] for row in self.more_rows]

    def more_is_open(self) -> bool:
        """Return whether one of the other fields was changed, or has an error."""
        names = {name for row in self.more_rows for name in row}
        return self.is_bound and bool(names & ({*self.changed_data} | {*self.errors}))

    def for_endpoint(self, endpoint: Endpoint) -> Asking:
        """Return how a valid row asks *endpoint*. Raises BadInput."""
        given = {name: self.cleaned_data.get(name) for name in FIELDS}
        try:
            return self.asking(sampling_for(endpoint, given))
        except BadInput as bad:
            number = str(self.prefix).removeprefix("c")
            words = {"n": number, "endpoint": endpoint, "why": str(bad)}
            raise BadInput(_("Condition %(n)s at %(endpoint)s: %(why)s") % words) from None


class StudyForm(ChoiceFields):
    """A study: several endpoints and conditions over one choice of questions."""

    name = forms.CharField(max_length=120, label=_("Name of the study"))
    dataset = forms.ModelChoiceField(
        Dataset.objects.all(), to_field_name="slug", label=_("Dataset"), empty_label=None
    )
    endpoints = number_fields.KeysField(
        Endpoint.objects.select_related("language_model"),
        label=_("Endpoints"),
        widget=forms.CheckboxSelectMultiple,
    )
    repeats = amounts.whole(
        _("Repeats"),
        _("How many times each question is asked under each condition."),
        most=MOST_REPEATS,
        required=True,
        initial=1,
    )
    budget = amounts.money(
        _("Budget of the study"),
        _("All runs together pause before they exceed it. Empty: no limit."),
    )
    key = forms.UUIDField(widget=forms.HiddenInput, required=False)

    def wanted(self, conditions: Sequence[ConditionRow]) -> dict[str, Any]:
        """Return what a valid form asks for, under *conditions*. Raises BadInput."""
        said = self.cleaned_data
        return {
            **{name: said[name] for name in ("name", "dataset", "repeats", "budget")},
            "pairs": [
                (endpoint, row.for_endpoint(endpoint))
                for endpoint in said["endpoints"]
                for row in conditions
            ],
            "choice": self.choice(),
            "idempotency_key": str(said["key"]) if said["key"] else None,
        }
