"""The form that takes questions: files, and the source they come from."""

from __future__ import annotations

import uuid
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

NAME_LENGTH = 255
ACCEPTED = ".zip,.json,.jsonl,.csv,.png,.jpg,.jpeg,.webp"
SOURCES = [
    ("", _("Detect automatically")),
    ("gaokao-bench", "GAOKAO-Bench"),
    ("agieval", "AGIEval"),
    ("agibench", "AGIBench"),
    ("jsonl", _("Our own format of questions (JSONL)")),
]


class FilesInput(forms.ClearableFileInput):
    """A choice of several files."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One or several files; each as the browser sent it."""

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:
        files = data if isinstance(data, list | tuple) else [data]
        return [super(FilesField, self).clean(file, initial) for file in files or [None]]


class UploadForm(forms.Form):
    """Files or one .zip, and what they are."""

    files = FilesField(
        label=_("Files"),
        widget=FilesInput(attrs={"accept": ACCEPTED}),
        max_length=NAME_LENGTH,
        help_text=_("One .zip of a folder, or .json, .jsonl and .csv files with their images."),
    )
    source = forms.ChoiceField(label=_("Source"), choices=SOURCES, required=False)
    key = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid.uuid4)
