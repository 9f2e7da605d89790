"""Seal what was written into the hash chain of its source, in an order that is stored.

Who writes an entry waits for nothing. One sealer at a time holds the lease of a chain. The order is
that of sealing: a row whose transaction commits after rows with higher keys were sealed comes after
them, and nothing is left out.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models import Exists, Min, OuterRef, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from gradeapp.audit.hashing import GENESIS, link
from gradeapp.audit.models import Chain, Seal, Segment
from gradeapp.audit.record import record
from gradeapp.audit.signing import is_signed
from gradeapp.audit.sources import Source, sources
from gradeapp.audit.tags import Tag
from gradeapp.common.leases import Lease

LEASE = Lease("holder", "lease_until", None)
LEASE_FOR = timedelta(seconds=60)
BATCH = 500
# No sealer holds a chain for longer; who can write SQL could have it held for ever.
NEVER_LONGER = 10 * LEASE_FOR
# The longest that one sealer works before others have a turn, in seconds.
AT_MOST = 20.0
# A transaction is over after this long: rows of earlier times and lower keys have been seen.
LATEST = timedelta(hours=1)
# A sealer that comes later than this after the last one does not trust what that one has seen.
TRUSTED_FOR = LATEST / 2
SWEEP_EVERY = timedelta(hours=24)
# An entry that gradeapp signed was written when it says; a copy that was kept may come later.
COPIED_LATER = 2 * SWEEP_EVERY
# The clock of a worker is behind that of the database by less (the triggers refuse more).
CLOCKS = timedelta(days=1)


def seal_all(now: datetime | None = None) -> int:
    """Seal what is not sealed yet, of every source; return how many rows.

    Where one chain cannot be sealed, the others are first; then its error is raised.
    """
    sealed, errors = 0, []
    for source in sources():
        try:
            sealed += seal(source, now or timezone.now())
        except DatabaseError as error:
            errors.append(error)
    if errors:
        raise errors[0]
    return sealed


def seal(source: Source, now: datetime) -> int:
    """Seal the rows of *source*; return how many, 0 while another sealer holds the chain."""
    chain, _made = Chain.objects.get_or_create(name=source.name)
    rows = Chain.objects.filter(pk=chain.pk)
    who = uuid.uuid4().hex
    rows.filter(lease_until__gt=now + NEVER_LONGER).update(**LEASE.released())
    if not LEASE.claim(rows.filter(LEASE.free(now)), who, until=now + LEASE_FOR, now=now):
        return 0
    sealed, ended = 0, False
    try:
        _set_back(rows)
        chain = rows.get()
        # What decides later on whether a row came late is not ahead of the database's clock.
        clock = rows.values_list(Now(), flat=True).get()
        until = min(now, clock)
        whole = _is_whole(chain, now, until)
        after = 0 if whole else chain.seen
        began = time.monotonic()
        while time.monotonic() - began < AT_MOST:
            batch = list(unsealed(source, chain, after).values(*source.fields)[:BATCH])
            if not batch:
                ended = True
                break
            if not _seal_batch(source, chain, who, batch, now):
                break
            sealed += len(batch)
            after = batch[-1]["id"]
        if ended:
            through = {"swept_at": now} if whole else {}
            looked = min(max(chain.looked_at or now, now), clock)
            held = rows.filter(holder=who)
            held.update(looked_at=looked, seen=_seen(source, until), **through)
    finally:
        LEASE.release(rows, who)
    return sealed


def _set_back(rows: QuerySet[Chain]) -> None:
    """Set a chain whose end was moved past its last link back to that, and record it.

    Nothing could be sealed else, and ``verify_audit`` names the entry: links may have been there.
    """
    chain = rows.get()
    ends = Segment.objects.filter(chain=chain).order_by("-last").values_list("last", "head")
    last, head = ends.first() or (0, GENESIS)
    if (chain.position, chain.head) == (last, head):
        return
    with transaction.atomic():
        if rows.filter(holder=chain.holder).update(position=last, head=head):
            moved = {"chain": chain.name, "position": chain.position, "last": last}
            record(Tag.CHAIN_SET_BACK, chain, actor=None, **moved)


def _is_whole(chain: Chain, now: datetime, until: datetime) -> bool:
    """Return whether to look at the whole table: once a day, and after a stop."""
    swept, looked = chain.swept_at, chain.looked_at
    if swept is None or not now - SWEEP_EVERY < swept <= now + NEVER_LONGER:
        return True
    return looked is None or looked < until - TRUSTED_FOR


def _seen(source: Source, until: datetime) -> int:
    """Return a key below those that transactions of the hour before *until* may still commit.

    It is the last key of an older row below those of that hour. A row that was put in with a huge
    key counts until another one comes, which is then sealed one pass later.
    """
    at = source.at
    recent = source.rows.filter(**{f"{at}__gte": until - LATEST}).aggregate(lowest=Min("pk"))
    old = source.rows.filter(**{f"{at}__lt": until - LATEST})
    if recent["lowest"] is not None:
        old = old.filter(pk__lt=recent["lowest"])
    return old.order_by("-pk").values_list("pk", flat=True).first() or 0


def unsealed(
    source: Source, chain: Chain | None, after: int = 0, *, to: int | None = None
) -> QuerySet[Any]:
    """The rows of *source* with a key above *after* (0: all) that have no seal, by key.

    Seals above the position *to* do not count.
    """
    seals = Seal.objects.filter(chain=chain, row=OuterRef("pk"))
    if to is not None:
        seals = seals.filter(position__lte=to)
    rows = source.rows.filter(pk__gt=after) if after else source.rows
    return rows.exclude(Exists(seals)).order_by("pk")


def before_signatures(chain: Chain, row: Mapping[str, Any]) -> bool:
    """Return whether *row* was there before entries were signed."""
    return 0 < int(row["id"]) <= chain.unsigned_until


def wrong_time(
    source: Source, row: Mapping[str, Any], since: datetime | None, until: datetime
) -> str:
    """Return what is wrong with the time of *row*, sealed at *until*; empty if nothing is.

    All that was written an hour before *since* had been sealed before; None: nothing is known.
    """
    at = row[source.at]
    if since is not None:
        latest = COPIED_LATER if source.signed else LATEST
        if at < min(since, until) - latest:
            return "appeared long after the time that it names"
    if not source.signed and at > until + CLOCKS:
        return "names a time long after it appeared"
    return ""


def note_on(
    source: Source, chain: Chain, row: Mapping[str, Any], since: datetime | None, until: datetime
) -> str:
    """Return why *row* does not look as if it had been written by gradeapp when it says.

    *since* and *until* are those of ``wrong_time``.
    """
    if source.signed and not before_signatures(chain, row) and not is_signed(row):
        return Seal.Note.UNSIGNED.value
    return Seal.Note.LATE.value if wrong_time(source, row, since, until) else ""


def _seal_batch(
    source: Source, chain: Chain, who: str, batch: list[dict[str, Any]], now: datetime
) -> bool:
    """Add *batch* to the chain as one segment; False if another sealer was faster."""
    seals, head = [], chain.head
    for position, row in enumerate(batch, chain.position + 1):
        note = note_on(source, chain, row, chain.looked_at, now)
        head = link(head, position, note, row)
        seals.append(Seal(chain=chain, position=position, row=row["id"], note=note, hash=head))
    last = seals[-1].position
    with transaction.atomic():
        mine = Chain.objects.filter(pk=chain.pk, holder=who, position=chain.position)
        until = timezone.now() + LEASE_FOR
        if not mine.update(position=last, head=head, lease_until=until):
            return False
        Seal.objects.bulk_create(seals)
        Segment.objects.create(
            chain=chain,
            first=chain.position + 1,
            last=last,
            head=head,
            sealed_at=now,
            since=chain.looked_at,
        )
    chain.position, chain.head = last, head
    return True
