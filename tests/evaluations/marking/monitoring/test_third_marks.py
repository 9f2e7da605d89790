"""A third mark that somebody has at hand: it vanishes for nobody, and waits for nobody."""

from __future__ import annotations

from datetime import datetime

import pytest

from evaluations.marking.arbitration.services import claim_case
from evaluations.marking.desk.selectors.desk import own_progress, own_slot
from evaluations.marking.desk.selectors.queue import slots_open_to
from evaluations.marking.desk.services.leaving import take_out
from evaluations.marking.desk.services.passing import lose_passed
from evaluations.marking.desk.services.slots import claim_next, skip
from evaluations.marking.monitoring.selectors.new_rubric import RemarkScope
from evaluations.marking.monitoring.selectors.returning import ReturnChoice
from evaluations.marking.monitoring.services.new_rubric import use_new_rubric
from evaluations.marking.monitoring.services.returning import return_marks
from evaluations.marking.rounds.services.rounds import add_teachers
from evaluations.marking.services.finalizing import finalize_due
from evaluations.models import BlindAnswer, MarkingRound, Slot
from evaluations.models.vocabulary import SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.common.refusals import BadInput
from tests.conftest import make_user
from tests.evaluations.marking_world import (
    NOW,
    answers_of,
    claimed,
    give,
    later,
    marked_again,
    planned_pair,
    slot_of,
    small_round,
)
from tests.factories import make_rubric

pytestmark = pytest.mark.django_db
LOW, HIGH = ("0", "0", "0"), ("3", "3", "6")
EVERYTHING = ReturnChoice(since=datetime.fromtimestamp(0, NOW.tzinfo))


@pytest.fixture
def people(teacher: User, other_teacher: User, third_teacher: User) -> list[User]:
    return [teacher, other_teacher, third_teacher, make_user(Role.TEACHER, "zoe")]


def apart(people: list[User]) -> tuple[MarkingRound, BlindAnswer, list[User]]:
    """One response with two distant marks; who gave them, and who could give a third."""
    made = small_round(people, 1, scheme=Scheme.THREE_AND_LEAD)
    (answer,) = answers_of(made)
    pair = planned_pair(answer)
    for person, points in zip(pair, (LOW, HIGH), strict=True):
        give(answer, person, points)
    return made, answer, [*pair, *(one for one in people if one not in pair)]


@pytest.mark.parametrize("then", ["returned", "final"])
def test_one_at_hand_stays_when_its_lease_has_ended(
    then: str, people: list[User], lead: User
) -> None:
    """The partner's mark is returned, or the two are equal now: nothing else would vanish."""
    made, answer, (first, _second, who, other) = apart(people)
    assert claimed(who, made, later(2)).kind == SlotKind.THIRD
    before = own_progress(who, made)
    if then == "returned":
        return_marks(made, first, EVERYTHING, to_others=False, acting_user=lead, now=later(60))
    else:
        marked_again(answer, first, HIGH)
        finalize_due(made, now=later(60))
        answer.refresh_from_db()
        assert answer.final is not None
    assert own_slot(who, answer.public_id) is not None
    assert own_progress(who, made) == before
    assert not slots_open_to(other, now=later(61)).filter(kind=SlotKind.THIRD).exists(), (
        "nobody needs it"
    )
    assert claimed(who, made, later(61)).answer == answer
    final = answer.final
    give(answer, who, HIGH, now=later(62))
    answer.refresh_from_db()
    assert answer.final == final


