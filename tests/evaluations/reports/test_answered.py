"""The report ``converted`` says of how many questions a total is."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command

from evaluations.facts.params import ReportParams
from evaluations.reports.selectors.answered import ANSWERED
from evaluations.reports.selectors.reports import build_report
from questions.models import Question
from questions.rules.vocabulary import Subject
from tests.evaluations.report_world import ALPHA, BETA, run_of, whole_paper, written

pytestmark = pytest.mark.django_db


@pytest.fixture
def papers() -> None:
    """One model has answered 6 questions of each subject, another one more question of physics."""
    whole_paper(run_of(ALPHA))
    written(run_of(BETA), year=2022)


def answered(**params: object) -> dict[tuple[str, str, str], tuple[float | None, int]]:
    """The figure by model, stream and subject."""
    report = build_report("converted", ReportParams("exam", **params))  # type: ignore[arg-type]
    return {
        (row.key["model"], row.key["stream"], row.key["subject"]): (
            row.figures[ANSWERED].value,
            row.figures[ANSWERED].n,
        )
        for row in report.rows
    }


def test_a_row_has_the_number_of_questions_with_an_answer(papers: None) -> None:
    found = answered()
    # 7 questions of physics, 6 of each other subject.
    assert found[ALPHA, "sciences", "Physics"] == (6, 7)
    assert found[ALPHA, "sciences", "ALL"] == (36, 37)
    assert found[ALPHA, "humanities", "ALL"] == (36, 36)
    assert found[BETA, "sciences", "Physics"] == (1, 7)
    assert found[BETA, "sciences", "Chemistry"] == (0, 6)
    assert found[BETA, "humanities", "ALL"] == (0, 36)
    assert answered(marker="teachers") == found, "marked or not"


def test_only_questions_of_the_year_that_count_are_counted(papers: None) -> None:
    of_year = answered(year=2022)
    there = Question.objects.filter(year=2022, subject=Subject.PHYSICS)
    assert of_year[BETA, "sciences", "Physics"] == (1, there.count())
    there.filter(part="subjective", pk=max(there.values_list("pk", flat=True))).update(
        status="quarantined"
    )
    assert answered()[ALPHA, "sciences", "ALL"] == (36, 36)
    assert answered(policy="published")[ALPHA, "sciences", "ALL"] == (36, 37)


def test_the_text_says_which_totals_are_over_fewer_questions(papers: None) -> None:
    out = StringIO()
    call_command("report", "converted", "--dataset", "exam", stdout=out)
    lines = out.getvalue().splitlines()
    # The total of humanities is over all questions, and the other model has none.
    assert lines[-1] == f"{ALPHA} · as published, sciences: answers to 36 of 37 questions"
    assert not lines[-2].startswith(f"{ALPHA} · as published, ")
    (physics,) = (line for line in lines if line.startswith(f"{ALPHA} ") and " Physics " in line)
    assert physics.endswith(" 6/7")
