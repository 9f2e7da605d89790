"""Forms of the four labels: of one question, and of many at once."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from gradeapp.common import number_fields
from questions.forms.filters import difficulty_choices, knowledge_choices, named_choices
from questions.models import LabelRevision
from questions.rules.vocabulary import AbilityBranch, Modal

NONE = ("", "–")


class LabelForm(forms.Form):
    """All four labels and why they change; an empty one takes the label away."""

    ability_branch = forms.ChoiceField(required=False, label=_("Ability branch"))
    knowledge = forms.ChoiceField(required=False, label=_("Knowledge"))
    difficulty = forms.ChoiceField(required=False, label=_("Difficulty"))
    modal = forms.ChoiceField(required=False, label=_("Modality"))
    reason = forms.CharField(required=False, max_length=200, label=_("Reason"))
    seen = number_fields.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        entries = {
            "ability_branch": named_choices(AbilityBranch),
            "knowledge": knowledge_choices(),
            "difficulty": difficulty_choices(),
            "modal": named_choices(Modal),
        }
        for name, values in entries.items():
            self.fields[name].choices = [NONE, *values]  # type: ignore[attr-defined]

    @classmethod
    def of(cls, row: LabelRevision | None) -> LabelForm:
        """The form with the labels of *row*."""
        if row is None:
            return cls(initial={"seen": 0})
        return cls(
            initial={
                "ability_branch": row.ability_branch,
                "knowledge": row.knowledge.slug if row.knowledge else "",
                "difficulty": row.difficulty or "",
                "modal": row.modal,
                "seen": row.pk,
            }
        )

    def change(self) -> dict[str, object]:
        """The four labels that were sent."""
        names = ("ability_branch", "knowledge", "difficulty", "modal")
        return {name: self.cleaned_data[name] for name in names if name in self.data}


CLEAR = "-"


def choices(name: Any, entries: list[tuple[str, str]]) -> list[tuple[str, Any]]:
    """Leave as it is, the values, take away."""
    return [("", name), *entries, (CLEAR, _("– clear –"))]


class BulkLabelForm(forms.Form):
    """Any of the four labels; an empty one stays as it is on each question."""

    ability_branch = forms.ChoiceField(required=False, label=_("Ability branch"))
    knowledge = forms.ChoiceField(required=False, label=_("Knowledge"))
    difficulty = forms.ChoiceField(required=False, label=_("Difficulty"))
    modal = forms.ChoiceField(required=False, label=_("Modality"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        entries = {
            "ability_branch": (_("Branch: no change"), named_choices(AbilityBranch)),
            "knowledge": (_("Knowledge: no change"), knowledge_choices()),
            "difficulty": (_("Difficulty: no change"), difficulty_choices()),
            "modal": (_("Modality: no change"), named_choices(Modal)),
        }
        for name, (leave, values) in entries.items():
            self.fields[name].choices = choices(leave, values)  # type: ignore[attr-defined]

    def change(self) -> dict[str, object]:
        """The labels to set, None for one to take away."""
        return {
            name: None if value == CLEAR else value
            for name, value in self.cleaned_data.items()
            if value
        }
