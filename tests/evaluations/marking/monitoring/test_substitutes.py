"""A teacher is taken out, and another is added for what the lead was asked to decide meanwhile."""

from __future__ import annotations

import pytest

from evaluations.marking.arbitration.services import claim_case
from evaluations.marking.desk.services.leaving import take_out
from evaluations.marking.desk.services.slots import claim_next
from evaluations.marking.rounds.services.rounds import add_teachers
from evaluations.marking.services.finalizing import finalize_due
from evaluations.models import MarkingRound, Slot
from evaluations.models.vocabulary import SlotKind
from evaluations.schemes import FinalRule, Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from tests.evaluations.marking_world import answers_of, give, later, small_round
from tests.factories import make_user

pytestmark = pytest.mark.django_db
LOW, HIGH = ("0", "0", "0"), ("3", "3", "6")


@pytest.fixture
def people(teacher: User, other_teacher: User, third_teacher: User) -> list[User]:
    return [teacher, other_teacher, third_teacher, make_user(Role.TEACHER, "zoe")]


def with_a_substitute(
    people: list[User], lead: User, scheme: Scheme, *, opened: bool
) -> tuple[MarkingRound, User]:
    """Two of three teachers are taken out, the other marks all, one is added; who that is.

    A lead has *opened* one of the cases before that.
    """
    *leaving, stays, late = people
    made = small_round([*leaving, stays], 4, scheme=scheme, window_minutes=15)
    for one in leaving:
        take_out(made, one, acting_user=lead, now=later(1))
    while slot := claim_next(stays, round=made, now=later(2)):
        give(slot.answer, stays, HIGH, now=later(2))
    finalize_due(made, now=later(20))
    cases = Slot.objects.filter(answer__round=made, kind=SlotKind.ARBITRATION, marked=False)
    assert cases.count() == 4
    if opened:
        claim_case(answers_of(made)[0], lead, now=later(20))
    add_teachers(made, [late], acting_user=lead, now=later(21))
    assert cases.count() == (1 if opened else 0), "the others are theirs to mark"
    return made, late


@pytest.mark.parametrize("opened", [False, True])
def test_a_substitute_gives_the_marks_that_the_lead_was_asked_for(
    opened: bool, people: list[User], lead: User
) -> None:
    """Two marks that agree count, also where a lead had opened the case meanwhile."""
    made, late = with_a_substitute(people, lead, Scheme.TWO_AND_LEAD, opened=opened)
    while slot := claim_next(late, round=made, now=later(22)):
        give(slot.answer, late, HIGH, now=later(22))
    finalize_due(made, now=later(60))
    finals = made.answers.values_list("final__value", "final__rule")
    assert set(finals) == {(12, FinalRule.MEAN_OF_TWO)}
    assert not Slot.objects.filter(answer__round=made, kind=SlotKind.ARBITRATION).exists()


@pytest.mark.parametrize("others_left", [False, True])
def test_marks_of_a_substitute_that_are_apart_go_the_usual_way(
    others_left: bool, people: list[User], lead: User
) -> None:
    """A third teacher is asked where one is left, but not for the case that a lead has opened."""
    made, late = with_a_substitute(people, lead, Scheme.THREE_AND_LEAD, opened=True)
    if others_left:
        further = make_user(Role.TEACHER, "dan")
        add_teachers(made, [further], acting_user=lead, now=later(21))
    while slot := claim_next(late, round=made, now=later(22)):
        give(slot.answer, late, LOW, now=later(22))
    for minutes in (60, 61):
        finalize_due(made, now=later(minutes))
        waiting = Slot.objects.filter(answer__round=made, marked=False)
        kinds = sorted(waiting.values_list("kind", flat=True))
        assert kinds == ["arbitration", *["third" if others_left else "arbitration"] * 3]
