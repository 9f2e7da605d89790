"""Reading the gate: which problems stand, what was decided, and the lists for its pages."""

from __future__ import annotations

from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from questions.models import ItemDecision, ItemProblem


def live_problem() -> Q:
    """Problems of what is asked now: both revisions are the current ones of their items."""
    return Q(revision=F("question__current")) & (
        Q(other=None) | Q(other=F("other__question__current"))
    )


def with_newest_decision(problems: QuerySet[ItemProblem]) -> QuerySet[ItemProblem]:
    """*problems* with ``decided``: the word of the newest decision, None where there is none."""
    newest = ItemDecision.objects.filter(problem=OuterRef("pk")).order_by("-pk")
    return problems.annotate(decided=Subquery(newest.values("decision")[:1]))
