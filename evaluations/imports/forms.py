"""The form for uploads of answers, marks and gradings."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluations.conditions import PromptSetting
from evaluations.imports.rules.jsonl_answers import MAX_REPEAT
from evaluations.imports.rules.model_outputs import MAX_MODEL_NAME
from evaluations.runs.services.conditions import NAME_LENGTH as CONDITION_LENGTH
from gradeapp.common import number_fields
from gradeapp.common.choices import choices_of
from questions.forms.imports import NAME_LENGTH, FilesField, FilesInput, UploadForm

SOURCES = [
    ("", _("Detect automatically")),
    ("gaokao-bench", _("GAOKAO-Bench results (answers, human marks, gradings)")),
    ("jsonl", _("Our own format of responses (JSONL)")),
    ("csv", _("A table of responses (CSV)")),
]


class AnswersForm(UploadForm):
    """Files or one .zip, with the model and the repeat if the files do not contain them."""

    files = FilesField(
        label=_("Files"),
        widget=FilesInput(attrs={"accept": ".zip,.json,.jsonl,.csv"}),
        max_length=NAME_LENGTH,
        help_text=_("One .zip of a folder, or .json, .jsonl and .csv files."),
    )
    source = forms.ChoiceField(label=_("Source"), choices=SOURCES, required=False)
    model = forms.CharField(
        label=_("Model"),
        max_length=MAX_MODEL_NAME,
        required=False,
        help_text=_("Which model answered. If empty, the files or their names decide."),
    )
    repeat = number_fields.IntegerField(
        label=_("Repeat"),
        min_value=1,
        max_value=MAX_REPEAT,
        required=False,
        help_text=_(
            "Which repeat of the run, starting at 1. Files in our own format state it in each line."
        ),
    )
    setting = forms.ChoiceField(
        choices=lambda: [("", _("Not known")), *choices_of(PromptSetting)],
        label=_("Setting"),
        required=False,
        help_text=_("How the model was asked, where the files do not say it."),
    )
    condition = forms.CharField(
        label=_("Name of the condition"),
        max_length=CONDITION_LENGTH,
        required=False,
        help_text=_("Answers of two conditions are never pooled. Empty: “as published”."),
    )
