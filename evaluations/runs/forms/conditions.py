"""The filters of conditions."""

from __future__ import annotations

import django_filters
from django.utils.translation import gettext_lazy as _

from evaluations.models import Condition
from evaluations.runs.selectors.conditions import model_names


class ConditionFilter(django_filters.FilterSet):
    """The filters of the page: the model."""

    model = django_filters.ChoiceFilter(
        field_name="language_model__name",
        choices=lambda: [(name, name) for name in model_names()],
        label=_("Model"),
        empty_label=_("All models"),
    )

    class Meta:
        model = Condition
        fields: list[str] = []


class ConditionQuery(ConditionFilter):
    """The filters of the API: names of models and conditions."""

    model = django_filters.CharFilter(field_name="language_model__name", label=_("Model"))
    name = django_filters.CharFilter(field_name="name", label=_("Name"))
