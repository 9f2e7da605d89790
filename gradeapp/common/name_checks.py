"""Refuses names that can pass for another, with a sentence."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from gradeapp.common.names import name_problem
from gradeapp.common.refusals import BadInput

SENTENCES = {
    "invisible": _("A name must not contain invisible or control characters."),
    "mixed": _("A word of a name must not mix letters of scripts that look alike."),
}


def check_name_is_plain(name: str) -> None:
    """Raise BadInput for a *name* that can pass for another."""
    if problem := name_problem(name):
        raise BadInput(SENTENCES[problem], code="bad_name")


def validate_plain_name(name: str) -> None:
    """The same for a form: raise ValidationError."""
    if problem := name_problem(name):
        raise ValidationError(SENTENCES[problem], code="bad_name")
