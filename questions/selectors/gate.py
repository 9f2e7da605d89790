"""Reading the gate: which problems stand, what was decided, and the lists for its pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Case, Count, F, Q, QuerySet, When
from django.db.models.functions import Greatest, Least

from questions.models import ItemDecision, ItemProblem
from questions.rules.vocabulary import ProblemCode

DUPLICATES = (ProblemCode.EXACT_DUPLICATE, ProblemCode.NEAR_DUPLICATE)
ACROSS_DATASETS = ~Q(question__task__dataset=F("other__question__task__dataset"))
BY_PLACE = ("-quarantines", "question__task__dataset__slug", "question__task__slug")


def live_problem() -> Q:
    """Problems of what is asked now: both revisions are the current ones of their items."""
    return Q(revision=F("question__current")) & (
        Q(other=None) | Q(other=F("other__question__current"))
    )


def problem_list() -> QuerySet[ItemProblem]:
    """Problems that stand or were decided, with ``decided``: the decision that counts, or None.

    Two equal items name each other: the row of the earlier one stands for both.
    Two keys for one question are a row for each item, since each needs a decision.
    """
    second_half = Q(code__in=DUPLICATES, question__gt=F("other__question"))
    return (
        ItemProblem.objects.annotate(decided=F("decision__decision"))
        .filter(live_problem() | Q(decision__isnull=False))
        .exclude(second_half)
        .order_by(*BY_PLACE, "question__position", "pk")
    )


def shown_problems(problems: QuerySet[ItemProblem]) -> QuerySet[ItemProblem]:
    """*problems* with what a list shows of both items; one query."""
    return problems.select_related(
        "question__task__dataset", "revision", "other__question__task__dataset"
    )


@dataclass(frozen=True, slots=True)
class CodeCount:
    """How many problems of one code there are; ``quarantining`` counts the open ones that do.

    ``within`` one dataset and ``across`` datasets count the pairs that the open ones are about.
    """

    code: str
    open: int
    quarantining: int
    decided: int
    within: int
    across: int

    @property
    def pairs(self) -> int:
        """Pairs of items, each counted once, however many of its problems are open."""
        return self.within + self.across


def counts_by_code(problems: QuerySet[ItemProblem]) -> list[CodeCount]:
    """The codes that occur in *problems*, in the order of ``ProblemCode``; two queries."""
    is_open = Q(decision=None)
    rows = (
        ItemProblem.objects.filter(pk__in=problems.order_by().values("pk"))
        .order_by()
        .values("code")
        .annotate(
            open=Count("pk", filter=is_open),
            quarantining=Count("pk", filter=is_open & Q(quarantines=True)),
            decided=Count("decision"),
        )
    )
    pairs = Counter(_open_pairs(problems))
    counts = [
        CodeCount(**row, within=pairs[row["code"], False], across=pairs[row["code"], True])
        for row in rows
    ]
    order = {code.value: place for place, code in enumerate(ProblemCode)}
    return sorted(counts, key=lambda count: order[count.code])


def _open_pairs(problems: QuerySet[ItemProblem]) -> Iterator[tuple[str, bool]]:
    """Code and whether it is across datasets, once for each pair in *problems* to be decided."""
    rows = (
        ItemProblem.objects.filter(decision=None, pk__in=problems.order_by().values("pk"))
        .filter(other__isnull=False)
        .annotate(
            first=Least("question", "other__question"),
            second=Greatest("question", "other__question"),
            across=Case(When(ACROSS_DATASETS, then=True), default=False),
        )
        .order_by()
        .values_list("code", "across", "first", "second")
    )
    for code, across, _first, _second in rows.distinct().iterator():
        yield code, across


def problem_whole(pk: int) -> ItemProblem | None:
    """One problem with both items; None if there is none."""
    problems = ItemProblem.objects.select_related(
        *("question__task__dataset", "question__current", "revision"),
        *("other__question__task__dataset", "other__question__current"),
    )
    return problems.filter(pk=pk).first()


def decisions_of(problem: ItemProblem) -> list[ItemDecision]:
    """Every decision about *problem*, the newest first."""
    return list(problem.decisions.select_related("author", "repaired").order_by("-pk"))


def mirrored(problem: ItemProblem) -> ItemProblem | None:
    """The same problem as the other item has it; None for a problem of one item."""
    if problem.other is None:
        return None
    return ItemProblem.objects.filter(
        revision=problem.other, other=problem.revision_id, code=problem.code
    ).first()
