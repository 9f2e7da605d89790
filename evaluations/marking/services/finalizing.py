"""What the marks of a response lead to: a final mark, a third mark, or the lead."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from itertools import takewhile

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, prefetch_related_objects

from evaluations.facts.answer_facts import record_finals
from evaluations.marking.rules.arbitration import (
    Finalized,
    NeedsArbitration,
    NeedsMark,
    next_step,
)
from evaluations.marking.rules.tolerance import compared
from evaluations.marking.services.due import PLANNED, due_answers, lost
from evaluations.marking.services.holding import hold_rounds
from evaluations.marking.services.judge_checks import ask_one_more
from evaluations.marking.services.showing import EXTRA
from evaluations.models import (
    BlindAnswer,
    FinalMark,
    FinalMarkSource,
    HelpOffer,
    Mark,
    MarkingRound,
    RoundTeacher,
    Slot,
)
from evaluations.models.vocabulary import CHECK_KINDS, LIVE, RoundStatus, SlotKind
from evaluations.schemes import FinalRule, Scheme
from gradeapp.accounts.markers import present_markers
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.leases import SLOT
from gradeapp.common.locking import locked
from questions.selectors.rubrics import frozen

logger = logging.getLogger(__name__)

TEACHERS = (SlotKind.FIRST, SlotKind.SECOND, SlotKind.THIRD)
# Which marks a final mark was made from, by the rule that made it.
MADE_FROM: Mapping[FinalRule, tuple[SlotKind, ...]] = {
    FinalRule.SINGLE: (SlotKind.FIRST,),
    FinalRule.MEAN_OF_TWO: (SlotKind.FIRST, SlotKind.SECOND),
    FinalRule.CLOSEST_1_3: (SlotKind.FIRST, SlotKind.THIRD),
    FinalRule.CLOSEST_2_3: (SlotKind.SECOND, SlotKind.THIRD),
    FinalRule.THIRD_MIDWAY: TEACHERS,
    FinalRule.ARBITRATION: (SlotKind.ARBITRATION,),
    FinalRule.REFERENCE: (),
}


@dataclass(frozen=True, slots=True)
class Step:
    """What finalizing did; for services and tests, never for a marker's page."""

    final: FinalMark | None = None
    opened: Slot | None = None


def lock(answer_id: int) -> BlindAnswer:
    """The blind answer, held against everybody else until the transaction ends, and its round kept.

    PostgreSQL locks the row; SQLite lets only one transaction write at a time.
    """
    hold_rounds([answer_id])
    return locked(BlindAnswer.objects.select_related("round").filter(pk=answer_id)).get()


def newest_marks(answer: BlindAnswer) -> dict[SlotKind, Mark]:
    """The version that counts of every mark of the response, by the kind of its slot.

    Marks that only watch a teacher are left out: a seed answer has one of each.
    """
    counting = Mark.objects.counting().filter(slot__answer=answer).select_related("slot")
    kept = [mark for mark in counting.order_by("version") if mark.slot.kind not in CHECK_KINDS]
    return {SlotKind(mark.slot.kind): mark for mark in kept}


def finalize(answer: BlindAnswer, *, now: datetime) -> Step:
    """Take the step that the marks of a locked *answer* lead to under its scheme.

    Nothing is decided while one of the marks can still be revised by its teacher:
    a decision before that would tell one teacher of the other's mark. That of the lead, which
    rests on none of them, counts at once. A third slot
    or an arbitration that marks given again no longer need is withdrawn, unless a
    teacher has the third one at hand: then their mark is awaited, so that nothing
    disappears under their hands. Where all judges are far from what the marks come to and the
    round asks for that, one more teacher is asked first, and awaited until the round is closed; no
    judge's mark enters a final one.
    """
    if answer.final_id is not None:
        return Step()
    marks, slots = newest_marks(answer), list(answer.slots.order_by("pk"))
    lead = marks.get(SlotKind.ARBITRATION)
    windows = [slot.revisable_until for slot in slots if slot.revisable_until is not None]
    if lead is None and answer.round.window_minutes and any(window > now for window in windows):
        return Step()
    # A mark that was returned for re-marking leaves a gap: what stands behind it waits for it.
    decided = [marks[kind] for kind in takewhile(marks.__contains__, TEACHERS)]
    scheme = Scheme(answer.round.scheme)
    follow = partial(
        next_step,
        scheme,
        [mark.total for mark in decided],
        answer.tolerance,
        lead.total if lead else None,
        points=_compared(answer, decided),
        point_tolerance=answer.round.point_tolerance,
    )
    closed = answer.round.status == RoundStatus.CLOSED
    given = len(decided) > scheme.planned_marks
    step = follow(one_more=answer.one_more_for_id is not None and (given or not closed))
    if isinstance(step, Finalized) and ask_one_more(answer, step, slots):
        step = follow(one_more=True)
    match step:
        case Finalized() as finalized:
            planned = TEACHERS[: scheme.planned_marks]
            waiting = [one for one in slots if one.kind not in planned and not one.marked]
            if lead is None and not closed and any(_further_at_hand(one, now) for one in waiting):
                return Step()
            _withdraw(waiting)
            return Step(final=_write_final(answer, finalized, marks))
        case NeedsArbitration():
            return Step(opened=_open(answer, SlotKind.ARBITRATION))
        case NeedsMark(slot=number) if number > scheme.planned_marks:
            kind = TEACHERS[number - 1]
            opened = [slot for slot in slots if slot.kind == kind]
            waits = any(_waits_for_its_teacher(answer, slot, now) for slot in opened)
            if not waits and _all_were_shown(answer, slots, now):
                _withdraw(opened)
                kind = SlotKind.ARBITRATION
            return Step(opened=_open(answer, kind))
    return Step()


