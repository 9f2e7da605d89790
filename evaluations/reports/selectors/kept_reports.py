"""Reports that a process keeps for a second look.

A report is kept under all that it was computed from: the versions of the facts and of the question
bank, which the transactions that write them raise, and the rows of the runs, rounds and judges that
are applied to the sums of the facts. Those are a few hundred and are read at every look, in the
snapshot in which the report is computed, so that nothing old is ever shown.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from django.db.models import Count

from evaluations.facts.answer_facts import facts_version
from evaluations.facts.judged_marks import runs_to_review
from evaluations.facts.params import ReportParams
from evaluations.models import Judge, MarkingRound
from evaluations.reports.selectors.scored_answers import BankRows, failed_jobs
from evaluations.statistics.figure import Report, ReportRow
from gradeapp.common.kept import KeptValues
from gradeapp.common.snapshot import one_snapshot, sees_only_committed
from questions.selectors.version import bank_version

# A report over 100 models takes about 4 MB; the tables of its page as HTML as much again.
MOST_BYTES = 24_000_000
# A figure as objects of Python, with its share of the row that it is in.
FIGURE_BYTES = 250
_kept = KeptValues(MOST_BYTES)
State = tuple[object, ...]
T = TypeVar("T")


def state_of(params: ReportParams, about: object) -> State:
    """Return all that reports of *params* depend on, and *about*; the caller holds the snapshot."""
    versions = (facts_version(params.dataset), bank_version())
    return (params, repr(about), versions, _asked_state(params))


def kept(
    name: str, params: ReportParams, about: object, make: Callable[[], list[Report]]
) -> list[Report]:
    """Return what *make* computes for *name* and *params*, from memory if nothing changed since.

    *about* is what else it depends on. What a transaction has not committed is not kept.
    """
    may_keep = sees_only_committed()
    with one_snapshot():
        if not may_keep:
            return make()
        key = (name, state_of(params, about))
        found = _kept.get(key)
        if found is None:
            found = make()
            _kept.put(key, found, size_of(found))
    return [_copy(report) for report in found]


def kept_value(key: State, make: Callable[[], T], size: Callable[[T], int]) -> T:
    """Return what *make* computes for *key*, which begins with a name and has a ``state_of``.

    The caller does not change it. *size* gives the bytes that it takes.
    """
    found: T | None = _kept.get(key)
    if found is None:
        found = make()
        _kept.put(key, found, size(found))
    return found


def found_value(key: State) -> Any:
    """Return what ``kept_value`` keeps for *key*, or None; the caller does not change it."""
    return _kept.get(key)


def size_of(reports: Sequence[Report]) -> int:
    """Return about how many bytes *reports* take."""
    return sum(FIGURE_BYTES * (len(row.figures) + 2) for one in reports for row in one.rows)


def forget() -> None:
    """Drop what is kept. For tests, where versions begin anew."""
    _kept.forget()


def _copy(report: Report) -> Report:
    rows = [ReportRow(dict(row.key), dict(row.figures)) for row in report.rows]
    return Report(report.name, dict(report.params), rows)


def _asked_state(params: ReportParams) -> bytes:
    """Return a digest of the rows of the runs, rounds and judges of *params*."""
    bank = BankRows(params)
    failed = failed_jobs(params).order_by("run_id", "question_id", "revision_id", "error")
    rounds = MarkingRound.objects.filter(dataset__slug=params.dataset).order_by("pk")
    parts: Iterable[object] = (
        bank.sittings,
        bank.asked,
        list(
            failed.values_list("run_id", "question_id", "revision_id", "error").annotate(
                n=Count("pk")
            )
        ),
        list(Judge.objects.order_by("pk").values_list("pk", "name", "suspended_at")),
        sorted(runs_to_review(params.dataset)),
        list(rounds.values_list("pk", "public_id", "practice")),
    )
    digest = hashlib.sha256()
    for part in parts:
        digest.update(repr(part).encode())
    return digest.digest()
