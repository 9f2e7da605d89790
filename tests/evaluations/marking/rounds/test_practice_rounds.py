"""Which rounds count: practice reaches nothing outside it, reports choose among the rest."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from evaluations.facts.pairs import TEACHER_PAIR, mark_pairs
from evaluations.facts.params import (
    ReportParams,
    markers_of,
    round_names,
    validated,
)
from evaluations.judging.selectors import judge_lines, judged_response, judgement_list
from evaluations.marking.rounds.selectors.exports import marks_of_round
from evaluations.marking.rounds.selectors.round_choice import ResponseChoice, SeedWish, contents_of
from evaluations.marking.rounds.services.rounds import close_round
from evaluations.models import MarkingRound, Response
from evaluations.reports.selectors.report_choices import choices
from evaluations.reports.selectors.reports import SCORE_COLUMNS, mark_rows, score_rows
from evaluations.reports.selectors.scored_answers import scored_answers
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.common.refusals import BadInput, NotFound
from tests.evaluations.marking_world import (
    NOW,
    give,
    planned_pair,
    responses_to,
    round_over,
    subjective_question,
)
from tests.evaluations.report_world import judged

pytestmark = pytest.mark.django_db
EXAM = ReportParams("exam")


@pytest.fixture
def response() -> Response:
    """A response of 12 points without a rubric, to which a judge gave 8."""
    (made,) = responses_to(subjective_question(rubric=()), 1)
    judged(made, "8")
    return made


def marked_round(
    response: Response, teachers: list[User], totals: tuple[str, str], *, practice: bool, name: str
) -> MarkingRound:
    """A closed round in which the same two teachers marked *response*."""
    made = round_over([response], teachers, name=name, scheme=Scheme.MEAN, practice=practice)
    (answer,) = made.answers.all()
    for teacher, total in zip(planned_pair(answer), totals, strict=True):
        give(answer, teacher, total)
    close_round(made, acting_user=None, now=NOW)
    return made


def points_of(params: ReportParams) -> list[float | None]:
    return [row.points for row in scored_answers(params)]


def test_marks_of_a_practice_round_are_used_nowhere_else(
    response: Response, teacher: User, other_teacher: User
) -> None:
    teachers = [teacher, other_teacher]
    practice = marked_round(response, teachers, ("2", "3"), practice=True, name="Trial")
    assert practice.answers.get().final is not None, "the round itself has its final mark"
    assert len(list(marks_of_round(practice))) == 2
    assert points_of(EXAM) == [None]
    reason = SCORE_COLUMNS.index("reason")
    assert [row[reason] for row in score_rows(EXAM)] == ["unmarked"]
    assert (list(mark_rows(EXAM)), mark_pairs(EXAM)) == ([], [])
    assert markers_of("exam") == ["judge:canary-judge"]
    assert (choices("exam").rounds, len(choices("exam").markers)) == ((), 1)
    assert judge_lines()[0].agreement["pairs"].n == 0
    assert judgement_list().get().final is None
    (judgement,) = response.judgements.all()
    shown = judged_response(judgement.judge, response.public_id)
    assert shown is not None
    assert shown.finals == ()
    # Nor is it the reference mark of a seed answer in a later round, as one of a real round is.
    (later,) = responses_to(response.question, 1)
    choice = ResponseChoice((later.run_id,))
    assert contents_of(choice, SeedWish(taken=1), 1).taken == ()
    marked_round(response, teachers, ("4", "4"), practice=False, name="Real")
    assert [one.value for one in contents_of(choice, SeedWish(taken=1), 1).taken] == [4]


@pytest.mark.parametrize("practice_first", [True, False])
def test_a_response_may_be_in_a_practice_round_and_in_a_real_one(
    response: Response, teacher: User, other_teacher: User, practice_first: bool
) -> None:
    teachers = [teacher, other_teacher]
    order = [True, False] if practice_first else [False, True]
    for practice in order:
        totals = ("1", "1") if practice else ("8", "9")
        marked_round(response, teachers, totals, practice=practice, name=f"R{practice}")
    assert points_of(EXAM) == [8.5], "whichever came later"
    pairs = {pair.pair: (pair.x, pair.y) for pair in mark_pairs(EXAM)}
    assert sorted(pairs.pop(TEACHER_PAIR)) == [8, 9]
    assert pairs == {"teachers-judge:canary-judge": (8.5, 8)}
    assert judgement_list().get().final == Decimal("8.5")
    assert len(list(mark_rows(EXAM))) == 2
    assert [one.name for one in choices("exam").rounds] == ["RFalse"]


def test_a_report_chooses_among_rounds(
    response: Response, teacher: User, other_teacher: User
) -> None:
    teachers = [teacher, other_teacher]
    early = marked_round(response, teachers, ("2", "4"), practice=False, name="Early")
    late = marked_round(response, teachers, ("10", "12"), practice=False, name="Late")
    trial = marked_round(response, teachers, ("0", "0"), practice=True, name="Trial")

    def of(*rounds: MarkingRound) -> ReportParams:
        return replace(EXAM, rounds=tuple(str(one.public_id) for one in rounds))

    assert points_of(validated(of(early))) == [3]
    assert points_of(validated(of(late))) == points_of(validated(of(early, late))) == [11]
    assert points_of(EXAM) == [11], "the newest final mark of all real rounds"
    assert {pair.x + pair.y for pair in mark_pairs(of(early)) if pair.pair == TEACHER_PAIR} == {6}
    assert len(list(mark_rows(of(late)))) == 2
    assert round_names(of(late, early)) == ["Early", "Late"]
    assert of(early).as_dict()["rounds"] == [str(early.public_id)]
    with pytest.raises(BadInput, match="practice round"):
        validated(of(trial))
    for unknown in ("no-uuid", "00000000-0000-4000-8000-000000000000"):
        with pytest.raises(NotFound, match="no marking round"):
            validated(replace(EXAM, rounds=(unknown,)))
