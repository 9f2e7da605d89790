"""The labels that a bulk change sets, and the questions it is about."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from questions.forms.filter_choices import difficulty_choices, knowledge_choices, named_choices
from questions.rules.vocabulary import AbilityBranch, Modal

TAKE_AWAY = "-"


def choices(name: Any, entries: list[tuple[str, str]]) -> list[tuple[str, Any]]:
    """Leave as it is, the values, take away."""
    return [("", name), *entries, (TAKE_AWAY, _("– clear –"))]


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
            name: None if value == TAKE_AWAY else value
            for name, value in self.cleaned_data.items()
            if value
        }
