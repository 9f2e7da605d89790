"""What stands in a teacher's queue, and why it is empty when it is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db.models import Exists, Min, OuterRef, Q, QuerySet

from evaluations.marking.services.showing import EXTRA
from evaluations.models import HelpOffer, Mark, MarkingRound, MarkingSheet, Slot
from evaluations.models.vocabulary import CHECK_KINDS, RoundStatus, SlotKind
from gradeapp.accounts.models import User
from gradeapp.common.leases import SLOT

TWO = (SlotKind.FIRST.value, SlotKind.SECOND.value)


class EmptyReason(StrEnum):
    """Why a teacher gets nothing now."""

    ALL_DONE = "all_done"
    LEASED = "leased"
    ON_SHEET = "on_sheet"
    PAUSED = "paused"
    ROUND_PAUSED = "round_paused"


@dataclass(frozen=True, slots=True)
class EmptyQueue:
    """The reason; when the first held response comes back; what the lead said of a pause."""

    reason: EmptyReason
    until: datetime | None = None
    said: str = ""


def free_for(teacher: User | int, now: datetime) -> Q:
    """Slots that nobody holds, that *teacher* holds at the desk, or whose lease has ended.

    What *teacher* took away on a sheet is not at the desk until the sheet ends.
    """
    at_desk = Q(lease_until=None) | ~on_sheet(teacher, now)
    return SLOT.free(now) | (Q(holder=teacher) & at_desk)


def on_sheet(teacher: User | int, now: datetime) -> Q:
    """Of the slots that *teacher* holds, those on a sheet that has not ended."""
    sheets = MarkingSheet.objects.filter(teacher=teacher, held_until__gt=now)
    return Q(lease_until__in=sheets.values("held_until"))


def for_whom(teacher: User | int, now: datetime) -> Q:
    """Slots that may be given to *teacher* at all: a check to whom it was planned for.

    What others passed is lost to *teacher*, if it was planned for them or they were shown it.
    """
    planned = Q(planned=teacher, planned__isnull=False)
    shown = HelpOffer.objects.filter(answer=OuterRef("answer"), teacher=teacher)
    held = Q(holder=teacher, holder__isnull=False)
    lost = passed(now) & (planned | held | Q(Exists(shown)))
    return (planned | ~Q(kind__in=CHECK_KINDS)) & ~lost


def passed(now: datetime) -> Q:
    """Slots that are lost by now to whom they were planned for, as somebody passed them.

    Nobody has them at hand: who claims one before that keeps it, as with a response.
    """
    return going(now) & Q(passed_at__lte=now)


def going(now: datetime) -> Q:
    """Slots that somebody passed, for good or with what they have at hand or marked."""
    taken = Q(marked=True) | Q(lease_until__gt=now)
    with_it = Slot.objects.filter(taken, pk=OuterRef("passed_with"), holder=OuterRef("passed_by"))
    return Q(passed_at__isnull=False) & (Q(passed_by=None) | Q(Exists(with_it)))


def repeats_open(teacher: User | int) -> Q:
    """Whatever is no intra-rater check, and those whose first response *teacher* has marked.

    What they were shown comes again whatever becomes of its first, as any response does.
    """
    first = Slot.objects.filter(
        answer=OuterRef("answer__repeat_of"), holder=teacher, marked=True
    ).exclude(kind=SlotKind.ARBITRATION)
    return ~Q(kind=SlotKind.REPEAT) | was_shown(teacher) | Q(Exists(first))


def was_shown(teacher: User | int) -> Q:
    """Checks of *teacher* that they have or had at hand: marked, put aside or taken from them."""
    at_hand = Q(holder=teacher, holder__isnull=False)
    shown = HelpOffer.objects.filter(answer=OuterRef("answer"), teacher=teacher)
    return at_hand | Q(void_version__gt=0) | Q(Exists(shown))


def to_be_passed(
    teacher: User | int, marking_round: MarkingRound | int, now: datetime
) -> QuerySet[Slot]:
    """What others have left that *teacher*, who helps out, may be unable to take by what it is.

    Checks, and one mark more on a response: perhaps nobody needs it, or everybody else has a role
    there (``slots_open_to`` has the others). What helpers leave of a queue would be these: those
    that they come to are passed (``slots.pass_by``), and their teacher loses them as responses that
    others take.
    """
    at_hand_before = Q(holder__isnull=False) | Q(skipped_at__isnull=False)
    whose = Q(planned__isnull=False) | (EXTRA & at_hand_before)
    left = Slot.objects.filter(
        SLOT.free(now),
        Q(kind__in=CHECK_KINDS) | EXTRA,
        whose,
        answer__round=marking_round,
        answer__round__status=RoundStatus.OPEN,
        answer__round__pool__teacher=teacher,
        answer__round__pool__paused=False,
        marked=False,
    ).exclude(planned=teacher)
    return left.filter(~going(now)).exclude(holder=teacher)


def not_returned(teacher: User | int) -> Q:
    """Returned responses: not to who marked them, unless it was planned so; no needless third.

    A third mark is needed while its response has no final mark and both marks before it. Who gave
    it before, or has or had it at hand, and is asked for it again gets it in any case, and at once:
    a mark that does not come back, or later than the others, would be known as a third one.
    """
    own = Q(planned=teacher, planned__isnull=False) | Q(holder=teacher, holder__isnull=False)
    taken = Q(Exists(Mark.objects.filter(slot=OuterRef("pk"), teacher=teacher)), void_version__gt=0)
    lacking = Slot.objects.filter(answer=OuterRef("answer"), kind__in=TWO, marked=False)
    needless = Q(kind=SlotKind.THIRD) & (Q(answer__final__isnull=False) | Q(Exists(lacking)))
    return own | ~(taken | needless)


def never_shown(teacher: User | int) -> Q:
    """Extra marks: not to whom the response was shown while a planned mark of it was missing.

    They would know that the two marks before it differ. And nothing that is not theirs any more of
    what the teacher was shown as their own: a check that they lost does not come again, so what
    came again would be none. What they hold already, or the lead returned to them, stays theirs.
    """
    shown = HelpOffer.objects.filter(answer=OuterRef("answer"), teacher=teacher)
    known = EXTRA & Q(Exists(shown.filter(extra=False)))
    lost = Q(Exists(shown.filter(helping=False)))
    return (
        Q(holder=teacher, holder__isnull=False)
        | Q(planned=teacher, planned__isnull=False)
        | ~(known | lost)
    )


def put_aside(teacher: User | int) -> QuerySet[HelpOffer]:
    """Responses that *teacher* was given while helping out and has neither at hand nor marked."""
    own = Slot.objects.filter(answer=OuterRef("answer"), holder=teacher)
    marks = Mark.objects.filter(slot__answer=OuterRef("answer"), teacher=teacher)
    rows = HelpOffer.objects.filter(~Exists(own), ~Exists(marks), teacher=teacher, helping=True)
    return rows.order_by("at", "pk")


def slots_open_to(
    teacher: User | int, marking_round: MarkingRound | int | None = None, *, now: datetime
) -> QuerySet[Slot]:
    """Unmarked slots in open rounds of *teacher*, while neither is paused (``slots_left_to``)."""
    slots = slots_left_to(teacher, now=now).filter(
        answer__round__status=RoundStatus.OPEN,
        answer__round__pool__teacher=teacher,
        answer__round__pool__paused=False,
    )
    return slots.filter(answer__round=marking_round) if marking_round else slots


def slots_left_to(teacher: User | int, *, now: datetime) -> QuerySet[Slot]:
    """Unmarked slots for *teacher*, on responses where they have no other role, in any round.

    Whoever entered any version of the other mark of a response for its teacher has a role there
    too, and whoever marked a response keeps that role when the mark is returned for re-marking.
    """
    marked_before = Exists(Mark.objects.filter(slot=OuterRef("pk"), teacher=teacher))
    role = Q(holder=teacher) | Q(entered_by=teacher) | (Q(void_version__gt=0) & marked_before)
    own_role = Slot.objects.filter(role, answer=OuterRef("answer"))
    entered = Mark.objects.filter(slot__answer=OuterRef("answer"), entered_by=teacher)
    return Slot.objects.filter(
        ~Exists(own_role.exclude(pk=OuterRef("pk"))),
        ~Exists(entered.exclude(slot=OuterRef("pk"))),
        for_whom(teacher, now),
        repeats_open(teacher),
        not_returned(teacher),
        never_shown(teacher),
        marked=False,
    ).exclude(kind=SlotKind.ARBITRATION)


def has_work(teacher: User, marking_round: MarkingRound, now: datetime) -> bool:
    """Whether ``claim_next`` would give something now."""
    return slots_open_to(teacher, marking_round, now=now).filter(free_for(teacher, now)).exists()


def why_empty(teacher: User, marking_round: MarkingRound, now: datetime) -> EmptyQueue:
    """Why ``claim_next`` gave nothing.

    Whoever has marked all that was theirs is done, whether the others are or
    not: marks that are still to come would tell how far each of them is. What was theirs and others
    have at hand is nothing that they wait for: a check that others passed is gone at once, too.
    """
    if marking_round.status == RoundStatus.PAUSED:
        return EmptyQueue(EmptyReason.ROUND_PAUSED)
    paused = marking_round.pool.filter(teacher=teacher, paused=True).first()
    if paused is not None:
        return EmptyQueue(EmptyReason.PAUSED, said=paused.paused_reason)
    leased = slots_open_to(teacher, marking_round, now=now).filter(lease_until__gt=now)
    own = leased.filter(on_sheet(teacher, now), holder=teacher)
    if until := own.aggregate(first=Min("lease_until"))["first"]:
        return EmptyQueue(EmptyReason.ON_SHEET, until)
    elsewhere = leased.filter(Q(planned=None) | ~Q(planned=teacher)).exclude(holder=teacher)
    until = elsewhere.aggregate(first=Min("lease_until"))["first"]
    if until is not None:
        return EmptyQueue(EmptyReason.LEASED, until)
    return EmptyQueue(EmptyReason.ALL_DONE)
