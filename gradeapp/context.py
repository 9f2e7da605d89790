"""What every page shows: the navigation of the person who looks at it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from gradeapp.accounts.roles import Capability

# label, where the pages of the feature begin, capability, what one does there
ENTRIES = [
    (
        _("Questions"),
        "/questions/",
        Capability.SEE_QUESTIONS,
        _("Questions with their answer keys, analyses and rubrics."),
    ),
    (
        _("Runs"),
        "/runs/",
        Capability.SEE_RUNS,
        _("Have a model answer an exam and follow its progress."),
    ),
    (
        _("Checks"),
        "/checks/",
        Capability.CHECK_ANSWERS,
        _("Confirm or correct extracted answers, with one key each."),
    ),
    (
        _("Marking"),
        "/marking/",
        Capability.MARK,
        _("Mark responses blind, using the keyboard."),
    ),
    (
        _("Rounds"),
        "/rounds/",
        Capability.LEAD_ROUNDS,
        _("Assign responses to teachers, follow progress and arbitrate differences."),
    ),
    (
        _("Error analysis"),
        "/reviewing/",
        Capability.MARK,
        _("Analyse wrong answers without seeing the model."),
    ),
    (
        _("Error reviews"),
        "/reviews/",
        Capability.LEAD_ROUNDS,
        _("Weaknesses behind wrong answers, in four dimensions."),
    ),
    (
        _("Judge models"),
        "/judging/",
        Capability.SEE_JUDGEMENTS,
        _("Marks of judge models, compared with those of teachers."),
    ),
    (
        _("Reports"),
        "/reports/",
        Capability.SEE_REPORTS,
        _("Totals out of 750, scoring rates and agreement between markers."),
    ),
    (
        _("Audit trail"),
        "/audit/",
        Capability.OPERATE,
        _("Who did what, and when."),
    ),
]


def navigation(request: HttpRequest) -> dict[str, Any]:
    """``nav``: the pages open to this person; ``languages``: the two the site speaks;
    ``may_manage_people``: whether the menu of the person leads to people."""
    user = getattr(request, "user", None)
    known = user is not None and user.is_authenticated
    nav = [
        {"label": label, "url": root, "active": request.path.startswith(root), "note": note}
        for label, root, capability, note in ENTRIES
        if known and user.may(capability)
    ]
    manages = known and user.may(Capability.OPERATE)
    return {"nav": nav, "languages": settings.LANGUAGES, "may_manage_people": manages}
