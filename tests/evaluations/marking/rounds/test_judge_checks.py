"""One more teacher is asked where every judge is far from the teachers' mark; no judge counts."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from evaluations.marking.monitoring.selectors.returning import ReturnChoice
from evaluations.marking.monitoring.services.returning import return_marks
from evaluations.marking.rounds.services.rounds import close_round
from evaluations.models import BlindAnswer, Judge, Judgement, MarkingRound
from evaluations.models.vocabulary import SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.common.refusals import BadInput
from tests.conftest import logged_in
from tests.evaluations.marking_world import (
    NOW,
    answers_of,
    claimed,
    give,
    later,
    planned_pair,
    small_round,
)

pytestmark = pytest.mark.django_db
SHARE = Decimal("0.25")


def judges(answer: BlindAnswer, *totals: str) -> None:
    """A judge for each of *totals* of 12 that has marked *answer*."""
    for place, total in enumerate(totals):
        judge = Judge.objects.get_or_create(name=f"judge {place}")[0]
        Judgement.objects.create(
            response=answer.response, judge=judge, total=total, full=12, status="scored"
        )


def marked_once(
    people: list[User], *totals: str, **settings: Any
) -> tuple[MarkingRound, BlindAnswer]:
    """A round of one teacher a response, in which 12 of 12 was given beside judges' *totals*."""
    settings = {"scheme": Scheme.SINGLE, "judge_check_share": SHARE} | settings
    made = small_round(people, 1, **settings)
    (answer,) = answers_of(made)
    judges(answer, *totals)
    give(answer, first_of(answer), "12" if answer.rubric is None else ("3", "3", "6"))
    answer.refresh_from_db()
    return made, answer


def first_of(answer: BlindAnswer) -> User:
    planned = answer.slots.get(kind=SlotKind.FIRST).planned
    assert planned is not None
    return planned


@pytest.mark.parametrize(
    ("totals", "asked"),
    [
        (("0",), True),
        (("8.5",), True),
        (("9",), False),  # 3 of 12 is equal to the threshold
        (("0", "12"), False),  # one judge is near
        (("0", "4"), True),
        ((), False),
    ],
)
def test_who_is_asked_for_one_more_mark(
    teacher: User, other_teacher: User, totals: tuple[str, ...], asked: bool
) -> None:
    _made, answer = marked_once([teacher, other_teacher], *totals)
    assert (answer.one_more_for is not None) is asked
    assert answer.slots.filter(kind=SlotKind.SECOND).exists() is asked
    assert (answer.final is None) is asked
    if asked:
        nearest = max(Decimal(total) for total in totals)
        assert answer.one_more_for is not None
        assert answer.one_more_for.total == nearest


def test_suspended_judges_and_totals_that_do_not_count_ask_nothing(
    teacher: User, other_teacher: User
) -> None:
    people = [teacher, other_teacher]
    Judge.objects.create(name="judge 0", suspended_at=timezone.now())
    _made, answer = marked_once(people, "0")
    assert answer.final is not None
    Judge.objects.update(suspended_at=None)
    made = small_round(people, 1, scheme=Scheme.SINGLE, judge_check_share=SHARE)
    (again,) = answers_of(made)
    Judgement.objects.create(
        response=again.response, judge=Judge.objects.get(), full=12, status="no_total"
    )
    give(again, first_of(again), ("3", "3", "6"))
    again.refresh_from_db()
    assert again.final is not None
    _made, off = marked_once(people, "0", judge_check_share=None)
    assert (off.one_more_for, off.final is None) == (None, False)


@pytest.mark.parametrize("judge", ["0", "1", "8.5"])
def test_the_second_mark_counts_and_the_judge_never_does(
    teacher: User, other_teacher: User, judge: str
) -> None:
    """Worlds that differ in the judge alone have one final mark."""
    made, answer = marked_once([teacher, other_teacher], judge)
    (other,) = {teacher, other_teacher} - {first_of(answer)}
    assert claimed(other, made).answer == answer
    give(answer, other, ("3", "2.5", "6"))
    answer.refresh_from_db()
    assert answer.final is not None
    assert (answer.final.value, answer.final.rule) == (Decimal("11.75"), "mean of two")
    assert answer.finals.count() == 1, "nobody is asked twice"


def test_two_teachers_far_apart_go_to_the_lead(teacher: User, other_teacher: User) -> None:
    made, answer = marked_once([teacher, other_teacher], "0")
    (other,) = {teacher, other_teacher} - {first_of(answer)}
    claimed(other, made)
    give(answer, other, ("0", "0", "0"))
    answer.refresh_from_db()
    assert answer.final is None
    assert answer.slots.filter(kind=SlotKind.ARBITRATION).exists()


def given_by_two(people: list[User], *third_points: str) -> tuple[MarkingRound, BlindAnswer, User]:
    """Two of *people* gave a mark each, the judge's is far off; the last is asked for one more."""
    made = small_round(people, 1, scheme=Scheme.MEAN, judge_check_share=SHARE)
    (answer,) = answers_of(made)
    judges(answer, "0")
    pair = planned_pair(answer)
    for teacher, points in zip(pair, third_points, strict=True):
        give(answer, teacher, ("3", "3", points))
    answer.refresh_from_db()
    (last,) = set(people) - set(pair)
    return made, answer, last


