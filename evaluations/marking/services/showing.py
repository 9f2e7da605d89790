"""Which responses teachers were shown without marking them, and which slots are one mark more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Q

from evaluations.models import HelpOffer, Slot
from evaluations.models.vocabulary import SlotKind
from evaluations.schemes import Scheme

# One mark more than the scheme plans: a third mark, or the second of a round with one mark each.
EXTRA = Q(kind=SlotKind.THIRD) | Q(kind=SlotKind.SECOND, answer__round__scheme=Scheme.SINGLE)
_NUMBER = {SlotKind.SECOND.value: 2, SlotKind.THIRD.value: 3}


def is_extra(slot: Slot) -> bool:
    """Whether *slot* is one mark more than its scheme plans; what is read does not tell which."""
    planned = Scheme(slot.answer.round.scheme).planned_marks
    return _NUMBER.get(slot.kind, 0) > planned


def note_shown(shown: Sequence[tuple[Slot, int]], now: datetime) -> None:
    """Keep that teachers were shown the responses of slots; an offer while helping out stays.

    *shown* are pairs of a slot and the key of a teacher.
    """
    offers = [
        HelpOffer(
            answer_id=slot.answer_id,
            teacher_id=teacher,
            helping=slot.planned_id != teacher,
            extra=is_extra(slot),
            at=now,
        )
        for slot, teacher in shown
    ]
    HelpOffer.objects.bulk_create(offers, ignore_conflicts=True)
