"""The items of a task that have no accepted rubric, each with what could become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from questions.models import Question, QuestionRevision, Rubric, Task
from questions.rules.part_marks import ItemParts, divided_evenly, item_parts
from questions.rules.rubric import Finding, RubricLines
from questions.rules.vocabulary import ItemStatus, Part
from questions.selectors.rubrics import (
    lines_of,
    marked_questions,
    newest_versions,
    what_is_wrong,
)


@dataclass(frozen=True, slots=True)
class UnratedItem:
    """An item without an accepted rubric: its waiting draft, or its sub-questions.

    *lines* and *wrong* belong to the *draft*; without one *parts* are what was read
    from the text. ``ready`` says that it can be accepted as it is.
    """

    question: Question
    draft: Rubric | None
    lines: RubricLines
    wrong: tuple[Finding, ...]
    parts: ItemParts

    @property
    def full_marks(self) -> Decimal:
        """The full marks of the item, in points."""
        return self.question.current.full_marks if self.question.current else Decimal(0)

    @property
    def ready(self) -> bool:
        """Whether it adds up, so that a person need not change anything."""
        return not self.wrong if self.draft else self.parts.adds_up

    @property
    def in_parts(self) -> bool:
        """Whether there is anything that could be accepted: a draft or sub-questions."""
        return self.draft is not None or bool(self.parts.parts)


def parts_of(revision: QuestionRevision) -> ItemParts:
    """The sub-questions of an item as *revision* asks it; none where it has several marks."""
    if len(revision.sub_marks) != 1:
        return ItemParts.none()
    return item_parts(
        question=revision.asked,
        key=revision.reference_answer,
        analysis=revision.analysis,
        full_marks=revision.full_marks,
    )


def without_accepted() -> QuerySet[Question]:
    """Items that people mark and that have no accepted rubric; excluded ones left out."""
    found = marked_questions().filter(rubric__isnull=True, current__isnull=False)
    return found.exclude(status=ItemStatus.EXCLUDED)


def unrated_items(task: Task, *, divide: bool = False) -> list[UnratedItem]:
    """The items of *task* without an accepted rubric, in the order of the bank.

    With *divide*, marks that no text states are divided evenly among the sub-questions.
    Three queries whatever the number of items.
    """
    return with_parts(without_accepted().filter(task=task).order_by("position"), divide=divide)


def with_parts(questions: QuerySet[Question], *, divide: bool = False) -> list[UnratedItem]:
    """Each of *questions* with its newest draft, or with its sub-questions."""
    items: Sequence[Question] = list(questions)
    drafts = newest_versions([question.pk for question in items])
    found = []
    for question in items:
        revision = question.current
        assert revision is not None  # the query asks for one
        draft = drafts.get(question.pk)
        lines = lines_of(draft) if draft else RubricLines()
        wrong = what_is_wrong(revision, lines) if draft else []
        parts = ItemParts.none() if draft else parts_of(revision)
        if divide:
            parts = divided_evenly(parts, revision.full_marks)
        found.append(UnratedItem(question, draft, lines, tuple(wrong), parts))
    return found


@dataclass(frozen=True, slots=True)
class TaskRubrics:
    """How many items of one task have no accepted rubric, and how many of these a draft."""

    pk: int
    slug: str
    dataset: str
    items: int
    without: int
    drafts: int


def task_rubrics() -> list[TaskRubrics]:
    """Every task with items that have no accepted rubric; one query."""
    own = Rubric.objects.filter(question=OuterRef("pk"))
    newest = own.order_by("-version").values("accepted")[:1]
    rows = (
        Question.objects.filter(part=Part.SUBJECTIVE, current__isnull=False)
        .exclude(status=ItemStatus.EXCLUDED)
        .annotate(newest=Subquery(newest))
        .values_list("task", "task__slug", "task__dataset__name")
        .annotate(
            items=Count("pk"),
            without=Count("pk", filter=Q(rubric=None)),
            drafts=Count("pk", filter=Q(rubric=None, newest=False)),
        )
        .filter(without__gt=0)
        .order_by("task__dataset__slug", "task__slug")
    )
    return [TaskRubrics(*row) for row in rows]
