"""Calibration from the database: pairs, teachers' own agreement, repeats, three teachers."""

from __future__ import annotations

import uuid

import pytest
from django.urls import reverse
from django.utils import timezone

from evaluations.facts.judged_marks import annotator_tests, calibration_of, judged_marks
from evaluations.facts.params import ReportParams
from evaluations.models import FinalMark, Judge, Judgement, Mark, Response, Slot
from evaluations.statistics.rows import ModelCondition
from gradeapp.accounts.models import User
from gradeapp.common.refusals import BadInput
from questions.rules.vocabulary import Subject
from tests.conftest import logged_in
from tests.evaluations.report_world import ALPHA, JUDGE, judged, mark, run_of, written
from tests.evaluations.reports.test_reports_pages import words
from tests.factories import final_mark

pytestmark = pytest.mark.django_db


def third(final: FinalMark, total: str) -> None:
    """A third teacher's mark of the answer of *final*."""
    teacher = User.objects.get_or_create(username="published-third")[0]
    slot = Slot.objects.create(answer=final.answer, kind="third", holder=teacher, marked=True)
    Mark.objects.create(
        slot=slot, version=1, key=uuid.uuid4(), teacher=teacher, total=total, full=final.full
    )


@pytest.fixture
def responses(db: None) -> list[Response]:
    """Thirty-two responses in two subjects; the judge gives one point more than the mean."""
    run = run_of()
    made = []
    for place in range(32):
        response = written(run, Subject.HISTORY if place % 2 else Subject.PHYSICS)
        first = place % 8
        final = mark(response, str(first), str(first + 2))
        third(final, str(first + 1))
        judged(response, str(first + 1 + 1))
        made.append(response)
    judged(made[0], "2", number=2)  # again, the same
    judged(made[1], "9", number=2)  # again, another: 6 points more than before
    return made


def test_calibration_of_what_is_stored(responses: list[Response]) -> None:
    report = calibration_of(ReportParams("exam"))
    assert report.params["by"] == "subject"
    rows = {row.key["value"]: row for row in report.rows}
    assert [*rows] == ["ALL", "History", "Physics"]
    assert rows["ALL"].key["judge"] == JUDGE
    every = rows["ALL"].figures
    assert every["pairs"].value == 32
    assert every["bias"].value == pytest.approx((31 * 1 + 7) / 32)
    assert every["rate_bias"].value == pytest.approx((31 * 1 + 7) / 320)
    assert (every["flips"].value, every["flips"].n) == (0.5, 2)
    assert every["teachers_mean_abs_difference"].value == 2
    # Judge a point above the mean of two that are two apart: 2 from one, 0 from the other.
    assert rows["Physics"].figures["single_difference"].value == 1
    assert rows["Physics"].figures["excess"].value == -1
    assert rows["Physics"].figures["bias"].low == rows["Physics"].figures["bias"].high == 1
    assert "winning_rate" not in rows["Physics"].figures
    again = calibration_of(ReportParams("exam"))
    assert again == report  # the draws are the same
    by_task = calibration_of(ReportParams("exam", by="task"))
    assert by_task.rows[0].key["by"] == "task"
    with pytest.raises(BadInput, match="band"):
        calibration_of(ReportParams("exam", by="colour"))


def test_a_judge_is_compared_with_the_teachers_of_the_final_mark_that_counts(db: None) -> None:
    """Where a response was marked in two rounds, and the final mark of the first is the newest."""
    response = written(run_of(), Subject.PHYSICS)
    first = mark(response, "4", "8")
    mark(response, "1", "3")
    final_mark(first.answer, number=2, value=6, full=first.full, rule="mean of two")
    judged(response, "7")
    figures = calibration_of(ReportParams("exam")).rows[0].figures
    assert figures["bias"].value == 1
    assert figures["teachers_mean_abs_difference"].value == 4
    # 3 from one teacher and 1 from the other: 2, and 2 less than they are from each other.
    assert figures["single_difference"].value == 2
    assert figures["excess"].value == -2


def test_the_judge_against_each_teacher(responses: list[Response]) -> None:
    params = ReportParams("exam", marker=f"judge:{JUDGE}")
    marks = judged_marks(params)
    assert {one.labels["question_type"] for one in marks} == {"subjective"}
    (test,) = annotator_tests(marks, params).values()
    # Teachers give f, f + 2 and f + 1, the judge f + 2 (once f + 8 of 10). To the others of the
    # first (f + 1, f + 2): judge sqrt(1/2), teacher sqrt(5/2); of the second (f, f + 1): equal;
    # of the third (f, f + 2): judge sqrt(2), teacher 1.
    assert [row.n for row in test.teachers] == [32, 32, 32]
    assert [round(32 * row.judge_nearer) for row in test.teachers] == [31, 31, 0]
    assert test.winning_rate == pytest.approx(2 / 3)
    assert test.passed is True
    figures = calibration_of(params).rows[0].figures
    assert figures["winning_rate"].n == 3
    assert figures["advantage"].value == pytest.approx(62 / 96)
    Mark.objects.filter(slot__kind="third").update(stale=True)
    (test,) = annotator_tests(marks, params).values()
    assert test.reason == "too_few_teachers"
    assert tuple(ModelCondition(marks[0].model, marks[0].condition)) == (ALPHA, "as published")


def test_marks_that_do_not_count_are_in_no_figure(responses: list[Response], lead: User) -> None:
    """A further sample says how steady the judge is; a suspended judge has no figure at all."""
    before = calibration_of(ReportParams("exam")).rows[0].figures
    judge = Judge.objects.get(name=JUDGE)
    for response in responses[2:6]:
        Judgement.objects.create(
            response=response, judge=judge, sample=2, total=0, full=10, status="scored"
        )
    figures = calibration_of(ReportParams("exam")).rows[0].figures
    assert figures["bias"] == before["bias"]
    assert (figures["flips"].n, figures["flips"].value) == (6, pytest.approx(5 / 6))
    Judge.objects.update(suspended_at=timezone.now())
    assert calibration_of(ReportParams("exam")).rows == []
    page = logged_in(lead).get(reverse("judging:calibration", args=[judge.pk])).text
    assert "This judge model is suspended: its marks are not used." in page
    assert "Nothing to compare" not in page
    assert "Suspended" in logged_in(lead).get(reverse("judging:list")).text


def test_the_page_of_calibration(responses: list[Response], lead: User) -> None:
    judge = Judge.objects.get(name=JUDGE)
    address = reverse("judging:calibration", args=[judge.pk])
    for by in ("task", "band", "length"):
        shown = logged_in(lead).get(address, {"dataset": "exam", "by": by})
        assert shown.status_code == 200
    text = words(logged_in(lead).get(address).text)
    assert "inside the human band" in text  # 1 point from a teacher, teachers 2 from each other
    assert "wins against 66.7 % of the teachers" in text
    assert text.count("Two teachers") == 3
    assert logged_in(lead).get(address, {"by": "colour"}).status_code == 400
    other = Judge.objects.create(name="idle")
    nothing = logged_in(lead).get(reverse("judging:calibration", args=[other.pk]))
    assert "Nothing to compare" in nothing.text
