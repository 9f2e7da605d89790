"""The form that starts a search for patterns."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluations.reading.services.pattern_searches import LARGEST_SEED, LIMITS
from gradeapp.common import number_fields


def _whole(
    name: str, initial: int, label: object, help_text: object = ""
) -> number_fields.IntegerField:
    low, high = LIMITS.get(name, (0, LARGEST_SEED))
    return number_fields.IntegerField(
        min_value=low, max_value=high, initial=initial, label=label, help_text=help_text
    )


class SearchForm(forms.Form):
    """The settings of Algorithm 1; as they stand, they are the paper's."""

    iterations = _whole("iterations", 10, _("Iterations"))
    sample_size = _whole("sample_size", 100, _("Responses per sample"))
    least_occurrences = _whole("least_occurrences", 2, _("Minimum occurrences"))
    random_seed = _whole(
        "random_seed", 1, _("Random seed"), _("The same seed finds the same patterns.")
    )
