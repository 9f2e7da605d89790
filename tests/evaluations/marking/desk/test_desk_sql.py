"""The SQL of the desk gives what the ORM gives, whatever stands in the slots."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, Model, OuterRef, Q

from evaluations.marking.desk.selectors.queue import passed, was_shown
from evaluations.marking.desk.services.slot_order import own_slots
from evaluations.marking.desk.sql import (
    claim_own,
    drop_draft,
    locked_slot,
    mark_done,
    own_counts,
    own_draft,
    recent_marks,
    slot_to_save,
    standing,
    whole_slot,
)
from evaluations.marking.rules.seed_answers import LEAST_GAP
from evaluations.marking.services.showing import note_shown
from evaluations.models import (
    BlindAnswer,
    Draft,
    HelpOffer,
    Mark,
    MarkingRound,
    MarkingSheet,
    RoundTeacher,
    Slot,
)
from evaluations.models.vocabulary import CHECK_KINDS, AnswerRole, RoundStatus, SlotKind
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
        if not holder and random.random() < 0.2:
            slot.passed_at = NOW
            slot.passed_with = random.choice(list(Slot.objects.filter(answer__round=made)))
            slot.passed_by = random.choice([slot.passed_with.holder, *people])
        slot.void_version = random.random() < 0.05
        slot.entered_by = random.choice([None, None, None, *people])
        try:
            with transaction.atomic():
                slot.save()
        except IntegrityError:  # a second role on one response
            continue
        if slot.planned and random.random() < 0.3:
            offer = {"helping": random.random() < 0.3, "extra": False, "at": NOW}
            HelpOffer.objects.update_or_create(offer, answer=slot.answer, teacher=slot.planned)
    if random.random() < 0.1:
        RoundTeacher.objects.filter(round=made, teacher=people[0]).update(paused=True)
    if random.random() < 0.1:
        MarkingRound.objects.filter(pk=made.pk).update(status=RoundStatus.PAUSED)


def make_repeats(people: list[User]) -> None:
    """Let two responses of each teacher come back to them, early in their queue."""
    for person in people:
        own = Slot.objects.filter(planned=person, answer__role=AnswerRole.ANSWER, kind="first")
        first, second, *others = [slot.answer for slot in own.order_by("order")[:6]]
        for answer, of in zip(others, (first, second), strict=False):
            answer.slots.exclude(planned=person).delete()
            answer.slots.update(kind=SlotKind.REPEAT, order=1)
            BlindAnswer.objects.filter(pk=answer.pk).update(role=AnswerRole.REPEAT, repeat_of=of)


def mark_some(made: MarkingRound, random: Random) -> None:
    """Give marks to the marked slots: a check keeps its distance from the last first versions."""
    marked = list(Slot.objects.filter(answer__round=made, marked=True).order_by("pk"))
    for slot in random.sample(marked, len(marked)):
        Mark.objects.create(
            slot=slot, teacher=slot.holder, version=random.choice([1, 2]), key=uuid4(),
            stale=random.random() < 0.1, total=1, full=6,
        )  # fmt: skip


def loaded(row: Model | None) -> dict[str, object]:
    """The columns of a row that were read."""
    assert row is not None
    lacking = row.get_deferred_fields()
    names = [field.attname for field in row._meta.concrete_fields]
    return {name: getattr(row, name) for name in names if name not in lacking}


def same(row: Model | None) -> bool:
    """Whether a row that SQL read is what the ORM reads, value by value and type by type."""
    assert row is not None
    by_orm = loaded(type(row)._base_manager.get(pk=row.pk))
    return all(repr(by_orm[name]) == repr(value) for name, value in loaded(row).items())


def counts_by_orm(teacher: User) -> dict[int, tuple[int, int]]:
    """What ``own_counts`` counts, as querysets say it."""
    elsewhere = Q(holder__isnull=False) & ~Q(holder=teacher)
    taken = elsewhere & (Q(marked=True) | Q(lease_until__gt=NOW))
    first = Slot.objects.filter(answer=OuterRef("answer__repeat_of"))
    comes = first.filter(Q(holder=teacher) | (Q(planned=teacher) & ~taken))
    may_come = (
        ~taken & ~passed(NOW) & (~Q(kind=SlotKind.REPEAT) | was_shown(teacher) | Exists(comes))
    )
    own = Slot.objects.filter(Q(holder=teacher) | Q(planned=teacher))
    left = Q(may_come, marked=False)
    rows = (
        own.order_by()
        .values("answer__round")
        .annotate(
            done=Count("pk", filter=Q(holder=teacher, marked=True)),
            left=Count("pk", filter=left),
            lost=Count("pk", filter=Q(~may_come, planned=teacher)),
            own=Count("pk", filter=Q(left, planned=teacher, void_version=0)),
        )
    )
    return {
        row["answer__round"]: (row["done"], row["left"] + (row["lost"] if row["own"] else 0))
        for row in rows
    }


def test_claims_and_counts_are_those_of_the_orm(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    people = [teacher, other_teacher, third_teacher]
    made = small_round(people, 18)
    make_repeats(people)
    claimed, left = 0, 0
    for seed in range(30):
        before = transaction.savepoint()
        shake(made, people, Random(seed))
        mark_some(made, Random(seed))
        for person in people:
            assert own_counts(person.pk, NOW) == counts_by_orm(person)
            expected = next(own_slots(person, [made], NOW), None)
            own = Slot.objects.filter(Q(holder=person) | Q(planned=person), marked=False)
            special = own.filter(Q(kind__in=CHECK_KINDS) | Q(void_version__gt=0)).exists()
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
    # How often each happens depends on the keys that the database gives.
    assert min(claimed, left) > 0


def test_an_intra_rater_check_is_claimed_after_enough_other_marks(
    teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], LEAST_GAP + 2)
    own = list(Slot.objects.filter(answer__round=made, planned=teacher).order_by("order", "pk"))
    first, repeat, *others = own
    repeat.answer.slots.exclude(pk=repeat.pk).delete()
    Slot.objects.filter(pk=repeat.pk).update(kind=SlotKind.REPEAT, order=0)
    answer = BlindAnswer.objects.filter(pk=repeat.answer_id)
    answer.update(role=AnswerRole.REPEAT, repeat_of=first.answer)
    for number, slot in enumerate([first, *others[: LEAST_GAP - 1]]):
        with transaction.atomic():
            key = claim_own(teacher.pk, made.pk, until=later(30), now=NOW)
            note_shown([(repeat, teacher.pk)], NOW)
            once_shown = claim_own(teacher.pk, made.pk, until=later(30), now=NOW)
            transaction.set_rollback(True)
        assert (key, once_shown) == (None, repeat.pk), number  # it comes first, and too soon
        Slot.objects.filter(pk=slot.pk).update(holder=teacher, marked=True)
        Mark.objects.create(slot=slot, teacher=teacher, version=1, key=uuid4(), total=1, full=6)
    assert claim_own(teacher.pk, made.pk, until=later(30), now=NOW) == repeat.pk


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


def test_what_a_save_reads_is_what_the_orm_reads(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    people = [teacher, other_teacher, third_teacher]
    made = small_round(people, 9)
    make_repeats(people)
    shake(made, people, Random(1))
    Slot.objects.filter(answer__round=made).exclude(holder=None).update(marked=True)
    mark_some(made, Random(1))
    lone = User.objects.create(username="not-in-the-pool")
    for slot in Slot.objects.filter(answer__round=made).select_related("answer"):
        whole = whole_slot(slot.pk)
        assert same(whole)
        answer = whole.answer
        assert all(same(row) for row in (answer, answer.question, answer.revision))
        assert same(answer.response)
        assert answer.rubric == slot.answer.rubric
        for person in [*people, lone]:
            mine = slot.holder_id == person.pk
            locked = locked_slot(slot.pk, person.pk)
            assert (locked is not None) == mine
            if locked:
                assert all(same(row) for row in (locked, locked.answer, locked.answer.round))
                saved = slot_to_save(person.pk, slot.answer.public_id)
                assert saved == slot
                assert same(saved.answer)
        known = Mark.objects.order_by("?")[0]
        stands = standing(slot.answer, known.key)
        assert all(same(row) for row in [*stands.slots, *stands.marks])
        assert {one.pk for one in stands.slots} == set(
            slot.answer.slots.values_list("pk", flat=True)
        )
        marks = Mark.objects.filter(slot__answer=slot.answer).order_by("version", "slot")
        assert [(one.pk, one.slot_id) for one in stands.marks] == list(
            marks.values_list("pk", "slot")
        )
        assert stands.with_key == known.pk
        assert standing(slot.answer, uuid4()).with_key is None
    RoundTeacher.objects.filter(round=made, teacher=teacher).update(left_at=NOW)
    held = Slot.objects.filter(answer__round=made, holder=teacher).select_related("answer")
    assert [slot_to_save(teacher.pk, slot.answer.public_id) for slot in held] == [None] * len(held)


def test_a_saved_slot_is_marked_and_a_known_draft_deleted(
    teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], 4)
    slot, other = Slot.objects.filter(answer__round=made, planned=teacher)[:2]
    Slot.objects.filter(pk=slot.pk).update(holder=teacher, lease_until=later(5))
    for one, person in ((slot, teacher), (slot, other_teacher), (other, teacher)):
        Draft.objects.create(slot=one, teacher=person, sequence=3, content={"comment": "甲"})
    assert same(own_draft(slot.pk, teacher.pk))
    assert not drop_draft(slot.pk, teacher.pk, 2)
    assert Draft.objects.count() == 3
    assert drop_draft(slot.pk, teacher.pk, 3)
    mark_done(slot, teacher.pk, later(10), other_teacher.pk)
    slot.refresh_from_db()
    assert (slot.marked, slot.lease_until, slot.revisable_until) == (True, None, later(10))
    assert slot.entered_by == other_teacher
    assert own_draft(slot.pk, teacher.pk) is None
    assert Draft.objects.count() == 2


def test_the_queue_gives_what_is_at_hand_then_planned_then_skipped(
    teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], 8)
    own = list(Slot.objects.filter(planned=teacher, marked=False).order_by("order", "pk"))
    skipped, later_skipped, first, second, held = own[:5]
    Slot.objects.filter(pk=skipped.pk).update(skipped_at=later(-2))
    Slot.objects.filter(pk=later_skipped.pk).update(skipped_at=later(-1))
    Slot.objects.filter(pk=held.pk).update(holder=teacher, lease_until=later(20))
    given = [one.slot for one in own_slots(teacher, [made], NOW)]
    assert given[:3] == [held.pk, first.pk, second.pk]
    assert given[-2:] == [skipped.pk, later_skipped.pk]


def test_of_two_responses_with_one_place_the_queue_decides(
    teacher: User, other_teacher: User
) -> None:
    """As in rounds that began before places stood apart: the key of a slot decides nothing."""
    made = small_round([teacher, other_teacher], 4)
    other = small_round([teacher, other_teacher], 4)
    first, second = Slot.objects.filter(answer__round=made, planned=teacher).order_by("order")[:2]
    assert claim_own(teacher.pk, other.pk, until=later(30), now=NOW), "another round is no matter"
    Slot.objects.filter(pk=second.pk).update(order=first.order)
    assert claim_own(teacher.pk, made.pk, until=later(30), now=NOW) is None
    given = [one.slot for one in own_slots(teacher, [made], NOW)][:2]
    assert given == [
        slot.pk for slot in sorted((first, second), key=lambda one: str(one.answer.public_id))
    ]
