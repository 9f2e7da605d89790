"""Which marks of a teacher are returned for re-marking, and what is withdrawn with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet

from evaluations.marking.services.reopening import batches, finals_that_stay
from evaluations.models import HelpOffer, Mark, MarkingRound, Slot
from evaluations.models.vocabulary import CHECK_KINDS, SlotKind
from gradeapp.accounts.models import User

TEACHER_KINDS = (SlotKind.FIRST.value, SlotKind.SECOND.value, SlotKind.THIRD.value)


@dataclass(frozen=True, slots=True)
class ReturnChoice:
    """Which marks of a teacher to return: those saved at ``since`` or later, or on ``aliases``.

    With aliases, ``since`` is not used. Marks on responses that the lead has decided are returned
    too: a mark that stayed would tell its teacher of the decision. The decision itself is
    withdrawn only ``with_arbitrated``. After a preview, marks saved later than ``until`` are not
    among them, nor, seed answers and intra-rater checks aside, those on other slots than ``shown``.
    """

    since: datetime | None = None
    aliases: Collection[str] = ()
    with_arbitrated: bool = False
    until: datetime | None = None
    shown: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class ReturnPreview:
    """What a return would do.

    The marks of ``slots`` are returned and ``finals`` final marks are withdrawn; ``kept`` final
    marks stay, because the lead has decided them or two other marks made them.
    """

    slots: tuple[Slot, ...]
    finals: int
    kept: int

    @property
    def marks(self) -> int:
        """How many marks are returned."""
        return len(self.slots)


def preview_return(
    marking_round: MarkingRound, teacher: User, choice: ReturnChoice
) -> ReturnPreview:
    """Return what returning the marks of *choice* would do now."""
    slots = slots_to_return(marking_round, teacher, choice)
    finals = {slot.answer_id for slot in slots if slot.answer.final_id is not None}
    kept = finals_that_stay(slots, with_decisions=choice.with_arbitrated)
    return ReturnPreview(tuple(slots), len(finals - kept), len(kept))


def slots_to_return(marking_round: MarkingRound, teacher: User, choice: ReturnChoice) -> list[Slot]:
    """Return the slots whose marks *choice* names, by response and key.

    A third mark that the final mark was not made from is among them: what stayed marked would
    tell its teacher how far the two others are apart.
    """
    slots = _chosen_slots(marking_round, teacher, choice, TEACHER_KINDS)
    rows = slots.select_related("answer__final", "answer__question__task").order_by("answer", "pk")
    return [slot for slot in rows if choice.shown is None or slot.pk in choice.shown]


def checks_to_return(
    marking_round: MarkingRound, teacher: User, choice: ReturnChoice
) -> list[Slot]:
    """Return the slots of seed answers and intra-rater checks that go with those of *choice*.

    A return by time includes them: a teacher would recognize whatever stays marked as a check.
    A return of single responses includes none.
    """
    if choice.aliases:
        return []
    checks = _chosen_slots(marking_round, teacher, choice, CHECK_KINDS)
    return list(checks.order_by("answer", "pk"))


def _chosen_slots(
    marking_round: MarkingRound, teacher: User, choice: ReturnChoice, kinds: Sequence[str]
) -> QuerySet[Any]:
    """The marked slots of *teacher* that *choice* names."""
    slots = Slot.objects.filter(
        answer__round=marking_round, holder=teacher, marked=True, kind__in=kinds
    )
    counts = Q(marks__stale=False, marks__version__gt=F("void_version"))
    slots = slots.annotate(saved_at=Max("marks__created_at", filter=counts))
    if choice.until is not None:
        slots = slots.filter(saved_at__lte=choice.until)
    if choice.aliases:
        return slots.filter(answer__alias__in=choice.aliases)
    return slots.filter(saved_at__gte=choice.since)


def is_arbitrated(path: str) -> Exists:
    """Whether a decision of the lead counts for the blind answer that *path* leads to."""
    decisions = Mark.objects.counting().filter(
        slot__answer=OuterRef(path), slot__kind=SlotKind.ARBITRATION
    )
    return Exists(decisions)


def shown_as_their_own(answers: Iterable[int]) -> defaultdict[int, set[int]]:
    """By blind answer, who was shown it as one of their own plan and put it aside or left it."""
    people: defaultdict[int, set[int]] = defaultdict(set)
    for some in batches(sorted(answers)):
        offers = HelpOffer.objects.filter(answer__in=some, helping=False)
        for answer, teacher in offers.values_list("answer", "teacher"):
            people[answer].add(teacher)
    return people


def people_with_a_role(answers: Sequence[int]) -> dict[int, set[int]]:
    """Return, for each blind answer, who holds one of its slots, is planned for one or marked it.

    Whoever marked it keeps that role when the mark is returned, and so does who entered a mark.
    """
    people: dict[int, set[int]] = {answer: set() for answer in answers}
    slots = Slot.objects.filter(answer__in=answers).order_by()
    marks = Mark.objects.filter(slot__answer__in=answers).order_by()
    rows = [
        *slots.values_list("answer_id", "holder_id", "planned_id", "entered_by_id"),
        *marks.values_list("slot__answer_id", "teacher_id", "entered_by_id"),
    ]
    for answer, *own in rows:
        people[answer] |= {person for person in own if person is not None}
    return people
