"""What leads see of rounds: lists, progress, teachers, and every response with its marks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from math import ceil
from typing import Any
from uuid import UUID

from django.db.models import Case, Count, Exists, OuterRef, QuerySet, Value, When
from django.db.models import CharField as Text

from evaluations.marking.desk.selectors.desk import FEWEST_SECONDS, IDLE_SECONDS
from evaluations.marking.rounds.selectors.round_counts import (
    SlotGroup,
    newest_marks,
    number_of,
    slot_groups,
)
from evaluations.marking.rules.blinding import self_mention
from evaluations.marking.rules.tolerance import within
from evaluations.models import (
    BlindAnswer,
    FinalMark,
    LanguageModel,
    Mark,
    MarkingRound,
    Response,
    Slot,
)
from evaluations.models.vocabulary import CHECK_KINDS, LIVE, AnswerRole, RoundStatus, SlotKind
from gradeapp.accounts.markers import present_markers
from gradeapp.accounts.models import User
from gradeapp.accounts.names import names_apart
from gradeapp.common.named import Named
from questions.models import Task

TEACHERS = (SlotKind.FIRST.value, SlotKind.SECOND.value, SlotKind.THIRD.value)
RECENT_MARKS = 50


class AnswerState(Named):
    """Where a response of a round stands."""

    OPEN = "open", "Not marked yet", "未评"
    MARKED = "marked", "Waiting for another mark", "待另一评"
    THIRD = "third", "Waiting for a third mark", "待三评"
    ARBITRATION = "arbitration", "Waiting for the lead", "待仲裁"
    FINAL = "final", "Final", "已定分"
    LEFT = "left", "Closed without a final mark", "结束时未定分"


@dataclass(frozen=True, slots=True)
class RoundProgress:
    """Counts of a round; ``minutes_left`` is None until the teachers' pace is known."""

    responses: int
    final: int
    waiting: int
    marks: int
    marks_due: int
    minutes_left: int | None

    @property
    def not_final(self) -> int:
        """Responses without a final mark."""
        return self.responses - self.final

    @property
    def only_lead(self) -> bool:
        """Whether every mark of a teacher is given, and all that is left waits for the lead."""
        return self.marks == self.marks_due and self.waiting > 0


@dataclass(frozen=True, slots=True)
class CheckLoad:
    """Seed answers, or intra-rater checks, of one teacher."""

    planned: int = 0
    marked: int = 0


