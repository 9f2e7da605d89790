"""The form of a paste list: which model is asked which questions, and how."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluations.imports.rules.jsonl_answers import MAX_REPEAT
from evaluations.imports.rules.model_outputs import MAX_MODEL_NAME
from evaluations.runs.forms.asking import AskingFields, ChoiceFields
from evaluations.runs.services.conditions import NAME_LENGTH
from gradeapp.common import number_fields
from questions.models import Dataset


class PasteListForm(AskingFields, ChoiceFields):
    """What is asked by hand; options as printed, images as they are."""

    rows = (("dataset", "model"), ("setting", "prompt_set"), ("images", "condition"))
    more_rows = (("repeat", "max_prompt_tokens"), *ChoiceFields.choice_rows)

    dataset = forms.ModelChoiceField(
        Dataset.objects.all(), to_field_name="slug", label=_("Dataset"), empty_label=None
    )
    model = forms.CharField(
        label=_("Model"),
        max_length=MAX_MODEL_NAME,
        help_text=_("As the website names it, with its version or the date if it has none."),
    )
    condition = forms.CharField(
        label=_("Name of the condition"),
        max_length=NAME_LENGTH,
        help_text=_("Such as “website, new chat each time”. Answers of two are never pooled."),
    )
    repeat = number_fields.IntegerField(
        label=_("Repeat"), min_value=1, max_value=MAX_REPEAT, initial=1
    )

    def wanted(self) -> dict[str, Any]:
        """Return what a valid form asks for."""
        names = ("dataset", "model", "condition", "repeat")
        given = {name: self.cleaned_data[name] for name in names}
        return {**given, "asking": self.asking(), "choice": self.choice()}

    def fields_in(self, rows: tuple[tuple[str, ...], ...]) -> list[list[forms.BoundField]]:
        """Return the fields of *rows* as the page shows them, side by side."""
        return [[self[name] for name in row] for row in rows]

    def first(self) -> list[list[forms.BoundField]]:
        """Return the fields that are always shown."""
        return self.fields_in(self.rows)

    def more(self) -> list[list[forms.BoundField]]:
        """Return the fields behind "Which questions"."""
        return self.fields_in(self.more_rows)

    def more_is_open(self) -> bool:
        """Return whether a field behind it has an error or was changed."""
        names = {name for row in self.more_rows for name in row}
        return self.is_bound and bool(names & ({*self.changed_data} | {*self.errors}))