@pytest.mark.parametrize("how", ["at hand", "planned"])
def test_equal_marks_become_final_after_who_had_the_third_one_has_left(
    how: str, people: list[User], lead: User
) -> None:
    made, answer, (first, second, who, _other) = apart(people)
    assert claimed(who, made, later(2)).kind == SlotKind.THIRD
    if how == "planned":
        question = answer.question
        make_rubric(question, (("all of it", "12"),))
        use_new_rubric(made, question, scope=RemarkScope.ALL, acting_user=lead, now=later(3))
        assert slot_of(answer, SlotKind.THIRD).planned == who
        take_out(made, who, acting_user=lead, now=later(4))
        for person in (first, second):
            give(answer, person, ["12"], now=later(5))
    else:
        take_out(made, who, acting_user=lead, now=later(4))
        marked_again(answer, first, HIGH)
    finalize_due(made, now=later(60))
    answer.refresh_from_db()
    assert answer.final is not None
    assert answer.final.value == 12


def test_a_third_mark_goes_to_the_lead_when_nobody_is_left_for_it(
    people: list[User], lead: User
) -> None:
    made, answer, (_first, _second, who, other) = apart(people)
    take_out(made, who, acting_user=lead, now=later(4))
    assert slot_of(answer, SlotKind.THIRD).marked is False, "another can give it"
    take_out(made, other, acting_user=lead, now=later(5))
    kinds = set(answer.slots.filter(marked=False).values_list("kind", flat=True))
    assert kinds == {SlotKind.ARBITRATION}


@pytest.mark.parametrize("at_hand", [False, True])
@pytest.mark.parametrize("before", [True, False], ids=["before the marks", "after them"])
def test_a_third_mark_goes_to_the_lead_when_who_could_give_it_may_not_mark(
    before: bool, at_hand: bool, people: list[User]
) -> None:
    """Deactivated, or no teacher any more; also who has it at hand."""
    *both, third = people[:3]

    def lose_the_role() -> None:
        third.groups.clear()

    made = small_round(people[:3], 6, scheme=Scheme.THREE_AND_LEAD)
    answer = next(one for one in answers_of(made) if set(planned_pair(one)) == set(both))
    if before:
        lose_the_role()
    for person, points in zip(both, (LOW, HIGH), strict=True):
        give(answer, person, points)
    if not before:
        opened = Slot.objects.filter(answer=answer, kind=SlotKind.THIRD)
        if at_hand:
            opened.update(holder=third, lease_until=later(30))
        lose_the_role()
        finalize_due(made, now=later(3))
    kinds = Slot.objects.filter(answer=answer, marked=False).values_list("kind", flat=True)
    assert SlotKind.ARBITRATION in kinds
    assert SlotKind.THIRD not in kinds or at_hand


def test_one_that_is_at_hand_does_not_go_to_the_lead(people: list[User], lead: User) -> None:
    made, answer, (_first, _second, who, other) = apart(people)
    assert claimed(who, made, later(2)).kind == SlotKind.THIRD
    take_out(made, other, acting_user=lead, now=later(60))
    assert slot_of(answer, SlotKind.THIRD).holder == who
    give(answer, who, HIGH, now=later(61))
    answer.refresh_from_db()
    assert answer.final is not None


def of_many(people: list[User], responses: int = 16) -> tuple[MarkingRound, set[int]]:
    """A round in which the first of *people* gave some third marks; their responses."""
    made = small_round(people, responses, scheme=Scheme.THREE_AND_LEAD)
    who = people[0]
    for answer in answers_of(made):
        pair = planned_pair(answer)
        for person, points in zip(pair, (HIGH, LOW if who not in pair else HIGH), strict=True):
            give(answer, person, points)
    for _third in range(3):
        give(claimed(who, made, later(2)).answer, who, HIGH, now=later(2))
    thirds = Slot.objects.filter(holder=who, kind=SlotKind.THIRD, marked=True)
    return made, set(thirds.values_list("answer", flat=True))


def what_is_left(who: User, made: MarkingRound, now: datetime) -> set[int]:
    """The responses that *who* is given, one after the other, and puts aside."""
    left: set[int] = set()
    while (slot := claim_next(who, round=made, now=now)) and slot.answer_id not in left:
        left.add(slot.answer_id)
        assert skip(slot, who, now=now)
    return left


