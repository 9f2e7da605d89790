"""Remove whole sealed segments of the audit trail when they are older than the setting says."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from gradeapp.audit.models import Chain, Seal, Segment
from gradeapp.audit.record import record
from gradeapp.audit.sources import Source, sources
from gradeapp.audit.tags import Tag

# The triggers of the database let nothing younger go; the setting may ask for more.
LEAST_DAYS = 30


def remove_old(now: datetime, *, at_most: int = 200) -> int:
    """Remove what AUDIT_RETENTION_DAYS lets go (0: nothing); return how many segments.

    A segment goes in one transaction, the oldest first, *at_most* of them at once; the newest
    stays. Its last hash is kept, and the removal is an audit entry.
    """
    if not settings.AUDIT_RETENTION_DAYS:
        return 0
    before = now - timedelta(days=max(settings.AUDIT_RETENTION_DAYS, LEAST_DAYS))
    return sum(_remove(source, before, now, at_most) for source in sources() if source.removable)


def _remove(source: Source, before: datetime, now: datetime, at_most: int) -> int:
    chain = Chain.objects.filter(name=source.name).first()
    if chain is None:
        return 0
    kept = Segment.objects.filter(chain=chain, removed_at=None, last__lt=chain.position)
    removed = 0
    for segment in kept.order_by("first")[:at_most]:
        if segment.sealed_at >= before:
            break
        with transaction.atomic():
            if not Segment.objects.filter(pk=segment.pk, removed_at=None).update(removed_at=now):
                continue
            seals = Seal.objects.filter(
                chain=chain, position__gte=segment.first, position__lte=segment.last
            )
            source.rows.filter(pk__in=seals.values("row")).delete()
            seals.delete()
            record(
                Tag.SEGMENTS_REMOVED,
                segment,
                actor=None,
                first=segment.first,
                last=segment.last,
                head=segment.head,
            )
        removed += 1
    return removed
