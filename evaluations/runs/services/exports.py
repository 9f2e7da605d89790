"""Exports of runs in the audit trail."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models import QuerySet

from evaluations.facts.looks import record_scope
from evaluations.models import Response
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag


def note_responses_exported(
    filters: Mapping[str, str], scope: QuerySet[Response], *, acting_user: User
) -> None:
    """Record that *acting_user* takes away what a search with *filters* finds in *scope*."""
    given = {name: value[:200] for name, value in filters.items() if value}
    record(Tag.EXPORTED, "responses", actor=acting_user, report="responses", parameters=given)
    record_scope(scope, acting_user=acting_user, page="export")
