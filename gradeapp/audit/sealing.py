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

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from gradeapp.audit.hashing import link
from gradeapp.audit.models import Chain, Seal, Segment
from gradeapp.audit.signing import is_signed
from gradeapp.audit.sources import Source, sources
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
SWEEP_EVERY = timedelta(hours=24)


def seal_all(now: datetime | None = None) -> int:
    """Seal what is not sealed yet, of every source; return how many rows."""
    return sum(seal(source, now or timezone.now()) for source in sources())


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
        chain = rows.get()
        swept = chain.swept_at
        whole = swept is None or not now - SWEEP_EVERY < swept <= now + NEVER_LONGER
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
            old = source.rows.filter(pk__gt=chain.seen, **{f"{source.at}__lt": now - LATEST})
            seen = old.order_by("-pk").values_list("pk", flat=True).first()
            through = {"swept_at": now} if whole else {}
            held = rows.filter(holder=who)
            held.update(looked_at=now, seen=seen or F("seen"), **through)
    finally:
        LEASE.release(rows, who)
    return sealed


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


def note_on(source: Source, chain: Chain, row: Mapping[str, Any]) -> str:
    """Return why *row* does not look as if it had been written by gradeapp when it says."""
    if source.signed:
        known = before_signatures(chain, row) or is_signed(row)
        return "" if known else Seal.Note.UNSIGNED.value
    late = chain.looked_at is not None and row[source.at] < chain.looked_at - LATEST
    return Seal.Note.LATE.value if late else ""


def _seal_batch(
    source: Source, chain: Chain, who: str, batch: list[dict[str, Any]], now: datetime
) -> bool:
    """Add *batch* to the chain as one segment; False if another sealer was faster."""
    seals, head = [], chain.head
    for position, row in enumerate(batch, chain.position + 1):
        note = note_on(source, chain, row)
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
            chain=chain, first=chain.position + 1, last=last, head=head, sealed_at=now
        )
    chain.position, chain.head = last, head
    return True
