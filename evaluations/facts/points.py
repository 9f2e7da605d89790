"""Points of a response, and the items that count, for reports and pairs of marks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from evaluations.statistics.gaokao_750 import published_item_mean
from evaluations.statistics.outcomes import LedgerOutcome
from evaluations.statistics.policies import Policy
from questions.rules.vocabulary import ItemStatus

# The reason of every figure of a judge that failed its check.
SUSPENDED = "judge_suspended"


@dataclass(frozen=True, slots=True)
class Points:
    """The points that a marker gave to one response, or None with a reason."""

    points: float | None
    outcome: str = ""
    reason: str = ""
    answer: str | None = None


def left_out(policy: str) -> frozenset[str]:
    """Return the statuses of items that do not count under *policy*.

    Excluded items never count. Quarantined items, which a person has not decided on, count only
    under ``published``, as in the benchmark.
    """
    if policy == Policy.PUBLISHED:
        return frozenset({ItemStatus.EXCLUDED})
    return frozenset({ItemStatus.EXCLUDED, ItemStatus.QUARANTINED})


def judge_points(
    total: float | None, status: str, released: str, policy: str, suspended_at: datetime | None
) -> Points:
    """Return the points of a judgement: *released* (JSON) under ``published``, else *total*.

    None, with the reason, for a judge that was suspended because it failed its check.
    """
    if suspended_at is not None:
        return Points(None, LedgerOutcome.NOT_SCORED.value, SUSPENDED)
    published = _released_mean(released) if policy == Policy.PUBLISHED else None
    if published is not None:
        return Points(published)
    if total is None:
        return Points(None, LedgerOutcome.NOT_SCORED.value, status)
    return Points(total)


@lru_cache(maxsize=4096)
def _released_mean(released: str) -> float | None:
    return published_item_mean(json.loads(released))
