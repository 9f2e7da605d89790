"""The filters of conditions."""

from __future__ import annotations

import django_filters
from django.utils.translation import gettext_lazy as _

from evaluations.models import Condition
from evaluations.runs.forms.choices import ModelNameFilter


class ConditionFilter(django_filters.FilterSet):
    """The filters of the page: the model."""

    model = ModelNameFilter("language_model__name")

    class Meta:
        model = Condition
        fields: list[str] = []


class ConditionQuery(ConditionFilter):
    """The filters of the API: names of models and conditions."""

    model = django_filters.CharFilter(field_name="language_model__name", label=_("Model"))
    name = django_filters.CharFilter(field_name="name", label=_("Name"))
