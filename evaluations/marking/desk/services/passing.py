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
from evaluations.marking.services.reopening import NOT_PASSED, lock_answers
from evaluations.marking.services.showing import note_shown
from evaluations.models import Mark, MarkingRound, PartnerPassed, Slot
from evaluations.models.vocabulary import RoundStatus
from gradeapp.accounts.models import User
from gradeapp.common.leases import SLOT

OPEN = Q(status=RoundStatus.OPEN)
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
    and for good: what vanishes or comes back together with it would be known. Who claims it before
    that keeps it, and the next one who helps comes to it anew once it is let go. What is passed
    with many goes and comes back with them.
    """
    passing = {one.slot: one.to_pass for one in slots}
    free = Slot.objects.filter(SLOT.free(now), ~going(now), marked=False)
    open_rounds = MarkingRound.objects.filter(OPEN, answers=OuterRef("answer_id"))
    rows = free.filter(Exists(open_rounds), pk__in=passing).select_related("answer__round")
    with_it: dict[int, int | None] = {}
    pace: dict[int, float] = {}
    for slot in sorted(rows, key=lambda row: list(passing).index(row.pk)):
        round_id, question = slot.answer.round_id, slot.answer.question_id
        if question not in with_it:
            with_it[question] = _went_with(slot, helper, taken, now)
            pace.setdefault(round_id, _seconds(helper, round_id))
        went = with_it[question]
        if went is None:
            continue
        if passing[slot.pk] is Half.PARTNER:
            PartnerPassed.objects.update_or_create(
                slot=slot, helper=helper, defaults={"passed_with_id": went}
            )
            continue
        at = now if many else now + _later(slot, helper, pace[round_id], now)
        by = helper if many else None
        same = free.filter(pk=slot.pk)
        same.update(passed_at=at, passed_with=went, passed_by=by)


def _seconds(teacher: User, marking_round: int) -> float:
    """How long *teacher* takes for one response of the round."""
    marks = recent_marks(teacher.pk, marking_round, RECENT)
    times = [seconds for seconds, _at in marks if seconds]
    return median(times) if len(times) >= LEAST_MARKS else USUAL_SECONDS


def _later(slot: Slot, teacher: User, pace: float, now: datetime) -> timedelta:
    """How long after *now* a slot is lost: a drawn part of the seconds of *teacher* for one."""
    drawn = lot(slot.answer.round.lots_seed, teacher.pk, "later", slot.pk, now.isoformat())
    part = SOONEST + (1 - SOONEST) * int.from_bytes(drawn[:8], "big") / 2**64
    longest = timedelta(minutes=slot.answer.round.lease_minutes) / 2
    return min(longest, timedelta(seconds=pace * part))


def lose_passed(*, now: datetime) -> None:
    """Free what is lost by now to its teacher, as ``passed`` says; the worker's clock does it.

    It has no holder then and stands at its place in the queue, as what others took and gave back.
    What came back with a sheet that has ended does not go with its responses again.
    """
    rows = Slot.objects.filter(passed_at__isnull=False, marked=False)
    rows.filter(~going(now), passed_by__isnull=False).update(**NOT_PASSED)
    rows = rows.select_related("answer__round")
    something = Q(holder__isnull=False) | Q(skipped_at__isnull=False)
    lost = Slot.objects.filter(something, passed(now), marked=False)
    for slot in rows.filter(something, passed(now)):
        with transaction.atomic():
            lock_answers([slot.answer_id])  # first, as a save does
            same = lost.filter(pk=slot.pk, holder=slot.holder_id)
            if same.update(**SLOT.released(), skipped_at=None) and slot.holder_id:
                note_shown([(slot, slot.holder_id)], now)


def keep_what_waits(
    marking_round: MarkingRound, helper: User | None = None, *, now: datetime
) -> None:
    """Leave what is not lost yet with its teacher when the round, or *helper* alone, pauses.

    They take nothing any more, so nothing goes as if they did.
    """
    slots = Slot.objects.filter(answer__round=marking_round, passed_by=None, marked=False)
    if helper is not None:
        slots = slots.filter(passed_with__holder=helper)
    slots.filter(passed_at__gt=now).update(**NOT_PASSED)


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
