"""What every page shows: the navigation of the person who looks at it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from gradeapp.accounts.roles import Capability

# label, where the pages of the feature begin, capability
ENTRIES = [
    (_("Questions"), "/questions/", Capability.SEE_QUESTIONS),
    (_("Runs"), "/runs/", Capability.SEE_RUNS),
    (_("Marking"), "/marking/", Capability.MARK),
    (_("Rounds"), "/rounds/", Capability.LEAD_ROUNDS),
    (_("Judging"), "/judging/", Capability.SEE_JUDGEMENTS),
    (_("Reports"), "/reports/", Capability.SEE_REPORTS),
]


def navigation(request: HttpRequest) -> dict[str, Any]:
    """``nav``: the pages open to this person; ``languages``: the two the site speaks."""
    user = getattr(request, "user", None)
    known = user is not None and user.is_authenticated
    nav = [
        {"label": label, "url": root, "active": request.path.startswith(root)}
        for label, root, capability in ENTRIES
        if known and user.may(capability)
    ]
    return {"nav": nav, "languages": settings.LANGUAGES}
