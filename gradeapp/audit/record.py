"""Writing one line into the audit trail, in the caller's transaction."""

from __future__ import annotations

from django.db import models

from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.tags import Tag


def record(tag: Tag, target: models.Model, *, actor: User | None, **detail: object) -> AuditEntry:
    """Write that *actor* (None: the system) did *tag* to *target*; details must be JSON."""
    name = f"{target._meta.model_name}:{target.pk}"
    return AuditEntry.objects.create(actor=actor, tag=tag, target=name, detail=detail)
