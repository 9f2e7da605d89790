"""Pages and counts of a round: as many queries for ten times the responses, and the same rows."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluations.marking.arbitration.selectors.arbitration import waiting_for
from evaluations.marking.desk.selectors.desk import own_progress
from evaluations.marking.rounds.selectors.round_counts import AnswerPages, newest_marks, slot_groups
from evaluations.marking.rounds.selectors.rounds import (
    AnswerState,
    answers_by_state,
    answers_in,
    round_list,
    round_progress,
    state_counts,
    teacher_loads,
)
from evaluations.marking.rounds.services.rounds import close_round
from evaluations.models import MarkingRound, Slot
from evaluations.models.vocabulary import SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.marking_world import (
    NOW,
    answers_of,
    give,
    planned_pair,
    small_round,
    subjective_question,
)

pytestmark = pytest.mark.django_db


def queries(client: Client, where: str) -> int:
    """How many queries the page takes, once whatever is kept in memory is known."""
    assert client.get(where, follow=True).status_code == 200
    with CaptureQueriesContext(connection) as asked:
        client.get(where, follow=True)
    return len(asked)


@pytest.fixture
def disputed(teacher: User, other_teacher: User, third_teacher: User) -> MarkingRound:
    """Five responses: equal marks, far marks, one mark, and two that nobody marked."""
    people = [teacher, other_teacher, third_teacher]
    question = subjective_question(rubric=())
    made = small_round(people, 5, scheme=Scheme.THREE_AND_LEAD, question=question)
    equal, far, single, *_rest = answers_of(made)
    for answer, points in ((equal, ("5", "5")), (far, ("0", "6")), (single, ("5",))):
        for person, given in zip(planned_pair(answer), points, strict=False):
            give(answer, person, given)
    return made


@pytest.mark.parametrize(
    "address", ["", "?page=3", "?page=6", "?state=open", "arbitration/", "monitoring/", "sheets/"]
)
def test_a_round_ten_times_as_large_takes_as_many_queries(
    address: str, lead: User, teacher: User, other_teacher: User
) -> None:
    counted = []
    for responses in (30, 300):
        made = small_round([teacher, other_teacher], responses)
        where = reverse("rounds:round", args=[made.public_id]) + address
        counted.append(queries(logged_in(lead), where))
    assert counted[0] == counted[1]


@pytest.mark.parametrize("number", [0, 1, 2, 5])
def test_pages_from_either_end_are_the_parts_of_the_whole(
    number: int, teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], max(number, 1))
    rows = answers_by_state(made) if number else answers_in(made, AnswerState.FINAL)
    pages = AnswerPages(rows, 2, number)
    found = [[row.alias for row in pages.page(n)] for n in pages.page_range]
    aliases = [row.alias for row in rows]
    assert found == [aliases[at : at + 2] for at in range(0, max(number, 1), 2)]


def test_a_state_holds_the_responses_that_stand_in_it(disputed: MarkingRound) -> None:
    equal, far, single, *untouched = answers_of(disputed)
    expected = {
        AnswerState.FINAL: {equal.pk},
        AnswerState.THIRD: {far.pk},
        AnswerState.MARKED: {single.pk},
        AnswerState.OPEN: {answer.pk for answer in untouched},
        AnswerState.ARBITRATION: set(),
    }
    for state, keys in expected.items():
        assert {row.pk for row in answers_in(disputed, state)} == keys, state


def test_in_a_closed_round_nothing_waits_any_more(disputed: MarkingRound, lead: User) -> None:
    _final, *others = answers_of(disputed)
    close_round(disputed, acting_user=None, now=NOW)
    disputed.refresh_from_db()
    left = {state: number for state, number in state_counts(disputed).items() if number}
    assert left == {AnswerState.FINAL: 1, AnswerState.LEFT: len(others)}
    keys = {row.pk for row in answers_in(disputed, AnswerState.LEFT)}
    assert keys == {answer.pk for answer in others}
    progress = round_progress(disputed)
    assert (progress.waiting, progress.not_final) == (0, len(others))
    Slot.objects.create(answer=others[0], kind=SlotKind.ARBITRATION)  # as a closing leaves it
    assert round_list().get().waiting == 0
    assert not waiting_for(lead, disputed, NOW).exists()
    for state in (AnswerState.OPEN, AnswerState.MARKED, AnswerState.THIRD):
        assert not answers_in(disputed, state), state


def test_slots_counted_together_give_the_round_and_its_teachers(disputed: MarkingRound) -> None:
    groups = slot_groups(disputed)
    progress = round_progress(disputed, groups=groups)
    # Ten first and second marks and one third: five are given, six are still due.
    assert (progress.marks, progress.marks_due) == (5, 11)
    loads = teacher_loads(disputed, groups)
    assert sum(load.planned for load in loads) == 10
    assert sum(load.marked for load in loads) == 5
    assert sum(load.thirds for load in loads) == 0


def test_the_newest_marks_are_read_without_sorting_all(disputed: MarkingRound) -> None:
    marks = newest_marks(disputed, [SlotKind.SECOND])
    assert {mark.slot.kind for mark in marks} == {SlotKind.SECOND}
    if connection.vendor == "sqlite":  # PostgreSQL plans by the size of its tables
        newest = newest_marks(disputed, [SlotKind.SECOND])[:50]
        assert "TEMP B-TREE" not in newest.explain()


def test_what_waits_for_the_lead_is_found_by_an_index(disputed: MarkingRound) -> None:
    if connection.vendor == "sqlite":
        assert "slot_waiting" in answers_in(disputed, AnswerState.ARBITRATION).explain()


def test_marks_given_faster_than_one_reads_tell_no_pace(teacher: User, other_teacher: User) -> None:
    """Times of 0, 1 and 2 seconds are left out; 30, 60 and 90 make a minute each: 60 an hour."""
    made = small_round([teacher], 7, scheme=Scheme.SINGLE)
    *quick, one, two, three, left = answers_of(made)
    for answer, seconds in zip(quick, (0, 1, 2), strict=True):
        give(answer, teacher, ["1", "1", "1"], seconds=seconds)
    assert own_progress(teacher, made).per_hour is None
    assert round_progress(made).minutes_left is None
    for answer, seconds in ((one, 30), (two, 60), (three, 90)):
        give(answer, teacher, ["1", "1", "1"], seconds=seconds)
    progress = own_progress(teacher, made)
    assert (progress.per_hour, progress.minutes_left) == (60, 1)
    assert round_progress(made).minutes_left == 1
    assert not left.slots.filter(marked=True).exists()


def test_when_all_teachers_are_through_the_rest_waits_for_the_lead(
    teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], 2, scheme=Scheme.TWO_AND_LEAD)
    equal, far = answers_of(made)
    for person, points in ((teacher, ["3", "3", "6"]), (other_teacher, ["0", "0", "0"])):
        give(equal, person, ["3", "3", "6"])
        assert not round_progress(made).only_lead
        give(far, person, points)
    progress = round_progress(made)
    assert (progress.final, progress.waiting, progress.only_lead) == (1, 1, True)