def test_a_third_teacher_beside_a_mean(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    made, answer, last = given_by_two([teacher, other_teacher, third_teacher], "6", "0")
    assert answer.final is None
    assert "1 response so far" in logged_in(lead).get(f"/rounds/{made.public_id}/").text
    claimed(last, made)
    give(answer, last, ("3", "2", "0"))
    answer.refresh_from_db()
    assert answer.final is not None
    assert answer.final.value == Decimal("5.5")
    assert answer.final.rule == "mean of closest pair (2 and 3)"


def test_what_a_round_cannot_ask_for(teacher: User, other_teacher: User) -> None:
    with pytest.raises(BadInput, match="at least 3 teachers"):
        small_round([teacher, other_teacher], 1, scheme=Scheme.MEAN, judge_check_share=SHARE)
    with pytest.raises(BadInput, match="0 to 100 percent"):
        marked_once([teacher, other_teacher], judge_check_share=Decimal("1.1"))


@pytest.mark.parametrize("gone", ["left", "deactivated", "no teacher any more"])
def test_nobody_is_awaited_who_is_not_there(teacher: User, other_teacher: User, gone: str) -> None:
    made = small_round([teacher, other_teacher], 1, scheme=Scheme.SINGLE, judge_check_share=SHARE)
    (answer,) = answers_of(made)
    judges(answer, "0")
    other = made.pool.exclude(teacher=first_of(answer))
    if gone == "left":
        other.update(left_at=timezone.now(), paused=True)
    elif gone == "deactivated":
        User.objects.filter(pools__in=other).update(is_active=False)
    else:
        other.get().teacher.groups.clear()
    give(answer, first_of(answer), ("3", "3", "6"))
    answer.refresh_from_db()
    assert answer.final is not None
    assert not answer.slots.filter(kind=SlotKind.ARBITRATION).exists()


def test_nobody_is_asked_when_the_round_is_closed(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """The marks are final that could still be revised, as nobody can give one more."""
    people = [teacher, other_teacher, third_teacher]
    made = small_round(people, 1, scheme=Scheme.MEAN, judge_check_share=SHARE, window_minutes=15)
    (answer,) = answers_of(made)
    judges(answer, "0")
    for one in planned_pair(answer):
        give(answer, one, ("3", "3", "6"), now=NOW)
    close_round(made, acting_user=lead, now=later(5))
    answer.refresh_from_db()
    assert (answer.final is not None, answer.one_more_for) == (True, None)


@pytest.mark.parametrize("at_hand", [False, True])
@pytest.mark.parametrize(("scheme", "rule"), [("1", "single mark"), ("mean", "mean of two")])
def test_closing_does_without_the_mark_that_nobody_gave(
    teacher: User,
    other_teacher: User,
    third_teacher: User,
    lead: User,
    scheme: str,
    rule: str,
    at_hand: bool,
) -> None:
    """Else the responses that judges are near to would have final marks, and others none."""
    people = [teacher, other_teacher, third_teacher]
    made = small_round(people, 1, scheme=Scheme(scheme), judge_check_share=SHARE)
    (answer,) = answers_of(made)
    judges(answer, "0")
    for one in planned_pair(answer) if scheme == "mean" else [first_of(answer)]:
        give(answer, one, ("3", "3", "6"))
    answer.refresh_from_db()
    assert (answer.final, answer.one_more_for is None) == (None, False)
    if at_hand:
        held = answer.slots.filter(marked=True).values_list("holder", flat=True)
        claimed(next(one for one in people if one.pk not in held), made)
    page = logged_in(lead).get(f"/rounds/{made.public_id}/", headers={"Accept-Language": "en"}).text
    assert "1 more waits only for one more mark" in page
    assert "0 responses have no final mark" in page
    close_round(made, acting_user=lead, now=timezone.now())
    answer.refresh_from_db()
    assert answer.final is not None
    assert (answer.final.value, answer.final.rule) == (Decimal(12), rule)


def test_one_more_mark_that_is_returned_counts_when_it_is_given_again(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    made, answer, last = given_by_two([teacher, other_teacher, third_teacher], "2.5", "3")
    claimed(last, made)
    give(answer, last, ("3", "3", "4"))
    answer.refresh_from_db()
    assert answer.final is not None
    assert answer.final.value == Decimal("8.75"), "8.5 and 9 are closer than 9 and 10"
    everything = ReturnChoice(timezone.now() - timedelta(hours=1))
    return_marks(made, last, everything, to_others=False, acting_user=lead, now=timezone.now())
    answer.refresh_from_db()
    assert answer.final is None
    give(answer, last, ("3", "3", "3"))
    answer.refresh_from_db()
    assert answer.final is not None
    assert answer.final.value == 9, "9 and 9 are closer than 8.5 and 9"
