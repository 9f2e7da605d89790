"""Pairs of marks: both teachers before anyone corrects them, their final mark with a judge."""

from __future__ import annotations

import uuid

import pytest

from evaluations.facts.pairs import mark_pairs
from evaluations.facts.params import ReportParams
from evaluations.models import (
    BlindAnswer,
    Judge,
    Judgement,
    Mark,
    MarkingRound,
    Slot,
)
from evaluations.statistics.agreement import MarkPair
from gradeapp.accounts.models import User
from questions.models import Question
from questions.rules.vocabulary import QuestionType
from tests.factories import final_mark, make_question, make_response, make_task

pytestmark = pytest.mark.django_db


@pytest.fixture
def answer() -> BlindAnswer:
    question = make_question(make_task(question_type=QuestionType.OPEN_ENDED), marks=("10",))
    response = make_response(question)
    round_ = MarkingRound.objects.create(
        name="round", dataset=response.run.dataset, scheme="2+1", random_seed=1
    )
    return BlindAnswer.objects.create(
        round=round_,
        response=response,
        question=question,
        revision=response.revision,
        alias="P1",
        full_marks=10,
        tolerance=1.5,
    )


def mark(answer: BlindAnswer, teacher: User, kind: str, *totals: str) -> None:
    slot = Slot.objects.create(answer=answer, kind=kind, holder=teacher, marked=True)
    for version, total in enumerate(totals, start=1):
        Mark.objects.create(
            slot=slot, version=version, key=uuid.uuid4(), teacher=teacher, total=total, full=10
        )


def judged(answer: BlindAnswer, name: str, total: str | None, *released: float) -> None:
    Judgement.objects.create(
        response=answer.response,
        judge=Judge.objects.create(name=name),
        total=total,
        full=10,
        status="scored" if total else "over_full_marks",
        released=list(released),
    )


def pair(kind: str, x: float, y: float) -> MarkPair:
    return MarkPair("canary-gpt-7f3a", "as published", "Physics", kind, x, y, 10.0, 1.5)


def test_the_newest_versions_of_first_and_second_mark_pair(
    answer: BlindAnswer, teacher: User, other_teacher: User, third_teacher: User
) -> None:
    mark(answer, teacher, "first", "2", "4")
    assert mark_pairs(ReportParams("exam")) == []
    mark(answer, other_teacher, "second", "7.5")
    mark(answer, third_teacher, "arbitration", "6")
    stale = Slot.objects.get(kind="second")
    Mark.objects.create(
        slot=stale,
        version=2,
        stale=True,
        key=uuid.uuid4(),
        teacher=other_teacher,
        total=1,
        full=10,
    )
    assert mark_pairs(ReportParams("exam")) == [pair("teacher-teacher", 4.0, 7.5)]


def test_the_final_mark_pairs_with_each_judge(answer: BlindAnswer) -> None:
    final_mark(answer, number=1, value=5, full=10, rule="mean of two")
    final_mark(answer, number=2, value=6, full=10, rule="arbitration")
    judged(answer, "a", "7")
    judged(answer, "b", None, 12.0)
    assert mark_pairs(ReportParams("exam")) == [pair("teachers-judge:a", 6.0, 7.0)]
    published = mark_pairs(ReportParams("exam", policy="published", marker="judge:b"))
    assert published == [pair("teachers-judge:b", 6.0, 12.0)]


def test_the_marker_picks_the_pairs(
    answer: BlindAnswer, teacher: User, other_teacher: User
) -> None:
    mark(answer, teacher, "first", "4")
    mark(answer, other_teacher, "second", "5")
    final_mark(answer, value="4.5", full=10, rule="mean of two")
    judged(answer, "a", "7")
    kinds = {
        marker: {one.pair for one in mark_pairs(ReportParams("exam", marker=marker))}
        for marker in ("", "teachers", "judge:a")
    }
    assert kinds == {
        "": {"teacher-teacher", "teachers-judge:a"},
        "teachers": {"teacher-teacher"},
        "judge:a": {"teachers-judge:a"},
    }


def test_items_under_doubt_and_other_years_and_models_take_no_part(
    answer: BlindAnswer, teacher: User, other_teacher: User
) -> None:
    mark(answer, teacher, "first", "4")
    mark(answer, other_teacher, "second", "5")
    assert len(mark_pairs(ReportParams("exam", year=2020))) == 1
    assert mark_pairs(ReportParams("exam", year=2021)) == []
    assert mark_pairs(ReportParams("exam", models=("other",))) == []
    Question.objects.update(status="quarantined")
    assert mark_pairs(ReportParams("exam")) == []
    assert len(mark_pairs(ReportParams("exam", policy="published"))) == 1
    Question.objects.update(status="excluded")
    assert mark_pairs(ReportParams("exam", policy="published")) == []
