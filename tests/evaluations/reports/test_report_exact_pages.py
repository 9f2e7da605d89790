"""Exact match and F1 on the report page, and behind its figures."""

from __future__ import annotations

import pytest

from evaluations.reading.services.scoring import score_responses
from gradeapp.accounts.models import User
from questions.rules.vocabulary import QuestionType, Subject
from tests.conftest import logged_in
from tests.evaluations.report_world import ALPHA, chosen, run_of
from tests.evaluations.reports.test_reports_pages import OVERVIEW, words
from tests.factories import make_question, make_response, make_task

HEADING = "Exact answers"


@pytest.fixture
def sums(db: None) -> None:
    """Three exact answers in mathematics and a choice in physics."""
    run = run_of(ALPHA)
    chosen(run, "A")
    task = make_task(
        run.dataset, subject=Subject.SCIENCES_MATHEMATICS, question_type=QuestionType.EXACT_ANSWER
    )
    texts = ("\\boxed{x + y}", "\\boxed{y + x}", "I cannot solve this.")
    asked = [make_question(task, key=("x + y",), letters="") for _ in texts]
    score_responses([make_response(one, run, text) for one, text in zip(asked, texts, strict=True)])


def test_exact_answers_have_a_table_of_their_own(sums: None, admin: User) -> None:
    page = words(logged_in(admin).get(OVERVIEW).text)
    table = page[page.index(HEADING) :]
    # Two of three mean the key's sum; the letters of two are the key's, whatever their order.
    assert "Sciences Mathematics 66.7 % 66.7 % 3" in table
    assert "All subjects 66.7 % 66.7 % 3" in table


def test_the_answers_behind_them_add_up_to_the_same(sums: None, admin: User) -> None:
    query = {"dataset": "exam", "model": ALPHA, "subject": "ALL", "part": "objective"}
    page = words(logged_in(admin).get("/reports/rows/", query).text)
    assert "n Unscored Exact match F1 canary-alpha · as published Objective 18 24 75.0 %" in page
    assert "66.7 % 66.7 %" in page


def test_without_exact_answers_nothing_is_said_of_them(admin: User) -> None:
    chosen(run_of(ALPHA), "A")
    client = logged_in(admin)
    assert HEADING not in client.get(OVERVIEW).text
    assert "Exact match" not in client.get("/reports/rows/", {"dataset": "exam"}).text
