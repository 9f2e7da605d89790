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
        _("Items with their answer keys, analyses and rubrics."),
    ),
    (
        _("Runs"),
        "/runs/",
        Capability.SEE_RUNS,
        _("Let a model sit an exam, and watch it do so."),
    ),
    (
        _("Checks"),
        "/checks/",
        Capability.CHECK_ANSWERS,
        _("Confirm or correct what was read in answers, one key each."),
    ),
    (
        _("Marking"),
        "/marking/",
        Capability.MARK,
        _("The desk: mark responses blind, by keyboard."),
    ),
    (
        _("Rounds"),
        "/rounds/",
        Capability.LEAD_ROUNDS,
        _("Who marks what, how far it is, and where two marks differ."),
    ),
    (
        _("Reviewing"),
        "/reviewing/",
        Capability.MARK,
        _("Say what wrong answers lack, without seeing their model."),
    ),
    (
        _("Reviews"),
        "/reviews/",
        Capability.LEAD_ROUNDS,
        _("What wrong answers lack: four dimensions and their weaknesses."),
    ),
    (
        _("Judging"),
        "/judging/",
        Capability.SEE_JUDGEMENTS,
        _("What judge models gave, beside the teachers."),
    ),
    (
        _("Reports"),
        "/reports/",
        Capability.SEE_REPORTS,
        _("Points of 750, scoring rates, and how far markers agree."),
    ),
]


def navigation(request: HttpRequest) -> dict[str, Any]:
    """``nav``: the pages open to this person; ``languages``: the two the site speaks."""
    user = getattr(request, "user", None)
    known = user is not None and user.is_authenticated
    nav = [
        {"label": label, "url": root, "active": request.path.startswith(root), "note": note}
        for label, root, capability, note in ENTRIES
        if known and user.may(capability)
    ]
    return {"nav": nav, "languages": settings.LANGUAGES}
