"""Filters of error analysis, such as ``{{ name|dimension }}`` and ``{{ name|weakness }}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from evaluations.capability.rules.dimensions import Dimension, asked_of
from evaluations.capability.rules.weaknesses import Weakness
from evaluations.models import CapabilityJudgement, CapabilityReview, Condition, Run
from evaluations.models.vocabulary import ReviewStatus
from evaluations.statistics.tally import ALL
from questions.rules.label_agreement import NO_PAIRS

register = template.Library()


@register.filter
def dimension(name: str) -> str:
    """Return the name of a dimension."""
    return Dimension(name).label(get_language() or "en")


@register.filter
def weakness(name: str) -> str:
    """Return the name of a weakness."""
    return Weakness(name).label(get_language() or "en")


@register.filter
def review_status(status: str) -> str:
    """Return the name of the status of a review."""
    return ReviewStatus(status).label(get_language() or "en")


@register.filter
def verdict(value: int | str | None) -> str:
    """Return the value of a dimension: 1, 0, or n/a."""
    return _("n/a") if value in (None, "na") else str(value)


@register.filter
def judgement_words(details: Mapping[str, Any]) -> str:
    """Return a stored judgement on one line: values, weaknesses and note."""
    given = [f"{dimension(one)} {verdict(details[one.value])}" for one in Dimension]
    named = [weakness(name) for name in details["weaknesses"]]
    return " · ".join(filter(None, [*given, *named, details["note"]]))


@register.filter
def values(judgement: CapabilityJudgement) -> list[tuple[str, str]]:
    """Return the value of each dimension in words; a dash if the task does not ask for it."""
    question = judgement.slot.item.question
    asked = asked_of(question.task.slug, question.subject)
    return [
        (one.value, verdict(getattr(judgement, one.value)) if one in asked else "–")
        for one in Dimension
    ]


@register.filter
def person(people: Mapping[int, str], key: int) -> str:
    """Return the name of the reviewer with this key."""
    return people[key]


@register.filter
def no_kappa(reason: str) -> str:
    """Return why there is no kappa."""
    if reason == NO_PAIRS:
        return _("no response was judged by both on this dimension")
    return _("both reviewers always chose the same single value")


@register.simple_tag
def answers_link(review: CapabilityReview, shown: Run | Condition | None, **cell: str) -> str:
    """Return the URL of the answers of a figure of *review*, for one run or condition."""
    wanted = {name: value for name, value in cell.items() if value and value != ALL}
    if isinstance(shown, Run):
        query = wanted | {"run": str(shown.pk)}
    else:
        query = wanted | ({"condition": str(shown.public_id)} if shown else {})
    address = reverse("reviews:answers", args=[review.public_id])
    return f"{address}?{urlencode(query)}" if query else address
