"""Check constraints of the database for closed lists."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import CheckConstraint, Q


def known(name: str, **lists: Iterable[str]) -> CheckConstraint:
    """Return the constraint *name*: each field of *lists* holds one of its values.

    One for all lists of a large table: SQLite makes the table anew for each constraint.
    """
    values = {f"{field}__in": [str(one) for one in listed] for field, listed in lists.items()}
    return CheckConstraint(condition=Q(**values), name=name)
