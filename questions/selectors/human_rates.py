"""Reading how people did: the rates that count, and what they come to."""

from __future__ import annotations

from django.db.models import QuerySet

from questions.models import HumanRate, Question, Task
from questions.rules.human_reference import Rate, Reference, joined
from questions.rules.vocabulary import RateKind


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
