"""Reading bulk changes of labels: the list, one of them, and the questions it changed."""

from __future__ import annotations

from django.db.models import Count, OuterRef, QuerySet, Subquery

from questions.models import LabelBatch, LabelRevision, Question


def bulk_changes() -> QuerySet[LabelBatch]:
    """All bulk changes with their number of questions, the newest first."""
    number = (
        LabelRevision.objects.filter(batch=OuterRef("pk"))
        .order_by()
        .values("batch")
        .annotate(n=Count("pk"))
    )
    return (
        LabelBatch.objects.select_related("author", "undoes", "undone_by")
        .annotate(number=Subquery(number.values("n")))
        .order_by("-pk")
    )


def bulk_change(pk: int) -> LabelBatch | None:
    """One bulk change; None where there is none."""
    return bulk_changes().filter(pk=pk).first()


def changed_rows(batch: LabelBatch) -> QuerySet[Question]:
    """The questions that *batch* changed, with their present labels, by place."""
    changed = LabelRevision.objects.filter(batch=batch).values("question")
    return (
        Question.objects.filter(pk__in=changed)
        .select_related("task__dataset", "current", "label__knowledge")
        .order_by("task__dataset__slug", "task__slug", "position")
    )
