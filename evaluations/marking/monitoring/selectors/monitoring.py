"""Reads what is watched of a round: every teacher's marks, figures, warnings and progress."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import OuterRef, Subquery

from evaluations.facts.open_marking import marks_wait_for_the_lead
from evaluations.marking.monitoring.rules.figures import WatchedMark, against, teacher_figures
from evaluations.marking.monitoring.rules.limits import Limit, limits_of, outside
from evaluations.marking.monitoring.rules.pace import expected_finish
from evaluations.marking.monitoring.selectors.decided import decided_answers
from evaluations.marking.rounds.selectors.round_counts import newest_marks
from evaluations.models import (
    BlindAnswer,
    FinalMarkSource,
    Mark,
    MarkingRound,
    RoundTeacher,
    SeedAnswer,
    Slot,
)
from evaluations.models.vocabulary import CHECK_KINDS, SlotKind
from evaluations.schemes import FinalRule, Scheme
from evaluations.statistics.figure import Figure, Report, ReportRow
from gradeapp.accounts.models import User
from gradeapp.accounts.names import names_apart
from gradeapp.common.casts import real

PARTNER = {SlotKind.FIRST.value: SlotKind.SECOND.value, SlotKind.SECOND.value: SlotKind.FIRST.value}
CALLED = (SlotKind.THIRD.value, SlotKind.ARBITRATION.value)
# How many of the newest marks tell the pace of the whole round.
PACE_MARKS = 200
EXPORT_FIGURES = "monitoring"


@dataclass(frozen=True, slots=True)
class WatchedTeacher:
    """One teacher of a round: figures, the marks behind them, and which limits are not kept.

    ``name`` is that of no other teacher of the round.
    """

    key: int
    public_id: UUID
    name: str
    in_pool: bool
    left: bool
    paused: bool
    paused_reason: str
    marks: tuple[WatchedMark, ...]
    figures: dict[str, Figure]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WatchedRound:
    """Everybody who marks in a round, those who are warned of first, and the round as one."""

    teachers: tuple[WatchedTeacher, ...]
    figures: dict[str, Figure]
    marks: tuple[WatchedMark, ...]
    limits: dict[str, Limit]

    @property
    def warned(self) -> list[WatchedTeacher]:
        """Those with a figure outside the limits."""
        return [teacher for teacher in self.teachers if teacher.warnings]

    @property
    def colours(self) -> dict[str, int]:
        """The place of each teacher by age of account: a colour that no warning changes."""
        by_age = sorted(self.teachers, key=lambda one: one.key)
        return {teacher.name: place for place, teacher in enumerate(by_age)}


@dataclass(slots=True)
class _Given:
    """The newest version of one slot's mark, with the seconds of all of them."""

    mark: int
    answer: int
    kind: str
    teacher: int
    total: float
    full: float
    seconds: int | None
    rubric: int | None


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a blind answer holds against its marks."""

    tolerance: float
    repeat_of: int | None
    final: float | None
    final_rubric: int | None
    reference: float | None


def watched_round(marking_round: MarkingRound) -> WatchedRound:
    """Figures and warnings of every teacher of the round, in six queries whatever its size."""
    by_teacher = _watched_marks(marking_round)
    pool = {row.teacher_id: row for row in marking_round.pool.all()}
    people = User.objects.in_bulk({*pool, *by_teacher})
    limits = limits_of(marking_round.limits)
    everything = sorted((mark for own in by_teacher.values() for mark in own), key=_place)
    of_round = teacher_figures(everything)
    names = names_apart(people.values())
    teachers = [
        _teacher(
            person,
            names[person.pk],
            pool.get(person.pk),
            by_teacher.get(person.pk, []),
            of_round,
            limits,
        )
        for person in people.values()
    ]
    teachers.sort(key=lambda one: (not one.warnings, one.name, one.key))
    return WatchedRound(tuple(teachers), of_round, tuple(everything), limits)


def _place(mark: WatchedMark) -> int:
    return mark.mark


def _teacher(
    person: User,
    name: str,
    pool: RoundTeacher | None,
    marks: Sequence[WatchedMark],
    of_round: Mapping[str, Figure],
    limits: Mapping[str, Limit],
) -> WatchedTeacher:
    figures = teacher_figures(marks)
    figures |= against(figures, of_round)
    values = {name: (figure.value, figure.n) for name, figure in figures.items()}
    return WatchedTeacher(
        key=person.pk,
        public_id=person.public_id,
        name=name,
        in_pool=pool is not None and pool.left_at is None,
        left=pool is not None and pool.left_at is not None,
        paused=pool is not None and pool.paused,
        paused_reason=pool.paused_reason if pool else "",
        marks=tuple(marks),
        figures=figures,
        warnings=outside(values, limits),
    )


def _watched_marks(marking_round: MarkingRound) -> dict[int, list[WatchedMark]]:
    """The counting marks of each teacher, in the order in which their newest version came."""
    given = _given(marking_round)
    answers = _answers(marking_round)
    by_kind = {(one.answer, one.kind): one for one in given}
    own = {
        (one.answer, one.teacher, one.rubric): one.total
        for one in given
        if one.kind not in CHECK_KINDS
    }
    asks = Scheme(marking_round.scheme) in (Scheme.TWO_AND_LEAD, Scheme.THREE_AND_LEAD)
    called = _called(marking_round, by_kind) if asks else set()
    found: dict[int, list[WatchedMark]] = defaultdict(list)
    for one in given:
        answer = answers[one.answer]
        partner = by_kind.get((one.answer, PARTNER.get(one.kind, "")))
        checks = one.kind in CHECK_KINDS
        found[one.teacher].append(
            WatchedMark(
                mark=one.mark,
                total=one.total,
                full=one.full,
                tolerance=answer.tolerance,
                seconds=one.seconds,
                checks=checks,
                partner=partner.total if partner else None,
                called=one.answer in called if partner and asks else None,
                final=answer.final if not checks and one.rubric == answer.final_rubric else None,
                reference=answer.reference if one.kind == SlotKind.SEED else None,
                before=own.get((answer.repeat_of or 0, one.teacher, one.rubric))
                if one.kind == SlotKind.REPEAT
                else None,
            )
        )
    return dict(found)


def _given(marking_round: MarkingRound) -> list[_Given]:
    rows = (
        Mark.objects.counting()
        .filter(slot__answer__round=marking_round)
        .exclude(slot__kind=SlotKind.ARBITRATION)
        .exclude(marks_wait_for_the_lead("slot__answer__"))
        .order_by("pk")
        .values_list(
            *("pk", "slot_id", "slot__answer_id", "slot__kind", "teacher_id"),
            *(real("total"), real("full"), "seconds", "rubric_id"),
        )
    )
    newest: dict[int, _Given] = {}
    for mark, slot, answer, kind, teacher, total, full, seconds, rubric in rows:
        before = newest.pop(slot, None)
        if before is not None and before.seconds is not None:
            seconds = before.seconds + (seconds or 0)
        newest[slot] = _Given(mark, answer, kind, teacher, total, full, seconds, rubric)
    return list(newest.values())


def _answers(marking_round: MarkingRound) -> dict[int, _Answer]:
    """A final mark that one mark alone made says nothing of it, and is left out.

    ``final_rubric`` is that of the marks it was made from: marks under a later one are on another
    scale, and not compared with it.
    """
    sources = FinalMarkSource.objects.filter(final=OuterRef("final")).order_by("place")
    seeds = SeedAnswer.objects.filter(answer__round=marking_round)
    references = dict(seeds.values_list("answer_id", real("total")))
    rows = (
        BlindAnswer.objects.filter(round=marking_round)
        .order_by()
        .annotate(final_rubric=Subquery(sources.values("mark__rubric")[:1]))
        .values_list(
            *("pk", real("tolerance"), "repeat_of_id", real("final__value"), "final__rule"),
            "final_rubric",
        )
    )
    return {
        pk: _Answer(
            tolerance=tolerance,
            repeat_of=repeat_of,
            final=None if rule == FinalRule.SINGLE else final,
            final_rubric=rubric,
            reference=references.get(pk),
        )
        for pk, tolerance, repeat_of, final, rule, rubric in rows
    }


def _called(marking_round: MarkingRound, by_kind: Mapping[tuple[int, str], _Given]) -> set[int]:
    """Answers for which a third mark or the lead was called, and is still or was decided.

    A correction of a final mark calls nobody.
    """
    slots = Slot.objects.filter(answer__round=marking_round, kind__in=CALLED).order_by()
    decided = decided_answers(marking_round)
    return {
        answer
        for answer, kind, marked in slots.values_list("answer_id", "kind", "marked")
        if not marked or (answer, kind) in by_kind or answer in decided
    }


def expected_end(marking_round: MarkingRound, due: int, now: datetime) -> datetime | None:
    """When the marks that are *due* will have been given, at the pace of the newest ones."""
    marks = newest_marks(marking_round, list(SlotKind))
    saved_at = list(marks.values_list("created_at", flat=True)[:PACE_MARKS])
    return expected_finish(saved_at, due, now)


def monitoring_report(marking_round: MarkingRound, watched: WatchedRound) -> Report:
    """The teachers' figures as a report: the same as on the page, for a file."""
    params: dict[str, object] = {
        "dataset": marking_round.dataset.slug,
        "round": str(marking_round.public_id),
        "limits": {name: str(limit.value) for name, limit in watched.limits.items()},
    }
    rows = [
        ReportRow(
            {
                "round": marking_round.name,
                "teacher": teacher.name,
                "outside": " ".join(teacher.warnings),
            },
            teacher.figures,
        )
        for teacher in sorted(watched.teachers, key=lambda one: (one.name, one.key))
    ]
    return Report(EXPORT_FIGURES, params, rows)