def finalize_due(marking_round: MarkingRound, *, now: datetime) -> int:
    """Finalize the responses of *marking_round* whose marks can no longer be revised; how many.

    The one place that does so: called by the worker's clock, by every page of the
    lead, before an export, and when a round is closed. A response that cannot be finalized stops
    no other.
    """
    ask_the_lead(marking_round, now=now)
    done = 0
    for key in due_answers(now).filter(round=marking_round).values_list("pk", flat=True):
        with _locked_alone(key) as answer:
            done += finalize(answer, now=now).final is not None
    return done


@contextmanager
def _locked_alone(key: int) -> Iterator[BlindAnswer]:
    """A locked response for one step: what fails is undone and logged, and others go on.

    A fault of the database (a lock, a lost connection) is raised: it is none of the response.
    """
    try:
        with transaction.atomic():
            yield lock(key)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        logger.exception("the blind answer %s cannot be finalized", key)


def finalize_all_due(now: datetime) -> None:
    """Do the same for every round that is open or paused.

    In a closed round too what a killed process, or an earlier version, left without a final mark.
    """
    live = MarkingRound.objects.filter(status__in=LIVE)
    due = due_answers(now).filter(round=OuterRef("pk"))
    gone = RoundTeacher.objects.filter(_gone(), round=OuterRef("pk"))
    for marking_round in live.filter(Exists(due) | Exists(gone)).order_by("pk"):
        finalize_due(marking_round, now=now)
    left_over = due_answers(now).filter(round__status=RoundStatus.CLOSED)
    for key in left_over.values_list("pk", flat=True):
        with _locked_alone(key) as answer:
            finalize(answer, now=now)


def ask_the_lead(marking_round: MarkingRound, *, now: datetime) -> None:
    """Open a decision where nobody is left for a mark that nobody has begun.

    Who could give it has left the round: a third mark where all others were shown the response, a
    planned one where all others have a role on it or lost it. A third mark waits for nobody who
    may not mark any more; for a planned one that teacher has to be taken out of the round. Where
    somebody can give the planned one again, as a teacher was added, the decision is withdrawn,
    unless a lead has it at hand.
    """
    if not marking_round.pool.filter(_gone()).exists():
        return
    left = marking_round.pool.filter(left_at__isnull=False).values("teacher")
    gone = marking_round.pool.filter(_gone()).values("teacher")
    not_final = Slot.objects.filter(
        answer__round=marking_round, answer__final=None, marked=False
    ).order_by("answer")
    open_slots = not_final.filter(
        Q(planned=None) | Q(planned__in=left),
        Q(holder=None) | Q(holder__in=left),  # a claim may have met the leaving
    )
    revisable = Slot.objects.filter(answer=OuterRef("answer"), revisable_until__gt=now)
    thirds = not_final.filter(
        Q(planned=None) | Q(planned__in=gone),
        Q(holder=None) | Q(holder__in=gone),
        ~_somebody_for_it(extra=False),
        kind=SlotKind.THIRD,
    )
    for key in thirds.values_list("answer", flat=True):
        with _locked_alone(key) as answer:
            finalize(answer, now=now)
    lacking = open_slots.filter(~_somebody_for_it(helping=False), kind__in=PLANNED)
    same = Q(answer=OuterRef("answer"))
    unneeded = not_final.filter(
        SLOT.free(now),
        Exists(not_final.filter(~EXTRA, same, kind__in=PLANNED)),
        ~Exists(lacking.filter(same)),
        kind=SlotKind.ARBITRATION,
    )
    for key in unneeded.values_list("answer", flat=True):
        with _locked_alone(key):
            _withdraw(unneeded.filter(answer=key))
    stuck = lacking.filter(~Exists(revisable))
    for key in stuck.values_list("answer", flat=True).distinct():
        with _locked_alone(key) as answer:
            if answer.final_id is None and stuck.filter(answer=key).exists():
                _open(answer, SlotKind.ARBITRATION)


def _somebody_for_it(**offers: bool) -> Exists:
    """Of slots: whether a teacher of the round can give the mark.

    They neither have nor entered a mark of the response, nor had one of *offers* of it.
    """
    person, answer = OuterRef("teacher"), OuterRef(OuterRef("answer"))
    held = Slot.objects.filter(Q(holder=person) | Q(entered_by=person), answer=answer)
    given = Mark.objects.filter(Q(teacher=person) | Q(entered_by=person), slot__answer=answer)
    shown = HelpOffer.objects.filter(teacher=person, answer=answer, **offers)
    pool = RoundTeacher.objects.filter(round=OuterRef("answer__round")).exclude(_gone())
    return Exists(pool.filter(~Exists(held), ~Exists(given), ~Exists(shown)))


