"""Final marks under several versions of one rubric: the report and the export say so."""

from __future__ import annotations

import pytest
from django.urls import reverse

from evaluations.facts.params import ReportParams
from evaluations.models import Mark, MarkingRound
from evaluations.reports.services.exports import Asked
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from questions.models import Question
from tests.conftest import logged_in
from tests.evaluations.marking_world import (
    answers_of,
    give,
    later,
    small_round,
    subjective_question,
)
from tests.evaluations.reports.test_exports import rows_of
from tests.factories import make_rubric

pytestmark = pytest.mark.django_db


def said(made: MarkingRound, lead: User) -> str:
    asked = {"dataset": made.dataset.slug, "marker": "teachers"}
    page = logged_in(lead).get(reverse("reports:overview"), asked)
    return " ".join(page.text.partition('id="finals"')[2].partition("</ul>")[0].split())


def exported(made: MarkingRound) -> dict[str, tuple[str, str]]:
    rows = rows_of(Asked("responses", ReportParams(made.dataset.slug)))
    assert list(rows[0])[-1] == "rubric_version"
    return {row["response"]: (row["final"], row["rubric_version"]) for row in rows}


def test_final_marks_under_an_earlier_rubric_are_counted_and_exported(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """Two responses have a mean of two under version 1, a third under version 2."""
    question, people = subjective_question(), [teacher, other_teacher]
    made = small_round(people, 3, question=question, scheme=Scheme.MEAN)
    *under_first, unmarked = answers_of(made)
    for answer in under_first:
        for person in people:
            give(answer, person, ["3", "3", "2"], now=later(1))
    make_rubric(question, (("all of it", "12"),))
    assert "rubric" not in said(made, lead), "all are under one version"
    question.refresh_from_db()
    (new,) = answers_of(small_round(people, 1, question=question, scheme=Scheme.MEAN))
    for person in people:
        give(new, person, ["5"], now=later(6))
    assert "2 were given under earlier versions of the rubric than" in said(made, lead)
    assert exported(made) == {
        **{str(answer.response.public_id): ("8", "1") for answer in under_first},
        str(new.response.public_id): ("5", "2"),
        str(unmarked.response.public_id): ("", ""),
    }
    make_rubric(question, (("all", "12"),))  # accepted, and no round uses it yet
    assert "3 were given under earlier versions" in said(made, lead)
    Mark.objects.filter(slot__answer=new).update(rubric=None)
    assert "3 were given under earlier versions" in said(made, lead)
    assert exported(made)[str(new.response.public_id)] == ("5", "")


def test_without_a_rubric_nothing_is_said(teacher: User, lead: User) -> None:
    question = subjective_question(rubric=())
    made = small_round([teacher], 1, question=question, scheme=Scheme.SINGLE)
    (answer,) = answers_of(made)
    give(answer, teacher, "5", now=later(1))
    assert "rubric" not in said(made, lead)
    assert list(exported(made).values()) == [("5", "")]
    make_rubric(Question.objects.get(), (("all", "12"),))
    assert "rubric" not in said(made, lead), "all were given without one"
