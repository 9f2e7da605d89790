"""Reading labels: the tuple of a row, what is missing, the history of an item."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q, QuerySet

from questions.models import LabelBatch, LabelRevision, Question
from questions.rules.four_tuple import FourTuple, Label

# An item whose four labels are not all there. It stands in the labelling queue.
UNLABELLED = (
    Q(label__isnull=True)
    | Q(label__ability_branch="")
    | Q(label__knowledge__isnull=True)
    | Q(label__difficulty__isnull=True)
    | Q(label__modal="")
)


def four_tuple(row: LabelRevision | None) -> FourTuple:
    """The labels of one row; all empty without a row."""
    if row is None:
        return FourTuple()
    return FourTuple(
        ability_branch=row.ability_branch,
        knowledge=row.knowledge_id,
        difficulty=row.difficulty,
        modal=row.modal,
        origins=row.origins,
    )


def label_history(question: Question) -> QuerySet[LabelRevision]:
    """Every row of the item's labels, newest first, with who wrote it; overtaken rows too."""
    rows = LabelRevision.objects.filter(question=question).order_by("-pk")
    return rows.select_related("author", "knowledge__parent", "batch__undoes", "opinion")


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """A row of labels and what it changed; ``taken_back`` when it undoes its author's own."""

    row: LabelRevision
    changed: frozenset[str]
    taken_back: bool


def history_rows(question: Question) -> list[HistoryRow]:
    """The history of the item's labels, newest first, each compared with what counted before."""
    before = FourTuple()
    found = []
    for row in reversed(label_history(question)):
        now = four_tuple(row)
        changed = frozenset(
            label.value for label in Label if now.value(label) != before.value(label)
        )
        opinion = getattr(row, "opinion", None)
        taken_back = opinion is not None and opinion.is_empty
        found.append(HistoryRow(row, changed, taken_back))
        before = before if row.overtaken else now
    return found[::-1]


def kept_questions(undoing: LabelBatch) -> QuerySet[Question]:
    """The items that an undoing left alone, because their labels had changed since."""
    kept = undoing.change.get("kept", [])
    return Question.objects.filter(pk__in=kept).select_related("task__dataset", "current")
