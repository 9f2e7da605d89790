"""Exports of runs in the audit trail."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from django.db.models import QuerySet

from evaluations.facts.looks import record_scope
from evaluations.models import Response
from gradeapp.accounts.models import User
from gradeapp.audit.reads import record_export
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
    digest, sent, whole = hashlib.sha256(), 0, False
    try:
        for line in lines:
            digest.update(line)
            yield line
            sent += 1
        whole = True
    finally:
        record_export(
            Tag.EXPORTED,
            "responses",
            actor=user,
            report="responses",
            parameters=_parameters(filters),
            rows=sent,
            sha256=digest.hexdigest(),
            whole=whole,
        )


def _parameters(filters: Mapping[str, str]) -> dict[str, str]:
    return {name: value[:200] for name, value in filters.items() if value}
