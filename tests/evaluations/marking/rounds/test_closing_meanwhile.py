"""A round is closed while its marks are saved: they count, or they are kept as a draft."""

from __future__ import annotations

import pytest

from evaluations.marking.monitoring.selectors.returning import ReturnChoice
from evaluations.marking.monitoring.services.returning import return_marks
from evaluations.marking.rounds.services.rounds import close_round
from evaluations.marking.services.finalizing import finalize_all_due
from evaluations.models import BlindAnswer, Draft, Mark, MarkingRound
from gradeapp.accounts.models import User
from gradeapp.common.refusals import Conflict
from tests.evaluations.marking_world import (
    answers_of,
    give,
    held_slot,
    later,
    planned_pair,
    small_round,
)
from tests.waiting import after

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def answer(teacher: User, other_teacher: User) -> BlindAnswer:
    """A response whose first mark is given; that of the other teacher is not."""
    (answer,) = answers_of(small_round([teacher, other_teacher], window_minutes=15))
    give(answer, planned_pair(answer)[0], ("3", "3", "6"))
    held_slot(answer, planned_pair(answer)[1])
    return answer


def saved(answer: BlindAnswer) -> object:
    return give(answer, planned_pair(answer)[1], ("3", "3", "6"))


def test_what_is_saved_after_the_close_is_a_draft(answer: BlindAnswer, lead: User) -> None:
    refused = after(
        lambda: close_round(answer.round, acting_user=lead, now=later(1)), lambda: saved(answer)
    )
    assert isinstance(refused, Conflict)
    assert Mark.objects.count() == 1
    assert Draft.objects.get().teacher == planned_pair(answer)[1]


def test_what_is_saved_before_the_close_counts(answer: BlindAnswer, lead: User) -> None:
    after(lambda: saved(answer), lambda: close_round(answer.round, acting_user=lead, now=later(1)))
    answer.refresh_from_db()
    assert answer.final is not None
    assert answer.final.value == 12


def test_no_mark_is_returned_after_the_close(answer: BlindAnswer, lead: User, admin: User) -> None:
    first = planned_pair(answer)[0]
    refused = after(
        lambda: close_round(answer.round, acting_user=lead, now=later(1)),
        lambda: return_marks(
            answer.round,
            first,
            ReturnChoice(aliases=[answer.alias]),
            to_others=False,
            acting_user=admin,
            now=later(1),
        ),
    )
    assert isinstance(refused, Conflict)
    assert refused.code == "round_closed"
    assert Mark.objects.counting().count() == 1


def test_what_an_earlier_close_left_out_gets_its_final_mark(answer: BlindAnswer) -> None:
    saved(answer)
    MarkingRound.objects.update(status="closed")
    finalize_all_due(later(60))
    answer.refresh_from_db()
    assert answer.final is not None
