"""Leases: a row belongs to one holder until a time, and may be claimed by others afterwards.

Claiming, renewing and releasing are one conditional UPDATE each; its row count says whether it
took effect, the same on SQLite and PostgreSQL. Every condition must stand on the row itself: a
join becomes a subquery, which PostgreSQL does not evaluate again after waiting for a rival's
update, so that both would win.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet


@dataclass(frozen=True, slots=True)
class Lease:
    """The columns of a lease: who holds the row, until when, and the holder that means nobody."""

    holder: str
    until: str
    nobody: str | None

    def ended(self, now: datetime) -> Q:
        """Rows whose lease has ended."""
        return Q(**{f"{self.until}__lte": now})

    def running(self, now: datetime) -> Q:
        """Rows that somebody holds now."""
        return ~self._holder(self.nobody) & Q(**{f"{self.until}__gt": now})

    def free(self, now: datetime) -> Q:
        """Rows that nobody holds, or whose lease has ended."""
        return self._holder(self.nobody) | self.ended(now)

    def free_for(self, who: object, now: datetime) -> Q:
        """Rows that are free, or that *who* holds already."""
        return self.free(now) | self._holder(who)

    def given(self, who: object, until: datetime) -> dict[str, Any]:
        """The columns of a row that *who* holds."""
        return {self.holder: who, self.until: until}

    def released(self) -> dict[str, Any]:
        """The columns of a row that nobody holds."""
        return {self.holder: self.nobody, self.until: None}

    def claim(self, rows: QuerySet[Any], who: object, *, until: datetime, now: datetime) -> int:
        """Give to *who* those of *rows* that are free or theirs; how many they hold now."""
        return rows.filter(self.free_for(who, now)).update(**self.given(who, until))

    def renew(self, rows: QuerySet[Any], who: object, *, until: datetime) -> int:
        """Set the end of those of *rows* that *who* still holds; how many."""
        return rows.filter(self._holder(who)).update(**{self.until: until})

    def release(self, rows: QuerySet[Any], who: object, **also: Any) -> int:
        """Free those of *rows* that *who* holds, and set the columns *also*; how many."""
        return rows.filter(self._holder(who)).update(**self.released(), **also)

    def _holder(self, who: object) -> Q:
        return Q(**{self.holder: who})


# A marking slot and a slot of a review.
SLOT = Lease("holder", "lease_until", None)
