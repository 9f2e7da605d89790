"""Reading the bank: the list, one item whole, and the addresses of its images."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from questions.models import Asset, Dataset, Question, QuestionRevision, Rubric


def question_list() -> QuerySet[Question]:
    """Every item with what a list shows; one query, whatever the number of rows."""
    has_rubric = Rubric.objects.filter(question=OuterRef("pk"), accepted=True)
    return (
        Question.objects.select_related("task__dataset", "current")
        .annotate(has_rubric=Exists(has_rubric))
        .order_by("task__dataset__slug", "task__slug", "position")
    )


def question_whole(public_id: UUID) -> Question | None:
    """One item with its revisions and rubrics, newest first; None if there is none."""
    revisions = QuestionRevision.objects.order_by("-number")
    rubrics = Rubric.objects.order_by("-version").prefetch_related("points")
    return (
        Question.objects.select_related("task__dataset", "current")
        .prefetch_related(Prefetch("revisions", revisions), Prefetch("rubrics", rubrics))
        .filter(public_id=public_id)
        .first()
    )


def accepted_rubric(question: Question) -> Rubric | None:
    """The newest accepted rubric of an item, if it has one."""
    return question.rubrics.filter(accepted=True).order_by("-version").first()


def image_addresses(dataset: Dataset, names: Iterable[str]) -> dict[str, str]:
    """The address of each of the dataset's images that is named in *names*."""
    wanted = list(names)
    if not wanted:
        return {}
    found = Asset.objects.filter(dataset=dataset, name__in=wanted)
    return {
        name: f"/questions/images/{key}/" for name, key in found.values_list("name", "public_id")
    }


def image(public_id: UUID) -> Asset | None:
    """One image of the bank."""
    return Asset.objects.filter(public_id=public_id).first()


def distinct_years() -> list[int]:
    """The years that items of the bank are from, newest first."""
    years = Question.objects.exclude(year=None).values_list("year", flat=True)
    return sorted({year for year in years.distinct() if year is not None}, reverse=True)
