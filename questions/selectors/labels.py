"""Labels: the tuple of a row, what is missing, histories, bulk changes, human rates, taxonomy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from questions.models import HumanRate, Knowledge, LabelBatch, LabelRevision, Question, Task
from questions.rules.four_tuple import (
    FourTuple,
    Label,
    Rate,
    Reference,
    difficulty_level,
    joined,
)
from questions.rules.vocabulary import LabelOrigin, RateKind

# SQLite takes a limited number of values in one statement.
CHUNK = 500

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
    """A row of labels and what it changed; ``undone`` when it undoes its author's own."""

    row: LabelRevision
    changed: frozenset[str]
    undone: bool


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
        undone = opinion is not None and opinion.is_empty
        found.append(HistoryRow(row, changed, undone))
        before = before if row.overtaken else now
    return found[::-1]


def kept_questions(undoing: LabelBatch) -> QuerySet[Question]:
    """The items that an undoing left alone, because their labels had changed since."""
    kept = undoing.change.get("kept", [])
    return Question.objects.filter(pk__in=kept).select_related("task__dataset", "current")


def knowledge_name(key: str, language: str) -> str:
    """The name of the knowledge with this slug or number; *key* itself where there is none."""
    chosen = Q(slug=key) | Q(pk=int(key)) if key.isascii() and key.isdigit() else Q(slug=key)
    found = Knowledge.objects.filter(chosen).first()
    return found.label(language) if found else key


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


def rates_of(target: Question | Task) -> QuerySet[HumanRate]:
    """Every rate of an item or a task, corrected ones too, oldest first, with who gave it."""
    return target.human_rates.select_related("author", "corrects", "corrected_by").order_by("pk")


def counting(rates: QuerySet[HumanRate]) -> QuerySet[HumanRate]:
    """Those that no other rate corrects."""
    return rates.filter(corrected_by__isnull=True)


def reference_of(question: Question) -> Reference | None:
    """How people did on the item, from its average rates that count; None without any."""
    rates = counting(question.human_rates.filter(kind=RateKind.AVERAGE)).order_by("pk")
    return joined([Rate(rate.value, rate.weight, rate.sample_size) for rate in rates])


def with_present_levels(labels: Mapping[int, FourTuple]) -> dict[int, FourTuple]:
    """Return earlier *labels* by the key of their item, as they are given back now.

    A level that was derived from human rates is that of the rates that count now; the rest stays.
    """
    derived = [
        key
        for key, one in labels.items()
        if one.origins.get(Label.DIFFICULTY) == LabelOrigin.DERIVED
    ]
    rates: dict[int, list[Rate]] = defaultdict(list)
    for at in range(0, len(derived), CHUNK):
        of_chunk = Q(question__in=derived[at : at + CHUNK], kind=RateKind.AVERAGE)
        for row in counting(HumanRate.objects.filter(of_chunk)).order_by("pk"):
            rates[row.question_id or 0].append(Rate(row.value, row.weight, row.sample_size))
    present = dict(labels)
    for key, given in rates.items():
        if reference := joined(given):
            level = {Label.DIFFICULTY: difficulty_level(reference.value)}
            present[key] = labels[key].changed(level, LabelOrigin.DERIVED)
    return present
