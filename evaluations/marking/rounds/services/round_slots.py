"""The slots of a round: laid down when it starts, and shared anew when teachers come later."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db.models import QuerySet

from evaluations.marking.desk.selectors.queue import passed
from evaluations.marking.rounds.rules.aliases import draw_numbers
from evaluations.marking.rounds.rules.round_plan import (
    OpenMark,
    QueuePlace,
    share_with_new_teachers,
    with_checks,
)
from evaluations.marking.rounds.selectors.round_queues import BY_BLOCK, checks_of, planned_places
from evaluations.marking.rounds.services.round_planning import BATCH, highest_alias_of
from evaluations.marking.rules.blinding import alias
from evaluations.marking.rules.queue_places import APART
from evaluations.marking.rules.seed_answers import Id, Lots, Placed, Role
from evaluations.marking.services.reopening import NOT_PASSED
from evaluations.models import BlindAnswer, MarkingRound, Slot
from evaluations.models.vocabulary import CHECK_KINDS, AnswerRole, SlotKind

KIND_OF_SLOT = {1: SlotKind.FIRST, 2: SlotKind.SECOND, 3: SlotKind.THIRD}


def create_slots(made: MarkingRound) -> int:
    """Make everybody's queue, checks and all; how many places they have."""
    places = planned_places(made)
    _make_slots(made, places, made.pool.count())
    return len(places)


def share_out(made: MarkingRound, new_teachers: Sequence[int], *, now: datetime) -> int:
    """Give *new_teachers* their share of the marks that nobody has begun, and checks of their own.

    Returns how many. Checks that the others give up with them go to nobody.
    """
    left = _left(made, now)
    roles: dict[Id, set[Id]] = defaultdict(set)
    rows = Slot.objects.filter(answer__round=made)
    for answer, planned, holder in rows.values_list("answer", "planned", "holder"):
        roles[answer] |= {person for person in (planned, holder) if person is not None}
    teachers = list(made.pool.order_by("teacher").values_list("teacher", flat=True))
    shares = share_with_new_teachers(left, roles, new_teachers, teachers, made.lots_seed)
    checks = checks_of(made, new_teachers)
    moved: dict[int, tuple[int, int]] = {}
    places: list[QueuePlace] = []
    responses = dict(made.answers.filter(repeat_of=None).values_list("pk", "response"))
    for new_teacher, marks in shares.given.items():
        slot_at = {responses[int(mark.item)]: int(mark.key) for mark in marks}
        queue = [Placed(responses[int(mark.item)], mark.block) for mark in marks]
        hidden = with_checks(queue, checks, Lots(made.lots_seed, new_teacher))
        for order, place in enumerate(hidden, start=1):
            if place.role is Role.OWN:
                moved[slot_at[int(place.item)]] = (int(new_teacher), order * APART)
            else:
                places.append(QueuePlace(new_teacher, order, place.item, place.role))
    # First: a save locks the response and then its slot, and so does who makes slots of it.
    _make_slots(made, places, len(teachers))
    # Not what somebody has claimed since it was read.
    not_begun = Slot.objects.filter(holder=None, marked=False)
    not_begun.filter(pk__in=[int(check.key) for check in shares.checks]).update(
        planned=None, order=0, **NOT_PASSED
    )
    return sum(
        not_begun.filter(pk=slot).update(planned=teacher, order=order, **NOT_PASSED)
        for slot, (teacher, order) in moved.items()
    )


def _left(made: MarkingRound, now: datetime) -> list[OpenMark]:
    """What nobody holds of somebody's plan, and what helpers passed as long as it is not lost.

    What comes back to its teacher stays with them. A third mark that was returned to a teacher is
    in their plan like any other: what each of them gives up must not tell which mark it is.
    """
    repeats = made.answers.filter(role=AnswerRole.REPEAT)
    repeated = set(repeats.values_list("repeat_of", "slots__planned"))
    slots: QuerySet[Slot] = Slot.objects.filter(
        ~passed(now), answer__round=made, holder=None, marked=False, planned__isnull=False
    ).exclude(kind=SlotKind.ARBITRATION)
    rows = slots.order_by(*(f"answer__{path}" for path in BY_BLOCK), "kind")
    columns = ("pk", "answer", "answer__question", "planned", "kind")
    return [
        OpenMark(
            slot,
            answer,
            block,
            planned,
            is_check=kind in CHECK_KINDS,
            stays=(answer, planned) in repeated,
        )
        for slot, answer, block, planned, kind in rows.values_list(*columns)
    ]


def _make_slots(made: MarkingRound, places: Sequence[QueuePlace], teachers: int) -> None:
    """The slots of *places*, with a blind answer of its own for each repeat."""
    first = dict(made.answers.filter(repeat_of=None).values_list("response", "pk"))
    again = [place for place in places if place.role is Role.REPEAT]
    repeat_answers = _repeat_answers(made, [first[int(place.item)] for place in again], teachers)
    answer_of: Mapping[QueuePlace, int] = {
        place: answer.pk for place, answer in zip(again, repeat_answers, strict=True)
    }
    Slot.objects.bulk_create(
        (
            Slot(
                answer_id=answer_of.get(place, first[int(place.item)]),
                kind=_kind(place),
                planned_id=int(place.teacher),
                order=place.order * APART,
            )
            for place in places
        ),
        batch_size=BATCH,
    )


def _kind(place: QueuePlace) -> SlotKind:
    if place.slot is not None:
        return KIND_OF_SLOT[place.slot]
    return SlotKind.SEED if place.role is Role.SEED else SlotKind.REPEAT


def _repeat_answers(made: MarkingRound, firsts: Sequence[int], teachers: int) -> list[BlindAnswer]:
    """A second blind answer for each of *firsts*, under aliases among those of the others."""
    if not firsts:
        return []
    rows = BlindAnswer.objects.in_bulk(list(firsts))
    taken = [int(name[2:]) for name in made.answers.values_list("alias", flat=True)]
    originals = made.answers.filter(repeat_of=None).count()
    numbers = draw_numbers(
        len(firsts),
        highest_alias_of(made, originals, teachers),
        taken,
        made.lots_seed,
        "repeat alias",
    )
    return BlindAnswer.objects.bulk_create(
        BlindAnswer(
            round=made,
            response_id=rows[first].response_id,
            question_id=rows[first].question_id,
            revision_id=rows[first].revision_id,
            rubric_id=rows[first].rubric_id,
            role=AnswerRole.REPEAT,
            repeat_of=rows[first],
            alias=alias(number),
            full_marks=rows[first].full_marks,
            tolerance=rows[first].tolerance,
        )
        for first, number in zip(firsts, numbers, strict=True)
    )
