"""Decide from its canaries and its readable replies whether the marks of a judge may be used.

A class is failed if the lower bound of Wilson's interval of its failure rate is above
``MOST_FAILURES``: two failures of three or five. One failure is none of a class, also while a run
goes on and it is the only canary so far. All classes in which points are false credit are also
looked at together. Of the canaries whose worth is exact, at most ``MOST_OFF`` may be marked more
than a point wrong, and one may always be. A judge is suspended for any failed class, and for
replies of which too many have no total.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evaluations.judging.rules.canaries import FALSE_CREDIT_KINDS
from evaluations.statistics.intervals import wilson
from evaluations.statistics.outcomes import CanaryKind, JudgeVerdict

MOST_FAILURES = 0.10
MOST_UNREAD = 0.20
# Of canaries whose worth is exact, so many may be marked more than one point wrong.
MOST_OFF = 0.05
# So many judged canaries of each class make a verdict, and so many replies one on readability.
FEWEST = 3
FEWEST_REPLIES = 5
TOGETHER = "all"
EXACT = "exact_worth"
UNREADABLE = "unreadable"
FIRST_UNREADABLE = "first_unreadable"


@dataclass(frozen=True, slots=True)
class CanaryResult:
    """One judged canary; ``failed`` is None if its reply has no total or nothing to compare.

    ``off``: whether it is more than a point wrong, None also where its worth is not exact.
    """

    kind: CanaryKind
    failed: bool | None
    off: bool | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict, its reasons and the figures of the classes, as ``JudgeCheck`` stores them."""

    verdict: JudgeVerdict
    reasons: list[dict[str, Any]] = field(default_factory=list)
    classes: list[dict[str, Any]] = field(default_factory=list)


def verdict_of(
    results: Sequence[CanaryResult], *, replies: int, unread: int, first_unreadable: bool = False
) -> Verdict:
    """Return the verdict from *results* and from *unread* of *replies* without a total.

    *first_unreadable*: none of the first replies of a run could be read, so it was stopped.
    """
    groups: list[tuple[str, list[CanaryResult]]] = [
        (kind.value, [one for one in results if one.kind is kind]) for kind in CanaryKind
    ]
    credit = [one for one in results if one.kind in FALSE_CREDIT_KINDS]
    classes = [_figures(name, group) for name, group in [*groups, (TOGETHER, credit)] if group]
    exact = [replace(one, failed=one.off) for one in results if one.off is not None]
    reasons: list[dict[str, Any]] = [
        {"code": one["kind"], "failed": one["failed"], "n": one["n"]}
        for one in classes
        if one["failed"] > 1 and one["low"] is not None and one["low"] > MOST_FAILURES
    ]
    if exact:
        classes.append(of_exact := _figures(EXACT, exact))
        if of_exact["failed"] > 1 and of_exact["rate"] > MOST_OFF:
            reasons.append({"code": EXACT, "failed": of_exact["failed"], "n": of_exact["n"]})
    share = wilson(unread, replies) if replies >= FEWEST_REPLIES else None
    if first_unreadable:
        reasons.append({"code": FIRST_UNREADABLE, "failed": unread, "n": replies})
    elif share is not None and share[0] > MOST_UNREAD:
        reasons.append({"code": UNREADABLE, "failed": unread, "n": replies})
    if reasons:
        return Verdict(JudgeVerdict.SUSPENDED, reasons, classes)
    judged = {one["kind"]: one["n"] for one in classes}
    enough = all(judged.get(kind.value, 0) >= FEWEST for kind in FALSE_CREDIT_KINDS)
    return Verdict(JudgeVerdict.PASSED if enough else JudgeVerdict.OPEN, [], classes)


def _figures(kind: str, group: Sequence[CanaryResult]) -> dict[str, Any]:
    """Return how often canaries of a class were marked wrong, with Wilson's 95 % interval."""
    decided = [one for one in group if one.failed is not None]
    failed = sum(one.failed is True for one in decided)
    interval = wilson(failed, len(decided))
    low, high = interval if interval is not None else (None, None)
    return {
        "kind": kind,
        "n": len(decided),
        "failed": failed,
        "unread": len(group) - len(decided),
        "rate": failed / len(decided) if decided else None,
        "low": low,
        "high": high,
    }
