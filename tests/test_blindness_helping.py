"""Who helps out learns of no response which marks it has, and of no mark that it is a third one."""

from __future__ import annotations

import pytest
from django.utils import timezone

from evaluations.marking.desk.selectors.desk import own_slot, slot_to_save
from evaluations.marking.desk.selectors.queue import has_work
from evaluations.marking.desk.services.slot_order import MOST_ASIDE
from evaluations.marking.desk.services.slots import claim_next, skip
from evaluations.marking.desk.sql import own_counts
from evaluations.marking.sheets.rules.sheet_rows import FilledRow
from evaluations.marking.sheets.selectors import slots_on
from evaluations.marking.sheets.services.marking_sheets import take_sheet
from evaluations.marking.sheets.services.sheet_reading import check_rows
from evaluations.models import HelpOffer, MarkingRound, Slot
from evaluations.models.vocabulary import SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.common.refusals import NotFound
from tests.conftest import make_user
from tests.evaluations.marking_world import (
    NOW,
    answers_of,
    claimed,
    give,
    held_slot,
    later,
    planned_pair,
    small_round,
)

pytestmark = pytest.mark.django_db
APART = (["3", "3", "6"], ["0", "0", "0"])


@pytest.fixture
def fourth_teacher(db: None) -> User:
    return make_user(Role.TEACHER, "zoe")


def looked_through(teacher: User, made: MarkingRound, number: int) -> list[int]:
    """The responses that *teacher* is given one after the other, and skips."""
    given = []
    for minute in range(number):
        slot = claimed(teacher, made, later(2 + minute))
        given.append(slot.answer_id)
        assert skip(slot, teacher, now=later(2 + minute))
    return given


def helper_of(made: MarkingRound, people: list[User]) -> User:
    """The first of *people* without a planned mark on the only response."""
    planned = Slot.objects.filter(answer__round=made).values_list("planned", flat=True)
    return next(one for one in people if one.pk not in planned)


