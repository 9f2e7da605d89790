"""The filters of the question list and of its API: declared, no others."""

from __future__ import annotations

from typing import Any

import django_filters
from django import forms
from django.db.models import Q, QuerySet
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from questions.models import Dataset, Question
from questions.rules.vocabulary import ItemStatus, Named, Part, QuestionType, Subject
from questions.selectors.bank import distinct_years


def named_choices(names: type[Named]) -> list[tuple[str, str]]:
    """Value and name of each member, in the language of the request."""
    language = get_language() or "en"
    return [(name.value, name.label(language)) for name in names]


class QuestionFilter(django_filters.FilterSet):
    """Dataset, subject, part, type, year, status, and words of the text."""

    q = django_filters.CharFilter(
        method="words",
        label=_("Words of the question"),
        widget=forms.TextInput(attrs={"type": "search", "placeholder": _("Search the questions")}),
    )
    dataset = django_filters.ModelChoiceFilter(
        field_name="task__dataset",
        queryset=Dataset.objects.all(),
        to_field_name="slug",
        label=_("Dataset"),
        empty_label=_("All datasets"),
    )
    subject = django_filters.ChoiceFilter(
        choices=lambda: named_choices(Subject), label=_("Subject"), empty_label=_("All subjects")
    )
    part = django_filters.ChoiceFilter(
        choices=lambda: named_choices(Part), label=_("Part"), empty_label=_("Both parts")
    )
    type = django_filters.ChoiceFilter(
        field_name="current__question_type",
        choices=lambda: named_choices(QuestionType),
        label=_("Type"),
        empty_label=_("All types"),
    )
    year = django_filters.ChoiceFilter(
        choices=lambda: [(str(year), str(year)) for year in distinct_years()],
        label=_("Year"),
        empty_label=_("All years"),
    )
    status = django_filters.ChoiceFilter(
        choices=lambda: named_choices(ItemStatus), label=_("Status"), empty_label=_("Any status")
    )

    class Meta:
        model = Question
        fields: list[str] = []

    def words(self, rows: QuerySet[Question], name: str, value: str) -> QuerySet[Question]:
        """Every word must stand in the question, its answer, or its analysis."""
        found = Q()
        for word in value.split()[:8]:
            found &= Q(current__stem__icontains=word) | Q(current__analysis__icontains=word)
        return rows.filter(found)


def unknown_parameters(filters: type[django_filters.FilterSet], data: Any) -> set[str]:
    """Parameters that no filter declares: an API refuses them instead of ignoring them."""
    return set(data) - set(filters.base_filters) - {"page"}