@pytest.mark.parametrize("needed", [False, True])
def test_what_helpers_leave_of_returned_marks_is_not_the_third_ones(
    needed: bool, people: list[User], lead: User
) -> None:
    """Others pass those that nobody needs, and those that all of them know a mark of."""
    people = people[:3] if needed else people
    made, thirds = of_many(people)
    assert len(thirds) == 3
    who, others = people[0], people[1:]
    if not needed:  # the marks before the third one are equal now
        for answer in made.answers.filter(pk__in=thirds):
            for person in planned_pair(answer):
                marked_again(answer, person, HIGH)
        finalize_due(made, now=later(4))
    return_marks(made, who, EVERYTHING, to_others=False, acting_user=lead, now=later(6))
    for person in others:
        while slot := claim_next(person, round=made, now=later(7)):
            give(slot.answer, person, HIGH, now=later(7))
    left = what_is_left(who, made, later(10))
    assert not thirds & left
    finalize_due(made, now=later(99))
    decided = made.answers.filter(pk__in=thirds, final=None)
    cases = Slot.objects.filter(answer__in=decided, kind=SlotKind.ARBITRATION, marked=False)
    assert cases.count() == (3 if needed else 0)


@pytest.mark.parametrize("how", ["put aside", "left"])
def test_the_only_one_who_can_give_a_third_mark_loses_it_as_any_response(
    how: str, people: list[User], lead: User
) -> None:
    """In a pool of three it would still be there when the others are through; the lead decides."""
    people = people[:3]
    made, answer, (_first, _second, who) = apart(people)
    others = [one for one in people if one != who]
    slot = claimed(who, made, later(2))
    if how == "put aside":
        assert skip(slot, who, now=later(3))
    for person in others:
        assert claim_next(person, round=made, now=later(60)) is None
    assert claim_next(who, round=made, now=later(63)) is None
    lose_passed(now=later(63))
    finalize_due(made, now=later(63))
    assert set(answer.slots.filter(marked=False).values_list("kind", flat=True)) == {
        SlotKind.ARBITRATION
    }


def test_what_was_passed_can_be_given_by_somebody_else(people: list[User], lead: User) -> None:
    made, answer, (first, _second, who, other) = apart(people)
    assert skip(claimed(who, made, later(2)), who, now=later(3))
    for person in (first, _second):
        assert claim_next(person, round=made, now=later(4)) is None
    assert claim_next(who, round=made, now=later(7)) is None
    finalize_due(made, now=later(7))
    assert claimed(other, made, later(8)).kind == SlotKind.THIRD
    give(answer, other, HIGH, now=later(9))
    answer.refresh_from_db()
    assert answer.final is not None


def test_a_planned_mark_goes_to_the_lead_when_nobody_is_left_for_it(
    people: list[User], lead: User
) -> None:
    """One other marked it before, and another marks it: both have a role on the response."""
    people = people[:3]
    made = small_round(people, 1, scheme=Scheme.TWO_AND_LEAD)
    (answer,) = answers_of(made)
    one, partner = planned_pair(answer)
    (third,) = set(people) - {one, partner}
    for person in (one, partner):
        give(answer, person, HIGH)
    return_marks(made, one, EVERYTHING, to_others=True, acting_user=lead, now=later(3))
    give(answer, third, HIGH, now=later(4))
    return_marks(made, partner, EVERYTHING, to_others=False, acting_user=lead, now=later(5))
    take_out(made, partner, acting_user=lead, now=later(6))
    cases = answer.slots.filter(kind=SlotKind.ARBITRATION, marked=False)
    assert cases.exists()
    with pytest.raises(BadInput, match="has left the round"):
        return_marks(made, partner, EVERYTHING, to_others=False, acting_user=lead, now=later(7))


