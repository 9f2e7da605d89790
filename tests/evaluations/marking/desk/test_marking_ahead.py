"""What is held ahead: the response that comes next, by the same lease, and only an own one."""

from __future__ import annotations

import pytest

from evaluations.marking.desk.services.slots import claim_ahead, claim_next, skip
from evaluations.models import MarkingRound, RoundTeacher, Slot
from gradeapp.accounts.models import User
from tests.evaluations.marking_world import NOW, claimed, give, later, small_round

pytestmark = pytest.mark.django_db
POINTS = ("3", "2", "6")


@pytest.fixture
def made(teacher: User, other_teacher: User) -> MarkingRound:
    return small_round([teacher, other_teacher], 4)


def held_by(teacher: User) -> int:
    return Slot.objects.filter(holder=teacher, marked=False).count()


def test_what_is_held_ahead_comes_next(made: MarkingRound, teacher: User) -> None:
    now = claimed(teacher, made)
    ahead = claim_ahead(now, teacher, now=NOW)
    assert ahead is not None
    assert ahead.answer_id != now.answer_id
    assert claim_ahead(now, teacher, now=NOW) == ahead  # asked twice, held once
    assert held_by(teacher) == 2
    give(now.answer, teacher, POINTS)
    assert claimed(teacher, made) == ahead
    assert claim_ahead(ahead, teacher, now=NOW) != now


def test_after_a_skip_it_comes_next_too(made: MarkingRound, teacher: User) -> None:
    now = claimed(teacher, made)
    ahead = claim_ahead(now, teacher, now=NOW)
    skip(now, teacher, now=NOW)
    assert claimed(teacher, made) == ahead


def test_one_that_is_never_turned_to_returns_by_itself(
    made: MarkingRound, teacher: User, other_teacher: User
) -> None:
    now = claimed(teacher, made)
    ahead = claim_ahead(now, teacher, now=NOW)
    assert ahead is not None
    assert ahead.lease_until == later(made.lease_minutes)
    Slot.objects.exclude(pk=ahead.pk).delete()  # nothing else is left for anybody
    assert claim_next(other_teacher, round=made, now=later(29)) is None
    taken = claim_next(other_teacher, round=made, now=later(30))
    assert taken == ahead


def test_nothing_is_taken_ahead_from_others(
    made: MarkingRound, teacher: User, other_teacher: User
) -> None:
    """Whoever is through helps out with one response at a time."""
    Slot.objects.filter(planned=teacher).update(planned=other_teacher)
    helping = claimed(teacher, made)
    assert claim_ahead(helping, teacher, now=NOW) is None


def test_a_paused_teacher_gets_nothing_ahead(made: MarkingRound, teacher: User) -> None:
    now = claimed(teacher, made)
    RoundTeacher.objects.filter(teacher=teacher).update(paused=True)
    assert claim_ahead(now, teacher, now=NOW) is None
