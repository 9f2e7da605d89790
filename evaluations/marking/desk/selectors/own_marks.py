"""What a teacher has given so far: own marks and own counts, nothing of the others.

Nothing here may look at another slot, mark, judgement or final mark, nor at
what a slot is for: a seed answer and an intra-rater check are listed as any response.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, QuerySet

from evaluations.marking.desk.selectors.desk import open_rounds
from evaluations.models import Mark, MarkingRound, Slot
from evaluations.models.vocabulary import RoundStatus, SlotKind
from gradeapp.accounts.models import User


@dataclass(frozen=True, slots=True)
class OwnMarkRow:
    """One own mark as it counts now; ``readable`` while its response can be looked at.

    ``entered_by`` is the name of who entered it for the teacher, "" where that was the teacher.
    """

    public_id: UUID
    alias: str
    round: str
    asked: str
    language: str
    total: Decimal
    full: Decimal
    comment: str
    flags: tuple[str, ...]
    saved_at: datetime
    readable: bool
    entered_by: str


@dataclass(frozen=True, slots=True)
class OwnRoundCount:
    """A round that the teacher marked in, and how many marks they gave there."""

    public_id: str
    name: str
    marked: int


def marks_of(teacher: User, marking_round: MarkingRound | None = None) -> QuerySet[Mark]:
    """The newest version of each mark of *teacher* that counts, newest first.

    Of one round where it is named. Marks returned for re-marking do not count and are left out.
    """
    newer = Mark.objects.filter(slot=OuterRef("slot"), stale=False, version__gt=OuterRef("version"))
    marks = Mark.objects.counting().filter(
        ~Exists(newer), teacher=teacher, slot__holder=teacher, slot__marked=True
    )
    marks = marks.exclude(slot__kind=SlotKind.ARBITRATION)
    if marking_round is not None:
        marks = marks.filter(slot__answer__round=marking_round)
    return marks.order_by("-id")


def own_mark_rows(marks: QuerySet[Mark], teacher: User) -> list[OwnMarkRow]:
    """The rows of one page of ``marks_of`` *teacher*, in two queries."""
    rounds = set(open_rounds(teacher).values_list("pk", flat=True))
    shown = marks.select_related("slot__answer__round", "slot__answer__revision", "entered_by")
    return [_row(mark, readable=mark.slot.answer.round_id in rounds) for mark in shown]


def _row(mark: Mark, *, readable: bool) -> OwnMarkRow:
    answer = mark.slot.answer
    return OwnMarkRow(
        public_id=answer.public_id,
        alias=answer.alias,
        round=answer.round.name,
        asked=answer.revision.stem or answer.revision.asked,
        language=answer.revision.language,
        total=mark.total,
        full=mark.full,
        comment=mark.comment,
        flags=tuple(mark.flags),
        saved_at=mark.created_at,
        readable=readable,
        entered_by=str(mark.entered_by) if mark.entered_by else "",
    )


def rounds_marked(teacher: User) -> list[OwnRoundCount]:
    """Every round in which marks of *teacher* count, newest first."""
    counts = _counts(teacher)
    rounds = MarkingRound.objects.filter(pk__in=counts).order_by("-id")
    return [OwnRoundCount(str(one.public_id), one.name, counts[one.pk]) for one in rounds]


def finished_rounds(teacher: User) -> list[OwnRoundCount]:
    """Return the closed rounds of *teacher*, newest first, also those in which they gave no mark.

    A plan that was discarded before its start has no slots and is left out.
    """
    counts = _counts(teacher)
    closed = MarkingRound.objects.filter(
        Exists(Slot.objects.filter(answer__round=OuterRef("pk"))),
        status=RoundStatus.CLOSED,
        pool__teacher=teacher,
    )
    return [
        OwnRoundCount(str(one.public_id), one.name, counts.get(one.pk, 0))
        for one in closed.order_by("-id")
    ]


def _counts(teacher: User) -> dict[int, int]:
    """How many responses *teacher* has marked in each round."""
    own = Slot.objects.filter(holder=teacher, marked=True).exclude(kind=SlotKind.ARBITRATION)
    rows = own.order_by().values(key=F("answer__round")).annotate(number=Count("pk"))
    return dict(rows.values_list("key", "number"))


def round_with_own_marks(teacher: User, public_id: UUID) -> MarkingRound | None:
    """A round of *teacher*'s called *public_id*, open or closed; None for any other."""
    return MarkingRound.objects.filter(pool__teacher=teacher, public_id=public_id).first()