def test_a_case_that_a_lead_has_opened_is_withdrawn_when_marks_agree(
    people: list[User], lead: User
) -> None:
    """Nobody was left for a returned mark; who joined gave it while the lead had the case open."""
    people = people[:3]
    made, answer, (one, _two, third) = apart(people)
    give(answer, claimed(third, made, later(2)).holder, HIGH, now=later(2))
    for person in (one, third):
        return_marks(made, person, EVERYTHING, to_others=False, acting_user=lead, now=later(3))
    for person in (one, third):
        take_out(made, person, acting_user=lead, now=later(4))
    claim_case(answer, lead, now=later(5))
    late = make_user(Role.TEACHER, "dan")
    add_teachers(made, [late], acting_user=lead)
    claimed(late, made, later(6))
    give(answer, late, HIGH, now=later(7))
    answer.refresh_from_db()
    assert answer.final is not None
    assert not answer.slots.filter(kind=SlotKind.ARBITRATION).exists()


def test_marks_returned_to_who_is_there_ask_no_lead(people: list[User], lead: User) -> None:
    """Somebody has left before; the marker has a role there, and gives the mark again."""
    people = people[:3]
    made = small_round(people, 4, scheme=Scheme.TWO_AND_LEAD)
    take_out(made, people[2], acting_user=lead, now=later(1))
    for person in people[:2]:
        while slot := claim_next(person, round=made, now=later(2)):
            give(slot.answer, person, HIGH, now=later(2))
    return_marks(made, people[0], EVERYTHING, to_others=False, acting_user=lead, now=later(3))
    finalize_due(made, now=later(4))
    cases = Slot.objects.filter(answer__round=made, kind=SlotKind.ARBITRATION)
    assert not cases.exists()


def test_who_is_left_alone_with_two_marks_to_give_leaves_one_to_the_lead(
    people: list[User], lead: User
) -> None:
    """Also of what they mark after the other has left; the clock sees it."""
    one, other = people[:2]
    made = small_round([one, other], 3, scheme=Scheme.TWO_AND_LEAD)
    take_out(made, other, acting_user=lead, now=later(1))
    cases = Slot.objects.filter(answer__round=made, kind=SlotKind.ARBITRATION, marked=False)
    assert not cases.exists()
    while slot := claim_next(one, round=made, now=later(2)):
        give(slot.answer, one, HIGH, now=later(2))
    finalize_due(made, now=later(60))
    assert cases.count() == 3


@pytest.mark.parametrize("pool", [3, 4])
def test_returned_third_marks_wait_for_who_gave_them(
    pool: int, people: list[User], lead: User
) -> None:
    """Everybody else has a role or has left, and who gave them gives them again."""
    made, thirds = of_many(people[:3])
    if pool == 4:
        add_teachers(made, [people[3]], acting_user=lead)
        take_out(made, people[3], acting_user=lead, now=later(5))
    return_marks(made, people[0], EVERYTHING, to_others=False, acting_user=lead, now=later(6))
    finalize_due(made, now=later(60))
    asked = Slot.objects.filter(answer__in=thirds, kind=SlotKind.ARBITRATION, marked=False)
    assert not asked.exists()
    again = set()
    while slot := claim_next(people[0], round=made, now=later(61)):
        again.add(slot.answer_id)
        give(slot.answer, people[0], HIGH, now=later(61))
    assert thirds <= again


def test_what_was_claimed_while_its_teacher_left_goes_to_the_lead(
    teacher: User, other_teacher: User, lead: User
) -> None:
    made = small_round([teacher, other_teacher])
    (answer,) = answers_of(made)
    leaving, stays = planned_pair(answer)
    give(answer, stays, ["3", "3", "6"])
    slot = answer.slots.get(planned=leaving)
    Slot.objects.filter(pk=slot.pk).update(holder=None, lease_until=None)
    take_out(made, leaving, acting_user=lead, now=later(2))
    answer.slots.filter(kind=SlotKind.ARBITRATION).delete()
    # As stored by a claim that read the pool before and was committed after.
    Slot.objects.filter(pk=slot.pk).update(holder=leaving, lease_until=later(30))
    finalize_due(made, now=later(3))
    assert answer.slots.filter(kind=SlotKind.ARBITRATION).exists()
