"""A form of limits that was opened before somebody else saved them changes nothing."""

from __future__ import annotations

from django.utils.translation import gettext as _

from gradeapp.common.refusals import Conflict


def check_seen(seen: str, present: str) -> None:
    """Raise Conflict if a form that names what it showed (*seen*) showed something else.

    Both are texts; an empty *seen* names nothing, as of a program.
    """
    if seen and seen != present:
        raise Conflict(
            _(
                "Somebody has saved these limits since you opened this page. Open it in a new tab "
                "to see what changed. If you save again, your values replace theirs."
            ),
            code="changed_meanwhile",
        )
