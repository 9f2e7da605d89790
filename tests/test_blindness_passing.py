"""What helpers passed leaves a queue as a response does, whatever its teacher does meanwhile.

The worlds differ in whether one response is a check; each test says what must be the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from evaluations.marking.desk.selectors.queue import passed, slots_open_to
from evaluations.marking.desk.services.leaving import take_out
from evaluations.marking.desk.services.passing import lose_passed
from evaluations.marking.desk.services.slots import claim_next, skip, take
from evaluations.marking.desk.sql import own_counts
from evaluations.marking.monitoring.selectors.new_rubric import RemarkScope
from evaluations.marking.monitoring.services.monitoring import pause_teacher
from evaluations.marking.monitoring.services.new_rubric import use_new_rubric
from evaluations.marking.monitoring.services.returning import return_marks
from evaluations.marking.rounds.services.rounds import add_teachers, pause_round
from evaluations.marking.sheets.services.marking_sheets import return_sheet, take_sheet
from evaluations.models import MarkingRound, MarkingSheet, Slot
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
    planned_pair,
    small_round,
)
from tests.factories import make_rubric
from tests.test_blindness_checks import repeat_of
from tests.test_blindness_helping import APART, EVERYTHING, mark_all, with_checks

pytestmark = pytest.mark.django_db


@contextmanager
def world() -> Iterator[None]:
    """All that happens here is undone."""
    before = transaction.savepoint()
    yield
    transaction.savepoint_rollback(before)


def mark(slot: Slot, teacher: User, minute: float) -> None:
    give(slot.answer, teacher, ["1", "1", "1"], now=later(minute))


def test_what_a_helper_passed_leaves_the_plan_with_the_marks_that_come_back_to_them(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """Else the own count would say how many checks were among what vanished."""
    told = []
    for checks in ((), (2, 3)):
        with world():
            made = small_round([teacher, other_teacher], 20, scheme=Scheme.SINGLE)
            with_checks(made, teacher, *checks)
            claimed(teacher, made)
            mark_all([other_teacher], made, later(1))
            lose_passed(now=later(10))
            before = own_counts(teacher.pk, later(11))[made.pk]
            back = {"to_others": False, "acting_user": lead, "now": later(12)}
            return_marks(made, other_teacher, EVERYTHING, **back)
            told.append((before, own_counts(teacher.pk, later(13))[made.pk]))
    assert told[0] == told[1]


def taken_away(made: MarkingRound, teacher: User, responses: int) -> MarkingSheet:
    """A sheet of *teacher*, so that others find nothing to help out with."""
    until = timezone.localdate(NOW)
    given = {"responses": responses, "until": until, "acting_user": teacher, "now": NOW}
    return take_sheet(made, teacher, **given)


@pytest.mark.parametrize("how", ["returned", "put aside"])
def test_what_a_teacher_was_shown_comes_again_before_responses_of_others(
    how: str, teacher: User, other_teacher: User, lead: User
) -> None:
    """An intra-rater check too that came early, as there was nothing else then."""
    told = []
    for is_check in (False, True):
        with world():
            made = small_round([teacher, other_teacher], 10, scheme=Scheme.SINGLE)
            own = list(Slot.objects.filter(planned=teacher, answer__round=made).order_by("order"))
            if is_check:
                repeat_of(made, teacher, 0, len(own) - 1)
            sheet = taken_away(made, other_teacher, 5)
            for _slot in own[:-1]:
                mark(claimed(teacher, made, later(1)), teacher, 1)
            last = claimed(teacher, made, later(1))
            assert last == own[-1]
            if how == "returned":
                mark(last, teacher, 1)
            return_sheet(sheet, acting_user=other_teacher, now=later(2))
            if how == "returned":
                back = {"to_others": False, "acting_user": lead, "now": later(3)}
                return_marks(made, teacher, EVERYTHING, **back)
            else:
                assert skip(last, teacher, now=later(3))
            again = []
            while slot := claim_next(teacher, round=made, now=later(4)):
                again.append(slot.pk)
                mark(slot, teacher, 4)
            told.append([own.index(slot) for slot in own if slot.pk in again[: len(own)]])
    assert told[0] == told[1]
    assert 4 in told[0]


def test_what_is_let_go_is_not_lost_at_that_moment(teacher: User, other_teacher: User) -> None:
    """Nobody could take it before; the statements of the click are those of a response too."""
    statements = []
    for is_check in (False, True):
        with world():
            made = small_round([teacher, other_teacher], 30, scheme=Scheme.SINGLE)
            if is_check:
                with_checks(made, teacher, 0, helper=other_teacher)
            target = claimed(teacher, made)
            assert skip(target, teacher, now=NOW)
            while is_check and target.passed_at is None:
                mark(claimed(other_teacher, made, later(1)), other_teacher, 1)
                target.refresh_from_db()
            Slot.objects.filter(planned=teacher, answer__round=made).exclude(pk=target.pk).update(
                skipped_at=later(1)
            )
            at_hand = claimed(teacher, made, later(1))
            assert at_hand == target
            with CaptureQueriesContext(connection) as of_skip:
                assert skip(at_hand, teacher, now=later(8))
            own = Slot.objects.filter(planned=teacher, answer__round=made, marked=False)
            given = set()
            for _slot in own:
                slot = claimed(teacher, made, later(8))
                given.add(slot.pk)
                assert skip(slot, teacher, now=later(8))
            assert target.pk in given
            with CaptureQueriesContext(connection) as of_claim:
                claim_next(teacher, round=made, now=later(20))
            statements.append((len(of_skip), len(of_claim)))
    assert statements[0] == statements[1]


def test_a_third_mark_that_somebody_passed_comes_back_to_who_put_it_aside_since(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    """As any response does: whoever would lose it is another."""
    people = [teacher, other_teacher, third_teacher, make_user(Role.TEACHER, "zoe")]
    made = small_round(people, 1, scheme=Scheme.THREE_AND_LEAD)
    (answer,) = answers_of(made)
    pair = planned_pair(answer)
    first, second = (person for person in people if person not in pair)
    for person, points in zip(pair, APART, strict=True):
        give(answer, person, points, now=later(1))
    third = claimed(first, made, later(2))
    assert third.kind == SlotKind.THIRD
    assert skip(third, first, now=later(2))
    for person in pair:
        assert claim_next(person, round=made, now=later(3)) is None
    assert claimed(second, made, later(3)) == third
    assert skip(third, second, now=later(10))
    assert claimed(second, made, later(10)) == third


def one_passed(made: MarkingRound, teacher: User, helper: User) -> Slot:
    """A check of *teacher* that *helper* has passed, and that is not lost yet in the next seconds.

    The helper has the response at hand that they took then.
    """
    waiting = Slot.objects.filter(passed_at__gt=later(1), planned=teacher)
    for _n in range(30):
        slot = claimed(helper, made, later(1))
        if check := waiting.first():
            return check
        mark(slot, helper, 1)
    raise AssertionError("no check was passed")


@pytest.mark.parametrize("who", ["round", "helper", "helper for good"])
def test_nothing_is_lost_while_nobody_can_take_a_response(
    who: str, teacher: User, other_teacher: User, lead: User
) -> None:
    """What waits to be lost stays with its teacher."""
    made = small_round([teacher, other_teacher], 30, scheme=Scheme.SINGLE)
    with_checks(made, teacher, *range(0, 10, 2), helper=other_teacher)
    one_passed(made, teacher, other_teacher)
    waiting = Slot.objects.filter(passed_at__isnull=False, planned=teacher)
    if who == "round":
        pause_round(made, acting_user=lead, now=later(1))
    elif who == "helper":
        pause_teacher(made, other_teacher, reason="tea", acting_user=lead, now=later(1))
    else:
        take_out(made, other_teacher, acting_user=lead, now=later(1))
    before = own_counts(teacher.pk, later(1))
    lose_passed(now=later(30))
    assert own_counts(teacher.pk, later(30)) == before
    assert not waiting.exists()


@pytest.mark.parametrize("at_hand", [True, False])
@pytest.mark.parametrize("how", ["returned", "new rubric"])
def test_what_is_not_lost_yet_stays_when_the_response_that_it_was_passed_with_comes_back(
    how: str, at_hand: bool, teacher: User, other_teacher: User, lead: User
) -> None:
    """Its teacher may have it at hand: nothing vanishes there."""
    made = small_round([teacher, other_teacher], 30, scheme=Scheme.SINGLE)
    with_checks(made, teacher, *range(0, 10, 2), helper=other_teacher)
    check = one_passed(made, teacher, other_teacher)
    if at_hand:
        assert take(check.pk, teacher, until=later(40), now=later(1))
    assert check.passed_with is not None
    mark(check.passed_with, other_teacher, 1)
    if how == "returned":
        back = {"to_others": False, "acting_user": lead, "now": later(1)}
        return_marks(made, other_teacher, EVERYTHING, **back)
    else:
        question = check.answer.question
        make_rubric(question, (("all of it", "12"),))
        every = {"scope": RemarkScope.ALL, "acting_user": lead, "now": later(1)}
        use_new_rubric(made, question, **every)
    lose_passed(now=later(10))
    check.refresh_from_db()
    assert check.planned == teacher
    assert check in slots_open_to(teacher, made, now=later(10))


def test_a_newcomer_gets_of_what_waits_to_be_lost_as_of_responses(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    """How many their teacher gives up would tell that checks are among what they can have."""
    told, helped = [], 1
    for checks in ((0, 2, 4, 6, 8), ()):
        with world():
            made = small_round([teacher, other_teacher], 30, scheme=Scheme.SINGLE)
            with_checks(made, teacher, *checks, helper=other_teacher)
            if checks:
                one_passed(made, teacher, other_teacher)
                helped = Slot.objects.filter(planned=teacher, holder=other_teacher).count()
            else:
                while Slot.objects.filter(planned=teacher, holder=other_teacher).count() < helped:
                    mark(claimed(other_teacher, made, later(1)), other_teacher, 1)
            left = slots_open_to(teacher, made, now=later(1)).filter(planned=teacher)
            before = left.count()
            add_teachers(made, [third_teacher], acting_user=None, now=later(1))
            told.append(before - left.count())
    assert told[0] == told[1]


def test_what_came_back_with_a_sheet_does_not_go_again_with_one_of_its_responses(
    teacher: User, other_teacher: User
) -> None:
    """The sheet has ended, and its teacher goes on with one response after the other."""
    made = small_round([teacher, other_teacher], 30, scheme=Scheme.SINGLE)
    with_checks(made, teacher, *range(0, 10, 2))
    sheet = taken_away(made, other_teacher, 30)
    gone = Slot.objects.filter(passed_by=other_teacher, planned=teacher)
    assert gone.count() == 5
    lose_passed(now=later(5))
    assert gone.count() == 5
    over = sheet.held_until + timedelta(minutes=1)
    lose_passed(now=over)
    assert not gone.exists()
    assert claim_next(other_teacher, round=made, now=over) is not None
    assert not Slot.objects.filter(passed(over), planned=teacher).exists()
