"""What a person has to do with a response: whoever gave or entered a mark decides nothing on it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from django.db.models import Exists, OuterRef, Q, QuerySet

from evaluations.marking.services.reopening import batches
from evaluations.models import BlindAnswer, Mark, Slot
from evaluations.models.vocabulary import SlotKind
from gradeapp.accounts.models import User


class OwnRole(Enum):
    """What somebody did on a response; whoever gave a mark and entered another one gave one."""

    NONE = "none"
    ENTERED = "entered"
    GAVE = "gave"


def own_slots(
    person: User, answer: int | OuterRef, response: int | OuterRef
) -> QuerySet[Slot, Slot]:
    """Slots of a teacher's mark that *person* gave, holds or entered for somebody.

    Of the blind *answer*, also where the mark was returned since, and of the same *response* in
    other rounds, practice rounds apart: whoever has marked a response does not decide on it.
    """
    given = Mark.objects.filter(Q(teacher=person) | Q(entered_by=person), slot=OuterRef("pk"))
    same = Q(answer=answer) | Q(answer__response=response, answer__round__practice=False)
    own = Q(holder=person) | Q(entered_by=person) | Q(Exists(given))
    return Slot.objects.filter(same, own).exclude(kind=SlotKind.ARBITRATION)


def own_role(person: User, answer: BlindAnswer) -> OwnRole:
    """What *person* did on *answer*, or on its response in other rounds; one query."""
    given = Mark.objects.filter(teacher=person, slot=OuterRef("pk"))
    slots = own_slots(person, answer.pk, answer.response_id)
    gave = slots.annotate(gave=Q(holder=person) | Q(Exists(given))).values_list("gave", flat=True)
    roles = [OwnRole.GAVE if one else OwnRole.ENTERED for one in gave]
    return OwnRole.GAVE if OwnRole.GAVE in roles else next(iter(roles), OwnRole.NONE)


def with_another_own_mark(slots: Iterable[Slot], person: User) -> int:
    """Return how many of *slots* are on a response of which *person* gave or entered another mark.

    That is a mark in another slot, or in this one before somebody else marked again. A mark that
    they entered for its teacher is one as soon as somebody else has marked the response: they would
    enter it again until it fits.
    """
    own = own_slots(person, OuterRef("answer"), OuterRef("answer__response"))
    given = Mark.objects.filter(Q(teacher=person) | Q(entered_by=person), slot=OuterRef("pk"))
    earlier = given.exclude(teacher=OuterRef("holder"))
    marked = Slot.objects.filter(answer=OuterRef("answer"), marked=True).exclude(pk=OuterRef("pk"))
    other = Q(Exists(own.exclude(pk=OuterRef("pk")))) | Q(Exists(earlier))
    other |= Q(entered_by=person) & Q(Exists(marked))
    keys = sorted(slot.pk for slot in slots)
    return sum(Slot.objects.filter(other, pk__in=some).count() for some in batches(keys))
