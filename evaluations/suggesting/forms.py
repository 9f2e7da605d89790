"""Which model is to suggest what, on which questions: the form, and the bank's filters in it."""

from __future__ import annotations

from collections.abc import Mapping

from django import forms
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluations.models.vocabulary import Asks
from evaluations.runs.forms.runs import StartForm
from evaluations.suggesting.services.suggesting import MOST_ITEMS, Wanted
from gradeapp.common import number_fields
from gradeapp.common.refusals import BadInput
from questions.forms.filter_chips import query_of
from questions.forms.filters import QuestionFilter, named_choices
from questions.models import Dataset, Question
from questions.selectors.bank import by_place

USUAL_LIMIT = 100
# The dataset is a field of the form: a run is about one.
FILTERS = [name for name in QuestionFilter.base_filters if name not in ("dataset", "sort")]


class SuggestForm(StartForm):
    """A run that suggests, but for the filters of its questions."""

    rows = (("endpoint", "asks", "dataset"), ("limit", "budget"), ("again",))

    asks = forms.ChoiceField(
        choices=lambda: named_choices(Asks), label=gettext_lazy("What to suggest")
    )
    dataset = forms.ModelChoiceField(
        Dataset.objects.all(),
        to_field_name="slug",
        label=gettext_lazy("Dataset"),
        empty_label=None,
    )
    limit = number_fields.IntegerField(
        min_value=1,
        max_value=MOST_ITEMS,
        initial=USUAL_LIMIT,
        label=gettext_lazy("Maximum number of questions"),
        help_text=gettext_lazy("Spread evenly over the tasks."),
    )
    again = forms.BooleanField(
        required=False,
        label=gettext_lazy(
            "Include questions that already have labels or a rubric, or "
            "that this model was asked before"
        ),
        help_text=gettext_lazy(
            "If not selected, only questions with a missing label or without any rubric are asked."
        ),
    )

    def wanted(self, filters: QuestionFilter) -> Wanted:
        """What a form that is valid asks for, on the questions that *filters* choose."""
        said = self.cleaned_data
        return Wanted(
            endpoint=said["endpoint"],
            asks=Asks(said["asks"]),
            dataset=said["dataset"],
            questions=chosen(filters),
            query=query_of(filters),
            limit=said["limit"],
            again=said["again"],
            shown=said["shown"],
        )


def filters_in(data: Mapping[str, str]) -> QuestionFilter:
    """The filters of the bank's list in *data*, without the dataset, the order and all else."""
    own = QueryDict(mutable=True)
    own.update({name: data[name] for name in FILTERS if data.get(name)})
    return QuestionFilter(own, queryset=by_place())


def chosen(filters: QuestionFilter) -> QuerySet[Question]:
    """The questions that *filters* choose; refuses a value that does not exist."""
    if bad := sorted(filters.form.errors):
        names = ", ".join(bad)
        raise BadInput(_("There is no such filter or value: %(names)s.") % {"names": names})
    return filters.qs
