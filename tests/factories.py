"""Small true objects for tests: each helper makes one thing with the fewest words."""

from __future__ import annotations

import itertools
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import Group

from evaluations.facts.answer_facts import record_finals, record_responses
from evaluations.models import BlindAnswer, Endpoint, FinalMark, LanguageModel, Response, Run
from evaluations.models.vocabulary import RunPurpose, RunStatus
from evaluations.runs.services.conditions import imported_condition
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.accounts.services import ensure_user, sync_roles
from questions.models import Dataset, Question, QuestionRevision, Rubric, ScoringPoint, Task
from questions.rules.vocabulary import Language, QuestionType, Subject
from questions.services.revisions import make_searchable

PASSWORD = "a-long-password-for-tests"
numbers = itertools.count(1)


def make_user(role: Role | None, username: str = "") -> User:
    """A user with one role; without a role, the outsider who may log in and nothing else."""
    if Group.objects.filter(name__in=[one.value for one in Role]).count() < len(Role):
        sync_roles()  # the migrated database has them; a flush takes them away
    name = username or f"{role or 'outsider'}{next(numbers)}"
    return ensure_user(name, roles=[role] if role else [], display_name=name, password=PASSWORD)


def make_dataset(slug: str = "exam") -> Dataset:
    """The dataset called *slug*."""
    return Dataset.objects.get_or_create(slug=slug, defaults={"name": slug})[0]


def make_task(
    dataset: Dataset | None = None,
    *,
    subject: Subject = Subject.PHYSICS,
    question_type: QuestionType = QuestionType.SINGLE_CHOICE,
    slug: str = "",
) -> Task:
    """A task of one subject and type."""
    return Task.objects.create(
        dataset=dataset or make_dataset(),
        slug=slug or f"{subject.value}_{question_type.value}_{next(numbers)}",
        subject=subject,
        part=question_type.part,
        question_type=question_type,
        language=Language.CHINESE,
    )


def make_question(
    task: Task | None = None,
    *,
    key: tuple[str, ...] = ("A",),
    marks: tuple[str, ...] = ("6",),
    stem: str = "Which one is right?\nA. one\nB. two\nC. three\nD. four",
    rubric: tuple[tuple[str, str], ...] = (),
    **fields: Any,
) -> Question:
    """An item with its first revision, and an accepted rubric where points are given."""
    task = task or make_task()
    number = next(numbers)
    question = Question.objects.create(
        task=task,
        external_id=str(number),
        position=number,
        subject=task.subject,
        part=task.part,
        year=fields.pop("year", 2020),
    )
    subjective = task.part == "subjective"
    question.current = QuestionRevision.objects.create(
        question=question,
        number=1,
        content_hash=f"{number:064d}",
        question_type=task.question_type,
        language=task.language,
        stem=stem,
        letters="" if subjective else fields.pop("letters", "ABCD"),
        answer_key=[] if subjective else list(key),
        reference_answer=fields.pop("reference_answer", "the answer" if subjective else ""),
        analysis=fields.pop("analysis", "because"),
        sub_marks=list(marks),
        full_marks=sum(Decimal(mark) for mark in marks),
    )
    question.save(update_fields=["current"])
    make_searchable([question.current])
    if rubric:
        make_rubric(question, rubric)
    return question


def make_revision(question: Question, stem: str) -> QuestionRevision:
    """A second revision of the item, with another stem, which does not count yet."""
    revision = QuestionRevision.objects.get(question=question)
    revision.pk, revision.number, revision.content_hash = None, 2, f"{question.pk:064x}"
    revision.stem = stem
    revision.save()
    return revision


def make_rubric(question: Question, points: tuple[tuple[str, str], ...]) -> Rubric:
    """The next accepted version of the item's rubric."""
    version = question.rubrics.count() + 1
    made = Rubric.objects.create(question=question, version=version, accepted=True, source="person")
    Question.objects.filter(pk=question.pk).update(rubric=made)
    for order, (text, full) in enumerate(points, start=1):
        ScoringPoint.objects.create(rubric=made, order=order, text=text, points=Decimal(full))
    return made


def make_run(dataset: Dataset | None = None, model: str = "canary-gpt-7f3a", **fields: Any) -> Run:
    """An imported run of *model*."""
    language_model = LanguageModel.objects.get_or_create(name=model)[0]
    return Run.objects.create(
        purpose=RunPurpose.ANSWER,
        language_model=language_model,
        condition=fields.pop("condition", None) or imported_condition(language_model),
        dataset=dataset or make_dataset(),
        status=fields.pop("status", RunStatus.IMPORTED),
        **fields,
    )


def make_endpoint(name: str = "judge") -> Endpoint:
    """An endpoint that nobody calls."""
    model = LanguageModel.objects.get_or_create(name=name)[0]
    return Endpoint.objects.create(
        name=name, base_url="http://127.0.0.1:9/v1", model=name, language_model=model
    )


def make_response(
    question: Question, run: Run | None = None, text: str = "【答案】A", repeat: int = 1
) -> Response:
    """What the model of *run* wrote to *question*."""
    response = Response.objects.create(
        run=run or make_run(question.task.dataset),
        question=question,
        revision=question.current,
        text=text,
        repeat=repeat,
        finish_reason="stop",
    )
    record_responses([response.pk])
    return response


def final_mark(answer: BlindAnswer, **fields: Any) -> FinalMark:
    """A final mark of *answer*, which points to it from now on."""
    answer.final = FinalMark.objects.create(answer=answer, **fields)
    answer.save(update_fields=["final"])
    record_finals([answer.response_id])
    return answer.final
