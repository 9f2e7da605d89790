"""Exports of runs in the audit trail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from django.db.models import QuerySet

from evaluations.facts.looks import record_scope
from evaluations.models import Response
from gradeapp.accounts.models import User
from gradeapp.audit.reads import record_export, recorded_lines
from gradeapp.audit.tags import Tag


def note_responses_exported(
    filters: Mapping[str, str], scope: QuerySet[Response], *, acting_user: User
) -> None:
    """Record that *acting_user* takes away what a search with *filters* finds in *scope*."""
    record_export(
        Tag.EXPORTED,
        "responses",
        actor=acting_user,
        report="responses",
        parameters=_parameters(filters),
    )
    record_scope(scope, acting_user=acting_user, page="export")


def noted(lines: Iterator[bytes], filters: Mapping[str, str], user: User) -> Iterator[bytes]:
    """Send *lines*, and record what was sent, also where the reader left before the end."""
    return recorded_lines(
        lines,
        Tag.EXPORTED,
        "responses",
        actor=user,
        report="responses",
        parameters=_parameters(filters),
    )


def _parameters(filters: Mapping[str, str]) -> dict[str, str]:
    return {name: value[:200] for name, value in filters.items() if value}
