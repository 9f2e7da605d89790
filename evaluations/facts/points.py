"""Points of a response, and which items count: what reports and the pairs of marks share."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache

from evaluations.statistics.gaokao_750 import published_item_mean
from evaluations.statistics.outcomes import LedgerOutcome
from evaluations.statistics.policies import Policy
from questions.rules.vocabulary import ItemStatus


@dataclass(frozen=True, slots=True)
class Points:
    """What a marker gave to one response; None with the reason why there is nothing."""

    points: float | None
    outcome: str = ""
    reason: str = ""
    answer: str | None = None


def left_out(policy: str) -> frozenset[str]:
    """The statuses of items that take no part under *policy*.

    What a person excluded counts nowhere. A quarantined item waits for a person:
    ``strict`` leaves it out meanwhile, ``published`` counts it as the benchmark does.
    """
    if policy == Policy.PUBLISHED:
        return frozenset({ItemStatus.EXCLUDED})
    return frozenset({ItemStatus.EXCLUDED, ItemStatus.QUARANTINED})


def judge_points(total: float | None, status: str, released: str, policy: str) -> Points:
    """A judgement's points: as *released* (JSON) under ``published``, else a possible total."""
    published = _released_mean(released) if policy == Policy.PUBLISHED else None
    if published is not None:
        return Points(published)
    if total is None:
        return Points(None, LedgerOutcome.NOT_SCORED.value, status)
    return Points(total)


@lru_cache(maxsize=4096)
def _released_mean(released: str) -> float | None:
    return published_item_mean(json.loads(released))
