"""The filters of the question list and of its API, and the choices of form fields."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import django_filters
from django import forms
from django.db.models import Q, QuerySet
from django.utils.translation import get_language, gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from gradeapp.common.named import Named
from questions.models import Dataset, Knowledge, Question, Task
from questions.rules.vocabulary import (
    AbilityBranch,
    ItemStatus,
    Language,
    Modal,
    Part,
    ProblemCode,
    QuestionType,
    Subject,
)
from questions.selectors.bank import distinct_years, holding_words, ordered, with_open_problems
from questions.selectors.labels import UNLABELLED
from questions.templatetags.names import task_name

Choice = tuple[str, str]
LEVELS = {1: "80–100", 2: "60–80", 3: "40–60", 4: "20–40", 5: "0–20"}


def named_choices(names: type[Named]) -> list[Choice]:
    """Value and name of each member."""
    language = get_language() or "en"
    return [(name.value, name.label(language)) for name in names]


def difficulty_choices() -> list[Choice]:
    """The five levels, each with the human rates that it stands for."""
    return [
        (str(level), gettext("Level %(level)s · %(rates)s %%") % {"level": level, "rates": rates})
        for level, rates in LEVELS.items()
    ]


def knowledge_choices() -> list[Choice]:
    """The categories, each followed by its subclasses, which stand a little in."""
    chinese = (get_language() or "en").startswith("zh")
    columns = ("pk", "parent", "slug", "chinese" if chinese else "english")
    below: defaultdict[int | None, list[tuple[int, str, str]]] = defaultdict(list)
    for key, parent, slug, name in Knowledge.objects.order_by("pk").values_list(*columns):
        below[parent].append((key, slug, name))
    return [
        entry
        for key, slug, name in below[None]
        for entry in [(slug, name), *((under, f"\u2003{its}") for _key, under, its in below[key])]
    ]


def task_choices() -> list[tuple[str, list[Choice]]]:
    """The tasks, by dataset."""
    groups: defaultdict[str, list[Choice]] = defaultdict(list)
    for slug, dataset in Task.objects.order_by("dataset__slug", "slug").values_list(
        "slug", "dataset__name"
    ):
        groups[dataset].append((slug, task_name(slug)))
    return list(groups.items())


Rows = QuerySet[Question]
YES, NO, ANY, NONE = "yes", "no", "any", "none"
WITH_PROBLEM, WITHOUT_PROBLEM = _("With a problem"), _("Without a problem")
MISSING = {
    "no_branch": Q(label__isnull=True) | Q(label__ability_branch=""),
    "no_knowledge": Q(label__knowledge__isnull=True),
    "no_difficulty": Q(label__difficulty__isnull=True),
    "no_modal": Q(label__isnull=True) | Q(label__modal=""),
}
LABELS = [
    ("missing", _("Unlabelled: at least one label missing")),
    ("complete", _("All four labels set")),
    ("no_branch", _("Ability branch missing")),
    ("no_knowledge", _("Knowledge missing")),
    ("no_difficulty", _("Difficulty missing")),
    ("no_modal", _("Modality missing")),
]
SORTS = [
    ("year", _("Oldest year first")),
    ("-year", _("Newest year first")),
    ("difficulty", _("Easiest level first")),
    ("-difficulty", _("Hardest level first")),
    ("rate", _("Lowest human rate first")),
    ("-rate", _("Highest human rate first")),
    ("changed", _("Last changed first")),
]


def choice(choices: Callable[[], Any] | list[Any], label: Any, every: Any, **options: Any) -> Any:
    """A filter by one value of a list; *every* is the entry that does not filter."""
    return django_filters.ChoiceFilter(choices=choices, label=label, empty_label=every, **options)


class QuestionFilter(django_filters.FilterSet):
    """What a curator chooses questions by; each stands in the address under its name.

    ``first`` names those that the list always shows.
    """

    first = ("dataset", "subject", "knowledge", "difficulty", "labels")

    q = django_filters.CharFilter(
        method="words",
        label=_("Keywords"),
        widget=forms.TextInput(attrs={"type": "search", "maxlength": 100}),
    )
    dataset = django_filters.ModelChoiceFilter(
        field_name="task__dataset",
        queryset=Dataset.objects.all(),
        to_field_name="slug",
        label=_("Dataset"),
        empty_label=_("All datasets"),
    )
    subject = choice(lambda: named_choices(Subject), _("Subject"), _("All subjects"))
    type = choice(
        lambda: named_choices(QuestionType),
        _("Type"),
        _("All types"),
        field_name="current__question_type",
    )
    knowledge = choice(
        knowledge_choices, _("Knowledge"), _("All knowledge"), method="knowledge_and_below"
    )
    difficulty = choice(
        difficulty_choices, _("Difficulty"), _("All levels"), field_name="label__difficulty"
    )
    labels = choice(LABELS, _("Labels"), _("Labels: any"), method="by_labels")
    task = choice(task_choices, _("Task"), _("All tasks"), field_name="task__slug")
    part = choice(lambda: named_choices(Part), _("Part"), _("Both parts"))
    year = choice(
        lambda: [(str(year), str(year)) for year in distinct_years()], _("Year"), _("All years")
    )
    branch = choice(
        lambda: named_choices(AbilityBranch),
        _("Ability branch"),
        _("All branches"),
        field_name="label__ability_branch",
    )
    modal = choice(
        lambda: named_choices(Modal), _("Modality"), _("All modalities"), field_name="label__modal"
    )
    rubric = choice(
        [(YES, _("With a rubric")), (NO, _("Without a rubric"))],
        _("Rubric"),
        _("Rubric: any"),
        method="by_rubric",
    )
    problems = choice(
        lambda: [(ANY, WITH_PROBLEM), (NONE, WITHOUT_PROBLEM), *named_choices(ProblemCode)],
        _("Data quality"),
        _("Data quality: any"),
        method="by_problems",
    )
    status = choice(lambda: named_choices(ItemStatus), _("Status"), _("Any status"))
    language = choice(
        lambda: named_choices(Language),
        _("Language"),
        _("All languages"),
        field_name="current__language",
    )
    sort = choice(SORTS, _("Sort"), pgettext_lazy("sort", "Source order"), method="sorted_by")

    class Meta:
        model = Question
        fields: list[str] = []

    def words(self, rows: Rows, name: str, value: str) -> Rows:
        """Every word must stand in the question, its options, its answer, or its analysis."""
        return holding_words(rows, value)

    def knowledge_and_below(self, rows: Rows, name: str, value: str) -> Rows:
        """A category is chosen with its subclasses."""
        here, below = Q(label__knowledge__slug=value), Q(label__knowledge__parent__slug=value)
        return rows.filter(here | below)

    def by_labels(self, rows: Rows, name: str, value: str) -> Rows:
        """Whether the four labels are there."""
        if value == "complete":
            return rows.exclude(UNLABELLED)
        return rows.filter(UNLABELLED if value == "missing" else MISSING[value])

    def by_rubric(self, rows: Rows, name: str, value: str) -> Rows:
        """Whether an accepted rubric is there."""
        return rows.filter(rubric__isnull=value != YES)

    def by_problems(self, rows: Rows, name: str, value: str) -> Rows:
        """Whether a problem waits for a decision, or one of a kind."""
        return with_open_problems(rows, {ANY: True, NONE: False}.get(value, value))

    def sorted_by(self, rows: Rows, name: str, value: str) -> Rows:
        """In another order than by place."""
        return ordered(rows, value)


__all__ = ["QuestionFilter", "named_choices"]
