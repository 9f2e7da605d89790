"""Answers with points for the tests of reports and judging: one line marks, one line judges."""

from __future__ import annotations

import itertools
import uuid
from decimal import Decimal
from typing import Any

from evaluations.facts.answer_facts import record_judgements
from evaluations.models import (
    BlindAnswer,
    FinalMark,
    Judge,
    Judgement,
    Mark,
    MarkingRound,
    Response,
    Run,
    Slot,
)
from evaluations.models.vocabulary import RoundStatus
from evaluations.reading.services.scoring import score_responses
from gradeapp.accounts.models import User
from questions.models import Task
from questions.rules.vocabulary import QuestionType, Subject
from tests.factories import (
    final_mark,
    make_dataset,
    make_question,
    make_response,
    make_run,
    make_task,
)

ALPHA, BETA = "canary-alpha", "canary-beta"
JUDGE = "canary-judge"
numbers = itertools.count(1)


def run_of(model: str = ALPHA, dataset: str = "exam", **fields: Any) -> Run:
    """A run of *model* over the dataset called *dataset*."""
    return make_run(make_dataset(dataset), model, **fields)


def chosen(
    run: Run, *letters: str, subject: Subject = Subject.PHYSICS, **fields: Any
) -> list[Response]:
    """Answers of 6 points to single-choice items whose key is A, scored by rule."""
    task = make_task(run.dataset, subject=subject)
    responses = [
        make_response(make_question(task, **fields), run, f"【答案】{letter} <eoa>")
        for letter in letters
    ]
    score_responses(responses)
    return responses


def written(
    run: Run, subject: Subject = Subject.PHYSICS, full: str = "10", **fields: Any
) -> Response:
    """An answer to an open-ended item that nobody has marked."""
    task: Task = make_task(run.dataset, subject=subject, question_type=QuestionType.OPEN_ENDED)
    return make_response(make_question(task, marks=(full,), **fields), run, "因为 $v=gt$。")


def mark(response: Response, *totals: str) -> FinalMark:
    """A teacher's mark, or two, with the mean as the final one, in a closed round of its own."""
    full = response.revision.full_marks
    number = next(numbers)
    marking = MarkingRound.objects.create(
        name=f"Round {number}",
        dataset=response.run.dataset,
        scheme="mean",
        random_seed=1,
        status=RoundStatus.CLOSED,
    )
    answer = BlindAnswer.objects.create(
        round=marking,
        response=response,
        question=response.question,
        revision=response.revision,
        alias=f"R-{number}",
        full_marks=full,
        tolerance=1,
    )
    for kind, total in zip(("first", "second"), totals, strict=False):
        teacher = User.objects.get_or_create(username=f"published-{kind}")[0]
        slot = Slot.objects.create(answer=answer, kind=kind, holder=teacher, marked=True)
        Mark.objects.create(
            slot=slot, version=1, key=uuid.uuid4(), teacher=teacher, total=total, full=full
        )
    mean = sum(map(Decimal, totals)) / len(totals)
    return final_mark(answer, value=mean, full=full, rule="mean of two")


def judged(
    response: Response, total: str | None, status: str = "scored", **fields: Any
) -> Judgement:
    """What the judge says of *response*; without a total, why not."""
    judge = Judge.objects.get_or_create(name=fields.pop("judge", JUDGE))[0]
    same = {"response": response, "judge": judge, "sample": fields.get("sample", 1)}
    before = Judgement.objects.filter(followed_by=None, **same).first()
    made = Judgement.objects.create(
        response=response,
        judge=judge,
        follows=before,
        total=total,
        full=response.revision.full_marks,
        status=status,
        reply=fields.pop("reply", f"【总分】{total}分"),
        **fields,
    )
    record_judgements([response.pk])
    return made


def whole_paper(run: Run) -> None:
    """Two right and two wrong choices, and half marks by teachers, in each of the ten subjects."""
    for subject in Subject:
        chosen(run, "A", "A", "B", "C", subject=subject)
        for _ in range(2):
            mark(written(run, subject), "4", "6")