@dataclass(frozen=True, slots=True)
class TeacherLoad:
    """One teacher of the pool: first and second marks, planned and given; thirds, checks apart.

    ``absent`` are those who have lost the role or are deactivated: what is planned for them waits.
    """

    name: str
    planned: int
    marked: int
    thirds: int
    paused: bool
    left: bool
    absent: bool
    seeds: CheckLoad
    repeats: CheckLoad


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One response of a round for the lead: all marks, what they led to, no names.

    ``mentions`` are passages in which the response names its own model or maker.
    """

    public_id: UUID
    alias: str
    subject: str
    task: str
    question: str
    full: Decimal
    tolerance: Decimal
    first: Decimal | None
    second: Decimal | None
    third: Decimal | None
    arbitration: Decimal | None
    state: str
    final: Decimal | None
    rule: str
    flags: tuple[str, ...]
    mentions: tuple[str, ...]

    @property
    def difference(self) -> Decimal | None:
        """Between the first two marks."""
        if self.first is None or self.second is None:
            return None
        return abs(self.first - self.second)

    @property
    def beyond(self) -> bool:
        """Whether the first two marks differ by more than the tolerance."""
        if self.first is None or self.second is None:
            return False
        return not within(self.first, self.second, self.tolerance)


def round_list() -> QuerySet[Any]:
    """All rounds, newest first, with counts of responses, final ones and those for the lead.

    In a round that is closed nothing waits.
    """
    own = BlindAnswer.objects.filter(round=OuterRef("pk"), role=AnswerRole.ANSWER)
    waiting = Slot.objects.filter(kind=SlotKind.ARBITRATION, marked=False)
    return (
        MarkingRound.objects.select_related("dataset")
        .annotate(
            responses=number_of(own),
            final=number_of(own.filter(final__isnull=False)),
            waiting=number_of(
                waiting.filter(answer__round=OuterRef("pk"), answer__round__status__in=LIVE)
            ),
        )
        .order_by("-id")
    )


def round_called(public_id: UUID) -> MarkingRound | None:
    """The round with this public id."""
    return MarkingRound.objects.select_related("dataset").filter(public_id=public_id).first()


def marks_in(marking_round: MarkingRound, person: User) -> bool:
    """Whether *person* is a marker of the round."""
    return marking_round.pool.filter(teacher=person, left_at=None).exists()


def answers_by_state(marking_round: MarkingRound) -> QuerySet[Any]:
    """The responses of a round by alias, each with its ``state``; no seeds and no repeats.

    In a closed round nothing waits any more: what is not final was left.
    """
    answers = marking_round.answers.filter(role=AnswerRole.ANSWER)
    rows = answers.select_related("question__task").order_by("alias")
    if marking_round.status == RoundStatus.CLOSED:
        is_final = When(final__isnull=False, then=Value("final"))
        return rows.annotate(state=Case(is_final, default=Value("left"), output_field=Text()))
    return rows.annotate(state=_state())


def _state() -> Case:
    """Where a response of a round that is not closed stands."""
    slots = Slot.objects.filter(answer=OuterRef("pk"))
    unmarked = slots.filter(marked=False)
    return Case(
        When(final__isnull=False, then=Value("final")),
        When(Exists(unmarked.filter(kind=SlotKind.ARBITRATION)), then=Value("arbitration")),
        # A third mark that was returned with the two before it waits for them, not for a teacher.
        When(
            Exists(unmarked.filter(kind=SlotKind.THIRD))
            & ~Exists(unmarked.filter(kind__in=(SlotKind.FIRST, SlotKind.SECOND))),
            then=Value("third"),
        ),
        When(Exists(slots.filter(marked=True)), then=Value("marked")),
        default=Value("open"),
        output_field=Text(),
    )


def answers_in(marking_round: MarkingRound, state: str) -> QuerySet[Any]:
    """Those of ``answers_by_state`` that stand in *state*; where some wait, only they are read."""
    rows = answers_by_state(marking_round).filter(state=state)
    if state in (AnswerState.THIRD, AnswerState.ARBITRATION):
        waiting = Slot.objects.filter(kind=state, marked=False)
        return rows.filter(pk__in=waiting.order_by().values("answer"))
    return rows.filter(final__isnull=state != AnswerState.FINAL)


def state_counts(marking_round: MarkingRound) -> dict[str, int]:
    """How many responses stand in each state."""
    rows = answers_by_state(marking_round).order_by().values_list("state")
    counts = dict(rows.annotate(number=Count("pk")))
    return {state.value: counts.get(state.value, 0) for state in AnswerState}


def answer_rows(answers: Sequence[Any]) -> list[AnswerRow]:
    """The rows of one page of ``answers_by_state``, in four queries."""
    marks: dict[tuple[int, str], Mark] = {}
    counting = Mark.objects.counting().filter(slot__answer__in=[a.pk for a in answers])
    for mark in counting.select_related("slot").order_by("version"):
        marks[mark.slot.answer_id, mark.slot.kind] = mark
    finals = FinalMark.objects.in_bulk([a.final_id for a in answers if a.final_id])
    texts = dict(
        Response.objects.filter(pk__in=[a.response_id for a in answers]).values_list("pk", "text")
    )
    return [
        _row(answer, marks, finals.get(answer.final_id), texts[answer.response_id])
        for answer in answers
    ]


def _row(
    answer: Any, marks: dict[tuple[int, str], Mark], final: FinalMark | None, text: str
) -> AnswerRow:
    own = {kind: marks.get((answer.pk, kind.value)) for kind in SlotKind}
    totals = {kind: mark.total if mark else None for kind, mark in own.items()}
    flags = {flag for mark in own.values() if mark for flag in mark.flags}
    return AnswerRow(
        public_id=answer.public_id,
        alias=answer.alias,
        subject=answer.question.subject,
        task=answer.question.task.slug,
        question=answer.question.external_id,
        full=answer.full_marks,
        tolerance=answer.tolerance,
        first=totals[SlotKind.FIRST],
        second=totals[SlotKind.SECOND],
        third=totals[SlotKind.THIRD],
        arbitration=totals[SlotKind.ARBITRATION],
        state=answer.state,
        final=final.value if final else None,
        rule=final.rule if final else "",
        flags=tuple(sorted(flags)),
        mentions=tuple(dict.fromkeys(self_mention(text))),
    )


def round_progress(
    marking_round: MarkingRound,
    states: Mapping[str, int] | None = None,
    groups: Sequence[SlotGroup] | None = None,
) -> RoundProgress:
    """How far the whole round is, and when it may be done at the pace of the newest marks.

    *states* and *groups* are those of ``state_counts`` and ``slot_groups`` where they are known.
    """
    states = state_counts(marking_round) if states is None else states
    groups = slot_groups(marking_round) if groups is None else groups
    own = [group for group in groups if group.kind in TEACHERS]
    done = sum(group.number for group in own if group.marked)
    due = sum(group.number for group in own if not group.marked and not group.finalized)
    return RoundProgress(
        responses=sum(states.values()),
        final=states["final"],
        waiting=states["arbitration"],
        marks=done,
        marks_due=done + due,
        minutes_left=_minutes_left(marking_round, due),
    )


def _minutes_left(marking_round: MarkingRound, due: int) -> int | None:
    """Work that is left, shared by the teachers who marked lately."""
    recent = newest_marks(marking_round, TEACHERS).filter(seconds__gte=FEWEST_SECONDS)
    rows = list(recent.values_list("teacher", "seconds")[:RECENT_MARKS])
    seconds = sum(min(spent or 0, IDLE_SECONDS) for _, spent in rows)
    if not seconds:
        return None
    teachers = len({teacher for teacher, _ in rows})
    return ceil(due * seconds / len(rows) / teachers / 60)


def teacher_loads(
    marking_round: MarkingRound, groups: Sequence[SlotGroup] | None = None
) -> list[TeacherLoad]:
    """Everybody who marks in the round, with planned and given marks.

    Who helped others out has given more than was planned for them. *groups* are
    those of ``slot_groups`` where they are known.
    """
    groups = slot_groups(marking_round) if groups is None else groups
    given: dict[tuple[int | None, str], int] = defaultdict(int)
    planned: dict[int | None, int] = defaultdict(int)
    for group in groups:
        if group.marked:
            given[group.holder, group.kind] += group.number
        if group.kind in (SlotKind.FIRST, SlotKind.SECOND):
            planned[group.planned] += group.number
    marked = {holder for holder, kind in given if kind in TEACHERS}
    pool = {seat.teacher_id: seat for seat in marking_round.pool.all()}
    checks = _checks(groups)
    people = User.objects.filter(pk__in={*pool, *marked}).order_by("display_name", "username")
    names = names_apart(people)
    present = set(present_markers().filter(pk__in={*pool, *marked}).values_list("pk", flat=True))
    return [
        TeacherLoad(
            name=names[person.pk],
            planned=planned[person.pk],
            marked=given[person.pk, SlotKind.FIRST] + given[person.pk, SlotKind.SECOND],
            thirds=given[person.pk, SlotKind.THIRD],
            paused=person.pk in pool and pool[person.pk].paused,
            left=person.pk in pool and pool[person.pk].left_at is not None,
            absent=person.pk not in present,
            seeds=checks[person.pk, SlotKind.SEED],
            repeats=checks[person.pk, SlotKind.REPEAT],
        )
        for person in people
    ]


def _checks(groups: Sequence[SlotGroup]) -> defaultdict[tuple[int | None, str], CheckLoad]:
    """How many seed answers and repeats each teacher has, and has marked."""
    found: defaultdict[tuple[int | None, str], CheckLoad] = defaultdict(CheckLoad)
    for group in groups:
        if group.kind in CHECK_KINDS:
            before = found[group.planned, group.kind]
            marked = before.marked + (group.number if group.marked else 0)
            found[group.planned, group.kind] = CheckLoad(before.planned + group.number, marked)
    return found


def models_in(marking_round: MarkingRound) -> list[str]:
    """The models whose responses are marked; for the lead alone."""
    keys = _models(marking_round.pk, marking_round.created_at, marking_round.status)
    names = LanguageModel.objects.filter(pk__in=keys).order_by("name")
    return list(names.values_list("name", flat=True))


@lru_cache(maxsize=200)
def _models(marking_round: int, created_at: datetime, status: str) -> tuple[int, ...]:
    """The models of a round, whose responses are fixed but for the seeds that its start frees."""
    own = Response.objects.filter(
        blind_answers__round=marking_round,
        blind_answers__round__created_at=created_at,
        blind_answers__role=AnswerRole.ANSWER,
    )
    return tuple(own.order_by().values_list("run__language_model", flat=True).distinct())


def own_tolerances(marking_round: MarkingRound) -> list[tuple[str, Decimal]]:
    """The tasks with a tolerance of their own in the round, by slug, in points."""
    own = marking_round.task_tolerances
    slugs = dict(Task.objects.filter(pk__in=list(own)).values_list("pk", "slug"))
    return sorted((slugs[int(key)], Decimal(points)) for key, points in own.items())
