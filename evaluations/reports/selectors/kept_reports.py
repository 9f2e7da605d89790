"""Reports that a process keeps for a second look.

A report is kept under all that it was computed from: the version of the facts, which the
transaction that writes them raises, and the rows of the question bank, runs and judges that are
applied to their sums. Those are a few thousand and are read at every look, in the snapshot in which
the report is computed, so that nothing old is ever shown.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from django.db.models import Count

from evaluations.facts.answer_facts import facts_version
from evaluations.facts.judged_marks import runs_to_review
from evaluations.facts.params import ReportParams
from evaluations.models import Judge, MarkingRound
from evaluations.reading.selectors.repaired_keys import repaired_keys
from evaluations.reports.selectors.frames import question_rows
from evaluations.reports.selectors.scored_answers import BankRows, failed_jobs
from evaluations.statistics.figure import Report, ReportRow
from gradeapp.common.kept import KeptValues
from gradeapp.common.snapshot import one_snapshot, sees_only_committed
from questions.models import HumanRate

# A report over 100 models takes about 4 MB; the tables of its page as HTML as much again.
MOST_BYTES = 24_000_000
# A figure as objects of Python, with its share of the row that it is in.
FIGURE_BYTES = 250
_kept = KeptValues(MOST_BYTES)
State = tuple[object, ...]
T = TypeVar("T")


def state_of(params: ReportParams, about: object) -> State:
    """Return all that reports of *params* depend on, and *about*; the caller holds the snapshot."""
    return (params, repr(about), facts_version(params.dataset), _bank_state(params))


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


def size_of(reports: Sequence[Report]) -> int:
    """Return about how many bytes *reports* take."""
    return sum(FIGURE_BYTES * (len(row.figures) + 2) for one in reports for row in one.rows)


def forget() -> None:
    """Drop what is kept. For tests, where versions begin anew."""
    _kept.forget()


def _copy(report: Report) -> Report:
    rows = [ReportRow(dict(row.key), dict(row.figures)) for row in report.rows]
    return Report(report.name, dict(report.params), rows)


def _bank_state(params: ReportParams) -> bytes:
    """Return a digest of the rows of the question bank, the runs and the judges of *params*."""
    bank = BankRows(params)
    rates = HumanRate.objects.filter(question__task__dataset__slug=params.dataset)
    rates_of_tasks = HumanRate.objects.filter(task__dataset__slug=params.dataset)
    repaired = repaired_keys(None, params.dataset)
    failed = failed_jobs(params).order_by("run_id", "question_id", "revision_id", "error")
    parts: Iterable[object] = (
        *(bank.sittings, bank.asked, bank.questions, bank.worth, bank.golds),
        sorted(bank.without_key),
        sorted((pk, one.revision) for pk, one in repaired.items()),
        question_rows(params.dataset),
        list(rates.order_by("pk").values_list()),
        list(rates_of_tasks.order_by("pk").values_list()),
        list(
            failed.values_list("run_id", "question_id", "revision_id", "error").annotate(
                n=Count("pk")
            )
        ),
        list(Judge.objects.order_by("pk").values_list("pk", "name", "suspended_at")),
        sorted(runs_to_review(params.dataset)),
        list(
            MarkingRound.objects.filter(dataset__slug=params.dataset)
            .order_by("pk")
            .values_list("pk", "public_id", "practice")
        ),
    )
    digest = hashlib.sha256()
    for part in parts:
        digest.update(repr(part).encode())
    return digest.digest()
