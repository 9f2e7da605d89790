"""Forms of prompt sets: what a preview shows, and the text of a new version."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from evaluations.conditions import MOST_PROMPT_TOKENS, PromptSetting
from evaluations.models import PromptSetVersion
from evaluations.runs.services.prompt_sets import NOTE_LENGTH
from gradeapp.common import number_fields
from questions.models import Task

MOST_TEXT = 2_000_000
REPLY = "REPLY"


class TaskField(forms.ModelChoiceField):
    """A choice of one task, with its dataset."""

    def label_from_instance(self, task: Task) -> str:
        return f"{task.dataset.name} · {task.slug}"


class PreviewForm(forms.Form):
    """The question that is shown, and how it is asked; each field has a default."""

    task = TaskField(
        Task.objects.select_related("dataset").order_by("dataset__slug", "slug"),
        label=_("Task"),
        required=False,
        empty_label=None,
        widget=forms.Select(attrs={"lang": "en"}),
    )
    place = number_fields.IntegerField(min_value=1, required=False, label=_("Question"), initial=1)
    setting = forms.ChoiceField(label=_("Setting"), required=False)
    wording = number_fields.IntegerField(min_value=0, required=False, label=_("Wording"), initial=0)
    max_prompt_tokens = number_fields.IntegerField(
        min_value=1, required=False, label=_("Most tokens of examples"), initial=MOST_PROMPT_TOKENS
    )
    reply = forms.CharField(
        required=False, strip=False, max_length=20_000, label=_("Reply to step one"), initial=REPLY
    )

    def __init__(self, *args: Any, task: Task | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        language = get_language() or "en"
        names = [(one.value, one.label(language)) for one in PromptSetting]
        self.fields["setting"].choices = names
        self.first_task = task
        self.fields["task"].initial = task

    def chosen(self) -> dict[str, Any]:
        """Return the arguments of ``preview``; a field that is empty or wrong has its default."""
        given = self.cleaned_data if self.is_bound and self.is_valid() else {}
        if self.is_bound and not given:
            given = getattr(self, "cleaned_data", {})
        reply = given.get("reply")
        return {
            "task": given.get("task") or self.first_task,
            "place": given.get("place") or 1,
            "setting": PromptSetting(given.get("setting") or PromptSetting.ZERO_SHOT),
            "wording": given.get("wording") or 0,
            "max_prompt_tokens": given.get("max_prompt_tokens") or MOST_PROMPT_TOKENS,
            "reply": REPLY if reply is None else reply,
        }


class PromptSetForm(forms.Form):
    """The text of a version, and a note on what changed."""

    content = forms.CharField(
        label=_("Prompt set (JSON)"),
        max_length=MOST_TEXT,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 28, "spellcheck": "false", "lang": "en"}),
    )
    note = forms.CharField(
        label=_("Note"),
        max_length=NOTE_LENGTH,
        required=False,
        help_text=_("What changed, for the list of versions."),
    )
    seen = forms.CharField(max_length=64, required=False, widget=forms.HiddenInput)

    def after(self, version: PromptSetVersion) -> PromptSetForm:
        """Return the form as it was sent, valid, after *version*, which its sender now knows of."""
        data = self.data.copy()
        data["seen"] = version.content_hash
        moved = PromptSetForm(data)
        moved.full_clean()
        return moved
