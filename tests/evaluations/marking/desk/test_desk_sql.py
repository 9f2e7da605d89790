"""The SQL of the desk gives what the ORM gives, whatever stands in the slots."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from random import Random
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, OuterRef, Q

from evaluations.marking.desk.services.claim_order import own_slots
from evaluations.marking.desk.sql import claim_own, own_counts, recent_marks
from evaluations.models import Mark, MarkingRound, MarkingSheet, RoundTeacher, Slot
from evaluations.models.vocabulary import CHECK_KINDS, RoundStatus, SlotKind
from gradeapp.accounts.models import User
from tests.evaluations.marking_world import NOW, later, small_round

pytestmark = pytest.mark.django_db


def shake(made: MarkingRound, people: list[User], random: Random) -> None:
    """Bring the slots of a round into any state that the constraints allow."""
    MarkingSheet.objects.create(
        round=made, teacher=people[0], responses=1, held_until=later(20), created_at=NOW
    )
    for slot in Slot.objects.filter(answer__round=made).order_by("pk"):
        if slot.kind == SlotKind.SECOND and random.random() < 0.2:
            slot.kind = SlotKind.SEED
        others = [] if slot.kind in CHECK_KINDS else people
        holder = random.choice([None, None, slot.planned, *others])
        slot.holder = holder
        slot.lease_until = holder and random.choice([None, later(-5), NOW, later(20), later(30)])
        slot.skipped_at = random.choice([None, None, later(-1), later(-2)])
        slot.marked = holder is not None and random.random() < 0.3
        slot.void_version = random.random() < 0.05
        try:
            with transaction.atomic():
                slot.save()
        except IntegrityError:  # a second role on one response
            continue
    if random.random() < 0.1:
        RoundTeacher.objects.filter(round=made, teacher=people[0]).update(paused=True)
    if random.random() < 0.1:
        MarkingRound.objects.filter(pk=made.pk).update(status=RoundStatus.PAUSED)


def counts_by_orm(teacher: User) -> dict[int, tuple[int, int]]:
    """What ``own_counts`` counts, as querysets say it."""
    first = Slot.objects.filter(
        Q(holder=teacher) | Q(planned=teacher, marked=False), answer=OuterRef("answer__repeat_of")
    )
    own = Slot.objects.filter(Q(holder=teacher) | Q(planned=teacher))
    rows = (
        own.order_by()
        .values("answer__round")
        .annotate(
            done=Count("pk", filter=Q(holder=teacher, marked=True)),
            left=Count("pk", filter=Q(~Q(kind=SlotKind.REPEAT) | Exists(first), marked=False)),
        )
    )
    return {row["answer__round"]: (row["done"], row["left"]) for row in rows}


def test_claims_and_counts_are_those_of_the_orm(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    people = [teacher, other_teacher, third_teacher]
    made = small_round(people, 9, repeat_share=Decimal("0.4"))
    claimed, left = 0, 0
    for seed in range(40):
        before = transaction.savepoint()
        shake(made, people, Random(seed))
        for person in people:
            assert own_counts(person.pk) == counts_by_orm(person)
            expected = next(own_slots(person, [made], NOW), None)
            own = Slot.objects.filter(Q(holder=person) | Q(planned=person), marked=False)
            special = own.filter(Q(kind=SlotKind.REPEAT) | Q(void_version__gt=0)).exists()
            until = NOW + timedelta(minutes=30)
            with transaction.atomic():
                key = claim_own(person.pk, made.pk, until=until, now=NOW)
            if key is None and special:
                left += 1
                continue
            assert key == (expected and expected.slot), seed
            if key:
                claimed += 1
                slot = Slot.objects.get(pk=key)
                assert (slot.holder, slot.lease_until, slot.skipped_at) == (person, until, None)
                but = claim_own(person.pk, made.pk, but=slot.answer_id, until=until, now=NOW)
                after = next(own_slots(person, [made], NOW, but=slot.answer_id), None)
                assert but in (None, after and after.slot)
        transaction.savepoint_rollback(before)
    assert claimed > left > 0


def test_recent_marks_are_those_of_the_orm(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    people = [teacher, other_teacher, third_teacher]
    made = small_round(people, 9)
    for number, slot in enumerate(Slot.objects.filter(answer__round=made).order_by("pk")):
        for version in range(1, 2 + number % 3):
            Mark.objects.create(
                slot=slot, teacher=people[number % 3], version=version, stale=version == 3,
                key=uuid4(), total=1, full=6, seconds=None if number % 4 == 0 else number,
            )  # fmt: skip
        Slot.objects.filter(pk=slot.pk).update(void_version=number % 2)
    for person in people:
        counting = Mark.objects.counting().filter(teacher=person, slot__answer__round=made)
        rows = counting.order_by("-id").values_list("seconds", "created_at")
        assert recent_marks(person.pk, made.pk, 3) == list(rows[:3])
        assert recent_marks(person.pk, made.pk, 99) == list(rows)
