"""The database itself refuses to change what the audit trail and the history of marks hold."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from evaluations.models import MarkChange
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry, Chain, Seal, Segment
from gradeapp.audit.record import record
from gradeapp.audit.retention import remove_old
from gradeapp.audit.sealing import seal_all
from gradeapp.audit.tags import Tag
from gradeapp.audit.verifying import verify_all

pytestmark = pytest.mark.django_db
TABLES = ("audit_auditentry", "audit_seal", "audit_segment", "evaluations_markchange")
AT_ONCE = "SET CONSTRAINTS ALL IMMEDIATE"


def sql(statement: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


def changed() -> MarkChange:
    """One row of the history of marks."""
    now = timezone.now()
    return MarkChange.objects.create(
        table="evaluations_mark", row=1, action="update", before="{}", changed_at=now
    )


def test_no_row_is_changed_or_deleted(lead: User) -> None:
    record(Tag.RUN_STARTED, lead, actor=lead)
    changed()
    assert seal_all() == 2
    again = {"postgresql": [f"{AT_ONCE}; TRUNCATE {table} CASCADE" for table in TABLES]}.get(
        connection.vendor,
        [f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}" for table in TABLES],
    )
    ways = [f"UPDATE {table} SET id = id" for table in TABLES]
    ways += [f"DELETE FROM {table}" for table in TABLES]
    for way in ways + again:
        with pytest.raises(IntegrityError, match="append-only"):
            sql(way)
    through_models: list[Callable[[], object]] = [
        lambda: AuditEntry.objects.update(tag="other"),
        lambda: AuditEntry.objects.all().delete(),
        lambda: AuditEntry.objects.get().save(),
    ]
    for call in through_models:
        with pytest.raises(IntegrityError), transaction.atomic():
            call()
    assert not any(checked.broken for checked in verify_all(timezone.now()))


def test_retention_removes_whole_old_segments_and_keeps_their_hash(
    lead: User, settings: pytest.FixtureRequest
) -> None:
    now = timezone.now()
    kept = []
    for days in (100, 70, 40):
        for _ in range(3):
            record(Tag.RUN_STARTED, lead, actor=lead)
        seal_all(now - timedelta(days=days))
        kept.append(Chain.objects.get(name="audit").head)
    assert remove_old(now) == 0  # the setting keeps all
    settings.AUDIT_RETENTION_DAYS = 60  # type: ignore[attr-defined]
    assert remove_old(now) == 2
    assert Segment.objects.filter(removed_at=now).count() == 2
    assert list(Seal.objects.values_list("position", flat=True).order_by("position")) == [7, 8, 9]
    told = AuditEntry.objects.filter(tag=Tag.SEGMENTS_REMOVED).order_by("id")
    assert [entry.detail["head"] for entry in told] == kept[:2]
    assert AuditEntry.objects.count() == 3 + 2
    seal_all(now)
    audit, _marks = verify_all(now, {"audit": {3: kept[0], 6: kept[1], 9: kept[2]}})
    assert (audit.links, audit.named) == (5, [])
    audit, _marks = verify_all(now, {"audit": {3: kept[1]}})
    assert audit.named == ["audit: link 3 differs from the hash that was kept"]


def test_the_way_of_retention_leads_to_nothing_young(lead: User) -> None:
    now = timezone.now()
    for days in (100, 70, 2, 0):
        record(Tag.RUN_STARTED, lead, actor=lead)
        seal_all(now - timedelta(days=days))
    first, second, young, _last = Segment.objects.order_by("first")
    for segment in (second, young):  # not the oldest; not old enough
        with pytest.raises(IntegrityError), transaction.atomic():
            Segment.objects.filter(pk=segment.pk).update(removed_at=now)
    for other in ({"head": "0" * 64}, {"removed_at": now, "last": 9}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Segment.objects.filter(pk=first.pk).update(**other)
