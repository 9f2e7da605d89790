"""Exports of runs in the audit trail."""

from __future__ import annotations

from collections.abc import Mapping

from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag


def note_responses_exported(filters: Mapping[str, str], *, acting_user: User) -> None:
    """Record that *acting_user* takes away the responses that a search with *filters* finds."""
    given = {name: value[:200] for name, value in filters.items() if value}
    record(Tag.EXPORTED, "responses", actor=acting_user, report="responses", parameters=given)
