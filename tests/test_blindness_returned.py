"""What comes back to a teacher does not tell which mark of a response it is, nor how many it has.

The worlds differ in what one teacher does with one response to which no mark of the plan is
theirs: they help out with the first or the second mark, or give a third one. All else is equal.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import transaction

from evaluations.marking.desk.selectors.desk import own_progress
from evaluations.marking.desk.selectors.queue import slots_open_to
from evaluations.marking.desk.services.slots import claim_next, skip, take
from evaluations.marking.monitoring.selectors.new_rubric import RemarkScope
from evaluations.marking.monitoring.selectors.returning import ReturnChoice
from evaluations.marking.monitoring.services.new_rubric import use_new_rubric
from evaluations.marking.monitoring.services.returning import return_marks
from evaluations.marking.rounds.services.rounds import add_teachers
from evaluations.marking.services.showing import EXTRA, is_extra
from evaluations.models import BlindAnswer, MarkingRound, Slot
from evaluations.models.vocabulary import SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from questions.models import Question
from tests.conftest import make_user
from tests.evaluations.marking_world import (
    NOW,
    claimed,
    give,
    held_slot,
    later,
    planned_pair,
    responses_to,
    round_over,
    small_round,
    subjective_question,
)
from tests.factories import make_rubric

pytestmark = pytest.mark.django_db
APART = (["3", "3", "6"], ["0", "0", "0"])
KINDS = (SlotKind.FIRST, SlotKind.SECOND, SlotKind.THIRD)


@pytest.fixture
def people(teacher: User, other_teacher: User, third_teacher: User) -> list[User]:
    return [teacher, other_teacher, third_teacher, make_user(Role.TEACHER, "zoe")]


@pytest.fixture
def questions() -> list[Question]:
    return [subjective_question() for _ in range(3)]


@pytest.fixture
def made(people: list[User], questions: list[Question]) -> MarkingRound:
    responses = [one for question in questions for one in responses_to(question, 4)]
    return round_over(responses, people[:3], scheme=Scheme.THREE_AND_LEAD)


def foreign(made: MarkingRound, helper: User) -> BlindAnswer:
    """The last response of which nothing was planned for *helper*."""
    answer = made.answers.exclude(slots__planned=helper).order_by("pk").last()
    assert answer is not None
    return answer


def mark_own(made: MarkingRound, helper: User) -> None:
    """The helper marks all of their plan; nobody else marks these responses."""
    for slot in Slot.objects.filter(planned=helper, answer__round=made).order_by("order"):
        give(slot.answer, helper, ["1", "1", "1"])


def helped(answer: BlindAnswer, helper: User, kind: SlotKind) -> None:
    """The helper has the mark of this *kind* at hand, the others of the plan are given."""
    pair = planned_pair(answer)
    for person, points, own in zip(pair, APART, KINDS, strict=False):
        if own != kind:
            give(answer, person, points)
        else:
            assert skip(held_slot(answer, person), person, now=NOW)
    slot = answer.slots.get(kind=kind)
    assert take(slot.pk, helper, until=later(30), now=later(2))


def what_comes(made: MarkingRound, person: User) -> list[object]:
    """The count of *person*, and the responses that they are given one after the other."""
    progress = own_progress(person, made)
    told: list[object] = [progress.marked, progress.total]
    while slot := claim_next(person, round=made, now=later(10)):
        told.append(slot.answer_id)
        rubric = slot.answer.rubric
        points = ["1"] * (rubric.points.count() if rubric else 0)
        give(slot.answer, person, points, now=later(10))
        if slot.planned_id != person.pk:  # what they help out with is another matter
            break
    return told


def in_each_world(tell: Callable[[SlotKind], list[object]]) -> list[list[object]]:
    """What is told where the helper has the first, the second or the third mark."""
    told = []
    for kind in KINDS:
        before = transaction.savepoint()
        told.append(tell(kind))
        transaction.savepoint_rollback(before)
    return told


@pytest.mark.parametrize("to_others", [False, True])
def test_a_returned_third_mark_comes_where_any_other_does(
    to_others: bool, made: MarkingRound, people: list[User], lead: User
) -> None:
    """To the same teacher and to others; a third mark has no place of its own in any queue."""
    helper, fourth = people[0], people[3]
    mark_own(made, helper)
    answer = foreign(made, helper)

    def tell(kind: SlotKind) -> list[object]:
        helped(answer, helper, kind)
        give(answer, helper, ["3", "3", "5"], now=later(3))
        if to_others:
            made.pool.create(teacher=fourth)
        return_marks(
            made, helper, ReturnChoice(since=NOW), to_others=to_others, acting_user=lead,
            now=later(5),
        )  # fmt: skip
        slot = answer.slots.get(kind=kind)
        assert slot.planned == (fourth if to_others else helper)
        return what_comes(made, fourth if to_others else helper)

    told = in_each_world(tell)
    assert answer.pk in told[0]
    assert told == [told[0]] * len(told)


@pytest.mark.parametrize("lease", ["running", "ended"])
def test_under_a_new_rubric_what_a_helper_had_at_hand_comes_back_alike(
    lease: str, made: MarkingRound, people: list[User], lead: User
) -> None:
    """Also once the marks before a third one agree, and whatever the lease of the helper."""
    helper = people[0]
    mark_own(made, helper)
    answer = foreign(made, helper)
    make_rubric(answer.question, (("all of it", "12"),))
    moved_at = later(5 if lease == "running" else 40)

    def tell(kind: SlotKind) -> list[object]:
        helped(answer, helper, kind)
        use_new_rubric(made, answer.question, scope=RemarkScope.ALL, acting_user=lead, now=moved_at)
        slot = answer.slots.get(kind=kind)
        assert (slot.planned, slot.holder) == (helper, None)
        for person, own in zip(planned_pair(answer), KINDS, strict=False):
            if own != kind:
                give(answer, person, ["6"], now=moved_at)
        return what_comes(made, helper)

    told = in_each_world(tell)
    assert answer.pk in told[0]
    assert told == [told[0]] * len(told)


def test_who_had_a_response_at_hand_under_the_old_rubric_gives_no_third_mark_on_it(
    made: MarkingRound, people: list[User], lead: User
) -> None:
    answer = foreign(made, people[0])
    made.pool.create(teacher=people[3])
    own, partner = planned_pair(answer)
    kept = held_slot(answer, own)
    make_rubric(answer.question, (("all of it", "12"),))
    use_new_rubric(made, answer.question, scope=RemarkScope.ALL, acting_user=lead, now=later(5))
    assert take(kept.pk, people[3], until=later(40), now=later(6))
    give(answer, people[3], ["12"], now=later(7))
    give(answer, partner, ["0"], now=later(7))
    third = answer.slots.get(kind=SlotKind.THIRD)
    assert third not in slots_open_to(own, made, now=later(8))
    assert third in slots_open_to(people[0], made, now=later(8))


def test_what_a_helper_left_at_hand_comes_back_in_an_order_of_no_kind(
    made: MarkingRound, people: list[User]
) -> None:
    """A sheet or leases that ended: a third mark has no place in a queue, and came first."""
    helper = people[0]
    mark_own(made, helper)
    answer = foreign(made, helper)
    others = made.answers.exclude(slots__planned=helper).exclude(pk=answer.pk).order_by("pk")

    def tell(kind: SlotKind) -> list[object]:
        for one in others:
            slot = one.slots.get(kind=SlotKind.FIRST)
            assert take(slot.pk, helper, until=later(30), now=later(2))
        helped(answer, helper, kind)
        told: list[object] = []
        while len(told) <= len(others):
            slot = claimed(helper, made, later(31))
            told.append(slot.answer_id)
            give(slot.answer, helper, ["1", "1", "1"], now=later(31))
        return told

    told = in_each_world(tell)
    assert answer.pk in told[0]
    assert told == [told[0]] * len(told)


def test_a_returned_third_mark_is_shared_with_who_comes_later_as_any_other(
    made: MarkingRound, people: list[User], lead: User
) -> None:
    helper, newcomer = people[0], people[3]
    mark_own(made, helper)
    answer = foreign(made, helper)

    def tell(kind: SlotKind) -> list[object]:
        helped(answer, helper, kind)
        give(answer, helper, ["3", "3", "5"], now=later(3))
        # All but three of their own marks stay: with the other one, four are left.
        own = made.answers.filter(slots__planned=helper, slots__marked=True).order_by("pk")[:3]
        aliases = [one.alias for one in (*own, answer)]
        return_marks(
            made, helper, ReturnChoice(aliases=aliases), to_others=False, acting_user=lead,
            now=later(5),
        )  # fmt: skip
        before = own_progress(helper, made).total
        add_teachers(made, [newcomer], acting_user=lead)
        return [before - own_progress(helper, made).total]

    assert in_each_world(tell) == [[1]] * 3


@pytest.mark.parametrize("scheme", list(Scheme))
@pytest.mark.parametrize("kind", list(SlotKind))
def test_one_mark_more_than_the_scheme_plans(
    scheme: Scheme, kind: SlotKind, people: list[User]
) -> None:
    made = small_round(people, 1, scheme=scheme)
    made.answers.get().slots.all().delete()
    slot = Slot.objects.create(answer=made.answers.get(), kind=kind, order=7)
    more = kind is SlotKind.THIRD or (kind is SlotKind.SECOND and scheme is Scheme.SINGLE)
    assert is_extra(slot) == Slot.objects.filter(EXTRA).exists() == more
