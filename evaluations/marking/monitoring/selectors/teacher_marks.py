"""The marks of one teacher of a round, filtered: the rows behind their figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from evaluations.marking.monitoring.rules.figures import OBSERVED, WatchedMark
from evaluations.marking.monitoring.selectors.monitoring import WatchedTeacher
from evaluations.models import Mark, MarkingRound
from evaluations.models.vocabulary import CHECK_KINDS
from gradeapp.common.named import Named


class MarkFilter(Named):
    """Which marks of a teacher are listed; a figure leads to those that it was made from."""

    ALL = "all", "All", "全部"
    COUNTING = "counting", "Counting", "计入得分"
    PAIRS = "pairs", "With another mark", "有另一评"
    BEYOND = "beyond", "Beyond the tolerance", "超出误差阈值"
    FINAL = "final", "With a final mark", "已定分"
    SEEDS = "seeds", "Seed answers", "种子卷"
    REPEATS = "repeats", "Intra-rater checks", "自评一致性检查"
    SAFE = "safe", "Safe marks", "保险分"
    TIMED = "timed", "With a duration", "有用时"
    COMMENTS = "comments", "With a comment", "有评语"
    FLAGS = "flags", "Flagged", "有标记"


def _shows(name: str) -> Callable[[WatchedMark], bool]:
    observe, _reason = OBSERVED[name]
    return lambda mark: observe(mark) is not None


SHOWN: Mapping[MarkFilter, Callable[[WatchedMark], bool]] = {
    MarkFilter.ALL: lambda mark: True,
    MarkFilter.COUNTING: lambda mark: not mark.checks,
    MarkFilter.PAIRS: _shows("within_tolerance"),
    MarkFilter.BEYOND: lambda mark: mark.near(mark.partner) is False,
    MarkFilter.FINAL: _shows("severity"),
    MarkFilter.SEEDS: _shows("seed_hits"),
    MarkFilter.REPEATS: _shows("self_consistency"),
    MarkFilter.SAFE: lambda mark: OBSERVED["safe_share"][0](mark) == 1,
    MarkFilter.TIMED: _shows("seconds_mean"),
}


@dataclass(frozen=True, slots=True)
class MarkRow:
    """One mark as the lead sees it, beside what it is compared with."""

    answer: UUID
    alias: str
    question: str
    kind: str
    total: Decimal
    full: Decimal
    compared: float | None
    tolerance: float
    near: bool | None
    final: float | None
    seconds: int | None
    comment: str
    flags: tuple[str, ...]
    versions: int
    at: datetime

    @property
    def checks(self) -> bool:
        """Whether the mark is a seed answer or an intra-rater check."""
        return self.kind in CHECK_KINDS

    @property
    def difference(self) -> float | None:
        """Own mark less the other one, the reference or the earlier one."""
        return None if self.compared is None else float(self.total) - self.compared


def marks_shown(
    teacher: WatchedTeacher, marking_round: MarkingRound, wanted: MarkFilter
) -> list[WatchedMark]:
    """The marks of *teacher* that *wanted* lets through, newest first."""
    if wanted in SHOWN:
        shows = SHOWN[wanted]
        return [mark for mark in reversed(teacher.marks) if shows(mark)]
    own = Mark.objects.filter(teacher=teacher.key, slot__answer__round=marking_round)
    said = own.exclude(comment="") if wanted is MarkFilter.COMMENTS else own.exclude(flags=[])
    keys = set(said.order_by().values_list("pk", flat=True))
    return [mark for mark in reversed(teacher.marks) if mark.mark in keys]


def mark_rows(shown: Sequence[WatchedMark]) -> list[MarkRow]:
    """The rows of one page, in one query."""
    related = ("slot__answer__question", "slot")
    rows = Mark.objects.select_related(*related).in_bulk([mark.mark for mark in shown])
    return [_row(rows[mark.mark], mark) for mark in shown]


def _row(row: Mark, mark: WatchedMark) -> MarkRow:
    answer = row.slot.answer
    others = (mark.partner, mark.reference, mark.before)
    compared = next((other for other in others if other is not None), None)
    return MarkRow(
        answer=answer.public_id,
        alias=answer.alias,
        question=answer.question.external_id,
        kind=row.slot.kind,
        total=row.total,
        full=row.full,
        compared=compared,
        tolerance=mark.tolerance,
        near=mark.near(compared),
        final=None if row.slot.kind in CHECK_KINDS else mark.final,
        seconds=mark.seconds,
        comment=row.comment,
        flags=tuple(row.flags),
        versions=row.version - row.slot.void_version,
        at=row.created_at,
    )
