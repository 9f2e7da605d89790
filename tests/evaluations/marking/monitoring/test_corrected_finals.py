"""What the lead corrected without being called: it is no third mark, whatever the tolerance."""

from __future__ import annotations

import uuid
from decimal import Decimal

import pytest
from django.urls import reverse

from evaluations.marking.arbitration.services import arbitrate, correct_final
from evaluations.marking.monitoring.selectors.monitoring import watched_round
from evaluations.marking.services.finalizing import TEACHERS, newest_marks
from evaluations.models import BlindAnswer, MarkingRound
from evaluations.models.vocabulary import ArbitrationReason
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.marking_world import (
    answers_of,
    give,
    later,
    marked_again,
    planned_pair,
    small_round,
)

pytestmark = pytest.mark.django_db
FULL, ALMOST, NOTHING = ("3", "3", "6"), ("3", "2", "6"), ("0", "0", "0")


@pytest.fixture
def made(teacher: User, other_teacher: User) -> MarkingRound:
    """Two responses of 12 points, tolerance 1: marks 12 and 11 twice, of which the mean counts."""
    made = small_round([teacher, other_teacher], 2, scheme=Scheme.TWO_AND_LEAD)
    for answer in answers_of(made):
        for who, points in zip(planned_pair(answer), (FULL, ALMOST), strict=True):
            give(answer, who, points)
    return made


def by_lead(answer: BlindAnswer, lead: User, total: str) -> None:
    """A decision, or a correction where a final mark counts: a third of *total* for each point."""
    answer.refresh_from_db()
    marks = newest_marks(answer)
    given = {
        "key": uuid.uuid4(),
        "seen": [marks[kind].pk for kind in TEACHERS if kind in marks],
        "points": [Decimal(total) / 3] * 3,
        "reason": ArbitrationReason.SLIP,
        "now": later(90),
    }
    if answer.final:
        correct_final(answer, lead, number=answer.final.number, **given)
    else:
        arbitrate(answer, lead, **given)


def called(made: MarkingRound) -> set[tuple[float | None, int]]:
    figures = [teacher.figures["third_rate"] for teacher in watched_round(made).teachers]
    return {(figure.value, figure.n) for figure in figures}


def test_a_correction_counts_as_no_call_of_the_lead(made: MarkingRound, lead: User) -> None:
    one, _other = answers_of(made)
    assert called(made) == {(0, 2)}
    for total in ("3", "6"):
        by_lead(one, lead, total)
        assert called(made) == {(0, 2)}


def test_a_decision_is_a_call_also_when_it_is_corrected(made: MarkingRound, lead: User) -> None:
    """The final mark of before was withdrawn, so the decision has the number of a correction."""
    one, _other = answers_of(made)
    marked_again(one, planned_pair(one)[0], NOTHING)
    for total in ("3", "6"):
        by_lead(one, lead, total)
        assert called(made) == {(0.5, 2)}
    one.refresh_from_db()
    assert one.final is not None
    assert one.final.number == 3


def test_no_tolerance_moves_what_the_lead_corrected(made: MarkingRound, lead: User) -> None:
    """3 of 12 by a correction of 11.5, and 3 by a decision on 6 and 11, 5 points apart."""
    corrected, decided = answers_of(made)
    marked_again(decided, planned_pair(decided)[0], ("3", "2", "1"))
    for answer in (corrected, decided):
        by_lead(answer, lead, "3")
    where = reverse("monitoring:tolerance", args=[made.public_id])
    lines = logged_in(lead).get(where, {"unit": "points"}).context["lines"]
    moved = {line.value: line.outcome.change for line in lines}
    assert [moved[value] for value in (None, 0, 1, 4)] == [0, 0, 0, 0]
    assert moved[Decimal(5)] == Decimal("5.5"), "the mean of 6 and 11, had nobody been called"
