"""Writing one entry into the audit trail, in the caller's transaction."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from gradeapp.accounts.models import User
from gradeapp.accounts.throttle import client_address
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.signing import signature
from gradeapp.audit.tags import Tag
from gradeapp.common.current_request import current_request


def record(
    tag: Tag,
    target: models.Model | str,
    *,
    actor: User | None,
    request: Any = None,
    **detail: object,
) -> AuditEntry:
    """Write that *actor* (None: the system, or nobody known) did *tag* to *target*.

    *target* is a row, or where there is none a name like ``login:unknown``. Details must be
    JSON. The network address of *request* (by default the one that is being answered), as
    declared proxies say it, is noted only if the setting AUDIT_ADDRESSES says so.
    """
    if isinstance(target, models.Model):
        target = f"{target._meta.model_name}:{target.pk}"
    if settings.AUDIT_ADDRESSES and (request := request or current_request()):
        detail["address"] = client_address(request)
    entry = AuditEntry(
        at=timezone.now(), actor=actor, tag=tag.value, target=target[:80], detail=detail
    )
    entry.signature = signature(entry.at, entry.actor_id, entry.tag, entry.target, detail)
    entry.save(force_insert=True)
    return entry
