"""Texts of a lead that teachers read while they mark."""

from __future__ import annotations

from django.utils.translation import gettext as _

from evaluations.marking.rules.blinding import names_model
from evaluations.models import LanguageModel
from gradeapp.common.refusals import BadInput


def check_names_no_model(text: str) -> None:
    """Raise BadInput where *text*, which teachers read, names a model of this site.

    Any model, and the sentence does not say which: a lead who marks in a round must not learn by
    it whose responses they mark.
    """
    if not text:
        return
    names = LanguageModel.objects.values_list("name", flat=True)
    if any(names_model(text, name) for name in names):
        raise BadInput(
            _("Teachers can read this text, and it contains the name of a model. Leave it out."),
            code="names_model",
        )
