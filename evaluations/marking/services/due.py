"""Which responses can be finalized, found by one query."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Abs, Round

from evaluations.models import BlindAnswer, Mark, RoundTeacher, Slot
from evaluations.models.vocabulary import AnswerRole, RoundStatus, SlotKind
from evaluations.schemes import Scheme

PLANNED = (SlotKind.FIRST.value, SlotKind.SECOND.value)


def due_answers(now: datetime) -> QuerySet[BlindAnswer]:
    """Responses without a final mark that have all planned marks, none of them revisable.

    Those that wait for a third mark or for the lead are left out, but not where a teacher who had
    the third one at hand gave it back, and a mark before it was given again meanwhile: the third
    mark may no longer be needed. Nor where teachers have passed it: perhaps the lead has to decide.
    Nor where the lead was asked as nobody was left for a planned mark, and marks agree now, or
    where the round was closed while one mark more than planned was awaited.
    """
    slots = Slot.objects.filter(answer=OuterRef("pk"))
    waiting = Q(kind__in=PLANNED) | Q(void_version=0, planned=None)
    put_back = Q(skipped_at__isnull=False) | Q(lease_until__lte=now) | Q(passed_at__isnull=False)
    again = Slot.objects.filter(answer=OuterRef("answer"), kind__in=PLANNED, void_version__gt=0)
    unneeded = Q(put_back, Exists(again), kind=SlotKind.THIRD) | lost(now)
    unneeded |= Q(Exists(_agreeing().filter(pk=OuterRef("answer"))), kind=SlotKind.ARBITRATION)
    unneeded |= one_more() & Q(answer__round__status=RoundStatus.CLOSED)
    return BlindAnswer.objects.filter(
        Exists(slots.filter(marked=True)),
        ~Exists(slots.filter(waiting, ~unneeded, marked=False)),
        ~Exists(slots.filter(revisable_until__gt=now)),
        role=AnswerRole.ANSWER,
        final=None,
    ).order_by("pk")


def one_more() -> Q:
    """Slots of the first mark that a response needs only as judges were far off."""
    single = Q(answer__round__scheme=Scheme.SINGLE)
    after = (single & Q(kind=SlotKind.SECOND)) | (~single & Q(kind=SlotKind.THIRD))
    return Q(answer__one_more_for__isnull=False) & after


def _agreeing() -> QuerySet[BlindAnswer]:
    """Responses whose marks agree in their totals, in rounds that a teacher has left.

    Elsewhere no lead is asked while a planned mark is missing. ``finalize`` decides.
    """
    left = RoundTeacher.objects.filter(round=OuterRef("round"), left_at__isnull=False)
    counting = Mark.objects.counting().filter(slot__answer=OuterRef("pk")).order_by("-version")
    first, second = (
        Subquery(counting.filter(slot__kind=kind).values("total")[:1]) for kind in PLANNED
    )
    apart = Round(Abs(F("first") - F("second")), precision=2)  # SQLite subtracts floats
    close = Q(second=None) | Q(apart__lte=F("tolerance")) | Q(round__scheme=Scheme.MEAN)
    return BlindAnswer.objects.alias(first=first, second=second, apart=apart).filter(
        close, Exists(left)
    )


def lost(now: datetime) -> Q:
    """Slots that their teacher has lost for good, alone or to who marked what they took then."""
    with_it = Q(passed_with__marked=True, passed_with__holder=F("passed_by"))
    return Q(holder=None) & (Q(passed_by=None, passed_at__lte=now) | with_it)