def _gone() -> Q:
    """Teachers of a round who give no mark in it any more: who left it or may not mark."""
    return Q(left_at__isnull=False) | ~Q(teacher__in=present_markers())


def close_windows(slots: QuerySet[Slot], *, now: datetime) -> int:
    """End the time in which the marks of *slots* can be revised; how many had not ended yet."""
    return slots.filter(revisable_until__gt=now).update(revisable_until=now)


def _compared(answer: BlindAnswer, marks: Sequence[Mark]) -> list[tuple[Decimal, ...]]:
    """What the *marks* are compared on point by point, where the round asks for that."""
    if answer.round.point_tolerance is None or answer.rubric is None:
        return []
    rubric = frozen(answer.rubric).lines
    prefetch_related_objects(marks, "points")
    given = [
        [point.points for point in mark.points.all()] if mark.rubric_id == answer.rubric_id else []
        for mark in marks
    ]
    # An imported mark may be a total without points: then its total alone is compared.
    return [
        compared(points, rubric) if len(points) == len(rubric.points) else () for points in given
    ]


def _write_final(
    answer: BlindAnswer, finalized: Finalized, marks: Mapping[SlotKind, Mark]
) -> FinalMark:
    final = FinalMark.objects.create(
        answer=answer,
        number=answer.finals.count() + 1,
        value=finalized.value,
        full=answer.full_marks,
        rule=finalized.rule,
    )
    FinalMarkSource.objects.bulk_create(
        FinalMarkSource(final=final, mark=marks[kind], place=place)
        for place, kind in enumerate(MADE_FROM[finalized.rule], start=1)
    )
    answer.final = final
    BlindAnswer.objects.filter(pk=answer.pk).update(final=final)
    record_finals([answer.response_id])
    record(Tag.MARK_FINALIZED, final, actor=None, rule=final.rule, value=str(final.value))
    return final


def _open(answer: BlindAnswer, kind: SlotKind) -> Slot | None:
    """The slot of *kind*, if it had to be opened now: made, or opened again after returning."""
    slot, made = Slot.objects.get_or_create(answer=answer, kind=kind)
    if not made and slot.marked:
        slot.marked, slot.holder, slot.lease_until = False, None, None
        slot.save(update_fields=["marked", "holder", "lease_until"])
        return slot
    return slot if made else None


def _waits_for_its_teacher(answer: BlindAnswer, slot: Slot, now: datetime) -> bool:
    """Whether somebody has the slot at hand, or is in the round for whom it is planned.

    Not what they lost to others who passed it and have marked since.
    """
    there = answer.round.pool.exclude(_gone())
    if slot.holder_id is not None:
        return there.filter(teacher=slot.holder_id).exists()
    if slot.planned_id is None:
        return False
    planned = there.filter(teacher=slot.planned_id)
    return planned.exists() and not Slot.objects.filter(lost(now), pk=slot.pk).exists()


def _all_were_shown(answer: BlindAnswer, slots: Sequence[Slot], now: datetime) -> bool:
    """Whether no teacher is left for one more mark who would not know that it is one.

    They were shown the response while a planned mark of it was missing (``HelpOffer``), lost it to
    others who passed it, or have all marked it or entered a mark of it.
    """
    marks = Mark.objects.filter(slot__answer=answer).values_list("teacher", "entered_by")
    roles = {slot.holder_id for slot in slots} | {slot.entered_by_id for slot in slots}
    roles |= {person for pair in marks for person in pair}
    pool = answer.round.pool.exclude(_gone())
    left = set(pool.values_list("teacher", flat=True)) - roles
    shown = HelpOffer.objects.filter(answer=answer, teacher__in=left)
    if not answer.slots.filter(lost(now), marked=False).exists():
        shown = shown.filter(extra=False)
    return shown.count() == len(left)


def _withdraw(waiting: Iterable[Slot]) -> None:
    """Delete slots that nobody has to mark any more, unless a teacher waits for them.

    A third slot with returned marks, planned for who had it at hand or held by who let its lease
    end stays open then, and the queue of others passes over it; a decision is put back with the
    lead who made it, and deleted where a lead has only opened the case.
    """
    for slot in waiting:
        decision = slot.kind == SlotKind.ARBITRATION
        if slot.void_version:
            if decision:
                leave_with_lead(slot)
        elif decision or (slot.planned_id is None and slot.holder_id is None):
            slot.delete()


def leave_with_lead(slot: Slot) -> None:
    """Leave a decision that was returned for re-marking with its lead: nobody waits for it."""
    newest = slot.marks.filter(stale=False).latest("version")
    slot.marked, slot.holder_id, slot.lease_until = True, newest.teacher_id, None
    slot.save(update_fields=["marked", "holder", "lease_until"])


def _further_at_hand(slot: Slot, now: datetime) -> bool:
    held = slot.holder_id is not None and slot.lease_until is not None and slot.lease_until > now
    return held and slot.kind in TEACHERS
