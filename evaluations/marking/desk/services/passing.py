"""What helpers come to and cannot take: it leaves queues as what they take does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from statistics import median

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from evaluations.marking.desk.selectors.queue import going, passed
from evaluations.marking.desk.services.slot_order import Claimable, Half, lot
from evaluations.marking.desk.sql import recent_marks
from evaluations.marking.services.reopening import lock_answers
from evaluations.marking.services.showing import note_shown
from evaluations.models import Mark, MarkingRound, PartnerPassed, Slot
from evaluations.models.vocabulary import RoundStatus
from gradeapp.accounts.models import User
from gradeapp.common.leases import SLOT

OPEN = Q(status=RoundStatus.OPEN)
NOT_PASSED = dict.fromkeys(("passed_at", "passed_with", "passed_by"))
# Of a helper who has marked less, nobody knows how fast they are.
RECENT, LEAST_MARKS = 20, 3
USUAL_SECONDS = 120.0
# The part of the time for one response after which something passed is lost.
SOONEST = 0.2


def pass_by(
    slots: Sequence[Claimable], helper: User, taken: int | None, *, many: bool, now: datetime
) -> None:
    """Take what only others can get from them, each by one conditional update.

    *slots* are checks, or one mark more that *helper* cannot give or nobody needs, which *helper*
    came to before the slot that they have *taken*, one of *many* at once or alone. Where nothing
    was left to take, what they have at hand in the round or marked last there stands for it; who
    has neither passes nothing. Of a check that would be the partner's mark is noted that *helper*
    does not come to it again.

    What is passed with one response is lost a part of the time later that *helper* needs for one,
    and for good: what vanishes or comes back together with it would be known. What is passed with
    many goes and comes back with them.
    """
    for one in slots:
        free = Slot.objects.filter(SLOT.free(now), ~going(now), pk=one.slot, marked=False)
        free = free.filter(Exists(MarkingRound.objects.filter(OPEN, answers=OuterRef("answer_id"))))
        before = free.select_related("answer__round").first()
        if before is None:
            continue
        with_it = _went_with(before, helper, taken, now)
        if with_it is None:
            continue
        if one.to_pass is Half.PARTNER:
            PartnerPassed.objects.update_or_create(
                slot=before, helper=helper, defaults={"passed_with": Slot(pk=with_it)}
            )
            continue
        at = now if many else now + _later(before, helper, with_it)
        by = helper if many else None
        free.update(passed_at=at, passed_with=with_it, passed_by=by)


def _later(slot: Slot, helper: User, with_it: int) -> timedelta:
    """How long after the click a slot is lost: a drawn part of the time of *helper* for one."""
    marks = recent_marks(helper.pk, slot.answer.round_id, RECENT)
    times = [seconds for seconds, _at in marks if seconds]
    usual = median(times) if len(times) >= LEAST_MARKS else USUAL_SECONDS
    drawn = lot(slot.answer.round.lots_seed, helper.pk, "later", slot.pk, with_it)
    part = SOONEST + (1 - SOONEST) * int.from_bytes(drawn[:8], "big") / 2**64
    longest = timedelta(minutes=slot.answer.round.lease_minutes) / 2
    return min(longest, timedelta(seconds=usual * part))


def lose_passed(teacher: User | None = None, *, now: datetime) -> None:
    """Take from *teacher*, or from all, what others passed, before they see or ask for anything.

    It has no holder then and stands at its place in the queue, as what others took and gave back.
    """
    something = Q(holder__isnull=False) | Q(skipped_at__isnull=False)
    lost = Slot.objects.filter(something, passed(now), marked=False)
    if teacher is not None:
        lost = lost.filter(Q(planned=teacher) | Q(holder=teacher))
    for slot in lost.select_related("answer__round"):
        with transaction.atomic():
            lock_answers([slot.answer_id])  # first, as a save does
            same = lost.filter(pk=slot.pk, holder=slot.holder_id)
            if same.update(**SLOT.released(), skipped_at=None) and slot.holder_id:
                note_shown([(slot, slot.holder_id)], now)


def bring_back(taken: int, helper: int, *, now: datetime, **fields: datetime) -> None:
    """Give back what *helper* passed with the slot *taken*, which is back itself.

    What was passed with it alone stays lost, unless it is not lost yet.
    """
    with_it = Slot.objects.filter(passed_with=taken, marked=False)
    with_it.filter(passed_by=None, passed_at__gt=now).update(**NOT_PASSED)
    back = with_it.filter(passed_by=helper)
    back.filter(SLOT.free(now)).update(**NOT_PASSED, **SLOT.released(), **fields)
    back.update(**NOT_PASSED)
    PartnerPassed.objects.filter(passed_with=taken, helper=helper).delete()


def _went_with(slot: Slot, helper: User, taken: int | None, now: datetime) -> int | None:
    """The slot that *slot* is passed with: one of the same question, if there is any.

    Marks are returned and rubrics change by question, and what was passed goes with them.
    """
    of_question = Slot.objects.filter(answer__question=slot.answer.question_id)
    if taken is not None and of_question.filter(pk=taken).exists():
        return taken
    own = Slot.objects.filter(answer__round=slot.answer.round_id)
    return (
        _had_last(own.filter(answer__question=slot.answer.question_id), helper, now)
        or taken
        or _had_last(own, helper, now)
    )


def _had_last(slots: QuerySet[Slot], teacher: User, now: datetime) -> int | None:
    """Which of *slots* the teacher has at hand of others, or else marked last."""
    own = slots.filter(holder=teacher)
    at_hand = own.filter(~Q(planned=teacher) | Q(planned=None), lease_until__gt=now, marked=False)
    marks = Mark.objects.filter(teacher=teacher, slot__in=own.filter(marked=True)).order_by("-id")
    return (
        at_hand.order_by("pk").values_list("pk", flat=True).first()
        or marks.values_list("slot", flat=True).first()
    )
