"""When a round may be done, at the pace of its newest marks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

FEWEST_MARKS = 20


def expected_finish(saved_at: Sequence[datetime], due: int, now: datetime) -> datetime | None:
    """When *due* marks will have been given if they go on coming as the newest did.

    *saved_at* are when the newest marks were saved, in any order. Time runs from
    the oldest of them to *now*, breaks and nights in it, so that a round at which
    nobody works ends ever later. None where nothing is due, for fewer than 20
    saved_at, or where no time has passed.
    """
    if due == 0 or len(saved_at) < FEWEST_MARKS:
        return None
    passed = now - min(saved_at)
    return now + passed * due / len(saved_at) if passed.total_seconds() > 0 else None
