"""What a new round would hold: its responses, and how much falls to each teacher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from evaluations.models import Response, Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.rules.marking.drawing import sample_per_group
from evaluations.rules.marking.scheme import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import ROLE_CAPABILITIES, Capability
from questions.models import Rubric
from questions.rules.vocabulary import ItemStatus, Part


@dataclass(frozen=True, slots=True)
class ResponseChoice:
    """Which responses a round takes: all subjective ones of *runs*, narrowed by the rest.

    ``runs`` and ``tasks`` are keys of rows, ``subjects`` their published names;
    an empty tuple narrows nothing. ``per_task`` draws so many questions of each
    task, the same ones for every run and repeat, so that models stay comparable.
    """

    runs: tuple[int, ...]
    tasks: tuple[int, ...] = ()
    subjects: tuple[str, ...] = ()
    per_task: int | None = None


@dataclass(frozen=True, slots=True)
class Load:
    """Marks that fall to each teacher: *low* to *high*, at most one apart."""

    responses: int
    questions: int
    marks: int
    low: int
    high: int


def markable_runs() -> QuerySet[Run]:
    """Runs that have a response to be marked, newest first."""
    return (
        Run.objects.filter(
            purpose=RunPurpose.ANSWER, responses__question__part=Part.SUBJECTIVE.value
        )
        .select_related("language_model", "dataset")
        .distinct()
        .order_by("-id")
    )


def possible_teachers() -> QuerySet[User]:
    """Everybody who may mark and log in, by name."""
    markers = [role for role, may in ROLE_CAPABILITIES.items() if Capability.MARK in may]
    people = User.objects.filter(is_active=True, groups__name__in=markers)
    return people.distinct().order_by("display_name", "username")


def chosen_responses(choice: ResponseChoice, random_seed: int) -> list[Response]:
    """The responses of *choice*, task by task and question by question."""
    found = Response.objects.filter(
        run__in=choice.runs,
        run__purpose=RunPurpose.ANSWER,
        question__part=Part.SUBJECTIVE.value,
        question__status=ItemStatus.ACTIVE.value,
    )
    if choice.tasks:
        found = found.filter(question__task__in=choice.tasks)
    if choice.subjects:
        found = found.filter(question__subject__in=choice.subjects)
    rows = found.select_related("question", "revision").defer("text", "reasoning")
    responses = list(rows.order_by("question__task", "question__position", "id"))
    if choice.per_task is None:
        return responses
    pairs = {(response.question_id, response.question.task_id) for response in responses}
    drawn = sample_per_group(sorted(pairs), choice.per_task, random_seed)
    return [response for response in responses if response.question_id in drawn]


def load_of(responses: Sequence[Response], teachers: int, scheme: Scheme) -> Load:
    """How the first and second marks of *responses* spread over *teachers* (1 or more)."""
    marks = len(responses) * scheme.planned_marks
    questions = len({response.question_id for response in responses})
    return Load(len(responses), questions, marks, marks // teachers, -(-marks // teachers))


def newest_rubrics(questions: set[int]) -> dict[int, Rubric]:
    """The accepted rubric of each question that has one, with its points."""
    accepted = Rubric.objects.filter(question__in=questions, accepted=True)
    rows = accepted.order_by("version").prefetch_related("groups", "points")
    return {rubric.question_id: rubric for rubric in rows}
