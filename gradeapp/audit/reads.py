"""How many items somebody reads: counted in the process, stored in steps, without their knowledge.

Items are questions with their keys, responses, and marks. What counts is in docs/security.md
(Many reads). A process keeps what was read and stores it when there is enough of it, so that a
page costs no statement. Every process stores into the same table, so that all of them count
together and no service is needed.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus
from threading import Lock
from typing import Any

from django.conf import settings
from django.db import DatabaseError, models, transaction
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from rest_framework.response import Response

from gradeapp.accounts.models import User
from gradeapp.audit.counted import shown_by
from gradeapp.audit.models import AuditEntry, ItemRead, ReadAlert
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag

logger = logging.getLogger(__name__)
# What one person has read is stored in steps of a 20th of what is missing to an alert, and at the
# first request after this time.
GRAIN = timedelta(seconds=60)
FILE = "row"


class CountReads:
    """Counts what a page or an answer of the API has shown; stands behind who finds the person."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        match = request.resolver_match
        shown = shown_by(match.view_name) if match else None
        if match and shown and response.status_code == HTTPStatus.OK and request.method != "HEAD":
            if not shown.rows:
                count_items(request.user, shown.kind, [match.kwargs[shown.by]])
            elif isinstance(response, Response) and request.method == "GET":
                keys = [row[shown.by] for row in response.data["results"]]
                count_items(request.user, shown.kind, keys)
        return response


@dataclass(slots=True)
class _Kept:
    """What one person has read and is not stored yet: when, and how many items each is."""

    step: int
    since: datetime
    items: dict[str, tuple[datetime, int]] = field(default_factory=dict)


class ReadCounter:
    """Counts for one process; its threads share it."""

    def __init__(self) -> None:
        self._kept: dict[int, _Kept] = {}
        self._lock = Lock()

    def count(self, person: Any, items: Mapping[str, int]) -> None:
        """Count *items*, with how many each is, as read by *person* now."""
        most, now = settings.READ_ALERT_ITEMS, timezone.now()
        if not most or not items or not person.is_authenticated:
            return
        with self._lock:
            kept = self._kept.setdefault(person.pk, _Kept(_step(most), now))
            if not kept.items:
                kept.since = now
            kept.items |= {item: (now, number) for item, number in items.items()}
            read = sum(number for _at, number in kept.items.values())
            if read < kept.step and now - kept.since < GRAIN:
                return
            due, kept.items = kept.items, {}
        try:
            with transaction.atomic():
                total = _store(person, due, now)
        except DatabaseError:
            logger.warning("Items that were read could not be counted", exc_info=True)
            return
        # The nearer the alert, the smaller the steps: processes know little of each other.
        kept.step = _step(most - total if total < most else most)

    def forget(self) -> None:
        """Forget what is not stored yet."""
        with self._lock:
            self._kept.clear()


def _step(left: int) -> int:
    """After how many items the next ones are stored, where *left* are missing to the alert."""
    return max(1, left // 20)


counter = ReadCounter()


def count_items(person: Any, kind: str, keys: Iterable[object]) -> None:
    """Count the items of *kind* with *keys* as read by *person*; each once in the time watched."""
    counter.count(person, {f"{kind}:{key}"[:80]: 1 for key in keys})


def count_file(person: Any, name: str, rows: int) -> None:
    """Count the *rows* of a file as read by *person*; a file of one *name* once."""
    counter.count(person, {f"{FILE}:{name}"[:80]: rows})


def record_export(
    tag: Tag, target: models.Model | str, *, actor: User | None, **detail: object
) -> AuditEntry:
    """Record that *actor* took a file away, and count its ``rows`` in *detail* as read."""
    entry = record(tag, target, actor=actor, **detail)
    rows = detail.get("rows")
    if actor is not None and isinstance(rows, int):
        count_file(actor, str(detail.get("sha256", entry.pk)), rows)
    return entry


def recorded_lines(
    lines: Iterable[bytes],
    tag: Tag,
    target: models.Model | str,
    *,
    actor: User,
    headers: int = 0,
    **detail: object,
) -> Iterator[bytes]:
    """Send *lines* of a file, the first *headers* of which are no rows, and record what was sent.

    The entry has ``rows`` and ``sha256``, and ``whole``: false where the reader left before the
    end.
    """
    digest, sent, whole = hashlib.sha256(), 0, False
    try:
        for line in lines:
            digest.update(line)
            yield line
            sent += 1
        whole = True
    finally:
        facts = {"rows": max(sent - headers, 0), "sha256": digest.hexdigest(), "whole": whole}
        record_export(tag, target, actor=actor, **detail, **facts)


def _store(person: User, items: Mapping[str, tuple[datetime, int]], now: datetime) -> int:
    """Store what was read and raise the alert that is due; how many items the time watched has."""
    begin = now - timedelta(minutes=settings.READ_ALERT_MINUTES)
    rows = [
        ItemRead(person=person, item=item, at=at, number=number)
        for item, (at, number) in sorted(items.items())  # one order: nobody waits for each other
        if at > begin
    ]
    ItemRead.objects.bulk_create(
        rows,
        batch_size=500,
        update_conflicts=True,
        unique_fields=["person", "item"],
        update_fields=["at", "number"],
    )
    read = ItemRead.objects.filter(person=person, at__gt=begin)
    total: int = read.aggregate(total=Sum("number"))["total"] or 0
    if total >= settings.READ_ALERT_ITEMS:
        _raise_alert(person, read, total, begin, now)
    return total


def _raise_alert(
    person: User, read: models.QuerySet[ItemRead], total: int, begin: datetime, now: datetime
) -> None:
    """Raise the alert, unless one was raised in the time watched: one process of several does."""
    alert, new = ReadAlert.objects.get_or_create(
        person=person, defaults={"raised_at": now, "items": total}
    )
    if not new:
        due = ReadAlert.objects.filter(pk=alert.pk, raised_at__lte=begin)
        if not due.update(raised_at=now, items=total, open=True):
            return
    kinds: Counter[str] = Counter()
    for item, number in read.values_list("item", "number"):
        kinds[item.partition(":")[0]] += number
    minutes = settings.READ_ALERT_MINUTES
    about = {"items_read": total, "minutes": minutes, "kinds": dict(kinds)}
    record(Tag.MANY_READS, person, actor=person, **about)


def forget_old_reads(now: datetime) -> None:
    """Delete what was read before the time watched."""
    begin = now - timedelta(minutes=settings.READ_ALERT_MINUTES)
    ItemRead.objects.filter(at__lte=begin).delete()
