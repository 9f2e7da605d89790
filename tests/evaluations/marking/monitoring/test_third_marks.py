"""A third mark that somebody has at hand: it vanishes for nobody, and waits for nobody."""

from __future__ import annotations

from datetime import datetime

import pytest

from evaluations.marking.desk.selectors.desk import own_progress, own_slot
from evaluations.marking.desk.selectors.queue import slots_open_to
from evaluations.marking.desk.services.leaving import take_out
from evaluations.marking.monitoring.selectors.new_rubric import RemarkScope
from evaluations.marking.monitoring.selectors.returning import ReturnChoice
from evaluations.marking.monitoring.services.new_rubric import use_new_rubric
from evaluations.marking.monitoring.services.returning import return_marks
from evaluations.marking.services.finalizing import finalize_due
from evaluations.models import BlindAnswer, MarkingRound
from evaluations.models.vocabulary import SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
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
    assert not slots_open_to(other).filter(kind=SlotKind.THIRD).exists(), "nobody needs it"
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


def test_one_that_is_at_hand_does_not_go_to_the_lead(people: list[User], lead: User) -> None:
    made, answer, (_first, _second, who, other) = apart(people)
    assert claimed(who, made, later(2)).kind == SlotKind.THIRD
    take_out(made, other, acting_user=lead, now=later(60))
    assert slot_of(answer, SlotKind.THIRD).holder == who
    give(answer, who, HIGH, now=later(61))
    answer.refresh_from_db()
    assert answer.final is not None
