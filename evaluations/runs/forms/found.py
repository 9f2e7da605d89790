"""Filters of the search over responses."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from evaluations.models import Response
from evaluations.runs.forms.choices import ConditionNameFilter, ModelNameFilter
from evaluations.runs.forms.runs import ResponseFilter
from questions.models import Dataset


class SearchFilter(ResponseFilter):
    """What a search looks through: dataset, model, condition, run, question and more.

    ``q`` and ``before`` are applied by the search itself, which looks at a part at a time.
    """

    q = django_filters.CharFilter(method="unchanged", label=_("Keywords"))
    before = django_filters.NumberFilter(method="unchanged", min_value=1, label=_("Before"))
    dataset = django_filters.CharFilter(
        field_name="question__task__dataset__slug", label=_("Dataset")
    )
    model = django_filters.CharFilter(field_name="run__language_model__name", label=_("Model"))
    # A larger number fits no key, and the database would refuse it.
    run = django_filters.NumberFilter(
        field_name="run", min_value=1, max_value=10**18 - 1, label=_("Run")
    )
    question = django_filters.UUIDFilter(field_name="question__public_id", label=_("Question"))

    def unchanged(self, rows: QuerySet[Response], _name: str, _value: object) -> Any:
        """Return *rows* as they are."""
        return rows


class SearchPageFilter(SearchFilter):
    """The same filters on the page, where names are chosen from lists."""

    dataset = django_filters.ChoiceFilter(
        field_name="question__task__dataset__slug",
        choices=lambda: list(Dataset.objects.order_by("name").values_list("slug", "name")),
        label=_("Dataset"),
        empty_label=_("All datasets"),
    )
    model = ModelNameFilter("run__language_model__name")
    condition = ConditionNameFilter("run__condition__name")