def test_who_helps_out_sees_no_number_of_missing_marks(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    """A response comes once, whether one of its marks is missing or both; few are put aside."""
    made = small_round([teacher, other_teacher, third_teacher], 15)
    while (slot := claimed(third_teacher, made)).planned == third_teacher:
        give(slot.answer, third_teacher, ["1", "1", "1"])
    assert skip(slot, third_teacher, now=later(1))
    left = made.answers.exclude(slots__holder=third_teacher).exclude(pk=slot.answer_id)
    give(left[0], planned_pair(left[0])[0], ["1", "1", "1"])
    given = looked_through(third_teacher, made, 2 * MOST_ASIDE)
    first = [slot.answer_id, *given][:MOST_ASIDE]
    assert len(left) >= MOST_ASIDE
    assert len(set(first)) == MOST_ASIDE
    assert [slot.answer_id, *given] == [*first, *first, first[0]]


@pytest.mark.parametrize("how", ["skipped", "left"])
def test_a_third_mark_is_by_nobody_who_was_shown_the_response_before(
    how: str, teacher: User, other_teacher: User, third_teacher: User, fourth_teacher: User
) -> None:
    """By skipping while they help out, or by a lease that ends; somebody else gets it."""
    people = [teacher, other_teacher, third_teacher, fourth_teacher]
    made = small_round(people, 1, scheme=Scheme.THREE_AND_LEAD)
    (answer,) = answers_of(made)
    pair = planned_pair(answer)
    helper, other = (one for one in people if one not in pair)
    slot = claimed(helper, made)
    if how == "skipped":
        assert skip(slot, helper, now=later(1))
    else:
        assert slot.planned
        assert claimed(slot.planned, made, later(31)) == slot
    for person, points in zip(pair, APART, strict=True):
        give(answer, person, points, now=later(32))
    assert answer.slots.filter(kind=SlotKind.THIRD).exists()
    assert claim_next(helper, round=made, now=later(40)) is None
    assert claimed(other, made, later(40)).kind == SlotKind.THIRD
    assert skip(answer.slots.get(holder=other), other, now=later(41))
    assert claimed(other, made, later(42)).kind == SlotKind.THIRD, "nothing was missing before"


def test_the_lead_decides_where_everybody_left_was_shown_the_response(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    people = [teacher, other_teacher, third_teacher]
    made = small_round(people, 1, scheme=Scheme.THREE_AND_LEAD)
    (answer,) = answers_of(made)
    pair = planned_pair(answer)
    helper = helper_of(made, people)
    assert skip(claimed(helper, made), helper, now=later(1))
    for person, points in zip(pair, APART, strict=True):
        give(answer, person, points, now=later(2))
    assert not answer.slots.filter(kind=SlotKind.THIRD).exists()
    assert answer.slots.filter(kind=SlotKind.ARBITRATION, marked=False).exists()


def test_an_own_response_that_a_colleague_took_over_does_not_come_back_as_a_third(
    teacher: User, other_teacher: User, third_teacher: User, fourth_teacher: User
) -> None:
    people = [teacher, other_teacher, third_teacher, fourth_teacher]
    made = small_round(people, 1, scheme=Scheme.THREE_AND_LEAD)
    (answer,) = answers_of(made)
    first, second = planned_pair(answer)
    assert skip(held_slot(answer, first), first, now=later(1))
    helper = helper_of(made, people)
    assert claimed(helper, made, later(2)).planned == first
    for person, points in zip((helper, second), APART, strict=True):
        give(answer, person, points, now=later(3))
    assert answer.slots.filter(kind=SlotKind.THIRD).exists()
    assert claim_next(first, round=made, now=later(4)) is None
    assert HelpOffer.objects.filter(answer=answer).count() == 2


def test_what_helpers_leave_of_a_queue_is_not_its_checks(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    """A check goes where the response before it in the queue went, from counts and home too."""
    people = [teacher, other_teacher, third_teacher]
    made = small_round(people, 9)
    own = Slot.objects.filter(planned=teacher).order_by("order")
    Slot.objects.filter(pk=own[2].pk).update(kind=SlotKind.SEED)
    planned = own_counts(teacher.pk, later(5))[made.pk]
    for person in people[1:]:
        while slot := claim_next(person, round=made, now=later(1)):
            give(slot.answer, person, ["1", "1", "1"])
    assert not own.filter(kind__in=("first", "second"), marked=False).exists()
    assert own.get(kind=SlotKind.SEED).holder is None
    assert claim_next(teacher, round=made, now=later(5)) is None
    assert not has_work(teacher, made, later(5))
    assert (planned, own_counts(teacher.pk, later(5))[made.pk]) == ((0, len(own)), (0, 0))


@pytest.mark.parametrize("away", ["sheet", "lease"])
def test_what_helpers_leave_of_what_was_at_hand_is_not_its_checks(
    away: str, teacher: User, other_teacher: User, third_teacher: User
) -> None:
    """A check that its teacher held goes with its neighbour when the time is over, at all doors."""
    people = [teacher, other_teacher, third_teacher]
    made = small_round(people, 9)
    own = Slot.objects.filter(planned=teacher).order_by("order")
    Slot.objects.filter(pk=own[2].pk).update(kind=SlotKind.SEED)
    check = own.get(kind=SlotKind.SEED)
    over = later(60 * 24 * 2)
    if away == "sheet":
        until = timezone.localdate(NOW)
        sheet = take_sheet(
            made, teacher, responses=len(own), until=until, acting_user=teacher, now=NOW
        )
    else:
        own.update(holder=teacher, lease_until=later(30))
    assert own_counts(teacher.pk, later(1))[made.pk] == (0, len(own))
    for person in people[1:]:
        while slot := claim_next(person, round=made, now=over):
            give(slot.answer, person, ["1", "1", "1"], now=over)
    assert not own.filter(kind__in=("first", "second"), marked=False).exists()
    check.refresh_from_db()
    assert (check.holder, check.marked) == (teacher, False)
    assert own_counts(teacher.pk, over)[made.pk] == (0, 0)
    assert not has_work(teacher, made, over)
    assert claim_next(teacher, round=made, now=over) is None
    assert own_slot(teacher, check.answer.public_id, over) is None
    assert slot_to_save(teacher, check.answer.public_id, over) is None
    with pytest.raises(NotFound):
        give(check.answer, teacher, ["1", "1", "1"], now=over)
    if away == "sheet":
        assert not slots_on(sheet, over).exists()
        row = FilledRow(
            2, str(sheet.public_id), str(check.answer.public_id), "0", ("1",), "", "", ""
        )
        (read,) = check_rows(sheet, [row], now=over)
        assert read.sentence == "There is no such response, or it is no longer assigned to you."
