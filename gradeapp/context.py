"""What every page shows: the navigation of the person who looks at it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from gradeapp.accounts.roles import Capability

# label, URL name, prefix that marks it as active, capability
ENTRIES = [
    (_("Questions"), "questions:list", "/questions/", Capability.SEE_QUESTIONS),
    (_("Runs"), "runs:list", "/runs/", Capability.SEE_RUNS),
    (_("Marking"), "marking:home", "/marking/", Capability.MARK),
    (_("Rounds"), "rounds:list", "/rounds/", Capability.LEAD_ROUNDS),
    (_("Judging"), "judging:list", "/judging/", Capability.SEE_JUDGEMENTS),
    (_("Reports"), "reports:overview", "/reports/", Capability.SEE_REPORTS),
]


def navigation(request: HttpRequest) -> dict[str, Any]:
    """``nav``: the pages open to this person; ``languages``: the two the site speaks."""
    user = getattr(request, "user", None)
    known = user is not None and user.is_authenticated
    nav = [
        {"label": label, "url": reverse(name), "active": request.path.startswith(prefix)}
        for label, name, prefix, capability in ENTRIES
        if known and user.may(capability)
    ]
    return {"nav": nav, "languages": settings.LANGUAGES}
